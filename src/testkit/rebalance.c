/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* The way into PreparingRebalance. */

void rg__kit_answer_syncs(struct rg__kit_coordinator *c, struct rg__kit_group *group, int16_t error)
{
	for (struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		if (!member->sync.parked)
			continue;
		rg__kit_answer_sync(c, group, &member->sync, member, member->id, error);
		/* While it waited its session could not end; it starts anew. */
		rg__kit_member_alive(c, member);
	}
}

/* broker: a change while the plan is awaited makes the plan void; those who wait for it are told to rejoin (27). */
static bool call_off_sync(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	for (struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		member->owes_sync = false;
		if (group->state == RG__KIT_AWAITING_SYNC && !rg__kit_own(&member->assignment, rg__bytes_of("")))
			return false;
	}
	if (group->state == RG__KIT_AWAITING_SYNC)
		rg__kit_answer_syncs(c, group, RG__KIT_REBALANCE_IN_PROGRESS);
	group->sync_due_us = RG__KIT_NO_DEADLINE;
	return true;
}

bool rg__kit_prepare_rebalance(struct rg__kit_coordinator *c, struct rg__kit_group *group, const char *reason)
{
	if (!call_off_sync(c, group) || !rg__kit_delayed_join_create(c, group, group->state == RG__KIT_EMPTY))
		return false;
	rg__kit_group_become(c, group, RG__KIT_PREPARING_REBALANCE, reason);
	return rg__kit_delayed_join_try(c, group);
}

bool rg__kit_rebalance_or_complete(struct rg__kit_coordinator *c, struct rg__kit_group *group, const char *reason)
{
	if (group->state == RG__KIT_PREPARING_REBALANCE)
		return rg__kit_delayed_join_try(c, group);
	return rg__kit_prepare_rebalance(c, group, reason);
}
