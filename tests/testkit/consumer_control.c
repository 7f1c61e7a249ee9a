/* SPDX-License-Identifier: Apache-2.0 */
/* What an application does between two polls: seek, pause, wake up, take batches, ask for a rebalance. */
#include "crew.h"
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:2,u:1", 1);
}

static rd_kafka_topic_partition_list_t *list_of(const char *topic, int partition)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition);
	return list;
}

typedef rg_err set_paused(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_error *error);

static rg_err set_one(set_paused *set, struct actor *actor, const char *topic, int partition, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = list_of(topic, partition);
	rg_err err = set(actor->consumer, list, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

/* From record `first` on, those of partition `partition` are consecutive, beginning at `offset`. Returns how many. */
static int in_order_from(const struct actor *actor, int first, int partition, int64_t offset)
{
	int count = 0;

	for (int i = first; i < actor->records; i++)
		if (actor->record_partitions[i] == partition)
			ck_assert_int_eq(actor->record_offsets[i], offset + count++);
	return count;
}

/* --- Seek --------------------------------------------------------------------------------------------------------- */

START_TEST(seeking_back_and_forth)
{
	rg_error error = {0};
	int before;

	produce("t", 0, 200);
	crew_join(&a, "a", "t");
	crew_until(a.records >= 50, &a); /* more are queued in librdkafka */
	before = a.records;
	OK(rg_consumer_seek(a.consumer, "t", 0, 10, &error));
	crew_until(a.records - before == 190, &a);
	ck_assert_int_eq(in_order_from(&a, before, 0, 10), 190);
	before = a.records;
	OK(rg_consumer_seek(a.consumer, "t", 0, 195, &error));
	crew_until(a.records - before == 5, &a);
	in_order_from(&a, before, 0, 195);
	before = a.records;
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_BEGINNING, &error));
	crew_until(a.records - before == 200, &a);
	in_order_from(&a, before, 0, 0);
	before = a.records;
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_TAIL(3), &error));
	crew_until(a.records - before == 3, &a);
	in_order_from(&a, before, 0, 197);
}
END_TEST

/* The last seek counts; the record in hand is not processed by it; and what is committed is where it went. */
START_TEST(a_seek_is_a_position)
{
	rg_error error = {0};
	rd_kafka_topic_partition_list_t *list;

	produce("t", 0, 20);
	crew_join(&a, "a", "t");
	crew_until(a.records == 20, &a);
	OK(rg_consumer_seek(a.consumer, "t", 0, 3, &error));
	OK(rg_consumer_seek(a.consumer, "t", 0, 7, &error));
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	crew_close(&a, RG_CLOSE_LEAVE);
	crew_join(&b, "b", "t");
	crew_until(b.records == 13, &b);
	in_order_from(&b, 0, 0, 7);
	list = list_of("t", 0);
	list->elems[0].offset = 5;
	OK(rg_consumer_commit(b.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* The same with the names for places: they are looked up, and count as positions although no record came. */
START_TEST(a_seek_to_a_place_is_a_position)
{
	static const struct {
		int64_t to, is;
	} places[] = {{RD_KAFKA_OFFSET_END, 20}, {RD_KAFKA_OFFSET_TAIL(3), 17}, {RD_KAFKA_OFFSET_TAIL(30), 0},
	              {RD_KAFKA_OFFSET_BEGINNING, 0}};
	rg_error error = {0};
	int64_t offset = -1;

	produce("t", 0, 20);
	crew_join(&a, "a", "t");
	crew_until(a.records == 20, &a);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		OK(rg_consumer_seek(a.consumer, "t", 0, places[i].to, &error));
		OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
		ck_assert_int_eq(offset, places[i].is);
	}
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	crew_close(&a, RG_CLOSE_LEAVE);
	crew_join(&b, "b", "t");
	crew_until(b.records == 20, &b);
	ck_assert_int_eq(in_order_from(&b, 0, 0, 0), 20);
	/* Found by the next poll, too. */
	OK(rg_consumer_seek(b.consumer, "t", 0, RD_KAFKA_OFFSET_TAIL(1), &error));
	crew_until(b.records == 21, &b);
	in_order_from(&b, 20, 0, 19);
}
END_TEST

static void begin_at_the_end(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	(void)actor;
	for (int i = 0; i < partitions->cnt; i++)
		partitions->elems[i].offset = RD_KAFKA_OFFSET_END;
}

START_TEST(a_place_that_the_listener_chose_is_a_position)
{
	rg_error error = {0};
	int64_t offset = -1;

	produce("t", 0, 20);
	crew_open(&a, "a", crew_conf(NULL));
	a.in_assigned = begin_at_the_end;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
	ck_assert_int_eq(offset, 20);
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	crew_close(&a, RG_CLOSE_LEAVE);
	produce("t", 0, 2);
	crew_join(&b, "b", "t");
	crew_until(b.records == 2, &b);
	in_order_from(&b, 0, 0, 20);
}
END_TEST

/* The error of a place that was left again says nothing about the next one. */
START_TEST(a_seek_out_of_a_wrong_place)
{
	rg_error error = {0};
	int64_t offset = -1, fetches, ends = now_ms() + WITHIN_MS;

	produce("t", 0, 20);
	crew_open(&a, "a", crew_conf("auto.offset.reset", "latest", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_seek(a.consumer, "t", 0, 1000, &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error)); /* it is being fetched */
	/* One Fetch may be on its way without the partition, the next has the error, and with the third that is here. */
	fetches = rg_testkit_request_count(kit, 1);
	while (rg_testkit_request_count(kit, 1) < fetches + 3 && now_ms() < ends)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	OK(rg_consumer_seek(a.consumer, "t", 0, 8, &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
	crew_until(a.records == 12, &a);
	ck_assert_int_eq(in_order_from(&a, 0, 0, 8), 12);
}
END_TEST

/* What is 1000 before the end is before the beginning, when that has moved: all there is, and not what auto.offset.reset says. */
START_TEST(a_tail_that_is_longer_than_the_log)
{
	enum { BYTES = 200000, COUNT = 60, LEAST = 10 };
	rg_error error = {0};
	char *prefix = malloc(BYTES + 1);
	int64_t beginning = -1, offset = -1;

	memset(prefix, 'x', BYTES);
	prefix[BYTES] = '\0';
	for (int i = 0; i < COUNT; i++) /* a batch each: the oldest go */
		OK(rg_testkit_produce(kit, "t", 0, prefix, i, 1, &error));
	free(prefix);
	crew_open(&a, "a", crew_conf("auto.offset.reset", "none", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_pause(a.consumer, NULL, &error));
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_BEGINNING, &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &beginning, WITHIN_MS, &error));
	ck_assert_int_gt(beginning, 0);
	ck_assert_int_lt(beginning, COUNT - LEAST);
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_TAIL(1000), &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
	ck_assert_int_eq(offset, beginning);
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_TAIL(LEAST), &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
	ck_assert_int_eq(offset, COUNT - LEAST);
}
END_TEST

static rg_error in_callback;

static void seek_and_pause(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	rg_consumer_seek(actor->consumer, "t", 0, 15, &in_callback);
	set_one(rg_consumer_pause, actor, "t", 1, &in_callback);
}

START_TEST(what_is_assigned_can_be_moved_and_paused_at_once)
{
	rg_error error = {0};

	in_callback = (rg_error){0};
	produce("t", 0, 20);
	produce("t", 1, 20);
	crew_open(&a, "a", crew_conf(NULL));
	a.in_assigned = seek_and_pause;
	crew_subscribe(&a, "t");
	crew_until(a.records == 5, &a);
	ck_assert_int_eq(in_callback.code, RG_OK);
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(in_order_from(&a, 0, 0, 15), 5);
	ck_assert_int_eq(a.records, 5);
	OK(set_one(rg_consumer_resume, &a, "t", 1, &error));
	crew_until(a.records == 25, &a);
	in_order_from(&a, 5, 1, 0);
}
END_TEST

/* --- Pause -------------------------------------------------------------------------------------------------------- */

/* facts of librdkafka 2.1 (#2190, #4686): nothing is lost, nothing comes twice, however often it is paused. */
START_TEST(pausing_loses_and_repeats_nothing)
{
	rg_error error = {0};
	int before;

	produce("t", 0, 300);
	produce("t", 1, 300);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	for (int i = 0; a.records < 400; i++) {
		set_paused *set = i & 1 ? rg_consumer_resume : rg_consumer_pause;

		OK(set_one(set, &a, "t", 0, &error));
		OK(set_one(rg_consumer_resume, &a, "t", 1, &error)); /* was never paused */
		crew_poll_for(3, (struct actor *[]){&a, NULL});
	}
	OK(rg_consumer_pause(a.consumer, NULL, &error));
	crew_turn((struct actor *[]){&a, NULL});
	before = a.records;
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, before);
	ck_assert_int_eq(count_of(&a, "revoked"), 0);
	OK(rg_consumer_resume(a.consumer, NULL, &error));
	crew_until(a.records == 600, &a);
	ck_assert_int_eq(in_order_from(&a, 0, 0, 0), 300);
	ck_assert_int_eq(in_order_from(&a, 0, 1, 0), 300);
}
END_TEST

/* A partition that began at the end and is paused before anything came goes on with what was written meanwhile. */
START_TEST(paused_at_the_end)
{
	rg_error error = {0};

	produce("t", 0, 10);
	crew_open(&a, "a", crew_conf("auto.offset.reset", "latest", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	crew_poll_for(300, (struct actor *[]){&a, NULL});
	OK(rg_consumer_pause(a.consumer, NULL, &error));
	produce("t", 0, 5);
	crew_poll_for(200, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, 0);
	OK(rg_consumer_resume(a.consumer, NULL, &error));
	crew_until(a.records == 5, &a);
	in_order_from(&a, 0, 0, 10);
}
END_TEST

/* scenarios E.100: kept partitions stay paused, revoked ones do not. */
START_TEST(a_pause_survives_a_rebalance_in_which_the_partition_is_kept)
{
	rg_error error = {0};
	int kept, before;

	produce("t", 0, 10);
	produce("t", 1, 10);
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 20, &a);
	OK(rg_consumer_pause(a.consumer, NULL, &error));
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&b, "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	kept = a.owns[0] ? 0 : 1;
	produce("t", kept, 10);
	before = a.records;
	crew_poll_for(200, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(a.records, before);
	crew_close(&b, RG_CLOSE_LEAVE);
	crew_until(a.owned == 2, &a);
	/* The other one has come back, and is not paused: nothing was committed, so it comes from the beginning. */
	crew_until(a.records == before + 10, &a);
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(in_order_from(&a, before, 1 - kept, 0), 10);
	ck_assert_int_eq(a.records, before + 10);
	OK(rg_consumer_resume(a.consumer, NULL, &error));
	crew_until(a.records == before + 20, &a);
	in_order_from(&a, before + 10, kept, 10);
}
END_TEST

/* --- Batches ------------------------------------------------------------------------------------------------------ */

static int take_batch(struct actor *actor, size_t count, int timeout_ms, rg_error *error)
{
	static rd_kafka_message_t *messages[1000];
	size_t got = rg_consumer_poll_batch(actor->consumer, messages, count, timeout_ms, error);

	ck_assert_uint_le(got, count);
	for (size_t i = 0; i < got; i++) {
		ck_assert_int_eq(messages[i]->err, RD_KAFKA_RESP_ERR_NO_ERROR);
		actor->violations += !actor->owns[messages[i]->partition];
		actor->record_partitions[actor->records] = messages[i]->partition;
		actor->record_offsets[actor->records++] = messages[i]->offset;
		rd_kafka_message_destroy(messages[i]);
	}
	return (int)got;
}

START_TEST(batches_are_records_in_order)
{
	rg_error error = {0};
	int biggest = 0;

	produce("t", 0, 1000);
	produce("t", 1, 1000);
	crew_join(&a, "a", "t");
	for (int64_t ends = now_ms() + WITHIN_MS; a.records < 2000;) {
		int got = take_batch(&a, 300, 10, &error);

		ck_assert_int_eq(error.code, RG_OK);
		ck_assert_int_lt(now_ms(), ends);
		biggest = got > biggest ? got : biggest;
	}
	ck_assert_int_gt(biggest, 100);
	ck_assert_int_eq(in_order_from(&a, 0, 0, 0), 1000);
	ck_assert_int_eq(in_order_from(&a, 0, 1, 0), 1000);
	ck_assert_int_eq(a.violations, 0);
	/* All of them are processed when the application is back. */
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	crew_close(&a, RG_CLOSE_LEAVE);
	produce("t", 0, 1);
	crew_join(&b, "b", "t");
	crew_until(b.records == 1, &b);
	ck_assert_int_eq(b.record_offsets[0], 1000);
}
END_TEST

/* Promise 2; bugs librdkafka 23, 24: a rebalance while whole batches are waiting. */
START_TEST(no_batch_has_records_of_what_was_revoked)
{
	rg_error error = {0};

	produce("t", 0, 1500);
	produce("t", 1, 1500);
	crew_join(&a, "a", "t");
	crew_until(a.records >= 10, &a);
	crew_join(&b, "b", "t");
	for (int64_t ends = now_ms() + WITHIN_MS; a.owned != 1 || b.owned != 1;) {
		take_batch(&a, 3, 5, &error);
		take_batch(&b, 3, 5, &error);
		ck_assert_int_lt(now_ms(), ends);
	}
	for (int i = 0; i < 50; i++)
		take_batch(&a, 3, 1, &error);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

START_TEST(batches_that_cannot_be)
{
	rd_kafka_message_t *message;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, &message, 0, 0, &error), 0);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, NULL, 1, 0, &error), 0);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, &message, RG_BATCH_MAX + 1, 0, &error), 0);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
}
END_TEST

/* --- Waking up ---------------------------------------------------------------------------------------------------- */

static void *wake_later(void *arg)
{
	struct actor *actor = arg;

	nanosleep(&(struct timespec){0, 50 * 1000000L}, NULL);
	rg_consumer_wakeup(actor->consumer);
	return NULL;
}

START_TEST(poll_can_be_woken_up)
{
	rg_error error = {0};
	pthread_t thread;
	int64_t began;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	for (int i = 0; i < 3; i++) {
		began = now_ms();
		ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, &a), 0);
		ck_assert_ptr_null(rg_consumer_poll(a.consumer, -1, &error)); /* without end */
		ck_assert_int_eq(error.code, RG_OK);
		ck_assert_int_ge(now_ms() - began, 45);
		ck_assert_int_lt(now_ms() - began, 5000);
		pthread_join(thread, NULL);
	}
	/* Twice before the poll is once. */
	rg_consumer_wakeup(a.consumer);
	rg_consumer_wakeup(a.consumer);
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, -1, &error));
	began = now_ms();
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, 100, &error));
	ck_assert_int_ge(now_ms() - began, 95);
}
END_TEST

START_TEST(a_commit_can_be_woken_up)
{
	rg_error error = {0};
	rd_kafka_topic_partition_list_t *list = list_of("t", 0);
	pthread_t thread;
	int64_t began;
	int hold;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	list->elems[0].offset = 1;
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	began = now_ms();
	ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, &a), 0);
	ck_assert_int_eq(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error), RG_ERR_WOKEN);
	ck_assert_int_lt(now_ms() - began, 5000);
	ck_assert_int_eq(list->elems[0].err, RD_KAFKA_RESP_ERR__INTR);
	pthread_join(thread, NULL);
	OK(rg_testkit_release(kit, hold, &error));
	OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
	ck_assert_int_eq(list->elems[0].err, RD_KAFKA_RESP_ERR_NO_ERROR);
	rg_consumer_wakeup(a.consumer);
	ck_assert_int_eq(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error), RG_ERR_WOKEN);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

static void *wake(void *arg)
{
	rg_consumer_wakeup(arg);
	return NULL;
}

/* While the commit is being handed over: the application is not waiting for its answer yet. */
static void wake_at_commit(void *user, const char *json)
{
	struct actor *actor = user;
	pthread_t thread;

	if (!strstr(json, "\"event\":\"commit_sent\"") || pthread_create(&thread, NULL, wake, actor->consumer))
		return;
	pthread_join(thread, NULL);
}

START_TEST(a_commit_is_woken_up_however_early)
{
	rd_kafka_topic_partition_list_t *list = list_of("t", 0);
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0};
	int64_t began;
	int hold;

	memset(&a, 0, sizeof(a));
	a.name = "a";
	rg_conf_set_events(conf, wake_at_commit, &a);
	OK(rg_consumer_new(&a.consumer, conf, &error));
	rg_conf_free(conf);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	list->elems[0].offset = 1;
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error), RG_ERR_WOKEN);
	ck_assert_int_lt(now_ms() - began, 5000);
	OK(rg_testkit_release(kit, hold, &error));
	rd_kafka_topic_partition_list_destroy(list);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	rg_consumer_free(a.consumer);
}
END_TEST

/* --- Rebalances --------------------------------------------------------------------------------------------------- */

/* KIP-568 */
START_TEST(a_rebalance_can_be_asked_for)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf(NULL));
	ck_assert_int_eq(rg_consumer_rejoin(a.consumer, "too early", &error), RG_ERR_STATE);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_rejoin(a.consumer, "because I say so", &error));
	crew_until(count_of(&a, "complete") == 2 && a.owned == 2, &a);
	OK(rg_testkit_wait(kit, "*\"join_received\"*\"reason\":\"because I say so\"*", WITHIN_MS, &error));
	crew_poll_for(200, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, prepare, revoked t:0,1, complete, assigned t:0,1");
}
END_TEST

/* A long-running handler learns that the others are waiting. */
START_TEST(a_pending_rebalance_can_be_seen)
{
	int64_t ends = now_ms() + WITHIN_MS;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(rg_consumer_rebalance_pending(a.consumer), 0);
	crew_join(&b, "b", "t");
	while (!rg_consumer_rebalance_pending(a.consumer)) { /* without polling a */
		ck_assert_int_lt(now_ms(), ends);
		crew_turn((struct actor *[]){&b, NULL});
	}
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	crew_until(!rg_consumer_rebalance_pending(a.consumer) && !rg_consumer_rebalance_pending(b.consumer), &a, &b);
}
END_TEST

/* bugs librdkafka 20, 49, 50; KIP-62: it leaves, loses once, comes back with the next poll, and has not failed. */
START_TEST(an_application_that_is_away_too_long_comes_back)
{
	crew_open(&a, "a", crew_conf("max.poll.interval.ms", "300", NULL));
	crew_subscribe(&a, "t");
	crew_join(&b, "b", "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	crew_until(b.owned == 2, &b); /* only because a is away */
	ck_assert_int_eq(rg_consumer_rebalance_pending(a.consumer), 1);
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	ck_assert_int_eq(count_of(&a, "lost(MAX_POLL)"), 1);
	ck_assert_str_eq(a.errors, "MAX_POLL");
	ck_assert_int_eq(rg_consumer_failed(a.consumer), 0);
	ck_assert(alternates(&a));
}
END_TEST

/* --- Wrong calls -------------------------------------------------------------------------------------------------- */

static rg_err when_revoked[3];

static void misuse(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	rg_error error;
	rd_kafka_message_t *message;

	when_revoked[0] = rg_consumer_seek(actor->consumer, "t", 0, 1, NULL);
	when_revoked[1] = rg_consumer_pause(actor->consumer, partitions, NULL);
	rg_consumer_poll_batch(actor->consumer, &message, 1, 0, &error);
	when_revoked[2] = error.code;
}

START_TEST(wrong_calls_say_so_and_change_nothing)
{
	rg_error error = {0};
	rd_kafka_topic_partition_list_t *both = list_of("t", 0);

	produce("t", 0, 5);
	crew_join(&a, "a", "t");
	a.in_revoked = misuse;
	crew_until(a.records == 5, &a);
	ck_assert_int_eq(rg_consumer_seek(a.consumer, "u", 0, 1, &error), RG_ERR_NOT_OWNED);
	ck_assert_str_eq(error.text, "rg_consumer_seek: u [0] is not owned by this consumer");
	ck_assert_int_eq(rg_consumer_seek(a.consumer, NULL, 0, 1, &error), RG_ERR_NOT_OWNED);
	ck_assert_int_eq(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_STORED, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_INVALID, &error), RG_ERR_INVALID);
	/* One of two: neither is paused. */
	rd_kafka_topic_partition_list_add(both, "t", 7);
	ck_assert_int_eq(rg_consumer_pause(a.consumer, both, &error), RG_ERR_NOT_OWNED);
	rd_kafka_topic_partition_list_destroy(both);
	produce("t", 0, 5);
	crew_until(a.records == 10, &a);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert_int_eq(when_revoked[0], RG_ERR_NOT_OWNED);
	ck_assert_int_eq(when_revoked[1], RG_ERR_NOT_OWNED);
	ck_assert_int_eq(when_revoked[2], RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_seek(a.consumer, "t", 0, 1, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_pause(a.consumer, NULL, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_resume(a.consumer, NULL, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_rejoin(a.consumer, NULL, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_rebalance_pending(a.consumer), 0);
	rg_consumer_wakeup(a.consumer); /* harmless until it is freed */
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, seeking_back_and_forth);
	tcase_add_test(tcase, a_seek_is_a_position);
	tcase_add_test(tcase, a_seek_to_a_place_is_a_position);
	tcase_add_test(tcase, a_place_that_the_listener_chose_is_a_position);
	tcase_add_test(tcase, a_seek_out_of_a_wrong_place);
	tcase_add_test(tcase, a_tail_that_is_longer_than_the_log);
	tcase_add_test(tcase, what_is_assigned_can_be_moved_and_paused_at_once);
	tcase_add_test(tcase, pausing_loses_and_repeats_nothing);
	tcase_add_test(tcase, paused_at_the_end);
	tcase_add_test(tcase, a_pause_survives_a_rebalance_in_which_the_partition_is_kept);
	tcase_add_test(tcase, batches_are_records_in_order);
	tcase_add_test(tcase, no_batch_has_records_of_what_was_revoked);
	tcase_add_test(tcase, batches_that_cannot_be);
	tcase_add_test(tcase, poll_can_be_woken_up);
	tcase_add_test(tcase, a_commit_can_be_woken_up);
	tcase_add_test(tcase, a_commit_is_woken_up_however_early);
	tcase_add_test(tcase, a_rebalance_can_be_asked_for);
	tcase_add_test(tcase, a_pending_rebalance_can_be_seen);
	tcase_add_test(tcase, an_application_that_is_away_too_long_comes_back);
	tcase_add_test(tcase, wrong_calls_say_so_and_change_nothing);
}

int main(void)
{
	return run_suite("consumer_control", fill, start, crew_end);
}
