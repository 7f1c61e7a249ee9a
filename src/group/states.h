/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__GROUP_STATES_H
#define RG__GROUP_STATES_H

#include <stdbool.h>

/* The two state machines of a member. Each has a table of legal edges and one writer that checks it. */

enum rg__coordinator_state { RG__COORDINATOR_UNKNOWN, RG__COORDINATOR_FINDING, RG__COORDINATOR_KNOWN, RG__COORDINATOR_STATES };

enum rg__membership_state {
	RG__UNJOINED,  /* not in the group */
	RG__PREPARING, /* a JoinGroup is due: once the application is prepared, the coordinator known, the pause over */
	RG__JOINING,   /* JoinGroup sent, no answer yet */
	RG__ASSIGNING, /* the leader's assignor runs */
	RG__SYNCING,   /* SyncGroup sent, no answer yet */
	RG__STABLE,    /* has an assignment */
	RG__LEAVING,   /* LeaveGroup sent, no answer yet */
	RG__FAILED,    /* a fatal error ended it */
	RG__MEMBERSHIP_STATES
};

bool rg__coordinator_may(enum rg__coordinator_state from, enum rg__coordinator_state to);
bool rg__membership_may(enum rg__membership_state from, enum rg__membership_state to);

const char *rg__coordinator_name(enum rg__coordinator_state state);
const char *rg__membership_name(enum rg__membership_state state);

#endif
