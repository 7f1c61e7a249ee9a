/* SPDX-License-Identifier: Apache-2.0 */
/* What the embedded cluster says about itself, in every version a client may ask in. */
#include "client.h"
#include "codec/api_versions.h"
#include "codec/find_coordinator.h"
#include "codec/metadata.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "suite.h"

#include <regroup/testkit.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static rg_testkit *kit;

static void start(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:3,u:1";
	conf.broker_count = 3;
	ck_assert_msg(!rg_testkit_new(&kit, &conf, &error), "%s", error.text);
}

static void end(void)
{
	rg_testkit_free(kit);
	kit = NULL;
}

static int16_t offered(const struct rg__api_versions_response *answer, int16_t api, int16_t *ret_first)
{
	const struct rg__api_versions_response_api_key *keys =
		RG__ITEMS(struct rg__api_versions_response_api_key, answer->api_keys);

	for (int32_t i = 0; i < answer->api_keys.count; i++)
		if (keys[i].api_key == api) {
			*ret_first = keys[i].min_version;
			return keys[i].max_version;
		}
	*ret_first = -1;
	return -1;
}

START_TEST(it_offers_our_ranges_and_the_mocks)
{
	struct client client;
	struct rg__api_versions_request request;
	int16_t first;

	rg__fields_init(&rg__api_versions_request_fields, &request);
	request.client_software_name = rg__bytes_of("by-hand");
	request.client_software_version = rg__bytes_of("1");
	client_open(&client, rg_testkit_port(kit, 1));
	for (int version = 0; version <= 4; version++) {
		const struct rg__api_versions_response *answer =
			client_ask(&client, RG__API_API_VERSIONS, version, &request);

		ck_assert_int_eq(answer->error_code, 0);
		for (int i = 0; i < rg__api_count; i++) {
			ck_assert_int_eq(offered(answer, rg__apis[i].key, &first), rg__apis[i].last);
			ck_assert_int_eq(first, rg__apis[i].first);
		}
		/* Produce, Fetch and ListOffsets are the mock's. */
		ck_assert_int_ge(offered(answer, 0, &first), 7);
		ck_assert_int_ge(offered(answer, 1, &first), 11);
		ck_assert_int_ge(offered(answer, 2, &first), 5);
	}
	client_close(&client);
}
END_TEST

/* KIP-511: a version it does not know is answered in version 0, with error 35 and the one range that matters; the client
 * asks again for the others. */
START_TEST(a_newer_client_is_told_what_there_is)
{
	static const uint8_t request[] = {0, 0, 0, 14, 0, 18, 0, 99, 0, 0, 0, 7, 0, 2, 'm', 'e', 0, 0};
	struct client client;
	const struct rg__api_versions_response *answer;
	int16_t first;

	client_open(&client, rg_testkit_port(kit, 1));
	client_send_bytes(&client, request, sizeof(request));
	answer = client_hear(&client, RG__API_API_VERSIONS, 0, 7);
	ck_assert_int_eq(answer->error_code, 35);
	ck_assert_int_eq(offered(answer, RG__API_API_VERSIONS, &first), 4);
	ck_assert_int_eq(answer->api_keys.count, 1);
	client_close(&client);
}
END_TEST

/* KIP-511: what the client says it is must be a word. */
START_TEST(a_client_must_say_what_it_is)
{
	static const struct {
		const char *name, *version;
		int error;
	} said[] = {{"regroup", "0.1.0", 0}, {"a-b.c", "1", 0}, {"", "1", 42}, {"a b", "1", 42},
		    {"-a", "1", 42},	     {"a", "1.", 42},	{"a", "", 42}, {"\xc3\xa4", "1", 42}};
	struct client client;

	client_open(&client, rg_testkit_port(kit, 1));
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		for (int version = 0; version <= 4; version++) {
			struct rg__api_versions_request request = {.client_software_name = rg__bytes_of(said[i].name),
								   .client_software_version = rg__bytes_of(said[i].version)};
			const struct rg__api_versions_response *answer =
				client_ask(&client, RG__API_API_VERSIONS, version, &request);
			int error = version < 3 ? 0 : said[i].error;

			ck_assert_int_eq(answer->error_code, error);
			ck_assert_int_eq(answer->api_keys.count == 0, error != 0);
		}
	client_close(&client);
}
END_TEST

/* scenarios J.179: every other API in a version it does not offer ends the connection. */
START_TEST(a_version_that_is_not_offered_ends_the_connection)
{
	struct client client;
	struct rg__metadata_request request;
	rg_error error;

	rg__fields_init(&rg__metadata_request_fields, &request);
	ck_assert(!rg_testkit_set_versions(kit, RG__API_METADATA, 2, 5, &error));
	client_open(&client, rg_testkit_port(kit, 1));
	client_ask(&client, RG__API_METADATA, 5, &request);
	client_send(&client, RG__API_METADATA, 6, &request);
	client_hears_end(&client);
	client_close(&client);
	ck_assert(!rg_testkit_set_versions(kit, RG__API_METADATA, -1, -1, &error));
	client_open(&client, rg_testkit_port(kit, 1));
	client_send(&client, RG__API_METADATA, 5, &request);
	client_hears_end(&client);
	client_close(&client);
	ck_assert_int_eq(rg_testkit_set_versions(kit, RG__API_METADATA, 0, 14, &error), RG_ERR_INVALID);
}
END_TEST

START_TEST(what_is_not_the_protocol_ends_the_connection)
{
	static const struct {
		const char *bytes;
		size_t len;
	} wrong[] = {
		{"GET / HTTP/1.0\r\n\r\n", 18},
		{"\xff\xff\xff\xff", 4},
		{"\0\0\0\2ab", 6},
		{"\0\0\0\x0e\0\3\0\1\0\0\0\1\0\2me\0\0", 18}, /* Metadata, cut short */
		{"\0\0\0\x0a\7\x77\0\0\0\0\0\1\0\0", 14},      /* an API nobody knows */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct client client;

		client_open(&client, rg_testkit_port(kit, 2));
		client_send_bytes(&client, wrong[i].bytes, wrong[i].len);
		client_hears_end(&client);
		client_close(&client);
	}
}
END_TEST

static const struct rg__metadata_response_topic *topic_of(const struct rg__metadata_response *answer, const char *name)
{
	const struct rg__metadata_response_topic *topics = RG__ITEMS(struct rg__metadata_response_topic, answer->topics);

	for (int32_t i = 0; i < answer->topics.count; i++)
		if (rg__bytes_is(topics[i].name, name))
			return &topics[i];
	ck_abort_msg("no topic %s in the answer", name);
	return NULL;
}

static void check_brokers(const struct rg__metadata_response *answer)
{
	const struct rg__metadata_response_broker *brokers =
		RG__ITEMS(struct rg__metadata_response_broker, answer->brokers);

	ck_assert_int_eq(answer->brokers.count, 3);
	for (int32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(brokers[i].node_id, i + 1);
		ck_assert(rg__bytes_is(brokers[i].host, "127.0.0.1"));
		ck_assert_int_eq(brokers[i].port, rg_testkit_port(kit, i + 1));
	}
}

START_TEST(metadata_of_all_topics_in_every_version)
{
	struct client client;
	struct rg__metadata_request request;

	rg__fields_init(&rg__metadata_request_fields, &request);
	client_open(&client, rg_testkit_port(kit, 3));
	for (int version = 0; version <= 13; version++) {
		const struct rg__metadata_response *answer;
		const struct rg__metadata_response_topic_partition *partitions;

		request.topics = version ? RG__NULL_ARRAY : (struct rg__array){NULL, 0};
		answer = client_ask(&client, RG__API_METADATA, version, &request);
		check_brokers(answer);
		ck_assert_int_eq(answer->topics.count, 2);
		ck_assert_int_eq(topic_of(answer, "u")->partitions.count, 1);
		ck_assert_int_eq(topic_of(answer, "t")->partitions.count, 3);
		partitions = RG__ITEMS(struct rg__metadata_response_topic_partition, topic_of(answer, "t")->partitions);
		for (int32_t p = 0; p < 3; p++) {
			ck_assert_int_eq(partitions[p].error_code, 0);
			ck_assert_int_eq(partitions[p].partition_index, p);
			ck_assert_int_eq(partitions[p].leader_id, p + 1);
			ck_assert_int_eq(partitions[p].isr_nodes.count, 1);
		}
		if (version >= 1) {
			request.topics = (struct rg__array){NULL, 0};
			answer = client_ask(&client, RG__API_METADATA, version, &request);
			ck_assert_int_eq(answer->topics.count, 0);
		}
	}
	client_close(&client);
}
END_TEST

START_TEST(metadata_of_some_topics)
{
	struct client client;
	struct rg__metadata_request_topic wanted[] = {{.name = rg__bytes_of("t")}, {.name = rg__bytes_of("nowhere")}};
	struct rg__metadata_request request;
	const struct rg__metadata_response *answer;
	struct rg__uuid id;

	rg__fields_init(&rg__metadata_request_fields, &request);
	request.topics = (struct rg__array){wanted, 2};
	client_open(&client, rg_testkit_port(kit, 1));
	for (int version = 0; version <= 13; version++) {
		answer = client_ask(&client, RG__API_METADATA, version, &request);
		ck_assert_int_eq(answer->topics.count, 2);
		ck_assert_int_eq(topic_of(answer, "t")->error_code, 0);
		ck_assert_int_eq(topic_of(answer, "nowhere")->error_code, 3);
		ck_assert_int_eq(topic_of(answer, "nowhere")->partitions.count, 0);
	}
	/* What cannot be a topic's name is another error than what is none. */
	wanted[1].name = rg__bytes_of("no where");
	answer = client_ask(&client, RG__API_METADATA, 12, &request);
	ck_assert_int_eq(topic_of(answer, "t")->error_code, 0);
	ck_assert_int_eq(topic_of(answer, "no where")->error_code, 17);
	/* By id, which a new topic of an old name does not share. */
	id = topic_of(answer, "t")->topic_id;
	wanted[0] = (struct rg__metadata_request_topic){.name = RG__NULL_BYTES, .topic_id = id};
	request.topics.count = 1;
	answer = client_ask(&client, RG__API_METADATA, 12, &request);
	ck_assert_int_eq(topic_of(answer, "t")->error_code, 0);
	ck_assert(!rg_testkit_remove_topic(kit, "t", NULL));
	ck_assert(!rg_testkit_add_topic(kit, "t", 2, NULL));
	answer = client_ask(&client, RG__API_METADATA, 12, &request);
	ck_assert_int_eq(RG__ITEMS(struct rg__metadata_response_topic, answer->topics)[0].error_code, 100);
	client_close(&client);
}
END_TEST

static int partitions_of(struct client *client, const char *name)
{
	struct rg__metadata_request_topic wanted = {.name = rg__bytes_of(name)};
	struct rg__metadata_request request;
	const struct rg__metadata_response_topic *topic;

	rg__fields_init(&rg__metadata_request_fields, &request);
	request.topics = (struct rg__array){&wanted, 1};
	topic = topic_of(client_ask(client, RG__API_METADATA, 8, &request), name);
	return topic->error_code ? -topic->error_code : topic->partitions.count;
}

START_TEST(topics_come_grow_and_go)
{
	struct client client;
	rg_error error;

	client_open(&client, rg_testkit_port(kit, 1));
	ck_assert_int_eq(partitions_of(&client, "v"), -3);
	ck_assert(!rg_testkit_add_topic(kit, "v", 2, NULL));
	ck_assert_int_eq(partitions_of(&client, "v"), 2);
	ck_assert(!rg_testkit_grow_topic(kit, "v", 5, NULL));
	ck_assert_int_eq(partitions_of(&client, "v"), 5);
	ck_assert(!rg_testkit_remove_topic(kit, "v", NULL));
	ck_assert_int_eq(partitions_of(&client, "v"), -3);
	client_close(&client);

	ck_assert_int_eq(rg_testkit_add_topic(kit, "t", 2, &error), RG_ERR_STATE);
	ck_assert_str_eq(error.text, "topic t exists");
	ck_assert_int_eq(rg_testkit_add_topic(kit, "a b", 2, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_add_topic(kit, "w", 0, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_add_topic(kit, "w", 65, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_grow_topic(kit, "t", 2, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_testkit_grow_topic(kit, "w", 2, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_testkit_remove_topic(kit, "w", &error), RG_ERR_STATE);
	ck_assert_str_eq(error.text, "there is no topic w");
	ck_assert_int_eq(rg_testkit_produce(kit, "t", 3, "", 0, 1, &error), RG_ERR_STATE);
}
END_TEST

static int32_t find_coordinator(struct client *client, int version, const char *group, int16_t *ret_error)
{
	struct rg__bytes key = rg__bytes_of(group);
	struct rg__find_coordinator_request request;
	const struct rg__find_coordinator_response *answer;
	const struct rg__find_coordinator_response_coordinator *one;

	rg__fields_init(&rg__find_coordinator_request_fields, &request);
	if (version >= 4)
		request.coordinator_keys = (struct rg__array){&key, 1};
	else
		request.key = key;
	answer = client_ask(client, RG__API_FIND_COORDINATOR, version, &request);
	*ret_error = answer->error_code;
	if (version < 4) {
		/* Nobody is broker -1, whose port is -1, too. */
		ck_assert_int_eq(answer->port, rg_testkit_port(kit, answer->node_id));
		return answer->node_id;
	}
	ck_assert_int_eq(answer->coordinators.count, 1);
	one = RG__ITEMS(struct rg__find_coordinator_response_coordinator, answer->coordinators);
	ck_assert(rg__bytes_is(one->key, group));
	ck_assert_int_eq(one->port, rg_testkit_port(kit, one->node_id));
	*ret_error = one->error_code;
	return one->node_id;
}

/* KIP-98, KIP-932: a group's or a transaction's, but not what else later versions may ask for. */
START_TEST(not_everything_has_a_coordinator)
{
	struct rg__bytes key = rg__bytes_of("g");
	struct client client;

	client_open(&client, rg_testkit_port(kit, 1));
	for (int version = 1; version <= 6; version++)
		for (int8_t type = -1; type <= 3; type++) {
			struct rg__find_coordinator_request request;
			const struct rg__find_coordinator_response *answer;
			int error = type == 0 || type == 1 ? 0 : 42;

			rg__fields_init(&rg__find_coordinator_request_fields, &request);
			request.key_type = type;
			if (version < 4)
				request.key = key;
			else
				request.coordinator_keys = (struct rg__array){&key, 1};
			answer = client_ask(&client, RG__API_FIND_COORDINATOR, version, &request);
			if (version < 4)
				ck_assert_int_eq(answer->error_code, error);
			else
				ck_assert_int_eq(RG__ITEMS(struct rg__find_coordinator_response_coordinator,
							   answer->coordinators)->error_code, error);
		}
	client_close(&client);
}
END_TEST

/* bugs librdkafka 3; 16 at all others */
START_TEST(one_broker_coordinates_a_group)
{
	struct client client;
	int16_t error;

	for (int version = 0; version <= 6; version++) {
		client_open(&client, rg_testkit_port(kit, version % 3 + 1));
		ck_assert_int_eq(find_coordinator(&client, version, "g", &error), rg_testkit_coordinator(kit, "g"));
		ck_assert_int_eq(error, 0);
		client_close(&client);
	}
	for (int32_t broker = 1; broker <= 3; broker++) {
		ck_assert(!rg_testkit_move_coordinator(kit, "g", broker, true, 0, NULL));
		client_open(&client, rg_testkit_port(kit, 1));
		ck_assert_int_eq(find_coordinator(&client, 6, "g", &error), broker);
		client_close(&client);
		for (int32_t asked = 1; asked <= 3; asked++) {
			struct seat seat;

			seat_open(&seat, rg_testkit_port(kit, asked));
			seat_hear_join(&seat, seat_send_join(&seat, "g"));
			ck_assert_int_eq(seat.error, asked == broker ? 79 : 16);
			seat_heartbeat(&seat, "g");
			ck_assert_int_eq(seat.error, asked == broker ? 25 : 16);
			seat_sync(&seat, "g", NULL);
			ck_assert_int_eq(seat.error, asked == broker ? 25 : 16);
			seat_close(&seat);
		}
	}
}
END_TEST

START_TEST(offsets_are_the_coordinators_business)
{
	struct rg__offset_fetch_request_group groups[] = {
		{.group_id = rg__bytes_of("g"), .member_epoch = -1, .topics = RG__NULL_ARRAY},
		{.group_id = rg__bytes_of("h"), .member_epoch = -1, .topics = RG__NULL_ARRAY}};
	struct rg__offset_fetch_request request;
	const struct rg__offset_fetch_response *answer;
	const struct rg__offset_fetch_response_group *result;
	struct client client;

	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.groups = (struct rg__array){groups, 2};
	ck_assert(!rg_testkit_move_coordinator(kit, NULL, 2, true, 0, NULL));
	for (int32_t broker = 1; broker <= 2; broker++) {
		client_open(&client, rg_testkit_port(kit, broker));
		answer = client_ask(&client, RG__API_OFFSET_FETCH, 9, &request);
		ck_assert_int_eq(answer->groups.count, 2);
		result = RG__ITEMS(struct rg__offset_fetch_response_group, answer->groups);
		ck_assert_int_eq(result[0].error_code, broker == 2 ? 0 : 16);
		ck_assert_int_eq(result[1].error_code, broker == 2 ? 0 : 16);
		client_close(&client);
	}
}
END_TEST

/* scenarios F.110 */
START_TEST(only_what_is_there_can_have_an_offset)
{
	static const int32_t errors[] = {3, 0, 0, 0, 3}; /* of partitions -1 to 3 */
	struct rg__offset_commit_request_topic_partition partitions[5];
	struct rg__offset_commit_request_topic topic = {.name = rg__bytes_of("t"), .partitions = {partitions, 5}};
	struct rg__offset_commit_request request;
	const struct rg__offset_commit_response *answer;
	struct client client;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	request.group_id = rg__bytes_of("outside");
	request.topics = (struct rg__array){&topic, 1};
	for (int32_t p = 0; p < 5; p++)
		partitions[p] = (struct rg__offset_commit_request_topic_partition){
			.partition_index = p - 1, .committed_leader_epoch = -1, .committed_metadata = rg__bytes_of("")};
	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, "outside")));
	answer = client_ask(&client, RG__API_OFFSET_COMMIT, 8, &request);
	for (int32_t p = 0; p < 5; p++)
		ck_assert_int_eq(RG__ITEMS(struct rg__offset_commit_response_topic_partition,
					   RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)->partitions)[p].error_code,
				 errors[p]);
	client_close(&client);
}
END_TEST

START_TEST(brokers_stop_and_start)
{
	struct client one, two;
	struct rg__metadata_request request;
	const struct rg__metadata_response *answer;
	int16_t error;

	rg__fields_init(&rg__metadata_request_fields, &request);
	request.topics = RG__NULL_ARRAY;
	ck_assert(!rg_testkit_move_coordinator(kit, NULL, 2, true, 0, NULL));
	client_open(&one, rg_testkit_port(kit, 1));
	client_open(&two, rg_testkit_port(kit, 2));
	client_ask(&two, RG__API_METADATA, 5, &request);
	ck_assert(!rg_testkit_stop_broker(kit, 2, NULL));
	ck_assert(!rg_testkit_stop_broker(kit, 2, NULL));
	client_hears_end(&two);
	client_close(&two);
	ck_assert(!can_connect(rg_testkit_port(kit, 2)));

	answer = client_ask(&one, RG__API_METADATA, 5, &request);
	ck_assert_int_eq(answer->brokers.count, 2);
	for (int32_t p = 0; p < 3; p++)
		ck_assert_int_ne(RG__ITEMS(struct rg__metadata_response_topic_partition,
					   topic_of(answer, "t")->partitions)[p].leader_id, 2);
	ck_assert_int_eq(find_coordinator(&one, 3, "g", &error), -1);
	ck_assert_int_eq(error, 15);

	ck_assert(!rg_testkit_start_broker(kit, 2, NULL));
	ck_assert(!rg_testkit_start_broker(kit, 2, NULL));
	client_open(&two, rg_testkit_port(kit, 2));
	answer = client_ask(&two, RG__API_METADATA, 5, &request);
	check_brokers(answer);
	ck_assert_int_eq(find_coordinator(&two, 3, "g", &error), 2);
	client_close(&two);
	client_close(&one);
	ck_assert_int_eq(rg_testkit_stop_broker(kit, 4, NULL), RG_ERR_INVALID);
}
END_TEST

START_TEST(a_port_that_somebody_took)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rg_testkit_port(kit, 2))};
	int taken = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	rg_error error = {0};

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(rg_testkit_stop_broker(kit, 2, NULL), RG_OK);
	ck_assert_int_eq(setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(taken, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(taken, 1), 0);
	ck_assert_int_eq(rg_testkit_start_broker(kit, 2, &error), RG_ERR_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.text, "address already in use"));
	close(taken);
	ck_assert_int_eq(rg_testkit_start_broker(kit, 2, &error), RG_OK);
	ck_assert(can_connect(rg_testkit_port(kit, 2)));
}
END_TEST

START_TEST(what_cannot_be_is_refused_with_a_reason)
{
	rg_testkit_conf conf;
	rg_testkit *other = NULL;
	rg_error error;
	const char *const bad[] = {"t", "t:", "t:x", "t:0", "t:65", ":3", "t:1,t:1", "t:1,,u:1", "a/b:1"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		rg_testkit_conf_init(&conf, sizeof(conf));
		conf.topics = bad[i];
		ck_assert_msg(rg_testkit_new(&other, &conf, &error) != RG_OK, "%s", bad[i]);
		ck_assert_int_gt((int)strlen(error.text), 10);
	}
	memset(&conf, 0, sizeof(conf));
	ck_assert_int_eq(rg_testkit_new(&other, &conf, &error), RG_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(error.text, "rg_testkit_conf_init"));
	ck_assert_int_eq(rg_testkit_add_topic(kit, NULL, 1, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_wait(kit, NULL, 0, &error), RG_ERR_INVALID);
	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.broker_count = 17;
	ck_assert_int_eq(rg_testkit_new(&other, &conf, &error), RG_ERR_INVALID);
	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.port = rg_testkit_port(kit, 1); /* taken */
	ck_assert_int_eq(rg_testkit_new(&other, &conf, &error), RG_ERR_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.text, "address already in use"));
	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.events_path = "/nowhere/at/all";
	ck_assert_int_eq(rg_testkit_new(&other, &conf, &error), RG_ERR_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/at/all"));
	ck_assert_ptr_null(other);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, it_offers_our_ranges_and_the_mocks);
	tcase_add_test(tcase, a_newer_client_is_told_what_there_is);
	tcase_add_test(tcase, a_client_must_say_what_it_is);
	tcase_add_test(tcase, a_version_that_is_not_offered_ends_the_connection);
	tcase_add_test(tcase, what_is_not_the_protocol_ends_the_connection);
	tcase_add_test(tcase, metadata_of_all_topics_in_every_version);
	tcase_add_test(tcase, metadata_of_some_topics);
	tcase_add_test(tcase, topics_come_grow_and_go);
	tcase_add_test(tcase, not_everything_has_a_coordinator);
	tcase_add_test(tcase, one_broker_coordinates_a_group);
	tcase_add_test(tcase, offsets_are_the_coordinators_business);
	tcase_add_test(tcase, only_what_is_there_can_have_an_offset);
	tcase_add_test(tcase, brokers_stop_and_start);
	tcase_add_test(tcase, a_port_that_somebody_took);
	tcase_add_test(tcase, what_cannot_be_is_refused_with_a_reason);
}

int main(void)
{
	return run_suite("front_cluster", fill, start, end);
}
