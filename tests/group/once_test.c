/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare once, complete once, lost once: whatever happens inside one rebalance. */
#include "stories.h"
#include "../lib/suite.h"
#include "trace.h"

START_TEST(not_yet_stable)
{
	/* The story "not yet stable" as m1 lives it: it has its JoinGroup answer, and before its SyncGroup is sent somebody else
	 * joins. Its SyncGroup is answered 27, it joins again with the same id, leads, and both get their share. Several
	 * JoinGroups, one prepare, one complete. Heartbeats in between hear 27 and that changes nothing. */
	TRACE(JOINING,
	      "join 79 id=m1       > JOIN             | Joining id=m1 gen=-1",
	      "join ok id=m1 gen=1 leader protocol=range > ASSIGN | Assigning rebalancing",
	      "wait 3s             > BEAT             | Assigning",
	      "beat 27             > -                | Assigning gen=1",
	      "assigned            > SYNC+plan        | Syncing",
	      "sync 27             > JOIN             | Joining id=m1 gen=1 rebalancing",
	      "join ok id=m1 gen=2 leader protocol=range > ASSIGN | Assigning gen=2",
	      "assigned            > SYNC+plan        | Syncing",
	      "sync ok             > COMPLETE BEAT    | Stable gen=2 leader settled",
	      "beat ok             > -");
}
END_TEST

START_TEST(a_third_member_joins_a_stable_group)
{
	/* The story "stable": learnt by heartbeat, one prepare and one complete */
	TRACE(STABLE,
	      "wait 3s             > BEAT",
	      "beat 27             > PREPARE          | Preparing id=m1 gen=3 rebalancing",
	      "prepared            > JOIN             | Joining reason='the group is rebalancing'",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable gen=4 settled",
	      "beat ok             > -");
}
END_TEST

START_TEST(everything_within_one_rebalance)
{
	/* 79, 14, 16 with the coordinator really moving, 27, a dropped connection and 22: one prepare, one complete.
	 * scenarios B.45, B.47; bugs librdkafka 1 */
	TRACE(JOINING,
	      "join 79 id=m1       > JOIN             | id=m1",
	      "join 14             > -                | Preparing Known",
	      "wait 121ms          > JOIN",
	      "join 16             > DROP FIND        | Preparing Finding id=m1",
	      "found ok            > JOIN",
	      "join 27             > JOIN             | id=m1",
	      "down                > DROP             | Preparing Unknown id=m1",
	      "wait 241ms          > FIND",
	      "found ok            > JOIN             | id=m1 gen=-1",
	      "join ok id=m1 gen=7 leader=m0 > SYNC",
	      "sync 22             > JOIN             | id=m1 gen=-1 rebalancing",
	      "join ok id=m1 gen=8 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable id=m1 gen=8 settled");
}
END_TEST

START_TEST(thrown_out_in_the_middle_of_a_rebalance)
{
	/* bugs kafka 12983: Java prepares a second time; here what is still owned is lost, once, and nothing is sent to join
	 * before the application has let go of it */
	TRACE(STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "join 25             > LOST(unknown-member) | Preparing id='' gen=-1 rebalancing",
	      "wait 5s             > -",
	      "prepared            > JOIN             | Joining id=''",
	      "join 79 id=m2       > JOIN",
	      "join 25             > -                | Preparing id=''",
	      "wait 121ms          > JOIN",
	      "join 79 id=m3       > JOIN", /* KIP-394: it belongs to every join without an id */
	      "join ok id=m3 gen=9 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable id=m3 settled");
	/* scenarios B.47: with 22 the id stays */
	TRACE(STABLE, "rejoin > PREPARE", "prepared keeps > JOIN", "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync 22 > LOST(illegal-generation) | Preparing id=m1 gen=-1", "prepared > JOIN | id=m1 gen=-1",
	      "join ok id=m1 gen=5 leader=m0 > SYNC", "sync ok > COMPLETE BEAT | settled");
	/* Who gave everything up in prepare (eager) has nothing to lose. */
	TRACE(STABLE, "rejoin > PREPARE", "prepared > JOIN", "join 25 > JOIN | id=''");
}
END_TEST

START_TEST(thrown_out_while_stable)
{
	/* bugs 58, librdkafka 33; scenarios C.58: lost first, then the rebalance that follows from it */
	TRACE(STABLE, "wait 3s > BEAT", "beat 25 > LOST(unknown-member) PREPARE | Preparing id='' gen=-1 rebalancing",
	      "prepared#1 > -", "prepared#2 > -", "prepared#3 > JOIN | reason='heartbeat answered UNKNOWN_MEMBER_ID'");
	TRACE(STABLE, "wait 3s > BEAT", "beat 22 > LOST(illegal-generation) PREPARE | Preparing id=m1 gen=-1");
}
END_TEST

START_TEST(only_the_answer_to_the_newest_ask_counts)
{
	/* The application is still inside on_join_prepare when the member is thrown out. Its answer was made without knowing. */
	TRACE(STABLE,
	      "wait 3s             > BEAT",
	      "rejoin              > PREPARE",
	      "beat 25             > LOST(unknown-member) | Preparing",
	      "prepared#2 keeps    > -                | Preparing",
	      "wait 1s             > -",
	      "prepared#3          > JOIN             | Joining id=''");
}
END_TEST

START_TEST(the_application_may_be_slow_in_prepare)
{
	/* bugs 40, 36: heartbeats go on until JoinGroup; scenarios B.38 (prepare once, complete only at the end), bugs librdkafka
	 * 46 (27 counts as life) */
	TRACE("conf session=10s heartbeat=3s", STABLE,
	      "wait 3s             > BEAT",
	      "beat 27             > PREPARE          | Preparing",
	      "wait 3s             > BEAT             | Preparing",
	      "beat 27             > -                | Preparing",
	      "wait 3s             > BEAT",
	      "beat 27             > -",
	      "wait 3s             > BEAT",
	      "beat 27             > -",
	      "wait 3s             > BEAT",
	      "beat 27             > -                | Preparing id=m1 gen=3",
	      "prepared            > JOIN             | Joining");
}
END_TEST

START_TEST(the_application_looks_away)
{
	/* scenarios B.38, B.39, B.40, B.41, B.42: whenever the application stops looking and comes back, the counts are the
	 * same, because nothing here depends on who drives the network */
	TRACE(JOINING, "unpoll > -", "poll > -", "join ok id=m1 gen=1 leader=m0 > SYNC", "unpoll > -", "poll > -",
	      "sync ok > COMPLETE BEAT | settled", "unpoll > -", "poll > - | Stable settled");
}
END_TEST

START_TEST(no_poll_for_too_long_while_joining)
{
	/* scenarios B.48, bugs librdkafka 20, 49, 50: reported, lost once, out; with the next poll back into the same rebalance */
	TRACE("conf poll=300s session=10s rebalance=300s", STABLE,
	      "unpoll              > -",
	      "beat ok             > -",
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "wait 301s           > REPORT(LeaveGroup:MAX_POLL) LEAVE+beside LOST(max-poll) | Leaving "
	      "reason='max.poll.interval.ms (300000 ms) passed without a poll'",
	      "leave-answer ok     > DROP             | Unjoined id='' gen=-1",
	      "wait 100s           > -                | Unjoined",
	      "poll                > FIND             | Preparing rebalancing",
	      "found ok            > -",
	      "prepared            > JOIN             | Joining id='' reason='polling again after max.poll.interval.ms'",
	      "join ok id=m2 gen=8 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable id=m2 settled");
}
END_TEST

START_TEST(no_poll_for_too_long_before_prepare_was_seen)
{
	/* A consumer that stops polling does not see the PREPARE that is waiting for it. When it polls again it must see that one
	 * before anything is sent. */
	TRACE("conf poll=300s",
	      "start               > PREPARE FIND",
	      "found ok            > -                | Preparing",
	      "wait 301s           > REPORT(LeaveGroup:MAX_POLL) | Unjoined rebalancing",
	      "poll                > -                | Preparing rebalancing",
	      "prepared            > JOIN             | Joining");
	/* A wish from the time when it was out, though its rebalance is still open: the JoinGroup carries what the application
	 * gave before that, so it is one more rebalance. */
	TRACE("conf poll=5s", JOINING, "wait 6s > REPORT(LeaveGroup:MAX_POLL) DROP | Unjoined rebalancing",
	      "rejoin reason='new topics' > -", "poll > FIND | Preparing", "found ok > JOIN", "join ok id=m1 gen=1 leader=m0 > SYNC",
	      "sync ok > COMPLETE PREPARE BEAT", "prepared > JOIN | reason='new topics'");
	TRACE("conf poll=5s", JOINING, "rejoin reason='new topics' > -", "wait 6s > REPORT(LeaveGroup:MAX_POLL) DROP", "poll > FIND",
	      "found ok > JOIN", "join ok id=m1 gen=1 leader=m0 > SYNC", "sync ok > COMPLETE PREPARE BEAT");
	/* broker: a static member that comes back gets its old share without a rebalance, so its wish is still open after that. */
	TRACE("conf poll=5s session=400s heartbeat=390s instance=i1", STABLE, "unpoll > -",
	      "wait 6s > REPORT(LeaveGroup:MAX_POLL) LOST(max-poll) | Unjoined id=''", "rejoin reason='revoked' > -", "poll > PREPARE",
	      "prepared > JOIN | id=''", "join ok id=m2 gen=3 leader=m0 > SYNC", "sync ok > COMPLETE PREPARE BEAT",
	      "prepared > JOIN | id=m2 reason='revoked'", "join ok id=m2 gen=4 leader=m0 > SYNC", "sync ok > COMPLETE BEAT");
	/* It polls again before its LeaveGroup is answered: no LEFT, nobody asked to leave. */
	TRACE("conf poll=300s session=400s heartbeat=390s", STABLE,
	      "unpoll              > -",
	      "wait 301s           > REPORT(LeaveGroup:MAX_POLL) LEAVE LOST(max-poll) | Leaving",
	      "poll                > -                | Leaving",
	      "leave-answer ok     > PREPARE          | Preparing id=''",
	      "prepared            > JOIN             | Joining");
	/* A LEAVE that finds the member on its way out is answered all the same. */
	TRACE("conf poll=300s session=400s heartbeat=390s", STABLE, "unpoll > -",
	      "wait 301s > REPORT(LeaveGroup:MAX_POLL) LEAVE LOST(max-poll)", "leave > - | Leaving",
	      "leave-answer ok > LEFT | Unjoined");
	/* And one whose application starts anew and falls silent before the answer. */
	TRACE("conf poll=5s session=400s heartbeat=390s", STABLE, "leave > LEAVE", "start > - | Leaving",
	      "wait 6s > - | Leaving", "leave-answer ok > LEFT | Unjoined", "poll > PREPARE | Preparing");
}
END_TEST

START_TEST(the_first_join_loses_nothing)
{
	/* scenarios B.49: no LOST without something owned */
	TRACE(JOINING, "join 25 > JOIN", "join 79 id=m1 > JOIN", "join ok id=m1 gen=1 leader=m0 > SYNC", "sync 25 > JOIN | id=''");
}
END_TEST

START_TEST(the_session_ends_while_stable)
{
	/* What the coordinator may give away is owned no more. A dynamic member rejoins with what it was. */
	TRACE("conf session=10s heartbeat=3s request=30s", STABLE,
	      "wait 3s             > BEAT",
	      "wait 6s             > -",
	      "wait 1s             > LOST(session) DROP PREPARE FIND | Preparing Finding id=m1 gen=3",
	      "prepared            > -",
	      "found ok            > JOIN             | Joining id=m1 gen=3 "
	      "reason='no heartbeat was answered for session.timeout.ms (10000 ms)'");
	/* bugs librdkafka 54 (#3437): a static one joins anew, with no id that could fence it, and beats no more until then */
	TRACE("conf session=10s heartbeat=3s request=30s instance=i1", STABLE,
	      "wait 3s             > BEAT",
	      "wait 7s             > LOST(session) DROP PREPARE FIND | Preparing id='' gen=-1",
	      "found ok            > -",
	      "wait 30s            > -",
	      "prepared            > JOIN             | Joining id='' gen=-1");
}
END_TEST

START_TEST(what_is_owned_does_not_outlive_the_seat)
{
	/* A cooperative member keeps partitions through the join. Its connection breaks and no coordinator is found any more:
	 * the others get the partitions one session later, so they are lost by then. */
	TRACE("conf session=10s request=2s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "wait 1s             > -",
	      "down                > DROP FIND        | Preparing",
	      "found TIMED_OUT     > -",
	      "wait 300ms          > FIND",
	      "wait 8s             > -",
	      "wait 1s             > LOST(session)    | Preparing id=m1 gen=3",
	      "wait 60s            > -",
	      "prepared            > -",
	      "found ok            > JOIN");
	/* The same when it was parked for longer than a session, as far as we know: whether the request ever arrived we cannot
	 * know. */
	TRACE("conf session=9s request=2s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "wait 30s            > -                | Joining",
	      "down                > DROP FIND        | Preparing",
	      "wait 1ms            > LOST(session)    | Preparing id=m1 gen=3");
	/* A JoinGroup answer that repeats the one before is none either, and does not put off the heartbeats. */
	TRACE("conf session=9s heartbeat=3s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync 14             > -",
	      "wait 2s             > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC   | gen=4",
	      "sync 14             > -",
	      "wait 1s             > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC BEAT");
	/* Nor does one that may repeat an answer that got lost: the session may be as old as the JoinGroup of that. */
	TRACE("conf session=9s heartbeat=3s request=2s rebalance=60s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "wait 1s             > -",
	      "join PROTOCOL       > DROP FIND",
	      "wait 3s             > -",
	      "found ok            > JOIN",
	      "wait 2s             > -",
	      "join ok id=m1 gen=4 leader > ASSIGN BEAT | Assigning gen=4",
	      "wait 1s             > -",
	      "beat -1             > -",
	      "wait 121ms          > BEAT",
	      "wait 1878ms         > -",
	      "wait 1ms            > LOST(session) DROP FIND | Preparing");
	/* For who joins for the first time, too: a SyncGroup that finds the group Stable begins no session. */
	TRACE("conf session=9s heartbeat=3s request=2s rebalance=60s", JOINING,
	      "wait 1s             > -",
	      "join PROTOCOL       > DROP FIND",
	      "wait 3s             > -",
	      "found ok            > JOIN",
	      "wait 1s             > -",
	      "join ok id=m1 gen=4 leader=m0 > SYNC   | Syncing gen=4",
	      "sync ok             > COMPLETE BEAT    | Stable",
	      "wait 3999ms         > -",
	      "wait 1ms            > LOST(session) DROP PREPARE FIND");
	/* … if it could be still alive by that. */
	TRACE("conf session=9s heartbeat=3s request=2s rebalance=60s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "down                > DROP FIND",
	      "found ok            > JOIN",
	      "wait 20s            > -",
	      "join ok id=m1 gen=4 leader > ASSIGN BEAT | Assigning gen=4",
	      "beat ok             > -",
	      "wait 3s             > BEAT             | Assigning");
	/* A coordinator that keeps refusing is no sign of life. */
	TRACE("conf session=9s request=2s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "join 14             > -",
	      "wait 3s             > JOIN",
	      "join 14             > -",
	      "wait 3s             > JOIN",
	      "join 14             > -",
	      "wait 2s             > JOIN",
	      "wait 2s             > -                | Joining",
	      "join 14             > -",
	      "wait 1ms            > LOST(session) DROP FIND | Preparing");
	/* Reported and not answered by the application: the seat is kept as long as heartbeats keep it. */
	TRACE("conf session=9s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN             | Joining",
	      "join 30             > REPORT(JoinGroup:30) | Preparing",
	      "wait 3s             > BEAT",
	      "beat 27             > -",
	      "wait 3s             > BEAT",
	      "beat 25             > LOST(unknown-member) | Preparing id=''");
}
END_TEST

START_TEST(a_seat_is_given_away_when_prepare_takes_too_long)
{
	/* The group waits for our JoinGroup as long as the rebalance timeout, and may have begun right after the last good
	 * heartbeat. What is owned is lost by then, though the heartbeats go on; bugs 36 (until then it is kept). */
	TRACE("conf session=10s heartbeat=3s rebalance=8s", STABLE,
	      "wait 3s             > BEAT",
	      "beat 27             > PREPARE",
	      "wait 3s             > BEAT",
	      "beat 27             > -",
	      "wait 1999ms         > -",
	      "wait 1ms            > LOST(unknown-member) | Preparing id=m1 gen=3 rebalancing",
	      "wait 1s             > BEAT",
	      "prepared#1 keeps    > -                | Preparing",
	      "beat 25             > -                | Preparing id='' gen=-1",
	      "prepared            > JOIN             | Joining");
	/* An own wish for a rebalance hurries nobody, as long as the group is calm. */
	TRACE("conf session=10s heartbeat=3s rebalance=4s", STABLE,
	      "rejoin              > PREPARE",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -                | Preparing");
}
END_TEST

START_TEST(a_seat_is_given_away_when_the_plan_is_not_asked_for)
{
	/* bugs 68 (KAFKA-12890): the group waits for our SyncGroup as long as the rebalance timeout, counted from when the
	 * generation began, which was after our JoinGroup was sent. It is refused, and meanwhile every heartbeat is welcome:
	 * what a cooperative member still owns is lost all the same by the time the others may get it. */
	TRACE("conf session=10s heartbeat=3s rebalance=8s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync 30             > REPORT(SyncGroup:30) | Preparing id=m1 gen=4",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 1999ms         > -",
	      "wait 1ms            > LOST(unknown-member) | Preparing id=m1 gen=4 rebalancing",
	      "wait 1s             > BEAT",
	      "beat 25             > -                | Preparing id='' gen=-1",
	      "prepared#1          > -",
	      "prepared            > -",
	      "retry               > JOIN             | Joining");
	/* An answer that only repeats the one before moves nothing. */
	TRACE("conf session=10s heartbeat=3s rebalance=8s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "wait 5s             > BEAT",
	      "sync 14             > -                | Preparing",
	      "wait 121ms          > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync 30             > REPORT(SyncGroup:30)",
	      "wait 2s             > BEAT",
	      "beat ok             > -",
	      "wait 900ms          > LOST(unknown-member)");
	/* The same where the plan is not made in time. */
	TRACE("conf session=10s heartbeat=3s rebalance=8s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "join ok id=m1 gen=4 leader > ASSIGN    | Assigning",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 1999ms         > -                | Assigning",
	      "wait 1ms            > LOST(unknown-member) | Preparing id=m1 gen=4 rebalancing",
	      "assigned#1          > -",
	      "prepared            > JOIN",
	      "join 25             > JOIN             | id=''");
	/* With the plan it is over: the next rebalance is another matter. */
	TRACE("conf session=10s heartbeat=3s rebalance=8s", STABLE,
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT",
	      "beat ok             > -",
	      "rejoin              > PREPARE",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat ok             > -                | Preparing");
}
END_TEST

START_TEST(the_session_ends_while_the_assignor_runs)
{
	TRACE("conf session=10s heartbeat=3s request=30s", JOINING,
	      "join ok id=m1 gen=1 leader > ASSIGN",
	      "wait 3s             > BEAT",
	      "wait 6s             > -",
	      "wait 1s             > DROP FIND        | Preparing rebalancing",
	      "assigned            > -                | Preparing",
	      "found ok            > JOIN");
}
END_TEST

START_TEST(a_rebalance_follows_at_once)
{
	/* COMPLETE comes before the next PREPARE, also when both come in one step. */
	TRACE(SYNCING, "rejoin > -", "sync ok > COMPLETE PREPARE BEAT | Preparing rebalancing gen=3", "prepared keeps > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC", "sync ok > COMPLETE BEAT | settled");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, not_yet_stable);
	tcase_add_test(tcase, a_third_member_joins_a_stable_group);
	tcase_add_test(tcase, everything_within_one_rebalance);
	tcase_add_test(tcase, thrown_out_in_the_middle_of_a_rebalance);
	tcase_add_test(tcase, thrown_out_while_stable);
	tcase_add_test(tcase, only_the_answer_to_the_newest_ask_counts);
	tcase_add_test(tcase, the_application_may_be_slow_in_prepare);
	tcase_add_test(tcase, the_application_looks_away);
	tcase_add_test(tcase, no_poll_for_too_long_while_joining);
	tcase_add_test(tcase, no_poll_for_too_long_before_prepare_was_seen);
	tcase_add_test(tcase, the_first_join_loses_nothing);
	tcase_add_test(tcase, the_session_ends_while_stable);
	tcase_add_test(tcase, what_is_owned_does_not_outlive_the_seat);
	tcase_add_test(tcase, a_seat_is_given_away_when_prepare_takes_too_long);
	tcase_add_test(tcase, a_seat_is_given_away_when_the_plan_is_not_asked_for);
	tcase_add_test(tcase, the_session_ends_while_the_assignor_runs);
	tcase_add_test(tcase, a_rebalance_follows_at_once);
}

int main(void)
{
	return suite_run("once", fill, 30);
}
