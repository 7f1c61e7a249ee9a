/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeats: when they are sent, what their answers mean. */
#include "stories.h"
#include "../lib/suite.h"
#include "trace.h"

START_TEST(the_interval_counts_from_sending)
{
	/* scenarios C.51, C.62; bugs 41: the first goes out with the assignment; bugs kafka 5512 */
	TRACE("conf heartbeat=3s", SYNCING,
	      "sync ok             > COMPLETE BEAT",
	      "wait 1s             > -",
	      "beat ok             > -",
	      "wait 1999ms         > -",
	      "wait 1ms            > BEAT",
	      "beat ok             > -",
	      "wait 2999ms         > -",
	      "wait 1ms            > BEAT");
}
END_TEST

START_TEST(never_two_at_a_time)
{
	/* bugs 47 (kafkajs 1026) */
	TRACE("conf session=30s heartbeat=3s", SYNCING, "sync ok > COMPLETE BEAT", "wait 14s > -", "beat ok > BEAT", "wait 14s > -");
}
END_TEST

START_TEST(an_answer_that_is_late_counts_from_when_it_was_asked)
{
	/* scenarios C.53; the coordinator's timer cannot have started before the request was sent */
	TRACE("conf session=10s heartbeat=3s", STABLE,
	      "wait 3s             > BEAT",
	      "wait 4s             > -",
	      "beat ok             > BEAT",
	      "wait 5999ms         > -                | Stable",
	      "wait 1ms            > LOST(session) DROP PREPARE FIND");
}
END_TEST

START_TEST(a_dead_connection_is_noticed_in_half_a_session)
{
	/* scenarios C.52, C.60: the coordinator is looked up again, the generation stays; heartbeats go on over the new
	 * connection at once */
	TRACE("conf session=10s heartbeat=3s request=30s", STABLE,
	      "wait 3s             > BEAT             | timeout=5s",
	      "wait 5s             > -",
	      "beat TIMED_OUT      > DROP FIND        | Stable Finding gen=3 id=m1",
	      "found ok            > BEAT             | Stable Known",
	      "beat ok             > -                | Stable gen=3 id=m1 settled");
}
END_TEST

START_TEST(a_lost_coordinator_does_not_end_a_membership)
{
	/* scenarios C.60, J.176; bugs librdkafka 3 */
	TRACE(STABLE, "wait 3s > BEAT", "beat 16 > DROP FIND | Stable Finding", "found ok > BEAT | Stable Known gen=3", "beat ok > -");
	TRACE(STABLE, "wait 3s > BEAT", "beat 15 > DROP FIND | Stable", "found 15 > - | Stable Unknown", "wait 241ms > FIND",
	      "found ok > BEAT", "beat 15 > DROP | Stable Unknown", "wait 481ms > FIND", "found ok > BEAT", "beat ok > - | Stable");
	TRACE(STABLE, "down > DROP FIND | Stable Finding settled", "found ok > BEAT", "beat ok > -");
	/* One that answers a heartbeat and closes, again and again, is not worth a busy loop; one that did for a while is. */
	TRACE(STABLE, "down > DROP FIND", "found ok > BEAT", "beat ok > -", "down > DROP | Stable Unknown", "wait 241ms > FIND",
	      "found ok > BEAT", "beat ok > -", "wait 2s > -", "down > DROP FIND | Stable Finding");
}
END_TEST

START_TEST(heartbeats_begin_with_the_join_answer)
{
	/* scenarios C.54, C.53, C.67; bugs 42, 69 (a slow assignor), kafka 10134 */
	TRACE("conf heartbeat=3s session=10s", JOINING,
	      "wait 20s            > -                | Joining",
	      "join ok id=m1 gen=1 leader > ASSIGN",
	      "wait 3s             > BEAT             | Assigning",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat 27             > -                | Assigning gen=1 id=m1",
	      "wait 3s             > BEAT",
	      "beat ok             > -",
	      "assigned            > SYNC+plan        | Syncing");
}
END_TEST

START_TEST(a_parked_sync_does_not_end_the_session)
{
	/* A broker reads nothing behind a parked SyncGroup, so no heartbeat is answered until it is; that is no reason to give
	 * up. The coordinator keeps who waits for its SyncGroup. Whether it waited, or found the group Stable on a slow way, we
	 * cannot know: a heartbeat tells whether the seat is still ours. */
	TRACE("conf heartbeat=3s session=10s request=20s rebalance=60s", SYNCING,
	      "wait 3s             > BEAT             | Syncing timeout=65s",
	      "wait 40s            > -                | Syncing",
	      "sync ok             > BEAT             | Syncing timeout=5s",
	      "beat#1 25           > -                | Syncing",
	      "beat ok             > COMPLETE         | Stable");
}
END_TEST

START_TEST(a_seat_that_may_be_gone_is_proved_first)
{
	/* broker: a JoinGroup that repeats the answer before and a SyncGroup in a Stable group begin no session. What was lost
	 * with the session is not owned again before the coordinator says so. */
	TRACE("conf session=9s heartbeat=3s", STABLE,
	      "wait 3s             > BEAT",
	      "beat 14             > -",
	      "wait 1s             > BEAT",
	      "beat 14             > -",
	      "wait 5s             > BEAT LOST(session) DROP PREPARE FIND",
	      "found ok            > -",
	      "prepared            > JOIN",
	      "join ok id=m1 gen=3 leader=m0 > SYNC",
	      "sync ok             > BEAT             | Syncing",
	      "beat 25             > JOIN             | Joining id='' gen=-1");
	/* A rebalance that has begun meanwhile is like one that SyncGroup itself hears of. */
	TRACE("conf heartbeat=3s session=10s rebalance=60s", SYNCING,
	      "wait 40s            > BEAT",
	      "sync ok             > BEAT",
	      "beat 27             > JOIN             | Joining id=m1 gen=3");
	/* The coordinator says nothing: what is kept is lost with the session, and the rebalance begins anew. */
	TRACE("conf heartbeat=3s session=9s rebalance=60s request=20s", SYNCING,
	      "wait 40s            > BEAT",
	      "sync ok             > BEAT             | Syncing",
	      "wait 2999ms         > -                | Syncing",
	      "wait 1ms            > DROP FIND        | Preparing id=m1 gen=3");
}
END_TEST

START_TEST(a_rebalance_is_learnt)
{
	/* scenarios C.54: 27 counts when Stable, and is ignored in a rebalance that is under way */
	TRACE(STABLE, "wait 3s > BEAT", "beat 27 > PREPARE | Preparing gen=3 id=m1", "wait 3s > BEAT", "beat 27 > - | Preparing");
	TRACE(SYNCING, "wait 3s > BEAT", "beat 27 > - | Syncing", "wait 3s > BEAT", "beat 27 > - | Syncing");
}
END_TEST

START_TEST(stale_answers_are_ignored)
{
	/* scenarios C.56; bugs kafka 9823, bugs 49 */
	TRACE(STABLE,
	      "wait 3s             > BEAT",
	      "rejoin              > PREPARE",
	      "prepared keeps      > JOIN",
	      "beat 22             > -                | Joining id=m1 gen=3",
	      "beat 25             > -                | Joining id=m1 gen=3",
	      "beat 82             > -                | Joining id=m1 gen=3",
	      "beat 16             > -                | Joining Known",
	      "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "beat 25             > -                | Syncing id=m1 gen=4");
}
END_TEST

START_TEST(the_group_went_on_without_us)
{
	/* scenarios C.57, C.58; bugs 44, 48 (same connection) */
	TRACE(STABLE, "wait 3s > BEAT", "beat 22 > LOST(illegal-generation) PREPARE | Preparing Known id=m1 gen=-1",
	      "prepared > JOIN | id=m1 gen=-1 reason='heartbeat answered ILLEGAL_GENERATION'");
	TRACE(STABLE, "wait 3s > BEAT", "beat 25 > LOST(unknown-member) PREPARE | Preparing Known id='' gen=-1", "prepared > JOIN");
	/* If it did not, and says the generation again, no session begins with that: the next heartbeat has to be answered well
	 * before the plan counts. */
	TRACE(STABLE, "wait 3s > BEAT", "beat 22 > LOST(illegal-generation) PREPARE", "prepared > JOIN",
	      "join ok id=m1 gen=3 leader=m0 > SYNC", "sync ok > BEAT | Syncing gen=3", "beat 22 > - | Preparing gen=-1");
	TRACE(STABLE, "wait 3s > BEAT", "beat 22 > LOST(illegal-generation) PREPARE", "prepared > JOIN",
	      "join ok id=m1 gen=4 leader=m0 > SYNC", "sync ok > COMPLETE BEAT | Stable gen=4");
	/* While the assignor runs, and while SyncGroup is out. */
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN", "wait 3s > BEAT", "beat 25 > JOIN | Joining id=''", "assigned > -");
	TRACE(SYNCING, "wait 3s > BEAT", "beat 22 > JOIN | Joining id=m1 gen=-1", "sync ok > - | Joining");
}
END_TEST

START_TEST(a_fenced_member_is_told_once)
{
	/* scenarios C.59; bugs 35, librdkafka 55 */
	TRACE("conf instance=i1", STABLE, "wait 3s > BEAT", "beat 82 > LOST(fenced) FAIL(Heartbeat:82) | Failed id='' gen=-1",
	      "wait 60s > -", "prepared > -", "retry > -", "rejoin > -", "beat ok > - | Failed");
}
END_TEST

START_TEST(no_permission_reaches_the_user)
{
	/* scenarios A.27, design: 30 on heartbeat is reported, once and not with each beat, and again after it had been fine */
	TRACE("conf session=10s heartbeat=3s", STABLE,
	      "wait 3s             > BEAT",
	      "beat 30             > REPORT(Heartbeat:30) | Stable",
	      "wait 121ms          > BEAT             | Stable",
	      "beat 30             > -",
	      "wait 241ms          > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat 30             > REPORT(Heartbeat:30)");
}
END_TEST

START_TEST(failures_back_off)
{
	/* scenarios C.63: and after a success the interval is what it was; bugs kafka 14729 (no busy loop) */
	TRACE("conf session=60s heartbeat=3s", STABLE,
	      "wait 3s             > BEAT",
	      "beat 14             > -                | Stable Known",
	      "wait 79ms           > -",
	      "wait 42ms           > BEAT",
	      "beat 999            > -",
	      "wait 159ms          > -",
	      "wait 82ms           > BEAT",
	      "beat -1             > -",
	      "wait 319ms          > -",
	      "wait 162ms          > BEAT",
	      "beat ok             > -",
	      "wait 3s             > BEAT",
	      "beat 14             > -",
	      "wait 121ms          > BEAT");
}
END_TEST

START_TEST(refusals_do_not_prolong_the_session)
{
	TRACE("conf session=10s heartbeat=3s", STABLE, "wait 3s > BEAT", "beat 14 > -", "wait 1s > BEAT", "beat 14 > -",
	      "wait 5s > BEAT", "beat 14 > -", "wait 1s > BEAT LOST(session) DROP PREPARE FIND");
}
END_TEST

START_TEST(the_budget_of_the_group)
{
	/* Design §7: clamp(size / budget, 100 ms, heartbeat.interval.ms), told with the assignment */
	TRACE("conf heartbeat=3s budget=50", SYNCING, "sync ok > COMPLETE BEAT | interval=100ms", "size 3 > - | interval=100ms",
	      "beat ok > - | interval=100ms", "wait 100ms > BEAT", "size 50 > - | interval=1000ms", "beat ok > -", "wait 99ms > -",
	      "wait 1ms > BEAT", "beat ok > -", "wait 999ms > -", "wait 1ms > BEAT", "size 1000 > - | interval=3s");
	/* The hint may come after the beat was planned for later: it is moved. */
	TRACE("conf heartbeat=3s budget=50", SYNCING, "sync ok > COMPLETE BEAT", "size 1000 > - | interval=3s", "beat ok > -",
	      "wait 100ms > BEAT", "beat ok > -", "size 5 > - | interval=100ms", "wait 100ms > BEAT");
	/* It is shorter as well for what comes after the heartbeat that is out. */
	TRACE("conf heartbeat=3s budget=50", SYNCING, "sync ok > COMPLETE BEAT", "size 1000 > - | interval=3s", "beat ok > -",
	      "wait 100ms > BEAT", "size 5 > - | interval=100ms", "wait 20ms > -", "beat ok > -", "wait 79ms > -", "wait 1ms > BEAT");
	/* Without it (a foreign leader) the interval doubles up to the configured one. */
	TRACE("conf heartbeat=1s budget=50", SYNCING, "sync ok > COMPLETE BEAT | interval=100ms", "size 0 > -",
	      "beat ok > - | interval=200ms", "wait 100ms > BEAT", "beat ok > - | interval=400ms", "wait 200ms > BEAT",
	      "beat ok > - | interval=800ms", "wait 400ms > BEAT", "beat ok > - | interval=1s", "wait 800ms > BEAT",
	      "beat ok > - | interval=1s", "wait 999ms > -", "wait 1ms > BEAT");
	/* Off, and with an interval that is shorter anyway. */
	TRACE("conf heartbeat=3s budget=0", SYNCING, "sync ok > COMPLETE BEAT | interval=3s", "size 5 > - | interval=3s");
	TRACE("conf heartbeat=50ms budget=50", SYNCING, "sync ok > COMPLETE BEAT | interval=50ms", "size 1 > - | interval=50ms",
	      "size -5 > - | interval=50ms");
	/* The largest group there can be. */
	TRACE("conf heartbeat=3s budget=1", SYNCING, "sync ok > COMPLETE BEAT", "size 2147483647 > - | interval=3s");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_interval_counts_from_sending);
	tcase_add_test(tcase, never_two_at_a_time);
	tcase_add_test(tcase, an_answer_that_is_late_counts_from_when_it_was_asked);
	tcase_add_test(tcase, a_dead_connection_is_noticed_in_half_a_session);
	tcase_add_test(tcase, a_lost_coordinator_does_not_end_a_membership);
	tcase_add_test(tcase, heartbeats_begin_with_the_join_answer);
	tcase_add_test(tcase, a_parked_sync_does_not_end_the_session);
	tcase_add_test(tcase, a_seat_that_may_be_gone_is_proved_first);
	tcase_add_test(tcase, a_rebalance_is_learnt);
	tcase_add_test(tcase, stale_answers_are_ignored);
	tcase_add_test(tcase, the_group_went_on_without_us);
	tcase_add_test(tcase, a_fenced_member_is_told_once);
	tcase_add_test(tcase, no_permission_reaches_the_user);
	tcase_add_test(tcase, failures_back_off);
	tcase_add_test(tcase, refusals_do_not_prolong_the_session);
	tcase_add_test(tcase, the_budget_of_the_group);
}

int main(void)
{
	return suite_run("heartbeat", fill, 30);
}
