/* SPDX-License-Identifier: Apache-2.0 */
/* Static members (KIP-345): a seat that outlives the process, and what a restarted one must still notice. */
#include "crew.h"
#include "suite.h"

#include <string.h>

enum { JOIN_GROUP = 11, HEARTBEAT = 12, LEAVE_GROUP = 13 };

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:4,u:2", 1);
}

static void join_as(struct actor *actor, const char *instance, const char *topics)
{
	crew_open(actor, instance, crew_conf("group.instance.id", instance, "metadata.max.age.ms", "200", NULL));
	crew_subscribe(actor, topics);
}

/* Two static members, `a` leads; both know of the last generation. */
static void two_of_them(void)
{
	join_as(&a, "one", "t");
	crew_until(a.owned == 4, &a);
	join_as(&b, "two", "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	a.seen[0] = b.seen[0] = '\0';
}

/* As a restart does: the seat is kept, nobody is told. */
static void restart(struct actor *actor, const char *topics)
{
	const char *instance = actor->name;

	crew_close(actor, RG_CLOSE_DEFAULT);
	join_as(actor, instance, topics);
}

/* Whatever is on its way has arrived when both have beaten a few times more. */
static void a_few_heartbeats(void)
{
	int first = atomic_load(&a.beats), second = atomic_load(&b.beats);

	crew_until(atomic_load(&a.beats) >= first + 3 && atomic_load(&b.beats) >= second + 3, &a, &b);
}

/* --- Restarts ----------------------------------------------------------------------------------------------------- */

/* KIP-345, KIP-814; bugs kafka 10284: leader and follower, five times each, and nobody else notices. */
START_TEST(a_restart_within_the_session_is_no_rebalance)
{
	two_of_them();
	for (int round = 0; round < 5; round++) {
		restart(&a, "t");
		crew_until(a.owned == 2, &a, &b);
		ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
		restart(&b, "t");
		crew_until(b.owned == 2, &a, &b);
		ck_assert_str_eq(b.seen, "prepare, complete, assigned t:2,3");
		a_few_heartbeats();
	}
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	ck_assert_str_eq(b.seen, "prepare, complete, assigned t:2,3");
	ck_assert_str_eq(a.errors, "");
	ck_assert_str_eq(b.errors, "");
	ck_assert_int_eq(rg_testkit_request_count(kit, LEAVE_GROUP), 0);
}
END_TEST

/* bugs 22, KIP-814: who leads by its predecessor's plan still has to see the topic grow, its own and the others'. */
START_TEST(a_restarted_leader_notices_growth)
{
	rg_error error = {0};

	join_as(&a, "one", "t");
	crew_until(a.owned == 4, &a);
	join_as(&b, "two", "u");
	crew_until(a.owned == 4 && b.owned == 2 && count_of(&a, "complete") == 2, &a, &b);
	restart(&a, "t");
	crew_until(a.owned == 4, &a, &b);
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	OK(rg_testkit_grow_topic(kit, "u", 5, &error)); /* which the leader does not consume */
	crew_until(b.owned == 5 && a.owned == 4, &a, &b);
	OK(rg_testkit_grow_topic(kit, "t", 6, &error));
	crew_until(a.owned == 6 && b.owned == 5, &a, &b);
	ck_assert_int_eq(count_of(&a, "prepare"), 3);
	ck_assert(alternates(&a) && alternates(&b));
}
END_TEST

/* KIP-814: what changed while it was away it cannot have seen. The plan says what it was made for. */
START_TEST(a_restarted_leader_notices_what_grew_without_it)
{
	rg_error error = {0};

	join_as(&a, "one", "t");
	crew_until(a.owned == 4, &a);
	join_as(&b, "two", "u");
	crew_until(a.owned == 4 && b.owned == 2 && count_of(&a, "complete") == 2, &a, &b);
	b.seen[0] = '\0';
	crew_close(&a, RG_CLOSE_DEFAULT);
	OK(rg_testkit_grow_topic(kit, "u", 5, &error)); /* which the leader does not consume */
	join_as(&a, "one", "t");
	crew_until(b.owned == 5 && a.owned == 4, &a, &b);
	crew_close(&a, RG_CLOSE_DEFAULT);
	OK(rg_testkit_grow_topic(kit, "t", 6, &error));
	join_as(&a, "one", "t");
	crew_until(a.owned == 6 && b.owned == 5, &a, &b);
	a_few_heartbeats();
	/* Its predecessor's plan, then one of its own; the other saw one rebalance for each growth. */
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	ck_assert_int_eq(count_of(&b, "prepare"), 2);
	ck_assert_int_eq(a.violations + b.violations, 0);
	ck_assert(alternates(&a) && alternates(&b));
}
END_TEST

/* bugs 22: the coordinator does not rebalance when a member comes back with other topics, so the member has to ask. */
START_TEST(a_restarted_leader_with_another_topic)
{
	two_of_them();
	restart(&a, "t,u");
	crew_until(a.owned == 4 && b.owned == 2, &a, &b);
	a_few_heartbeats();
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

START_TEST(a_restarted_follower_with_another_topic)
{
	two_of_them();
	restart(&b, "t,u");
	crew_until(b.owned == 4 && a.owned == 2, &a, &b);
	a_few_heartbeats();
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	ck_assert_int_eq(count_of(&b, "prepare"), 2);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* What it had and does not want any more would have no owner that reads it. */
START_TEST(a_restarted_follower_without_its_topic)
{
	two_of_them();
	restart(&b, "u");
	crew_until(b.owned == 2 && a.owned == 4, &a, &b);
	a_few_heartbeats();
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	ck_assert_int_eq(count_of(&b, "prepare"), 2);
	ck_assert(!seen(&b, "assigned t:"));
}
END_TEST

/* A topic that does not exist is no change: the leader knew that this member wants it. */
START_TEST(a_restart_with_a_topic_that_does_not_exist)
{
	join_as(&a, "one", "t");
	crew_until(a.owned == 4, &a);
	join_as(&b, "two", "nonesuch,t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	a.seen[0] = '\0';
	restart(&b, "t,nonesuch");
	crew_until(b.owned == 2, &a, &b);
	a_few_heartbeats();
	ck_assert_str_eq(a.seen, "");
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
}
END_TEST

/* KIP-568: a coordinator rebalances for a follower only if it says something new about itself. */
START_TEST(a_follower_can_ask_for_a_rebalance)
{
	rg_error error = {0};

	two_of_them();
	for (int round = 1; round <= 2; round++) {
		OK(rg_consumer_rejoin(b.consumer, "please", &error));
		crew_until(count_of(&a, "complete") == round && count_of(&b, "complete") == round, &a, &b);
	}
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	a_few_heartbeats();
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	ck_assert_int_eq(count_of(&b, "prepare"), 2);
}
END_TEST

/* --- Ends --------------------------------------------------------------------------------------------------------- */

/* bugs librdkafka 55, bugs 35: the older one is told once and asks nothing any more; the younger one is left alone. */
START_TEST(two_of_one_instance_do_not_fight)
{
	int64_t joins, beats;
	int first;

	join_as(&a, "one", "t");
	crew_until(a.owned == 4, &a);
	join_as(&b, "one", "t");
	crew_until(rg_consumer_failed(a.consumer) && a.owned == 0 && b.owned == 4, &a, &b);
	ck_assert(seen(&a, "lost(FENCED) t:0,1,2,3"));
	joins = rg_testkit_request_count(kit, JOIN_GROUP);
	beats = rg_testkit_request_count(kit, HEARTBEAT);
	first = atomic_load(&b.beats);
	crew_until(atomic_load(&b.beats) >= first + 5, &a, &b);
	ck_assert_int_eq(rg_testkit_request_count(kit, JOIN_GROUP), joins);
	/* All of them are the younger one's; one may be on its way at either end. */
	ck_assert_int_le(rg_testkit_request_count(kit, HEARTBEAT) - beats, atomic_load(&b.beats) - first + 2);
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
	ck_assert_str_eq(b.errors, "");
	crew_close(&a, RG_CLOSE_LEAVE); /* it has no seat to give up, least of all the other's */
	first = atomic_load(&b.beats);
	crew_until(atomic_load(&b.beats) >= first + 3, &b);
	ck_assert_int_eq(b.owned, 4);
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
}
END_TEST

/* bugs librdkafka 56: to unsubscribe is to go, also for a static member; its partitions do not wait for the session. */
START_TEST(unsubscribing_gives_the_seat_up)
{
	rg_error error = {0};

	two_of_them();
	OK(rg_consumer_unsubscribe(b.consumer, WITHIN_MS, &error));
	ck_assert_int_eq(rg_testkit_request_count(kit, LEAVE_GROUP), 1);
	ck_assert_str_eq(b.seen, "revoked t:2,3");
	crew_until(a.owned == 4, &a, &b);
	crew_subscribe(&b, "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert_str_eq(b.errors, "");
}
END_TEST

/* bugs librdkafka 54: out of touch for longer than a session. It comes back as who it is, and does not fence itself. */
START_TEST(a_session_that_ran_out_is_not_fatal)
{
	rg_error error = {0};

	crew_open(&a, "one", crew_conf("group.instance.id", "one", "session.timeout.ms", "400", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_stop_broker(kit, 1, &error));
	crew_until(a.owned == 0, &a);
	OK(rg_testkit_start_broker(kit, 1, &error));
	crew_until(a.owned == 4, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3, lost(SESSION_TIMEOUT) t:0,1,2,3, prepare, complete, "
	                         "assigned t:0,1,2,3");
	ck_assert_ptr_null(strstr(a.errors, "FENCED"));
	ck_assert_int_eq(rg_consumer_failed(a.consumer), 0);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_restart_within_the_session_is_no_rebalance);
	tcase_add_test(tcase, a_restarted_leader_notices_growth);
	tcase_add_test(tcase, a_restarted_leader_notices_what_grew_without_it);
	tcase_add_test(tcase, a_restarted_leader_with_another_topic);
	tcase_add_test(tcase, a_restarted_follower_with_another_topic);
	tcase_add_test(tcase, a_restarted_follower_without_its_topic);
	tcase_add_test(tcase, a_restart_with_a_topic_that_does_not_exist);
	tcase_add_test(tcase, a_follower_can_ask_for_a_rebalance);
	tcase_add_test(tcase, two_of_one_instance_do_not_fight);
	tcase_add_test(tcase, unsubscribing_gives_the_seat_up);
	tcase_add_test(tcase, a_session_that_ran_out_is_not_fatal);
}

int main(void)
{
	return run_suite("consumer_static", fill, start, crew_end);
}
