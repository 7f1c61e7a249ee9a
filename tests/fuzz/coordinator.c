/* SPDX-License-Identifier: Apache-2.0 */
/* Request scripts for the testkit's coordinator: a few actors that mostly know their ids and generations, and now
 * and then a request made of raw bytes. Every request is answered at most once, with an answer that a broker could
 * send; what does not wait for others is answered at once; and its deadline moves. The coordinator checks its own
 * state after each step. */
#include "codec/api.h"
#include "codec/codec.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"
#include "fuzz.h"
#include "testkit/group_coordinator.h"

enum { ACTORS = 5, STEPS_MAX = 250, BODY_ROOM = 512, OPEN_MAX = 2 * STEPS_MAX };

struct actor {
	char id[160];
	int32_t generation;
};

struct open {
	uint64_t connection;
	int32_t correlation_id;
	int16_t api, version;
	bool answered;
};

struct stage {
	struct rg__kit_coordinator *coordinator;
	struct input input;
	int64_t now_us;
	struct actor actors[ACTORS];
	struct open open[OPEN_MAX];
	int open_count;
};

static void learn(struct stage *stage, const struct rg__kit_answer *answer)
{
	const struct rg__join_group_response *join = answer->body;
	struct actor *actor;

	if (answer->api != RG__API_JOIN_GROUP || answer->connection >= ACTORS ||
	    (join->error_code && join->error_code != 79))
		return;
	actor = &stage->actors[answer->connection];
	snprintf(actor->id, sizeof(actor->id), "%.*s", (int)join->member_id.len, (const char *)join->member_id.data);
	if (!join->error_code)
		actor->generation = join->generation_id;
}

static void check_answer(struct stage *stage, const struct rg__kit_answer *answer)
{
	const struct rg__api *api = rg__api_by_key(answer->api);
	struct rg__buf bytes = {0};
	struct rg__codec_error err;
	int i = answer->correlation_id;

	require(i >= 0 && i < stage->open_count, "an answer is to a request");
	struct open *open = &stage->open[i];

	require(open->connection == answer->connection && open->api == answer->api && open->version == answer->version,
		"and goes to who asked");
	require(!open->answered, "once");
	open->answered = true;
	require(rg__encode(api->response, answer->version, answer->body, &bytes, &err), "a broker could send it");
	rg__buf_free(&bytes);
	learn(stage, answer);
}

static void step(struct stage *stage, const struct rg__kit_request *request)
{
	struct rg__kit_outcome outcome = {0};

	require(rg__kit_coordinator_step(stage->coordinator, stage->now_us, request, &outcome), "there is memory");
	for (const struct rg__kit_answer *answer = outcome.answers; answer; answer = answer->next)
		check_answer(stage, answer);
	rg__kit_outcome_clear(&outcome);
	if (request && request->api != RG__API_JOIN_GROUP && request->api != RG__API_SYNC_GROUP)
		require(stage->open[request->correlation_id].answered, "what waits for nobody is answered at once");
}

static void ask(struct stage *stage, uint64_t connection, int16_t api, int version, const void *body)
{
	struct rg__kit_request request = {.connection = connection,
					  .correlation_id = stage->open_count,
					  .api = api,
					  .version = (int16_t)version,
					  .client_id = rg__bytes_of(connection & 1 ? "client" : NULL),
					  .body = body};

	if (stage->open_count == OPEN_MAX)
		return;
	stage->open[stage->open_count++] = (struct open){connection, request.correlation_id, api, (int16_t)version, false};
	step(stage, &request);
}

static void pass(struct stage *stage, int64_t span_us)
{
	int64_t until_us = stage->now_us + span_us, at_us;
	int at_once = 0;

	while ((at_us = rg__kit_coordinator_deadline(stage->coordinator)) <= until_us) {
		at_once = at_us <= stage->now_us ? at_once + 1 : 0;
		require(at_once < 3, "the deadline moves when it is kept");
		if (at_us > stage->now_us)
			stage->now_us = at_us;
		step(stage, NULL);
	}
	stage->now_us = until_us;
}

/* --- Requests: `how` and `more` are bytes of the input ----------------------------------------------------------- */

static const char *group_of(uint8_t how)
{
	return how & 0xc0 ? "g" : how & 0x20 ? "h" : "";
}

static const char *instance_of(uint8_t how)
{
	return how & 0x10 ? how & 0x08 ? "i1" : "i2" : NULL;
}

static struct rg__bytes id_of(struct stage *stage, int who, uint8_t more)
{
	if (more & 1)
		return rg__bytes_of(stage->actors[(who + 1) % ACTORS].id);
	return rg__bytes_of(more & 2 ? "" : stage->actors[who].id);
}

static int32_t generation_of(struct stage *stage, int who, uint8_t more)
{
	return stage->actors[who].generation - (more & 4 ? 1 : 0);
}

static void join(struct stage *stage, int who, uint8_t how, uint8_t more)
{
	static const char *const names[] = {"range", "sticky", "range", "roundrobin"};
	struct rg__join_group_request_protocol protocols[2];
	struct rg__join_group_request request;
	int version = more >> 4 > 9 ? 9 : more >> 4;

	rg__fields_init(&rg__join_group_request_fields, &request);
	for (int i = 0; i < 2; i++) {
		protocols[i].name = rg__bytes_of(names[((how & 3) + i) % 4]);
		protocols[i].metadata = rg__bytes_of(how & 4 ? "topics" : "");
	}
	request.protocols = (struct rg__array){protocols, more & 8 ? how & 1 : 2};
	request.group_id = rg__bytes_of(group_of(how));
	request.session_timeout_ms = how & 0x20 ? 6000 : 30000;
	request.rebalance_timeout_ms = version ? (more & 4 ? 1000 : 60000) : -1;
	request.member_id = id_of(stage, who, more);
	request.group_instance_id = version >= 5 ? rg__bytes_of(instance_of(how)) : RG__NULL_BYTES;
	request.protocol_type = rg__bytes_of((how & 0xf) == 0xf ? "connect" : "consumer");
	ask(stage, (uint64_t)who, RG__API_JOIN_GROUP, version, &request);
}

static void sync_group(struct stage *stage, int who, uint8_t how, uint8_t more)
{
	struct rg__sync_group_request_assignment assignments[ACTORS];
	struct rg__sync_group_request request;
	int version = more >> 4 > 5 ? 5 : more >> 4;

	rg__fields_init(&rg__sync_group_request_fields, &request);
	for (int i = 0; i < ACTORS; i++) {
		assignments[i].member_id = rg__bytes_of(stage->actors[i].id);
		assignments[i].assignment = rg__bytes_of("p");
	}
	request.assignments = (struct rg__array){assignments, how % (ACTORS + 1)};
	request.group_id = rg__bytes_of(group_of(how));
	request.generation_id = generation_of(stage, who, more);
	request.member_id = id_of(stage, who, more);
	request.group_instance_id = version >= 3 ? rg__bytes_of(instance_of(how)) : RG__NULL_BYTES;
	if (version == 5 && more & 8) {
		request.protocol_type = rg__bytes_of("consumer");
		request.protocol_name = rg__bytes_of(how & 4 ? "range" : "sticky");
	}
	ask(stage, (uint64_t)who, RG__API_SYNC_GROUP, version, &request);
}

static void heartbeat(struct stage *stage, int who, uint8_t how, uint8_t more)
{
	struct rg__heartbeat_request request;
	int version = more >> 4 > 4 ? 4 : more >> 4;

	rg__fields_init(&rg__heartbeat_request_fields, &request);
	request.group_id = rg__bytes_of(group_of(how));
	request.generation_id = generation_of(stage, who, more);
	request.member_id = id_of(stage, who, more);
	request.group_instance_id = version >= 3 ? rg__bytes_of(instance_of(how)) : RG__NULL_BYTES;
	ask(stage, (uint64_t)who, RG__API_HEARTBEAT, version, &request);
}

static void leave(struct stage *stage, int who, uint8_t how, uint8_t more)
{
	struct rg__leave_group_request_member members[3];
	struct rg__leave_group_request request;
	int version = more >> 4 > 5 ? 5 : more >> 4;

	rg__fields_init(&rg__leave_group_request_fields, &request);
	for (int i = 0; i < 3; i++) {
		rg__fields_init(&rg__leave_group_request_member_fields, &members[i]);
		members[i].member_id = id_of(stage, (who + i) % ACTORS, (uint8_t)(more >> i));
		members[i].group_instance_id = rg__bytes_of(instance_of(how));
	}
	request.group_id = rg__bytes_of(group_of(how));
	if (version < 3)
		request.member_id = members[0].member_id;
	else
		request.members = (struct rg__array){members, how % 4};
	ask(stage, (uint64_t)who, RG__API_LEAVE_GROUP, version, &request);
}

static void commit(struct stage *stage, int who, uint8_t how, uint8_t more)
{
	struct rg__offset_commit_request_topic_partition partition;
	struct rg__offset_commit_request_topic topic;
	struct rg__offset_commit_request request;
	int version = 2 + (more >> 4) % 8;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	rg__fields_init(&rg__offset_commit_request_topic_partition_fields, &partition);
	partition.partition_index = how & 1 ? -1 : how;
	partition.committed_offset = how * 10;
	partition.committed_metadata = rg__bytes_of(how & 2 ? "longer than it may be" : NULL);
	topic = (struct rg__offset_commit_request_topic){rg__bytes_of(how & 4 ? "t" : ""), {&partition, 1}};
	request.topics = (struct rg__array){&topic, 1};
	request.group_id = rg__bytes_of(group_of(how));
	request.generation_id_or_member_epoch = more & 8 ? -1 : generation_of(stage, who, more);
	request.member_id = id_of(stage, who, more);
	request.group_instance_id = version >= 7 ? rg__bytes_of(instance_of(how)) : RG__NULL_BYTES;
	ask(stage, (uint64_t)who, RG__API_OFFSET_COMMIT, version, &request);
}

/* A whole request of bytes: version, two bytes of length, the body. */
static void raw(struct stage *stage, const struct rg__api *api)
{
	_Alignas(max_align_t) unsigned char body[BODY_ROOM];
	int version = api->first + take(&stage->input) % (api->last - api->first + 1);
	uint32_t len = take_u16(&stage->input);
	struct rg__bytes bytes = take_bytes(&stage->input, len);
	struct rg__arena arena = {0};
	uint8_t *copy = exact_copy(bytes);

	if (rg__decode(api->request, version, (struct rg__bytes){copy, bytes.len}, &arena, body, NULL, NULL))
		ask(stage, ACTORS, api->key, version, body);
	rg__arena_clear(&arena);
	free(copy);
}

static void move(struct stage *stage, uint8_t how)
{
	struct rg__kit_outcome outcome = {0};
	struct rg__bytes group = how & 1 ? RG__NULL_BYTES : rg__bytes_of("g");

	require(rg__kit_coordinator_move(stage->coordinator, stage->now_us, group, how & 2, how & 4 ? 100000 : 0, &outcome),
		"there is memory");
	for (const struct rg__kit_answer *answer = outcome.answers; answer; answer = answer->next)
		check_answer(stage, answer);
	rg__kit_outcome_clear(&outcome);
}

static bool is_groups(int16_t api)
{
	return api == RG__API_JOIN_GROUP || api == RG__API_SYNC_GROUP || api == RG__API_HEARTBEAT ||
	       api == RG__API_LEAVE_GROUP || api == RG__API_OFFSET_COMMIT || api == RG__API_OFFSET_FETCH ||
	       api == RG__API_DESCRIBE_GROUPS || api == RG__API_LIST_GROUPS || api == RG__API_TXN_OFFSET_COMMIT;
}

static void one(struct stage *stage)
{
	static void (*const asks[])(struct stage *, int who, uint8_t how, uint8_t more) = {
		join, join, sync_group, sync_group, heartbeat, leave, commit};
	static const int64_t spans_us[] = {0, 1000, 100000, 1000000, 3000000, 7000000, 40000000, 400000000};
	uint8_t what = take(&stage->input), how, more;
	int who = what >> 4;

	if ((what & 0xf) < sizeof(asks) / sizeof(*asks)) {
		how = take(&stage->input);
		more = take(&stage->input);
		asks[what & 0xf](stage, who % ACTORS, how, more);
	} else if ((what & 0xf) < 12) {
		pass(stage, spans_us[who & 7]);
	} else if ((what & 0xf) == 12) {
		move(stage, (uint8_t)who);
	} else {
		const struct rg__api *api = &rg__apis[who % rg__api_count];

		if (is_groups(api->key))
			raw(stage, api);
		else if (api->key == RG__API_API_VERSIONS)
			require(rg__kit_coordinator_end_transaction(stage->coordinator, rg__bytes_of("x"), who & 1), "there is memory");
	}
}

static bool partition_exists(void *user, struct rg__bytes topic, int32_t partition)
{
	(void)user;
	return rg__bytes_is(topic, "t") && partition >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stage *stage = must(calloc(1, sizeof(*stage)));
	struct rg__kit_coordinator_conf conf;
	struct rg__buf text = {0};

	stage->input = (struct input){data, size};
	stage->now_us = 1000000;
	uint8_t shape = take(&stage->input);

	rg__kit_coordinator_conf_init(&conf);
	conf.seed = shape;
	conf.initial_delay_us = shape & 1 ? 3000000 : 0;
	conf.session_min_us = shape & 2 ? 6000000 : 0;
	conf.group_size_max = shape & 4 ? 2 : INT32_MAX;
	conf.superseded_error = shape & 8 ? RG__KIT_NOT_COORDINATOR : RG__KIT_NEVER_ANSWERED;
	conf.empty_group_us = shape & 16 ? 5000000 : 0;
	conf.offset_metadata_max = shape & 32 ? 8 : 4096;
	conf.partition_exists = shape & 64 ? partition_exists : NULL;
	stage->coordinator = must(rg__kit_coordinator_new(&conf));
	for (int i = 0; i < STEPS_MAX && stage->input.left; i++)
		one(stage);
	pass(stage, 3600000000);
	require(rg__kit_coordinator_print(stage->coordinator, rg__bytes_of("g"), &text), "there is memory");
	rg__buf_free(&text);
	rg__kit_coordinator_free(stage->coordinator);
	free(stage);
	return 0;
}
