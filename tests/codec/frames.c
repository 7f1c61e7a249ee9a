/* SPDX-License-Identifier: Apache-2.0 */
/* Whole frames in both directions, tagged fields, and what encoding refuses. */
#include "codec/frame.h"

#include "codec/find_coordinator.h"
#include "codec/join_group.h"
#include "codec/metadata.h"
#include "codec/offset_fetch.h"
#include "support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct rg__arena arena;
static struct rg__buf out;
static struct rg__codec_error err;

static void teardown(void)
{
	rg__arena_clear(&arena);
	rg__buf_free(&out);
}

static void check_text(const char *expected)
{
	char text[RG__CODEC_TEXT_MAX];

	rg__codec_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, expected);
}

/* Every filled fixture as the body of a request, from the client's call to the server's, or back as a response. */
static void there_and_back(const struct vector *v, bool request)
{
	const struct rg__api *api = rg__api_by_key(v->message.api_key);
	struct rg__request_header header;
	struct rg__bytes frame;
	union decoded body, arrived;
	struct rg__buf again = {0};
	int32_t correlation_id = 0;
	size_t used;

	ck_assert(message_decode(&v->message, v->version, (struct rg__bytes){v->bytes, v->len}, &arena, &body, &err));
	if (request)
		ck_assert(rg__encode_request(api, v->version, 0x01020304, rg__bytes_of("me"), body.bytes, &out, &err));
	else
		ck_assert(rg__encode_response(api, v->version, 0x01020304, body.bytes, &out, &err));
	ck_assert(rg__frame_next(rg__buf_view(&out), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &err));
	ck_assert_uint_eq(used, out.len);
	ck_assert_uint_eq(frame.len + 4, out.len);
	if (request) {
		ck_assert(rg__decode_request_header(frame, &header, &err));
		ck_assert_int_eq(header.request_api_key, api->key);
		ck_assert_int_eq(header.request_api_version, v->version);
		ck_assert(rg__bytes_is(header.client_id, "me"));
		correlation_id = header.correlation_id;
		ck_assert(rg__decode_request(api, v->version, frame, &arena, arrived.bytes, &err));
	} else {
		ck_assert(rg__decode_response(api, v->version, frame, &arena, &correlation_id, arrived.bytes, &err));
		ck_assert_int_eq(correlation_id, 0x01020304);
		ck_assert(rg__peek_correlation_id(frame, &correlation_id, &err));
	}
	ck_assert_int_eq(correlation_id, 0x01020304);
	ck_assert(message_encode(&v->message, v->version, &arrived, &again, &err));
	ck_assert(rg__bytes_equal(rg__buf_view(&again), (struct rg__bytes){v->bytes, v->len}));
	rg__buf_free(&again);
	teardown();
}

START_TEST(requests_and_responses_arrive_as_they_were_sent)
{
	size_t count, requests = 0, responses = 0;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++) {
		if (all[i].message.api_key < 0)
			continue;
		bool request = all[i].message.fields == rg__api_by_key(all[i].message.api_key)->request;

		there_and_back(&all[i], request);
		*(request ? &requests : &responses) += 1;
	}
	ck_assert_uint_gt(requests, 100);
	ck_assert_uint_gt(responses, 100);
}
END_TEST

START_TEST(a_frame_arrives_in_pieces)
{
	struct rg__bytes received = hex("00000006 000000070000 00000004"), frame;
	size_t used;

	for (size_t len = 0; len < 10; len++) {
		ck_assert(rg__frame_next((struct rg__bytes){received.data, len}, 100, &frame, &used, &err));
		ck_assert_ptr_null(frame.data);
		ck_assert_uint_eq(used, len < 4 ? 4 : 10);
	}
	ck_assert(rg__frame_next(received, 100, &frame, &used, &err));
	ck_assert_ptr_eq(frame.data, received.data + 4);
	ck_assert_uint_eq(frame.len, 6);
	ck_assert_uint_eq(used, 10);
	/* an empty one is a frame, too; its header is what is refused */
	ck_assert(rg__frame_next(hex("00000000"), 100, &frame, &used, &err));
	ck_assert_ptr_nonnull(frame.data);
	ck_assert_uint_eq(used, 4);
	ck_assert(rg__frame_next(RG__NULL_BYTES, 100, &frame, &used, &err));
	ck_assert_ptr_null(frame.data);
}
END_TEST

static const struct {
	const char *bytes, *text;
} bad_frames[] = {
	{"06400001", "frame at byte 0: length 104857601 is over the limit of 104857600"},
	{"7fffffff", "frame at byte 0: length 2147483647 is over the limit of 104857600"},
	{"ffffffff", "frame at byte 0: negative length -1"},
	{"80000000 00", "frame at byte 0: negative length -2147483648"},
	{"48545450", "frame at byte 0: length 1213486160 is over the limit of 104857600; the peer speaks HTTP"},
	{"15030100", "frame at byte 0: length 352518400 is over the limit of 104857600; the peer speaks TLS"},
	{"5353482d", "frame at byte 0: length 1397966893 is over the limit of 104857600; the peer speaks SSH"},
};

START_TEST(frames_over_the_limit_are_refused_at_once)
{
	struct rg__bytes frame;
	size_t used;

	ck_assert(!rg__frame_next(hex(bad_frames[_i].bytes), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &err));
	check_text(bad_frames[_i].text);
	/* the limit is the caller's, and itself allowed */
	ck_assert(rg__frame_next(hex("06400000"), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &err));
	ck_assert(!rg__frame_next(hex("00000011"), 16, &frame, &used, NULL));
	ck_assert(rg__frame_next(hex("00000010"), 16, &frame, &used, &err));
}
END_TEST

/* A header that is refused is told as one of its message. */
START_TEST(errors_in_headers_name_the_message)
{
	const struct rg__api *join = rg__api_by_key(RG__API_JOIN_GROUP);
	struct rg__join_group_response response;
	struct rg__join_group_request request;
	struct rg__request_header header;
	int32_t correlation_id;

	ck_assert(!rg__decode_response(join, 9, hex("0000"), &arena, NULL, &response, &err));
	check_text("JoinGroupResponse v9, header.correlationId at byte 0: needs 4 bytes, but only 2 are left");
	ck_assert(!rg__decode_response(join, 9, hex("00000001 01 05 7f"), &arena, NULL, &response, &err));
	check_text("JoinGroupResponse v9, header at byte 5: tagged field 5 of 127 bytes, but only 0 are left");
	ck_assert(!rg__decode_request(join, 9, hex("000b 0009 00000001 0005 61"), &arena, &request, &err));
	check_text("JoinGroupRequest v9, header.clientId at byte 8: length 5, but only 1 bytes are left");
	ck_assert(!rg__decode_request_header(hex("000b"), &header, &err));
	check_text("RequestHeader v1, requestApiVersion at byte 2: needs 2 bytes, but only 0 are left");
	ck_assert(!rg__peek_correlation_id(hex("000000"), &correlation_id, &err));
	/* offsets in the body count from the start of the frame */
	ck_assert(!rg__decode_response(join, 9, hex("00000001 00 0000"), &arena, NULL, &response, &err));
	check_text("JoinGroupResponse v9, throttleTimeMs at byte 5: needs 4 bytes, but only 2 are left");
}
END_TEST

START_TEST(versions_that_are_not_ours_are_refused)
{
	const struct rg__api *commit = rg__api_by_key(RG__API_OFFSET_COMMIT);
	union decoded body;

	ck_assert(!rg__decode_request(commit, 1, hex("0008 0001 00000001 ffff"), &arena, body.bytes, &err));
	check_text("OffsetCommitRequest v1 at byte 0: only versions 2 to 9 are spoken here");
	rg__fields_init(commit->request, body.bytes);
	ck_assert(!rg__encode_request(commit, 10, 1, RG__NULL_BYTES, body.bytes, &out, &err));
	check_text("OffsetCommitRequest v10: only versions 2 to 9 are spoken here");
	ck_assert(!rg__encode_response(commit, -1, 1, body.bytes, &out, NULL));
	ck_assert(!rg__decode_response(commit, 10, hex("00000001"), &arena, NULL, body.bytes, NULL));
	ck_assert_uint_eq(out.len, 0);
}
END_TEST

/* A server reads the header of what it does not speak, to forward it or to say so. */
/* broker: what comes behind a request's body is not looked at. librdkafka 2.12 asks like this for all topics. */
START_TEST(a_request_may_be_longer_than_its_body)
{
	struct rg__metadata_request request;

	ck_assert(rg__decode_request(rg__api_by_key(RG__API_METADATA), 13,
				     hex("0003 000d 00000008 0007 72646b61666b61 00 00 00 00 00 010000"), &arena, &request,
				     &err));
	ck_assert_int_eq(request.topics.count, -1);
	ck_assert(!request.allow_auto_topic_creation);
}
END_TEST

START_TEST(the_header_of_a_foreign_request_is_readable)
{
	struct rg__request_header header;

	/* Fetch v17: flexible, tagged section and body follow */
	ck_assert(rg__decode_request_header(hex("0001 0011 0000002a 0002 6d65 00 ffffffff"), &header, &err));
	ck_assert_int_eq(header.request_api_key, 1);
	ck_assert_int_eq(header.request_api_version, 17);
	ck_assert_int_eq(header.correlation_id, 42);
	ck_assert(rg__bytes_is(header.client_id, "me"));
}
END_TEST

/* KIP-511: the answer to a version the broker does not know comes in version 0. */
START_TEST(api_versions_falls_back_to_version_0)
{
	struct rg__api_versions_response response;
	struct rg__api_versions_response_api_key *key;

	ck_assert(rg__decode_api_versions_response(4, hex("00000001 0023 00000001 0012 0000 0003"), &arena, &response,
						   &err));
	ck_assert_int_eq(response.error_code, 35);
	ck_assert_int_eq(response.api_keys.count, 1);
	key = RG__ITEMS(struct rg__api_versions_response_api_key, response.api_keys);
	ck_assert_int_eq(key->api_key, 18);
	ck_assert_int_eq(key->max_version, 3);
	/* nothing but 35 is believed in version 0; what is reported is why the version asked for was refused */
	ck_assert(!rg__decode_api_versions_response(4, hex("00000001 0000 00000001 0012 0000 0003"), &arena, &response,
						    &err));
	check_text("ApiVersionsResponse v4, apiKeys at byte 6: null, which this version does not allow");
	ck_assert(rg__decode_api_versions_response(4, hex("00000001 0000 02 0012 0000 0004 00 00000000 00"), &arena,
						   &response, &err));
	ck_assert_int_eq(response.error_code, 0);
}
END_TEST

/* KIP-482, bugs librdkafka 76: fields of newer brokers are skipped in headers, messages and elements. */
START_TEST(unknown_tagged_fields_are_skipped_at_every_level)
{
	const struct rg__api *join = rg__api_by_key(RG__API_JOIN_GROUP);
	struct rg__join_group_response response;
	struct rg__join_group_response_member *member;

	ck_assert(rg__decode_response(join, 9,
				      hex("00000001 02 00 01 aa 05 00" /* header: two tags, one of no bytes */
					  "00000000 0000 00000007 01 01 01 00 01"
					  "02 02 61 00 02 ff 01 c801 03 010203" /* one member, with tag 200 */
					  "01 ffffffff0f 02 0909"), /* the highest tag there can be */
				      &arena, NULL, &response, &err));
	ck_assert_int_eq(response.generation_id, 7);
	ck_assert_int_eq(response.members.count, 1);
	member = RG__ITEMS(struct rg__join_group_response_member, response.members);
	ck_assert(rg__bytes_is(member->member_id, "a"));
	ck_assert_uint_eq(member->metadata.len, 1);
}
END_TEST

#define API_VERSIONS_V3 "0000 01 00000000"

/* As Kafka's reader: any order, and the last of two counts. */
START_TEST(tagged_fields_in_any_order)
{
	struct rg__api_versions_response response;

	ck_assert(rg__decode(&rg__api_versions_response_fields, 3,
			     hex(API_VERSIONS_V3 "04 03 01 01 63 02 abcd"
						 "01 08 0000000000000005 01 08 0000000000000006"),
			     &arena, &response, NULL, &err));
	ck_assert_int_eq(response.finalized_features_epoch, 6);
	ck_assert(response.zk_migration_ready);
	ck_assert_int_eq(response.supported_features.count, 0);
	/* not in the body at all before version 3 */
	ck_assert(rg__decode(&rg__api_versions_response_fields, 2, hex("0000 00000000 00000000"), &arena, &response,
			     NULL, &err));
	ck_assert_int_eq(response.finalized_features_epoch, -1);
}
END_TEST

static const struct {
	const char *bytes, *text;
} bad_tags[] = {
	{API_VERSIONS_V3 "01 01 07 00000000000000",
	 "ApiVersionsResponse v3, finalizedFeaturesEpoch at byte 10: needs 8 bytes, but only 7 are left"},
	{API_VERSIONS_V3 "01 01 09 000000000000000000",
	 "ApiVersionsResponse v3, finalizedFeaturesEpoch at byte 10: 1 bytes behind its value"},
	{API_VERSIONS_V3 "01 00 01 00",
	 "ApiVersionsResponse v3, supportedFeatures at byte 10: null, which this version does not allow"},
	/* an element that would read beyond its tagged field into the next */
	{API_VERSIONS_V3 "02 00 08 02 02 61 0001 0002 05 03 01 01",
	 "ApiVersionsResponse v3, supportedFeatures[0] at byte 17: 5 tagged fields, but only 0 bytes are left"},
};

START_TEST(a_tagged_field_has_exactly_its_size)
{
	struct rg__api_versions_response response;

	ck_assert(!rg__decode(&rg__api_versions_response_fields, 3, hex(bad_tags[_i].bytes), &arena, &response, NULL,
			      &err));
	check_text(bad_tags[_i].text);
}
END_TEST

static struct rg__join_group_request join_request(void)
{
	struct rg__join_group_request request;

	rg__fields_init(&rg__join_group_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	return request;
}

/* As Kafka's generated code: what may be ignored is dropped, everything else must be sendable. */
START_TEST(a_value_the_version_does_not_have)
{
	struct rg__join_group_request request = join_request();
	struct rg__offset_fetch_request fetch;

	request.reason = rg__bytes_of("because"); /* KIP-800, ignorable */
	request.rebalance_timeout_ms = 60000;
	ck_assert(rg__encode(&rg__join_group_request_fields, 0, &request, &out, &err));
	request.group_instance_id = rg__bytes_of("i"); /* KIP-345, not ignorable */
	size_t len = out.len;

	ck_assert(!rg__encode(&rg__join_group_request_fields, 4, &request, &out, &err));
	check_text("JoinGroupRequest v4, groupInstanceId: set, but this version does not have it");
	ck_assert_uint_eq(out.len, len);
	ck_assert(rg__encode(&rg__join_group_request_fields, 5, &request, &out, &err));

	/* a null list means all topics, which the list of groups does not say: not the same as nothing */
	rg__fields_init(&rg__offset_fetch_request_fields, &fetch);
	fetch.topics = RG__NULL_ARRAY;
	ck_assert(!rg__encode(&rg__offset_fetch_request_fields, 8, &fetch, &out, &err));
	ck_assert_str_eq(err.path, "topics");
}
END_TEST

START_TEST(a_message_that_cannot_be_encoded)
{
	static uint8_t long_string[RG__FRAME_LIMIT_DEFAULT / 1000];
	struct rg__join_group_request request = join_request();
	struct rg__join_group_request_protocol protocols[2];

	request.group_id = RG__NULL_BYTES;
	ck_assert(!rg__encode(&rg__join_group_request_fields, 9, &request, &out, &err));
	check_text("JoinGroupRequest v9, groupId: null, which this version does not allow");
	request = join_request();
	request.reason = (struct rg__bytes){long_string, 32768};
	ck_assert(!rg__encode(&rg__join_group_request_fields, 9, &request, &out, &err));
	check_text("JoinGroupRequest v9, reason: 32768 bytes, more than 32767");
	request = join_request();
	rg__fields_init(&rg__join_group_request_protocol_fields, &protocols[0]);
	rg__fields_init(&rg__join_group_request_protocol_fields, &protocols[1]);
	protocols[1].metadata = RG__NULL_BYTES;
	request.protocols = (struct rg__array){protocols, 2};
	ck_assert(!rg__encode(&rg__join_group_request_fields, 5, &request, &out, &err));
	check_text("JoinGroupRequest v5, protocols[1].metadata: null, which this version does not allow");
	request.protocols = (struct rg__array){NULL, 2};
	ck_assert(!rg__encode(&rg__join_group_request_fields, 5, &request, &out, &err));
	check_text("JoinGroupRequest v5, protocols: array of 2 elements without any");
	ck_assert_uint_eq(out.len, 0);
	/* the frame of a refused message is taken back as a whole */
	ck_assert(rg__buf_append_str(&out, "before"));
	ck_assert(!rg__encode_request(rg__api_by_key(RG__API_JOIN_GROUP), 5, 1, rg__bytes_of("me"), &request, &out,
				      &err));
	ck_assert(rg__bytes_is(rg__buf_view(&out), "before"));
	ck_assert(!rg__encode_request(rg__api_by_key(RG__API_JOIN_GROUP), 5, 1, (struct rg__bytes){long_string, 40000},
				      &request, &out, &err));
	check_text("JoinGroupRequest v5, header.clientId: 40000 bytes, more than 32767");
}
END_TEST

START_TEST(elements_are_made_with_their_defaults)
{
	struct rg__find_coordinator_response response;
	struct rg__metadata_response_topic *topic;
	struct rg__array topics;

	ck_assert(rg__array_init(&rg__metadata_response_topic_fields, 2, &arena, &topics));
	ck_assert_int_eq(topics.count, 2);
	topic = &RG__ITEMS(struct rg__metadata_response_topic, topics)[1];
	ck_assert_int_eq(topic->topic_authorized_operations, INT32_MIN);
	ck_assert_ptr_nonnull(topic->name.data);
	ck_assert_uint_eq(topic->name.len, 0);
	rg__fields_init(&rg__find_coordinator_response_fields, &response);
	ck_assert(rg__encode(&rg__find_coordinator_response_fields, 6, &response, &out, &err));
}
END_TEST

/* What a log line shows of hostile bytes. */
START_TEST(printing_escapes)
{
	struct rg__join_group_request request = join_request();
	struct rg__join_group_request_protocol protocol = {rg__bytes_of("range"), hex("00ff10")};

	request.member_id = rg__bytes_of("a\"\\\n\x7f\xc3\xa9\xff\xc0\xaf\xed\xa0\x80\xf0\x9f\x92\xa9\xe2\x82");
	request.protocols = (struct rg__array){&protocol, 1};
	ck_assert(rg__print(&rg__join_group_request_fields, 5, &request, &out));
	ck_assert(rg__buf_append(&out, "", 1));
	ck_assert_str_eq((const char *)out.data,
			 "{\"groupId\":\"g\",\"sessionTimeoutMs\":0,\"rebalanceTimeoutMs\":-1,"
			 "\"memberId\":\"a\\\"\\\\\\u000a"
			 "\\u007f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
			 "\xf0\x9f\x92\xa9\xef\xbf\xbd\xef\xbf\xbd\",\"groupInstanceId\":null,\"protocolType\":\"\","
			 "\"protocols\":[{\"name\":\"range\",\"metadata\":\"AP8Q\"}]}");
}
END_TEST

static void add_frame_tests(TCase *tcase)
{
	tcase_add_test(tcase, requests_and_responses_arrive_as_they_were_sent);
	tcase_add_test(tcase, a_frame_arrives_in_pieces);
	tcase_add_loop_test(tcase, frames_over_the_limit_are_refused_at_once, 0,
			    (int)(sizeof(bad_frames) / sizeof(*bad_frames)));
	tcase_add_test(tcase, errors_in_headers_name_the_message);
	tcase_add_test(tcase, versions_that_are_not_ours_are_refused);
	tcase_add_test(tcase, a_request_may_be_longer_than_its_body);
	tcase_add_test(tcase, the_header_of_a_foreign_request_is_readable);
	tcase_add_test(tcase, api_versions_falls_back_to_version_0);
}

int main(void)
{
	Suite *suite = suite_create("frames");
	TCase *tcase = tcase_create("frames");

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, NULL, teardown);
	add_frame_tests(tcase);
	tcase_add_test(tcase, unknown_tagged_fields_are_skipped_at_every_level);
	tcase_add_test(tcase, tagged_fields_in_any_order);
	tcase_add_loop_test(tcase, a_tagged_field_has_exactly_its_size, 0, (int)(sizeof(bad_tags) / sizeof(*bad_tags)));
	tcase_add_test(tcase, a_value_the_version_does_not_have);
	tcase_add_test(tcase, a_message_that_cannot_be_encoded);
	tcase_add_test(tcase, elements_are_made_with_their_defaults);
	tcase_add_test(tcase, printing_escapes);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
