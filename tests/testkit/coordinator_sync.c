/* SPDX-License-Identifier: Apache-2.0 */
/* SyncGroup at the coordinator, and what ends by time: who waits for the plan, who is told to rejoin, who is
 * removed. */
#include "room.h"
#include "suite.h"

/* The story the library is measured by, seen from here: a group that is not yet stable gets a second member.
 * scenarios J.165, A.16; bugs librdkafka 1, 2 */
START_TEST(not_yet_stable)
{
	struct actor *m1 = actor("m1"), *m2 = actor("m2");

	join_twice(m1);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=1 leads [m1] range\n");
	/* m1 takes its time over the plan. Meanwhile: */
	join_twice(m2);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n");
	sync_plan(m1, "m1=all");
	saw("m1 < SyncGroup 27\n");
	group_is("PreparingRebalance gen=1 leader=m1 protocol=range members=[m1 m2+join]");
	join(m1);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=2 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=2 follows m1 range\n");
	sync_plan(m2, "");
	saw("");
	group_is("AwaitingSync gen=2 leader=m1 protocol=range members=[m1 m2+sync]");
	sync_plan(m1, "m1=p0 m2=p1");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'p0'\n"
	    "m2 < SyncGroup 'p1'\n");
	group_is("Stable gen=2 leader=m1 protocol=range members=[m1 m2]");
}
END_TEST

/* The other story: a third member joins a settled group; the others learn it by heartbeat. scenarios C.54 */
START_TEST(stable)
{
	struct actor *two[] = {actor("m1"), actor("m2")}, *m3 = actor("m3");

	settle(2, two);
	heartbeat(two[0]);
	saw("m1 < Heartbeat 0\n");
	join_twice(m3);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	heartbeat(two[0]);
	heartbeat(two[1]);
	saw("m1 < Heartbeat 27\n"
	    "m2 < Heartbeat 27\n");
	join(two[1]);
	join(two[0]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2 m3] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n"
	    "m3 < JoinGroup gen=3 follows m1 range\n");
	heartbeat(two[1]);
	saw("m2 < Heartbeat 0\n");
	sync_plan(two[0], "m1=p0 m2=p1 m3=p2");
	sync_plan(two[1], "");
	sync_plan(m3, "");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'p0'\n"
	    "m2 < SyncGroup 'p1'\n"
	    "m3 < SyncGroup 'p2'\n");
}
END_TEST

/* scenarios J.165 */
START_TEST(a_parked_sync_hears_27_when_somebody_joins)
{
	struct actor *two[] = {actor("m1"), actor("m2")}, *m3 = actor("m3");

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
	join_twice(m3);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n"
	    "m2 < SyncGroup 27\n");
}
END_TEST

/* bugs 6: who is left out of the plan gets zero bytes, which is not an error. */
START_TEST(a_member_without_a_part_gets_zero_bytes)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	join(three[0]);
	join(three[1]);
	join(three[2]);
	sync_plan(three[1], "");
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=4 leads [m1 m2 m3] range\n"
	    "m2 < JoinGroup gen=4 follows m1 range\n"
	    "m3 < JoinGroup gen=4 follows m1 range\n");
	sync_plan(three[0], "m1=p0 ghost=p1");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'p0'\n"
	    "m2 < SyncGroup ''\n");
	sync_plan(three[2], "");
	saw("m3 < SyncGroup ''\n");
}
END_TEST

START_TEST(a_sync_must_fit_the_group)
{
	struct actor *m1 = actor("m1"), *nobody = actor("nobody");

	sync_plan(nobody, "");
	saw("nobody < SyncGroup 25\n"); /* no such group */
	nobody->group = "";
	sync_plan(nobody, "");
	saw("nobody < SyncGroup 24\n");
	nobody->group = "g";
	settle(1, &m1);
	sync_plan(nobody, "");
	saw("nobody < SyncGroup 25\n");
	sync_with(m1, 0, NULL, NULL);
	saw("m1 < SyncGroup 22\n");
	sync_with(m1, 2, NULL, NULL);
	saw("m1 < SyncGroup 22\n");
	/* KIP-559 */
	sync_with(m1, 1, "connect", "range");
	saw("m1 < SyncGroup 23\n");
	sync_with(m1, 1, "consumer", "roundrobin");
	saw("m1 < SyncGroup 23\n");
	/* broker: both have to be said, in the version that can. */
	sync_with(m1, 1, "consumer", NULL);
	saw("m1 < SyncGroup 23\n");
	sync_with(m1, 1, NULL, "range");
	saw("m1 < SyncGroup 23\n");
	sync_with(m1, 1, "consumer", "range");
	saw("m1 < SyncGroup 'p0'\n");
	leave(m1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "m1 < LeaveGroup 0 m1=0\n");
	sync_plan(m1, "");
	saw("m1 < SyncGroup 25\n");
}
END_TEST

/* scenarios J.166; bugs 68, KAFKA-12890 */
START_TEST(a_leader_that_never_syncs_is_removed)
{
	struct actor *m1 = actor("m1"), *m2 = actor("m2");

	m1->join_version = m2->join_version = 3;
	settings()->initial_delay_us = 1000000;
	join(m1);
	join(m2);
	pass_ms(2000);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=1 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=1 follows m1 range\n");
	sync_plan(m2, "");
	for (int i = 0; i < 59; i++) { /* it lives, it only never plans */
		heartbeat(m1);
		saw("m1 < Heartbeat 0\n");
		pass_ms(1000);
	}
	saw("");
	pass_ms(1000);
	saw("m1 expired: no SyncGroup within the rebalance timeout\n"
	    "delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n"
	    "m2 < SyncGroup 27\n");
	join(m2);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m2 < JoinGroup gen=2 leads [m2] range\n");
	heartbeat(m1);
	saw("m1 < Heartbeat 25\n");
}
END_TEST

/* scenarios J.167; bugs 68 */
START_TEST(a_follower_that_never_syncs_is_removed_from_a_stable_group)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[0]);
	join(two[1]);
	sync_plan(two[0], "m1=p0 m2=p1");
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n"
	    "AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'p0'\n");
	for (int i = 0; i < 12; i++) {
		heartbeat(two[0]);
		heartbeat(two[1]);
		saw("m1 < Heartbeat 0\nm2 < Heartbeat 0\n");
		pass_ms(i < 11 ? 5000 : 4999);
	}
	saw("");
	pass_ms(1);
	saw("m2 expired: no SyncGroup within the rebalance timeout\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n");
}
END_TEST

/* bugs 68, 70: once everybody has asked for the plan the deadline is void, also for later generations (KAFKA-7196). */
START_TEST(a_deadline_that_was_met_removes_nobody_later)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	ck_assert_int_eq(next_deadline_ms(), 10000); /* the sessions alone */
	for (int i = 0; i < 30; i++) {
		pass_ms(5000);
		heartbeat(two[0]);
		heartbeat(two[1]);
		saw("m1 < Heartbeat 0\nm2 < Heartbeat 0\n");
	}
	group_is("Stable gen=2 leader=m1 protocol=range members=[m1 m2]");
}
END_TEST

/* scenarios C.58 */
START_TEST(a_silent_member_is_removed)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	pass_ms(6000);
	heartbeat(two[1]);
	saw("m2 < Heartbeat 0\n");
	pass_ms(3999);
	saw("");
	pass_ms(1);
	saw("m1 expired: session timeout\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n");
	heartbeat(two[0]);
	saw("m1 < Heartbeat 25\n");
	heartbeat(two[1]);
	saw("m2 < Heartbeat 27\n");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m2 < JoinGroup gen=3 leads [m2] range\n");
}
END_TEST

/* Who only asks for its share again and again is silent. */
START_TEST(a_sync_in_a_stable_group_is_no_sign_of_life)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	pass_ms(6000);
	sync_plan(m1, "");
	saw("m1 < SyncGroup 'p0'\n");
	pass_ms(3999);
	saw("");
	pass_ms(1);
	saw("m1 expired: session timeout\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n");
}
END_TEST

/* bugs 73: sessions end while the group prepares a rebalance, too. */
START_TEST(a_silent_member_is_removed_from_a_rebalance)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	join(three[0]);
	join(three[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	pass_ms(9999);
	saw("");
	pass_ms(1);
	saw("m3 expired: session timeout\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=4 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=4 follows m1 range\n");
}
END_TEST

/* bugs librdkafka 53; broker: whoever waits for an answer is alive, however long that takes. */
START_TEST(a_member_that_waits_does_not_expire)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	two[0]->session_ms = two[1]->session_ms = 6000;
	settle(2, two);
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	for (int i = 0; i < 11; i++) { /* m2 beats on and does not come */
		pass_ms(5000);
		heartbeat(two[1]);
		saw("m2 < Heartbeat 27\n");
	}
	group_is("PreparingRebalance gen=2 leader=m1 protocol=range members=[m1+join m2]");
	pass_ms(5000);
	saw("m2 expired: did not rejoin within the rebalance timeout\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1] range\n");
	/* Its session starts with the answer. */
	pass_ms(5999);
	saw("");
	pass_ms(1);
	saw("m1 expired: session timeout\n"
	    "delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n");
}
END_TEST

/* broker: a newcomer cannot beat, so it gets five minutes instead; then it is taken for gone although its request
 * waits. */
START_TEST(a_newcomer_is_not_waited_for_for_ever)
{
	struct actor *m1 = actor("m1"), *m2 = actor("m2");

	m1->rebalance_ms = m2->rebalance_ms = 1000000;
	settle(1, &m1);
	join_twice(m2);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	for (int i = 0; i < 60; i++) {
		heartbeat(m1);
		saw("m1 < Heartbeat 27\n");
		pass_ms(i < 59 ? 5000 : 4999);
	}
	saw("");
	pass_ms(1);
	saw("m2 expired: session timeout\n"
	    "m2 < JoinGroup 25\n");
}
END_TEST

/* Whether the caller looks at the deadline or not: what is due happens before the request. */
START_TEST(a_late_caller_sees_the_same)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	ck_assert_int_eq(next_deadline_ms(), 10000);
	settings()->session_min_us = 0;
	pass_ms(9999);
	heartbeat(m1);
	saw("m1 < Heartbeat 0\n");
	ck_assert_int_eq(next_deadline_ms(), 10000);
	jump_ms(10000);
	heartbeat(m1);
	saw("m1 expired: session timeout\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "m1 < Heartbeat 25\n");
	ck_assert_int_eq(next_deadline_ms(), -1);
}
END_TEST

START_TEST(a_heartbeat_must_fit_the_group)
{
	struct actor *m1 = actor("m1"), *nobody = actor("nobody");

	heartbeat(nobody);
	saw("nobody < Heartbeat 25\n");
	nobody->group = "";
	heartbeat(nobody);
	saw("nobody < Heartbeat 24\n");
	settle(1, &m1);
	m1->generation = 0;
	heartbeat(m1);
	saw("m1 < Heartbeat 22\n");
	m1->generation = 2;
	heartbeat(m1);
	saw("m1 < Heartbeat 22\n");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, not_yet_stable);
	tcase_add_test(tcase, stable);
	tcase_add_test(tcase, a_parked_sync_hears_27_when_somebody_joins);
	tcase_add_test(tcase, a_member_without_a_part_gets_zero_bytes);
	tcase_add_test(tcase, a_sync_must_fit_the_group);
	tcase_add_test(tcase, a_leader_that_never_syncs_is_removed);
	tcase_add_test(tcase, a_follower_that_never_syncs_is_removed_from_a_stable_group);
	tcase_add_test(tcase, a_deadline_that_was_met_removes_nobody_later);
	tcase_add_test(tcase, a_silent_member_is_removed);
	tcase_add_test(tcase, a_sync_in_a_stable_group_is_no_sign_of_life);
	tcase_add_test(tcase, a_silent_member_is_removed_from_a_rebalance);
	tcase_add_test(tcase, a_member_that_waits_does_not_expire);
	tcase_add_test(tcase, a_newcomer_is_not_waited_for_for_ever);
	tcase_add_test(tcase, a_late_caller_sees_the_same);
	tcase_add_test(tcase, a_heartbeat_must_fit_the_group);
}

int main(void)
{
	return run_suite("coordinator_sync", fill, enter_room, leave_room);
}
