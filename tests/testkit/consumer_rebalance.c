/* SPDX-License-Identifier: Apache-2.0 */
/* Rebalances as the listener sees them. */
#include "crew.h"
#include "suite.h"

#include <string.h>

static struct actor a, b, c;

static void start(void)
{
	crew_cluster("t:4,u:2", 2);
}

/* scenarios B.49, B.50 */
START_TEST(one_member_from_start_to_close)
{
	produce("t", -1, 40);
	crew_join(&a, "a", "t");
	crew_until(a.records == 40, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3, revoked t:0,1,2,3");
	ck_assert_int_eq(a.violations + a.nameless, 0);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* A Stable group is joined, and left. */
START_TEST(an_eager_group_grows_and_shrinks)
{
	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	crew_join(&b, "b", "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	crew_close(&b, RG_CLOSE_LEAVE);
	crew_until(a.owned == 4, &a);
	ck_assert(alternates(&a) && alternates(&b));
	ck_assert_int_eq(count_of(&a, "prepare"), 3);
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
	ck_assert(seen(&a, "prepare, revoked t:0,1,2,3, complete, assigned t:"));
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* scenarios E.97: what stays with a member is in no callback, and what moves is given up before anybody gets it. */
START_TEST(a_cooperative_group_moves_only_what_must_move)
{
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	crew_subscribe(&b, "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert(alternates(&a) && alternates(&b));
	ck_assert_msg(seen(&a, "prepare, complete, assigned t:0,1,2,3, prepare, complete, revoked t:"), "%s", a.seen);
	ck_assert_msg(!strncmp(b.seen, "prepare, complete, assigned, prepare, complete, assigned t:", 59), "%s", b.seen);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* scenarios B.45, B.47, A.7, A.14, A.16, A.18, A.20, A.22: one rebalance in spite of everything. */
START_TEST(seven_answers_but_one_prepare_and_one_complete)
{
	rg_error error = {0};

	OK(rg_testkit_fail_request(kit, 11, 2, 14, &error)); /* the first gets 79 */
	OK(rg_testkit_fail_request(kit, 11, 3, 16, &error));
	OK(rg_testkit_fail_request(kit, 11, 4, 27, &error));
	OK(rg_testkit_drop_request(kit, 11, 5, false, &error));
	OK(rg_testkit_fail_request(kit, 14, 1, 22, &error));
	OK(rg_testkit_fail_request(kit, 14, 2, 27, &error));
	OK(rg_testkit_fail_request(kit, 14, 3, 14, &error));
	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
	ck_assert_str_eq(a.errors, "");
	ck_assert_int_ge(rg_testkit_request_count(kit, 11), 8);
	ck_assert_int_eq(rg_testkit_request_count(kit, 14), 4); /* 22, 27, 14, and the one that went well */
}
END_TEST

/* The same with a coordinator that really moves to another broker while a JoinGroup is on its way to it. */
START_TEST(the_coordinator_moves_in_the_middle)
{
	rg_error error = {0};
	int32_t before = rg_testkit_coordinator(kit, "g");
	int hold = 0;

	OK(rg_testkit_fail_request(kit, 11, 2, 14, &error)); /* the first gets 79 */
	OK(rg_testkit_hold_request(kit, 11, 3, false, &hold, &error));
	OK(rg_testkit_fail_request(kit, 11, 4, 27, &error));
	OK(rg_testkit_drop_request(kit, 11, 5, false, &error));
	OK(rg_testkit_fail_request(kit, 14, 1, 22, &error));
	crew_join(&a, "a", "t");
	crew_until(rg_testkit_request_count(kit, 11) >= 3, &a);
	OK(rg_testkit_wait_held(kit, hold, 5000, &error));
	OK(rg_testkit_move_coordinator(kit, "g", before == 1 ? 2 : 1, true, 0, &error));
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned == 4, &a);
	ck_assert_int_ne(rg_testkit_coordinator(kit, "g"), before);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
	ck_assert_str_eq(a.errors, "");
	ck_assert_int_ge(rg_testkit_request_count(kit, 11), 7); /* five that went wrong, one before the 22 and one after it */
	ck_assert_int_eq(rg_testkit_request_count(kit, 14), 2);
}
END_TEST

/* scenarios C.58, bugs kafka 9823: thrown out; ownership is gone, and that is said once, with the cause. */
START_TEST(a_member_that_was_thrown_out_loses_and_comes_back)
{
	rg_error error = {0};

	/* The cluster only says so, and waits for the old seat's session to end. */
	crew_open(&a, "a", crew_conf("session.timeout.ms", "300", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_fail_request(kit, 12, 1, 25, &error));
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3, lost(UNKNOWN_MEMBER) t:0,1,2,3, prepare, complete, "
	                         "assigned t:0,1,2,3");
	ck_assert_int_eq(a.violations, 0);
}
END_TEST

/* scenarios C.59, bugs 35: the older of two with one group.instance.id is told once, and is of no more use. */
START_TEST(a_fenced_member_fails_for_good)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	crew_open(&b, "b", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&b, "t");
	crew_until(rg_consumer_failed(a.consumer) && b.owned == 4, &a, &b);
	crew_until(a.owned == 0, &a, &b);
	ck_assert_ptr_nonnull(strstr(a.errors, "FENCED_INSTANCE_ID"));
	ck_assert(seen(&a, "lost(FENCED) t:0,1,2,3"));
	crew_until(strstr(a.errors, "FATAL"), &a);
	ck_assert_ptr_null(strstr(strstr(a.errors, "FENCED_INSTANCE_ID") + 1, "FENCED_INSTANCE_ID"));
	ck_assert_int_eq(rg_consumer_subscribe(a.consumer, (const char *[]){"u"}, 1, NULL, NULL, &error), RG_ERR_FATAL);
	ck_assert_str_eq(b.errors, "");
}
END_TEST

/* KIP-62, bugs librdkafka 49, 50: an application that stopped polling is out, and in again when it polls. */
START_TEST(an_application_that_does_not_poll_loses_its_seat)
{
	crew_open(&a, "a", crew_conf("max.poll.interval.ms", "400", NULL));
	crew_subscribe(&a, "t");
	crew_join(&b, "b", "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	crew_until(b.owned == 4, &b); /* only b polls */
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert_str_eq(a.errors, "MAX_POLL");
	ck_assert(seen(&a, "lost(MAX_POLL) t:"));
	ck_assert(alternates(&a) && alternates(&b));
}
END_TEST

/* KIP-62: a callback is the application's time, too; one that does not return in time must not keep its partitions. */
START_TEST(a_callback_that_takes_too_long_loses_the_seat)
{
	crew_open(&a, "a", crew_conf("max.poll.interval.ms", "400", NULL));
	crew_subscribe(&a, "t");
	a.callback_ms = 1200;
	crew_until(count_of(&a, "assigned") == 1, &a);
	a.callback_ms = 0;
	crew_until(count_of(&a, "assigned") == 2 && a.owned == 4, &a);
	ck_assert(seen(&a, "lost(MAX_POLL) t:0,1,2,3"));
	ck_assert(alternates(&a));
	ck_assert_ptr_nonnull(strstr(a.errors, "MAX_POLL"));
}
END_TEST

/* scenarios C.66, bugs 36, 40: callbacks that take twice the session's time; the seat is kept. */
START_TEST(slow_callbacks_do_not_stop_the_heartbeats)
{
	int beats;

	crew_open(&a, "a", crew_conf("session.timeout.ms", "400", NULL));
	crew_subscribe(&a, "t");
	a.callback_ms = 800;
	crew_until(a.owned == 4, &a);
	beats = atomic_load(&a.beats);
	ck_assert_int_ge(beats, 6); /* they went on inside on_join_complete and on_assigned */
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
	a.callback_ms = 0;
}
END_TEST

/* bugs 16: what was subscribed to during a rebalance is not forgotten. */
START_TEST(a_subscription_changed_in_mid_rebalance_takes_effect)
{
	rg_error error = {0};
	int hold;

	OK(rg_testkit_hold_request(kit, 14, 1, false, &hold, &error));
	crew_join(&a, "a", "t");
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	crew_subscribe(&a, "t,u");
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned == 6, &a);
	crew_subscribe(&a, "u");
	crew_until(a.owned == 2, &a);
	ck_assert(alternates(&a));
	ck_assert_int_eq(a.violations, 0);
}
END_TEST

/* bugs librdkafka 28 */
START_TEST(the_same_subscription_again_is_no_rebalance)
{
	crew_join(&a, "a", "t,u");
	crew_until(a.owned == 6, &a);
	crew_subscribe(&a, "u,t,u");
	crew_poll_for(300, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), 2); /* with the two steps of KIP-394 */
}
END_TEST

/* scenarios D.76, bugs kafka 8972 */
START_TEST(unsubscribed_and_subscribed_again)
{
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3, revoked t:0,1,2,3");
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 1);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error)); /* nothing to do */
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &error));
	crew_subscribe(&a, "u");
	crew_until(a.owned == 2, &a);
	ck_assert(alternates(&a));
	ck_assert_int_eq(a.violations, 0);
}
END_TEST

/* scenarios E.80, bugs librdkafka 71: [range, cooperative-sticky] is eager, until range is removed. */
START_TEST(the_default_list_is_eager)
{
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "range,cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", "cooperative-sticky,range", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	crew_subscribe(&b, "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert(seen(&a, "prepare, revoked t:0,1,2,3, complete, assigned t:"));
}
END_TEST

/* Design 1.3: all callbacks run inside the call; and inside a callback the calls that would run others are refused. */
static void call_everything(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	rd_kafka_topic_partition_list_t *owned;
	rg_error error;

	ck_assert_ptr_null(rg_consumer_poll(actor->consumer, 0, &error));
	ck_assert_int_eq(error.code, RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_subscribe(actor->consumer, (const char *[]){"u"}, 1, NULL, NULL, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_unsubscribe(actor->consumer, 0, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_close(actor->consumer, RG_CLOSE_LEAVE, 0, &error), RG_ERR_STATE);
	owned = rg_consumer_assignment(actor->consumer);
	ck_assert_int_eq(owned->cnt, partitions->cnt);
	rd_kafka_topic_partition_list_destroy(owned);
	ck_assert_ptr_nonnull(rg_consumer_handle(actor->consumer));
}

/* bugs librdkafka 61 */
START_TEST(inside_a_callback_only_reading_and_committing)
{
	crew_open(&a, "a", crew_conf(NULL));
	a.in_assigned = call_everything;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* bugs librdkafka 26: three members, one goes: two generations at most, and the others keep what they have. */
START_TEST(sticky_members_are_not_bothered)
{
	static const char sticky[] = "partition.assignment.strategy";

	crew_open(&a, "a", crew_conf(sticky, "cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf(sticky, "cooperative-sticky", NULL));
	crew_open(&c, "c", crew_conf(sticky, "cooperative-sticky", NULL));
	crew_subscribe(&a, "t,u");
	crew_subscribe(&b, "t,u");
	crew_subscribe(&c, "t,u");
	crew_until(a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	a.seen[0] = b.seen[0] = '\0';
	crew_close(&c, RG_CLOSE_LEAVE);
	crew_until(a.owned == 3 && b.owned == 3, &a, &b);
	ck_assert_msg(!seen(&a, "revoked") && !seen(&b, "revoked"), "%s | %s", a.seen, b.seen);
	ck_assert_int_le(count_of(&a, "prepare"), 2);
	ck_assert_int_eq(a.violations + b.violations + c.violations, 0);
}
END_TEST

/* bugs 30: an eager member has given up everything when it joins, and says all the same what it had. Of three one
 * starts anew: what the others had stays with them, and one partition goes there and comes back. */
START_TEST(a_sticky_member_that_starts_anew_costs_the_others_nothing)
{
	static const char strategy[] = "partition.assignment.strategy";
	bool a_had[4], b_had[4];
	int moved = 0;

	crew_open(&a, "a", crew_conf(strategy, "sticky", NULL));
	crew_open(&b, "b", crew_conf(strategy, "sticky", NULL));
	crew_open(&c, "c", crew_conf(strategy, "sticky", NULL));
	crew_subscribe(&a, "t");
	crew_subscribe(&b, "t");
	crew_subscribe(&c, "t");
	crew_until(a.owned + b.owned + c.owned == 4 && a.owned && b.owned && c.owned, &a, &b, &c);
	memcpy(a_had, a.owns, sizeof(a_had));
	memcpy(b_had, b.owns, sizeof(b_had));
	crew_close(&c, RG_CLOSE_LEAVE);
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	for (int p = 0; p < 4; p++)
		ck_assert_msg((!a_had[p] || a.owns[p]) && (!b_had[p] || b.owns[p]), "t-%d has moved: %s | %s", p, a.seen,
		              b.seen);
	ck_assert(seen(&a, "prepare, revoked t:")); /* it is eager */
	memcpy(a_had, a.owns, sizeof(a_had));
	memcpy(b_had, b.owns, sizeof(b_had));
	crew_open(&c, "c", crew_conf(strategy, "sticky", NULL));
	crew_subscribe(&c, "t");
	crew_until(c.owned == 1 && a.owned + b.owned == 3, &a, &b, &c);
	for (int p = 0; p < 4; p++)
		moved += (a_had[p] && !a.owns[p]) || (b_had[p] && !b.owns[p]);
	ck_assert_int_eq(moved, 1);
}
END_TEST

/* --- One rg_error for everything ---------------------------------------------------------------------------------- */

static rg_error shared;

/* Fails, and says so in the rg_error that the call around it was given. */
static void fail_inside(struct actor *actor)
{
	ck_assert_int_eq(rg_consumer_seek(actor->consumer, "nowhere", 0, 0, &shared), RG_ERR_NOT_OWNED);
	ck_assert_int_eq(shared.code, RG_ERR_NOT_OWNED);
}

static void fail_in_assigned(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	fail_inside(actor);
}

static void fail_in_revoked(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	fail_inside(actor);
}

static void fail_in_commit(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                           void *user)
{
	(void)consumer;
	(void)error;
	(void)offsets;
	fail_inside(user);
}

static void open_failing(struct actor *actor)
{
	memset(&shared, 0, sizeof(shared));
	crew_open(actor, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "3600000", NULL));
	actor->in_assigned = fail_in_assigned;
	actor->in_revoked = fail_in_revoked;
	crew_subscribe(actor, "t");
}

/* What a callback's own calls leave in it is no error of poll's. */
START_TEST(poll_says_ok_although_a_callback_failed_with_the_same_error)
{
	int64_t ends = now_ms() + WITHIN_MS;
	rd_kafka_message_t *messages[4];

	open_failing(&a);
	while (!a.owned) {
		ck_assert_int_lt(now_ms(), ends);
		ck_assert_ptr_null(rg_consumer_poll(a.consumer, 5, &shared));
		ck_assert_int_eq(shared.code, RG_OK);
		ck_assert_str_eq(shared.text, "");
	}
	crew_close(&a, RG_CLOSE_LEAVE);
	open_failing(&a);
	while (!a.owned) {
		ck_assert_int_lt(now_ms(), ends);
		ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, messages, 4, 5, &shared), 0);
		ck_assert_int_eq(shared.code, RG_OK);
	}
	/* An error of its own it does tell. */
	rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, NULL);
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &shared));
	ck_assert_int_eq(shared.code, RG_ERR_CLOSED);
}
END_TEST

/* Nor of close's and commit's, whose own stays. */
START_TEST(close_and_commit_tell_their_own_error)
{
	rg_error error = {0};
	int hold;

	produce("t", -1, 8);
	open_failing(&a);
	crew_until(a.records == 8, &a);
	crew_poll_for(20, (struct actor *[]){&a, NULL});
	OK(rg_testkit_hold_request(kit, 8, 1, false, &hold, &error));
	OK(rg_consumer_commit_async(a.consumer, NULL, fail_in_commit, &a, &error));
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		;
	ck_assert_int_eq(rg_consumer_commit(a.consumer, NULL, 50, &shared), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(shared.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 200, &shared), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(shared.code, RG_ERR_TIMED_OUT);
	ck_assert(seen(&a, "revoked t:0,1,2,3"));
	OK(rg_testkit_release(kit, hold, &error));
}
END_TEST

static char reasons[512];

static void note_reason(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	size_t len = strlen(reasons);

	(void)consumer;
	(void)user;
	snprintf(reasons + len, sizeof(reasons) - len, "[%s]", generation->reason);
}

/* Why a rebalance begins is what will be sent with JoinGroup (KIP-800). */
START_TEST(the_listener_hears_why)
{
	rg_listener listener = crew_listener;
	rg_error error = {0};

	reasons[0] = '\0';
	listener.on_join_prepare = note_reason;
	crew_open(&a, "a", crew_conf(NULL));
	OK(rg_consumer_subscribe(a.consumer, (const char *const[]){"t"}, 1, &listener, &a, &error));
	crew_until(a.owned, &a);
	ck_assert_str_eq(reasons, "[]");
	OK(rg_consumer_rejoin(a.consumer, "the moon is full", &error));
	crew_until(strstr(reasons, "moon"), &a);
	ck_assert_str_eq(reasons, "[][the moon is full]");
	crew_until(count_of(&a, "complete") == 2, &a);
	crew_join(&b, "b", "t");
	crew_until(b.owned, &a, &b);
	ck_assert_str_eq(reasons, "[][the moon is full][the group is rebalancing]");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_listener_hears_why);
	tcase_add_test(tcase, one_member_from_start_to_close);
	tcase_add_test(tcase, an_eager_group_grows_and_shrinks);
	tcase_add_test(tcase, a_cooperative_group_moves_only_what_must_move);
	tcase_add_test(tcase, seven_answers_but_one_prepare_and_one_complete);
	tcase_add_test(tcase, the_coordinator_moves_in_the_middle);
	tcase_add_test(tcase, a_member_that_was_thrown_out_loses_and_comes_back);
	tcase_add_test(tcase, a_fenced_member_fails_for_good);
	tcase_add_test(tcase, an_application_that_does_not_poll_loses_its_seat);
	tcase_add_test(tcase, a_callback_that_takes_too_long_loses_the_seat);
	tcase_add_test(tcase, slow_callbacks_do_not_stop_the_heartbeats);
	tcase_add_test(tcase, a_subscription_changed_in_mid_rebalance_takes_effect);
	tcase_add_test(tcase, the_same_subscription_again_is_no_rebalance);
	tcase_add_test(tcase, unsubscribed_and_subscribed_again);
	tcase_add_test(tcase, the_default_list_is_eager);
	tcase_add_test(tcase, inside_a_callback_only_reading_and_committing);
	tcase_add_test(tcase, sticky_members_are_not_bothered);
	tcase_add_test(tcase, a_sticky_member_that_starts_anew_costs_the_others_nothing);
	tcase_add_test(tcase, poll_says_ok_although_a_callback_failed_with_the_same_error);
	tcase_add_test(tcase, close_and_commit_tell_their_own_error);
}

int main(void)
{
	return run_suite("consumer_rebalance", fill, start, crew_end);
}
