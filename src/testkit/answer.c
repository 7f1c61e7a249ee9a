/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/sync_group.h"
#include "testkit/coordinator.h"

struct rg__kit_reply rg__kit_reply_to(const struct rg__kit_request *request)
{
	return (struct rg__kit_reply){.parked = true,
				      .connection = request->connection,
				      .correlation_id = request->correlation_id,
				      .version = request->version};
}

struct rg__bytes rg__kit_copy(struct rg__kit_coordinator *c, struct rg__bytes view)
{
	const char *copy = view.data ? rg__arena_copy(&c->out->arena, view.data, view.len) : NULL;

	if (view.data && !copy) {
		c->failed = true;
		return rg__bytes_of("");
	}
	return (struct rg__bytes){(const uint8_t *)copy, view.len};
}

static struct rg__kit_answer *append(struct rg__kit_coordinator *c, struct rg__kit_reply *reply, int16_t api)
{
	struct rg__kit_answer *answer = rg__arena_calloc(&c->out->arena, 1, sizeof(*answer));

	if (!answer) {
		c->failed = true;
		return NULL;
	}
	reply->parked = false;
	answer->connection = reply->connection;
	answer->correlation_id = reply->correlation_id;
	answer->version = reply->version;
	answer->api = api;
	if (c->out->last_answer)
		c->out->last_answer->next = answer;
	else
		c->out->answers = answer;
	c->out->last_answer = answer;
	return answer;
}

void *rg__kit_answer(struct rg__kit_coordinator *c, struct rg__kit_reply *reply, int16_t api)
{
	const struct rg__fields *fields = rg__api_by_key(api)->response;
	void *body = rg__arena_calloc(&c->out->arena, 1, fields->size);
	struct rg__kit_answer *answer = body ? append(c, reply, api) : NULL;

	if (!answer) {
		c->failed = true;
		return NULL;
	}
	rg__fields_init(fields, body);
	answer->body = body;
	return body;
}

void rg__kit_answer_error(struct rg__kit_coordinator *c, const struct rg__kit_request *request, int16_t error)
{
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	void *body = rg__kit_error_body(request, error, &c->out->arena);
	struct rg__kit_answer *answer = body ? append(c, &reply, request->api) : NULL;

	if (!answer)
		c->failed = true;
	else
		answer->body = body;
}

void rg__kit_answer_join_error(struct rg__kit_coordinator *c, struct rg__bytes group_id, int32_t generation,
			       struct rg__kit_reply *reply, struct rg__bytes member_id, int16_t error)
{
	struct rg__join_group_response *body = NULL;
	struct rg__kit_event *event;
	int16_t version = reply->version;

	if (!reply->parked)
		return;
	event = rg__kit_event(c, RG__KIT_EVENT_JOIN_ANSWERED, group_id, member_id, generation);
	body = rg__kit_answer(c, reply, RG__API_JOIN_GROUP);
	if (!event || !body)
		return;
	event->error = error;
	body->error_code = error;
	body->member_id = rg__kit_copy(c, member_id);
	/* Before it could be null the name was empty. */
	body->protocol_name = version < 7 ? rg__bytes_of("") : RG__NULL_BYTES;
}

static bool list_members(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			 struct rg__array *ret_members)
{
	struct rg__join_group_response_member *to;

	if (!rg__array_init(&rg__join_group_response_member_fields, (int32_t)HASH_COUNT(group->members), &c->out->arena,
			    ret_members))
		return false;
	to = RG__ITEMS(struct rg__join_group_response_member, *ret_members);
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next, to++) {
		to->member_id = rg__kit_copy(c, member->id);
		to->group_instance_id = rg__kit_copy(c, member->instance_id);
		to->metadata = rg__kit_copy(c, rg__kit_member_metadata(member, group->protocol_name));
	}
	return true;
}

void rg__kit_answer_join(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			 struct rg__kit_reply *reply, const struct rg__kit_member *member, struct rg__bytes leader,
			 bool with_members, bool skip_assignment)
{
	struct rg__join_group_response *body;
	struct rg__kit_event *event;

	if (!reply->parked)
		return;
	event = rg__kit_event(c, RG__KIT_EVENT_JOIN_ANSWERED, group->id, member->id, group->generation);
	body = rg__kit_answer(c, reply, RG__API_JOIN_GROUP);
	if (!event || !body)
		return;
	event->leader = rg__bytes_equal(leader, member->id);
	body->generation_id = group->generation;
	body->protocol_type = rg__kit_copy(c, group->protocol_type);
	body->protocol_name = rg__kit_copy(c, group->protocol_name);
	body->leader = rg__kit_copy(c, leader);
	body->member_id = rg__kit_copy(c, member->id);
	body->skip_assignment = skip_assignment;
	if (with_members && !list_members(c, group, &body->members))
		c->failed = true;
}

void rg__kit_answer_sync(struct rg__kit_coordinator *c, const struct rg__kit_group *group, struct rg__kit_reply *reply,
			 const struct rg__kit_member *member, struct rg__bytes member_id, int16_t error)
{
	struct rg__sync_group_response *body;
	struct rg__kit_event *event;

	if (!reply->parked)
		return;
	event = rg__kit_event(c, RG__KIT_EVENT_SYNC_ANSWERED, group->id, member_id, group->generation);
	body = rg__kit_answer(c, reply, RG__API_SYNC_GROUP);
	if (!event || !body)
		return;
	event->error = error;
	body->error_code = error;
	if (error || !member)
		return;
	body->protocol_type = rg__kit_copy(c, group->protocol_type);
	body->protocol_name = rg__kit_copy(c, group->protocol_name);
	body->assignment = rg__kit_copy(c, member->assignment);
}

void rg__kit_park(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
		  const struct rg__kit_request *request)
{
	bool joins = request->api == RG__API_JOIN_GROUP;
	struct rg__kit_reply *at = joins ? &member->join : &member->sync;

	if (c->conf.superseded_error && joins)
		rg__kit_answer_join_error(c, group->id, group->generation, at, member->id, c->conf.superseded_error);
	else if (c->conf.superseded_error)
		rg__kit_answer_sync(c, group, at, member, member->id, c->conf.superseded_error);
	*at = rg__kit_reply_to(request);
}
