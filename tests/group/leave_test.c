/* SPDX-License-Identifier: Apache-2.0 */
/* Leaving and closing, in every state. */
#include "stories.h"
#include "../lib/suite.h"
#include "trace.h"

START_TEST(a_dynamic_member_leaves)
{
	/* scenarios D.68, KIP-800; D.76 (the consumer has revoked before it asks) */
	TRACE(STABLE, "leave reason='going home' > LEAVE | Leaving id=m1 gen=3 reason='going home'",
	      "leave-answer ok > LEFT | Unjoined Known id='' gen=-1 settled", "wait 60s > -");
}
END_TEST

START_TEST(a_static_member_keeps_its_seat)
{
	/* scenarios D.69, KIP-345 */
	TRACE("conf instance=i1", STABLE, "leave > LEFT | Unjoined id=''", "wait 60s > -");
}
END_TEST

START_TEST(the_mode_decides)
{
	/* scenarios D.70, D.71, KIP-1092; bugs librdkafka 56 */
	TRACE("conf instance=i1", STABLE, "leave mode=always > LEAVE | Leaving", "leave-answer ok > LEFT");
	TRACE(STABLE, "leave mode=never > LEFT | Unjoined");
}
END_TEST

START_TEST(whatever_the_answer_it_has_left)
{
	/* scenarios D.72; bugs librdkafka 59 (silent coordinator) */
	TRACE(STABLE, "leave > LEAVE", "leave-answer 25 > LEFT | Unjoined");
	TRACE(STABLE, "leave > LEAVE", "leave-answer 16 > LEFT | Unjoined");
	TRACE(STABLE, "leave > LEAVE", "leave-answer PROTOCOL > LEFT | Unjoined");
	TRACE("conf request=30s", STABLE, "leave timeout=2s > LEAVE | timeout=2s", "leave-answer TIMED_OUT > LEFT | Unjoined");
	TRACE("conf request=30s", STABLE, "leave timeout=200s > LEAVE | timeout=30s", "down > DROP LEFT | Unjoined Unknown");
}
END_TEST

START_TEST(leaving_without_a_coordinator_is_immediate)
{
	/* scenarios D.73; bugs 64, librdkafka 60 (#5327): brokers gone */
	TRACE("leave > LEFT | Unjoined");
	TRACE("start > PREPARE FIND", "leave > LEFT | Unjoined Finding settled", "found ok > - | Known", "wait 60s > -");
	TRACE("start > PREPARE FIND", "leave > LEFT", "found 30 > - | Unjoined", "wait 60s > -", "start > PREPARE FIND");
	TRACE("start > PREPARE FIND", "leave > LEFT", "found 24 > - | Unjoined", "wait 60s > -", "start > PREPARE FIND");
	TRACE(STABLE, "down > DROP FIND", "leave > LEFT | Unjoined", "found TIMED_OUT > -", "wait 60s > -");
}
END_TEST

/* Out by max.poll.interval.ms, and its LeaveGroup is not answered: that has the request's time, leaving has its own. */
START_TEST(leaving_while_the_seat_is_given_away)
{
	static const char *const away[] = {
		"unpoll > -", "beat ok > -", "rejoin > PREPARE", "prepared > JOIN",
		"wait 301s > REPORT(LeaveGroup:MAX_POLL) LEAVE+beside | Leaving", "wait 10s > -"};

	TRACE("conf poll=300s session=10s rebalance=300s request=30s", STABLE, away[0], away[1], away[2], away[3], away[4],
	      away[5],
	      "leave timeout=2s    > -                | Leaving",
	      "wait 1999ms         > -",
	      "wait 1ms            > DROP LEFT        | Unjoined Unknown",
	      "leave-answer ok     > -                | Unjoined",
	      "start               > PREPARE FIND     | Preparing");
	TRACE("conf poll=300s session=10s rebalance=300s request=30s", STABLE, away[0], away[1], away[2], away[3], away[4],
	      away[5],
	      "leave timeout=2s    > -",
	      "wait 1s             > -",
	      "leave-answer ok     > DROP LEFT        | Unjoined",
	      "wait 60s            > -                | Unjoined");
	/* Asked twice, the shorter time counts. */
	TRACE("conf request=30s", STABLE, "leave > LEAVE", "leave timeout=5s > -", "leave timeout=9s > -", "wait 4999ms > -",
	      "wait 1ms > DROP LEFT | Unjoined");
}
END_TEST

START_TEST(leaving_in_every_state)
{
	/* scenarios A.8, D.78; bugs 64, librdkafka 64 */
	TRACE("start > PREPARE FIND", "found ok > -", "leave > LEFT | Unjoined");
	TRACE(JOINING, "leave > DROP LEFT | Unjoined Unknown");
	TRACE(JOINING, "join 79 id=m1 > JOIN", "leave > LEAVE+beside | Leaving", "leave-answer ok > DROP LEFT | Unjoined Unknown");
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN", "leave > LEAVE | Leaving", "assigned > -", "leave-answer ok > LEFT");
	TRACE(SYNCING, "leave > LEAVE+beside", "sync 25 > -", "leave-answer ok > DROP LEFT | Unjoined");
	TRACE(SYNCING, "leave mode=never > DROP LEFT | Unjoined");
	TRACE(STABLE, "rejoin > PREPARE", "leave > LEAVE | Leaving settled", "leave-answer ok > LEFT");
	TRACE(STABLE, "leave > LEAVE", "leave > - | Leaving", "leave-answer ok > LEFT", "leave-answer ok > -");
	TRACE(JOINING, "join 26 > FAIL(JoinGroup:26)", "leave > LEFT | Unjoined");
	TRACE(JOINING, "join 79 id=m1 > JOIN", "join 26 > FAIL(JoinGroup:26)", "leave > LEAVE", "leave-answer ok > LEFT");
}
END_TEST

START_TEST(a_connection_with_a_parked_join_is_not_used_again)
{
	/* Subscribing again right after: the old JoinGroup still blocks the connection, and two must not be outstanding. */
	TRACE("conf instance=i1", SYNCING, "leave > DROP LEFT | Unjoined", "start > PREPARE FIND | Preparing",
	      "prepared > -", "found ok > JOIN | Joining");
	TRACE(JOINING, "join 79 id=m1 > JOIN", "leave > LEAVE+beside", "start > - | Leaving", "down > DROP LEFT PREPARE FIND");
}
END_TEST

START_TEST(leaving_and_starting_again)
{
	/* bugs librdkafka 14, 58; a new subscription prepares anew */
	TRACE(STABLE, "leave > LEAVE", "leave-answer ok > LEFT", "start reason='again' > PREPARE | Preparing rebalancing",
	      "prepared > JOIN | id='' reason='again'");
	TRACE(STABLE, "rejoin > PREPARE", "leave > LEAVE", "start > -", "leave-answer ok > LEFT PREPARE | Preparing", "prepared#2 > -",
	      "prepared > JOIN");
	TRACE(STABLE, "start > - | Stable");
}
END_TEST

START_TEST(nothing_happens_to_who_has_left)
{
	TRACE(STABLE, "wait 3s > BEAT", "leave > LEAVE", "beat 25 > - | Leaving", "beat 82 > - | Leaving", "rejoin > -", "retry > -",
	      "size 7 > -", "commit 25 > - | Leaving", "leave-answer ok > LEFT", "poll > -", "commit 25 old > -", "wait 600s > -");
}
END_TEST

START_TEST(commits_and_the_membership)
{
	/* scenarios F.103, F.104, F.105; bugs 58 */
	TRACE(STABLE, "commit 27 > PREPARE | Preparing id=m1 gen=3",
	      "prepared > JOIN | reason='OffsetCommit answered REBALANCE_IN_PROGRESS'");
	TRACE(STABLE, "commit 22 > LOST(illegal-generation) PREPARE | Preparing id=m1 gen=-1");
	TRACE(STABLE, "commit 25 > LOST(unknown-member) PREPARE | Preparing id='' gen=-1");
	/* Design: 69 is treated as 25. scenarios F.108: 82 is fatal. */
	TRACE(STABLE, "commit 69 > LOST(unknown-member) PREPARE | Preparing id='' gen=-1");
	TRACE(STABLE, "commit 82 > LOST(fenced) FAIL(OffsetCommit:82) | Failed");
	/* scenarios F.110, F.111: what concerns offsets only */
	TRACE(STABLE, "commit ok > -", "commit 3 > -", "commit 12 > -", "commit 14 > -", "commit 28 > -", "commit 29 > -",
	      "commit 30 > -", "commit 999 > - | Stable Known id=m1 gen=3");
	/* scenarios F.112 */
	TRACE(STABLE, "commit 16 > DROP FIND | Stable Finding");
	TRACE(STABLE, "commit 7 > DROP FIND | Stable");
	TRACE(STABLE, "commit TRANSPORT > DROP FIND | Stable");
	TRACE(STABLE, "fetch 15 > DROP FIND | Stable");
	TRACE(STABLE, "fetch ok > -", "fetch 3 > -", "fetch 14 > -", "fetch 25 > -", "fetch 30 > -", "fetch 88 > - | Stable Known");
}
END_TEST

START_TEST(stale_answers_to_commits_cost_nothing)
{
	/* scenarios F.108 (other generation); bugs librdkafka 16 (#4059), bugs 52, kafka 9823 */
	TRACE(STABLE, "rejoin > PREPARE", "prepared keeps > JOIN", "commit 22 > - | Joining id=m1 gen=3", "commit 25 > - | Joining id=m1",
	      "join ok id=m1 gen=4 leader=m0 > SYNC", "commit 27 > -", "commit 22 old > -", "sync ok > COMPLETE BEAT",
	      "commit 25 old > - | Stable id=m1 gen=4", "commit 82 old > - | Stable", "commit 27 old > - | Stable settled");
	/* A commit behind a parked JoinGroup is not even read: its timeout must not cost the join. */
	TRACE(STABLE, "rejoin > PREPARE", "prepared keeps > JOIN", "commit TIMED_OUT > - | Joining Known",
	      "join ok id=m1 gen=4 leader=m0 > SYNC", "fetch TIMED_OUT > - | Syncing Known", "sync ok > COMPLETE BEAT",
	      "commit TIMED_OUT > DROP FIND | Stable");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_dynamic_member_leaves);
	tcase_add_test(tcase, a_static_member_keeps_its_seat);
	tcase_add_test(tcase, the_mode_decides);
	tcase_add_test(tcase, whatever_the_answer_it_has_left);
	tcase_add_test(tcase, leaving_without_a_coordinator_is_immediate);
	tcase_add_test(tcase, leaving_in_every_state);
	tcase_add_test(tcase, leaving_while_the_seat_is_given_away);
	tcase_add_test(tcase, a_connection_with_a_parked_join_is_not_used_again);
	tcase_add_test(tcase, leaving_and_starting_again);
	tcase_add_test(tcase, nothing_happens_to_who_has_left);
	tcase_add_test(tcase, commits_and_the_membership);
	tcase_add_test(tcase, stale_answers_to_commits_cost_nothing);
}

int main(void)
{
	return suite_run("leave", fill, 30);
}
