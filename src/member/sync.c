/* SPDX-License-Identifier: Apache-2.0 */
/* SyncGroup, sent and answered; and the plan that the leader's carries. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "member/internal.h"

#include <stdlib.h>
#include <string.h>

static void answered(void *user, const struct rg__response *response)
{
	rg_member *member = user;
	const struct rg__sync_group_response *body = response->body;
	struct rg__event event = {.type = RG__EVENT_SYNC_ANSWERED, .attempt = member->sync_attempt};

	member->sync_id = 0;
	event.err = rg__answer_error(member, RG__REQUEST_SYNC_GROUP, response, body ? body->error_code : 0);
	if (body) {
		event.protocol_type = body->protocol_type;
		event.protocol_name = body->protocol_name;
	}
	if (!event.err) {
		struct rg__kept *kept = rg__kept_of_sync(response);

		if (kept) {
			rg__kept_release(member->assignment);
			member->assignment = kept;
		} else {
			event.err = rg__fail(&member->cause, RG_ERR_MEMORY, "out of memory for the answer to SyncGroup");
		}
	}
	rg__count_answered(&member->counters, RG__REQUEST_SYNC_GROUP, event.err, rg__now_us(member->io));
	rg__trace_answer(member, "sync_received", member->sync_attempt, event.err, rg__machine_generation(member->machine),
	                 rg__machine_is_leader(member->machine));
	rg__member_step(member, &event);
}

static rg_err build(rg_member *member, const struct rg__action *action)
{
	struct rg__sync_group_request *request = &member->sync_request;

	if (!rg__identify(member, &request->group_id, &request->member_id, &request->group_instance_id) ||
	    !rg__bytes_store(rg__bytes_of(rg__machine_protocol(member->machine)), &member->sent_protocol))
		return RG_ERR_MEMORY;
	request->generation_id = rg__machine_generation(member->machine);
	request->protocol_type = rg__bytes_of(member->protocol_type);
	request->protocol_name = rg__bytes_of(member->sent_protocol);
	request->assignments = (struct rg__array){member->plan, action->with_plan ? (int32_t)member->plan_count : 0};
	return RG_OK;
}

void rg__send_sync_group(rg_member *member, const struct rg__action *action)
{
	rg_err err = build(member, action);

	member->sync_attempt = action->attempt;
	rg__count_sent(&member->counters, RG__REQUEST_SYNC_GROUP, NULL, rg__now_us(member->io));
	rg__trace_request(member, "sync_sent", action->attempt, NULL); /* before anybody can answer it */
	if (!err)
		err = rg__send(member, RG__API_SYNC_GROUP, action, &member->sync_request, NULL, answered, &member->sync_id);
	if (err)
		rg__not_sent(member, RG__EVENT_SYNC_ANSWERED, RG__REQUEST_SYNC_GROUP, action->attempt, err);
}

/* --- The plan ----------------------------------------------------------------------------------------------------- */

static int by_id(const void *key, const void *info)
{
	return strcmp(key, ((const rg_member_info *)info)->member_id);
}

/* Everybody is in the plan from the start, with nothing: a broker gives members that are left out no bytes at all, which
 * others' clients do not survive. */
static rg_err make_plan(rg_member *member, const rg_member_share *shares, size_t count, struct rg__arena *arena,
                        struct rg__sync_group_request_assignment **ret_plan)
{
	const struct rg__kept *group = member->group;
	struct rg__sync_group_request_assignment *plan = rg__arena_calloc(arena, group->id_count, sizeof(*plan));

	if (!plan)
		return RG_ERR_MEMORY;
	for (size_t i = 0; i < group->id_count; i++)
		plan[i].member_id = group->ids[i];
	for (size_t i = 0; i < count; i++) {
		const rg_member_info *info =
			shares[i].member_id ? bsearch(shares[i].member_id, group->infos, group->count, sizeof(*info), by_id) : NULL;
		struct rg__sync_group_request_assignment *entry = info ? &plan[info - group->infos] : NULL;

		if (!entry || entry->assignment.data || shares[i].assignment.len > INT32_MAX)
			return RG_ERR_INVALID;
		entry->assignment.data = (uint8_t *)rg__arena_copy(arena, shares[i].assignment.data, shares[i].assignment.len);
		entry->assignment.len = shares[i].assignment.len;
		if (!entry->assignment.data)
			return RG_ERR_MEMORY;
	}
	for (size_t i = 0; i < group->id_count; i++)
		if (!plan[i].assignment.data)
			plan[i].assignment = rg__bytes_of("");
	*ret_plan = plan;
	return RG_OK;
}

rg_err rg_member_assigned(rg_member *member, uint32_t ticket, const rg_member_share *shares, size_t count)
{
	struct rg__sync_group_request_assignment *plan = NULL;
	struct rg__arena arena = {0};
	rg_err err;

	if (ticket != member->assign_ticket || rg__machine_membership(member->machine) != RG__ASSIGNING || !member->group)
		return RG_OK; /* the rebalance it was for is over */
	err = make_plan(member, shares, count, &arena, &plan);
	if (err) {
		rg__arena_clear(&arena);
		return err;
	}
	rg__arena_clear(&member->plan_arena);
	member->plan_arena = arena;
	member->plan = plan;
	member->plan_count = member->group->id_count;
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_ASSIGNED, .attempt = ticket});
	return RG_OK;
}

void rg_member_assign_failed(rg_member *member, uint32_t ticket, rg_err code, const char *text)
{
	if (code != RG_ERR_BAD_PLAN && code != RG_ERR_MEMORY)
		code = RG_ERR_ASSIGNOR;
	if (ticket != member->assign_ticket || rg__machine_membership(member->machine) != RG__ASSIGNING)
		return;
	rg__fail(&member->cause, code, "%s", text && *text ? text : "the assignor gave no plan and no reason");
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_ASSIGNED, .attempt = ticket, .err = code});
}
