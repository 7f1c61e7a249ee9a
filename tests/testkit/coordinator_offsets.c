/* SPDX-License-Identifier: Apache-2.0 */
/* OffsetCommit and OffsetFetch at the coordinator. */
#include "room.h"
#include "suite.h"

#include <string.h>

START_TEST(a_member_commits_and_anybody_reads)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	commit(m1, 9, "t", 0, 42);
	commit(m1, 2, "t", 1, 43);
	commit(m1, 5, "u", 0, 44);
	commit(m1, 9, "t", 0, 45);
	saw("m1 < OffsetCommit t-0=0\n"
	    "m1 < OffsetCommit t-1=0\n"
	    "m1 < OffsetCommit u-0=0\n"
	    "m1 < OffsetCommit t-0=0\n");
	/* Every form of the question; KIP-88: no list means all; KIP-709: several groups. */
	fetch(1, "g", "t:0,1,2");
	fetch(5, "g", "t:0 u:0");
	fetch(7, "g", NULL);
	fetch(9, "g", "t:0");
	fetch(8, "g", NULL);
	saw("outside < OffsetFetch 0 t-0@45 t-1@43 t-2@-1\n"
	    "outside < OffsetFetch 0 t-0@45 u-0@44\n"
	    "outside < OffsetFetch 0 t-0@45 t-1@43 u-0@44\n"
	    "outside < OffsetFetch g=0 t-0@45\n"
	    "outside < OffsetFetch g=0 t-0@45 t-1@43 u-0@44\n");
}
END_TEST

START_TEST(a_group_nobody_knows_has_no_offsets)
{
	fetch(1, "h", "t:0");
	fetch(7, "h", NULL);
	fetch(9, "h", "t:0");
	saw("outside < OffsetFetch 0 t-0@-1\n"
	    "outside < OffsetFetch 0\n"
	    "outside < OffsetFetch h=0 t-0@-1\n");
	group_is("absent");
}
END_TEST

/* broker: generation -1 without a name is a client outside the protocol. bugs librdkafka 43, scenarios F.102 */
START_TEST(a_simple_client_commits_only_while_nobody_is_there)
{
	struct actor *m1 = actor("m1");

	commit_outside(9, "g", "t", 0, 1);
	saw("outside < OffsetCommit t-0=0\n");
	group_is("Empty gen=0 leader=- protocol=- members=[]");
	settle(1, &m1);
	commit_outside(9, "g", "t", 0, 2);
	saw("outside < OffsetCommit t-0=25\n");
	fetch(9, "g", "t:0");
	saw("outside < OffsetFetch g=0 t-0@1\n");
}
END_TEST

/* scenarios F.101 to F.105: what each state says to the right and the wrong member. */
START_TEST(a_commit_must_fit_the_group)
{
	struct actor *two[] = {actor("m1"), actor("m2")}, *nobody = actor("nobody");

	strcpy(nobody->id, "nobody-1");
	nobody->generation = 1;
	settle(2, two);
	commit(nobody, 9, "t", 0, 1);
	saw("nobody < OffsetCommit t-0=25\n");
	two[0]->generation = 1;
	commit(two[0], 9, "t", 0, 1);
	saw("m1 < OffsetCommit t-0=22\n");
	two[0]->generation = -1;
	commit(two[0], 9, "t", 0, 1);
	saw("m1 < OffsetCommit t-0=22\n");
	two[0]->generation = 2;

	/* PreparingRebalance: the generation before is still good, so that members can commit on revoke. */
	join(two[0]);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n");
	commit(two[1], 9, "t", 0, 7);
	saw("m2 < OffsetCommit t-0=0\n");
	/* AwaitingSync: it is not, and the new one is too early. */
	join(two[1]);
	saw("delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=3 leads [m1 m2] range\n"
	    "m2 < JoinGroup gen=3 follows m1 range\n");
	commit(two[1], 9, "t", 0, 8);
	saw("m2 < OffsetCommit t-0=27\n");
	two[1]->generation = 2;
	commit(two[1], 9, "t", 0, 9);
	saw("m2 < OffsetCommit t-0=22\n");
	fetch(9, "g", "t:0");
	saw("outside < OffsetFetch g=0 t-0@7\n");
}
END_TEST

/* KIP-848: version 9 has a number for it. */
START_TEST(a_generation_of_a_group_that_is_gone)
{
	struct actor *m1 = actor("m1");

	m1->generation = 5;
	commit(m1, 8, "t", 0, 1);
	commit(m1, 9, "t", 0, 1);
	saw("m1 < OffsetCommit t-0=22\n"
	    "m1 < OffsetCommit t-0=69\n");
}
END_TEST

/* broker: a commit is a sign of life, except while the plan is awaited. */
START_TEST(a_commit_keeps_the_session)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	pass_ms(9000);
	commit(m1, 9, "t", 0, 1);
	saw("m1 < OffsetCommit t-0=0\n");
	ck_assert_int_eq(next_deadline_ms(), 10000);
	join(m1);
	saw("delayed join created\n"
	    "Stable > PreparingRebalance\n"
	    "delayed join completed\n"
	    "PreparingRebalance > AwaitingSync\n"
	    "m1 < JoinGroup gen=2 leads [m1] range\n");
	pass_ms(9000);
	commit(m1, 9, "t", 0, 1);
	saw("m1 < OffsetCommit t-0=27\n");
	ck_assert_int_eq(next_deadline_ms(), 1000);
}
END_TEST

static bool only_t_0_exists(void *user, struct rg__bytes topic, int32_t partition)
{
	(void)user;
	return rg__bytes_is(topic, "t") && partition == 0;
}

/* scenarios F.110, F.111 */
START_TEST(a_partition_may_be_refused_by_itself)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	settings()->partition_exists = only_t_0_exists;
	commit(m1, 9, "t", 0, 1);
	commit(m1, 9, "gone", 0, 1);
	commit(m1, 9, "t", 1, 1);
	settings()->offset_metadata_max = 3;
	commit(m1, 9, "t", 0, 2);
	saw("m1 < OffsetCommit t-0=0\n"
	    "m1 < OffsetCommit gone-0=3\n"
	    "m1 < OffsetCommit t-1=3\n"
	    "m1 < OffsetCommit t-0=12\n");
	fetch(9, "g", NULL);
	saw("outside < OffsetFetch g=0 t-0@1\n");
}
END_TEST

/* The offsets outlive the members. */
START_TEST(offsets_stay_with_the_group)
{
	struct actor *m1 = actor("m1");

	settle(1, &m1);
	commit(m1, 9, "t", 0, 11);
	leave(m1);
	forget_seen();
	fetch(9, "g", "t:0");
	saw("outside < OffsetFetch g=0 t-0@11\n");
	/* broker: a negative generation is enough while the group is Empty, whatever else the request says. */
	m1->generation = -1;
	commit(m1, 9, "t", 0, 12);
	saw("m1 < OffsetCommit t-0=0\n");
	m1->generation = 2;
	commit(m1, 9, "t", 0, 13);
	saw("m1 < OffsetCommit t-0=25\n");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_member_commits_and_anybody_reads);
	tcase_add_test(tcase, a_group_nobody_knows_has_no_offsets);
	tcase_add_test(tcase, a_simple_client_commits_only_while_nobody_is_there);
	tcase_add_test(tcase, a_commit_must_fit_the_group);
	tcase_add_test(tcase, a_generation_of_a_group_that_is_gone);
	tcase_add_test(tcase, a_commit_keeps_the_session);
	tcase_add_test(tcase, a_partition_may_be_refused_by_itself);
	tcase_add_test(tcase, offsets_stay_with_the_group);
}

int main(void)
{
	return run_suite("coordinator_offsets", fill, enter_room, leave_room);
}
