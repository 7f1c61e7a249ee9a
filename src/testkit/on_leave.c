/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/leave_group.h"
#include "testkit/coordinator.h"

/* Removes one member and says what its entry of the answer holds. */
static bool leave(struct rg__kit_coordinator *c, struct rg__kit_group *group,
		  const struct rg__leave_group_request_member *entry, int16_t *ret_error)
{
	struct rg__kit_member *member = NULL;
	struct rg__kit_pending_id *pending;

	*ret_error = 0;
	if (!entry->member_id.len) {
		/* KIP-345: an administrator names the instance alone. */
		member = rg__kit_member_by_instance(group, entry->group_instance_id);
		if (!member)
			*ret_error = RG__KIT_UNKNOWN_MEMBER_ID;
	} else {
		/* KAFKA-7909: an id that was only handed out can leave too, and the group need not wait for it. */
		pending = rg__kit_pending_id_find(group, entry->member_id);
		if (pending)
			rg__kit_pending_id_remove(group, pending);
		else
			*ret_error = rg__kit_member_check(group, entry->member_id, entry->group_instance_id, &member);
	}
	if (!member)
		return true;
	rg__kit_answer_join_error(c, group->id, group->generation, &member->join, rg__bytes_of(""),
				  RG__KIT_UNKNOWN_MEMBER_ID);
	/* broker: forgets a parked SyncGroup here, which can only be another connection's; an answer does no harm. */
	rg__kit_answer_sync(c, group, &member->sync, member, member->id, RG__KIT_UNKNOWN_MEMBER_ID);
	return rg__kit_group_remove(group, member);
}

static bool leave_each(struct rg__kit_coordinator *c, struct rg__kit_group *group,
		       const struct rg__leave_group_request_member *entries, int32_t count,
		       struct rg__leave_group_response *answer)
{
	struct rg__leave_group_response_member *results;
	bool anybody = false;

	if (!rg__array_init(&rg__leave_group_response_member_fields, count, &c->out->arena, &answer->members))
		return false;
	results = RG__ITEMS(struct rg__leave_group_response_member, answer->members);
	for (int32_t i = 0; i < count; i++) {
		int16_t error = RG__KIT_UNKNOWN_MEMBER_ID;

		if (group && !leave(c, group, &entries[i], &error))
			return false;
		results[i].member_id = rg__kit_copy(c, entries[i].member_id);
		results[i].group_instance_id = rg__kit_copy(c, entries[i].group_instance_id);
		results[i].error_code = error;
		anybody |= !error;
	}
	if (!anybody || group->state == RG__KIT_EMPTY)
		return true;
	return rg__kit_rebalance_or_complete(c, group, "a member leaves");
}

bool rg__kit_on_leave(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__leave_group_request *leave_request = request->body;
	struct rg__kit_group *group = rg__kit_group_find(c, leave_request->group_id);
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__leave_group_request_member single = {.member_id = leave_request->member_id,
							.group_instance_id = RG__NULL_BYTES};
	const struct rg__leave_group_request_member *entries =
		RG__ITEMS(struct rg__leave_group_request_member, leave_request->members);
	/* Before version 3 the request is about one member, and so is its error. */
	bool batch = request->version >= 3;
	struct rg__leave_group_response *answer;

	if (!leave_request->group_id.len || rg__kit_unloaded_find(c, leave_request->group_id)) {
		rg__kit_answer_error(c, request, leave_request->group_id.len ? RG__KIT_LOAD_IN_PROGRESS
									      : RG__KIT_INVALID_GROUP_ID);
		return true;
	}
	answer = rg__kit_answer(c, &reply, request->api);
	if (!answer || !leave_each(c, group, batch ? entries : &single, batch ? leave_request->members.count : 1, answer))
		return false;
	if (!batch) {
		answer->error_code = RG__ITEMS(struct rg__leave_group_response_member, answer->members)[0].error_code;
		answer->members = (struct rg__array){NULL, 0};
	}
	return true;
}
