/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator moves to another broker: what waits, what is kept, what is lost. */
#include "room.h"
#include "suite.h"

/* scenarios J.176; bugs librdkafka 3 */
START_TEST(a_stable_group_goes_on_without_a_rebalance)
{
	struct actor *two[] = {actor("m1"), static_actor("s2", "i2")};

	settle(2, two);
	commit(two[0], 9, "t", 0, 5);
	saw("m1 < OffsetCommit t-0=0\n");
	move_coordinator(true, 0);
	saw("Stable > Dead\n");
	group_is("Stable gen=2 leader=m1 protocol=range members=[m1 s2]");
	heartbeat(two[0]);
	heartbeat(two[1]);
	sync_plan(two[1], "");
	fetch(9, "g", "t:0");
	saw("m1 < Heartbeat 0\n"
	    "s2 < Heartbeat 0\n"
	    "s2 < SyncGroup 'p1'\n"
	    "outside < OffsetFetch g=0 t-0@5\n");
	/* Everybody has a whole session from the load on. */
	ck_assert_int_eq(next_deadline_ms(), 10000);
}
END_TEST

/* scenarios J.176, A.20, bugs 4, librdkafka 6: while the new one reads, heartbeats are fine and the rest hears 14. */
START_TEST(while_it_loads_only_heartbeats_are_fine)
{
	struct actor *m1 = actor("m1"), *m2 = actor("m2");

	settle(1, &m1);
	move_coordinator(true, 2000);
	saw("Stable > Dead\n");
	group_is("loading");
	heartbeat(m1);
	join(m2);
	sync_plan(m1, "");
	commit(m1, 9, "t", 0, 1);
	fetch(7, "g", "t:0");
	fetch(1, "g", "t:0");
	fetch(9, "g", NULL);
	leave(m1);
	saw("m1 < Heartbeat 0\n"
	    "m2 < JoinGroup 14\n"
	    "m1 < SyncGroup 14\n"
	    "m1 < OffsetCommit t-0=14\n"
	    "outside < OffsetFetch 14\n"
	    "outside < OffsetFetch 0 t-0@-1=14\n"
	    "outside < OffsetFetch g=14\n"
	    "m1 < LeaveGroup 14\n");
	ck_assert_int_eq(next_deadline_ms(), 2000);
	pass_ms(2000);
	group_is("Stable gen=1 leader=m1 protocol=range members=[m1]");
}
END_TEST

/* scenarios A.22 */
START_TEST(whoever_waits_is_sent_to_the_new_one)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	join(three[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	move_coordinator(true, 0);
	saw("PreparingRebalance > Dead\n"
	    "m1 < JoinGroup 16\n");
	/* It was Stable when it was last written down. */
	group_is("Stable gen=3 leader=m1 protocol=range members=[m1 m2 m3]");
}
END_TEST

START_TEST(a_generation_without_a_plan_is_not_remembered)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[0]);
	join(two[1]);
	sync_plan(two[1], "");
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
	move_coordinator(true, 0);
	saw("AwaitingSync > Dead\n"
	    "m2 < SyncGroup 16\n");
	group_is("Stable gen=2 leader=m1 protocol=range members=[m1 m2]");
	sync_plan(two[0], "m1=p0 m2=p1");
	heartbeat(two[1]);
	saw("m1 < SyncGroup 22\n"
	    "m2 < Heartbeat 22\n");
}
END_TEST

/* An id that was handed out is written down nowhere. */
START_TEST(handed_out_ids_are_forgotten)
{
	struct actor *m1 = actor("m1");

	join(m1);
	saw("m1 < JoinGroup 79\n");
	move_coordinator(true, 0);
	saw("Empty > Dead\n");
	group_is("Empty gen=0 leader=- protocol=- members=[]");
	join(m1);
	saw("m1 < JoinGroup 25\n");
}
END_TEST

/* broker: of each member only what it said for the chosen protocol is written down. */
START_TEST(a_list_of_several_protocols_counts_as_a_change_after_it)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	two[0]->protocols = "range:t";
	two[1]->protocols = "range:t roundrobin:t";
	settle(2, two);
	move_coordinator(true, 0);
	saw("Stable > Dead\n");
	join(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
}
END_TEST

/* scenarios J.173 */
START_TEST(a_limit_that_shrank_meanwhile_makes_some_leave)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	settings()->group_size_max = 2;
	move_coordinator(true, 1000);
	pass_ms(1000);
	saw("Stable > Dead\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(three[2]);
	join(three[1]);
	join(three[0]);
	saw("m1 < JoinGroup 81\n");
}
END_TEST

/* bugs 74, 69 */
START_TEST(what_was_lost_is_lost)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	commit(m1, 9, "t", 0, 5);
	saw("m1 < OffsetCommit t-0=0\n");
	move_coordinator(false, 0);
	saw("Stable > Dead\n");
	group_is("absent");
	heartbeat(m1);
	join(m1);
	sync_plan(m1, "");
	commit(m1, 9, "t", 0, 5);
	fetch(9, "g", "t:0");
	saw("m1 < Heartbeat 25\n"
	    "m1 < JoinGroup 25\n"
	    "m1 < SyncGroup 25\n"
	    "m1 < OffsetCommit t-0=69\n"
	    "outside < OffsetFetch g=0 t-0@-1\n");
}
END_TEST

/* bugs 69, KAFKA-10284: a seat that was taken over is written down. */
START_TEST(a_replaced_static_member_survives)
{
	struct actor *s1 = static_actor("s1", "i1");

	settle(1, &s1);
	for (int i = 0; i < 5; i++) {
		s1->id[0] = '\0';
		join(s1);
		saw("s1 < JoinGroup gen=1 leads [s1] range skip\n");
		move_coordinator(true, 0);
		saw("Stable > Dead\n");
		heartbeat(s1);
		saw("s1 < Heartbeat 0\n");
	}
	sync_plan(s1, "");
	saw("s1 < SyncGroup 'p0'\n");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_stable_group_goes_on_without_a_rebalance);
	tcase_add_test(tcase, while_it_loads_only_heartbeats_are_fine);
	tcase_add_test(tcase, whoever_waits_is_sent_to_the_new_one);
	tcase_add_test(tcase, a_generation_without_a_plan_is_not_remembered);
	tcase_add_test(tcase, handed_out_ids_are_forgotten);
	tcase_add_test(tcase, a_list_of_several_protocols_counts_as_a_change_after_it);
	tcase_add_test(tcase, a_limit_that_shrank_meanwhile_makes_some_leave);
	tcase_add_test(tcase, what_was_lost_is_lost);
	tcase_add_test(tcase, a_replaced_static_member_survives);
}

int main(void)
{
	return run_suite("coordinator_move", fill, enter_room, leave_room);
}
