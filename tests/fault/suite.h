/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_SUITE_H
#define TESTS_FAULT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The end of every test program: runs its one case. */
static inline int run_suite(const char *name, void (*fill)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 200);
	fill(tcase);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
