/* SPDX-License-Identifier: Apache-2.0 */
/* Commits that nobody waits for. */
#include "crew.h"
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct actor a, b;
static char told[4096]; /* what the callbacks were told: "1:0 2:0 3:27", the offset of the first entry and the error */
static int nested;      /* callbacks that were called inside another */
static bool in_told;

static void start(void)
{
	told[0] = '\0';
	nested = 0;
	in_told = false;
	crew_cluster("t:2,u:1", 2);
}

static rd_kafka_topic_partition_list_t *one(const char *topic, int partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
	return list;
}

static void done(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets, void *user)
{
	size_t len = strlen(told);

	ck_assert_ptr_eq(consumer, ((struct actor *)user)->consumer);
	nested += in_told;
	ck_assert(error->code || offsets->cnt == 0 || offsets->elems[0].err == RD_KAFKA_RESP_ERR_NO_ERROR);
	snprintf(told + len, sizeof(told) - len, "%s%d:%d", len ? " " : "", offsets->cnt ? (int)offsets->elems[0].offset : -1,
	         error->code);
}

static rg_err commit_async(struct actor *actor, int partition, int64_t offset, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = one("t", partition, offset);
	rg_err err = rg_consumer_commit_async(actor->consumer, list, done, actor, error);

	rd_kafka_topic_partition_list_destroy(list); /* it was copied */
	return err;
}

static void join(void)
{
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
}

/* Where the next member of the group begins. */
static int64_t next_begins_at(int partition)
{
	int64_t least = -1;

	crew_join(&b, "b", "t");
	crew_until(b.owned == 2, &b);
	produce("t", partition, 1);
	crew_until(b.records > 0, &b);
	for (int i = 0; i < b.records; i++)
		if (b.record_partitions[i] == partition && (least < 0 || b.record_offsets[i] < least))
			least = b.record_offsets[i];
	return least;
}

/* bugs 55; scenarios F.113: in order, although the first one has to be repeated. */
START_TEST(commits_do_not_overtake_each_other)
{
	rg_error error = {0};

	produce("t", 0, 10);
	join();
	OK(rg_testkit_fail_request(kit, 8, 1, 14, &error));
	OK(rg_testkit_drop_request(kit, 8, 2, false, &error));
	for (int i = 1; i <= 5; i++)
		OK(commit_async(&a, 0, i, &error));
	ck_assert_str_eq(told, ""); /* never inside the call itself */
	crew_until(strstr(told, "5:0"), &a);
	ck_assert_str_eq(told, "1:0 2:0 3:0 4:0 5:0");
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert_int_eq(next_begins_at(0), 5);
}
END_TEST

/* scenarios F.113: a commit that waits comes after those that do not, and returns after their callbacks. */
START_TEST(a_commit_that_waits_comes_after_the_others)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 9), *none = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};

	join();
	for (int i = 1; i <= 3; i++)
		OK(commit_async(&a, 0, i, &error));
	OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
	ck_assert_str_eq(told, "1:0 2:0 3:0");
	/* With nothing to commit it waits for the others. */
	OK(commit_async(&a, 1, 4, &error));
	OK(rg_consumer_commit(a.consumer, none, WITHIN_MS, &error));
	ck_assert_str_eq(told, "1:0 2:0 3:0 4:0");
	rd_kafka_topic_partition_list_destroy(none);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

START_TEST(waiting_for_the_others_is_bounded)
{
	rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	int64_t began;
	int hold;

	join();
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	OK(commit_async(&a, 0, 1, &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_commit(a.consumer, none, 100, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_ge(now_ms() - began, 95);
	ck_assert_int_lt(now_ms() - began, 5000);
	ck_assert_str_eq(told, "");
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(told[0], &a);
	ck_assert_str_eq(told, "1:0");
	rd_kafka_topic_partition_list_destroy(none);
}
END_TEST

/* Nobody waits for it, and yet it has its time and no more; the connection, which has the heartbeats on it, stays. */
START_TEST(one_without_an_answer_ends_when_its_time_is_up)
{
	rg_error error = {0};
	int64_t began;
	int hold;

	crew_open(&a, "a", crew_conf("default.api.timeout.ms", "300", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	began = now_ms();
	OK(commit_async(&a, 0, 1, &error));
	crew_until(told[0], &a);
	ck_assert_int_ge(now_ms() - began, 295);
	ck_assert_int_lt(now_ms() - began, 5000);
	ck_assert_int_eq(atoi(told + strlen("1:")), RG_ERR_TIMED_OUT);
	OK(rg_testkit_release(kit, hold, &error));
	OK(commit_async(&a, 0, 2, &error));
	crew_until(strstr(told, "2:0"), &a);
	ck_assert_int_eq(atomic_load(&a.coordinators), 1);
}
END_TEST

/* What was returned and processed, without a list; with nothing processed there is nothing to send, and the callback
 * comes all the same, in its turn. */
START_TEST(positions_are_committed)
{
	rg_error error = {0};
	int64_t before;

	join();
	before = rg_testkit_request_count(kit, 8);
	OK(rg_consumer_commit_async(a.consumer, NULL, done, &a, &error));
	crew_until(told[0], &a);
	ck_assert_str_eq(told, "-1:0");
	ck_assert_int_eq(rg_testkit_request_count(kit, 8), before);
	produce("t", 1, 7);
	crew_until(a.records == 7, &a);
	OK(rg_consumer_commit_async(a.consumer, NULL, done, &a, &error));
	crew_until(strchr(told, ' '), &a);
	ck_assert_str_eq(told, "-1:0 7:0");
	OK(rg_consumer_commit_async(a.consumer, NULL, NULL, NULL, &error)); /* nobody wants to know */
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert_int_eq(next_begins_at(1), 7);
}
END_TEST

static int last_errs[2];

static void keep_errs(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                      void *user)
{
	(void)consumer, (void)user;
	for (int i = 0; i < offsets->cnt; i++)
		last_errs[i] = offsets->elems[i].err;
	ck_assert_int_eq(error->code, 12);
	told[0] = '!';
	told[1] = '\0';
}

START_TEST(each_partition_has_its_result)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 1);
	rg_error error = {0};

	rd_kafka_topic_partition_list_add(list, "t", 1)->offset = 1;
	join();
	OK(rg_testkit_fail_request(kit, 8, 1, 12, &error));
	OK(rg_consumer_commit_async(a.consumer, list, keep_errs, &a, &error));
	rd_kafka_topic_partition_list_destroy(list);
	crew_until(told[0], &a);
	ck_assert_int_eq(last_errs[0], 12);
	ck_assert_int_eq(last_errs[1], 12);
}
END_TEST

/* --- Callbacks that commit ---------------------------------------------------------------------------------------- */

static int chain;

static void commit_again(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                         void *user)
{
	rd_kafka_topic_partition_list_t *next;
	rg_error inner;

	ck_assert_int_eq(error->code, RG_OK);
	nested += in_told;
	in_told = true;
	ck_assert_ptr_null(rg_consumer_poll(consumer, 0, &inner));
	ck_assert_int_eq(inner.code, RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_close(consumer, RG_CLOSE_LEAVE, 0, NULL), RG_ERR_STATE);
	if (++chain < 20) {
		next = one("t", 0, offsets->elems[0].offset + 1);
		ck_assert_int_eq(rg_consumer_commit_async(consumer, next, commit_again, user, NULL), RG_OK);
		ck_assert_int_eq(rg_consumer_commit(consumer, next, WITHIN_MS, NULL), RG_OK); /* behind it */
		rd_kafka_topic_partition_list_destroy(next);
	}
	in_told = false;
}

/* KAFKA-6366: callbacks that commit do not run inside each other. */
START_TEST(callbacks_may_commit)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 1);
	rg_error error = {0};

	chain = 0;
	join();
	OK(rg_consumer_commit_async(a.consumer, list, commit_again, &a, &error));
	rd_kafka_topic_partition_list_destroy(list);
	crew_until(chain == 20, &a);
	ck_assert_int_eq(nested, 0);
}
END_TEST

static int ended, failed;

static void count_end(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                      void *user)
{
	(void)consumer, (void)offsets, (void)user;
	ended++;
	failed += error->code != RG_OK;
}

/* KAFKA-6366: as many as there may be, which all fail at once because the membership is lost. */
START_TEST(many_commits_end_together)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 1);
	rg_error error = {0};
	int hold, count = 0;

	ended = failed = 0;
	join();
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	OK(rg_testkit_fail_request(kit, 8, 2, 25, &error));
	while (!rg_consumer_commit_async(a.consumer, list, count_end, &a, &error))
		count++;
	ck_assert_int_eq(error.code, RG_ERR_STATE);
	ck_assert_int_eq(count, 10000);
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(ended == count && seen(&a, "lost"), &a);
	ck_assert_int_ge(failed, count - 2); /* all but what was out before the one that failed */
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* --- The end ------------------------------------------------------------------------------------------------------ */

static void commit_when_revoked(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	ck_assert_int_eq(commit_async(actor, 0, 6, NULL), RG_OK);
}

START_TEST(closing_waits_for_them)
{
	rg_error error = {0};

	produce("t", 0, 10);
	join();
	a.in_revoked = commit_when_revoked;
	OK(rg_testkit_fail_request(kit, 8, 1, 14, &error)); /* one repetition */
	OK(commit_async(&a, 0, 5, &error));
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert_str_eq(told, "5:0 6:0");
	ck_assert_int_eq(next_begins_at(0), 6);
}
END_TEST

/* bugs 57, 53: bounded, and every callback comes. */
START_TEST(closing_does_not_wait_for_ever)
{
	rg_error error = {0};
	char wanted[64];
	int64_t began;
	int hold;

	join();
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	OK(commit_async(&a, 0, 1, &error));
	OK(commit_async(&a, 0, 2, &error));
	began = now_ms();
	rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 400, &error);
	ck_assert_int_lt(now_ms() - began, 3000);
	snprintf(wanted, sizeof(wanted), "1:%d 2:%d", RG_ERR_TIMED_OUT, RG_ERR_TIMED_OUT);
	ck_assert_str_eq(told, wanted);
	OK(rg_testkit_release(kit, hold, &error));
}
END_TEST

static void commit_in_callback(rg_consumer *consumer, const rg_error *result, rd_kafka_topic_partition_list_t *offsets,
                               void *user)
{
	rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};

	(void)result;
	(void)offsets;
	(void)user;
	OK(rg_consumer_commit(consumer, none, 100, &error));
	rd_kafka_topic_partition_list_destroy(none);
}

static void *wake_later(void *arg)
{
	struct actor *actor = arg;

	nanosleep(&(struct timespec){0, 300 * 1000000L}, NULL);
	rg_consumer_wakeup(actor->consumer);
	return NULL;
}

/* Who waits for the commits under way can be woken up, also after a callback of theirs has made a commit itself. */
START_TEST(waiting_for_the_others_can_be_woken_up)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0, 1), *none = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	pthread_t thread;
	int64_t began;
	int hold;

	join();
	OK(rg_testkit_hold_request(kit, 8, 2, false, &hold, &error));
	OK(rg_consumer_commit_async(a.consumer, list, commit_in_callback, NULL, &error));
	OK(commit_async(&a, 0, 2, &error));
	began = now_ms();
	ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, &a), 0);
	ck_assert_int_eq(rg_consumer_commit(a.consumer, none, WITHIN_MS, &error), RG_ERR_WOKEN);
	ck_assert_int_lt(now_ms() - began, 5000);
	pthread_join(thread, NULL);
	OK(rg_testkit_release(kit, hold, &error));
	rd_kafka_topic_partition_list_destroy(none);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* --- In a rebalance ----------------------------------------------------------------------------------------------- */

static void join_cooperatively(struct actor *actor, const char *name)
{
	crew_open(actor, name,
	          crew_conf("partition.assignment.strategy", "cooperative-sticky", "request.timeout.ms", "300", NULL));
	crew_subscribe(actor, "t");
}

/* broker: what comes behind a JoinGroup that waits for the others is not read. Its silence is no reason to end the connection,
 * and the JoinGroup with it. */
START_TEST(a_commit_behind_a_join_does_not_cost_the_connection)
{
	static struct actor *const both[] = {&a, &b, NULL}, *const alone[] = {&a, NULL};
	rg_error error = {0};
	int64_t joins;

	join_cooperatively(&a, "a");
	join_cooperatively(&b, "b");
	crew_until(a.owned == 1 && b.owned == 1 && !rg_consumer_rebalance_pending(a.consumer), &a, &b);
	joins = rg_testkit_request_count(kit, 11);
	OK(rg_consumer_rejoin(a.consumer, "test", &error));
	crew_until(rg_testkit_request_count(kit, 11) == joins + 1, &a);
	OK(commit_async(&a, a.owns[1], 1, &error));
	crew_poll_for(1500, alone); /* b takes its time */
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), joins + 1);
	crew_until(told[0], &a, &b);
	crew_poll_for(100, both);
	/* It came too late for its generation, but nobody was thrown out. */
	ck_assert_str_eq(told, "1:27");
	ck_assert(!seen(&a, "lost"));
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), joins + 2);
	ck_assert_int_eq(atomic_load(&a.own_warnings), 0);
}
END_TEST

static void sleep_once(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets, void *user)
{
	(void)consumer;
	(void)offsets;
	(void)user;
	ck_assert_int_eq(error->code, RG_OK);
	nanosleep(&(struct timespec){1, 0}, NULL);
}

/* KIP-62: who does not come back from a callback is away from poll. */
START_TEST(a_callback_that_takes_too_long_costs_the_seat)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("max.poll.interval.ms", "300", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_commit_async(a.consumer, NULL, sleep_once, NULL, &error));
	crew_until(seen(&a, "lost(MAX_POLL)") && a.owned == 2, &a);
	ck_assert_str_eq(a.errors, "MAX_POLL");
	ck_assert_int_eq(count_of(&a, "lost"), 1);
}
END_TEST

/* What belonged to a generation that is over is not sent in the next one. */
START_TEST(commits_of_a_lost_generation_fail)
{
	rg_error error = {0};
	char wanted[64];

	join();
	OK(rg_testkit_fail_request(kit, 8, 1, 25, &error));
	OK(commit_async(&a, 0, 1, &error));
	OK(commit_async(&a, 0, 2, &error));
	crew_until(strchr(told, ' ') && a.owned == 2, &a);
	snprintf(wanted, sizeof(wanted), "1:25 2:%d", RG_ERR_LOST);
	ck_assert_str_eq(told, wanted);
	ck_assert(seen(&a, "lost(UNKNOWN_MEMBER)"));
}
END_TEST

START_TEST(wrong_calls)
{
	rd_kafka_topic_partition_list_t *list = one("u", 0, 1);
	rg_error error = {0};

	crew_open(&a, "a", crew_conf(NULL));
	ck_assert_int_eq(rg_consumer_commit_async(a.consumer, NULL, done, &a, &error), RG_ERR_STATE);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(rg_consumer_commit_async(a.consumer, list, done, &a, &error), RG_ERR_NOT_OWNED);
	ck_assert_str_eq(error.text, "commit: u [0] is not owned by this consumer");
	ck_assert_int_eq(commit_async(&a, 0, -5, &error), RG_ERR_INVALID);
	rd_kafka_topic_partition_list_destroy(list);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert_int_eq(commit_async(&a, 0, 1, &error), RG_ERR_CLOSED);
	ck_assert_str_eq(told, ""); /* refused ones have no callback */
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, commits_do_not_overtake_each_other);
	tcase_add_test(tcase, a_commit_that_waits_comes_after_the_others);
	tcase_add_test(tcase, waiting_for_the_others_is_bounded);
	tcase_add_test(tcase, one_without_an_answer_ends_when_its_time_is_up);
	tcase_add_test(tcase, positions_are_committed);
	tcase_add_test(tcase, each_partition_has_its_result);
	tcase_add_test(tcase, callbacks_may_commit);
	tcase_add_test(tcase, many_commits_end_together);
	tcase_add_test(tcase, closing_waits_for_them);
	tcase_add_test(tcase, closing_does_not_wait_for_ever);
	tcase_add_test(tcase, waiting_for_the_others_can_be_woken_up);
	tcase_add_test(tcase, a_commit_behind_a_join_does_not_cost_the_connection);
	tcase_add_test(tcase, a_callback_that_takes_too_long_costs_the_seat);
	tcase_add_test(tcase, commits_of_a_lost_generation_fail);
	tcase_add_test(tcase, wrong_calls);
}

int main(void)
{
	return run_suite("consumer_async", fill, start, crew_end);
}
