/* SPDX-License-Identifier: Apache-2.0 */
/* The broker of the small world: what is taken up goes through the shipping coordinator, or is answered with an error. */
#include "explore_world.h"

#include "codec/api.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/sync_group.h"

#include <stdlib.h>

static void read_answer(const struct rg__kit_answer *answer, struct message *to)
{
	if (answer->api == RG__API_JOIN_GROUP) {
		const struct rg__join_group_response *body = answer->body;
		const struct rg__join_group_response_member *members = body->members.items;

		to->err = body->error_code;
		to->generation = body->generation_id;
		world_copy_id(to->id, body->member_id);
		world_copy_id(to->leader, body->leader);
		to->leads = body->leader.len && rg__bytes_equal(body->leader, body->member_id);
		to->skip = body->skip_assignment;
		for (int32_t i = 0; i < body->members.count && i < MEMBERS_MAX; i++) {
			world_copy_id(to->ids[i], members[i].member_id);
			to->id_claims[i] = members[i].metadata.len ? members[i].metadata.data[0] : 0;
			to->count++;
		}
	} else if (answer->api == RG__API_SYNC_GROUP) {
		const struct rg__sync_group_response *body = answer->body;

		to->err = body->error_code;
		to->shares[0] = body->assignment.len ? body->assignment.data[0] : 0;
	} else if (answer->api == RG__API_HEARTBEAT) {
		to->err = ((const struct rg__heartbeat_response *)answer->body)->error_code;
	}
}

static void reply(struct world *world, int at, rg_err err, const struct rg__kit_answer *answer)
{
	struct peer *peer = &world->peers[at];
	struct message *message = world_push(world, at, &peer->down);

	message->api = peer->working.api;
	message->attempt = peer->working.attempt;
	message->err = err;
	world_copy_id(message->id, rg__bytes_of(peer->working.id));
	if (answer)
		read_answer(answer, message);
	peer->busy = false;
}

void broker_dispatch(struct world *world, struct rg__kit_outcome *outcome)
{
	for (const struct rg__kit_answer *answer = outcome->answers; answer; answer = answer->next)
		for (int at = 0; at < world->conf->members; at++)
			if (world->peers[at].connection == answer->connection && world->peers[at].busy)
				reply(world, at, 0, answer);
	rg__kit_outcome_clear(outcome);
}

void broker_take_up(struct world *world, int at, rg_err err)
{
	struct peer *peer = &world->peers[at];
	struct message *message = &peer->working;
	struct rg__kit_outcome outcome = {0};
	struct rg__join_group_request join;
	struct rg__sync_group_request sync;
	struct rg__heartbeat_request beat;
	struct rg__leave_group_request leave;
	struct rg__join_group_request_protocol protocol = {rg__bytes_of("p"), {&message->claims, 1}};
	struct rg__sync_group_request_assignment plan[MEMBERS_MAX];
	struct rg__leave_group_request_member leaver = {.member_id = rg__bytes_of(message->id)};
	struct rg__kit_request request = {.connection = peer->connection, .correlation_id = 1, .client_id = rg__bytes_of("c")};

	*message = world_pop(&peer->up);
	peer->busy = true;
	if (!err && peer->node != world->node)
		err = 16;
	if (err == 79 && !message->id[0]) /* KIP-394: with an id to come back with */
		world_copy_id(message->id, rg__bytes_of("m-79"));
	if (err) {
		reply(world, at, err, NULL);
		return;
	}
	request.api = message->api;
	request.version = rg__api_by_key(message->api)->last;
	switch (message->api) {
	case RG__API_JOIN_GROUP:
		rg__fields_init(&rg__join_group_request_fields, &join);
		join.group_id = rg__bytes_of("g");
		join.session_timeout_ms = SESSION_MS;
		join.rebalance_timeout_ms = REBALANCE_MS;
		join.member_id = rg__bytes_of(message->id);
		join.protocol_type = rg__bytes_of("consumer");
		join.protocols = (struct rg__array){&protocol, 1};
		request.body = &join;
		break;
	case RG__API_SYNC_GROUP:
		rg__fields_init(&rg__sync_group_request_fields, &sync);
		sync.group_id = rg__bytes_of("g");
		sync.generation_id = message->generation;
		sync.member_id = rg__bytes_of(message->id);
		sync.protocol_type = rg__bytes_of("consumer");
		sync.protocol_name = rg__bytes_of("p");
		for (int i = 0; i < message->count; i++)
			plan[i] = (struct rg__sync_group_request_assignment){rg__bytes_of(message->ids[i]), {&message->shares[i], 1}};
		sync.assignments = (struct rg__array){plan, message->count};
		request.body = &sync;
		break;
	case RG__API_HEARTBEAT:
		rg__fields_init(&rg__heartbeat_request_fields, &beat);
		beat.group_id = rg__bytes_of("g");
		beat.generation_id = message->generation;
		beat.member_id = rg__bytes_of(message->id);
		request.body = &beat;
		break;
	default:
		rg__fields_init(&rg__leave_group_request_fields, &leave);
		leave.group_id = rg__bytes_of("g");
		leave.members = (struct rg__array){&leaver, 1};
		request.body = &leave;
		break;
	}
	if (!rg__kit_coordinator_step(world->coordinator, world->now_us, &request, &outcome))
		abort();
	broker_dispatch(world, &outcome);
}
