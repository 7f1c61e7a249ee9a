/* SPDX-License-Identifier: Apache-2.0 */
/* What a member counts, in simulated time, against what its events say of the same: exact to the microsecond. */
#include "seat.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rg_conf *conf;
static struct seat seat;

/* From the events. */
static struct {
	int64_t joined_us;  /* the first JoinGroup of the rebalance under way; 0: there is none */
	int64_t over_us;    /* the last one */
	int64_t beat_us;    /* the last heartbeat that was sent */
	int64_t sum_us, max_us;
	int rebalances, failures, beats;
} told;

static bool is(const char *json, const char *event)
{
	char text[64];

	snprintf(text, sizeof(text), "\"event\":\"%s\"", event);
	return strstr(json, text) != NULL;
}

static void rebalance_is_over(int64_t now_us)
{
	int64_t took_us = now_us - told.joined_us;

	told.rebalances++;
	told.sum_us += took_us;
	if (took_us > told.max_us)
		told.max_us = took_us;
	told.joined_us = 0;
	told.over_us = now_us;
}

static void on_event(void *user, const char *json)
{
	int64_t now_us = atoll(json + strlen("{\"t_us\":"));
	bool wrong = strstr(json, "\"error\"") != NULL;

	(void)user;
	if (is(json, "join_sent") && !told.joined_us)
		told.joined_us = now_us;
	if (is(json, "join_received") || is(json, "sync_received"))
		told.failures += wrong;
	if (is(json, "sync_received") && !wrong)
		rebalance_is_over(now_us);
	if (is(json, "heartbeat_sent"))
		told.beat_us = now_us;
	told.beats += is(json, "heartbeat_received");
}

struct wanted {
	const char *name;
	double value;
	int times;
};

static void look_for(const char *name, double value, void *user)
{
	struct wanted *wanted = user;

	if (strcmp(name, wanted->name) != 0)
		return;
	wanted->value = value;
	wanted->times++;
}

static double metric(const char *name)
{
	struct wanted wanted = {.name = name};

	ck_assert_int_eq(rg_member_metrics(seat.member, look_for, &wanted), RG_OK);
	ck_assert_msg(wanted.times == 1, "%s: %d times", name, wanted.times);
	return wanted.value;
}

static void begin(void)
{
	memset(&told, 0, sizeof(told));
	conf = seat_conf(NULL);
	rg_conf_set_events(conf, on_event, NULL);
	seat_begin(&seat, conf);
	ck_assert_int_eq(seat_make(&seat), RG_OK);
}

static void end(void)
{
	seat_end(&seat);
	rg_conf_free(conf);
}

static void same_as_told(void)
{
	/* Event lines have the clock of the world, and that is the member's here. */
	int64_t now_us = seat.sim.io.ops->unix_us(&seat.sim.io);

	ck_assert(metric("rebalance-total") == told.rebalances);
	ck_assert(metric("rebalance-latency-total") == (double)told.sum_us / 1000);
	ck_assert(metric("failed-rebalance-total") == told.failures);
	ck_assert(metric("heartbeat-total") == told.beats);
	ck_assert(metric("last-rebalance-seconds-ago") == (double)(now_us - told.over_us) / 1000000);
	ck_assert(metric("last-heartbeat-seconds-ago") == (double)(now_us - told.beat_us) / 1000000);
}

static bool has_two_more(const struct seat *of)
{
	return told.rebalances >= 2 && seat_is_stable(of);
}

static bool has_one_more(const struct seat *of)
{
	return told.rebalances >= 3 && seat_is_stable(of);
}

START_TEST(a_life_in_numbers)
{
	ck_assert(metric("last-heartbeat-seconds-ago") == -1 && metric("last-rebalance-seconds-ago") == -1);
	ck_assert(isnan(metric("rebalance-latency-avg")));
	ck_assert_int_eq(seat_join(&seat), RG_OK);
	seat_until(&seat, seat_is_stable, 10000, "it is in");
	ck_assert_int_eq(told.rebalances, 1);
	ck_assert_int_eq(told.failures, 1); /* 79 */
	same_as_told();
	broker_rival_joins(&seat.broker);
	seat_until(&seat, has_two_more, 60000, "the rival is in, too");
	/* The rival hears of this one by its next heartbeat: that is how long JoinGroup waits. */
	ck_assert_int_eq(rg_member_rejoin(seat.member, "because"), RG_OK);
	seat_until(&seat, has_one_more, 60000, "a rebalance that waits");
	ck_assert_int_gt(told.max_us, 0);
	same_as_told();
	ck_assert(metric("rebalance-latency-max") == (double)told.max_us / 1000);
	ck_assert(fabs(metric("rebalance-latency-avg") - (double)told.sum_us / told.rebalances / 1000) < 1e-9);
	ck_assert(metric("join-time-max") <= metric("rebalance-latency-max"));
}
END_TEST

/* With nothing but heartbeats: what is older than the window goes out of averages and rates, and stays in totals. */
START_TEST(the_window_passes_over_a_rebalance)
{
	double rate;

	ck_assert_int_eq(seat_join(&seat), RG_OK);
	seat_until(&seat, seat_is_stable, 10000, "it is in");
	for (int second = 0; second < 59; second++) {
		rg_member_poll(seat.member);
		seat_pass(&seat, 1000);
	}
	ck_assert(metric("rebalance-rate-per-hour") > 0);
	ck_assert(metric("rebalance-latency-max") == (double)told.max_us / 1000);
	rg_member_poll(seat.member);
	seat_pass(&seat, 1000);
	ck_assert(metric("rebalance-rate-per-hour") == 0);
	ck_assert(isnan(metric("rebalance-latency-max")));
	same_as_told();
	rate = metric("heartbeat-rate");
	ck_assert_msg(rate > 0.9 * told.beats / 60 && rate < 1.2 * told.beats / 60, "%f, %d in all", rate, told.beats);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, a_life_in_numbers);
	tcase_add_test(tcase, the_window_passes_over_a_rebalance);
}

int main(void)
{
	return run_suite("member_metrics", fill);
}
