/* SPDX-License-Identifier: Apache-2.0 */
/* JoinGroup, sent and answered. */
#include "base/error.h"
#include "codec/api.h"
#include "member/internal.h"

#include <string.h>

/* The answer is kept when it may make this member the leader, who needs to see everybody. */
static rg_err keep_group(rg_member *member, const struct rg__response *response)
{
	struct rg__kept *kept = rg__kept_of_join(response, &member->log);

	if (!kept)
		return rg__fail(&member->cause, RG_ERR_MEMORY, "out of memory for the answer to JoinGroup");
	rg__kept_release(member->group);
	member->group = kept;
	return RG_OK;
}

/* broker: a leader is a member, too. One that is told of others only, or of nobody, would plan for a group without itself,
 * find its own topics missing in that, and rebalance for ever. */
static rg_err check_leader(rg_member *member, const struct rg__response *response, struct rg__bytes leader)
{
	for (size_t i = 0; i < member->group->id_count; i++)
		if (rg__bytes_equal(member->group->ids[i], leader))
			return RG_OK;
	rg__explain(member, RG__REQUEST_JOIN_GROUP, RG_ERR_PROTOCOL, response->broker,
	            rg__bytes_of("the leader is not among the members that are listed"));
	return RG_ERR_PROTOCOL;
}

static void answered(void *user, const struct rg__response *response)
{
	rg_member *member = user;
	const struct rg__join_group_response *body = response->body;
	struct rg__event event = {.type = RG__EVENT_JOIN_ANSWERED, .attempt = member->join_attempt};
	bool leads = false;

	member->join_id = 0;
	event.err = rg__answer_error(member, RG__REQUEST_JOIN_GROUP, response, body ? body->error_code : 0);
	if (body) {
		event.generation = body->generation_id;
		event.member_id = body->member_id;
		event.leader = body->leader;
		event.protocol_type = body->protocol_type;
		event.protocol_name = body->protocol_name;
		event.skip_assignment = body->skip_assignment;
		leads = body->leader.len && rg__bytes_equal(body->leader, body->member_id);
	}
	if (!event.err)
		event.err = keep_group(member, response); /* body lives on in it */
	if (!event.err && leads && !event.skip_assignment)
		event.err = check_leader(member, response, event.leader);
	if (!event.err)
		member->skip_assignment = event.skip_assignment;
	rg__count_answered(&member->counters, RG__REQUEST_JOIN_GROUP, event.err, rg__now_us(member->io));
	rg__trace_answer(member, "join_received", member->join_attempt, event.err,
	                 event.err ? rg__machine_generation(member->machine) : event.generation, leads);
	rg__member_step(member, &event);
}

static rg_err build(rg_member *member, const struct rg__action *action)
{
	struct rg__join_group_request *request = &member->join_request;
	const struct rg__settings *settings = &member->conf->settings;

	if (!rg__identify(member, &request->group_id, &request->member_id, &request->group_instance_id))
		return RG_ERR_MEMORY;
	request->session_timeout_ms = settings->session_timeout_ms;
	request->rebalance_timeout_ms = settings->max_poll_interval_ms;
	request->protocol_type = rg__bytes_of(member->protocol_type);
	request->protocols = (struct rg__array){member->protocols, (int32_t)member->protocol_count};
	strncpy(member->sent_reason, action->reason ? action->reason : "", sizeof(member->sent_reason) - 1);
	request->reason = member->sent_reason[0] ? rg__bytes_of(member->sent_reason) : RG__NULL_BYTES;
	return RG_OK;
}

void rg__send_join_group(rg_member *member, const struct rg__action *action)
{
	rg_err err;

	/* What still speaks of the generation before is over. */
	if (member->heartbeat_id && member->link)
		rg__link_cancel(member->link, member->heartbeat_id);
	member->heartbeat_id = 0;
	err = build(member, action);
	member->join_attempt = action->attempt;
	rg__count_sent(&member->counters, RG__REQUEST_JOIN_GROUP, action->reason, rg__now_us(member->io));
	rg__trace_request(member, "join_sent", action->attempt, action->reason); /* before anybody can answer it */
	if (!err)
		err = rg__send(member, RG__API_JOIN_GROUP, action, &member->join_request, NULL, answered, &member->join_id);
	if (err)
		rg__not_sent(member, RG__EVENT_JOIN_ANSWERED, RG__REQUEST_JOIN_GROUP, action->attempt, err);
}
