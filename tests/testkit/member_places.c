/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of regroup/member.h in every place where it may not belong: before there is a seat, with an event that is
 * not answered yet, with nobody to talk to, after leaving, after a fatal error. What is refused changes nothing, and no
 * call waits longer than it was told to. */
#include "header_calls.h"
#include "suite.h"

#include <regroup/member.h>
#include <regroup/testkit.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum place {
	UNJOINED,  /* as it was made */
	UNREACHED, /* joined, but no broker was ever there */
	PREPARING, /* RG_MEMBER_PREPARE was taken and is not answered */
	STABLE,
	STRANDED,  /* Stable, and then all brokers went away */
	LEAVING,   /* the answer to LeaveGroup is awaited */
	LEFT,
	FAILED,    /* a fatal error, which was told */
	PLACES
};

static const char *const place_names[] = {"unjoined", "unreached", "preparing", "stable",
                                          "stranded", "leaving",   "left",      "failed"};

enum { WAIT_MS = 100, SLACK_MS = 2500, DEADLINE_MS = 20000 };
enum { HEARTBEAT = 12, LEAVE_GROUP = 13, NO_TICKET = 4711 };
/* What a row expects beside errors: RG_ERR_STATE or RG_ERR_INVALID, since both are true; or it is not called there, since it
 * would end the place. */
enum { ANY = -9999, LATER = -9998 };

static rg_testkit *kit;
static rg_member *member;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void start(void)
{
	rg_testkit_conf conf;

	rg_testkit_conf_init(&conf, sizeof(conf));
	ck_assert_int_eq(rg_testkit_new(&kit, &conf, NULL), RG_OK);
}

static void end(void)
{
	rg_member_free(member);
	member = NULL;
	rg_testkit_free(kit);
}

static rg_conf *conf_of(const char *group)
{
	const char *const settings[][2] = {{"bootstrap.servers", rg_testkit_bootstrap(kit)},
	                                   {"group.id", group},
	                                   {"group.instance.id", "one"},
	                                   {"heartbeat.interval.ms", "50"},
	                                   {"session.timeout.ms", "30000"},
	                                   {"retry.backoff.ms", "10"},
	                                   {"reconnect.backoff.ms", "10"}};
	rg_conf *conf = rg_conf_new();
	rg_error error = {0};

	ck_assert_ptr_nonnull(conf);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		ck_assert_msg(rg_conf_set(conf, settings[i][0], settings[i][1], &error) == RG_OK, "%s", error.text);
	rg_conf_set_log(conf, NULL, NULL);
	return conf;
}

static void sit_down(void)
{
	rg_conf *conf = conf_of("g");
	rg_error error = {0};

	ck_assert_msg(rg_member_new(&member, conf, "work", &error) == RG_OK, "%s", error.text);
	rg_conf_free(conf);
}

/* --- The calls ---------------------------------------------------------------------------------------------------- */

static const rg_member_protocol protocol = {"share", {"", 0}};

static rg_err call_new(void)
{
	rg_conf *conf = conf_of("other");
	rg_member *other = NULL;
	rg_err err = rg_member_new(&other, conf, "work", NULL);

	rg_conf_free(conf);
	rg_member_free(other);
	return err;
}

static rg_err call_free(void)
{
	rg_member_free(NULL);
	return RG_OK;
}

static rg_err call_fd(void)
{
	return rg_member_fd(member) >= 0 ? RG_OK : RG_ERR_SYSTEM;
}

static rg_err call_timeout_ms(void)
{
	return rg_member_timeout_ms(member) >= -1 ? RG_OK : RG_ERR_SYSTEM;
}

static rg_err call_dispatch(void)
{
	rg_member_dispatch(member);
	return RG_OK;
}

static rg_err call_wait(void)
{
	rg_member_wait(member, WAIT_MS);
	return RG_OK;
}

/* Told to wait for ever, it returns since it was woken up before. */
static rg_err call_wakeup(void)
{
	rg_member_wakeup(member);
	rg_member_wait(member, DEADLINE_MS);
	return RG_OK;
}

static rg_err call_join(void)
{
	return rg_member_join(member, &protocol, 1, NULL);
}

static rg_err call_join_badly(void)
{
	return rg_member_join(member, NULL, 0, NULL);
}

static rg_err call_rejoin(void)
{
	return rg_member_rejoin(member, "a test");
}

static rg_err call_leave(void)
{
	return rg_member_leave(member, RG_LEAVE_DEFAULT, NULL, WAIT_MS);
}

static rg_err call_leave_badly(void)
{
	return rg_member_leave(member, (rg_leave)77, NULL, WAIT_MS);
}

static rg_err call_poll(void)
{
	rg_member_poll(member);
	return RG_OK;
}

static rg_err call_cause_name(void)
{
	for (int cause = -1; cause < 20; cause++)
		ck_assert_ptr_nonnull(rg_cause_name((rg_cause)cause));
	return RG_OK;
}

/* There is none: what there was the test has taken. */
static rg_err call_next(void)
{
	rg_member_event *event = rg_member_next(member);
	rg_err err = event && event->type != RG_MEMBER_ERROR ? RG_ERR_STATE : RG_OK;

	rg_member_event_free(event);
	return err;
}

static rg_err call_event_free(void)
{
	rg_member_event_free(NULL);
	return RG_OK;
}

/* Tickets that nobody has given out are ignored. */
static rg_err call_prepared(void)
{
	return rg_member_prepared(member, NO_TICKET, &protocol, 1, 0);
}

static rg_err call_assigned(void)
{
	rg_member_share share = {"nobody", {"x", 1}};

	return rg_member_assigned(member, NO_TICKET, &share, 1);
}

static rg_err call_assign_failed(void)
{
	rg_member_assign_failed(member, NO_TICKET, RG_ERR_ASSIGNOR, "a test");
	return RG_OK;
}

static rg_err call_retry(void)
{
	rg_member_retry(member);
	return RG_OK;
}

static rg_err call_state(void)
{
	return rg_member_state(member)[0] ? RG_OK : RG_ERR_STATE;
}

static void metric(const char *name, double value, void *user)
{
	(void)value;
	*(int *)user += name[0] != '\0';
}

static rg_err call_metrics(void)
{
	int count = 0;
	rg_err err = rg_member_metrics(member, metric, &count);

	ck_assert(err || count > 0);
	return err;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

enum { OK_ = RG_OK, STATE = RG_ERR_STATE, BAD = RG_ERR_INVALID };

static const struct row {
	const char *name;
	rg_err (*call)(void);
	int expected[PLACES];
} rows[] = {
	/*                                          unjoined unreached preparing stable stranded leaving left failed */
	{"rg_member_new", call_new, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_free", call_free, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_fd", call_fd, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_timeout_ms", call_timeout_ms, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_dispatch", call_dispatch, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_wait", call_wait, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_wakeup", call_wakeup, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_poll", call_poll, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_cause_name", call_cause_name, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_next", call_next, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_event_free", call_event_free, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_prepared", call_prepared, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_assigned", call_assigned, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_assign_failed", call_assign_failed, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_retry", call_retry, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_state", call_state, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_metrics", call_metrics, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_member_join", call_join, {LATER, STATE, STATE, STATE, STATE, STATE, LATER, STATE}},
	{"rg_member_join", call_join_badly, {BAD, ANY, ANY, ANY, ANY, ANY, BAD, ANY}},
	{"rg_member_leave", call_leave_badly, {ANY, BAD, BAD, BAD, BAD, BAD, ANY, BAD}},
	{"rg_member_rejoin", call_rejoin, {STATE, LATER, LATER, LATER, LATER, STATE, STATE, STATE}},
	{"rg_member_leave", call_leave, {STATE, LATER, LATER, LATER, LATER, OK_, STATE, LATER}},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void walk(enum place place)
{
	for (int i = 0; i < ROWS; i++) {
		const char *before = rg_member_state(member);
		int64_t began = now_ms(), took;
		rg_err err;

		if (rows[i].expected[place] == LATER)
			continue;
		err = rows[i].call();
		took = now_ms() - began;
		/* Wrong in two ways: either may be said. */
		ck_assert_msg(rows[i].expected[place] == ANY ? err == STATE || err == BAD : err == rows[i].expected[place],
		              "%s %s: %s", rows[i].name, place_names[place], rg_err_name(err));
		ck_assert_msg(took < WAIT_MS + SLACK_MS, "%s %s took %d ms", rows[i].name, place_names[place], (int)took);
		ck_assert_msg(!strcmp(rg_member_state(member), before), "%s %s: it was %s and is %s", rows[i].name,
		              place_names[place], before, rg_member_state(member));
	}
}

/* --- The places --------------------------------------------------------------------------------------------------- */

/* Takes events until there is one of this type, which the caller answers and frees; answers those before it. */
static rg_member_event *take(rg_member_event_type type)
{
	int64_t ends = now_ms() + DEADLINE_MS;

	for (;;) {
		rg_member_event *event = rg_member_next(member);

		if (event && event->type == type)
			return event;
		if (event && (event->type == RG_MEMBER_PREPARE || event->type == RG_MEMBER_LOST))
			rg_member_prepared(member, event->ticket, NULL, 0, 0);
		else if (event && event->type == RG_MEMBER_ASSIGN)
			rg_member_assigned(member, event->ticket, NULL, 0);
		if (!event)
			rg_member_wait(member, 20);
		rg_member_event_free(event);
		ck_assert_msg(now_ms() < ends, "event %d did not come, the member is %s", (int)type, rg_member_state(member));
	}
}

static void join(void)
{
	rg_error error = {0};

	ck_assert_msg(rg_member_join(member, &protocol, 1, &error) == RG_OK, "%s", error.text);
}

/* Whatever is there or not: RG_MEMBER_LEFT comes in time. */
static void leave_in_time(void)
{
	int64_t began = now_ms();

	ck_assert_int_eq(call_leave(), RG_OK);
	ck_assert_int_eq(call_rejoin(), RG_ERR_STATE);
	rg_member_event_free(take(RG_MEMBER_LEFT));
	ck_assert_int_lt(now_ms() - began, WAIT_MS + SLACK_MS);
}

START_TEST(a_life_and_what_is_possible_in_it)
{
	rg_member_event *event;

	sit_down();
	walk(UNJOINED);
	join();
	event = take(RG_MEMBER_PREPARE);
	walk(PREPARING);
	ck_assert_int_eq(rg_member_prepared(member, event->ticket, NULL, 0, 0), RG_OK);
	rg_member_event_free(event);
	rg_member_event_free(take(RG_MEMBER_COMPLETE));
	walk(STABLE);
	ck_assert_int_eq(rg_testkit_stop_broker(kit, 1, NULL), RG_OK);
	rg_member_wait(member, 50);
	walk(STRANDED);
	leave_in_time();
	walk(LEFT);
}
END_TEST

START_TEST(with_no_broker_from_the_start)
{
	rg_member_event *event;

	ck_assert_int_eq(rg_testkit_stop_broker(kit, 1, NULL), RG_OK);
	sit_down();
	join();
	event = take(RG_MEMBER_PREPARE);
	ck_assert_int_eq(rg_member_prepared(member, event->ticket, NULL, 0, 0), RG_OK);
	rg_member_event_free(event);
	walk(UNREACHED);
	leave_in_time();
}
END_TEST

START_TEST(on_the_way_out)
{
	int hold;

	ck_assert_int_eq(rg_testkit_hold_request(kit, LEAVE_GROUP, 1, false, &hold, NULL), RG_OK);
	sit_down();
	join();
	rg_member_event_free(take(RG_MEMBER_COMPLETE));
	ck_assert_int_eq(rg_member_leave(member, RG_LEAVE_ALWAYS, "a test", DEADLINE_MS), RG_OK);
	ck_assert_str_eq(rg_member_state(member), "Leaving");
	walk(LEAVING);
	ck_assert_int_eq(rg_testkit_release(kit, hold, NULL), RG_OK);
	rg_member_event_free(take(RG_MEMBER_LEFT));
	walk(LEFT);
	join(); /* and it can come back */
	rg_member_event_free(take(RG_MEMBER_COMPLETE));
}
END_TEST

START_TEST(failed_and_what_is_possible_then)
{
	rg_member_event *event;

	sit_down();
	join();
	rg_member_event_free(take(RG_MEMBER_COMPLETE));
	ck_assert_int_eq(rg_testkit_fail_request(kit, HEARTBEAT, 1, 82, NULL), RG_OK);
	event = take(RG_MEMBER_ERROR);
	ck_assert_int_eq(event->fatal, 1);
	ck_assert_int_eq(event->error.code, 82);
	rg_member_event_free(event);
	rg_member_wait(member, 20);
	while ((event = rg_member_next(member))) /* what was held is lost, with its cause */
		rg_member_event_free(event);
	ck_assert_str_eq(rg_member_state(member), "Failed");
	walk(FAILED);
}
END_TEST

static bool in_table(const char *name, size_t len)
{
	for (int i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len))
			return true;
	return false;
}

/* A call that is added to the header and not to the table is found here. */
START_TEST(the_table_has_every_call_of_the_header)
{
	ck_assert_int_eq(header_calls(HEADERS "/member.h", in_table), ROWS - 2); /* join and leave are there twice */
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_life_and_what_is_possible_in_it);
	tcase_add_test(tcase, with_no_broker_from_the_start);
	tcase_add_test(tcase, on_the_way_out);
	tcase_add_test(tcase, failed_and_what_is_possible_then);
	tcase_add_test(tcase, the_table_has_every_call_of_the_header);
}

int main(void)
{
	return run_suite("member_places", fill, start, end);
}
