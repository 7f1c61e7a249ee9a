/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* KIP-345: a member with a group.instance.id keeps its seat while it is away. Whoever comes with that instance id and
 * no member id takes the seat over under a new member id; the one who sat there is fenced. */

int16_t rg__kit_member_check(const struct rg__kit_group *group, struct rg__bytes id, struct rg__bytes instance_id,
			     struct rg__kit_member **ret_member)
{
	struct rg__kit_member *member;

	if (instance_id.data) {
		member = rg__kit_member_by_instance(group, instance_id);
		if (!member)
			return RG__KIT_UNKNOWN_MEMBER_ID;
		if (!rg__bytes_equal(member->id, id))
			return RG__KIT_FENCED_INSTANCE_ID;
	}
	member = rg__kit_member_find(group, id);
	if (!member)
		return RG__KIT_UNKNOWN_MEMBER_ID;
	*ret_member = member;
	return 0;
}

/* Gives the seat another id, and with it the last place in the list. The seat is gone if memory is. */
static bool change_id(struct rg__kit_group *group, struct rg__kit_member *member, struct rg__bytes new_id)
{
	bool leads = rg__kit_group_has_leader(group, member);

	HASH_DEL(group->members, member);
	if (!rg__kit_own(&member->id, new_id) || (leads && !rg__kit_own(&group->leader, new_id))) {
		rg__kit_member_free(member);
		return false;
	}
	HASH_ADD_KEYPTR(hh, group->members, member->id.data, (unsigned)member->id.len, member);
	if (RG__HASH_ADDED(member))
		return true;
	rg__kit_member_free(member);
	return false;
}

/* The protocol stays what it is: no rebalance. The answer must not make a leader assign again with a plan nobody waits
 * for: from version 9 on skipAssignment says so (KIP-814), before that it is told that its old id leads. */
static bool rejoin_stable(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
			  struct rg__bytes old_leader, const struct rg__kit_request *request)
{
	bool skips = request->version >= 9, leads = rg__kit_group_has_leader(group, member);

	rg__kit_answer_join(c, group, &member->join, member, skips ? group->leader : old_leader, skips && leads,
			    skips && leads);
	return rg__kit_record_store(group);
}

static bool replace(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
		    struct rg__bytes new_id, const struct rg__kit_request *request)
{
	/* Fence whoever waits on the seat. */
	rg__kit_answer_join_error(c, group->id, group->generation, &member->join, member->id,
				  RG__KIT_FENCED_INSTANCE_ID);
	rg__kit_answer_sync(c, group, &member->sync, member, member->id, RG__KIT_FENCED_INSTANCE_ID);
	if (!change_id(group, member, new_id))
		return false;
	rg__kit_member_alive(c, member);
	rg__kit_member_set_timeouts(member, request);
	member->is_new = false;
	member->owes_sync = false;
	if (!rg__kit_member_set_protocols(member, request->body))
		return false;
	rg__kit_park(c, group, member, request);
	return true;
}

bool rg__kit_static_rejoin(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
			   struct rg__bytes new_id, const struct rg__kit_request *request)
{
	struct rg__bytes old_leader = rg__kit_copy(c, group->leader);

	if (!replace(c, group, member, new_id, request))
		return false;
	switch (group->state) {
	case RG__KIT_STABLE:
		if (rg__bytes_equal(rg__kit_group_vote(group), group->protocol_name))
			return rejoin_stable(c, group, member, old_leader, request);
		return rg__kit_prepare_rebalance(c, group, "a static member came back with other protocols");
	case RG__KIT_AWAITING_SYNC:
		/* KAFKA-9801: the leader may plan with the old id already, and the new one would get nothing. */
		return rg__kit_prepare_rebalance(c, group, "a static member came back while the plan was awaited");
	default:
		return rg__kit_delayed_join_try(c, group);
	}
}
