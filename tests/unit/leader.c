/* SPDX-License-Identifier: Apache-2.0 */
/* What a leader makes of subscriptions, good and hostile, and what it sends. */
#include "consumer/leader.h"

#include "assign/builtin.h"
#include "codec/consumer_protocol.h"
#include "consumer/hint.h"
#include "consumer/subscription.h"

#include "../lib/suite.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS = 4 };

static struct rg__buf metadata[MEMBERS];
static rg_member_info infos[MEMBERS];
static struct rg__leading leading;
static int warnings;
static char warning[512];

static const struct rg__topic_input t3 = {.name = {(const uint8_t *)"t", 1}, .partition_count = 3};
static const struct rg__listed_assignor range = {&rg__range, NULL, true};

static void on_log(void *user, int level, const char *facility, const char *line)
{
	(void)user;
	(void)level;
	(void)facility;
	warnings++;
	snprintf(warning, sizeof(warning), "%s", line);
}

static const struct rg__log log_here = {on_log, NULL, RG__LOG_DEBUG};

static void start(void)
{
	static const char *const ids[MEMBERS] = {"m1", "m2", "m3", "m4"};

	for (int m = 0; m < MEMBERS; m++) {
		rg__buf_free(&metadata[m]);
		infos[m] = (rg_member_info){.member_id = ids[m]};
	}
	warnings = 0;
}

static void end(void)
{
	rg__leading_end(&leading);
	for (int m = 0; m < MEMBERS; m++)
		rg__buf_free(&metadata[m]);
}

static void subscribe(int m, const char *topic, int32_t owned_first, int32_t owned_count)
{
	struct rg__consumer_protocol_subscription subscription;
	struct rg__consumer_protocol_topic_partition owned;
	int32_t numbers[8];
	struct rg__bytes name = rg__bytes_of(topic);

	rg__fields_init(&rg__consumer_protocol_subscription_fields, &subscription);
	rg__fields_init(&rg__consumer_protocol_topic_partition_fields, &owned);
	for (int32_t i = 0; i < owned_count; i++)
		numbers[i] = owned_first + i;
	owned.topic = rg__bytes_of("t");
	owned.partitions = (struct rg__array){numbers, owned_count};
	subscription.topics = (struct rg__array){&name, topic ? 1 : 0};
	subscription.owned_partitions = (struct rg__array){&owned, owned_count ? 1 : 0};
	subscription.generation_id = owned_count ? 5 : -1;
	ck_assert(rg__subscription_encode(3, &subscription, &metadata[m], NULL));
	infos[m].metadata = (rg_bytes){metadata[m].data, metadata[m].len};
}

static rg_err plan_with(int members, const struct rg__listed_assignor *assignor, bool cooperative,
                        struct rg__lead_result *result, rg_error *error)
{
	rg__leading_end(&leading);
	ck_assert(rg__leading_begin(&leading, infos, (size_t)members, &log_here));
	return rg__leading_plan(&leading, assignor, cooperative, &t3, 1, 6, result, error);
}

/* "m1=0,1;m2=2;" of topic t */
static const char *shares_text(const struct rg__lead_result *result)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (size_t s = 0; s < result->count; s++) {
		rg_bytes bytes = result->shares[s].assignment;
		struct rg__consumer_protocol_assignment assignment;
		struct rg__arena arena = {0};
		const char *separator = "=";

		ck_assert_uint_gt(bytes.len, 0);
		ck_assert(rg__assignment_decode((struct rg__bytes){bytes.data, bytes.len}, &arena, &assignment, NULL, NULL));
		ck_assert_int_le(assignment.assigned_partitions.count, 1);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", result->shares[s].member_id);
		for (int32_t t = 0; t < assignment.assigned_partitions.count; t++) {
			const struct rg__consumer_protocol_topic_partition *topics = assignment.assigned_partitions.items;

			for (int32_t p = 0; p < topics[t].partitions.count; p++) {
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d", separator,
				                        (int)RG__ITEMS(int32_t, topics[t].partitions)[p]);
				separator = ",";
			}
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, ";");
		rg__arena_clear(&arena);
	}
	return text;
}

/* bugs 6: a member that gets nothing is listed, too; and everybody is told how many they are. */
START_TEST(every_member_is_listed)
{
	struct rg__lead_result result;
	struct rg__consumer_protocol_assignment assignment;
	struct rg__arena arena = {0};
	rg_error error = {0};
	uint32_t partitions;

	for (int m = 0; m < MEMBERS; m++)
		subscribe(m, "t", 0, 0);
	ck_assert_int_eq(plan_with(MEMBERS, &range, false, &result, &error), RG_OK);
	ck_assert_str_eq(shares_text(&result), "m1=0;m2=1;m3=2;m4;");
	ck_assert_int_eq(result.partitions, 3);
	for (size_t s = 0; s < result.count; s++) {
		rg_bytes bytes = result.shares[s].assignment;

		ck_assert(rg__assignment_decode((struct rg__bytes){bytes.data, bytes.len}, &arena, &assignment, NULL, NULL));
		ck_assert_int_eq(rg__hint_read(assignment.user_data), MEMBERS);
		ck_assert(rg__hint_partitions(assignment.user_data, &partitions));
		ck_assert_uint_eq(partitions, rg__hint_mix_partitions(0, rg__bytes_of("t"), 3));
	}
	rg__arena_clear(&arena);
}
END_TEST

/* KIP-345: a member that has changed its mind must see that it was given what its predecessor asked for. */
START_TEST(every_member_is_told_its_own_topics)
{
	static const char *const topics[MEMBERS] = {"t", "t", NULL, "u"};
	struct rg__lead_result result;
	struct rg__consumer_protocol_assignment assignment;
	struct rg__arena arena = {0};
	rg_error error = {0};
	uint32_t hash;

	for (int m = 0; m < MEMBERS; m++)
		subscribe(m, topics[m], 0, 0);
	ck_assert_int_eq(plan_with(MEMBERS, &range, false, &result, &error), RG_OK);
	for (int m = 0; m < MEMBERS; m++) {
		rg_bytes bytes = result.shares[m].assignment;

		ck_assert(rg__assignment_decode((struct rg__bytes){bytes.data, bytes.len}, &arena, &assignment, NULL, NULL));
		ck_assert(rg__hint_topics(assignment.user_data, &hash));
		ck_assert_uint_eq(hash, topics[m] ? rg__hint_mix(0, rg__bytes_of(topics[m])) : 0);
	}
	rg__arena_clear(&arena);
}
END_TEST

START_TEST(the_topics_of_the_group_are_collected_once)
{
	subscribe(0, "u", 0, 0);
	subscribe(1, "t", 0, 0);
	subscribe(2, "u", 0, 0);
	subscribe(3, NULL, 0, 0);
	ck_assert(rg__leading_begin(&leading, infos, MEMBERS, &log_here));
	ck_assert_int_eq(leading.topic_count, 2);
	ck_assert(rg__bytes_is(leading.topics[0], "t") && rg__bytes_is(leading.topics[1], "u"));
}
END_TEST

/* bugs librdkafka 10: cut at every byte, a subscription is garbage, and only its own member goes empty. */
START_TEST(garbage_gets_nothing_and_is_told)
{
	struct rg__lead_result result;
	rg_error error = {0};

	subscribe(0, "t", 0, 0);
	subscribe(1, "t", 0, 2);
	for (size_t len = 0; len < metadata[1].len; len++) {
		warnings = 0;
		infos[1].metadata.len = len;
		ck_assert_int_eq(plan_with(2, &range, false, &result, &error), RG_OK);
		ck_assert_str_eq(shares_text(&result), "m1=0,1,2;m2;");
		ck_assert_int_eq(warnings, 1);
		ck_assert_ptr_eq(strstr(warning, "member m2 gets nothing, its subscription cannot be read: "), warning);
	}
}
END_TEST

/* bugs 11, 12, 29: claims that cannot be, and one member named twice. */
START_TEST(hostile_claims_do_no_harm)
{
	static const struct rg__listed_assignor sticky = {&rg__cooperative_sticky, NULL, true};
	struct rg__lead_result result;
	rg_error error = {0};

	subscribe(0, "t", -3, 8);
	subscribe(1, "t", 2, 8);
	subscribe(2, NULL, 0, 3);
	infos[3] = infos[0];
	ck_assert_int_eq(plan_with(4, &range, false, &result, &error), RG_OK);
	ck_assert_str_eq(shares_text(&result), "m1=0,1;m2=2;m3;");
	ck_assert_int_eq(plan_with(4, &sticky, true, &result, &error), RG_OK);
	ck_assert_uint_eq(result.count, 3);
}
END_TEST

/* --- Assignors that do wrong -------------------------------------------------------------------------------------- */

static rg_err give_all_to_last(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)error;
	(void)user;
	return rg_plan_give_range(plan, group->member_count - 1, 0, 0, group->topics[0].partition_count);
}

static const rg_assignor to_last = {
	.size = sizeof(rg_assignor), .name = "to-last", .protocols = RG_COOPERATIVE, .assign = give_all_to_last};

/* scenarios E.85 */
START_TEST(a_cooperative_plan_must_not_move_what_is_held)
{
	struct rg__listed_assignor custom = {&to_last, NULL, false};
	struct rg__lead_result result;
	rg_error error = {0};

	subscribe(0, "t", 1, 1);
	subscribe(1, "t", 0, 0);
	ck_assert_int_eq(plan_with(2, &custom, true, &result, &error), RG_ERR_BAD_PLAN);
	ck_assert_str_eq(error.text,
	                 "assignor to-last gives t [1] to m2 while m1 owns it: a cooperative assignor leaves it out "
	                             "until its owner has given it up");
	ck_assert_int_eq(plan_with(2, &custom, false, &result, &error), RG_OK);
	start();
	subscribe(0, "t", 0, 0);
	subscribe(1, "t", 1, 1); /* its own */
	ck_assert_int_eq(plan_with(2, &custom, true, &result, &error), RG_OK);
	ck_assert_str_eq(shares_text(&result), "m1;m2=0,1,2;");
}
END_TEST

/* scenarios E.86: refused here. */
START_TEST(a_plan_for_a_topic_that_is_not_subscribed_to)
{
	struct rg__listed_assignor custom = {&to_last, NULL, false};
	struct rg__lead_result result;
	rg_error error = {0};

	subscribe(0, "t", 0, 0);
	subscribe(1, "u", 0, 0);
	ck_assert_int_eq(plan_with(2, &custom, false, &result, &error), RG_ERR_BAD_PLAN);
	ck_assert_ptr_eq(strstr(error.text, "assignor to-last: "), error.text);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, start, end);
	tcase_add_test(tcase, every_member_is_listed);
	tcase_add_test(tcase, every_member_is_told_its_own_topics);
	tcase_add_test(tcase, the_topics_of_the_group_are_collected_once);
	tcase_add_test(tcase, garbage_gets_nothing_and_is_told);
	tcase_add_test(tcase, hostile_claims_do_no_harm);
	tcase_add_test(tcase, a_cooperative_plan_must_not_move_what_is_held);
	tcase_add_test(tcase, a_plan_for_a_topic_that_is_not_subscribed_to);
}

int main(void)
{
	return suite_run("leader", fill, 60);
}
