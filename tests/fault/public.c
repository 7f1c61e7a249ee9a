/* SPDX-License-Identifier: Apache-2.0 */
/* Public calls that need memory, each refused it at every place in turn: configurations, plans, members with a loop of their
 * own. The call says so and has changed nothing; once there is memory it does its work. */
#include "base/alloc.h"
#include "seat.h"
#include "suite.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 1000 };

/* Calls `attempt` with the first, second, … allocation failing until it needs no more. False: it had no memory. */
static long at_every_allocation(bool (*attempt)(void))
{
	for (long n = 1; n < MOST; n++) {
		rg__alloc_fail_after(n);
		bool good = attempt();

		if (rg__alloc_fail_after(0) > 0) {
			ck_assert(good);
			return n - 1;
		}
	}
	ck_abort_msg("more than %d allocations", MOST);
	return 0;
}

/* --- Configuration ------------------------------------------------------------------------------------------------ */

static rg_conf *conf;

static const char *const properties[][3] = { /* before, after */
	{"bootstrap.servers", "a:1", "b:2,c:3"},
	{"group.id", "g", "another-group"},
	{"group.instance.id", "i", "another-instance"},
	{"client.rack", "r", "another-rack"},
	{"client.id", "c", "another-client"},
	{"session.timeout.ms", "10000", "12000"},
	{"partition.assignment.strategy", "range", "roundrobin,sticky"},
	{"fetch.min.bytes", "1", "17"},
	{"auto.offset.reset", "earliest", "by_duration:PT86400S"},
};
enum { PROPERTIES = sizeof(properties) / sizeof(*properties) };

static int property;

static void has(const char *value)
{
	char text[256];

	ck_assert_int_eq(rg_conf_get(conf, properties[property][0], text, sizeof(text), NULL), RG_OK);
	ck_assert_str_eq(text, value);
}

static bool set_property(void)
{
	rg_error error = {0};
	rg_err err = rg_conf_set(conf, properties[property][0], properties[property][2], &error);
	long left = rg__alloc_fail_after(0);

	ck_assert_int_eq(error.code, err);
	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	has(properties[property][err ? 1 : 2]);
	rg__alloc_fail_after(left);
	return !err;
}

START_TEST(setting_a_property)
{
	long count = 0;

	conf = rg_conf_new();
	for (property = 0; property < PROPERTIES; property++) {
		ck_assert_int_eq(rg_conf_set(conf, properties[property][0], properties[property][1], NULL), RG_OK);
		count += at_every_allocation(set_property);
	}
	ck_assert_int_gt(count, PROPERTIES / 2);
	rg_conf_free(conf);
}
END_TEST

static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)group;
	(void)plan;
	(void)error;
	(void)user;
	return RG_OK;
}

static bool add_assignor(void)
{
	rg_assignor mine = {.size = sizeof(mine), .name = "mine", .protocols = RG_EAGER, .assign = assign};
	rg_error error = {0};
	rg_err err = rg_conf_add_assignor(conf, &mine, NULL, &error);

	ck_assert_int_eq(error.code, err);
	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	return !err; /* had one failed have stayed, the next would be taken */
}

START_TEST(adding_an_assignor)
{
	conf = rg_conf_new();
	ck_assert_int_gt(at_every_allocation(add_assignor), 0);
	ck_assert_int_eq(rg_conf_set(conf, "partition.assignment.strategy", "mine", NULL), RG_OK);
	rg_conf_free(conf);
}
END_TEST

/* --- Plans -------------------------------------------------------------------------------------------------------- */

static bool make_and_check_plan(void)
{
	static const rg_group_topic topic = {.name = "t", .partition_count = 4};
	static const int32_t subscribed[] = {0};
	static const rg_group_member members[] = {
		{.member_id = "a", .topics = subscribed, .topic_count = 1, .generation = -1},
		{.member_id = "b", .topics = subscribed, .topic_count = 1, .generation = -1},
	};
	rg_group group = {sizeof(group), members, 2, &topic, 1, 1};
	rg_plan *plan = rg_plan_new(&group);
	rg_error error = {0};
	rg_err err;

	if (!plan)
		return false;
	ck_assert_int_eq(rg_plan_give(plan, 0, 0, 0), RG_OK); /* there is room already */
	ck_assert_int_eq(rg_plan_give_range(plan, 1, 0, 1, 3), RG_OK);
	err = rg_plan_set_userdata(plan, 0, "xy", 2);
	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	ck_assert_uint_eq(rg_plan_userdata(plan, 0).len, err ? 0 : 2);
	if (!err) {
		err = rg_plan_check(plan, NULL, &error);
		ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
		ck_assert_int_eq(error.code, err);
	}
	rg_plan_free(plan);
	return !err;
}

START_TEST(making_a_plan)
{
	ck_assert_int_gt(at_every_allocation(make_and_check_plan), 4);
}
END_TEST

/* --- Members ------------------------------------------------------------------------------------------------------ */

static bool make_member(void)
{
	rg_member *member = NULL;
	rg_error error = {0};
	rg_err err = rg_member_new(&member, conf, "consumer", &error);

	ck_assert_int_eq(error.code, err);
	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	ck_assert((member != NULL) == (err == RG_OK));
	rg_member_free(member);
	return !err;
}

START_TEST(making_a_member)
{
	conf = seat_conf(NULL);
	ck_assert_int_gt(at_every_allocation(make_member), 10);
	rg_conf_free(conf);
}
END_TEST

/* No descriptor is left for its loop: that is the system's refusal, and named so. */
START_TEST(no_descriptors)
{
	struct rlimit before, none;
	rg_member *member = NULL;
	rg_error error = {0};
	int last;

	conf = seat_conf(NULL);
	ck_assert(make_member()); /* libuv wants some for the whole process when it is first used, or aborts */
	ck_assert_int_ge(last = dup(0), 0);
	close(last);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	for (int room = 0; room < 4; room++) {
		none.rlim_cur = (rlim_t)(last + room);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
		rg_err err = rg_member_new(&member, conf, "consumer", &error);

		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (room == 0)
			ck_assert_int_eq(err, RG_ERR_SYSTEM);
		ck_assert(err == RG_OK || err == RG_ERR_SYSTEM);
		ck_assert_int_eq(error.code, err);
		ck_assert((member != NULL) == (err == RG_OK));
		rg_member_free(member);
		member = NULL;
		error = (rg_error){0};
	}
	ck_assert(make_member());
	rg_conf_free(conf);
}
END_TEST

/* A leader that had no memory for its plan: nobody is told by the member, and it is asked again after a pause. */
START_TEST(a_leader_without_memory)
{
	struct seat seat;
	rg_member_event *event = NULL;
	uint32_t ticket = 0;

	conf = seat_conf(NULL);
	seat_begin(&seat, conf);
	ck_assert_int_eq(seat_make(&seat), RG_OK);
	ck_assert_int_eq(seat_join(&seat), RG_OK);
	for (int asked = 0; asked < 2;) {
		while (!(event = rg_member_next(seat.member)))
			sim_turn(&seat.sim);
		ck_assert_int_ne(event->type, RG_MEMBER_ERROR);
		if (event->type == RG_MEMBER_PREPARE) {
			ck_assert_int_eq(asked, 0); /* still the same rebalance */
			ck_assert_int_eq(rg_member_prepared(seat.member, event->ticket, NULL, 0, 0), RG_OK);
		} else if (event->type == RG_MEMBER_ASSIGN) {
			ck_assert_uint_ne(event->ticket, ticket);
			ticket = event->ticket;
			asked++;
			if (asked == 1)
				rg_member_assign_failed(seat.member, ticket, RG_ERR_MEMORY, "none left");
			else
				ck_assert_int_eq(rg_member_assigned(seat.member, ticket, NULL, 0), RG_OK);
		}
		rg_member_event_free(event);
	}
	while (!(event = rg_member_next(seat.member)))
		sim_turn(&seat.sim);
	ck_assert_int_eq(event->type, RG_MEMBER_COMPLETE);
	rg_member_event_free(event);
	seat_end(&seat);
	rg_conf_free(conf);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, setting_a_property);
	tcase_add_test(tcase, adding_an_assignor);
	tcase_add_test(tcase, making_a_plan);
	tcase_add_test(tcase, making_a_member);
	tcase_add_test(tcase, no_descriptors);
	tcase_add_test(tcase, a_leader_without_memory);
}

int main(void)
{
	return run_suite("fault_public", fill);
}
