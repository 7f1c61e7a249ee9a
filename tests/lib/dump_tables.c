/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables in the code that documents repeat, for documents.py to compare:
 *
 *   dump_tables states             the two state tables, as Markdown
 *   dump_tables properties         name, tab, type and range and default as regroup_conf(7) words them
 *   dump_tables assignors          the built-in ones, a line each
 *   dump_tables refused NAME…      for each property of librdkafka's, 1 if it is refused, else 0 */
#include "assign/builtin.h"
#include "group/machine.h"
#include "member/properties.h"

#include <stdio.h>
#include <string.h>

static int print_states(void)
{
	struct rg__buf out = {0};

	if (!rg__states_print(&out))
		return 1;
	fwrite(out.data, 1, out.len, stdout);
	rg__buf_free(&out);
	return 0;
}

static void print_type(const struct rg__property *property)
{
	switch (property->type) {
	case RG__PROPERTY_STRING:
		if (property->max == INT32_MAX)
			printf("String of at least %d byte%s", (int)property->min, property->min == 1 ? "" : "s");
		else
			printf("String of %d to %d bytes", (int)property->min, (int)property->max);
		break;
	case RG__PROPERTY_INT:
		printf("Integer from %d to %d", (int)property->min, (int)property->max);
		break;
	case RG__PROPERTY_BOOL:
		printf("true or false");
		break;
	case RG__PROPERTY_CHOICE:
		for (int i = 0; property->choices[i]; i++)
			printf("%s%s", i ? " or " : "", property->choices[i]);
		break;
	case RG__PROPERTY_RESET:
		printf("latest, earliest, none or a duration");
		break;
	case RG__PROPERTY_FIXED:
		printf("Always %s", property->fallback);
		break;
	}
}

static int print_properties(void)
{
	for (size_t i = 0; i < rg__property_count; i++) {
		const struct rg__property *property = &rg__properties[i];
		const char *fallback = rg__property_default(property);

		printf("%s\t", property->name);
		print_type(property);
		if (property->type != RG__PROPERTY_FIXED)
			printf("; %s%s", fallback ? "default " : "no default", fallback ? fallback : "");
		printf("%s.\n", property->both    ? "; also given to librdkafka"
		                 : property->newer ? "; also librdkafka's, if known"
		                                   : "");
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "states"))
		return print_states();
	if (!strcmp(what, "properties"))
		return print_properties();
	if (!strcmp(what, "assignors")) {
		for (int i = 0; rg__builtin_at(i); i++)
			puts(rg__builtin_at(i)->name);
		return 0;
	}
	if (!strcmp(what, "refused")) {
		for (int i = 2; i < argc; i++)
			printf("%d\n", rg__property_refused(argv[i]) != NULL);
		return 0;
	}
	fputs("usage: dump_tables states|properties|assignors|refused NAME…\n", stderr);
	return 2;
}
