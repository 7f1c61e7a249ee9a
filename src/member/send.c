/* SPDX-License-Identifier: Apache-2.0 */
/* What the four group requests have in common. */
#include "base/alloc.h"
#include "member/internal.h"

#include <string.h>

/* Group, member and instance id for a request. The member id is a copy that lives until another one is needed; requests
 * that still point to the old one are of an identity that is over, and are cancelled. False: out of memory. */
bool rg__identify(rg_member *member, struct rg__bytes *ret_group_id, struct rg__bytes *ret_member_id,
                  struct rg__bytes *ret_instance_id)
{
	const char *id = rg__machine_member_id(member->machine);

	if (!member->sent_member_id || strcmp(member->sent_member_id, id) != 0) {
		char *copy = rg__strdup(id);
		rg__request_id *ids[] = {&member->join_id, &member->sync_id, &member->heartbeat_id, &member->leave_id};

		if (!copy)
			return false;
		for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
			if (*ids[i] && member->link)
				rg__link_cancel(member->link, *ids[i]);
			*ids[i] = 0;
		}
		rg__free(member->sent_member_id);
		member->sent_member_id = copy;
	}
	*ret_group_id = rg__bytes_of(member->conf->settings.group_id);
	*ret_member_id = rg__bytes_of(member->sent_member_id);
	*ret_instance_id = rg__bytes_of(member->conf->settings.group_instance_id);
	return true;
}

/* Queues the request on the coordinator's connection, in place of an earlier one of its kind. */
rg_err rg__send(rg_member *member, int16_t api_key, const struct rg__action *action, const void *body,
                const void *(*prepare)(void *user, int16_t version),
                void (*done)(void *user, const struct rg__response *response), rg__request_id *id)
{
	struct rg__call call = {.api_key = api_key,
	                        .body = body,
	                        .prepare = prepare,
	                        .timeout_ms = action->timeout_us / 1000,
	                        .done = done,
	                        .user = member};
	rg_err err;

	if (!member->link)
		return RG_ERR_TRANSPORT;
	if (*id)
		rg__link_cancel(member->link, *id);
	*id = 0;
	err = rg__link_request(member->link, &call, id);
	return err;
}

/* The request never left: the machine hears of it as of an answer, after the step that asked for it. */
void rg__not_sent(rg_member *member, enum rg__event_type type, enum rg__request request, uint32_t attempt, rg_err err)
{
	rg__explain(member, request, err, member->link ? rg__link_name(member->link) : NULL, RG__NULL_BYTES);
	rg__member_defer(member, &(struct rg__event){.type = type, .attempt = attempt, .err = err});
}

/* The error an answer carries, wherever it stands; its words go to member->cause. */
rg_err rg__answer_error(rg_member *member, enum rg__request request, const struct rg__response *response, rg_err in_body)
{
	if (response->error.code) {
		member->cause = response->error;
		return response->error.code;
	}
	member->cause.code = RG_OK;
	if (in_body)
		rg__explain(member, request, in_body, response->broker, RG__NULL_BYTES);
	return in_body;
}
