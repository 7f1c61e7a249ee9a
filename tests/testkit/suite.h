/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_SUITE_H
#define TESTS_TESTKIT_SUITE_H

#include "../lib/suite.h"

/* A story on the embedded cluster that takes a minute is stuck. */
static inline int run_suite(const char *name, void (*fill)(TCase *), void (*setup)(void), void (*teardown)(void))
{
	return suite_run_between(name, fill, 60, setup, teardown);
}

#endif
