/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_SITES_H
#define TESTS_FAULT_SITES_H

/* The places in the library where memory is asked for, told apart by who called whom, so that each of them can fail once
 * although threads make the order of allocations another one in every run. FAULT_SHOW=1 in the environment prints where
 * each failure was, and where there was none, for addr2line. */

#include <stdbool.h>

void sites_begin(void); /* from now on they are noted; none fails */
void sites_end(void);

void sites_pause(bool pause); /* what is asked for meanwhile is not noted and does not fail */

/* The next allocation at a site that has not failed fails, on whichever thread; with `count` 2 also the next one after it
 * at a site that has never failed before, which is mostly where the first one is made up for. `step`: for FAULT_SHOW. */
void sites_arm(const char *step, int count);
int sites_disarm(void); /* how many have failed since */

void sites_again(void); /* they all may fail once more */

int sites_seen(void);
int sites_failed(void);
long sites_allocations(void);

#endif
