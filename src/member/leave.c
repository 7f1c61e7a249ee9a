/* SPDX-License-Identifier: Apache-2.0 */
/* LeaveGroup, sent and answered; and the way for what has to go out before it. */
#include "base/error.h"
#include "base/log.h"
#include "codec/api.h"
#include "member/internal.h"

#include <string.h>

/* Until the request is sent nobody has told the coordinator. Where it need not be told there is nothing to say; and
 * a member that is leaving already has sent it. */
void rg__leave_expect(rg_member *member, rg_leave how)
{
	enum rg__membership_state is = rg__machine_membership(member->machine);
	bool due = how == RG_LEAVE_ALWAYS || (how == RG_LEAVE_DEFAULT && !member->conf->settings.group_instance_id);

	if (is == RG__LEAVING)
		return;
	member->leave_error = (rg_error){0};
	if (due && is != RG__FAILED && rg__machine_member_id(member->machine)[0])
		rg__fail(&member->leave_error, RG_ERR_TIMED_OUT, "LeaveGroup was not sent: the coordinator is not known");
}

static void answered(void *user, const struct rg__response *response)
{
	rg_member *member = user;
	const struct rg__leave_group_response *body = response->body;
	rg_err err = body ? body->error_code : 0;

	member->leave_id = 0;
	if (body && !err && body->members.count > 0) {
		const struct rg__leave_group_response_member *first = body->members.items;

		err = first->error_code;
	}
	err = rg__answer_error(member, RG__REQUEST_LEAVE_GROUP, response, err);
	/* Sent is told, as far as anybody can know; and a refusal is an answer, too. */
	member->leave_error = response->sent_us ? (rg_error){0} : response->error;
	if (err)
		rg__log(&member->log, RG__LOG_INFO, "LEAVE", "%s; the session timeout will do", member->cause.text);
	rg__member_step(member,
	                &(struct rg__event){.type = RG__EVENT_LEAVE_ANSWERED, .attempt = member->leave_attempt, .err = err});
}

/* KIP-345: from version 3 on a list of members leaves, here of one; before, the one member id. */
static const void *prepare(void *user, int16_t version)
{
	rg_member *member = user;
	struct rg__leave_group_request *request = &member->leave_request;

	memset(request, 0, sizeof(*request));
	if (!rg__identify(member, &request->group_id, &member->leave_member.member_id,
	                  &member->leave_member.group_instance_id))
		return NULL;
	member->leave_member.reason =
		member->sent_leave_reason[0] ? rg__bytes_of(member->sent_leave_reason) : RG__NULL_BYTES;
	request->member_id = rg__bytes_of("");
	if (version < 3)
		request->member_id = member->leave_member.member_id;
	else
		request->members = (struct rg__array){&member->leave_member, 1};
	return request;
}

void rg__send_leave_group(rg_member *member, const struct rg__action *action)
{
	rg_err err = RG_OK;

	member->leave_attempt = action->attempt;
	strncpy(member->sent_leave_reason, action->reason ? action->reason : "", sizeof(member->sent_leave_reason) - 1);
	/* The broker would take up this request only after it has answered the JoinGroup: not on that connection. */
	if (action->beside_join && !rg__fresh_link(member))
		err = RG_ERR_MEMORY;
	rg__count_left(&member->counters);
	rg__trace_request(member, "leaving", action->attempt, action->reason); /* before anybody can answer it */
	if (!err)
		err = rg__send(member, RG__API_LEAVE_GROUP, action, NULL, prepare, answered, &member->leave_id);
	if (!err)
		return;
	rg__fail(&member->leave_error, err, "LeaveGroup could not be sent: %s", rg_err_name(err));
	rg__not_sent(member, RG__EVENT_LEAVE_ANSWERED, RG__REQUEST_LEAVE_GROUP, action->attempt, err);
}

/* broker: until JoinGroup is answered the generation before counts, and offsets may be committed in it; but what comes
 * behind a parked request on its connection is not even read. */
bool rg__member_make_way(rg_member *member)
{
	switch (rg__machine_membership(member->machine)) {
	case RG__PREPARING:
	case RG__STABLE:
		return true;
	case RG__JOINING:
		if (!rg__fresh_link(member))
			return false;
		rg__requests_to_link(member);
		return true;
	default:
		return false;
	}
}
