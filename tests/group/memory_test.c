/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, for every n, on the way to Stable and out again: the member recovers by itself. */
#include "base/alloc.h"
#include "group/machine.h"
#include "../lib/suite.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

struct walk {
	struct rg__machine *machine;
	struct rg__actions actions;
	int64_t now_us;
	int joins;
};

static const struct rg__action *find(const struct walk *walk, enum rg__action_type type)
{
	for (int i = 0; i < walk->actions.count; i++)
		if (walk->actions.items[i].type == type)
			return &walk->actions.items[i];
	return NULL;
}

static const struct rg__action *happen(struct walk *walk, struct rg__event event, enum rg__action_type expected)
{
	const struct rg__action *action;

	rg__machine_step(walk->machine, walk->now_us, &event, &walk->actions);
	/* What did not come at once for want of memory comes when its pause is over. */
	while (!(action = find(walk, expected))) {
		int64_t at_us = rg__machine_deadline(walk->machine);

		ck_assert_msg(at_us < walk->now_us + 60000000, "it never came: %d", (int)expected);
		walk->now_us = at_us > walk->now_us ? at_us : walk->now_us;
		rg__machine_step(walk->machine, walk->now_us, &(struct rg__event){.type = RG__EVENT_DEADLINE}, &walk->actions);
	}
	return action;
}

static void join(struct walk *walk, uint32_t attempt, rg_err err)
{
	struct rg__event event = {.type = RG__EVENT_JOIN_ANSWERED, .err = err, .attempt = attempt, .generation = 4,
	                          .member_id = rg__bytes_of("m1"), .leader = rg__bytes_of("m0"),
	                          .protocol_name = rg__bytes_of("range")};

	do {
		rg__machine_step(walk->machine, walk->now_us, &event, &walk->actions);
		walk->joins++;
		if (find(walk, RG__DO_SEND_SYNC) || (err && find(walk, RG__DO_SEND_JOIN)))
			return;
		/* Half an answer is none: id and generation go together. */
		ck_assert_str_eq(rg__machine_member_id(walk->machine), err ? "" : "m1");
		ck_assert_int_eq(rg__machine_generation(walk->machine), -1);
		event.attempt = happen(walk, (struct rg__event){.type = RG__EVENT_RETRY}, RG__DO_SEND_JOIN)->attempt;
	} while (walk->joins < 10);
	ck_abort_msg("JoinGroup is sent again and again");
}

/* From nothing to Stable and out. False: there was no memory for a machine. */
static bool whole_life(void)
{
	struct rg__group_conf conf;
	struct walk walk = {.now_us = 1000000};
	uint32_t attempt;

	trace_conf(&conf);
	walk.machine = rg__machine_new(&conf, walk.now_us);
	if (!walk.machine)
		return false;
	attempt = happen(&walk, (struct rg__event){.type = RG__EVENT_START}, RG__DO_PREPARE)->attempt;
	uint32_t look_up = find(&walk, RG__DO_FIND_COORDINATOR)->attempt;
	rg__machine_step(walk.machine, walk.now_us, &(struct rg__event){.type = RG__EVENT_PREPARED, .attempt = attempt}, &walk.actions);
	attempt = happen(&walk, (struct rg__event){.type = RG__EVENT_FIND_ANSWERED, .attempt = look_up}, RG__DO_SEND_JOIN)->attempt;
	join(&walk, attempt, 79);
	join(&walk, find(&walk, RG__DO_SEND_JOIN)->attempt, RG_OK);
	ck_assert_str_eq(rg__machine_protocol(walk.machine), "range");
	attempt = find(&walk, RG__DO_SEND_SYNC)->attempt;
	happen(&walk, (struct rg__event){.type = RG__EVENT_SYNC_ANSWERED, .attempt = attempt}, RG__DO_COMPLETE);
	ck_assert_str_eq(rg__machine_member_id(walk.machine), "m1");
	attempt = happen(&walk, (struct rg__event){.type = RG__EVENT_LEAVE}, RG__DO_SEND_LEAVE)->attempt;
	happen(&walk, (struct rg__event){.type = RG__EVENT_LEAVE_ANSWERED, .attempt = attempt}, RG__DO_LEFT);
	rg__machine_free(walk.machine);
	return true;
}

START_TEST(the_nth_allocation_fails)
{
	long n = 0, left, refused = 0;

	do {
		rg__alloc_fail_after(++n);
		refused += !whole_life();
		left = rg__alloc_fail_after(0);
	} while (left <= 0);
	printf("%ld allocations in a life, %ld of them before it began\n", n - 1, refused);
	ck_assert_int_ge(refused, 3);
	ck_assert_int_gt(n - 1, refused);
	ck_assert(whole_life());
}
END_TEST

START_TEST(printing_without_memory)
{
	long n = 0, left;

	do {
		struct rg__buf out = {0};
		bool printed;

		rg__alloc_fail_after(++n);
		printed = rg__states_print(&out);
		left = rg__alloc_fail_after(0);
		ck_assert(printed == (left > 0));
		rg__buf_free(&out);
	} while (left <= 0);
	ck_assert_int_gt(n, 2);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_nth_allocation_fails);
	tcase_add_test(tcase, printing_without_memory);
}

int main(void)
{
	return suite_run("memory", fill, 30);
}
