/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_INSTEAD_CHECK_H
#define TESTS_FUZZ_INSTEAD_CHECK_H

/* In place of Check, whose assertions need its runner: for test support that fuzz targets use. A failed one aborts, which is
 * what a fuzzer takes for a find. */

#include <stdio.h>
#include <stdlib.h>

#define ck_assert_msg(holds, ...)                                                                                          \
	do {                                                                                                               \
		if (!(holds)) {                                                                                            \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                                    \
			fprintf(stderr, __VA_ARGS__);                                                                      \
			fputc('\n', stderr);                                                                               \
			abort();                                                                                           \
		}                                                                                                          \
	} while (0)
#define ck_assert(holds) ck_assert_msg(holds, "%s does not hold", #holds)
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_ptr_nonnull(ptr) ck_assert((ptr) != NULL)
#define ck_assert_ptr_null(ptr) ck_assert((ptr) == NULL)

#endif
