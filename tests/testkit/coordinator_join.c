/* SPDX-License-Identifier: Apache-2.0 */
/* JoinGroup at the coordinator: who gets in, who waits for whom, who is asked to come back. */
#include "room.h"
#include "suite.h"

#include <string.h>

/* scenarios J.162, KIP-394 */
START_TEST(a_dynamic_member_joins_in_two_steps)
{
	struct actor *m1 = actor("m1");

	join(m1);
	saw("m1 < JoinGroup 79\n");
	ck_assert(!strncmp(m1->id, "m1-", 3) && strlen(m1->id) == 3 + 36);
	group_is("Empty gen=0 leader=- protocol=- members=[] pending=1");
	join(m1);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=1 leads [m1] range\n");
	sync_plan(m1, "m1=all");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'all'\n");
	group_is("Stable gen=1 leader=m1 protocol=range members=[m1]");
}
END_TEST

/* scenarios J.162 */
START_TEST(old_clients_and_static_members_join_in_one_step)
{
	struct actor *old = actor("old"), *fixed = static_actor("fixed", "i1");

	old->join_version = 3;
	join(old);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "old < JoinGroup gen=1 leads [old] range\n");
	join(fixed);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n");
	ck_assert_str_eq(fixed->id, "");
	join(old);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "old < JoinGroup gen=2 leads [old fixed] range\n"
	    "fixed < JoinGroup gen=2 follows old range\n");
	ck_assert(!strncmp(fixed->id, "i1-", 3));
}
END_TEST

/* KIP-62: version 0 knows no rebalance timeout; the session's takes its place. */
START_TEST(version_0_waits_as_long_as_a_session)
{
	struct actor *old = actor("old"), *m2 = actor("m2");

	old->join_version = 0;
	old->rebalance_ms = 1;
	m2->rebalance_ms = 5000;
	settle(1, &old);
	join_twice(m2);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	pass_ms(6000);
	heartbeat(old);
	saw("old < Heartbeat 27\n");
	pass_ms(3999);
	saw("");
	pass_ms(1);
	saw("old expired: did not rejoin within the rebalance timeout\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m2 < JoinGroup gen=2 leads [m2] range\n");
}
END_TEST

/* scenarios J.163, A.37, bugs kafka 20938: what 4.3.1 does. */
START_TEST(a_second_join_silently_replaces_the_first)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(two[0]);
	join(two[0]);
	saw("");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
}
END_TEST

/* scenarios J.163, bugs kafka 20938: what later brokers do. */
START_TEST(a_second_join_or_sync_makes_the_first_hear_16)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	settings()->superseded_error = RG__KIT_NOT_COORDINATOR;
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(two[0]);
	saw("m1 < JoinGroup 16\n");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
	sync_plan(two[1], "");
	saw("");
	sync_plan(two[1], "");
	saw("m2 < SyncGroup 16\n");
	sync_plan(two[0], "m1=a m2=b");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'a'\n"
	    "m2 < SyncGroup 'b'\n");
}
END_TEST

/* scenarios J.164, bugs kafka 7909: the group waits for who was asked to come back, until its session would be over. */
START_TEST(a_handed_out_id_holds_up_the_group_until_it_expires)
{
	struct actor *m1 = actor("m1"), *slow = actor("slow"), *m2 = actor("m2");

	settle(1, &m1);
	slow->session_ms = 6000;
	join(slow);
	saw("slow < JoinGroup 79\n");
	join_twice(m2);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(m1);
	saw("");
	group_is("PreparingRebalance gen=1 leader=m1 protocol=range members=[m1+join m2+join] pending=1");
	pass_ms(5999);
	saw("");
	pass_ms(1);
	saw("slow expired: the id that was handed out did not come back\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=2 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=2 follows m1 range\n");
	/* And it is no id any more. */
	join(slow);
	saw("slow < JoinGroup 25\n");
}
END_TEST

/* scenarios J.164, A.8: it may also say that it does not come. */
START_TEST(a_handed_out_id_that_leaves_holds_up_nobody)
{
	struct actor *m1 = actor("m1"), *gone = actor("gone"), *m2 = actor("m2");

	settle(1, &m1);
	join(gone);
	saw("gone < JoinGroup 79\n");
	join_twice(m2);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(m1);
	saw("");
	leave(gone);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "gone < LeaveGroup 0 gone=0\n"
	    "m1 < JoinGroup gen=2 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=2 follows m1 range\n");
}
END_TEST

/* broker: an id that was handed out belongs to a dynamic member. */
START_TEST(a_handed_out_id_is_no_static_members)
{
	struct actor *m1 = actor("m1");

	join(m1);
	saw("m1 < JoinGroup 79\n");
	m1->instance_id = "i1";
	join(m1);
	saw("m1 < JoinGroup -1\n");
}
END_TEST

/* scenarios J.175 */
START_TEST(an_unchanged_follower_gets_the_present_generation_again)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[1]);
	saw("m2 < JoinGroup gen=2 follows m1 range\n");
	sync_plan(two[1], "");
	saw("m2 < SyncGroup 'p1'\n");
	group_is("Stable gen=2 leader=m1 protocol=range members=[m1 m2]");
}
END_TEST

/* scenarios J.175 */
START_TEST(a_follower_with_another_subscription_starts_a_rebalance)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	two[1]->protocols = "range:t,u";
	join(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	heartbeat(two[0]);
	saw("m1 < Heartbeat 27\n");
	join(two[0]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
}
END_TEST

/* scenarios J.175, E.89: the leader knows why it asks. */
START_TEST(a_leader_that_rejoins_starts_a_rebalance)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	group_is("PreparingRebalance gen=2 leader=m1 protocol=range members=[m1+join m2]");
}
END_TEST

/* broker: who lost its JoinGroup answer gets it again, the leader with its list. */
START_TEST(an_unchanged_join_while_the_plan_is_awaited_gets_the_same_answer)
{
	struct actor *two[] = {actor("m1"), actor("m2")};

	settle(2, two);
	join(two[0]);
	join(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
	join(two[0]);
	join(two[1]);
	saw("m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
	two[1]->protocols = "range:u";
	join(two[1]);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n");
}
END_TEST

/* scenarios J.168, KIP-134 */
START_TEST(the_first_generation_waits_for_company)
{
	struct actor *m1 = actor("m1"), *m2 = actor("m2"), *m3 = actor("m3");

	settings()->initial_delay_us = 3000000;
	join_twice(m1);
	saw("delayed join created\n"
	    "Empty > PreparingRebalance\n");
	pass_ms(2900);
	join_twice(m2);
	pass_ms(100); /* 3.0 s: m2 came meanwhile, so another round */
	saw("");
	pass_ms(2900);
	join_twice(m3);
	pass_ms(100); /* 6.0 s: and another */
	saw("");
	pass_ms(2999);
	saw("");
	pass_ms(1); /* 9.0 s: nobody came */
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=1 leads [m1 m2 m3] range\n"
	    "m2 < JoinGroup gen=1 follows m1 range\n"
	    "m3 < JoinGroup gen=1 follows m1 range\n");
}
END_TEST

/* scenarios J.168: not longer than the rebalance timeout, however many keep coming. */
START_TEST(company_is_awaited_at_most_for_the_rebalance_timeout)
{
	struct actor *members[] = {actor("m1"), actor("m2"), actor("m3"), actor("m4")};

	settings()->initial_delay_us = 3000000;
	for (int i = 0; i < 4; i++) {
		members[i]->rebalance_ms = 7000;
		join_twice(members[i]);
		saw(i ? "" : "delayed join created\nEmpty > PreparingRebalance\n");
		pass_ms(i < 3 ? 2000 : 999); /* joins at 0, 2, 4 and 6 s; the end is at 7 s */
		saw("");
	}
	pass_ms(1);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=1 leads [m1 m2 m3 m4] range\n"
	    "m2 < JoinGroup gen=1 follows m1 range\n"
	    "m3 < JoinGroup gen=1 follows m1 range\n"
	    "m4 < JoinGroup gen=1 follows m1 range\n");
}
END_TEST

/* scenarios J.173, KIP-389 */
START_TEST(one_member_too_many_hears_81)
{
	struct actor *two[] = {actor("m1"), actor("m2")}, *m3 = actor("m3"), *other = actor("other");

	settle(2, two);
	settings()->group_size_max = 2;
	join(m3);
	saw("m3 < JoinGroup 81\n");
	/* The size is checked before the protocols. */
	other->protocol_type = "connect";
	join(other);
	saw("other < JoinGroup 81\n");
	/* Those who are in may come and go. */
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
}
END_TEST

/* scenarios J.173: while a rebalance is on, seats go to who comes first. */
START_TEST(the_last_to_rejoin_is_too_many)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	settle(3, three);
	settings()->group_size_max = 2;
	join(three[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	join(three[2]);
	saw("");
	join(three[1]);
	saw("m2 < JoinGroup 81\n");
	group_is("PreparingRebalance gen=3 leader=m1 protocol=range members=[m1+join m3+join]");
	/* broker: that everybody is here now is not noticed until the time is up. */
	pass_ms(59999);
	saw("");
	pass_ms(1);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=4 leads [m1 m3] range\n"
	    "m3 < JoinGroup gen=4 follows m1 range\n");
}
END_TEST

/* scenarios A.26 */
START_TEST(session_timeouts_have_bounds)
{
	struct actor *m1 = actor("m1");

	m1->session_ms = 5999;
	join(m1);
	saw("m1 < JoinGroup 26\n");
	m1->session_ms = 1800001;
	join(m1);
	saw("m1 < JoinGroup 26\n");
	m1->session_ms = 6000;
	join(m1);
	saw("m1 < JoinGroup 79\n");
}
END_TEST

/* scenarios A.25, A.24 */
START_TEST(a_group_needs_a_name_and_a_way_to_share)
{
	struct actor *m1 = actor("m1");

	m1->group = "";
	join(m1);
	saw("m1 < JoinGroup 24\n");
	m1->group = "g";
	m1->protocols = "";
	join(m1);
	saw("m1 < JoinGroup 23\n");
	m1->protocols = "range:t";
	m1->protocol_type = "";
	join(m1);
	saw("m1 < JoinGroup 23\n");
}
END_TEST

START_TEST(an_id_nobody_gave_out_is_unknown)
{
	struct actor *m1 = actor("m1"), *liar = actor("liar");

	strcpy(liar->id, "m1-made-up");
	join(liar);
	saw("liar < JoinGroup 25\n"); /* also where there is no group */
	settle(1, &m1);
	join(liar);
	saw("liar < JoinGroup 25\n");
}
END_TEST

/* scenarios J.174, bugs 14 */
START_TEST(who_has_nothing_in_common_hears_23)
{
	struct actor *m1 = actor("m1"), *stranger = actor("stranger"), *worker = actor("worker");

	settle(1, &m1);
	stranger->protocols = "roundrobin:t";
	join(stranger);
	saw("stranger < JoinGroup 23\n");
	worker->protocol_type = "connect";
	join(worker);
	saw("worker < JoinGroup 23\n");
	/* broker: so does a lone member that comes back with an entirely different list. */
	m1->protocols = "roundrobin:t";
	join(m1);
	saw("m1 < JoinGroup 23\n");
	/* By way of both it can change. */
	m1->protocols = "roundrobin:t range:t";
	join(m1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=2 leads [m1] roundrobin\n");
}
END_TEST

/* scenarios J.174 */
START_TEST(the_most_voted_common_protocol_wins)
{
	struct actor *three[] = {actor("m1"), actor("m2"), actor("m3")};

	three[0]->protocols = "sticky:t range:t roundrobin:t";
	three[1]->protocols = "roundrobin:t range:t";
	three[2]->protocols = "sticky:t roundrobin:t range:t";
	settle(3, three);
	/* sticky has no vote, as m2 does not offer it; of the others roundrobin has two. */
	group_is("Stable gen=3 leader=m1 protocol=roundrobin members=[m1 m2 m3]");
}
END_TEST

START_TEST(ids_repeat_with_the_seed)
{
	struct actor *m1 = actor("m1");
	char first[128];

	join(m1);
	strcpy(first, m1->id);
	leave_room();
	enter_room();
	m1 = actor("m1");
	join(m1);
	ck_assert_str_eq(m1->id, first);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_dynamic_member_joins_in_two_steps);
	tcase_add_test(tcase, old_clients_and_static_members_join_in_one_step);
	tcase_add_test(tcase, version_0_waits_as_long_as_a_session);
	tcase_add_test(tcase, a_second_join_silently_replaces_the_first);
	tcase_add_test(tcase, a_second_join_or_sync_makes_the_first_hear_16);
	tcase_add_test(tcase, a_handed_out_id_holds_up_the_group_until_it_expires);
	tcase_add_test(tcase, a_handed_out_id_that_leaves_holds_up_nobody);
	tcase_add_test(tcase, a_handed_out_id_is_no_static_members);
	tcase_add_test(tcase, an_unchanged_follower_gets_the_present_generation_again);
	tcase_add_test(tcase, a_follower_with_another_subscription_starts_a_rebalance);
	tcase_add_test(tcase, a_leader_that_rejoins_starts_a_rebalance);
	tcase_add_test(tcase, an_unchanged_join_while_the_plan_is_awaited_gets_the_same_answer);
	tcase_add_test(tcase, the_first_generation_waits_for_company);
	tcase_add_test(tcase, company_is_awaited_at_most_for_the_rebalance_timeout);
	tcase_add_test(tcase, one_member_too_many_hears_81);
	tcase_add_test(tcase, the_last_to_rejoin_is_too_many);
	tcase_add_test(tcase, session_timeouts_have_bounds);
	tcase_add_test(tcase, a_group_needs_a_name_and_a_way_to_share);
	tcase_add_test(tcase, an_id_nobody_gave_out_is_unknown);
	tcase_add_test(tcase, who_has_nothing_in_common_hears_23);
	tcase_add_test(tcase, the_most_voted_common_protocol_wins);
	tcase_add_test(tcase, ids_repeat_with_the_seed);
}

int main(void)
{
	return run_suite("coordinator_join", fill, enter_room, leave_room);
}
