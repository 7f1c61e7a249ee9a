/* SPDX-License-Identifier: Apache-2.0 */
#include "broker.h"

#include "base/alloc.h"
#include "codec/find_coordinator.h"
#include "codec/frame.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/metadata.h"
#include "codec/sync_group.h"
#include "testkit/coordinator.h"

#include <check.h>
#include <string.h>

enum { RIVAL = 1000000, BODY_ROOM = 512, RIVAL_BEATS_US = 1000000 };

/* --- Sending ----------------------------------------------------------------------------------------------------- */

static struct peer *find_peer(struct broker *broker, uint64_t id)
{
	for (int i = 0; id && i < PEERS_MAX; i++)
		if (broker->peers[i].id == id)
			return &broker->peers[i];
	return NULL;
}

static void cut(struct broker *broker, struct broker_line *line, struct peer *peer)
{
	line->cut_at = UINT64_MAX;
	if (broker->cut == CUT_STALLS)
		peer->stalled = true;
	else
		sim_hang_up(peer->conn);
}

/* How much of it goes through before the cut, which then has come. */
static size_t before_cut(struct broker_line *line, size_t len, bool *ret_comes)
{
	*ret_comes = line->cut_at != UINT64_MAX && line->bytes + len >= line->cut_at;
	if (*ret_comes)
		len = (size_t)(line->cut_at - line->bytes);
	line->bytes += len;
	return len;
}

static void answer(struct broker *broker, uint64_t connection, const struct rg__api *api, int version, int32_t id,
                   const void *body)
{
	struct peer *peer = find_peer(broker, connection);
	struct rg__codec_error refused = {0};
	struct rg__buf buf = {0};
	bool comes;

	if (!peer || peer->stalled)
		return;
	bool good = rg__encode_response(api, version, id, body, &buf, &refused);

	ck_assert_msg(good, "%s %s", refused.path, refused.what);
	size_t len = before_cut(&broker->down, buf.len, &comes);

	if (len)
		sim_send(peer->conn, buf.data, len);
	if (comes)
		cut(broker, &broker->down, peer);
	rg__buf_free(&buf);
}

/* --- The coordinator and the rival ------------------------------------------------------------------------------- */

static void step(struct broker *broker, const struct rg__kit_request *request);

static void ask_as_rival(struct broker *broker, int16_t api, int16_t version, const void *body)
{
	struct rg__kit_request request = {.connection = RIVAL,
	                                  .correlation_id = ++broker->rival_correlation_id,
	                                  .client_id = broker->rival.client_id,
	                                  .api = api,
	                                  .version = version,
	                                  .body = body};

	step(broker, &request);
}

static void rival_join(struct broker *broker)
{
	struct rg__join_group_request_protocol protocol = {rg__bytes_of("range"), rg__bytes_of("rival")};
	struct rg__join_group_request request;

	rg__fields_init(&rg__join_group_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.session_timeout_ms = 10000;
	request.rebalance_timeout_ms = 20000;
	request.member_id = broker->rival.id;
	request.protocol_type = rg__bytes_of("consumer");
	request.protocols = (struct rg__array){&protocol, 1};
	broker->rival.stable = false;
	ask_as_rival(broker, RG__API_JOIN_GROUP, 9, &request);
}

static void rival_joined(struct broker *broker, const struct rg__join_group_response *answer)
{
	const struct rg__join_group_response_member *members = answer->members.items;
	struct rg__sync_group_request_assignment assignments[8];
	struct rg__sync_group_request request;
	struct rival *rival = &broker->rival;

	ck_assert_uint_le(answer->member_id.len, sizeof(rival->id_room));
	memcpy(rival->id_room, answer->member_id.data, answer->member_id.len);
	rival->id = (struct rg__bytes){rival->id_room, answer->member_id.len};
	if (answer->error_code != 0 && answer->error_code != 79)
		rival->id.len = 0;
	if (answer->error_code) {
		rival_join(broker);
		return;
	}
	rival->generation = answer->generation_id;
	rival->leads = rg__bytes_equal(answer->leader, answer->member_id);
	rg__fields_init(&rg__sync_group_request_fields, &request);
	ck_assert_int_le(answer->members.count, 8);
	for (int32_t i = 0; i < answer->members.count; i++)
		assignments[i] = (struct rg__sync_group_request_assignment){members[i].member_id, rg__bytes_of("share")};
	request.assignments = (struct rg__array){assignments, rival->leads ? answer->members.count : 0};
	request.group_id = rg__bytes_of("g");
	request.generation_id = rival->generation;
	request.member_id = rival->id;
	request.protocol_type = answer->protocol_type;
	request.protocol_name = answer->protocol_name;
	ask_as_rival(broker, RG__API_SYNC_GROUP, 5, &request);
}

static void rival_hears(struct broker *broker, const struct rg__kit_answer *answer)
{
	const struct rg__sync_group_response *sync = answer->body;
	const struct rg__heartbeat_response *beat = answer->body;
	struct rival *rival = &broker->rival;

	if (!rival->joins)
		return;
	if (answer->api == RG__API_JOIN_GROUP) {
		rival_joined(broker, answer->body);
	} else if (answer->api == RG__API_SYNC_GROUP && !sync->error_code) {
		rival->stable = true;
		rival->assignment_len = sync->assignment.len;
	} else if (answer->api == RG__API_SYNC_GROUP || (answer->api == RG__API_HEARTBEAT && beat->error_code)) {
		rival_join(broker);
	}
}

static void rival_beats(struct broker *broker)
{
	struct rg__heartbeat_request request;

	rg__fields_init(&rg__heartbeat_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id = broker->rival.generation;
	request.member_id = broker->rival.id;
	broker->rival.beats_at_us = broker->sim->now_us + RIVAL_BEATS_US;
	ask_as_rival(broker, RG__API_HEARTBEAT, 4, &request);
}

static void set_timer(struct broker *broker)
{
	int64_t at_us = rg__kit_coordinator_deadline(broker->coordinator);

	if (broker->rival.joins && broker->rival.stable && broker->rival.beats_at_us < at_us)
		at_us = broker->rival.beats_at_us;
	if (at_us == RG__KIT_NO_DEADLINE)
		rg__timer_clear(broker->timer);
	else
		rg__timer_set(broker->timer, at_us);
}

static void step(struct broker *broker, const struct rg__kit_request *request)
{
	struct rg__kit_outcome outcome = {0};

	ck_assert(rg__kit_coordinator_step(broker->coordinator, broker->sim->now_us, request, &outcome));
	for (const struct rg__kit_answer *at = outcome.answers; at; at = at->next)
		if (at->connection != RIVAL)
			answer(broker, at->connection, rg__api_by_key(at->api), at->version, at->correlation_id, at->body);
	for (const struct rg__kit_answer *at = outcome.answers; at; at = at->next)
		if (at->connection == RIVAL)
			rival_hears(broker, at);
	rg__kit_outcome_clear(&outcome);
	set_timer(broker);
}

static void timer_fired(void *user)
{
	struct broker *broker = user;
	long countdown = rg__alloc_fail_after(0);

	if (broker->rival.joins && broker->rival.stable && broker->sim->now_us >= broker->rival.beats_at_us)
		rival_beats(broker);
	else
		step(broker, NULL);
	rg__alloc_fail_after(countdown);
}

/* --- Receiving --------------------------------------------------------------------------------------------------- */

static void fill_versions(struct rg__api_versions_response *body, struct rg__arena *arena)
{
	struct rg__api_versions_response_api_key *keys;

	ck_assert(rg__array_init(&rg__api_versions_response_api_key_fields, rg__api_count, arena, &body->api_keys));
	keys = body->api_keys.items;
	for (int i = 0; i < rg__api_count; i++)
		keys[i] = (struct rg__api_versions_response_api_key){rg__apis[i].key, rg__apis[i].first, rg__apis[i].last};
}

static void fill_coordinator(struct rg__find_coordinator_response *body, int16_t error, struct rg__arena *arena)
{
	struct rg__find_coordinator_response_coordinator *one;

	ck_assert(rg__array_init(&rg__find_coordinator_response_coordinator_fields, 1, arena, &body->coordinators));
	one = body->coordinators.items;
	one->key = rg__bytes_of("g");
	one->error_code = error;
	if (error)
		return;
	one->node_id = 2;
	one->host = rg__bytes_of("10.0.0.2");
	one->port = 9092;
}

/* Both brokers and no topic. */
static void fill_metadata(struct rg__metadata_response *body, struct rg__arena *arena)
{
	static const char *const hosts[] = {"10.0.0.1", "10.0.0.2"};
	struct rg__metadata_response_broker *brokers;

	ck_assert(rg__array_init(&rg__metadata_response_broker_fields, 2, arena, &body->brokers));
	brokers = body->brokers.items;
	for (int i = 0; i < 2; i++) {
		brokers[i].node_id = i + 1;
		brokers[i].host = rg__bytes_of(hosts[i]);
		brokers[i].port = 9092;
	}
}

/* The error for this request; 0: it goes well. */
static int16_t refused(struct broker *broker, int16_t api)
{
	struct refusal *refusal = &broker->refusal;

	if (refusal->api != api || !refusal->left)
		return 0;
	refusal->left -= refusal->left > 0;
	refusal->times++;
	return refusal->error;
}

static void handle(struct broker *broker, struct peer *peer, struct rg__bytes frame)
{
	_Alignas(max_align_t) unsigned char body[BODY_ROOM], response[BODY_ROOM];
	struct rg__request_header header;
	struct rg__arena arena = {0};

	broker->requests++;
	ck_assert(rg__decode_request_header(frame, &header, NULL));
	const struct rg__api *api = rg__api_by_key(header.request_api_key);

	ck_assert_ptr_nonnull(api);
	broker->requests_of[api->key]++;
	ck_assert(rg__decode_request(api, header.request_api_version, frame, &arena, body, NULL));
	rg__fields_init(api->response, response);
	int16_t error = refused(broker, api->key);

	if (api->key == RG__API_API_VERSIONS) {
		fill_versions((void *)response, &arena);
		((struct rg__api_versions_response *)(void *)response)->error_code = error;
		answer(broker, peer->id, api, header.request_api_version, header.correlation_id, response);
	} else if (api->key == RG__API_METADATA) {
		fill_metadata((void *)response, &arena);
		((struct rg__metadata_response *)(void *)response)->error_code = error;
		answer(broker, peer->id, api, header.request_api_version, header.correlation_id, response);
	} else if (api->key == RG__API_FIND_COORDINATOR) {
		fill_coordinator((void *)response, error, &arena);
		answer(broker, peer->id, api, header.request_api_version, header.correlation_id, response);
	} else {
		struct rg__kit_request request = {.connection = peer->id,
		                                  .correlation_id = header.correlation_id,
		                                  .api = api->key,
		                                  .version = header.request_api_version,
		                                  .client_id = header.client_id,
		                                  .body = body};
		void *answered = error ? rg__kit_error_body(&request, error, &arena) : NULL;

		if (answered)
			answer(broker, peer->id, api, header.request_api_version, header.correlation_id, answered);
		else
			step(broker, &request);
	}
	rg__arena_clear(&arena);
}

static struct peer *peer_of(struct broker *broker, const struct sim_conn *conn)
{
	for (int i = 0; i < PEERS_MAX; i++)
		if (broker->peers[i].id && broker->peers[i].conn == conn)
			return &broker->peers[i];
	return NULL;
}

static void opened(struct sim_conn *conn, void *user)
{
	struct broker *broker = user;
	int free = 0;

	while (free < PEERS_MAX && broker->peers[free].id)
		free++;
	ck_assert_int_lt(free, PEERS_MAX);
	broker->peers[free] = (struct peer){++broker->last_peer, conn, false};
}

static void closed(struct sim_conn *conn, void *user)
{
	struct peer *peer = peer_of(user, conn);

	if (peer)
		peer->id = 0;
}

static void received(struct sim_conn *conn, const uint8_t *data, size_t len, void *user)
{
	struct broker *broker = user;
	struct peer *peer = peer_of(broker, conn);
	long countdown = rg__alloc_fail_after(0);
	struct rg__buf *inbox = sim_inbox(conn);
	struct rg__bytes frame;
	size_t used;
	bool comes;

	ck_assert_ptr_nonnull(peer);
	len = before_cut(&broker->up, len, &comes);
	if (!peer->stalled)
		ck_assert(rg__buf_append(inbox, data, len));
	while (rg__frame_next(rg__buf_view(inbox), 1 << 20, &frame, &used, NULL) && frame.data) {
		handle(broker, peer, frame);
		rg__buf_consume(inbox, used);
	}
	if (comes)
		cut(broker, &broker->up, peer);
	rg__alloc_fail_after(countdown);
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

void broker_begin(struct broker *broker, struct sim *sim)
{
	static const char *const addresses[] = {"10.0.0.1", "10.0.0.2"};
	struct rg__kit_coordinator_conf conf;

	*broker = (struct broker){.sim = sim, .up.cut_at = UINT64_MAX, .down.cut_at = UINT64_MAX};
	broker->rival.generation = -1;
	rg__kit_coordinator_conf_init(&conf);
	conf.initial_delay_us = 0;
	broker->coordinator = rg__kit_coordinator_new(&conf);
	broker->timer = rg__timer_new(&sim->io, timer_fired, broker);
	ck_assert(broker->coordinator && broker->timer);
	for (int i = 0; i < 2; i++) {
		broker->servers[i] = (struct sim_server){.address = addresses[i],
		                                         .port = 9092,
		                                         .opened = opened,
		                                         .received = received,
		                                         .closed = closed,
		                                         .user = broker};
		sim_add(sim, &broker->servers[i]);
	}
}

void broker_end(struct broker *broker)
{
	rg__timer_free(broker->timer);
	rg__kit_coordinator_free(broker->coordinator);
}

void broker_rival_joins(struct broker *broker)
{
	broker_rival_joins_as(broker, rg__bytes_of("rival"));
}

void broker_rival_joins_as(struct broker *broker, struct rg__bytes client_id)
{
	long countdown = rg__alloc_fail_after(0);

	broker->rival = (struct rival){.joins = true, .client_id = client_id, .id = rg__bytes_of(""), .generation = -1};
	rival_join(broker);
	rg__alloc_fail_after(countdown);
}

void broker_rival_leaves(struct broker *broker)
{
	struct rg__leave_group_request_member member;
	struct rg__leave_group_request request;
	long countdown = rg__alloc_fail_after(0);

	rg__fields_init(&rg__leave_group_request_fields, &request);
	rg__fields_init(&rg__leave_group_request_member_fields, &member);
	member.member_id = broker->rival.id;
	request.group_id = rg__bytes_of("g");
	request.members = (struct rg__array){&member, 1};
	broker->rival.joins = false;
	ask_as_rival(broker, RG__API_LEAVE_GROUP, 5, &request);
	rg__alloc_fail_after(countdown);
}
