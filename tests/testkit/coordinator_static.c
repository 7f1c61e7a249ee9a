/* SPDX-License-Identifier: Apache-2.0 */
/* KIP-345 at the coordinator: seats that are kept, taken over and fenced. Old ids are written with a tilde: "s1~". */
#include "room.h"
#include "suite.h"

#include <string.h>

static void restart(struct actor *a)
{
	strcpy(a->old_ids[a->old_id_count++], a->id);
	a->id[0] = '\0';
}

/* The former incarnation of a static member: same instance, the id it had. */
static struct actor *ghost_of(const struct actor *a, const char *name)
{
	struct actor *ghost = static_actor(name, a->instance_id);

	strcpy(ghost->id, a->id);
	ghost->generation = a->generation;
	return ghost;
}

/* KIP-345, KIP-814; bugs 22 */
START_TEST(a_restarted_leader_takes_its_seat_without_a_rebalance)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	settle(2, two);
	restart(two[0]);
	join(two[0]);
	saw("s1 < JoinGroup gen=2 leads [s2 s1] range skip\n");
	sync_plan(two[0], "");
	saw("s1 < SyncGroup 'p0'\n");
	group_is("Stable gen=2 leader=s1 protocol=range members=[s2 s1]");
}
END_TEST

/* KIP-814: before version 9 there is no such flag; it is told that its former self leads, and so makes no plan. */
START_TEST(an_old_client_is_told_that_its_old_id_leads)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	two[0]->join_version = 8;
	settle(2, two);
	restart(two[0]);
	join(two[0]);
	saw("s1 < JoinGroup gen=2 follows s1~ range\n");
	group_is("Stable gen=2 leader=s1 protocol=range members=[s2 s1]");
}
END_TEST

START_TEST(a_restarted_follower_takes_its_seat_without_a_rebalance)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	settle(2, two);
	restart(two[1]);
	join(two[1]);
	saw("s2 < JoinGroup gen=2 follows s1 range\n");
	sync_plan(two[1], "");
	saw("s2 < SyncGroup 'p1'\n");
}
END_TEST

/* bugs 35, librdkafka 55, kafka 8500; KIP-345 */
START_TEST(the_former_holder_of_a_seat_is_fenced)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};
	struct actor *ghost;

	settle(2, two);
	ghost = ghost_of(two[1], "ghost");
	restart(two[1]);
	join(two[1]);
	saw("s2 < JoinGroup gen=2 follows s1 range\n");
	heartbeat(ghost);
	sync_plan(ghost, "");
	commit(ghost, 8, "t", 0, 5);
	join(ghost);
	leave(ghost);
	saw("ghost < Heartbeat 82\n"
	    "ghost < SyncGroup 82\n"
	    "ghost < OffsetCommit t-0=82\n"
	    "ghost < JoinGroup 82\n"
	    "ghost < LeaveGroup 0 s2~/i2=82\n");
	/* Without its instance id it is just somebody unknown. */
	ghost->instance_id = NULL;
	heartbeat(ghost);
	saw("ghost < Heartbeat 25\n");
	group_is("Stable gen=2 leader=s1 protocol=range members=[s1 s2]");
}
END_TEST

/* KIP-345: what waits on the seat is fenced at once. */
START_TEST(a_parked_join_and_a_parked_sync_are_fenced)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};
	struct actor *first;

	settle(2, two);
	join(two[1]); /* answered at once, nothing parked */
	join(two[0]);
	saw("s2 < JoinGroup gen=2 follows s1 range\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n");
	first = static_actor("first", "i1");
	join(first);
	saw("s1 < JoinGroup 82\n");
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s2 < JoinGroup gen=3 follows first range\n"
	    "first < JoinGroup gen=3 leads [s2 first] range\n");
	sync_plan(two[1], "");
	saw("");
	join(static_actor("again", "i2"));
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n"
	    "s2 < SyncGroup 82\n");
}
END_TEST

/* bugs 69, KAFKA-9801: the plan that is being made names an id that is no more. */
START_TEST(a_seat_taken_over_while_the_plan_is_awaited_starts_a_rebalance)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	settle(2, two);
	join(two[0]);
	join(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s1 < JoinGroup gen=3 leads [s1 s2] range\n"
	    "s2 < JoinGroup gen=3 follows s1 range\n");
	restart(two[1]);
	join(two[1]);
	saw("delayed join created\n"
	    "AwaitingSync > PreparingRebalance\n");
	sync_plan(two[0], "s1=p0 s2~=p1");
	saw("s1 < SyncGroup 27\n");
	join(two[0]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s1 < JoinGroup gen=4 leads [s1 s2] range\n"
	    "s2 < JoinGroup gen=4 follows s1 range\n");
	sync_plan(two[1], "");
	sync_plan(two[0], "s1=p0 s2=p1");
	saw("AwaitingSync > Stable\n"
	    "s1 < SyncGroup 'p0'\n"
	    "s2 < SyncGroup 'p1'\n");
}
END_TEST

START_TEST(a_restart_with_other_protocols_may_need_a_rebalance)
{
	struct actor *s1 = static_actor("s1", "i1");

	s1->protocols = "range:t roundrobin:t";
	settle(1, &s1);
	restart(s1);
	s1->protocols = "range:t,u roundrobin:t,u"; /* range is still the choice: no rebalance, whatever it subscribes to */
	join(s1);
	saw("s1 < JoinGroup gen=1 leads [s1] range skip\n");
	restart(s1);
	s1->protocols = "roundrobin:t range:t";
	join(s1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s1 < JoinGroup gen=2 leads [s1] roundrobin\n");
}
END_TEST

/* scenarios J.169 */
START_TEST(a_static_member_that_stays_away_keeps_its_seat)
{
	struct actor *two[] = {actor("m1"), static_actor("s2", "i2")};

	two[1]->session_ms = 600000;
	settle(2, two);
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	pass_ms(60000);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 s2] range\n");
	sync_plan(two[0], "m1=p0 s2=p1");
	saw("AwaitingSync > Stable\n"
	    "m1 < SyncGroup 'p0'\n");
	heartbeat(two[1]);
	saw("s2 < Heartbeat 22\n");
}
END_TEST

/* scenarios J.169 */
START_TEST(a_static_leader_that_stays_away_leads_no_more)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	two[0]->session_ms = two[1]->session_ms = 600000;
	settle(2, two);
	two[1]->protocols = "range:u";
	join(two[1]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	pass_ms(60000);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s2 < JoinGroup gen=3 leads [s1 s2] range\n");
}
END_TEST

/* scenarios J.169 */
START_TEST(the_wait_starts_over_while_nobody_comes)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")}, *m3 = actor("m3");

	two[0]->session_ms = two[1]->session_ms = 600000;
	settle(2, two);
	join_twice(m3);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	leave(m3);
	saw("m3 < LeaveGroup 0 m3=0\n"
	    "m3 < JoinGroup 25\n");
	pass_ms(60000);
	pass_ms(60000);
	group_is("PreparingRebalance gen=2 leader=s1 protocol=range members=[s1 s2]");
	join(two[1]);
	pass_ms(60000);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "s2 < JoinGroup gen=3 leads [s1 s2] range\n");
}
END_TEST

/* Its session does end. */
START_TEST(a_static_member_expires_with_its_session)
{
	struct actor *two[] = {static_actor("s1", "i1"), static_actor("s2", "i2")};

	settle(2, two);
	pass_ms(5000);
	heartbeat(two[0]);
	saw("s1 < Heartbeat 0\n");
	pass_ms(5000);
	saw("s2 expired: session timeout\n"
	    "delayed join created\n"
	    "Stable > PreparingRebalance\n");
}
END_TEST

/* scenarios J.171 */
START_TEST(an_unknown_instance_with_a_known_id_is_unknown)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	m1->instance_id = "i9";
	heartbeat(m1);
	join(m1);
	saw("m1 < Heartbeat 25\n"
	    "m1 < JoinGroup 25\n");
}
END_TEST

/* bugs kafka 14009: the new holder's timeouts count. */
START_TEST(a_restart_brings_its_own_timeouts)
{
	struct actor *s1 = static_actor("s1", "i1");

	settle(1, &s1);
	restart(s1);
	s1->session_ms = 30000;
	join(s1);
	saw("s1 < JoinGroup gen=1 leads [s1] range skip\n");
	heartbeat(s1);
	saw("s1 < Heartbeat 0\n");
	ck_assert_int_eq(next_deadline_ms(), 30000);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_restarted_leader_takes_its_seat_without_a_rebalance);
	tcase_add_test(tcase, an_old_client_is_told_that_its_old_id_leads);
	tcase_add_test(tcase, a_restarted_follower_takes_its_seat_without_a_rebalance);
	tcase_add_test(tcase, the_former_holder_of_a_seat_is_fenced);
	tcase_add_test(tcase, a_parked_join_and_a_parked_sync_are_fenced);
	tcase_add_test(tcase, a_seat_taken_over_while_the_plan_is_awaited_starts_a_rebalance);
	tcase_add_test(tcase, a_restart_with_other_protocols_may_need_a_rebalance);
	tcase_add_test(tcase, a_static_member_that_stays_away_keeps_its_seat);
	tcase_add_test(tcase, a_static_leader_that_stays_away_leads_no_more);
	tcase_add_test(tcase, the_wait_starts_over_while_nobody_comes);
	tcase_add_test(tcase, a_static_member_expires_with_its_session);
	tcase_add_test(tcase, an_unknown_instance_with_a_known_id_is_unknown);
	tcase_add_test(tcase, a_restart_brings_its_own_timeouts);
}

int main(void)
{
	return run_suite("coordinator_static", fill, enter_room, leave_room);
}
