/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions, assignments and the sticky userdata: bytes another member wrote, which a leader must survive. */
#include "codec/consumer_protocol.h"
#include "support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define SUBSCRIPTION_V3 "00000001 0001 61 00000001 ff 00000001 0001 61 00000002 00000000 00000005 00000007 0002 7231"

static struct rg__arena arena;
static struct rg__codec_error err;

static void teardown(void)
{
	rg__arena_clear(&arena);
}

static void check_full_subscription(const struct rg__consumer_protocol_subscription *s)
{
	ck_assert_int_eq(s->topics.count, 1);
	ck_assert(rg__bytes_is(RG__ITEMS(struct rg__bytes, s->topics)[0], "a"));
	ck_assert(rg__bytes_is(s->user_data, "\xff"));
	ck_assert_int_eq(s->owned_partitions.count, 1);

	struct rg__consumer_protocol_topic_partition *owned =
		RG__ITEMS(struct rg__consumer_protocol_topic_partition, s->owned_partitions);

	ck_assert(rg__bytes_is(owned[0].topic, "a"));
	ck_assert_int_eq(owned[0].partitions.count, 2);
	ck_assert_int_eq(RG__ITEMS(int32_t, owned[0].partitions)[1], 5);
	ck_assert_int_eq(s->generation_id, 7);
	ck_assert(rg__bytes_is(s->rack_id, "r1"));
}

/* scenarios I.161: a version we do not know is read as our newest, what follows is ignored. */
START_TEST(a_newer_subscription_is_read_as_version_3)
{
	struct rg__consumer_protocol_subscription s;
	int version;

	ck_assert(rg__subscription_decode(hex("0003" SUBSCRIPTION_V3), &arena, &s, &version, &err));
	ck_assert_int_eq(version, 3);
	check_full_subscription(&s);
	ck_assert(rg__subscription_decode(hex("0009" SUBSCRIPTION_V3 "deadbeef"), &arena, &s, &version, &err));
	ck_assert_int_eq(version, 9);
	check_full_subscription(&s);
	ck_assert(rg__subscription_decode(hex("7fff" SUBSCRIPTION_V3), &arena, &s, &version, NULL));
	ck_assert_int_eq(version, INT16_MAX);
}
END_TEST

/* scenarios I.161: what a version does not have is not read from it, although the bytes are there. */
START_TEST(an_older_subscription_has_defaults_for_the_rest)
{
	struct rg__consumer_protocol_subscription s;

	ck_assert(rg__subscription_decode(hex("0000" SUBSCRIPTION_V3), &arena, &s, NULL, &err));
	ck_assert_int_eq(s.topics.count, 1);
	ck_assert(rg__bytes_is(s.user_data, "\xff"));
	ck_assert_int_eq(s.owned_partitions.count, 0);
	ck_assert_int_eq(s.generation_id, -1);
	ck_assert_ptr_null(s.rack_id.data);
	ck_assert(rg__subscription_decode(hex("0001" SUBSCRIPTION_V3), &arena, &s, NULL, &err));
	ck_assert_int_eq(s.owned_partitions.count, 1);
	ck_assert_int_eq(s.generation_id, -1);
	ck_assert(rg__subscription_decode(hex("0002" SUBSCRIPTION_V3), &arena, &s, NULL, &err));
	ck_assert_int_eq(s.generation_id, 7);
	ck_assert_ptr_null(s.rack_id.data);
}
END_TEST

START_TEST(an_older_version_is_written_without_the_newer_fields)
{
	struct rg__consumer_protocol_subscription s;
	struct rg__buf out = {0};

	ck_assert(rg__subscription_decode(hex("0003" SUBSCRIPTION_V3), &arena, &s, NULL, &err));
	/* The views point into the buffer of hex(), which is read again below only after writing. */
	ck_assert(rg__subscription_encode(0, &s, &out, &err));
	ck_assert(rg__bytes_equal(rg__buf_view(&out), hex("0000 00000001 0001 61 00000001 ff")));
	rg__buf_free(&out);
	ck_assert(!rg__subscription_encode(4, &s, &out, &err));
	ck_assert(!rg__subscription_encode(-1, &s, &out, NULL));
	ck_assert_uint_eq(out.len, 0);
	rg__buf_free(&out);
}
END_TEST

/* scenarios I.161: null userdata stays null, empty stays empty. */
START_TEST(null_and_empty_userdata_are_not_the_same)
{
	struct rg__consumer_protocol_assignment a;

	ck_assert(rg__assignment_decode(hex("0000 00000000 ffffffff"), &arena, &a, NULL, &err));
	ck_assert_ptr_null(a.user_data.data);
	ck_assert(rg__assignment_decode(hex("0000 00000000 00000000"), &arena, &a, NULL, &err));
	ck_assert_ptr_nonnull(a.user_data.data);
	ck_assert_uint_eq(a.user_data.len, 0);
}
END_TEST

/* broker: these bytes were captured from a live leader for topic t with six partitions. */
START_TEST(a_captured_assignment)
{
	struct rg__consumer_protocol_assignment a;
	struct rg__consumer_protocol_topic_partition *topics;
	struct rg__bytes captured = hex("0003 00000001 0001 74 00000006 00000000 00000001 00000002 00000003 00000004"
					"00000005 ffffffff");

	ck_assert(rg__assignment_decode(captured, &arena, &a, NULL, &err));
	topics = RG__ITEMS(struct rg__consumer_protocol_topic_partition, a.assigned_partitions);
	ck_assert_int_eq(a.assigned_partitions.count, 1);
	ck_assert(rg__bytes_is(topics[0].topic, "t"));
	ck_assert_int_eq(topics[0].partitions.count, 6);
	for (int32_t i = 0; i < 6; i++)
		ck_assert_int_eq(RG__ITEMS(int32_t, topics[0].partitions)[i], i);
	ck_assert_ptr_null(a.user_data.data);
}
END_TEST

static const struct {
	const char *bytes, *text;
} refused[] = {
	{"", "ConsumerProtocolSubscription, version at byte 0: needs 2 bytes, but only 0 are left"},
	{"00", "ConsumerProtocolSubscription, version at byte 0: needs 2 bytes, but only 1 are left"},
	{"ffff 00000000 ffffffff", "ConsumerProtocolSubscription at byte 0: negative version -1"},
	{"0000 ffffffff ffffffff",
	 "ConsumerProtocolSubscription v0, topics at byte 2: null, which this version does not allow"},
	{"0000 7fffffff 0001 61",
	 "ConsumerProtocolSubscription v0, topics at byte 2: "
	 "2147483647 elements of at least 2 bytes, but only 3 are left"},
	{"0000 00000001 ffff ffffffff",
	 "ConsumerProtocolSubscription v0, topics[0] at byte 6: null, which this version does not allow"},
	{"0001 00000000 ffffffff 00000001 0001 61 80000000",
	 "ConsumerProtocolSubscription v1, ownedPartitions[0].partitions at byte 17: negative length -2147483648"},
	{"0008 00000000 ffffffff 00000000 00000001 0009 61",
	 "ConsumerProtocolSubscription v3, rackId at byte 18: length 9, but only 1 bytes are left"},
	{"474554202f20485454502f312e310d0a",
	 "ConsumerProtocolSubscription v3, topics at byte 2: "
	 "1411395360 elements of at least 2 bytes, but only 10 are left"},
};

/* bugs 12: garbage from one member is refused with a reason; the leader goes on with the others. */
START_TEST(garbage_is_refused_with_a_reason)
{
	struct rg__consumer_protocol_subscription s;
	char text[RG__CODEC_TEXT_MAX];

	ck_assert(!rg__subscription_decode(hex(refused[_i].bytes), &arena, &s, NULL, &err));
	rg__codec_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, refused[_i].text);
	ck_assert(!rg__subscription_decode(hex(refused[_i].bytes), &arena, &s, NULL, NULL));
}
END_TEST

/* bugs 12: the codec hands negative partition numbers on as they are; judging them is the leader's job. */
START_TEST(negative_partitions_are_passed_on)
{
	struct rg__consumer_protocol_assignment a;
	struct rg__consumer_protocol_topic_partition *topics;

	ck_assert(rg__assignment_decode(hex("0000 00000001 0001 61 00000001 ffffffff ffffffff"), &arena, &a, NULL,
					&err));
	topics = RG__ITEMS(struct rg__consumer_protocol_topic_partition, a.assigned_partitions);
	ck_assert_int_eq(RG__ITEMS(int32_t, topics[0].partitions)[0], -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("consumer_protocol");
	TCase *tcase = tcase_create("consumer_protocol");

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, a_newer_subscription_is_read_as_version_3);
	tcase_add_test(tcase, an_older_subscription_has_defaults_for_the_rest);
	tcase_add_test(tcase, an_older_version_is_written_without_the_newer_fields);
	tcase_add_test(tcase, null_and_empty_userdata_are_not_the_same);
	tcase_add_test(tcase, a_captured_assignment);
	tcase_add_loop_test(tcase, garbage_is_refused_with_a_reason, 0, (int)(sizeof(refused) / sizeof(*refused)));
	tcase_add_test(tcase, negative_partitions_are_passed_on);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
