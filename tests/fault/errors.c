/* SPDX-License-Identifier: Apache-2.0 */
/* Every error number that Kafka has, and some it has not, as the answer to every request of a member: once, and those that
 * the reaction table is about also for a minute and until it leaves. It does what the reaction table says: the member is Stable again without a word, or with the one
 * error that polling answers, or has failed for good with that one error. However long it lasts, there are never more than
 * a few requests for each of the first heartbeats after a rebalance, which come ten times a second; and it leaves within
 * its time. What the table itself should say is a matter of tests/group/reactions_test.c. */
#include "codec/api.h"
#include "group/reactions.h"
#include "seat.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { CODE_FIRST = -1, CODE_LAST = 140, WITHIN_MS = 60000, TROUBLE_MS = 60000, LEAVE_MS = 5000, PER_SECOND_MAX = 20 };

static const struct api {
	const char *name;
	int16_t key;
	int request; /* enum rg__request; -1: no reaction of the member's */
} apis[] = {
	{"ApiVersions", RG__API_API_VERSIONS, -1},
	{"FindCoordinator", RG__API_FIND_COORDINATOR, RG__REQUEST_FIND_COORDINATOR},
	{"JoinGroup", RG__API_JOIN_GROUP, RG__REQUEST_JOIN_GROUP},
	{"SyncGroup", RG__API_SYNC_GROUP, RG__REQUEST_SYNC_GROUP},
	{"Heartbeat", RG__API_HEARTBEAT, RG__REQUEST_HEARTBEAT},
	{"LeaveGroup", RG__API_LEAVE_GROUP, RG__REQUEST_LEAVE_GROUP},
	{"OffsetCommit", RG__API_OFFSET_COMMIT, RG__REQUEST_OFFSET_COMMIT},
	{"OffsetFetch", RG__API_OFFSET_FETCH, RG__REQUEST_OFFSET_FETCH},
};
enum { APIS = sizeof(apis) / sizeof(*apis) };

static struct seat seat;
static rg_conf *conf;
static const struct api *api;
static int code;

static const char *here(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s answers %d", api->name, code);
	return text;
}

static enum rg__verb verb(void)
{
	return api->request < 0 ? RG__RETRY : rg__react((enum rg__request)api->request, code)->verb;
}

static bool is_offsets(void)
{
	return api->key == RG__API_OFFSET_COMMIT || api->key == RG__API_OFFSET_FETCH;
}

static void refuse(int times)
{
	seat.broker.refusal = (struct refusal){api->key, (int16_t)code, times, 0};
}

static bool was_refused(const struct seat *of)
{
	return of->broker.refusal.times > 0;
}

static bool is_settled(const struct seat *of)
{
	return of->failed || seat_is_stable(of);
}

static void begin(void)
{
	seat_begin(&seat, conf);
	ck_assert_int_eq(seat_make(&seat), RG_OK);
}

static void leave(void)
{
	seat_leave(&seat, LEAVE_MS);
	seat_until(&seat, seat_has_left, LEAVE_MS + 1, here());
}

static void ask_for_offsets(void)
{
	if (api->key == RG__API_OFFSET_COMMIT)
		seat_commit(&seat);
	else
		seat_fetch(&seat);
	seat_until(&seat, seat_is_answered, WITHIN_MS, here());
}

/* Brings the member where it meets the error. */
static void meet(void)
{
	bool at_first = api->key != RG__API_HEARTBEAT && !is_offsets() && api->key != RG__API_LEAVE_GROUP;

	if (at_first)
		ck_assert_int_eq(seat_join(&seat), RG_OK);
	else if (is_offsets())
		ask_for_offsets();
	else if (api->key == RG__API_LEAVE_GROUP)
		leave();
	seat_until(&seat, was_refused, WITHIN_MS, here());
}

static void get_in(void)
{
	int times = seat.broker.refusal.left;

	seat.broker.refusal.left = 0;
	ck_assert_int_eq(seat_join(&seat), RG_OK);
	seat_until(&seat, seat_is_stable, WITHIN_MS, here());
	seat.broker.refusal.left = times;
}

static bool needs_to_be_in(void)
{
	return api->key == RG__API_HEARTBEAT || is_offsets() || api->key == RG__API_LEAVE_GROUP;
}

static void check_errors(int count, bool fatal)
{
	ck_assert_msg(seat.error_count == count, "%s: %d errors told, not %d; the last: %s", here(), seat.error_count, count,
	              seat.error_count ? seat.errors[seat.error_count - 1].text : "none");
	ck_assert_msg(seat.failed == fatal, "%s: it has%s failed", here(), seat.failed ? "" : " not");
	for (int i = 0; i < count; i++) {
		ck_assert_msg(seat.errors[i].code == code, "%s: told %s", here(), seat.errors[i].text);
		ck_assert_msg(strstr(seat.errors[i].text, api->name) != NULL, "%s: told %s", here(), seat.errors[i].text);
	}
}

static void once(void)
{
	bool told;

	begin();
	refuse(1);
	if (needs_to_be_in())
		get_in();
	meet();
	if (api->key == RG__API_LEAVE_GROUP)
		get_in();
	seat_pass(&seat, 100);
	seat_until(&seat, is_settled, WITHIN_MS, here());
	if (is_offsets())
		ck_assert_int_eq(seat.last_commit, code);
	told = verb() == RG__REPORT || verb() == RG__FAIL;
	check_errors(told, verb() == RG__FAIL);
	leave();
	seat_end(&seat);
}

/* What the member does as long as it lasts; a commit is the application's to repeat, and it does so once a second. */
static void suffer(void)
{
	int64_t until_us = seat.sim.now_us + TROUBLE_MS * INT64_C(1000), requests = seat.broker.requests;

	while (seat.sim.now_us < until_us) {
		if (is_offsets() && !seat.failed)
			ask_for_offsets();
		seat_pass(&seat, 1000);
	}
	requests = seat.broker.requests - requests;
	ck_assert_msg(requests <= PER_SECOND_MAX * TROUBLE_MS / 1000, "%s: %lld requests in %d s", here(),
	              (long long)requests, TROUBLE_MS / 1000);
}

/* For a minute; then it stops, or with `leaves` the member leaves while it lasts. */
static void for_ever(bool leaves)
{
	begin();
	refuse(-1);
	if (needs_to_be_in())
		get_in();
	if (api->key != RG__API_LEAVE_GROUP) {
		meet();
		suffer();
	}
	if (verb() == RG__REPORT)
		ck_assert_msg(seat.error_count > 0, "%s: nobody was told", here());
	check_errors(verb() == RG__FAIL ? 1 : verb() == RG__REPORT ? seat.error_count : 0, verb() == RG__FAIL);
	if (!leaves && verb() != RG__FAIL) {
		seat.broker.refusal.left = 0;
		seat_until(&seat, seat_is_stable, WITHIN_MS, here());
		seat_pass(&seat, 5000);
		ck_assert(seat_is_stable(&seat));
	}
	leave();
	seat_end(&seat);
}

/* The numbers that some row of the table is about; for all others the rows are the same. */
static bool is_special(void)
{
	for (int request = 0; request < RG__REQUESTS; request++) {
		int count;
		const struct rg__reaction *rows = rg__reactions((enum rg__request)request, &count);

		for (int i = 0; i < count; i++)
			if (rows[i].code == code)
				return true;
	}
	return false;
}

static void for_all_codes(void (*what)(void), bool only_special)
{
	static const int strangers[] = {-2, -1, 1, 1000, 20000, 32767};
	int64_t count = 0;

	api = &apis[0];
	for (int a = 0; a < APIS; a++, api++) {
		for (code = CODE_FIRST; code <= CODE_LAST; code++)
			if (code && (!only_special || is_special())) {
				what();
				count++;
			}
		for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++) {
			code = strangers[i];
			what();
			count++;
		}
	}
	printf("%lld answers\n", (long long)count);
	ck_assert_int_gt(count, 8 * 20);
}

START_TEST(said_once)
{
	for_all_codes(once, false);
}
END_TEST

static void stops(void)
{
	for_ever(false);
}

static void lasts(void)
{
	for_ever(true);
}

START_TEST(said_for_a_minute)
{
	for_all_codes(stops, true);
}
END_TEST

START_TEST(said_until_it_leaves)
{
	for_all_codes(lasts, true);
}
END_TEST

static void set_up(void)
{
	conf = seat_conf(NULL);
}

static void tear_down(void)
{
	rg_conf_free(conf);
}

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, said_once);
	tcase_add_test(tcase, said_for_a_minute);
	tcase_add_test(tcase, said_until_it_leaves);
}

int main(void)
{
	return run_suite("fault_errors", fill);
}
