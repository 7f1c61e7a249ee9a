/* SPDX-License-Identifier: Apache-2.0 */
/* Where members begin, and what they commit. */
#include "client.h"
#include "codec/offset_fetch.h"
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:2,u:1", 2);
}

/* What the group has for a partition of "t", asked with a consumer of its own; -1: nothing. */
static int64_t committed(int partition)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	char text[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk;
	int64_t offset;

	rd_kafka_conf_set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit), text, sizeof(text));
	rd_kafka_conf_set(conf, "group.id", "g", text, sizeof(text));
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	ck_assert_msg(rk != NULL, "%s", text);
	rd_kafka_topic_partition_list_add(list, "t", partition);
	ck_assert_int_eq(rd_kafka_committed(rk, list, WITHIN_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
	offset = list->elems[0].offset;
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	return offset >= 0 ? offset : -1;
}

static rd_kafka_topic_partition_list_t *one(const char *topic, int partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
	return list;
}

static rg_err commit_one(struct actor *actor, const char *topic, int partition, int64_t offset, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = one(topic, partition, offset);
	rg_err err = rg_consumer_commit(actor->consumer, list, WITHIN_MS, error);

	/* Kafka's own numbers are in the entry as they are. */
	if (err >= 0)
		ck_assert_int_eq((int)list->elems[0].err, err);
	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

/* --- Where to begin ----------------------------------------------------------------------------------------------- */

START_TEST(a_group_goes_on_where_it_was)
{
	rg_error error = {0};

	produce("t", 0, 10);
	crew_join(&a, "a", "t");
	crew_until(a.records == 10, &a);
	crew_poll_for(20, (struct actor *[]){&a, NULL});
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	ck_assert_int_eq(committed(0), 10);
	crew_close(&a, RG_CLOSE_LEAVE);
	produce("t", 0, 5);
	crew_join(&b, "b", "t");
	crew_until(b.records == 5, &b);
	ck_assert_int_eq(b.record_offsets[0], 10);
}
END_TEST

/* A record counts as processed when the application comes back. */
START_TEST(the_record_in_hand_is_not_committed)
{
	rg_error error = {0};
	rd_kafka_message_t *message;
	int64_t ends = now_ms() + WITHIN_MS;

	produce("t", 0, 3);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "1", NULL));
	crew_subscribe(&a, "t");
	while (!(message = rg_consumer_poll(a.consumer, 5, &error)))
		ck_assert_int_lt(now_ms(), ends);
	ck_assert_int_eq(message->offset, 0);
	rd_kafka_message_destroy(message);
	ck_assert_int_eq(committed(0), -1);
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error)); /* this is coming back */
	ck_assert_int_eq(committed(0), 1);
}
END_TEST

START_TEST(latest_skips_what_is_there)
{
	produce("t", 0, 10);
	crew_open(&a, "a", crew_conf("auto.offset.reset", "latest", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	crew_poll_for(300, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, 0);
	produce("t", 0, 1);
	crew_until(a.records == 1, &a);
	ck_assert_int_eq(a.record_offsets[0], 10);
}
END_TEST

START_TEST(without_a_reset_the_application_is_told)
{
	crew_open(&a, "a", crew_conf("auto.offset.reset", "none", NULL));
	crew_subscribe(&a, "u");
	crew_until(a.error.code, &a);
	ck_assert_int_eq(a.error.code, RG_ERR_NO_OFFSET);
	ck_assert_str_eq(a.error.text, "u [0]: the group has no committed offset, and auto.offset.reset is none");
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.errors, "NO_OFFSET"); /* once */
}
END_TEST

/* Each partition's error comes out of poll, although they are all found at once. */
START_TEST(each_error_is_told)
{
	crew_open(&a, "a", crew_conf("auto.offset.reset", "none", NULL));
	crew_subscribe(&a, "t,u");
	crew_until(strlen(a.errors) >= strlen("NO_OFFSET; NO_OFFSET; NO_OFFSET"), &a);
	ck_assert_str_eq(a.error.text, "u [0]: the group has no committed offset, and auto.offset.reset is none");
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.errors, "NO_OFFSET; NO_OFFSET; NO_OFFSET");
}
END_TEST

/* There are more of them than wait for poll: how many they were is told, too. */
START_TEST(of_many_errors_the_number_is_told)
{
	rg_error error = {0};

	OK(rg_testkit_add_topic(kit, "many", 20, &error));
	crew_open(&a, "a", crew_conf("auto.offset.reset", "none", NULL));
	crew_subscribe(&a, "many");
	crew_until(strstr(a.error.text, "more errors"), &a);
	ck_assert_str_eq(a.error.text, "4 more errors; the log has them");
	ck_assert_int_eq(a.error.code, RG_ERR_NO_OFFSET);
	ck_assert_int_eq(atomic_load(&a.own_warnings), 20);
}
END_TEST

/* bugs librdkafka 36: own offsets and committed ones side by side. */
static void choose(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	(void)actor;
	rd_kafka_topic_partition_list_find(partitions, "t", 0)->offset = 7;
}

START_TEST(the_listener_chooses_where_to_begin)
{
	rg_error error = {0};

	produce("t", 0, 10);
	produce("t", 1, 10);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(commit_one(&a, "t", 0, 2, &error), RG_OK);
	ck_assert_int_eq(commit_one(&a, "t", 1, 4, &error), RG_OK);
	crew_close(&a, RG_CLOSE_LEAVE);
	crew_open(&b, "b", crew_conf(NULL));
	b.in_assigned = choose;
	crew_subscribe(&b, "t");
	crew_until(b.records == 3 + 6, &b);
	for (int i = 0; i < b.records; i++)
		ck_assert_int_ge(b.record_offsets[i], b.record_partitions[i] ? 4 : 7);
}
END_TEST

/* scenarios F.119; bugs librdkafka 38; KIP-447 */
START_TEST(offsets_are_asked_for_until_they_come)
{
	rg_error error = {0};

	produce("t", -1, 4);
	OK(rg_testkit_fail_request(kit, 9, 1, 14, &error));
	OK(rg_testkit_fail_request(kit, 9, 2, 88, &error));
	OK(rg_testkit_fail_request(kit, 9, 3, 16, &error));
	OK(rg_testkit_drop_request(kit, 9, 4, false, &error));
	crew_join(&a, "a", "t");
	crew_until(a.records == 4, &a);
	ck_assert_str_eq(a.errors, "");
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
}
END_TEST

START_TEST(an_error_that_nobody_retries_is_told_once)
{
	rg_error error = {0};

	produce("t", -1, 4);
	OK(rg_testkit_fail_request(kit, 9, 1, 30, &error));
	OK(rg_testkit_fail_request(kit, 9, 2, 30, &error));
	crew_join(&a, "a", "t");
	crew_until(a.records == 4, &a); /* somebody gave the right back meanwhile */
	ck_assert_str_eq(a.errors, "GROUP_AUTHORIZATION_FAILED");
}
END_TEST

/* bugs 26, 27: a rebalance while OffsetFetch is out. What is kept starts all the same; what is not, does not. */
START_TEST(a_rebalance_while_offsets_are_on_their_way)
{
	rg_error error = {0};
	int hold;

	produce("t", -1, 10);
	OK(rg_testkit_hold_request(kit, 9, 1, true, &hold, &error));
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&b, "t");
	crew_until(rg_testkit_request_count(kit, RG__API_JOIN_GROUP) == 4, &a, &b); /* two of each, and b's waits for a */
	ck_assert_int_eq(a.records, 0);
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned == 1 && b.owned == 1 && a.records && b.records, &a, &b);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* --- Commits ------------------------------------------------------------------------------------------------------ */

/* scenarios F.102, bugs 61 */
START_TEST(commits_that_make_no_sense_are_refused_here)
{
	rd_kafka_topic_partition_list_t *twice = one("t", 0, 1);
	int64_t before;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	before = rg_testkit_request_count(kit, 8);
	ck_assert_int_eq(commit_one(&a, "u", 0, 1, &error), RG_ERR_NOT_OWNED);
	ck_assert_str_eq(error.text, "commit: u [0] is not owned by this consumer");
	ck_assert_int_eq(commit_one(&a, "t", 0, -2, &error), RG_ERR_INVALID);
	rd_kafka_topic_partition_list_add(twice, "t", 0)->offset = 2;
	ck_assert_int_eq(rg_consumer_commit(a.consumer, twice, WITHIN_MS, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "commit: t [0] is listed twice");
	rd_kafka_topic_partition_list_destroy(twice);
	ck_assert_int_eq(rg_testkit_request_count(kit, 8), before);
	OK(rg_consumer_commit(a.consumer, NULL, 0, &error)); /* nothing was processed: nothing to do */
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	ck_assert_int_eq(commit_one(&a, "t", 0, 1, &error), RG_ERR_STATE);
}
END_TEST

/* scenarios F.110, F.112; bugs librdkafka 39 */
START_TEST(commits_are_repeated_while_it_may_help)
{
	static const rg_err retried[] = {3, 7, 14, 15, 16};
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	for (size_t i = 0; i < sizeof(retried) / sizeof(retried[0]); i++) {
		int64_t offset = 10 + (int64_t)i;

		OK(rg_testkit_fail_request(kit, 8, 1, retried[i], &error));
		ck_assert_msg(commit_one(&a, "t", 0, offset, &error) == RG_OK, "%d: %s", retried[i], error.text);
		ck_assert_int_eq(committed(0), offset);
	}
	OK(rg_testkit_drop_request(kit, 8, 1, true, &error));
	ck_assert_msg(commit_one(&a, "t", 0, 77, &error) == RG_OK, "%s", error.text);
	ck_assert_int_eq(committed(0), 77);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
}
END_TEST

/* scenarios F.111: the caller's own to mend. */
START_TEST(errors_of_the_caller_come_back_with_the_partition)
{
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, 8, 1, 12, &error));
	ck_assert_int_eq(commit_one(&a, "t", 1, 5, &error), 12);
	ck_assert_str_eq(error.text, "commit of t [1]: OFFSET_METADATA_TOO_LARGE");
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	ck_assert_int_eq(commit_one(&a, "t", 1, 5, &error), RG_OK);
}
END_TEST

/* scenarios F.103, F.104, F.105; bugs 52, 58: 27 costs nothing, 22 and 25 cost the assignment at once, not at the next
 * heartbeat. */
START_TEST(what_commits_say_about_the_membership)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("session.timeout.ms", "300", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, 8, 1, 27, &error));
	ck_assert_int_eq(commit_one(&a, "t", 0, 1, &error), 27);
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert(!seen(&a, "lost"));
	OK(rg_testkit_fail_request(kit, 8, 1, 25, &error));
	ck_assert_int_eq(commit_one(&a, "t", 0, 1, &error), 25);
	crew_until(count_of(&a, "assigned") == 3, &a);
	ck_assert(seen(&a, "lost(UNKNOWN_MEMBER) t:0,1"));
	OK(rg_testkit_fail_request(kit, 8, 1, 22, &error));
	ck_assert_int_eq(commit_one(&a, "t", 0, 1, &error), 22);
	crew_until(count_of(&a, "assigned") == 4, &a);
	ck_assert(seen(&a, "lost(ILLEGAL_GENERATION) t:0,1"));
	ck_assert_str_eq(a.errors, "");
	ck_assert(alternates(&a));
}
END_TEST

static rg_err from_lost, from_lost_all;

static void commit_in_lost(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	from_lost = commit_one(actor, "t", 0, 3, NULL);
	from_lost_all = rg_consumer_commit(actor->consumer, NULL, WITHIN_MS, NULL);
}

static void commit_in_revoked(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	rg_error error = {0};

	for (int i = 0; i < partitions->cnt; i++)
		ck_assert_msg(commit_one(actor, partitions->elems[i].topic, partitions->elems[i].partition, 4, &error) == RG_OK,
		              "%s", error.text);
}

/* bugs 61 */
START_TEST(what_is_lost_cannot_be_committed)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("session.timeout.ms", "300", NULL));
	a.in_lost = commit_in_lost;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, 12, 1, 25, &error));
	crew_until(seen(&a, "lost"), &a);
	ck_assert_int_eq(from_lost, RG_ERR_LOST);
	ck_assert_int_eq(from_lost_all, RG_ERR_LOST);
	ck_assert_int_eq(committed(0), -1);
}
END_TEST

/* The commit of on_revoked is in time: whoever gets the partition next begins there. */
START_TEST(what_is_revoked_can_be_committed)
{
	produce("t", 0, 10);
	produce("t", 1, 10);
	crew_open(&a, "a", crew_conf(NULL));
	a.in_revoked = commit_in_revoked;
	crew_subscribe(&a, "t");
	crew_until(a.records == 20, &a);
	crew_join(&b, "b", "t");
	crew_until(b.records == 6 && a.records == 26, &a, &b);
	crew_poll_for(100, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(b.records, 6);
	ck_assert_int_eq(a.records, 26);
	a.in_revoked = NULL;
}
END_TEST

/* The interval alone: neither its retries nor a rebalance that falls into it. */
START_TEST(automatic_commits_from_time_to_time)
{
	int64_t ends = now_ms() + WITHIN_MS;

	produce("t", 0, 10);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "50", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 10, &a);
	while (committed(0) != 10) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn((struct actor *[]){&a, NULL});
	}
}
END_TEST

/* scenarios F.116, F.118, bugs librdkafka 35: before a rebalance and at the end; nothing is read twice. */
START_TEST(automatic_commits_when_it_matters)
{
	enum { ALL = 3000 };

	produce("t", -1, ALL);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", NULL));
	crew_open(&b, "b", crew_conf("enable.auto.commit", "true", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records >= 7, &a);
	crew_subscribe(&b, "t");
	crew_until(a.owned == 1 && b.owned == 1 && b.records, &a, &b);
	crew_close(&b, RG_CLOSE_LEAVE);
	crew_until(a.records + b.records == ALL, &a);
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records + b.records, ALL);
}
END_TEST

/* KIP-429, bugs librdkafka 17: also what a cooperative rebalance takes away is committed first. */
START_TEST(automatic_commits_before_a_cooperative_revocation)
{
	static const char sticky[] = "partition.assignment.strategy";

	produce("t", -1, 40);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", sticky, "cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf("enable.auto.commit", "true", sticky, "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 40, &a);
	crew_subscribe(&b, "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	produce("t", -1, 40);
	crew_until(a.records + b.records == 80, &a, &b);
	crew_poll_for(100, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(a.records + b.records, 80);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* scenarios F.116, bugs kafka 14024, 13310: a commit before a rebalance that gets no answer holds up neither poll
 * nor, for ever, the rebalance. */
START_TEST(a_commit_without_an_answer_does_not_hold_up_poll)
{
	rg_error error = {0};
	int64_t began;
	int hold;

	produce("t", -1, 10);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "max.poll.interval.ms", "2000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 10, &a);
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	crew_subscribe(&a, "t,u");
	began = now_ms();
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	for (int i = 0; i < 20; i++) {
		int64_t before = now_ms();

		ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &error));
		ck_assert_int_le(now_ms() - before, BUSY_MS);
	}
	crew_until(a.owned == 3, &a);
	ck_assert_int_ge(now_ms() - began, 500);
	ck_assert(alternates(&a));
	OK(rg_testkit_release(kit, hold, &error));
}
END_TEST

/* scenarios F.118, bugs kafka 14196: between the commit and the revocation no record comes out, or the next owner would
 * read it again. */
START_TEST(no_record_between_the_commit_and_the_revocation)
{
	struct actor *actors[] = {&a, NULL};
	rg_error error = {0};
	int hold, before;

	produce("t", -1, 2000);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "60000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records >= 10, &a);
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	crew_subscribe(&a, "t,u");
	while (rg_testkit_wait_held(kit, hold, 1, NULL))
		crew_turn(actors);
	before = a.records;
	crew_poll_for(100, actors);
	ck_assert_int_eq(a.records, before);
	ck_assert(!seen(&a, "revoked")); /* it waits for the commit */
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.records == 2000, &a);
	crew_poll_for(50, actors);
	ck_assert_int_eq(a.records, 2000); /* each once */
}
END_TEST

static int records_of(const struct actor *actor, int partition)
{
	int count = 0;

	for (int i = 0; i < actor->records; i++)
		count += actor->record_partitions[i] == partition;
	return count;
}

/* The same for a cooperative member, which goes on with what it keeps. */
START_TEST(only_what_is_kept_goes_on)
{
	static const char sticky[] = "partition.assignment.strategy", interval[] = "auto.commit.interval.ms";
	rg_error error = {0};
	int join, hold, gone;

	produce("t", -1, 40);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", interval, "60000", sticky, "cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf("enable.auto.commit", "true", interval, "60000", sticky, "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 40, &a);
	OK(rg_testkit_hold_request(kit, 11, 3, false, &join, &error)); /* a's, behind the two of b */
	crew_subscribe(&b, "t");
	while (rg_testkit_wait_held(kit, join, 1, NULL))
		crew_turn((struct actor *[]){&a, &b, NULL});
	produce("t", -1, 40); /* in the middle of the rebalance: there is something to commit when it ends */
	crew_until(a.records == 80, &a, &b);
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	OK(rg_testkit_release(kit, join, &error));
	while (rg_testkit_wait_held(kit, hold, 1, NULL))
		crew_turn((struct actor *[]){&a, &b, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, prepare, complete");
	produce("t", -1, 400);
	crew_until(records_of(&a, 0) == 240 || records_of(&a, 1) == 240, &a, &b);
	crew_poll_for(200, (struct actor *[]){&a, &b, NULL});
	gone = records_of(&a, 0) == 240 ? 1 : 0;
	ck_assert_int_eq(records_of(&a, gone), 40);
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.records + b.records == 480 && a.owned == 1 && b.owned == 1, &a, &b);
	ck_assert(a.owns[1 - gone]);
	crew_poll_for(50, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(a.records + b.records, 480);
}
END_TEST

/* scenarios F.101, bugs 52, 55: what was owned in one generation is not committed in the next, where the broker would
 * take it. */
START_TEST(a_commit_of_an_older_generation_is_not_sent)
{
	static const char sticky[] = "partition.assignment.strategy";
	rg_error error = {0};
	int64_t commits;

	crew_open(&b, "b", crew_conf(sticky, "cooperative-sticky", NULL)); /* leads */
	crew_subscribe(&b, "t,u");
	crew_until(b.owned == 3, &b);
	crew_open(&a, "a", crew_conf(sticky, "cooperative-sticky", NULL));
	crew_subscribe(&a, "t,u");
	crew_until(a.owned && a.owned + b.owned == 3, &a, &b);
	crew_poll_for(100, (struct actor *[]){&a, &b, NULL});
	b.seen[0] = a.seen[0] = '\0';
	crew_subscribe(&b, "t"); /* a rebalance */
	crew_until(seen(&a, "prepare"), &a, &b);
	crew_until(seen(&b, "complete"), &b); /* a's thread has its SyncGroup answer, and the application has not looked */
	crew_poll_for(50, (struct actor *[]){&b, NULL});
	ck_assert(!seen(&a, "complete"));
	commits = rg_testkit_request_count(kit, 8);
	ck_assert_int_eq(commit_one(&a, a.owns[0] ? "t" : a.owns[1] ? "t" : "u", a.owns[1] && !a.owns[0], 5, &error), 27);
	ck_assert_int_eq(rg_testkit_request_count(kit, 8), commits);
	crew_until(a.owned && a.owned + b.owned == 3, &a, &b);
	ck_assert(!seen(&a, "lost"));
}
END_TEST

/* bugs 53, 57: a commit has its time and no more, and the next one works. */
START_TEST(a_commit_ends_when_its_time_is_up)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 3);
	rg_error error = {0};
	int64_t began;
	int hold;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_commit(a.consumer, list, 200, &error), RG_ERR_TIMED_OUT);
	ck_assert_msg(!strncmp(error.text, "commit: no answer from 127.0.0.1:", 33), "%s", error.text);
	ck_assert_int_ge(now_ms() - began, 195);
	ck_assert_int_le(now_ms() - began, 200 + BUSY_MS);
	ck_assert_int_eq(list->elems[0].err, RD_KAFKA_RESP_ERR__TIMED_OUT);
	OK(rg_testkit_release(kit, hold, &error));
	ck_assert_int_eq(commit_one(&a, "t", 0, 9, &error), RG_OK);
	ck_assert_int_eq(committed(0), 9);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* A caller's time may be shorter than a healthy broker's answer takes. The heartbeats go over the same connection: were it
 * given up each time, the partitions would be lost, too. */
START_TEST(commits_that_are_too_late_leave_the_connection)
{
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_set_latency(kit, rg_testkit_coordinator(kit, "g"), 250, &error));
	/* In all longer than session.timeout.ms. */
	for (int i = 1; i <= 20; i++) {
		rd_kafka_topic_partition_list_t *list = one("t", 0, i);

		ck_assert_int_eq(rg_consumer_commit(a.consumer, list, i % 2 * 200, &error), RG_ERR_TIMED_OUT);
		rd_kafka_topic_partition_list_destroy(list);
		crew_poll_for(100, (struct actor *[]){&a, NULL});
	}
	/* It does not overtake those before it, the answers to which nobody waits for. */
	ck_assert_int_eq(commit_one(&a, "t", 0, 20, &error), RG_OK);
	OK(rg_testkit_set_latency(kit, rg_testkit_coordinator(kit, "g"), 0, &error));
	ck_assert_int_eq(atomic_load(&a.coordinators), 1);
	ck_assert(!seen(&a, "lost"));
	ck_assert_str_eq(a.errors, "");
	ck_assert_int_eq(committed(0), 20);
}
END_TEST

/* The metadata stored for t [0], asked by hand: librdkafka before 2.6.1 reads behind its end. */
static struct rg__bytes stored_metadata(struct client *client)
{
	int32_t zero = 0;
	struct rg__offset_fetch_request_topic topic = {.name = rg__bytes_of("t"), .partition_indexes = {&zero, 1}};
	struct rg__offset_fetch_request request;
	const struct rg__offset_fetch_response *answer;
	const struct rg__offset_fetch_response_topic *topics;

	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.topics = (struct rg__array){&topic, 1};
	answer = client_ask(client, RG__API_OFFSET_FETCH, 5, &request);
	topics = answer->topics.items;
	ck_assert_int_eq(answer->topics.count, 1);
	return RG__ITEMS(struct rg__offset_fetch_response_topic_partition, topics[0].partitions)[0].metadata;
}

/* bugs librdkafka 42: any bytes are metadata. */
START_TEST(metadata_is_stored_byte_by_byte)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 3);
	struct client client;
	struct rg__bytes stored;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	list->elems[0].metadata = memcpy(malloc(3), "a\0b", 3);
	list->elems[0].metadata_size = 3;
	OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
	ck_assert_int_eq(list->elems[0].err, 0);
	rd_kafka_topic_partition_list_destroy(list);
	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, "g")));
	stored = stored_metadata(&client);
	ck_assert_uint_eq(stored.len, 3);
	ck_assert_mem_eq(stored.data, "a\0b", 3);
	client_close(&client);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_group_goes_on_where_it_was);
	tcase_add_test(tcase, the_record_in_hand_is_not_committed);
	tcase_add_test(tcase, latest_skips_what_is_there);
	tcase_add_test(tcase, without_a_reset_the_application_is_told);
	tcase_add_test(tcase, each_error_is_told);
	tcase_add_test(tcase, of_many_errors_the_number_is_told);
	tcase_add_test(tcase, the_listener_chooses_where_to_begin);
	tcase_add_test(tcase, offsets_are_asked_for_until_they_come);
	tcase_add_test(tcase, an_error_that_nobody_retries_is_told_once);
	tcase_add_test(tcase, a_rebalance_while_offsets_are_on_their_way);
	tcase_add_test(tcase, commits_that_make_no_sense_are_refused_here);
	tcase_add_test(tcase, commits_are_repeated_while_it_may_help);
	tcase_add_test(tcase, errors_of_the_caller_come_back_with_the_partition);
	tcase_add_test(tcase, what_commits_say_about_the_membership);
	tcase_add_test(tcase, what_is_lost_cannot_be_committed);
	tcase_add_test(tcase, what_is_revoked_can_be_committed);
	tcase_add_test(tcase, automatic_commits_from_time_to_time);
	tcase_add_test(tcase, automatic_commits_when_it_matters);
	tcase_add_test(tcase, automatic_commits_before_a_cooperative_revocation);
	tcase_add_test(tcase, a_commit_without_an_answer_does_not_hold_up_poll);
	tcase_add_test(tcase, no_record_between_the_commit_and_the_revocation);
	tcase_add_test(tcase, only_what_is_kept_goes_on);
	tcase_add_test(tcase, a_commit_of_an_older_generation_is_not_sent);
	tcase_add_test(tcase, a_commit_ends_when_its_time_is_up);
	tcase_add_test(tcase, commits_that_are_too_late_leave_the_connection);
	tcase_add_test(tcase, metadata_is_stored_byte_by_byte);
}

int main(void)
{
	return run_suite("consumer_offsets", fill, start, crew_end);
}
