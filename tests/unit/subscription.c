/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes a consumer tells its leader, what it makes of the leader's answer, and the size hint in it. */
#include "consumer/subscription.h"

#include "codec/consumer_protocol.h"
#include "consumer/assignment.h"
#include "consumer/hint.h"

#include "../lib/suite.h"

#include <stdio.h>
#include <string.h>

static struct rg__topics topics_of(const char *const *names, size_t count)
{
	struct rg__topics topics;
	rg_error error = {0};

	ck_assert_msg(rg__topics_copy(&topics, names, count, &error) == RG_OK, "%s", error.text);
	return topics;
}

START_TEST(topics_are_ordered_and_each_is_kept_once)
{
	static const char *const names[] = {"b", "a", "b", "Z", "a.b"}, *const same[] = {"Z", "a", "a.b", "b"};
	struct rg__topics topics = topics_of(names, 5), others = topics_of(same, 4), fewer = topics_of(same, 3);

	ck_assert_uint_eq(topics.count, 4);
	ck_assert_str_eq(topics.items[0], "Z");
	ck_assert_str_eq(topics.items[3], "b");
	ck_assert(rg__topics_equal(&topics, &others));
	ck_assert(!rg__topics_equal(&topics, &fewer));
	ck_assert_ptr_eq(rg__topics_find(&topics, rg__bytes_of("a.b")), topics.items[2]);
	ck_assert_ptr_null(rg__topics_find(&topics, rg__bytes_of("a.")));
	ck_assert_ptr_null(rg__topics_find(&topics, RG__NULL_BYTES));
	rg__topics_free(&topics);
	rg__topics_free(&others);
	rg__topics_free(&fewer);
}
END_TEST

/* --- Userdata ----------------------------------------------------------------------------------------------------- */

struct asked {
	int32_t answers[8];
	int times;
};

static int32_t answer_userdata(const char *const *topics, int32_t count, void *buffer, int32_t capacity, void *user)
{
	struct asked *asked = user;
	int32_t len = asked->answers[asked->times++];

	(void)topics;
	(void)count;
	if (len > 0 && len <= capacity)
		memset(buffer, 'x', (size_t)len);
	return len;
}

static const rg_assignor asking = {
	.size = sizeof(rg_assignor), .name = "asking", .protocols = RG_EAGER, .subscription_userdata = answer_userdata};

/* Writes a subscription to "t" and returns the userdata's length in it, or the error. */
static int64_t userdata_len(struct asked *asked, rg_error *error)
{
	static const char *const names[] = {"t"};
	struct rg__topics topics = topics_of(names, 1);
	struct rg__listed_assignor listed = {&asking, asked, false};
	struct rg__subscriber subscriber = {.topics = &topics};
	struct rg__consumer_protocol_subscription read;
	struct rg__arena arena = {0};
	struct rg__buf out = {0};
	int64_t len = rg__subscription_write(&subscriber, &listed, true, &out, error);

	if (!len) {
		ck_assert(rg__subscription_decode(rg__buf_view(&out), &arena, &read, NULL, NULL));
		len = (int64_t)read.user_data.len;
		ck_assert(len == 0 || read.user_data.data[len - 1] == 'x');
	}
	rg__arena_clear(&arena);
	rg__buf_free(&out);
	rg__topics_free(&topics);
	return len;
}

START_TEST(userdata_gets_the_room_it_asks_for)
{
	rg_error error = {0};

	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {0}}, &error), 0);
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {256}}, &error), 256);
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {257, 257}}, &error), 257);
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {1000000, 5}}, &error), 5);
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {-3}}, &error), RG_ERR_ASSIGNOR);
	ck_assert_str_eq(error.text, "assignor asking: subscription_userdata returned -3");
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {INT32_MAX}}, &error), RG_ERR_ASSIGNOR);
	ck_assert_int_eq(userdata_len(&(struct asked){.answers = {300, 400, 500, 600}}, &error), RG_ERR_ASSIGNOR);
	ck_assert_str_eq(error.text, "assignor asking: subscription_userdata wants more room each time it is asked");
}
END_TEST

/* --- Bytes -------------------------------------------------------------------------------------------------------- */

/* KAFKA-12898, bugs 15: the order in which topics were named does not show. scenarios I.161: owned partitions are in
 * order, with the generation they are of (KIP-792), and the rack (KIP-881). */
START_TEST(the_same_subscription_gives_the_same_bytes)
{
	static const char *const one[] = {"b", "a"}, *const other[] = {"a", "b", "a"};
	struct rg__topics first = topics_of(one, 2), second = topics_of(other, 3);
	struct rg__partition items[] = {{"a", 0}, {"a", 4}, {"b", 1}};
	struct rg__partitions owned = {items, 3};
	struct rg__listed_assignor listed = {&asking, NULL, false};
	struct rg__subscriber subscriber = {&first, &owned, 7, "r1"};
	struct rg__consumer_protocol_subscription read;
	const struct rg__consumer_protocol_topic_partition *topics;
	struct rg__arena arena = {0};
	struct rg__buf a = {0}, b = {0};
	int version;

	ck_assert_int_eq(rg__subscription_write(&subscriber, &listed, false, &a, NULL), RG_OK);
	subscriber.topics = &second;
	ck_assert_int_eq(rg__subscription_write(&subscriber, &listed, false, &b, NULL), RG_OK);
	ck_assert(rg__bytes_equal(rg__buf_view(&a), rg__buf_view(&b)));
	ck_assert(rg__subscription_decode(rg__buf_view(&a), &arena, &read, &version, NULL));
	ck_assert_int_eq(version, 3);
	ck_assert_int_eq(read.generation_id, 7);
	ck_assert(rg__bytes_is(read.rack_id, "r1"));
	ck_assert_ptr_null(read.user_data.data);
	ck_assert_int_eq(read.owned_partitions.count, 2);
	topics = read.owned_partitions.items;
	ck_assert(rg__bytes_is(topics[0].topic, "a") && topics[0].partitions.count == 2);
	ck_assert_int_eq(RG__ITEMS(int32_t, topics[0].partitions)[1], 4);
	rg__arena_clear(&arena);
	rg__buf_free(&a);
	rg__buf_free(&b);
	rg__topics_free(&first);
	rg__topics_free(&second);
}
END_TEST

/* KIP-792: the generation is in the bytes also where nothing is owned. A coordinator rebalances for a follower only when its
 * bytes are new, so without it a follower could ask in vain; within one generation they stay the same (bugs 15). */
START_TEST(a_follower_says_something_new_in_each_generation)
{
	static const char *const names[] = {"a"};
	struct rg__topics topics = topics_of(names, 1);
	struct rg__listed_assignor listed = {&asking, NULL, false};
	struct rg__subscriber now = {&topics, NULL, 7, NULL}, later = {&topics, NULL, 8, NULL};
	struct rg__buf a = {0}, b = {0};

	ck_assert_int_eq(rg__subscription_write(&now, &listed, false, &a, NULL), RG_OK);
	ck_assert_int_eq(rg__subscription_write(&now, &listed, false, &b, NULL), RG_OK);
	ck_assert(rg__bytes_equal(rg__buf_view(&a), rg__buf_view(&b)));
	b.len = 0;
	ck_assert_int_eq(rg__subscription_write(&later, &listed, false, &b, NULL), RG_OK);
	ck_assert(!rg__bytes_equal(rg__buf_view(&a), rg__buf_view(&b)));
	rg__buf_free(&a);
	rg__buf_free(&b);
	rg__topics_free(&topics);
}
END_TEST

/* --- The assignment ----------------------------------------------------------------------------------------------- */

static rg_err read_assignment(const void *data, size_t len, struct rg__partitions *ret, size_t *ret_dropped,
                              rg_error *error)
{
	static const char *const names[] = {"a", "b"};
	static struct rg__arena arena;
	static struct rg__topics topics;
	rg_bytes userdata;

	rg__arena_clear(&arena);
	rg__topics_free(&topics);
	topics = topics_of(names, 2);
	return rg__assignment_read((rg_bytes){data, len}, &topics, &arena, NULL, ret, &userdata, ret_dropped, error);
}

START_TEST(assignments_of_all_kinds)
{
	/* protocol.md 3: a live capture's shape; b twice, out of order, a number that cannot be, a topic of somebody else. */
	static const uint8_t strange[] = {0, 3, 0, 0, 0, 3, 0, 1, 'b', 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 5,
	                                  0, 1, 'a', 0, 0, 0, 2, 0, 0, 0, 0, 255, 255, 255, 255,
	                                  0, 1, 'x', 0, 0, 0, 1, 0, 0, 0, 0, 255, 255, 255, 255};
	struct rg__partitions got;
	rg_error error = {0};
	size_t dropped;

	ck_assert_int_eq(read_assignment(strange, sizeof(strange), &got, &dropped, &error), RG_OK);
	ck_assert_uint_eq(got.count, 3);
	ck_assert_uint_eq(dropped, 3);
	ck_assert(!strcmp(got.items[0].topic, "a") && got.items[0].number == 0);
	ck_assert(!strcmp(got.items[1].topic, "b") && got.items[1].number == 1 && got.items[2].number == 5);
	/* Design 3: zero bytes mean that nothing is owned. */
	ck_assert_int_eq(read_assignment(NULL, 0, &got, &dropped, &error), RG_OK);
	ck_assert_uint_eq(got.count, 0);
	for (size_t len = 1; len < sizeof(strange); len++) {
		ck_assert_int_eq(read_assignment(strange, len, &got, &dropped, &error), RG_ERR_PROTOCOL);
		ck_assert_ptr_eq(strstr(error.text, "the leader's assignment: "), error.text);
	}
}
END_TEST

START_TEST(the_hint_of_the_groups_size)
{
	uint8_t bytes[RG__HINT_LEN + 1];
	uint32_t topics = 0;

	rg__hint_write(70000, 0xfee1dead, 0xcafe, bytes);
	ck_assert(rg__hint_topics((struct rg__bytes){bytes, RG__HINT_LEN}, &topics));
	ck_assert_uint_eq(topics, 0xfee1dead);
	ck_assert(!rg__hint_topics((struct rg__bytes){bytes, RG__HINT_LEN - 1}, &topics));
	ck_assert(!rg__hint_topics(RG__NULL_BYTES, &topics));
	ck_assert(rg__hint_partitions((struct rg__bytes){bytes, RG__HINT_LEN}, &topics));
	ck_assert_uint_eq(topics, 0xcafe);
	ck_assert(!rg__hint_partitions((struct rg__bytes){bytes, RG__HINT_LEN - 1}, &topics));
	ck_assert(!rg__hint_partitions(RG__NULL_BYTES, &topics));
	ck_assert_int_eq(rg__hint_read((struct rg__bytes){bytes, RG__HINT_LEN}), 70000);
	ck_assert_int_eq(rg__hint_read((struct rg__bytes){bytes, RG__HINT_LEN - 1}), 0);
	ck_assert_int_eq(rg__hint_read((struct rg__bytes){bytes, RG__HINT_LEN + 1}), 0);
	ck_assert_int_eq(rg__hint_read(RG__NULL_BYTES), 0);
	bytes[4] = 0xff; /* a negative size is none */
	ck_assert_int_eq(rg__hint_read((struct rg__bytes){bytes, RG__HINT_LEN}), 0);
	bytes[0] = 'x';
	bytes[4] = 0;
	ck_assert_int_eq(rg__hint_read((struct rg__bytes){bytes, RG__HINT_LEN}), 0);
}
END_TEST

static uint32_t hash_of(const char *topic, int32_t partitions, const char *other, int32_t others)
{
	return rg__hint_mix_partitions(rg__hint_mix_partitions(0, rg__bytes_of(topic), partitions), rg__bytes_of(other), others);
}

START_TEST(the_hash_of_partitions)
{
	uint32_t hash = hash_of("t", 4, "u", 2);

	ck_assert_uint_eq(hash_of("t", 4, "u", 2), hash);
	ck_assert_uint_ne(hash_of("t", 5, "u", 2), hash);
	ck_assert_uint_ne(hash_of("t", 4, "u", 3), hash);
	ck_assert_uint_ne(hash_of("t", 2, "u", 4), hash);
	ck_assert_uint_ne(hash_of("t", 4, "v", 2), hash);
	ck_assert_uint_ne(rg__hint_mix_partitions(0, rg__bytes_of("t"), 4), hash);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_hash_of_partitions);
	tcase_add_test(tcase, topics_are_ordered_and_each_is_kept_once);
	tcase_add_test(tcase, userdata_gets_the_room_it_asks_for);
	tcase_add_test(tcase, the_same_subscription_gives_the_same_bytes);
	tcase_add_test(tcase, a_follower_says_something_new_in_each_generation);
	tcase_add_test(tcase, assignments_of_all_kinds);
	tcase_add_test(tcase, the_hint_of_the_groups_size);
}

int main(void)
{
	return suite_run("subscription", fill, 60);
}
