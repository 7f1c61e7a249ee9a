/* SPDX-License-Identifier: Apache-2.0 */
#include "group/states.h"

struct row {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
};

#define TO(state) (1u << (state))

static const struct row coordinator_rows[RG__COORDINATOR_STATES] = {
	[RG__COORDINATOR_UNKNOWN] = {"Unknown", TO(RG__COORDINATOR_FINDING)},
	[RG__COORDINATOR_FINDING] = {"Finding", TO(RG__COORDINATOR_KNOWN) | TO(RG__COORDINATOR_UNKNOWN)},
	[RG__COORDINATOR_KNOWN] = {"Known", TO(RG__COORDINATOR_UNKNOWN)},
};

/* PREPARE belongs to the edges into Preparing from Unjoined and Stable, COMPLETE to Syncing -> Stable. The other edges into
 * Preparing are retries inside one rebalance and run no callback. */
static const struct row membership_rows[RG__MEMBERSHIP_STATES] = {
	[RG__UNJOINED] = {"Unjoined", TO(RG__PREPARING)},
	[RG__PREPARING] = {"Preparing", TO(RG__JOINING) | TO(RG__LEAVING) | TO(RG__FAILED)},
	[RG__JOINING] = {"Joining", TO(RG__PREPARING) | TO(RG__ASSIGNING) | TO(RG__SYNCING) | TO(RG__LEAVING) | TO(RG__FAILED)},
	[RG__ASSIGNING] = {"Assigning", TO(RG__PREPARING) | TO(RG__SYNCING) | TO(RG__LEAVING) | TO(RG__FAILED)},
	[RG__SYNCING] = {"Syncing", TO(RG__PREPARING) | TO(RG__STABLE) | TO(RG__LEAVING) | TO(RG__FAILED)},
	[RG__STABLE] = {"Stable", TO(RG__PREPARING) | TO(RG__LEAVING) | TO(RG__FAILED)},
	[RG__LEAVING] = {"Leaving", TO(RG__UNJOINED)},
	[RG__FAILED] = {"Failed", TO(RG__LEAVING)},
};

bool rg__coordinator_may(enum rg__coordinator_state from, enum rg__coordinator_state to)
{
	return coordinator_rows[from].next & TO(to);
}

bool rg__membership_may(enum rg__membership_state from, enum rg__membership_state to)
{
	return membership_rows[from].next & TO(to);
}

const char *rg__coordinator_name(enum rg__coordinator_state state)
{
	return coordinator_rows[state].name;
}

const char *rg__membership_name(enum rg__membership_state state)
{
	return membership_rows[state].name;
}
