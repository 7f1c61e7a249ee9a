/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_ROOM_INSIDE_H
#define TESTS_TESTKIT_ROOM_INSIDE_H

/* What the room's two halves share: room.c acts, room_transcript.c writes down what came of it. */

#include "room.h"

enum { ACTORS_MAX = 16, OUTSIDER = 1000 };

struct room {
	struct rg__kit_coordinator *coordinator;
	int64_t now_us;
	struct actor actors[ACTORS_MAX];
	int actor_count;
	int32_t correlation_id;
	struct rg__buf seen;
	bool all_events, event_names;
	long allocations_left;
	bool starved;
};

extern struct room room;

/* Lets the members learn from their answers, then writes everything down; clears the outcome. */
void write_outcome(struct rg__kit_outcome *outcome);

#endif
