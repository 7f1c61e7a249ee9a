/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_HEADER_CALLS_H
#define TESTS_TESTKIT_HEADER_CALLS_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How many calls a public header declares; fails at the first that `in_table` does not know. */
static inline int header_calls(const char *path, bool (*in_table)(const char *name, size_t len))
{
	FILE *file = fopen(path, "r");
	char line[512];
	int count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		const char *end = !strncmp(line, "RG_API ", 7) ? strchr(line, '(') : NULL, *name = end;

		while (name && name > line && name[-1] != ' ' && name[-1] != '*')
			name--;
		if (!name)
			continue;
		ck_assert_msg(in_table(name, (size_t)(end - name)), "%s", line);
		count++;
	}
	fclose(file);
	return count;
}

#endif
