/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_broker.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The broker's own memory is not to fail: what is tested is the client's. So the countdown stands still meanwhile. */
#include "base/alloc.h"

static void put(struct broker *broker, struct sim_conn *conn, const struct rg__buf *buf)
{
	size_t len = buf->len;

	ck_assert(!buf->failed);
	if (broker->cut != SIZE_MAX && broker->sent + len >= broker->cut)
		len = broker->cut - broker->sent;
	sim_send(conn, buf->data, len);
	broker->sent += len;
	if (broker->sent == broker->cut)
		sim_hang_up(conn);
}

static void respond(struct broker *broker, struct sim_conn *conn, int16_t key, int16_t version, int32_t correlation_id,
                    const void *body)
{
	struct rg__codec_error refused = {0};
	struct rg__buf buf = {0};
	bool good = rg__encode_response(rg__api_by_key(key), version, correlation_id, body, &buf, &refused);

	ck_assert_msg(good, "%s %s", refused.path, refused.what);
	put(broker, conn, &buf);
	rg__buf_free(&buf);
}

static void hello(struct broker *broker, struct sim_conn *conn, const struct rg__request_header *header)
{
	struct rg__api_versions_response_api_key keys[16];
	struct rg__api_versions_response response;
	bool unknown = header->request_api_version > broker->api_versions_last;

	broker->hellos++;
	broker->last_hello_version = header->request_api_version;
	if (broker->mute)
		return;
	if (broker->hangs_up_on_hello || (unknown && broker->hangs_up_on_unknown)) {
		sim_hang_up(conn);
		return;
	}
	for (int i = 0; i < broker->range_count; i++) {
		rg__fields_init(&rg__api_versions_response_api_key_fields, &keys[i]);
		keys[i].api_key = broker->ranges[i].key;
		keys[i].min_version = broker->ranges[i].first;
		keys[i].max_version = broker->ranges[i].last;
	}
	rg__fields_init(&rg__api_versions_response_fields, &response);
	response.error_code = unknown ? 35 : 0;
	response.api_keys = (struct rg__array){keys, unknown && broker->empty_on_35 ? 0 : broker->range_count};
	respond(broker, conn, RG__API_API_VERSIONS, unknown ? 0 : header->request_api_version, header->correlation_id,
	        &response);
}

void broker_answer(struct broker *broker, const struct broker_seen *request)
{
	const struct rg__api *api = rg__api_by_key(request->api_key);
	union {
		struct rg__metadata_response metadata;
		char room[512];
	} body;

	ck_assert_uint_le(api->response->size, sizeof(body));
	rg__fields_init(api->response, &body);
	for (int i = 0; i < api->response->count; i++) {
		if (strcmp(api->response->items[i].name, "ThrottleTimeMs") == 0)
			memcpy((char *)&body + api->response->items[i].offset, &broker->throttle_ms, sizeof(int32_t));
	}
	if (request->api_key == RG__API_METADATA) {
		body.metadata.brokers = (struct rg__array){broker->nodes, broker->node_count};
		body.metadata.error_code = broker->metadata_error;
	}
	respond(broker, request->conn, request->api_key, request->version,
	        request->correlation_id + broker->correlation_skew, &body);
}

static void handle(struct broker *broker, struct sim_conn *conn, struct rg__bytes frame)
{
	struct rg__request_header header;

	ck_assert(rg__decode_request_header(frame, &header, NULL));
	if (broker->says) {
		sim_send(conn, broker->says, broker->says_len ? broker->says_len : strlen(broker->says));
		return;
	}
	if (header.request_api_key == RG__API_API_VERSIONS) {
		hello(broker, conn, &header);
		return;
	}
	ck_assert_int_lt(broker->seen_count, BROKER_SEEN_MAX);
	struct broker_seen *seen = &broker->seen[broker->seen_count++];

	*seen = (struct broker_seen){header.request_api_key, header.request_api_version, header.correlation_id, conn,
	                             broker->sim->now_us};
	if (!broker->holds)
		broker_answer(broker, seen);
}

static void opened(struct sim_conn *conn, void *user)
{
	((struct broker *)user)->conn = conn;
}

static void received(struct sim_conn *conn, const uint8_t *data, size_t len, void *user)
{
	long countdown = rg__alloc_fail_after(0);
	struct rg__buf *inbox = sim_inbox(conn);
	struct rg__bytes frame;
	size_t used;

	ck_assert(rg__buf_append(inbox, data, len));
	while (rg__frame_next(rg__buf_view(inbox), 1 << 20, &frame, &used, NULL) && frame.data) {
		handle(user, conn, frame);
		rg__buf_consume(inbox, used);
	}
	rg__alloc_fail_after(countdown);
}

void broker_range(struct broker *broker, int16_t key, int16_t first, int16_t last)
{
	for (int i = 0; i < broker->range_count; i++) {
		if (broker->ranges[i].key == key)
			broker->ranges[i] = (struct broker_range){key, first, last};
	}
}

void broker_init(struct broker *broker, struct sim *sim, const char *address)
{
	*broker = (struct broker){.sim = sim, .api_versions_last = 4, .cut = SIZE_MAX};
	broker->server = (struct sim_server){
		.address = address, .port = 9092, .opened = opened, .received = received, .user = broker};
	for (int i = 0; i < rg__api_count; i++)
		broker->ranges[broker->range_count++] =
			(struct broker_range){rg__apis[i].key, rg__apis[i].first, rg__apis[i].last};
	sim_add(sim, &broker->server);
}
