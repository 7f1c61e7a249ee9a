/* SPDX-License-Identifier: Apache-2.0 */
/* The lines are cut at every byte, in both directions, through a whole life with every request there is: join, commit,
 * fetch, Metadata, heartbeats, a rebalance, leave. At the cut the connection closes, or it stays and nothing comes any more.
 * The member gets in, what it asks for ends, and it leaves in time. */
#include "codec/api.h"
#include "seat.h"
#include "suite.h"

#include <stdio.h>

enum { WITHIN_MS = 120000 };

struct lengths {
	uint64_t up, down;
};

static int64_t beats;
static int completes;

static bool has_beaten(const struct seat *seat)
{
	return seat->broker.requests_of[RG__API_HEARTBEAT] > beats;
}

static bool is_in_again(const struct seat *seat)
{
	return seat->completes > completes && seat_is_stable(seat);
}

static void live(struct seat *seat)
{
	ck_assert_int_eq(seat_make(seat), RG_OK);
	ck_assert_int_eq(seat_join(seat), RG_OK);
	seat_until(seat, seat_is_stable, WITHIN_MS, "the member is in");
	ck_assert_str_eq(seat->assignment, "share");
	seat_commit(seat);
	seat_until(seat, seat_is_answered, WITHIN_MS, "a commit ends");
	seat_fetch(seat);
	seat_until(seat, seat_is_answered, WITHIN_MS, "a fetch of offsets ends");
	seat_ask_metadata(seat);
	seat_until(seat, seat_is_answered, WITHIN_MS, "a question for metadata ends");
	beats = seat->broker.requests_of[RG__API_HEARTBEAT];
	seat_until(seat, has_beaten, WITHIN_MS, "a heartbeat");
	seat_until(seat, seat_is_stable, WITHIN_MS, "the member is still in, or again");
	completes = seat->completes;
	ck_assert_int_eq(rg_member_rejoin(seat->member, "because"), RG_OK);
	seat_until(seat, is_in_again, WITHIN_MS, "a rebalance of its own");
	seat_leave(seat, 5000);
	seat_until(seat, seat_has_left, 5001, "it has left");
	ck_assert(!seat->failed);
	/* A broken line is the member's own business: it finds another. */
	ck_assert_int_eq(seat->error_count, 0);
}

/* All that a member and a consumer send. */
static const int16_t used[] = {
	RG__API_METADATA,  RG__API_OFFSET_COMMIT, RG__API_OFFSET_FETCH, RG__API_FIND_COORDINATOR, RG__API_JOIN_GROUP,
	RG__API_HEARTBEAT, RG__API_LEAVE_GROUP,   RG__API_SYNC_GROUP,   RG__API_API_VERSIONS,
};

static struct lengths lengths_of_a_life(rg_conf *conf)
{
	struct lengths lengths;
	struct seat seat;

	seat_begin(&seat, conf);
	live(&seat);
	ck_assert_int_eq(seat.last_commit, RG_OK);
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		ck_assert_msg(seat.broker.requests_of[used[i]] > 0, "no %s was sent", rg__api_by_key(used[i])->name);
	lengths = (struct lengths){seat.broker.up.bytes, seat.broker.down.bytes};
	seat_end(&seat);
	return lengths;
}

static void cut_everywhere(bool up, enum broker_cut cut)
{
	rg_conf *conf = seat_conf(NULL);
	struct lengths lengths = lengths_of_a_life(conf);
	uint64_t count = up ? lengths.up : lengths.down;
	int more_requests = 0;

	for (uint64_t at = 0; at <= count; at++) {
		struct seat seat;
		struct broker_line *line = up ? &seat.broker.up : &seat.broker.down;

		seat_begin(&seat, conf);
		line->cut_at = at;
		seat.broker.cut = cut;
		live(&seat);
		/* The cut came, or it was behind the last byte. */
		ck_assert(line->cut_at == UINT64_MAX || at == count);
		more_requests += line->bytes > count;
		seat_end(&seat);
	}
	printf("%llu bytes %s, the line %s at each of them\n", (unsigned long long)count, up ? "up" : "down",
	       cut == CUT_STALLS ? "stalls" : "closes");
	ck_assert_uint_gt(count, 200);
	/* Something had to be said again nearly everywhere, or nothing was cut. */
	ck_assert_int_gt(more_requests, (int)count / 2);
	rg_conf_free(conf);
}

START_TEST(closed_at_every_byte_of_the_requests)
{
	cut_everywhere(true, CUT_CLOSES);
}
END_TEST

START_TEST(closed_at_every_byte_of_the_answers)
{
	cut_everywhere(false, CUT_CLOSES);
}
END_TEST

START_TEST(silent_from_every_byte_of_the_requests)
{
	cut_everywhere(true, CUT_STALLS);
}
END_TEST

START_TEST(silent_from_every_byte_of_the_answers)
{
	cut_everywhere(false, CUT_STALLS);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, closed_at_every_byte_of_the_requests);
	tcase_add_test(tcase, closed_at_every_byte_of_the_answers);
	tcase_add_test(tcase, silent_from_every_byte_of_the_requests);
	tcase_add_test(tcase, silent_from_every_byte_of_the_answers);
}

int main(void)
{
	return run_suite("fault_cuts", fill);
}
