/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeat, sent and answered. */
#include "codec/api.h"
#include "member/internal.h"

static void answered(void *user, const struct rg__response *response)
{
	rg_member *member = user;
	const struct rg__heartbeat_response *body = response->body;
	struct rg__event event = {.type = RG__EVENT_HEARTBEAT_ANSWERED, .attempt = member->heartbeat_attempt};

	member->heartbeat_id = 0;
	event.err = rg__answer_error(member, RG__REQUEST_HEARTBEAT, response, body ? body->error_code : 0);
	rg__count_answered(&member->counters, RG__REQUEST_HEARTBEAT, event.err, rg__now_us(member->io));
	rg__trace_answer(member, "heartbeat_received", member->heartbeat_attempt, event.err,
	                 rg__machine_generation(member->machine), false);
	rg__member_step(member, &event);
}

void rg__send_heartbeat_request(rg_member *member, const struct rg__action *action)
{
	struct rg__heartbeat_request *request = &member->heartbeat_request;
	rg_err err = RG_ERR_MEMORY;

	member->heartbeat_attempt = action->attempt;
	rg__count_sent(&member->counters, RG__REQUEST_HEARTBEAT, NULL, rg__now_us(member->io));
	rg__trace_request(member, "heartbeat_sent", action->attempt, NULL); /* before anybody can answer it */
	if (rg__identify(member, &request->group_id, &request->member_id, &request->group_instance_id)) {
		request->generation_id = rg__machine_generation(member->machine);
		err = rg__send(member, RG__API_HEARTBEAT, action, request, NULL, answered, &member->heartbeat_id);
	}
	if (err)
		rg__not_sent(member, RG__EVENT_HEARTBEAT_ANSWERED, RG__REQUEST_HEARTBEAT, action->attempt, err);
}
