/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The end of every test program: runs its one case. The fixtures, around each test, may be NULL. */
static inline int suite_run_between(const char *name, void (*fill)(TCase *), double timeout_s, void (*setup)(void),
				    void (*teardown)(void))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, timeout_s);
	tcase_add_checked_fixture(tcase, setup, teardown);
	fill(tcase);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int suite_run(const char *name, void (*fill)(TCase *), double timeout_s)
{
	return suite_run_between(name, fill, timeout_s, NULL, NULL);
}

#endif
