/* SPDX-License-Identifier: Apache-2.0 */
/* Closing: in every state, within its time, and with nothing left behind. */
#include "crew.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:4", 1);
}

/* Closes within `ms`. */
static rg_err close_in(struct actor *actor, int how, int ms)
{
	int64_t began = now_ms();
	rg_error error = {0};
	rg_err err = rg_consumer_close(actor->consumer, how, ms, &error);

	ck_assert_msg(now_ms() - began <= ms + BUSY_MS, "closing took %d ms instead of %d", (int)(now_ms() - began), ms);
	return err;
}

/* The handle of librdkafka must end, too (bugs librdkafka 63). */
static void free_now(struct actor *actor)
{
	int64_t began = now_ms();

	rg_consumer_free(actor->consumer);
	actor->consumer = NULL;
	ck_assert_int_le(now_ms() - began, 2000);
}

START_TEST(never_subscribed)
{
	rg_error error;

	crew_open(&a, "a", crew_conf(NULL));
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 1000), RG_OK);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 1000), RG_OK); /* again */
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &error));
	ck_assert_int_eq(error.code, RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_commit(a.consumer, NULL, 0, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_subscribe(a.consumer, (const char *[]){"t"}, 1, NULL, NULL, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_unsubscribe(a.consumer, 0, &error), RG_ERR_CLOSED);
	free_now(&a);
}
END_TEST

/* One that breaks while librdkafka's handle ends may end the process. */
START_TEST(no_connection_is_left_to_fetch)
{
	const struct rd_kafka_metadata *metadata;

	crew_open(&a, "a", crew_conf(NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(rd_kafka_metadata(rg_consumer_handle(a.consumer), 1, NULL, &metadata, WITHIN_MS), 0);
	rd_kafka_metadata_destroy(metadata);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 1000), RG_OK);
	ck_assert_int_ne(rd_kafka_metadata(rg_consumer_handle(a.consumer), 1, NULL, &metadata, 300), 0);
	free_now(&a);
}
END_TEST

/* scenarios D.68; bugs librdkafka 58: the successor does not wait for the session to end. */
START_TEST(the_seat_is_free_at_once)
{
	int64_t began;

	crew_open(&a, "a", crew_conf("session.timeout.ms", "30000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	crew_close(&a, RG_CLOSE_LEAVE);
	began = now_ms();
	crew_join(&b, "b", "t");
	crew_until(b.owned == 4, &b);
	ck_assert_int_le(now_ms() - began, 5000);
}
END_TEST

/* scenarios D.69, D.70, D.71; KIP-345, KIP-1092 */
START_TEST(who_leaves_and_who_stays)
{
	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	/* Ways that do not exist are refused, and change nothing. */
	ck_assert_int_eq(rg_consumer_close(a.consumer, -1, 5000, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_close(a.consumer, 99, 5000, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_DEFAULT, 5000), RG_OK);
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 0);
	free_now(&a);
	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 5000), RG_OK);
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 1);
	free_now(&a);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_REMAIN, 5000), RG_OK);
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 1);
	free_now(&a);
}
END_TEST

/* Where nothing is to be sent, no time is needed, and none can run out. */
START_TEST(who_says_nothing_needs_no_time)
{
	rg_error error = {0};

	for (int i = 0; i < 20; i++) {
		bool is_static = i % 2;

		crew_open(&a, "a", crew_conf("group.id", is_static ? "static" : "dynamic", is_static ? "group.instance.id" : NULL, "one", NULL));
		crew_subscribe(&a, "t");
		if (!is_static || !i)
			crew_poll_for(10, (struct actor *[]){&a, NULL});
		else
			crew_until(a.owned == 4, &a);
		OK(rg_consumer_close(a.consumer, is_static ? RG_CLOSE_DEFAULT : RG_CLOSE_REMAIN, 0, &error));
		free_now(&a);
	}
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 0);
}
END_TEST

/* bugs librdkafka 64: before the first assignment, at each step on the way. */
START_TEST(on_the_way_into_the_group)
{
	static const int apis[] = {10, 11, 14, 3};

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		rg_error error = {0};
		int hold;

		OK(rg_testkit_hold_request(kit, apis[i], 1, false, &hold, &error));
		crew_open(&a, "a", crew_conf("group.id", (const char *[]){"g10", "g11", "g14", "g3"}[i], NULL));
		crew_subscribe(&a, "t");
		while (rg_testkit_wait_held(kit, hold, 5, NULL))
			crew_turn((struct actor *[]){&a, NULL});
		close_in(&a, RG_CLOSE_LEAVE, 500);
		ck_assert_int_eq(a.owned, 0);
		free_now(&a);
		OK(rg_testkit_release(kit, hold, &error));
	}
}
END_TEST

/* scenarios D.73; bugs 57, 64; librdkafka 59, 60: all brokers are gone. */
START_TEST(with_all_brokers_gone)
{
	rg_error error = {0};

	produce("t", -1, 10);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 10, &a);
	OK(rg_testkit_stop_broker(kit, 1, &error));
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 600), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(a.owned, 0);
	ck_assert(seen(&a, "revoked t:0,1,2,3") || seen(&a, "lost"));
	ck_assert(seen(&a, "lost") ||
	          warned(&a, "COMMIT: not all was committed at the end: commit: no success in time, at last 127.0.0.1:") ||
	          warned(&a, "COMMIT: not all was committed at the end: commit: no coordinator was found in time"));
	free_now(&a);
}
END_TEST

/* Nobody can be told that the seat is free: whoever wanted that hears so, at once. */
START_TEST(with_nobody_to_tell)
{
	static const struct {
		const char *name, *value;
		int how;
		rg_err err;
	} ways[] = {
		{NULL, NULL, RG_CLOSE_DEFAULT, RG_ERR_TIMED_OUT},
		{"group.instance.id", "one", RG_CLOSE_LEAVE, RG_ERR_TIMED_OUT},
		{"group.instance.id", "one", RG_CLOSE_DEFAULT, RG_OK},
		{NULL, NULL, RG_CLOSE_REMAIN, RG_OK},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		rg_error error = {0};
		int64_t began;

		crew_open(&a, "a", crew_conf("group.id", (const char *[]){"g1", "g2", "g3", "g4"}[i], "session.timeout.ms", "30000",
		                             ways[i].name, ways[i].value, NULL));
		crew_subscribe(&a, "t");
		crew_until(a.owned == 4, &a);
		OK(rg_testkit_stop_broker(kit, 1, &error));
		crew_poll_for(300, (struct actor *[]){&a, NULL}); /* its connection breaks */
		began = now_ms();
		ck_assert_int_eq(rg_consumer_close(a.consumer, ways[i].how, 5000, &error), ways[i].err);
		ck_assert_int_lt(now_ms() - began, 2000);
		if (ways[i].err)
			ck_assert_str_eq(error.text, "closed, but the session timeout has to end the membership: "
			                             "LeaveGroup was not sent: the coordinator is not known");
		free_now(&a);
		OK(rg_testkit_start_broker(kit, 1, &error));
	}
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 0);
}
END_TEST

/* The coordinator takes everything and answers nothing. */
START_TEST(with_a_silent_coordinator)
{
	static const int apis[] = {8, 13};

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		rg_error error = {0};
		int hold;

		produce("t", 0, 1);
		crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "group.id", i ? "h" : "g", NULL));
		crew_subscribe(&a, "t");
		crew_until(a.records >= 1, &a);
		OK(rg_testkit_hold_request(kit, apis[i], 1, false, &hold, &error));
		ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 400), RG_ERR_TIMED_OUT);
		ck_assert_int_eq(a.owned, 0);
		free_now(&a);
		OK(rg_testkit_release(kit, hold, &error));
	}
}
END_TEST

START_TEST(with_no_time_at_all)
{
	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	close_in(&a, RG_CLOSE_LEAVE, 0);
	ck_assert_int_eq(a.owned, 0);
	free_now(&a);
}
END_TEST

/* scenarios D.78: in the middle of a rebalance, while JoinGroup is out; what is kept can be given back. */
START_TEST(in_the_middle_of_a_rebalance)
{
	rg_error error = {0};
	int hold;

	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_hold_request(kit, 11, 1, false, &hold, &error));
	crew_subscribe(&a, "t,u");
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	close_in(&a, RG_CLOSE_LEAVE, 500);
	ck_assert(seen(&a, "revoked t:0,1,2,3"));
	free_now(&a);
	OK(rg_testkit_release(kit, hold, &error));
}
END_TEST

/* A record that is not freed would hold librdkafka's end up for ever. */
START_TEST(a_record_that_was_not_freed)
{
	rd_kafka_message_t *message;
	int64_t began, ends = now_ms() + WITHIN_MS;
	rg_error error;
	int threads;

	produce("t", 0, 1);
	threads = rd_kafka_thread_cnt(); /* the cluster's own */
	crew_join(&a, "a", "t");
	while (!(message = rg_consumer_poll(a.consumer, 5, &error)))
		ck_assert_int_lt(now_ms(), ends);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 1000), RG_OK);
	began = now_ms();
	rg_consumer_free(a.consumer);
	a.consumer = NULL;
	ck_assert_int_le(now_ms() - began, 8000);
	ck_assert(warned_exactly(&a,
	                         "CLOSE: librdkafka's handle does not end and is left behind: a record that poll returned was "
	                         "not freed, or it is busy"));
	threads = rd_kafka_thread_cnt();
	/* Now it can, and the thread that waits for it ends by itself. */
	rd_kafka_message_destroy(message);
	for (ends = now_ms() + WITHIN_MS; rd_kafka_thread_cnt() >= threads; usleep(1000))
		ck_assert_int_lt(now_ms(), ends);
}
END_TEST

/* bugs librdkafka 33: without a listener everything still happens. */
START_TEST(without_a_listener)
{
	rg_error error = {0};
	rd_kafka_message_t *message = NULL;

	produce("t", 0, 1);
	crew_open(&a, "a", crew_conf(NULL));
	OK(rg_consumer_subscribe(a.consumer, (const char *[]){"t"}, 1, NULL, NULL, &error));
	for (int64_t ends = now_ms() + WITHIN_MS; !message && now_ms() < ends;)
		message = rg_consumer_poll(a.consumer, 5, NULL);
	ck_assert_ptr_nonnull(message);
	rd_kafka_message_destroy(message);
	ck_assert_int_eq(close_in(&a, RG_CLOSE_LEAVE, 5000), RG_OK);
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 1);
	free_now(&a);
}
END_TEST

static bool is_out(rg_consumer *consumer)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};

	OK(rg_consumer_status(consumer, &status, &error));
	return !strcmp(status.state, "Unjoined");
}

/* What unsubscribing had no time to wait for has come meanwhile: closing must not wait for it once more. */
START_TEST(when_leaving_is_over)
{
	rg_error error = {0};
	int64_t began;
	int hold;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_hold_request(kit, 13, 1, false, &hold, &error));
	ck_assert_int_eq(rg_consumer_unsubscribe(a.consumer, 20, &error), RG_ERR_TIMED_OUT);
	OK(rg_testkit_release(kit, hold, &error));
	for (began = now_ms(); !is_out(a.consumer);)
		ck_assert_int_lt(now_ms() - began, WITHIN_MS);
	is_out(a.consumer); /* one turn of the loop more, which hands over what it knows */
	began = now_ms();
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert_int_lt(now_ms() - began, 2000);
	free_now(&a);
}
END_TEST

/* Design 1.5: poll(0) waits for nothing, whatever the brokers do. */
START_TEST(poll_does_not_wait_for_the_network)
{
	rg_error error = {0};

	OK(rg_testkit_stop_broker(kit, 1, &error));
	crew_join(&a, "a", "t");
	for (int64_t ends = now_ms() + 300; now_ms() < ends;) {
		int64_t before = now_ms();

		ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &error));
		ck_assert_int_le(now_ms() - before, BUSY_MS);
	}
	ck_assert_int_gt(atomic_load(&a.warnings), 0); /* which address, and why */
	ck_assert_int_le(atomic_load(&a.warnings), 100);
	OK(rg_testkit_start_broker(kit, 1, &error));
	crew_until(a.owned == 4, &a);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, never_subscribed);
	tcase_add_test(tcase, no_connection_is_left_to_fetch);
	tcase_add_test(tcase, the_seat_is_free_at_once);
	tcase_add_test(tcase, who_leaves_and_who_stays);
	tcase_add_test(tcase, who_says_nothing_needs_no_time);
	tcase_add_test(tcase, on_the_way_into_the_group);
	tcase_add_test(tcase, with_all_brokers_gone);
	tcase_add_test(tcase, with_nobody_to_tell);
	tcase_add_test(tcase, with_a_silent_coordinator);
	tcase_add_test(tcase, with_no_time_at_all);
	tcase_add_test(tcase, in_the_middle_of_a_rebalance);
	tcase_add_test(tcase, a_record_that_was_not_freed);
	tcase_add_test(tcase, without_a_listener);
	tcase_add_test(tcase, when_leaving_is_over);
	tcase_add_test(tcase, poll_does_not_wait_for_the_network);
}

int main(void)
{
	return run_suite("consumer_close", fill, start, crew_end);
}
