/* SPDX-License-Identifier: Apache-2.0 */
/* The table from names to numbers, with names as a hostile member may choose them. */
#include "assign/names.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20000, LEN_MAX = 40 };

static char texts[COUNT][LEN_MAX + 1];

/* How far names lie from where their hash wanted them, on average. */
static double distance(const struct rg__names *names)
{
	size_t far = 0;

	for (size_t at = 0; at <= names->mask; at++)
		if (names->places[at].number)
			far += (at - names->places[at].hash) & names->mask;
	return (double)far / (double)names->count;
}

static void fill_table(const char *format, struct rg__names *names, struct rg__arena *arena)
{
	ck_assert(rg__names_init(names, arena, 4));
	for (int32_t i = 0; i < COUNT; i++) {
		snprintf(texts[i], sizeof(texts[i]), format, i);
		ck_assert(rg__names_add(names, rg__bytes_of(texts[i]), i));
	}
}

/* Names that differ only in their last bytes, at every length around whole words of the hash: a member that lists many of them
 * must not make a leader look at all of them for each. */
START_TEST(names_that_differ_only_at_their_end_are_spread)
{
	static const char *const formats[] = {
		"%05d", "zz%05d", "zzz%05d", "zzzz%05d", "zzzzzzzzzz%05d", "zzzzzzzzzzz%05d", "zzzzzzzzzzzz%05d", "%05dzzzzzzzzzzz",
		"zzzz%05dzzzzzzz", "zzzzzzzzzzzzzzzzzzz%05d", "zzzzzzzzzzzzzzzzzzzzzzzzzzz%05d"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct rg__arena arena = {0};
		struct rg__names names;

		fill_table(formats[i], &names, &arena);
		ck_assert_uint_eq(names.count, COUNT);
		ck_assert_msg(distance(&names) < 3, "%s: %f", formats[i], distance(&names));
		for (int32_t k = 0; k < COUNT; k += 97)
			ck_assert_int_eq(rg__names_find(&names, rg__bytes_of(texts[k])), k);
		ck_assert_int_eq(rg__names_find(&names, rg__bytes_of("other")), RG__NO_NAME);
		rg__arena_clear(&arena);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assign_names");
	TCase *tcase = tcase_create("assign_names");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, names_that_differ_only_at_their_end_are_spread);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
