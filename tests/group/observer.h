/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GROUP_OBSERVER_H
#define TESTS_GROUP_OBSERVER_H

/* What must hold for every sequence of events and actions, whatever the events were. It knows the promises of the machine
 * (design: "exactly once" is a property of a sequence of values) and nothing of how the machine keeps them. */

#include "group/machine.h"

struct observer {
	bool leaving;    /* LEAVE was asked and LEFT has not come */
	bool open;       /* PREPARE came and COMPLETE has not */
	bool connected;  /* a look-up succeeded and nothing dropped the coordinator since */
	bool failed;
	uint32_t ask;    /* newest PREPARE or LOST that is not answered */
	uint32_t join;   /* JoinGroup that is on the connection and not answered */
	uint32_t find;   /* look-up that is not answered */
	uint32_t newest; /* attempt */
	int64_t now_us;
	long prepares, completes, losts, joins, requests;
	char broken[160]; /* "" while everything holds */
};

/* Before the step, and after it. */
void observer_event(struct observer *observer, int64_t now_us, const struct rg__event *event);
void observer_actions(struct observer *observer, const struct rg__machine *machine, const struct rg__actions *actions);

#endif
