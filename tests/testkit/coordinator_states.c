/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator as a whole: its state table, its events, memory that runs out, and requests in any order. */
#include "base/alloc.h"
#include "base/backoff.h"
#include "room.h"
#include "suite.h"

#include <string.h>

START_TEST(the_state_table_is_this_one)
{
	struct rg__buf table = {0};

	ck_assert(rg__kit_group_states_print(&table));
	rg__buf_append(&table, "", 1);
	ck_assert_str_eq((const char *)table.data, "Empty              -> PreparingRebalance Dead\n"
						   "PreparingRebalance -> Empty AwaitingSync Dead\n"
						   "AwaitingSync       -> PreparingRebalance Stable Dead\n"
						   "Stable             -> PreparingRebalance Dead\n"
						   "Dead               -> (none)\n");
	rg__buf_free(&table);
}
END_TEST

START_TEST(events_are_lines_of_the_common_schema)
{
	struct actor *m1 = actor("m1");

	m1->instance_id = "i\"1";
	show_all_events();
	m1->protocols = "";
	join(m1);
	saw("{\"t_us\":0,\"src\":\"coordinator\",\"member\":\"\",\"gen\":-1,\"event\":\"join_received\",\"group\":\"g\"}\n"
	    "{\"t_us\":0,\"src\":\"coordinator\",\"member\":\"\",\"gen\":0,\"event\":\"join_answered\",\"group\":\"g\","
	    "\"error\":\"INCONSISTENT_GROUP_PROTOCOL\"}\n"
	    "m1 < JoinGroup 23\n");
	m1->reason = "because";
	m1->protocols = "range:t";
	strcpy(m1->id, "x");
	join(m1);
	saw("{\"t_us\":0,\"src\":\"coordinator\",\"member\":\"x\",\"gen\":0,\"event\":\"join_received\",\"group\":\"g\","
	    "\"reason\":\"because\"}\n"
	    "{\"t_us\":0,\"src\":\"coordinator\",\"member\":\"x\",\"gen\":0,\"event\":\"join_answered\",\"group\":\"g\","
	    "\"error\":\"UNKNOWN_MEMBER_ID\"}\n"
	    "m1 < JoinGroup 25\n");
}
END_TEST

/* What each step of a generation tells, by name. */
START_TEST(a_generation_tells_its_story)
{
	struct actor *s1 = static_actor("s1", "i1");

	show_event_names();
	join(s1);
	saw("join_received\n"
	    "delayed_join\n"
	    "state\n"
	    "delayed_join\n"
	    "state\n"
	    "join_answered\n"
	    "s1 < JoinGroup gen=1 leads [s1] range\n");
	sync_plan(s1, "s1=p0");
	saw("sync_received\n"
	    "sync_answered\n"
	    "state\n"
	    "s1 < SyncGroup 'p0'\n");
	pass_ms(10000);
	saw("expired\n"
	    "delayed_join\n"
	    "state\n"
	    "delayed_join\n"
	    "state\n");
}
END_TEST

/* Everything a group can live through, in one go. */
static void a_life(void)
{
	struct actor *m[] = {actor("m1"), static_actor("s2", "i2"), actor("m3")};

	m[2]->protocols = "range:t roundrobin:t";
	settle(3, m);
	commit(m[0], 9, "t", 0, 1);
	commit(m[0], 9, "t", 0, 2);
	fetch(9, "g", NULL);
	fetch(7, "g", "t:0,1");
	fetch(1, "g", "t:0");
	m[1]->id[0] = '\0';
	join(m[1]);
	move_coordinator(true, 1000);
	join(m[0]);
	commit(m[0], 9, "t", 0, 2);
	pass_ms(1000);
	join(m[0]);
	join(m[2]);
	sync_plan(m[2], "");
	pass_ms(70000);
	join(m[2]);
	sync_plan(m[2], "");
	leave(m[2]);
	leave_batch(5, "m1 s2/i2 /i2");
	pass_ms(100000);
	commit_outside(9, "h", "t", 0, 2);
	settings()->superseded_error = RG__KIT_NOT_COORDINATOR;
	m[0]->id[0] = '\0';
	join(m[0]);
	join(m[0]);
	join(m[0]);
	move_coordinator(false, 0);
	forget_seen();
}

START_TEST(memory_may_run_out_anywhere)
{
	long nth = 0;
	bool failed = true;

	while (failed) {
		leave_room();
		enter_room();
		starve(++nth);
		a_life();
		failed = starved();
	}
	ck_assert_int_gt(nth, 150); /* so many allocations a life takes, or the test has lost its way */
}
END_TEST

/* Any requests in any order: the coordinator's own assertions and the encoder hold the watch. */
START_TEST(requests_in_any_order)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct rg__random random = {seed * 7919};
		struct actor *a[6];

		leave_room();
		enter_room();
		settings()->initial_delay_us = seed % 2 ? 0 : 3000000;
		settings()->superseded_error = seed % 3 ? RG__KIT_NEVER_ANSWERED : RG__KIT_NOT_COORDINATOR;
		settings()->group_size_max = seed % 5 ? 100 : 3;
		for (int i = 0; i < 6; i++) {
			static const char *const names[] = {"m1", "m2", "m3", "s4", "s5", "s6"};

			a[i] = i < 3 ? actor(names[i]) : static_actor(names[i], i < 5 ? "i" : "j");
			a[i]->rebalance_ms = 20000;
			a[i]->join_version = i == 2 ? 3 : 9;
		}
		for (int i = 0; i < 400; i++) {
			struct actor *who = a[rg__random_next(&random) % 6];

			switch (rg__random_next(&random) % 14) {
			case 0:
				who->protocols = rg__random_next(&random) % 2 ? "range:t" : "range:u roundrobin:u";
				join(who);
				break;
			case 1:
			case 2:
			case 3:
				join(who);
				break;
			case 4:
			case 5:
				sync_plan(who, rg__random_next(&random) % 2 ? "m1=x s4=y" : "");
				break;
			case 6:
			case 7:
				heartbeat(who);
				break;
			case 8:
				leave(who);
				break;
			case 9:
				commit(who, 8, "t", 0, i);
				break;
			case 10:
				who->id[0] = '\0';
				break;
			case 11:
				pass_ms((int64_t)(rg__random_next(&random) % 8000));
				break;
			case 12:
				jump_ms((int64_t)(rg__random_next(&random) % 8000));
				break;
			default:
				if (rg__random_next(&random) % 8 == 0)
					move_coordinator(rg__random_next(&random) % 4 > 0,
							 (int64_t)(rg__random_next(&random) % 2 * 1000));
			}
			forget_seen();
		}
		/* Left alone it comes to rest: everybody's session ends. */
		pass_ms(3600000);
		forget_seen();
		ck_assert_int_eq(next_deadline_ms(), -1);
	}
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_state_table_is_this_one);
	tcase_add_test(tcase, events_are_lines_of_the_common_schema);
	tcase_add_test(tcase, a_generation_tells_its_story);
	tcase_add_test(tcase, memory_may_run_out_anywhere);
	tcase_add_test(tcase, requests_in_any_order);
}

int main(void)
{
	return run_suite("coordinator_states", fill, enter_room, leave_room);
}
