/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

#include "codec/find_coordinator.h"
#include "codec/frame.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/sync_group.h"

enum { BODY_ROOM = 512, RAW_MAX = 2048 };

/* A request on its way to an answer. */
struct asked {
	struct world *world;
	struct sim_conn *conn;
	const struct rg__api *api;
	int16_t version;
	int32_t correlation_id;
	const void *body;
	struct rg__arena arena;
};

/* --- Good answers ------------------------------------------------------------------------------------------------ */

static void good_versions(struct asked *asked, struct rg__api_versions_response *body)
{
	struct rg__api_versions_response_api_key *keys;

	require(rg__array_init(&rg__api_versions_response_api_key_fields, rg__api_count, &asked->arena, &body->api_keys),
		"there is memory");
	keys = body->api_keys.items;
	for (int i = 0; i < rg__api_count; i++) {
		keys[i].api_key = rg__apis[i].key;
		keys[i].min_version = rg__apis[i].first;
		keys[i].max_version = rg__apis[i].last;
	}
}

static void good_coordinator(struct asked *asked, struct rg__find_coordinator_response *body)
{
	struct rg__find_coordinator_response_coordinator *one;

	if (asked->version < 4) {
		body->node_id = 2;
		body->host = rg__bytes_of("10.0.0.2");
		body->port = 9092;
		return;
	}
	require(rg__array_init(&rg__find_coordinator_response_coordinator_fields, 1, &asked->arena, &body->coordinators),
		"there is memory");
	one = body->coordinators.items;
	one->key = rg__bytes_of("g");
	one->node_id = 2;
	one->host = rg__bytes_of("10.0.0.2");
	one->port = 9092;
}

static void good_join(struct asked *asked, struct rg__join_group_response *body)
{
	const struct rg__join_group_request *request = asked->body;
	struct rg__join_group_response_member *members;

	body->member_id = rg__bytes_of("m1");
	body->protocol_name = asked->version < 7 ? rg__bytes_of("") : RG__NULL_BYTES;
	/* KIP-394 */
	if (asked->version >= 4 && !request->member_id.len && !request->group_instance_id.data) {
		body->error_code = 79;
		return;
	}
	body->generation_id = ++asked->world->generation;
	body->protocol_type = rg__bytes_of("consumer");
	body->protocol_name = rg__bytes_of("range");
	body->leader = rg__bytes_of(asked->world->leads ? "m1" : "m0");
	if (!asked->world->leads)
		return;
	require(rg__array_init(&rg__join_group_response_member_fields, 2, &asked->arena, &body->members),
		"there is memory");
	members = body->members.items;
	members[0].member_id = rg__bytes_of("m1");
	members[1].member_id = rg__bytes_of("m0");
	members[1].metadata = rg__bytes_of("topics");
}

static void good_leave(struct asked *asked, struct rg__leave_group_response *body)
{
	struct rg__leave_group_response_member *one;

	if (asked->version < 3)
		return;
	require(rg__array_init(&rg__leave_group_response_member_fields, 1, &asked->arena, &body->members),
		"there is memory");
	one = body->members.items;
	one->member_id = rg__bytes_of("m1");
}

static void fill_good(struct asked *asked, void *body)
{
	rg__fields_init(asked->api->response, body);
	if (asked->api->key == RG__API_API_VERSIONS)
		good_versions(asked, body);
	else if (asked->api->key == RG__API_FIND_COORDINATOR)
		good_coordinator(asked, body);
	else if (asked->api->key == RG__API_JOIN_GROUP)
		good_join(asked, body);
	else if (asked->api->key == RG__API_SYNC_GROUP)
		((struct rg__sync_group_response *)body)->assignment = rg__bytes_of("share");
	else if (asked->api->key == RG__API_LEAVE_GROUP)
		good_leave(asked, body);
}

/* --- Bad ones ---------------------------------------------------------------------------------------------------- */

static const struct rg__field *find_field(const struct rg__fields *fields, int version, const char *name)
{
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];

		if (strcmp(field->name, name) == 0 && version >= field->first && version <= field->last)
			return field;
	}
	return NULL;
}

static int16_t some_code(uint8_t byte)
{
	static const int16_t codes[] = {14, 15, 16, 22, 25, 27, 79, 30, 81,  69, 7,
	                                3,  82, 23, 24, 26, 35, 999, -1, 88, 29, 12};

	return codes[byte % (sizeof(codes) / sizeof(*codes))];
}

/* Into every field of that name: the answer's own, and that of the elements of its arrays. */
static void set_error(struct asked *asked, void *body, int16_t code)
{
	const struct rg__fields *fields = asked->api->response;
	const struct rg__field *own = find_field(fields, asked->version, "ErrorCode");

	asked->world->last_error = code;
	if (own)
		memcpy((char *)body + own->offset, &code, sizeof(code));
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i], *nested = NULL;
		const struct rg__array *array;

		if (field->type == RG__ARRAY && field->fields)
			nested = find_field(field->fields, asked->version, "ErrorCode");
		if (!nested)
			continue;
		array = (const struct rg__array *)(const void *)((char *)body + field->offset);
		for (int32_t k = 0; k < array->count; k++)
			memcpy((char *)array->items + (size_t)k * field->fields->size + nested->offset, &code,
			       sizeof(code));
	}
}

static void set_int32(struct asked *asked, void *body, const char *name, int32_t value)
{
	const struct rg__field *field = find_field(asked->api->response, asked->version, name);

	if (field)
		memcpy((char *)body + field->offset, &value, sizeof(value));
}

/* Believable in form and wrong in sense. */
static void set_nonsense(struct asked *asked, void *body)
{
	static const char twisted[] = "m1\0x";
	struct input *input = &asked->world->input;
	uint8_t how = take(input);

	if (asked->api->key == RG__API_JOIN_GROUP) {
		struct rg__join_group_response *join = body;
		struct rg__join_group_response_member *members = join->members.items;

		join->error_code = 0;
		if (how & 1)
			join->generation_id = how & 2 ? -1 : INT32_MAX;
		join->member_id = how & 4 ? rg__bytes_of("") : (struct rg__bytes){(const uint8_t *)twisted, 4};
		join->leader = how & 8 ? join->member_id : join->leader;
		join->protocol_name = rg__bytes_of(how & 16 ? "unknown" : "sticky");
		join->protocol_type = how & 32 ? rg__bytes_of("connect") : RG__NULL_BYTES;
		join->skip_assignment = asked->version >= 9 && how & 64;
		for (int32_t i = 0; i < join->members.count; i++)
			members[i].member_id = i || how & 128 ? (struct rg__bytes){(const uint8_t *)twisted, 4}
							      : rg__bytes_of("m1");
	} else if (asked->api->key == RG__API_FIND_COORDINATOR && asked->version >= 4) {
		struct rg__find_coordinator_response *find = body;
		struct rg__find_coordinator_response_coordinator *one = find->coordinators.items;

		one->host = how & 1 ? rg__bytes_of("10.0.0.1") : take_bytes(input, how >> 4);
		one->port = how & 2 ? 9092 : how & 4 ? -1 : 70000;
		one->node_id = how & 8 ? -1 : 1;
	} else if (asked->api->key == RG__API_API_VERSIONS) {
		struct rg__api_versions_response *versions = body;
		struct rg__api_versions_response_api_key *keys = versions->api_keys.items;

		keys[how % (unsigned)rg__api_count].max_version = (int16_t)(take(input) - 4);
		keys[(how >> 4) % (unsigned)rg__api_count].min_version = (int16_t)(take(input) >> 4);
		versions->api_keys.count -= how & 1;
	} else {
		set_error(asked, body, (int16_t)take_u16(input));
	}
}

/* --- Sending ----------------------------------------------------------------------------------------------------- */

static void encode(struct asked *asked, const void *body, int32_t correlation_skew, struct rg__buf *ret_frame)
{
	struct rg__codec_error err;
	int32_t id = asked->correlation_id + correlation_skew;
	bool good = rg__encode_response(asked->api, asked->version, id, body, ret_frame, &err);

	if (!good)
		fprintf(stderr, "%s.%s: %s\n", err.message, err.path, err.what);
	require(good, "an answer can be written");
}

/* A frame with this answer's header and the input's bytes as body. */
static void raw_body(struct asked *asked, struct rg__buf *frame)
{
	uint32_t len = take_u16(&asked->world->input) % RAW_MAX;
	struct rg__bytes bytes = take_bytes(&asked->world->input, len);
	bool tags = rg__api_response_header_version(asked->api, asked->version) == 1;
	uint32_t size = (uint32_t)bytes.len + 4 + tags, id = (uint32_t)asked->correlation_id;
	uint8_t head[9] = {0};

	for (unsigned i = 0; i < 4; i++) {
		head[i] = (uint8_t)(size >> (24 - 8 * i));
		head[4 + i] = (uint8_t)(id >> (24 - 8 * i));
	}
	rg__buf_append(frame, head, tags ? 9 : 8);
	rg__buf_append(frame, bytes.data, bytes.len);
}

static void send_frame(struct asked *asked, const struct rg__buf *frame, size_t len)
{
	sim_send(asked->conn, frame->data, len);
}

/* The answer as it should be, with one thing wrong. */
static void send_almost_good(struct asked *asked, uint8_t what)
{
	static const int64_t delays_us[] = {1000, 200000, 1900000, 2100000, 15000000, 30000000};
	_Alignas(max_align_t) unsigned char body[BODY_ROOM];
	struct rg__buf frame = {0};
	uint8_t which = what >> 4;
	int32_t skew = 0;

	fill_good(asked, body);
	asked->world->last_error = 0;
	if ((what & 0xf) == 1)
		set_error(asked, body, some_code(take(&asked->world->input)));
	else if ((what & 0xf) == 2)
		set_nonsense(asked, body);
	else if ((what & 0xf) == 3)
		set_int32(asked, body, "ThrottleTimeMs", which & 1 ? INT32_MAX : which & 2 ? -5 : which * 100);
	else if ((what & 0xf) == 4)
		skew = which - 8;
	encode(asked, body, skew, &frame);
	if ((what & 0xf) == 5) {
		sim_send_in(asked->conn, frame.data, frame.len, delays_us[which % 6]);
	} else if ((what & 0xf) == 6) { /* not all of it */
		send_frame(asked, &frame, frame.len * which / 16);
		if (which & 1)
			sim_hang_up(asked->conn);
	} else if ((what & 0xf) == 7) { /* more than all of it */
		send_frame(asked, &frame, frame.len);
		send_frame(asked, &frame, which & 1 ? frame.len : 2);
	} else {
		send_frame(asked, &frame, frame.len);
		if ((what & 0xf) == 8)
			sim_hang_up(asked->conn);
	}
	rg__buf_free(&frame);
}

static void answer(struct asked *asked)
{
	struct input *input = &asked->world->input;
	uint8_t what = take(input);
	struct rg__buf frame = {0};
	struct rg__bytes bytes;

	switch (what & 0xf) {
	default:
		send_almost_good(asked, what);
		break;
	case 10:
		raw_body(asked, &frame);
		send_frame(asked, &frame, frame.len);
		break;
	case 11: /* no frame at all */
		bytes = take_bytes(input, what >> 4);
		sim_send(asked->conn, bytes.data, bytes.len);
		break;
	case 12:
		sim_hang_up(asked->conn);
		break;
	case 13:
		break;
	case 14: /* what it is told to say later, and then nothing: a stalled connection */
		send_almost_good(asked, 0);
		sim_send_in(asked->conn, "", 0, 60000000);
		break;
	}
	rg__buf_free(&frame);
}

/* --- Receiving --------------------------------------------------------------------------------------------------- */

static void handle(struct world *world, struct sim_conn *conn, struct rg__bytes frame)
{
	_Alignas(max_align_t) unsigned char body[BODY_ROOM];
	struct asked asked = {.world = world, .conn = conn, .body = body};
	struct rg__request_header header;
	struct rg__codec_error err;

	world->requests++;
	require(rg__decode_request_header(frame, &header, &err), "a member sends requests");
	asked.api = rg__api_by_key(header.request_api_key);
	asked.version = header.request_api_version;
	asked.correlation_id = header.correlation_id;
	require(asked.api && asked.api->request->size <= sizeof(body), "of an API we know");
	require(rg__decode_request(asked.api, asked.version, frame, &asked.arena, body, &err), "that can be read");
	if (!world->mute)
		answer(&asked);
	rg__arena_clear(&asked.arena);
}

static void received(struct sim_conn *conn, const uint8_t *data, size_t len, void *user)
{
	struct world *world = user;
	struct rg__buf *inbox = sim_inbox(conn);
	struct rg__bytes frame;
	size_t used;

	require(rg__buf_append(inbox, data, len), "there is memory");
	for (;;) {
		require(rg__frame_next(rg__buf_view(inbox), 1 << 20, &frame, &used, NULL), "a member sends frames");
		if (!frame.data)
			return;
		handle(world, conn, frame);
		rg__buf_consume(inbox, used);
	}
}

void world_begin(struct world *world, struct input input)
{
	static const char *const addresses[] = {"10.0.0.1", "10.0.0.2"};

	sim_init(&world->sim);
	world->input = input;
	for (int i = 0; i < 2; i++) {
		world->servers[i] = (struct sim_server){
			.address = addresses[i], .port = 9092, .received = received, .user = world};
		sim_add(&world->sim, &world->servers[i]);
	}
}

void world_end(struct world *world)
{
	sim_end(&world->sim);
}
