/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_LIFE_H
#define TESTS_FAULT_LIFE_H

/* The life of two consumers on the embedded cluster: they are made, join, read, commit, seek, pause, ask, rebalance, change
 * what they subscribe to, and close. Whatever the test breaks meanwhile: nothing hangs; a call that had no memory says so,
 * having changed nothing; no callback is lost, and the group is whole again without anybody's help. */

#include "../testkit/crew.h"

enum { PARTITIONS = 4, RECORDS = 6, KINDS = 3 };

extern const struct kind {
	const char *name, *assignor, *auto_commit, *topic; /* one that means "t" */
	bool is_static;
} kinds[KINDS];

const struct kind *kind_named(const char *name); /* NULL: none is */

void life_begin(void); /* the cluster with its records; crew_end() ends it */

/* Lives once, in a group of that number. In each step so many allocations fail, as sites_arm() has it; 0: then poll must tell
 * no error at all; BY_ITSELF: the caller sees to it that some fail. Returns how many did, of those that were armed. */
enum { BY_ITSELF = -1 };
int live(const struct kind *kind, int number, int failures);

#endif
