/* SPDX-License-Identifier: Apache-2.0 */
/* A seat without a consumer: rg_member by its public calls, on the embedded cluster. */
#include "suite.h"

#include <poll.h>
#include <regroup/member.h>
#include <regroup/testkit.h>
#include <string.h>
#include <time.h>

enum { HEARTBEAT = 12, DEADLINE_S = 20 };

static rg_testkit *kit;
static rg_member *member;

static void setup(void)
{
	rg_testkit_conf conf;

	rg_testkit_conf_init(&conf, sizeof(conf));
	ck_assert_int_eq(rg_testkit_new(&kit, &conf, NULL), RG_OK);
}

static void teardown(void)
{
	rg_member_free(member);
	member = NULL;
	rg_testkit_free(kit);
}

static void sit_down(void)
{
	static const char *const settings[][2] = {
		{"group.id", "g"}, {"heartbeat.interval.ms", "10"}, {"group.heartbeat.budget", "0"}, {"session.timeout.ms", "6000"}};
	rg_member_protocol protocol = {"share", {"", 0}};
	rg_conf *conf = rg_conf_new();
	rg_error error = {0};

	ck_assert_int_eq(rg_conf_set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit), &error), RG_OK);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		ck_assert_msg(rg_conf_set(conf, settings[i][0], settings[i][1], &error) == RG_OK, "%s", error.text);
	rg_conf_set_log(conf, NULL, NULL);
	ck_assert_msg(rg_member_new(&member, conf, "work", &error) == RG_OK, "%s", error.text);
	rg_conf_free(conf);
	ck_assert_int_eq(rg_member_join(member, &protocol, 1, &error), RG_OK);
}

/* The next event of this type; others are answered and dropped on the way, errors counted. */
static void take_until(rg_member_event_type type, int *ret_errors)
{
	time_t end = time(NULL) + DEADLINE_S;
	rg_member_event *event;
	bool found = false;

	while (!found) {
		ck_assert_msg(time(NULL) < end, "event %d did not come, the member is %s", (int)type, rg_member_state(member));
		rg_member_wait(member, 50);
		while (!found && (event = rg_member_next(member))) {
			found = event->type == type;
			if (event->type == RG_MEMBER_PREPARE || event->type == RG_MEMBER_LOST)
				ck_assert_int_eq(rg_member_prepared(member, event->ticket, NULL, 0, 0), RG_OK);
			if (event->type == RG_MEMBER_ASSIGN)
				ck_assert_int_eq(rg_member_assigned(member, event->ticket, NULL, 0), RG_OK);
			if (event->type == RG_MEMBER_ERROR && ret_errors)
				++*ret_errors;
			rg_member_event_free(event);
		}
	}
}

static void wait_for_heartbeats(int64_t count)
{
	time_t end = time(NULL) + DEADLINE_S;

	while (rg_testkit_request_count(kit, HEARTBEAT) < count) {
		ck_assert_msg(time(NULL) < end, "%d heartbeats", (int)rg_testkit_request_count(kit, HEARTBEAT));
		/* rg_member_wait would not wait: there are events to take. */
		poll(&(struct pollfd){.fd = rg_member_fd(member), .events = POLLIN}, 1, 10);
		rg_member_dispatch(member);
	}
}

/* An application that takes no events while errors pile up still hears, in order, what it must answer. */
START_TEST(errors_that_nobody_takes_do_not_push_out_what_must_be_answered)
{
	enum { ROUNDS = 60 };
	int errors = 0;

	sit_down();
	take_until(RG_MEMBER_COMPLETE, NULL);
	int64_t before = rg_testkit_request_count(kit, HEARTBEAT);

	for (int32_t i = 0; i < ROUNDS; i++) /* not permitted, permitted, not permitted, … */
		ck_assert_int_eq(rg_testkit_fail_request(kit, HEARTBEAT, 2 * i + 3, 30, NULL), RG_OK);
	ck_assert_int_eq(rg_testkit_fail_request(kit, HEARTBEAT, 2 * ROUNDS + 4, 25, NULL), RG_OK);
	wait_for_heartbeats(before + 2 * ROUNDS + 4);
	take_until(RG_MEMBER_LOST, &errors);
	ck_assert_int_gt(errors, 5);
	ck_assert_int_lt(errors, ROUNDS);
	take_until(RG_MEMBER_PREPARE, NULL);
	take_until(RG_MEMBER_COMPLETE, NULL);
	ck_assert_str_eq(rg_member_state(member), "Stable");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, errors_that_nobody_takes_do_not_push_out_what_must_be_answered);
}

int main(void)
{
	return run_suite("member_seat", fill, setup, teardown);
}
