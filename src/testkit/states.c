/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <assert.h>

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[RG__KIT_GROUP_STATES] = {
#define TO(state) (1u << (state))
	[RG__KIT_EMPTY] = {"Empty", TO(RG__KIT_PREPARING_REBALANCE) | TO(RG__KIT_DEAD)},
	[RG__KIT_PREPARING_REBALANCE] = {"PreparingRebalance",
					 TO(RG__KIT_AWAITING_SYNC) | TO(RG__KIT_EMPTY) | TO(RG__KIT_DEAD)},
	[RG__KIT_AWAITING_SYNC] = {"AwaitingSync",
				   TO(RG__KIT_STABLE) | TO(RG__KIT_PREPARING_REBALANCE) | TO(RG__KIT_DEAD)},
	[RG__KIT_STABLE] = {"Stable", TO(RG__KIT_PREPARING_REBALANCE) | TO(RG__KIT_DEAD)},
	[RG__KIT_DEAD] = {"Dead", 0},
#undef TO
};

const char *rg__kit_group_state_name(enum rg__kit_group_state state)
{
	return states[state].name;
}

bool rg__kit_group_state_may_follow(enum rg__kit_group_state from, enum rg__kit_group_state to)
{
	return states[from].next >> to & 1;
}

bool rg__kit_group_states_print(struct rg__buf *out)
{
	for (int from = 0; from < RG__KIT_GROUP_STATES; from++) {
		rg__buf_printf(out, "%-18s ->", states[from].name);
		for (int to = 0; to < RG__KIT_GROUP_STATES; to++)
			if (rg__kit_group_state_may_follow((enum rg__kit_group_state)from, (enum rg__kit_group_state)to))
				rg__buf_printf(out, " %s", states[to].name);
		rg__buf_append_str(out, states[from].next ? "\n" : " (none)\n");
	}
	return !out->failed;
}

/* What must hold of a group at the end of a step that moved it, whatever happened before. */
void rg__kit_group_check(struct rg__kit_group *group)
{
	bool rebalancing = group->state == RG__KIT_PREPARING_REBALANCE;
	bool generation = group->state == RG__KIT_AWAITING_SYNC || group->state == RG__KIT_STABLE;

	if (!group->moved)
		return;
	group->moved = false;
	assert(rebalancing == (group->delayed_join != NULL));
	assert(group->state != RG__KIT_EMPTY || !group->members);
	assert(!generation || (group->members && group->protocol_name.data && group->leader.data));
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		assert(!member->join.parked || rebalancing);
		assert(!member->sync.parked || group->state == RG__KIT_AWAITING_SYNC);
		assert(!member->owes_sync || generation);
		assert(!generation || rg__kit_member_offers(member, group->protocol_name));
	}
	(void)rebalancing;
	(void)generation;
}

void rg__kit_group_become(struct rg__kit_coordinator *c, struct rg__kit_group *group, enum rg__kit_group_state to,
			  const char *reason)
{
	enum rg__kit_group_state from = group->state;
	struct rg__kit_event *event;

	assert(rg__kit_group_state_may_follow(from, to));
	group->state = to;
	group->moved = true;
	if (to == RG__KIT_EMPTY)
		group->empty_since_us = c->now_us;
	event = rg__kit_event(c, RG__KIT_EVENT_STATE, group->id, RG__NULL_BYTES, group->generation);
	if (!event)
		return;
	event->from = from;
	event->to = to;
	event->reason = rg__kit_copy(c, rg__bytes_of(reason));
}
