/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/sync_group.h"
#include "testkit/coordinator.h"

static void refuse(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
		   const struct rg__kit_request *request, int16_t error)
{
	const struct rg__sync_group_request *sync = request->body;
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__kit_group nobody = {.id = sync->group_id, .generation = -1};

	rg__kit_answer_sync(c, group ? group : &nobody, &reply, NULL, sync->member_id, error);
}

/* KIP-559: what the member believes, if it says so, must be what the group is. */
static bool contradicts(struct rg__bytes said, struct rg__bytes is)
{
	return said.data && is.data && !rg__bytes_equal(said, is);
}

static int16_t check_request(const struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			     const struct rg__kit_request *request, struct rg__kit_member **ret_member)
{
	const struct rg__sync_group_request *sync = request->body;
	int16_t error;

	/* broker: from version 5 on it has to say so, and that is looked at first. */
	if (request->version >= 5 && (!sync->protocol_type.data || !sync->protocol_name.data))
		return RG__KIT_INCONSISTENT_GROUP_PROTOCOL;
	if (!sync->group_id.len)
		return RG__KIT_INVALID_GROUP_ID;
	if (rg__kit_unloaded_find(c, sync->group_id))
		return RG__KIT_LOAD_IN_PROGRESS;
	if (!group || group->state == RG__KIT_EMPTY)
		return RG__KIT_UNKNOWN_MEMBER_ID;
	error = rg__kit_member_check(group, sync->member_id, sync->group_instance_id, ret_member);
	if (error)
		return error;
	if (sync->generation_id != group->generation)
		return RG__KIT_ILLEGAL_GENERATION;
	if (contradicts(sync->protocol_type, group->protocol_type) ||
	    contradicts(sync->protocol_name, group->protocol_name))
		return RG__KIT_INCONSISTENT_GROUP_PROTOCOL;
	if (group->state == RG__KIT_PREPARING_REBALANCE)
		return RG__KIT_REBALANCE_IN_PROGRESS;
	return 0;
}

/* The deadline for SyncGroup ends with the last one who owed it. */
static void paid(struct rg__kit_group *group, struct rg__kit_member *member)
{
	member->owes_sync = false;
	for (const struct rg__kit_member *other = group->members; other; other = other->hh.next)
		if (other->owes_sync)
			return;
	group->sync_due_us = RG__KIT_NO_DEADLINE;
}

/* broker: who is not in the plan gets zero bytes, and so does everybody when a leader that was told to skip sends
 * none. */
static bool hand_out_plan(struct rg__kit_coordinator *c, struct rg__kit_group *group,
			  const struct rg__sync_group_request *sync)
{
	const struct rg__sync_group_request_assignment *plan =
		RG__ITEMS(struct rg__sync_group_request_assignment, sync->assignments);

	for (struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (!rg__kit_own(&member->assignment, rg__bytes_of("")))
			return false;
	for (int32_t i = 0; i < sync->assignments.count; i++) {
		struct rg__kit_member *member = rg__kit_member_find(group, plan[i].member_id);

		if (member && plan[i].assignment.data && !rg__kit_own(&member->assignment, plan[i].assignment))
			return false;
	}
	rg__kit_answer_syncs(c, group, 0);
	rg__kit_group_become(c, group, RG__KIT_STABLE, "the leader's plan is here");
	return rg__kit_record_store(group);
}

bool rg__kit_on_sync(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__sync_group_request *sync = request->body;
	struct rg__kit_group *group = rg__kit_group_find(c, sync->group_id);
	struct rg__kit_member *member = NULL;
	int16_t error = check_request(c, group, request, &member);

	(void)rg__kit_event(c, RG__KIT_EVENT_SYNC_RECEIVED, sync->group_id, sync->member_id, sync->generation_id);
	if (error) {
		refuse(c, group, request, error);
		return true;
	}
	paid(group, member);
	if (group->state == RG__KIT_STABLE) {
		struct rg__kit_reply reply = rg__kit_reply_to(request);

		/* broker: no sign of life since 4.0; before that a session began with every answer. */
		rg__kit_answer_sync(c, group, &reply, member, member->id, 0);
		return true;
	}
	rg__kit_park(c, group, member, request);
	return !rg__kit_group_has_leader(group, member) || hand_out_plan(c, group, sync);
}
