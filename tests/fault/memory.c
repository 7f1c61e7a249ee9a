/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, for every n, through a member's life: it is made, joins, commits, goes through
 * rebalances and leaves. No crash and no leak (the sanitizers look), nothing hangs, nothing the application was
 * owed is missing, every commit ends once, and the member recovers by itself. */
#include "base/alloc.h"
#include "seat.h"
#include "suite.h"

#include <stdio.h>

enum { WITHIN_MS = 60000 };

struct kind {
	const char *instance_id;
	bool rival_first; /* the member follows; otherwise it leads */
};

static bool rival_is_in(const struct seat *seat)
{
	return seat_is_stable(seat) && seat->broker.rival.stable && seat->completes >= 2;
}

static bool rival_is_out(const struct seat *seat)
{
	return seat_is_stable(seat) && seat->completes >= 2;
}

/* False: there was no memory for a member, and the caller was told. */
static bool is_made(struct seat *seat)
{
	rg_err err = seat_make(seat);

	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	return err == RG_OK;
}

static void commit(struct seat *seat)
{
	seat_commit(seat);
	seat_until(seat, seat_is_answered, WITHIN_MS, "a commit ends");
	if (seat->last_commit == RG_OK)
		return;
	/* The caller heard of it and tries again. */
	ck_assert_int_ne(seat->last_commit, RG_ERR_TIMED_OUT);
	seat_commit(seat);
	seat_until(seat, seat_is_answered, WITHIN_MS, "a commit ends");
	ck_assert_int_eq(seat->last_commit, RG_OK);
}

static void live(struct seat *seat, const struct kind *kind)
{
	if (kind->rival_first)
		broker_rival_joins(&seat->broker);
	if (seat_join(seat)) /* once: only one allocation fails */
		ck_assert_int_eq(seat_join(seat), RG_OK);
	seat_until(seat, seat_is_stable, WITHIN_MS, "the member is in");
	commit(seat);
	if (kind->rival_first) {
		broker_rival_leaves(&seat->broker);
		seat_until(seat, rival_is_out, WITHIN_MS, "the rival is out");
	} else {
		broker_rival_joins(&seat->broker);
		seat_until(seat, rival_is_in, WITHIN_MS, "the rival is in");
	}
	ck_assert_str_eq(seat->assignment, "share");
	commit(seat);
	ck_assert_int_eq(rg_member_rejoin(seat->member, "because"), RG_OK);
	seat_pass(seat, 4000);
	seat_until(seat, seat_is_stable, WITHIN_MS, "a rebalance of its own");
	seat_leave(seat, 5000);
	seat_until(seat, seat_has_left, 5001, "it has left");
}

static void check_what_was_heard(const struct seat *seat)
{
	ck_assert(!seat->failed);
	for (int i = 0; i < seat->error_count; i++)
		ck_assert_msg(seat->errors[i].code == RG_ERR_MEMORY || seat->errors[i].code == RG_ERR_TRANSPORT, "%s",
		              seat->errors[i].text);
}

static void every_allocation(const struct kind *kind)
{
	rg_conf *conf = seat_conf(kind->instance_id);
	long n = 0, unmade = 0, told = 0, left;

	do {
		struct seat seat;

		seat_begin(&seat, conf);
		seat.instance_id = kind->instance_id;
		rg__alloc_fail_after(++n);
		if (is_made(&seat))
			live(&seat, kind);
		else
			unmade++;
		left = rg__alloc_fail_after(0);
		check_what_was_heard(&seat);
		told += seat.error_count > 0;
		seat_end(&seat);
	} while (left <= 0);
	printf("%s%s: %ld allocations, %ld of them for the member itself; %ld failures were told\n",
	       kind->rival_first ? "follower" : "leader", kind->instance_id ? ", static" : "", n - 1, unmade, told);
	ck_assert_int_gt(unmade, 5);
	ck_assert_int_gt(n, unmade + 100);
	rg_conf_free(conf);
}

START_TEST(of_a_leader)
{
	every_allocation(&(struct kind){0});
}
END_TEST

START_TEST(of_a_follower)
{
	every_allocation(&(struct kind){.rival_first = true});
}
END_TEST

START_TEST(of_a_static_member)
{
	every_allocation(&(struct kind){.instance_id = "i1"});
}
END_TEST

static bool has_left_or_could_not_hear(const struct seat *seat)
{
	return seat->left || seat->sim.now_us >= seat->short_until_us;
}

static void starve(struct seat *seat, int64_t ms)
{
	int64_t requests;

	seat->short_until_us = seat->sim.now_us + ms * 1000;
	requests = seat->broker.requests;
	seat_pass(seat, ms);
	/* It does not spin meanwhile. */
	ck_assert_int_le(seat->broker.requests - requests, 20 + ms * 20 / 1000);
	rg__alloc_fail_after(0);
}

/* Memory is short for seconds, again and again: shorter and longer than a session. */
START_TEST(for_a_while)
{
	static const int64_t spans_ms[] = {50, 200, 1000, 4000, 12000, 40000};
	rg_conf *conf = seat_conf(NULL);

	for (size_t i = 0; i < sizeof(spans_ms) / sizeof(*spans_ms); i++) {
		struct seat seat;

		seat_begin(&seat, conf);
		ck_assert_int_eq(seat_make(&seat), RG_OK);
		ck_assert_int_eq(seat_join(&seat), RG_OK);
		starve(&seat, spans_ms[i]);
		ck_assert_int_eq(seat.broker.requests, 0); /* short it was */
		seat_until(&seat, seat_is_stable, WITHIN_MS, "the member is in");
		seat_commit(&seat);
		starve(&seat, spans_ms[i]);
		seat_until(&seat, seat_is_answered, WITHIN_MS, "a commit ends");
		seat_until(&seat, seat_is_stable, WITHIN_MS, "the member is still in, or again");
		ck_assert_int_eq(seat.losts > 0, spans_ms[i] > 10000); /* the session */
		broker_rival_joins(&seat.broker);
		starve(&seat, spans_ms[i]);
		seat_until(&seat, rival_is_in, WITHIN_MS, "the rival is in");
		seat_leave(&seat, 5000);
		seat.short_until_us = seat.sim.now_us + 5000000;
		seat_until(&seat, has_left_or_could_not_hear, 5001, "it has left");
		rg__alloc_fail_after(0);
		seat.short_until_us = 0;
		seat_until(&seat, seat_has_left, 1, "and is told");
		ck_assert(!seat.failed);
		seat_end(&seat);
	}
	rg_conf_free(conf);
}
END_TEST

/* The member is freed in the middle of whatever it was at when memory ran out. */
START_TEST(freed_at_any_time)
{
	rg_conf *conf = seat_conf(NULL);
	long n = 0, left;

	do {
		struct seat seat;

		seat_begin(&seat, conf);
		rg__alloc_fail_after(++n);
		if (is_made(&seat) && seat_join(&seat) == RG_OK) {
			broker_rival_joins(&seat.broker);
			for (int turns = 0; turns < 400 && (turns < 20 || turns < n); turns++)
				sim_turn(&seat.sim);
			seat_commit(&seat);
		}
		left = rg__alloc_fail_after(0);
		seat_end(&seat);
	} while (left <= 0 && n < 500);
	ck_assert_int_gt(n, 50);
	rg_conf_free(conf);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, of_a_leader);
	tcase_add_test(tcase, of_a_follower);
	tcase_add_test(tcase, of_a_static_member);
	tcase_add_test(tcase, for_a_while);
	tcase_add_test(tcase, freed_at_any_time);
}

int main(void)
{
	return run_suite("fault_memory", fill);
}
