/* SPDX-License-Identifier: Apache-2.0 */
/* LeaveGroup at the coordinator. */
#include "room.h"
#include "suite.h"

#include <string.h>

/* bugs librdkafka 14, 58: who leaves holds up nobody. */
START_TEST(the_others_learn_it_at_once)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	leave(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "m2 < LeaveGroup 0 m2=0\n");
	heartbeat(two[0]);
	saw("m1 < Heartbeat 27\n");
	join(two[0]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1] range\n");
}
END_TEST

START_TEST(the_leaders_leave_makes_another_lead)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	leave(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "m1 < LeaveGroup 0 m1=0\n");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m2 < JoinGroup gen=3 leads [m2] range\n");
}
END_TEST

/* bugs 74: the generation goes on while the group is remembered. */
START_TEST(the_last_one_leaves_the_group_empty)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	leave(m1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "m1 < LeaveGroup 0 m1=0\n");
	group_is("Empty gen=2 leader=- protocol=- members=[]");
	/* Any protocol type is welcome again. */
	m1->protocol_type = "connect";
	m1->id[0] = '\0';
	join_twice(m1);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1] range\n");
}
END_TEST

/* bugs 74: and starts over when it is forgotten. */
START_TEST(an_empty_group_is_forgotten)
{
	struct actor *m1 = actor("m1");

	settings()->empty_group_us = 600000000;
	settle(1, &m1);
	leave(m1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "m1 < LeaveGroup 0 m1=0\n");
	pass_ms(599999);
	saw("");
	pass_ms(1);
	saw("Empty > Dead\n");
	group_is("absent");
	m1->id[0] = '\0';
	join_twice(m1);
	forget_seen();
	group_is("AwaitingSync gen=1 leader=m1 protocol=range members=[m1]");
}
END_TEST

/* scenarios J.172 */
START_TEST(a_batch_is_answered_entry_by_entry)
{
	struct actor *three[] = {actor("m1"), static_actor("s2", "i2"), static_actor("s3", "i3")};

	settle(3, three);
	leave_batch(5, "m1 s2/i3 ghost /i3 /i9 s2/i2");
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "outside < LeaveGroup 0 m1=0 s2/i3=82 ?=25 ''/i3=0 ''/i9=25 s2/i2=0\n");
}
END_TEST

START_TEST(a_batch_without_a_valid_entry_changes_nothing)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	leave_batch(5, "ghost");
	leave_batch(5, "");
	saw("outside < LeaveGroup 0 ?=25\n"
	    "outside < LeaveGroup 0\n");
	group_is("Stable gen=1 leader=m1 protocol=range members=[m1]");
}
END_TEST

/* Before version 3 there is one member and one error. */
START_TEST(old_clients_leave_alone)
{
	struct actor *m1 = actor("m1");

	leave_batch(2, "ghost");
	saw("outside < LeaveGroup 25\n"); /* no such group */
	leave_batch(5, "ghost");
	saw("outside < LeaveGroup 0 ?=25\n");
	settle(1, &m1);
	leave_batch(2, "ghost");
	saw("outside < LeaveGroup 25\n");
	leave_batch(0, "m1");
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > Empty\n"
	    "outside < LeaveGroup 0\n");
}
END_TEST

/* bugs 65: leaving in the middle of a rebalance. */
START_TEST(whoever_waits_for_a_leaver_goes_on)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	join(three[0]);
	join(three[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	leave(three[2]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m3 < LeaveGroup 0 m3=0\n"
	    "m1 < JoinGroup gen=4 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=4 follows m1 range\n");
	sync_plan(three[1], "");
	leave(three[0]);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n"
	    "m1 < LeaveGroup 0 m1=0\n"
	    "m2 < SyncGroup 27\n");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_others_learn_it_at_once);
	tcase_add_test(tcase, the_leaders_leave_makes_another_lead);
	tcase_add_test(tcase, the_last_one_leaves_the_group_empty);
	tcase_add_test(tcase, an_empty_group_is_forgotten);
	tcase_add_test(tcase, a_batch_is_answered_entry_by_entry);
	tcase_add_test(tcase, a_batch_without_a_valid_entry_changes_nothing);
	tcase_add_test(tcase, old_clients_leave_alone);
	tcase_add_test(tcase, whoever_waits_for_a_leaver_goes_on);
}

int main(void)
{
	return run_suite("coordinator_leave", fill, enter_room, leave_room);
}
