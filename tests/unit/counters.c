/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: windows, rates and averages in a time that the test tells, so that every figure is exact. */
#include "base/stat.h"
#include "consumer/polls.h"
#include "member/metrics.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct rg__stat_conf kafkas = {.sample_us = 30000000, .samples = 2};

static int64_t at_ms(int64_t ms)
{
	return 1000000000 + ms * 1000;
}

/* --- Windows ------------------------------------------------------------------------------------------------------ */

START_TEST(nothing_is_not_zero)
{
	struct rg__stat stat = {0};

	ck_assert(isnan(rg__stat_avg(&stat, &kafkas, at_ms(0))));
	ck_assert(isnan(rg__stat_max(&stat, &kafkas, at_ms(0))));
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(0)) == 0);
	ck_assert_int_eq(rg__stat_sum(&stat, &kafkas, at_ms(0)), 0);
}
END_TEST

/* facts/protocol 4. Of two samples of 30 s the window is never shorter than 30 s: one value a moment ago is 1/30 a second. */
START_TEST(a_window_slides)
{
	struct rg__stat stat = {0};

	rg__stat_add(&stat, &kafkas, 100, at_ms(0));
	rg__stat_add(&stat, &kafkas, 300, at_ms(10000));
	ck_assert(rg__stat_avg(&stat, &kafkas, at_ms(10000)) == 200);
	ck_assert(rg__stat_max(&stat, &kafkas, at_ms(10000)) == 300);
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(10000)) == 2 / 40.0);
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(50000)) == 2 / 50.0);
	rg__stat_add(&stat, &kafkas, 50, at_ms(40000)); /* the second sample */
	ck_assert(rg__stat_avg(&stat, &kafkas, at_ms(69999)) == 150);
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(69999)) == 3 / 69.999);
	/* The first one's last value is 60 s old now. */
	ck_assert(rg__stat_avg(&stat, &kafkas, at_ms(70000)) == 50);
	ck_assert(rg__stat_max(&stat, &kafkas, at_ms(70000)) == 50);
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(70000)) == 1 / 30.0);
	ck_assert(isnan(rg__stat_max(&stat, &kafkas, at_ms(100000))));
	ck_assert(rg__stat_rate(&stat, &kafkas, at_ms(100000)) == 0);
	ck_assert_int_eq(stat.count, 3); /* totals stay */
	ck_assert_int_eq(stat.sum, 450);
}
END_TEST

/* One value a second for an hour: the rate settles at 1, and old values never come back out of the ring. */
START_TEST(a_steady_stream)
{
	for (int32_t samples = 1; samples <= RG__STAT_SAMPLES_MAX; samples++) {
		struct rg__stat_conf conf = {.sample_us = 10000000, .samples = samples};
		struct rg__stat stat = {0};

		for (int64_t s = 0; s < 3600; s++) {
			double rate, most;

			rg__stat_add(&stat, &conf, s, at_ms(s * 1000));
			rate = rg__stat_rate(&stat, &conf, at_ms(s * 1000));
			most = rg__stat_max(&stat, &conf, at_ms(s * 1000));
			ck_assert(most == (double)s);
			ck_assert(rg__stat_sum(&stat, &conf, at_ms(s * 1000)) >= s);
			if (samples > 1 && s > samples * 10)
				ck_assert_msg(rate > 0.9 && rate < 1.2, "%d samples, %d s: %f", (int)samples, (int)s, rate);
		}
		ck_assert_int_eq(stat.count, 3600);
	}
}
END_TEST

START_TEST(many_at_once)
{
	struct rg__stat stat = {0};

	rg__stat_add_many(&stat, &kafkas, 4, 1000, at_ms(0));
	ck_assert(rg__stat_avg(&stat, &kafkas, at_ms(0)) == 250);
	ck_assert(rg__stat_max(&stat, &kafkas, at_ms(0)) == 1000);
	rg__stat_add_many(&stat, &kafkas, 2, -10, at_ms(40000));
	ck_assert(rg__stat_max(&stat, &kafkas, at_ms(69000)) == 0);
}
END_TEST

/* --- What a member counts ----------------------------------------------------------------------------------------- */

static struct rg__counters counters;
static double found;
static int times;

static void start(void)
{
	memset(&counters, 0, sizeof(counters));
	counters.windows = kafkas;
}

static void keep(const char *name, double value, void *user)
{
	(void)name;
	(void)user;
	found = value;
	times++;
}

static double metric(const char *name, int64_t ms)
{
	const struct rg__metric_walk walk = {keep, NULL, name};

	times = 0;
	rg__counters_tell(&walk, &counters, at_ms(ms));
	rg__counters_tell_commits(&walk, &counters, at_ms(ms));
	ck_assert_msg(times == 1, "%s: %d times", name, times);
	return found;
}

static void round_trip(enum rg__request request, int64_t sent_ms, int64_t answered_ms, rg_err err)
{
	rg__count_sent(&counters, request, NULL, at_ms(sent_ms));
	rg__count_answered(&counters, request, err, at_ms(answered_ms));
}

/* One rebalance over all its retries; each failed round counts, 79 too. */
START_TEST(a_rebalance_with_retries)
{
	round_trip(RG__REQUEST_JOIN_GROUP, 0, 3, 79);
	round_trip(RG__REQUEST_JOIN_GROUP, 3, 103, RG_OK);
	round_trip(RG__REQUEST_SYNC_GROUP, 103, 110, 27);
	round_trip(RG__REQUEST_JOIN_GROUP, 110, 410, RG_OK);
	round_trip(RG__REQUEST_SYNC_GROUP, 411, 421, RG_OK);
	ck_assert(metric("rebalance-total", 1000) == 1);
	ck_assert(metric("rebalance-latency-avg", 1000) == 421);
	ck_assert(metric("rebalance-latency-max", 1000) == 421);
	ck_assert(metric("rebalance-latency-total", 1000) == 421);
	ck_assert(metric("failed-rebalance-total", 1000) == 2);
	ck_assert(metric("join-total", 1000) == 2);
	ck_assert(metric("join-time-avg", 1000) == 200);
	ck_assert(metric("join-time-max", 1000) == 300);
	ck_assert(metric("sync-total", 1000) == 1);
	ck_assert(metric("sync-time-avg", 1000) == 10);
	ck_assert(metric("last-rebalance-seconds-ago", 10421) == 10);
	/* 421 ms after the window's first value: 30 s more are taken for it. */
	ck_assert(fabs(metric("rebalance-rate-per-hour", 421) - 3600 / 30.0) < 1e-9);
	ck_assert(fabs(metric("failed-rebalance-rate-per-hour", 30003) - 2 * 3600 / 30.0) < 1e-9);
	ck_assert(metric("rebalance-rate-per-hour", 90000) == 0);
	ck_assert(isnan(metric("rebalance-latency-max", 90000)));
	ck_assert(metric("rebalance-latency-total", 90000) == 421);
}
END_TEST

START_TEST(a_second_rebalance)
{
	round_trip(RG__REQUEST_JOIN_GROUP, 0, 100, RG_OK);
	round_trip(RG__REQUEST_SYNC_GROUP, 100, 200, RG_OK);
	round_trip(RG__REQUEST_JOIN_GROUP, 20000, 20300, RG_OK);
	rg__count_left(&counters); /* which is given up in the middle and does not count */
	round_trip(RG__REQUEST_JOIN_GROUP, 40000, 40300, RG_OK);
	round_trip(RG__REQUEST_SYNC_GROUP, 40300, 40600, RG_OK);
	ck_assert(metric("rebalance-total", 40600) == 2);
	ck_assert(metric("rebalance-latency-avg", 40600) == 400);
	ck_assert(metric("rebalance-latency-max", 40600) == 600);
	/* The first one was over at 200 and is 60 s old at 60200. */
	ck_assert(metric("rebalance-latency-avg", 60199) == 400);
	ck_assert(metric("rebalance-latency-avg", 60200) == 600);
	ck_assert(metric("rebalance-latency-total", 60200) == 800);
}
END_TEST

/* A refusal is an answer; what got lost on the way is none. */
START_TEST(heartbeats)
{
	ck_assert(metric("last-heartbeat-seconds-ago", 0) == -1);
	round_trip(RG__REQUEST_HEARTBEAT, 0, 5, RG_OK);
	round_trip(RG__REQUEST_HEARTBEAT, 3000, 3020, 27);
	round_trip(RG__REQUEST_HEARTBEAT, 6000, 16000, RG_ERR_TIMED_OUT);
	ck_assert(metric("heartbeat-total", 16000) == 2);
	ck_assert(metric("heartbeat-response-time-max", 16000) == 20);
	ck_assert(metric("last-heartbeat-seconds-ago", 16000) == 10);
	ck_assert(fabs(metric("heartbeat-rate", 20005) - 2 / 50.0) < 1e-9);
}
END_TEST

/* --- Polls -------------------------------------------------------------------------------------------------------- */

static void poll_at(struct rg__polls *polls, int64_t from_ms, int64_t to_ms)
{
	rg__polls_begin(polls, &kafkas, at_ms(from_ms));
	rg__polls_end(polls, at_ms(to_ms));
}

START_TEST(between_polls)
{
	struct rg__polls polls = {0};

	poll_at(&polls, 0, 30);
	ck_assert(isnan(rg__stat_avg(&polls.between, &kafkas, at_ms(30))));
	ck_assert(isnan(rg__polls_idle(&polls, &kafkas, at_ms(30))));
	poll_at(&polls, 100, 100);
	/* Waited for 30 of 100 ms. */
	ck_assert(rg__stat_max(&polls.between, &kafkas, at_ms(100)) == 100000);
	ck_assert(rg__polls_idle(&polls, &kafkas, at_ms(100)) == 0.3);
	poll_at(&polls, 400, 400);
	ck_assert(rg__stat_avg(&polls.between, &kafkas, at_ms(400)) == 200000);
	ck_assert(rg__stat_max(&polls.between, &kafkas, at_ms(400)) == 300000);
	ck_assert(rg__polls_idle(&polls, &kafkas, at_ms(400)) == 30 / 400.0);
	ck_assert_int_eq(polls.began_us, at_ms(400));
}
END_TEST

/* Records at hand: 250 polls in each tick of 4 ms are one every 16 µs. */
START_TEST(many_polls_in_one_tick)
{
	struct rg__polls polls = {0};

	for (int tick = 0; tick <= 1000; tick++)
		for (int i = 0; i < 250; i++)
			poll_at(&polls, tick * 4, tick * 4);
	ck_assert(rg__stat_avg(&polls.between, &kafkas, at_ms(4000)) == 16);
	ck_assert(rg__polls_idle(&polls, &kafkas, at_ms(4000)) == 0);
	ck_assert_int_eq(polls.between.count, 250 * 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counters");
	TCase *windows = tcase_create("windows"), *member = tcase_create("member"), *polls = tcase_create("polls");
	SRunner *runner;
	int failed;

	tcase_add_test(windows, nothing_is_not_zero);
	tcase_add_test(windows, a_window_slides);
	tcase_add_test(windows, a_steady_stream);
	tcase_add_test(windows, many_at_once);
	tcase_add_checked_fixture(member, start, NULL);
	tcase_add_test(member, a_rebalance_with_retries);
	tcase_add_test(member, a_second_rebalance);
	tcase_add_test(member, heartbeats);
	tcase_add_test(polls, between_polls);
	tcase_add_test(polls, many_polls_in_one_tick);
	suite_add_tcase(suite, windows);
	suite_add_tcase(suite, member);
	suite_add_tcase(suite, polls);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
