/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_RUN_H
#define TESTS_SIM_RUN_H

#include "script.h"

struct result {
	char broken[300]; /* "": everything held */
	long completes, losts, joins, requests, grey, most_requests_per_second, fences, calm_restarts, most_finds;
	int64_t settled_after_us; /* the faults were over */
	uint64_t trace;           /* of all that went over the wire and when: the same for the same run */
};

/* The generator grew once; seeds that were kept before mean what it made then. */
void run_first_edition(bool on);

/* Plays a script (NULL: the seed's own, which is returned in *ret_script if that is not NULL). `events`: where to write
 * event lines, or NULL. */
void run(uint64_t seed, const struct script *script, struct script *ret_script, FILE *events, struct result *ret_result);

#endif
