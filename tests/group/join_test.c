/* SPDX-License-Identifier: Apache-2.0 */
/* Joining and syncing: the way from Unjoined to Stable with all that brokers and networks put into it. */
#include "stories.h"
#include "../lib/suite.h"
#include "trace.h"

START_TEST(a_follower_joins)
{
	/* scenarios E.82: a follower sends SyncGroup with no entries */
	TRACE(STABLE);
}
END_TEST

START_TEST(a_leader_joins)
{
	/* scenarios E.81 (the machine's part) */
	TRACE(JOINING,
	      "join ok id=m1 gen=1 leader protocol=range > ASSIGN | Assigning leader gen=1",
	      "assigned            > SYNC+plan        | Syncing",
	      "sync ok             > COMPLETE BEAT    | Stable leader settled");
}
END_TEST

START_TEST(a_leader_that_skips_sends_no_plan)
{
	/* scenarios E.83, KIP-814 */
	TRACE(JOINING,
	      "join ok id=m1 gen=1 leader skip > SYNC | Syncing leader",
	      "sync ok             > COMPLETE BEAT    | Stable leader");
}
END_TEST

START_TEST(a_group_of_the_new_protocol_has_no_leader)
{
	/* scenarios J.177: leader "" and an empty first assignment; the real one comes with the rejoin that 27 asks for */
	TRACE(JOINING,
	      "join ok id=m1 gen=1 leader='' protocol=range > SYNC | Syncing follower",
	      "sync ok             > COMPLETE BEAT    | Stable follower",
	      "beat 27             > PREPARE          | Preparing id=m1 gen=1",
	      "prepared            > JOIN             | Joining");
}
END_TEST

START_TEST(nothing_is_sent_before_the_application_is_prepared)
{
	/* scenarios F.116, bugs kafka 14024: a slow on_join_prepare (its commits) holds up this member's JoinGroup only */
	TRACE("start               > PREPARE FIND",
	      "found ok            > -                | Preparing Known",
	      "wait 50s            > -",
	      "prepared            > JOIN             | Joining");
}
END_TEST

START_TEST(a_pending_join_is_left_alone)
{
	/* scenarios A.1, A.4; bugs 1, 2, librdkafka 53; bugs kafka 10134 (no work while it waits): longer than the request
	 * timeout and the session, yet one JoinGroup */
	TRACE("conf request=30s rebalance=60s session=10s",
	      JOINING,
	      "poll                > -",
	      "wait 64s            > -                | Joining",
	      "join ok id=m1 gen=1 leader=m0 > SYNC   | Syncing");
}
END_TEST

START_TEST(timeouts_of_join_and_sync)
{
	/* scenarios A.4, bugs 1 (KAFKA-7610): rebalance timeout + 5 s */
	TRACE("conf request=30s rebalance=60s", JOINING, "down > DROP FIND", "found ok > JOIN | timeout=65s",
	      "join ok id=m1 gen=1 leader=m0 > SYNC | timeout=65s");
	/* scenarios A.5 */
	TRACE("conf request=30s rebalance=10s", "start > PREPARE FIND | timeout=30s", "prepared > -",
	      "found ok > JOIN | timeout=30s");
	/* scenarios A.6, bugs kafka 13126: no overflow */
	TRACE("conf request=30s rebalance=2147483s", "start > PREPARE FIND", "prepared > -",
	      "found ok > JOIN | timeout=2147488s");
}
END_TEST

START_TEST(an_unanswered_join_times_out_and_keeps_everything)
{
	/* KAFKA-13214; scenarios A.18: neither member id nor generation is lost with a connection */
	TRACE(STABLE,
	      "beat#1 ok           > -",
	      "rejoin              > PREPARE",
	      "prepared            > JOIN             | Joining",
	      "join TIMED_OUT      > DROP FIND        | Preparing id=m1 gen=3",
	      "found ok            > JOIN             | Joining id=m1 gen=3 reason='rebalance failed: TIMED_OUT'");
}
END_TEST

START_TEST(lookups_back_off_exponentially)
{
	/* scenarios A.2: 100, 200, 400, 800, 1000 ms, each within ±20 %; bugs kafka 10793: a failed look-up is not the last */
	TRACE("start               > PREPARE FIND",
	      "prepared            > -",
	      "found 15            > -                | Unknown",
	      "wait 79ms           > -",
	      "wait 42ms           > FIND             | Finding",
	      "found TIMED_OUT     > -",
	      "wait 159ms          > -",
	      "wait 82ms           > FIND",
	      "found 15            > -",
	      "wait 319ms          > -",
	      "wait 162ms          > FIND",
	      "found -1            > -",
	      "wait 639ms          > -",
	      "wait 322ms          > FIND",
	      "found 14            > -",
	      "wait 799ms          > -",
	      "wait 402ms          > FIND",
	      "found RESOLVE       > -",
	      "wait 799ms          > -",
	      "wait 402ms          > FIND",
	      "found ok            > JOIN");
}
END_TEST

START_TEST(a_coordinator_that_refuses_connections_is_looked_up_again_with_pauses)
{
	/* scenarios A.3; bugs librdkafka 4 (#3396), librdkafka 5 (#3082): it is named again and again and does not do */
	TRACE(JOINING,
	      "down                > DROP FIND        | Preparing Finding",
	      "found ok            > JOIN",
	      "join 16             > DROP             | Preparing Unknown",
	      "wait 159ms          > -",
	      "wait 82ms           > FIND",
	      "found ok            > JOIN",
	      "join 16             > DROP",
	      "wait 319ms          > -",
	      "wait 162ms          > FIND",
	      "found ok            > JOIN",
	      "join 15             > DROP",
	      "wait 639ms          > -",
	      "wait 322ms          > FIND",
	      "found ok            > JOIN",
	      "join ok id=m1 gen=1 leader=m0 > SYNC");
}
END_TEST

START_TEST(a_member_id_is_handed_out)
{
	/* scenarios A.7, A.8, KIP-394; bugs 3: at once, no pause, no callback */
	TRACE(JOINING,
	      "join 79 id=X        > JOIN             | Joining id=X gen=-1 rebalancing",
	      "join ok id=X gen=1 leader=X > ASSIGN");
	/* A broker that asks for it again and again does not make us spin. */
	TRACE(JOINING,
	      "join 79 id=X        > JOIN",
	      "join 79 id=Y        > -                | Preparing id=Y",
	      "wait 121ms          > JOIN             | Joining id=Y",
	      "join 79 id=Z        > -",
	      "wait 159ms          > -",
	      "wait 82ms           > JOIN");
	/* Hostile: 79 without an id cannot be obeyed. */
	TRACE(JOINING, "join 79 > DROP FIND | Preparing id=''", "found ok > -", "wait 121ms > JOIN");
}
END_TEST

START_TEST(a_member_that_was_handed_an_id_gives_it_back)
{
	/* scenarios A.8, bugs kafka 7909: a pending id holds up the group */
	TRACE(JOINING,
	      "join 79 id=X        > JOIN",
	      "join 14             > -                | Preparing id=X",
	      "leave               > LEAVE            | Leaving id=X",
	      "leave-answer ok     > LEFT             | Unjoined id=''");
}
END_TEST

START_TEST(a_fenced_static_member_is_told_so)
{
	/* scenarios A.9, A.10; bugs 35 (franz-go 479), librdkafka 55: fatal, once, and then silence */
	TRACE("conf instance=i1", JOINING, "join 82 > FAIL(JoinGroup:82) | Failed", "wait 60s > -", "down > DROP", "wait 60s > -");
	TRACE("conf instance=i1", SYNCING, "sync 82 > FAIL(SyncGroup:82) | Failed id='' gen=-1", "wait 60s > -", "retry > -");
}
END_TEST

START_TEST(an_unknown_member_starts_with_an_empty_id)
{
	/* scenarios A.14; bugs 48: UNKNOWN_MEMBER_ID resets the id */
	TRACE(SYNCING, "sync 25 > JOIN | Joining id='' gen=-1 rebalancing");
}
END_TEST

START_TEST(an_illegal_generation_keeps_the_id)
{
	/* scenarios A.15; bugs 44: and the connection; bugs 48 */
	TRACE(SYNCING, "sync 22 > JOIN | Joining Known id=m1 gen=-1 rebalancing");
	/* Brokers do not send 22 to JoinGroup; should one, it means the same. */
	TRACE(JOINING, "join 22 > JOIN | Joining id='' gen=-1");
}
END_TEST

START_TEST(a_rebalance_in_progress_keeps_everything)
{
	/* scenarios A.16, A.17; bugs librdkafka 2, kafka 13891 (resetting was reverted), bugs 48 */
	TRACE(SYNCING,
	      "sync 27             > JOIN             | Joining id=m1 gen=3 rebalancing reason='rebalance failed: REBALANCE_IN_PROGRESS'",
	      "join ok id=m1 gen=4 leader=m0 > SYNC   | gen=4",
	      "sync ok             > COMPLETE BEAT    | Stable gen=4");
	TRACE(JOINING, "join 27 > JOIN", "join ok id=m1 gen=1 leader=m0 > SYNC");
}
END_TEST

START_TEST(sync_is_refused_ten_times)
{
	/* bugs librdkafka 1 (#3866): 27 on SyncGroup ten times: same id, one prepare, no spinning, stable one round later */
	TRACE(SYNCING,
	      "sync 27 > JOIN", "join ok id=m1 gen=4 leader=m0 > SYNC",
	      "sync 27 > -", "wait 121ms > JOIN", "join ok id=m1 gen=5 leader=m0 > SYNC",
	      "sync 27 > -", "wait 241ms > JOIN", "join ok id=m1 gen=6 leader=m0 > SYNC",
	      "sync 27 > -", "wait 481ms > JOIN", "join ok id=m1 gen=7 leader=m0 > SYNC",
	      "sync 27 > -", "wait 961ms > JOIN", "join ok id=m1 gen=8 leader=m0 > SYNC",
	      "sync 27 > -", "wait 1201ms > JOIN", "join ok id=m1 gen=9 leader=m0 > SYNC",
	      "sync 27 > -", "wait 1201ms > JOIN", "join ok id=m1 gen=10 leader=m0 > SYNC",
	      "sync 27 > -", "wait 1201ms > JOIN", "join ok id=m1 gen=11 leader=m0 > SYNC",
	      "sync 27 > -", "wait 1201ms > JOIN", "join ok id=m1 gen=12 leader=m0 > SYNC",
	      "sync 27 > -", "wait 1201ms > JOIN", "join ok id=m1 gen=13 leader=m0 > SYNC | id=m1 rebalancing",
	      "sync ok > COMPLETE BEAT | Stable");
}
END_TEST

START_TEST(a_loading_coordinator_is_waited_for)
{
	/* scenarios A.20, A.21; bugs 4 (sarama 2058), librdkafka 6; bugs kafka 12639 (no tight loop) */
	TRACE(JOINING,
	      "join 14             > -                | Preparing Known",
	      "wait 79ms           > -",
	      "wait 42ms           > JOIN             | Joining",
	      "join 14             > -",
	      "wait 159ms          > -",
	      "wait 82ms           > JOIN",
	      "join 14             > -",
	      "wait 481ms          > JOIN",
	      "join ok id=m1 gen=1 leader=m0 > SYNC");
	/* Design: 14 on SyncGroup is retried; the retry is a JoinGroup with the same id. */
	TRACE(SYNCING, "sync 14 > - | Preparing id=m1 gen=3", "wait 121ms > JOIN | Joining id=m1 gen=3");
}
END_TEST

START_TEST(the_coordinator_moves)
{
	/* scenarios A.22; bugs librdkafka 3 (#2944) */
	TRACE(JOINING, "join 16 > DROP FIND | Preparing Finding", "found ok > JOIN | Joining");
	TRACE(SYNCING, "sync 15 > DROP FIND | Preparing id=m1 gen=3", "found ok > JOIN | id=m1 gen=3");
	/* scenarios A.18; bugs kafka 5154: join good, sync lost with the connection */
	TRACE(SYNCING, "down > DROP FIND | Preparing", "found ok > JOIN | id=m1 gen=3");
}
END_TEST

START_TEST(a_group_that_is_full_is_tried_again_when_the_application_asks)
{
	/* scenarios A.23, KIP-389: reported, nothing sent until the application goes on, which carries the reason */
	TRACE(JOINING,
	      "join 81             > REPORT(JoinGroup:81) | Preparing",
	      "wait 30s            > -",
	      "retry               > JOIN             | Joining reason='rebalance failed: GROUP_MAX_SIZE_REACHED' rebalancing");
	/* Asking again and again in no time does not make us spin either. */
	TRACE(JOINING,
	      "join 81             > REPORT(JoinGroup:81)",
	      "retry               > -",
	      "wait 121ms          > JOIN",
	      "join 81             > REPORT(JoinGroup:81)",
	      "retry               > -",
	      "wait 159ms          > -",
	      "wait 82ms           > JOIN");
}
END_TEST

START_TEST(what_cannot_get_better_is_fatal)
{
	/* scenarios A.24, A.25, A.26; bugs 14: no retry storm */
	TRACE(JOINING, "join 23 > FAIL(JoinGroup:23) | Failed", "wait 60s > -", "rejoin > -", "retry > -", "poll > -");
	TRACE(JOINING, "join 24 > FAIL(JoinGroup:24) | Failed");
	TRACE(JOINING, "join 26 > FAIL(JoinGroup:26) | Failed");
	TRACE(JOINING, "join 35 > FAIL(JoinGroup:35) | Failed");
	TRACE(JOINING, "join UNSUPPORTED > FAIL(JoinGroup:UNSUPPORTED) | Failed");
	TRACE("start > PREPARE FIND", "found 24 > FAIL(FindCoordinator:24) | Failed Unknown", "wait 60s > -");
	/* A failed member can still be closed. */
	TRACE(JOINING, "join 23 > FAIL(JoinGroup:23)", "leave > LEFT | Unjoined");
	/* … and a subscription made after that is a new one. */
	TRACE(JOINING, "join 24 > FAIL(JoinGroup:24)", "start > -", "leave > LEFT", "start > PREPARE", "prepared > JOIN");
}
END_TEST

START_TEST(what_an_administrator_may_mend_is_reported)
{
	/* scenarios A.27 */
	TRACE("start > PREPARE FIND", "prepared > -", "found 30 > REPORT(FindCoordinator:30) | Preparing Unknown",
	      "wait 30s > -", "retry > FIND");
	TRACE(JOINING, "join 30 > REPORT(JoinGroup:30) | Preparing", "wait 30s > -", "retry > JOIN");
	TRACE(SYNCING, "sync 30 > REPORT(SyncGroup:30) | Preparing id=m1 gen=3", "wait 1s > -", "retry > JOIN | id=m1 gen=3");
	/* scenarios A.29: a code nobody has thought of */
	TRACE(SYNCING, "sync 999 > REPORT(SyncGroup:999) | Preparing id=m1", "wait 1s > -", "retry > JOIN");
	TRACE(JOINING, "join -1 > REPORT(JoinGroup:-1) | Preparing", "wait 1s > -", "retry > JOIN");
}
END_TEST

START_TEST(the_protocol_type_is_checked)
{
	/* scenarios A.30, KIP-559; bugs 14 */
	TRACE(JOINING, "join ok id=m1 gen=1 leader=m0 type=connect > FAIL(JoinGroup:23) | Failed");
	TRACE(JOINING, "join ok id=m1 gen=1 leader=m0 type=consumer > SYNC");
	/* An old broker echoes nothing, which SYNCING shows. The same at SyncGroup, with the protocol's name. */
	TRACE(SYNCING, "sync ok type=connect > FAIL(SyncGroup:23) | Failed");
	TRACE(SYNCING, "sync ok type=consumer protocol=roundrobin > FAIL(SyncGroup:23) | Failed");
	TRACE(SYNCING, "sync ok type=consumer protocol=range > COMPLETE BEAT");
}
END_TEST

START_TEST(an_answer_that_makes_no_sense_costs_the_connection)
{
	/* A broker that is none: no member id, no generation. */
	TRACE(JOINING, "join ok gen=1 leader=m0 > DROP FIND | Preparing id='' gen=-1", "found ok > -", "wait 121ms > JOIN");
	TRACE(JOINING, "join ok id=m1 gen=-1 leader=m0 > DROP FIND | Preparing id='' gen=-1");
	TRACE(JOINING, "join PROTOCOL > DROP FIND | Preparing");
}
END_TEST

START_TEST(superseded_answers_change_nothing)
{
	/* scenarios A.37, J.163; bugs kafka 20938: 16 for an old attempt must not cost the coordinator; scenarios A.12, A.13 and
	 * bugs kafka 9823: 25 and 22 for one must not cost the identity */
	TRACE(JOINING,
	      "join TIMED_OUT      > DROP FIND",
	      "found ok            > JOIN",
	      "join#1 16           > -                | Joining Known",
	      "join#1 25           > -",
	      "join#1 ok id=zombie gen=99 leader > -  | Joining id=''",
	      "join#2 ok id=m1 gen=1 leader=m0 > SYNC | id=m1 gen=1",
	      "join#2 16           > -                | Syncing Known",
	      "sync 27             > JOIN",
	      "sync#1 22           > -                | Joining id=m1 gen=1",
	      "sync#1 25           > -                | Joining id=m1 gen=1",
	      "sync#1 ok           > -                | Joining");
	/* The same for look-ups and for the assignor. */
	TRACE("start > PREPARE FIND", "found 15 > -", "wait 121ms > FIND", "found#1 ok > - | Finding", "found#2 ok > -",
	      "found#1 24 > - | Preparing Known");
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN", "down > DROP FIND | Assigning", "found ok > BEAT | Assigning",
	      "beat 27 > -", "assigned > SYNC+plan", "sync 27 > JOIN", "assigned#1 > - | Joining");
}
END_TEST

START_TEST(only_one_lookup_at_a_time)
{
	/* scenarios A.35 */
	TRACE("start > PREPARE FIND", "prepared > -", "down > - | Finding", "rejoin > -", "wait 20s > - | Finding", "found ok > JOIN");
}
END_TEST

START_TEST(leaving_makes_late_answers_worthless)
{
	/* scenarios A.32, A.33; bugs kafka 8104, 9140 */
	TRACE(SYNCING,
	      "leave               > LEAVE+beside     | Leaving",
	      "sync ok             > -                | Leaving",
	      "leave-answer ok     > DROP LEFT        | Unjoined gen=-1 id=''",
	      "start               > PREPARE FIND",
	      "prepared            > -",
	      "found ok            > JOIN             | id='' gen=-1",
	      "sync#1 ok           > -                | Joining",
	      "join ok id=m2 gen=5 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable id=m2 gen=5");
	TRACE(JOINING, "leave > DROP LEFT | Unjoined", "join ok id=m1 gen=1 leader > - | Unjoined id='' gen=-1");
}
END_TEST

START_TEST(a_wish_during_a_rebalance_is_one_more_rebalance)
{
	/* bugs 16 (aiokafka 88), librdkafka 11: changed between Join and Sync; one outstanding request, one more rejoin.
	 * KIP-568, KIP-800: with the reason that was given for it */
	TRACE(JOINING,
	      "rejoin reason='topics changed' > -     | Joining",
	      "join ok id=m1 gen=1 leader=m0 > SYNC",
	      "rejoin reason='topics changed' > -     | Syncing",
	      "sync ok             > COMPLETE PREPARE BEAT | Preparing rebalancing",
	      "prepared            > JOIN             | Joining reason='topics changed'",
	      "join ok id=m1 gen=2 leader=m0 > SYNC",
	      "sync ok             > COMPLETE BEAT    | Stable settled");
	/* Also when the rebalance that is under way needs several tries. */
	TRACE(SYNCING, "rejoin reason='grown' > -", "sync 27 > JOIN | reason='rebalance failed: REBALANCE_IN_PROGRESS'",
	      "join ok id=m1 gen=4 leader=m0 > SYNC", "sync ok > COMPLETE PREPARE BEAT", "prepared > JOIN | reason='grown'");
	/* A wish from before the application is prepared is part of the rebalance that begins. */
	TRACE("start > PREPARE FIND", "rejoin reason='early' > -", "prepared > -", "found ok > JOIN",
	      "join ok id=m1 gen=1 leader=m0 > SYNC", "sync ok > COMPLETE BEAT | Stable");
}
END_TEST

START_TEST(a_wish_when_stable_starts_a_rebalance_at_once)
{
	/* KIP-568 */
	TRACE(STABLE,
	      "rejoin reason='because' > PREPARE      | Preparing id=m1 gen=3",
	      "prepared            > JOIN             | Joining reason='because'");
	/* Without a membership there is nothing to rebalance. */
	TRACE("rejoin > - | Unjoined");
}
END_TEST

START_TEST(reasons_are_cut)
{
	/* KIP-800: 255 bytes, and not in the middle of a character: the 128th ü would be bytes 255 and 256 */
#define TEN_U "üüüüüüüüüü"
#define HUNDRED_U TEN_U TEN_U TEN_U TEN_U TEN_U TEN_U TEN_U TEN_U TEN_U TEN_U
#define U127 HUNDRED_U TEN_U TEN_U "üüüüüüü"
	TRACE("start reason='" U127 "üüü' > PREPARE FIND", "prepared > -", "found ok > JOIN | reason='" U127 "'");
	TRACE("start reason='x" U127 "üüü' > PREPARE FIND", "prepared > -", "found ok > JOIN | reason='x" U127 "'");
}
END_TEST

START_TEST(an_assignor_that_fails_is_reported)
{
	/* The rebalance is not over: it is tried again when the application goes on. Meanwhile the heartbeats keep the seat. */
	TRACE(JOINING,
	      "join ok id=m1 gen=1 leader > ASSIGN",
	      "assigned ASSIGNOR   > REPORT(SyncGroup:ASSIGNOR) | Preparing id=m1 gen=1",
	      "wait 3s             > BEAT             | Preparing",
	      "beat ok             > -",
	      "retry               > JOIN             | Joining id=m1 gen=1",
	      "join ok id=m1 gen=2 leader > ASSIGN",
	      "assigned            > SYNC+plan",
	      "sync ok             > COMPLETE BEAT");
	/* Whatever number an assignor comes up with, it is not a broker's answer and costs no identity. */
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN", "assigned 25 > REPORT(SyncGroup:25) | Preparing Known id=m1 gen=1");
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN",
	      "assigned TIMED_OUT > REPORT(SyncGroup:TIMED_OUT) | Preparing Known id=m1 gen=1");
	/* Memory may come back by itself. */
	TRACE(JOINING, "join ok id=m1 gen=1 leader > ASSIGN", "assigned MEMORY > - | Preparing", "wait 121ms > JOIN");
}
END_TEST

START_TEST(the_coordinator_goes_while_the_assignor_runs)
{
	/* The plan is for a generation of the old coordinator: a new round makes sure of it. */
	TRACE(JOINING,
	      "join ok id=m1 gen=1 leader > ASSIGN",
	      "down                > DROP FIND        | Assigning",
	      "assigned            > -                | Preparing Finding id=m1 gen=1 rebalancing",
	      "found ok            > JOIN             | Joining");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_follower_joins);
	tcase_add_test(tcase, a_leader_joins);
	tcase_add_test(tcase, a_leader_that_skips_sends_no_plan);
	tcase_add_test(tcase, a_group_of_the_new_protocol_has_no_leader);
	tcase_add_test(tcase, nothing_is_sent_before_the_application_is_prepared);
	tcase_add_test(tcase, a_pending_join_is_left_alone);
	tcase_add_test(tcase, timeouts_of_join_and_sync);
	tcase_add_test(tcase, an_unanswered_join_times_out_and_keeps_everything);
	tcase_add_test(tcase, lookups_back_off_exponentially);
	tcase_add_test(tcase, a_coordinator_that_refuses_connections_is_looked_up_again_with_pauses);
	tcase_add_test(tcase, a_member_id_is_handed_out);
	tcase_add_test(tcase, a_member_that_was_handed_an_id_gives_it_back);
	tcase_add_test(tcase, a_fenced_static_member_is_told_so);
	tcase_add_test(tcase, an_unknown_member_starts_with_an_empty_id);
	tcase_add_test(tcase, an_illegal_generation_keeps_the_id);
	tcase_add_test(tcase, a_rebalance_in_progress_keeps_everything);
	tcase_add_test(tcase, sync_is_refused_ten_times);
	tcase_add_test(tcase, a_loading_coordinator_is_waited_for);
	tcase_add_test(tcase, the_coordinator_moves);
	tcase_add_test(tcase, a_group_that_is_full_is_tried_again_when_the_application_asks);
	tcase_add_test(tcase, what_cannot_get_better_is_fatal);
	tcase_add_test(tcase, what_an_administrator_may_mend_is_reported);
	tcase_add_test(tcase, the_protocol_type_is_checked);
	tcase_add_test(tcase, an_answer_that_makes_no_sense_costs_the_connection);
	tcase_add_test(tcase, superseded_answers_change_nothing);
	tcase_add_test(tcase, only_one_lookup_at_a_time);
	tcase_add_test(tcase, leaving_makes_late_answers_worthless);
	tcase_add_test(tcase, a_wish_during_a_rebalance_is_one_more_rebalance);
	tcase_add_test(tcase, a_wish_when_stable_starts_a_rebalance_at_once);
	tcase_add_test(tcase, reasons_are_cut);
	tcase_add_test(tcase, an_assignor_that_fails_is_reported);
	tcase_add_test(tcase, the_coordinator_goes_while_the_assignor_runs);
}

int main(void)
{
	return suite_run("join", fill, 30);
}
