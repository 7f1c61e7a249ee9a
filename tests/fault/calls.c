/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of a member that can return an error returns each of them, says why, and changes nothing by it. */
#include "base/alloc.h"
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "seat.h"
#include "suite.h"

#include <string.h>

enum { WITHIN_MS = 60000 };

static rg_conf *conf;
static struct seat seat;

static void set_up(void)
{
	conf = seat_conf(NULL);
	seat_begin(&seat, conf);
	ck_assert_int_eq(seat_make(&seat), RG_OK);
}

static void tear_down(void)
{
	seat_end(&seat);
	rg_conf_free(conf);
}

static void get_in(void)
{
	ck_assert_int_eq(seat_join(&seat), RG_OK);
	seat_until(&seat, seat_is_stable, WITHIN_MS, "the member is in");
}

/* Takes events until one of that type; what else there is on the way is dealt with by nobody. */
static rg_member_event *await(rg_member_event_type type)
{
	for (int turns = 0; turns < 2000; turns++) {
		rg_member_event *event = rg_member_next(seat.member);

		if (event && event->type == type)
			return event;
		ck_assert_msg(!event, "another event, %d", (int)event->type);
		sim_turn(&seat.sim);
	}
	ck_abort_msg("the event never came");
	return NULL;
}

static void refuses_new(const rg_conf *with, const char *protocol_type, rg_err err, const char *word)
{
	rg_member *member = NULL;
	rg_error error = {0};

	ck_assert_int_eq(rg__member_new_on(&seat.sim.io, with, protocol_type, 1, NULL, NULL, &member, &error), err);
	ck_assert_ptr_null(member);
	ck_assert_int_eq(error.code, err);
	ck_assert_msg(strstr(error.text, word) != NULL, "%s", error.text);
}

START_TEST(making_one)
{
	static char endless[40000];
	rg_conf *other = rg_conf_new();

	refuses_new(other, "consumer", RG_ERR_INVALID, "bootstrap.servers");
	ck_assert_int_eq(rg_conf_set(other, "bootstrap.servers", "a", NULL), RG_OK);
	refuses_new(other, "consumer", RG_ERR_INVALID, "group.id");
	ck_assert_int_eq(rg_conf_set(other, "group.id", "g", NULL), RG_OK);
	ck_assert_int_eq(rg_conf_set(other, "session.timeout.ms", "3000", NULL), RG_OK);
	refuses_new(other, "consumer", RG_ERR_INVALID, "heartbeat.interval.ms");
	rg_conf_free(other);
	memset(endless, 'x', sizeof(endless) - 1);
	refuses_new(conf, NULL, RG_ERR_INVALID, "protocol type");
	refuses_new(conf, "", RG_ERR_INVALID, "protocol type");
	refuses_new(conf, endless, RG_ERR_INVALID, "protocol type");
	rg__alloc_fail_after(1);
	refuses_new(conf, "consumer", RG_ERR_MEMORY, "memory");
	rg__alloc_fail_after(0);
}
END_TEST

static void refuses_join(const rg_member_protocol *protocols, size_t count, rg_err err, const char *word)
{
	rg_error error = {0};

	ck_assert_int_eq(rg_member_join(seat.member, protocols, count, &error), err);
	ck_assert_int_eq(error.code, err);
	ck_assert_msg(strstr(error.text, word) != NULL, "%s", error.text);
	ck_assert_int_eq(rg_member_join(seat.member, protocols, count, NULL), err); /* the text is optional */
	ck_assert_ptr_null(rg_member_next(seat.member));
}

START_TEST(joining)
{
	static char endless[40000];
	static rg_member_protocol many[1001];
	rg_member_protocol nameless = {NULL, {"x", 1}}, empty = {"", {"x", 1}}, longest = {endless, {"x", 1}};

	memset(endless, 'x', sizeof(endless) - 1);
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		many[i] = seat_protocols[0];
	refuses_join(seat_protocols, 0, RG_ERR_INVALID, "1 to 1000");
	refuses_join(many, 1001, RG_ERR_INVALID, "1 to 1000");
	refuses_join(&nameless, 1, RG_ERR_INVALID, "name");
	refuses_join(&empty, 1, RG_ERR_INVALID, "name");
	refuses_join(&longest, 1, RG_ERR_INVALID, "name");
	rg__alloc_fail_after(1);
	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_ERR_MEMORY);
	rg__alloc_fail_after(0);
	ck_assert_str_eq(rg_member_state(seat.member), "Unjoined");
	get_in();
	refuses_join(seat_protocols, 2, RG_ERR_STATE, "Stable");
	seat_leave(&seat, 5000);
	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_ERR_STATE);
	seat_until(&seat, seat_has_left, 5001, "it has left");
	get_in();
}
END_TEST

/* Out by max.poll.interval.ms it is a member all the same, to be brought back by polling: to join once more would
 * wait for a PREPARE that was given already. */
START_TEST(joining_while_suspended)
{
	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_OK);
	rg_member_event_free(await(RG_MEMBER_PREPARE));
	sim_run_ms(&seat.sim, 11000);
	ck_assert_str_eq(rg_member_state(seat.member), "Unjoined");
	rg_member_event *event = await(RG_MEMBER_ERROR);

	ck_assert_int_eq(event->error.code, RG_ERR_MAX_POLL);
	rg_member_event_free(event);
	refuses_join(seat_protocols, 2, RG_ERR_STATE, "joined already");
	ck_assert_int_eq(rg_member_leave(seat.member, RG_LEAVE_DEFAULT, NULL, 1000), RG_OK);
	rg_member_event_free(await(RG_MEMBER_LEFT));
	get_in();
}
END_TEST

START_TEST(leaving_and_rejoining)
{
	ck_assert_int_eq(rg_member_leave(seat.member, RG_LEAVE_DEFAULT, NULL, 1000), RG_ERR_STATE);
	ck_assert_int_eq(rg_member_rejoin(seat.member, NULL), RG_ERR_STATE);
	ck_assert_ptr_null(rg_member_next(seat.member));
	get_in();
	ck_assert_int_eq(rg_member_rejoin(seat.member, NULL), RG_OK);
	seat_leave(&seat, 5000);
	seat_until(&seat, seat_has_left, 5001, "it has left");
	ck_assert_int_eq(rg_member_leave(seat.member, RG_LEAVE_DEFAULT, NULL, 1000), RG_ERR_STATE);
	ck_assert_int_eq(rg_member_rejoin(seat.member, "again"), RG_ERR_STATE);
}
END_TEST

START_TEST(answering_prepare)
{
	rg_member_protocol empty = {"", {"x", 1}};
	rg_member_event *event;

	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_OK);
	event = await(RG_MEMBER_PREPARE);
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, &empty, 1, 0), RG_ERR_INVALID);
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, seat_protocols, 0, 0), RG_ERR_INVALID);
	rg__alloc_fail_after(1);
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, seat_protocols, 2, 0), RG_ERR_MEMORY);
	rg__alloc_fail_after(0);
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket + 1, NULL, 0, 0), RG_OK); /* outdated: ignored */
	sim_run_ms(&seat.sim, 1000);
	ck_assert_str_eq(rg_member_state(seat.member), "Preparing");
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, NULL, 0, 0), RG_OK);
	rg_member_event_free(event);
	rg_member_event_free(await(RG_MEMBER_ASSIGN));
}
END_TEST

static rg_member_event *until_assign(void)
{
	rg_member_event *event;

	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_OK);
	event = await(RG_MEMBER_PREPARE);
	ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, NULL, 0, 0), RG_OK);
	rg_member_event_free(event);
	event = await(RG_MEMBER_ASSIGN);
	ck_assert_uint_eq(event->member_count, 1);
	return event;
}

START_TEST(answering_assign)
{
	rg_member_event *event = until_assign();
	const char *id = event->members[0].member_id;
	rg_member_share good = {id, {"share", 5}}, twice[] = {good, good}, stranger = {"somebody", {"x", 1}};
	rg_member_share nobody = {NULL, {"x", 1}}, endless = {id, {"x", (size_t)INT32_MAX + 1}};

	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, twice, 2), RG_ERR_INVALID);
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &stranger, 1), RG_ERR_INVALID);
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &nobody, 1), RG_ERR_INVALID);
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &endless, 1), RG_ERR_INVALID);
	rg__alloc_fail_after(1);
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &good, 1), RG_ERR_MEMORY);
	rg__alloc_fail_after(0);
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket - 1, &stranger, 1), RG_OK); /* outdated: ignored */
	ck_assert_str_eq(rg_member_state(seat.member), "Assigning");
	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &good, 1), RG_OK);
	rg_member_event_free(event);
	event = await(RG_MEMBER_COMPLETE);
	ck_assert_uint_eq(event->assignment.len, 5);
	ck_assert_int_eq(rg_member_assigned(seat.member, 1, &stranger, 1), RG_OK); /* over */
	rg_member_event_free(event);
}
END_TEST

/* A client.id with a NUL byte makes an id that no C string holds, and that may read like another's. The leader lists the
 * member, as it must, and gives it nothing. */
START_TEST(a_member_that_cannot_be_shown)
{
	static const uint8_t client_id[] = {'x', '\0', 'y'};
	rg_member_event *event;

	broker_rival_joins_as(&seat.broker, (struct rg__bytes){client_id, sizeof(client_id)});
	ck_assert_int_eq(seat_join(&seat), RG_OK);
	seat_until(&seat, seat_is_stable, WITHIN_MS, "the member is in"); /* following the rival */
	ck_assert(seat.broker.rival.leads);
	broker_rival_leaves(&seat.broker);
	seat_pass(&seat, 8000);
	broker_rival_joins_as(&seat.broker, (struct rg__bytes){client_id, sizeof(client_id)});
	for (int i = 0; !seat.broker.rival.stable; i++) {
		ck_assert_int_lt(i, 100);
		seat_pass(&seat, 200);
	}
	ck_assert(!seat.broker.rival.leads);
	ck_assert_uint_eq(seat.broker.rival.assignment_len, 0);
	seat_until(&seat, seat_is_stable, WITHIN_MS, "the member leads");
	ck_assert_str_eq(seat.assignment, "share");
	event = rg_member_next(seat.member);
	ck_assert_ptr_null(event);
	ck_assert_int_eq(seat.error_count, 0);
}
END_TEST

/* The error comes back in the words it was given, and the rebalance goes on after retry. */
START_TEST(an_assignor_that_fails)
{
	static const struct {
		rg_err given, told;
		const char *text, *told_text;
	} rows[] = {
		{RG_ERR_BAD_PLAN, RG_ERR_BAD_PLAN, "t-0 is given twice", "t-0 is given twice"},
		{RG_ERR_ASSIGNOR, RG_ERR_ASSIGNOR, NULL, "the assignor gave no plan and no reason"},
		{27, RG_ERR_ASSIGNOR, "a code of Kafka's", "a code of Kafka's"},
	};
	rg_member_event *event = until_assign();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rg_member_assign_failed(seat.member, event->ticket + 1, rows[i].given, "nobody asked");
		rg_member_assign_failed(seat.member, event->ticket, rows[i].given, rows[i].text);
		rg_member_event_free(event);
		event = await(RG_MEMBER_ERROR);
		ck_assert_int_eq(event->error.code, rows[i].told);
		ck_assert_str_eq(event->error.text, rows[i].told_text);
		ck_assert(!event->fatal);
		rg_member_event_free(event);
		sim_run_ms(&seat.sim, 3000);
		ck_assert_str_eq(rg_member_state(seat.member), "Preparing"); /* not before it is told to go on */
		rg_member_retry(seat.member);
		event = await(RG_MEMBER_ASSIGN);
	}
	rg_member_share share = {event->members[0].member_id, {"share", 5}};

	ck_assert_int_eq(rg_member_assigned(seat.member, event->ticket, &share, 1), RG_OK);
	rg_member_event_free(event);
	rg_member_event_free(await(RG_MEMBER_COMPLETE));
}
END_TEST

static rg_error heard;
static int heard_count;

static void hear(void *user, const struct rg__response *response)
{
	(void)user;
	heard = response->error;
	heard_count++;
}

static rg_err request(int16_t api_key, int64_t timeout_ms, rg__request_id *ret_id)
{
	static struct rg__offset_commit_request body;
	struct rg__call call = {.api_key = api_key, .body = &body, .timeout_ms = timeout_ms, .done = hear};

	rg__fields_init(&rg__offset_commit_request_fields, &body);
	body.group_id = rg__bytes_of("g");
	return rg__member_request(seat.member, &call, ret_id);
}

/* Before the member has joined nobody looks the coordinator up, and the request ends by its time. */
START_TEST(requests_of_offsets)
{
	rg__request_id id = 0;

	heard_count = 0;
	for (long n = 1; n <= 2; n++) {
		rg__alloc_fail_after(n);
		ck_assert_int_eq(request(RG__API_OFFSET_COMMIT, 1000, NULL), RG_ERR_MEMORY);
		rg__alloc_fail_after(0);
	}
	ck_assert_int_eq(request(RG__API_OFFSET_COMMIT, 1000, NULL), RG_OK);
	ck_assert_int_eq(request(RG__API_OFFSET_COMMIT, INT64_MAX, &id), RG_OK); /* no limit is one far away */
	sim_run_ms(&seat.sim, 999);
	ck_assert_int_eq(heard_count, 0);
	sim_run_ms(&seat.sim, 2);
	ck_assert_int_eq(heard_count, 1);
	ck_assert_int_eq(heard.code, RG_ERR_TIMED_OUT);
	ck_assert_uint_gt(strlen(heard.text), 0);
	rg__member_cancel(seat.member, id);
	rg__member_cancel(seat.member, id);
	rg__member_cancel(seat.member, 12345);
	get_in();
	ck_assert_int_eq(heard_count, 1);
	ck_assert_int_eq(request(RG__API_OFFSET_COMMIT, 1000, NULL), RG_OK);
	seat_pass(&seat, 1000);
	ck_assert_int_eq(heard_count, 2);
	ck_assert_int_eq(heard.code, RG_OK);
	/* One that cannot be written: it is said from the loop, not from the call. */
	ck_assert_int_eq(request(99, 1000, NULL), RG_OK);
	ck_assert_int_eq(heard_count, 2);
	seat_pass(&seat, 1000);
	ck_assert_int_eq(heard_count, 3);
	ck_assert_int_eq(heard.code, RG_ERR_INVALID);
}
END_TEST

/* No event is lost for want of memory: it stays first in line. */
START_TEST(taking_events)
{
	rg_member_event *event;

	ck_assert_int_eq(rg_member_join(seat.member, seat_protocols, 2, NULL), RG_OK);
	rg__alloc_fail_after(1);
	ck_assert_ptr_null(rg_member_next(seat.member));
	rg__alloc_fail_after(0);
	event = rg_member_next(seat.member);
	ck_assert_ptr_nonnull(event);
	ck_assert_int_eq(event->type, RG_MEMBER_PREPARE);
	rg_member_event_free(event);
	ck_assert_ptr_null(rg_member_next(seat.member));
}
END_TEST

START_TEST(nothing_is_something)
{
	rg_member_free(NULL);
	rg_member_event_free(NULL);
	rg_conf_free(NULL);
	ck_assert_int_eq(rg_member_fd(seat.member), -1); /* somebody else's loop runs it */
	ck_assert_str_eq(rg_cause_name((rg_cause)99), "UNKNOWN");
	ck_assert_str_eq(rg_cause_name(RG_CAUSE_FENCED), "FENCED");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, making_one);
	tcase_add_test(tcase, joining);
	tcase_add_test(tcase, joining_while_suspended);
	tcase_add_test(tcase, leaving_and_rejoining);
	tcase_add_test(tcase, answering_prepare);
	tcase_add_test(tcase, answering_assign);
	tcase_add_test(tcase, a_member_that_cannot_be_shown);
	tcase_add_test(tcase, an_assignor_that_fails);
	tcase_add_test(tcase, requests_of_offsets);
	tcase_add_test(tcase, taking_events);
	tcase_add_test(tcase, nothing_is_something);
}

int main(void)
{
	return run_suite("fault_calls", fill);
}
