/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_SUITE_H
#define TESTS_FAULT_SUITE_H

#include "../lib/suite.h"

/* One test goes through a story once for each place where it may fail. */
static inline int run_suite(const char *name, void (*fill)(TCase *tcase))
{
	return suite_run(name, fill, 200);
}

#endif
