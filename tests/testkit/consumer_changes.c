/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions, metadata and generations that change while something else is under way. */
#include "client.h"
#include "codec/consumer_protocol.h"
#include "codec/join_group.h"
#include "codec/sync_group.h"
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:2,u:1,order-1:1", 1);
}

static void open_quick(struct actor *actor, const char *name, const char *topics)
{
	crew_open(actor, name, crew_conf("metadata.max.age.ms", "100", NULL));
	crew_subscribe(actor, topics);
}

static int32_t generation_of(const struct actor *actor)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};

	OK(rg_consumer_status(actor->consumer, &status, &error));
	return status.generation;
}

/* Lets them poll until they have asked for metadata some times more, each of them and librdkafka for each. */
static void let_them_look(int times, struct actor *const *actors)
{
	int64_t enough = rg_testkit_request_count(kit, RG__API_METADATA) + times, ends = now_ms() + WITHIN_MS;

	while (rg_testkit_request_count(kit, RG__API_METADATA) < enough) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn(actors);
	}
}

static void wait_until_held(int hold, struct actor *const *actors)
{
	int64_t ends = now_ms() + WITHIN_MS;

	while (rg_testkit_wait_held(kit, hold, 5, NULL)) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn(actors);
	}
}

/* --- Subscriptions ------------------------------------------------------------------------------------------------ */

/* scenarios D.77: thrown out, which the application has not heard yet when it unsubscribes. What it held is not its own
 * to give up any more: it is lost, once, and nothing is committed. */
START_TEST(unsubscribed_when_everything_is_lost_already)
{
	int64_t ends = now_ms() + WITHIN_MS, commits;
	rg_error error = {0};

	produce("t", -1, 4);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "600000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 4, &a);
	commits = rg_testkit_request_count(kit, RG__API_OFFSET_COMMIT);
	OK(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 1, 25, &error));
	/* Nobody polls; the background hears it and asks the application to let go. */
	while (!rg_consumer_rebalance_pending(a.consumer))
		ck_assert_int_lt(now_ms(), ends);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, lost(UNKNOWN_MEMBER) t:0,1");
	ck_assert_int_eq(a.owned, 0);
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_OFFSET_COMMIT), commits);
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, lost(UNKNOWN_MEMBER) t:0,1");
	ck_assert_str_eq(a.errors, "");
	crew_subscribe(&a, "u"); /* and it is as good as new */
	crew_until(a.owned == 1, &a);
}
END_TEST

/* scenarios E.88: while a leader changes from one topic to another, both grow. The plan that comes of it covers both,
 * and what happens to the old topic afterwards is seen, too: others still read it. */
START_TEST(the_leader_knows_old_and_new_topics_during_a_change)
{
	struct actor *both[] = {&a, &b, NULL};
	rg_error error = {0};
	int hold, before;

	open_quick(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	open_quick(&b, "b", "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	OK(rg_testkit_hold_request(kit, RG__API_JOIN_GROUP, 1, false, &hold, &error));
	crew_subscribe(&a, "u");
	wait_until_held(hold, both);
	OK(rg_testkit_grow_topic(kit, "t", 4, &error));
	OK(rg_testkit_grow_topic(kit, "u", 3, &error));
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned == 3 && b.owned == 4, &a, &b);
	before = count_of(&a, "prepare");
	let_them_look(20, both);
	ck_assert_int_eq(count_of(&a, "prepare"), before); /* that was all */
	OK(rg_testkit_grow_topic(kit, "t", 5, &error));
	crew_until(b.owned == 5, &a, &b);
	ck_assert(alternates(&a) && alternates(&b));
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* scenarios E.90, bugs kafka 9815: a topic grows, which asks for a rebalance, and is as before when the JoinGroup for it,
 * which failed meanwhile, gets through. The rebalance is finished all the same, and is the only one. */
START_TEST(a_change_that_is_taken_back_while_joining_fails)
{
	struct actor *alone[] = {&a, NULL};
	rg_error error = {0};
	int64_t joins;

	open_quick(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	joins = rg_testkit_request_count(kit, RG__API_JOIN_GROUP);
	for (int nth = 1; nth <= 6; nth++)
		OK(rg_testkit_fail_request(kit, RG__API_JOIN_GROUP, nth, nth == 3 ? 27 : nth == 5 ? 16 : 14, &error));
	OK(rg_testkit_grow_topic(kit, "t", 4, &error));
	crew_until(rg_testkit_request_count(kit, RG__API_JOIN_GROUP) > joins, &a);
	OK(rg_testkit_remove_topic(kit, "t", &error));
	OK(rg_testkit_add_topic(kit, "t", 2, &error));
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, prepare, revoked t:0,1, complete, assigned t:0,1");
	ck_assert_int_ge(rg_testkit_request_count(kit, RG__API_JOIN_GROUP), joins + 7);
	let_them_look(10, alone);
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* --- A leader by hand ----------------------------------------------------------------------------------------------- */

static void lead_join(struct seat *leader)
{
	struct rg__bytes topics[] = {rg__bytes_of("order-1"), rg__bytes_of("order-2")};
	struct rg__consumer_protocol_subscription subscription = {.topics = {topics, 2}, .generation_id = -1};
	struct rg__join_group_request_protocol protocol = {.name = rg__bytes_of("range")};
	struct rg__join_group_request request;
	struct rg__buf bytes = {0};

	ck_assert(rg__subscription_encode(1, &subscription, &bytes, NULL));
	protocol.metadata = rg__buf_view(&bytes);
	rg__fields_init(&rg__join_group_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.session_timeout_ms = request.rebalance_timeout_ms = 30000;
	request.member_id = rg__bytes_of(leader->id);
	request.protocol_type = rg__bytes_of("consumer");
	request.protocols = (struct rg__array){&protocol, 1};
	client_send(&leader->client, RG__API_JOIN_GROUP, 5, &request);
	rg__buf_free(&bytes);
}

/* Everything to the member that is not the leader. */
static void lead_sync(struct seat *leader, const struct rg__join_group_response *joined)
{
	const struct rg__join_group_response_member *members = joined->members.items;
	static int32_t zero[] = {0};
	struct rg__consumer_protocol_topic_partition topics[] = {{rg__bytes_of("order-1"), {zero, 1}},
	                                                         {rg__bytes_of("order-2"), {zero, 1}}};
	struct rg__consumer_protocol_assignment assignment = {.assigned_partitions = {topics, 2}};
	struct rg__sync_group_request_assignment share = {.member_id = {NULL, 0}};
	struct rg__sync_group_request request;
	struct rg__buf bytes = {0};

	ck_assert_int_eq(joined->members.count, 2);
	ck_assert(rg__assignment_encode(1, &assignment, &bytes, NULL));
	share.member_id = members[rg__bytes_is(members[0].member_id, leader->id)].member_id;
	share.assignment = rg__buf_view(&bytes);
	rg__fields_init(&rg__sync_group_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id = joined->generation_id;
	request.member_id = rg__bytes_of(leader->id);
	request.assignments = (struct rg__array){&share, 1};
	client_send(&leader->client, RG__API_SYNC_GROUP, 3, &request);
	seat_hear_sync(leader, leader->client.correlation_id);
	rg__buf_free(&bytes);
}

/* scenarios E.93: the leader has seen a topic that matches this member's pattern and that the member itself has not seen
 * yet. It takes it, and when it sees the topic itself, that is no reason to ask for another rebalance. */
START_TEST(a_matching_topic_that_the_leader_saw_first)
{
	const struct rg__join_group_response *joined;
	struct seat leader;
	rg_error error = {0};
	int64_t joins;

	seat_open(&leader, rg_testkit_port(kit, 1));
	seat_join(&leader, "g");
	seat_sync(&leader, "g", "");
	crew_open(&a, "a", crew_conf("metadata.max.age.ms", "1500", NULL));
	crew_subscribe(&a, "^order-");
	while (seat_heartbeat(&leader, "g"), leader.error != 27)
		crew_turn((struct actor *[]){&a, NULL});
	OK(rg_testkit_add_topic(kit, "order-2", 1, &error)); /* a has looked */
	lead_join(&leader);
	joined = client_hear(&leader.client, RG__API_JOIN_GROUP, 5, leader.client.correlation_id);
	ck_assert_int_eq(joined->error_code, 0);
	leader.generation = joined->generation_id;
	lead_sync(&leader, joined);
	ck_assert_int_eq(leader.error, 0);
	crew_until(a.owned == 2, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned order-1:0 order-2:0");
	joins = rg_testkit_request_count(kit, RG__API_JOIN_GROUP);
	produce("order-2", 0, 3);
	crew_until(a.records == 3, &a);
	for (int64_t ends = now_ms() + 3500; now_ms() < ends;) {
		crew_turn((struct actor *[]){&a, NULL});
		seat_heartbeat(&leader, "g");
		ck_assert_int_eq(leader.error, 0);
	}
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_JOIN_GROUP), joins);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned order-1:0 order-2:0");
	seat_close(&leader);
}
END_TEST

/* --- Generations and names ---------------------------------------------------------------------------------------- */

static int32_t in_revoked_generation;

static void look_at_identity(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_copy(partitions);
	rg_error error = {0};

	in_revoked_generation = generation_of(actor);
	offsets->elems[0].offset = 5;
	/* With the old generation the coordinator would say 22. */
	OK(rg_consumer_commit(actor->consumer, offsets, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(offsets);
}

/* scenarios E.98: a cooperative member gives up what the new generation takes away, so inside the callback it has that
 * generation already, and commits with it. */
START_TEST(what_is_revoked_is_revoked_in_the_new_generation)
{
	static const char sticky[] = "partition.assignment.strategy";
	int32_t before;

	crew_open(&a, "a", crew_conf(sticky, "cooperative-sticky", NULL));
	crew_open(&b, "b", crew_conf(sticky, "cooperative-sticky", NULL));
	a.in_revoked = look_at_identity;
	in_revoked_generation = -1;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	before = generation_of(&a);
	crew_subscribe(&b, "t");
	crew_until(seen(&a, "revoked"), &a, &b);
	ck_assert(seen(&a, "prepare, complete, revoked t:"));
	ck_assert_int_eq(in_revoked_generation, before + 1);
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	a.in_revoked = NULL;
}
END_TEST

static void protocol_is(const char *strategy, const char *expected)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("partition.assignment.strategy", strategy, "group.id", strategy, NULL));
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", strategy, "group.id", strategy, NULL));
	crew_subscribe(&a, "t");
	crew_subscribe(&b, "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	OK(rg_consumer_status(b.consumer, &status, &error));
	ck_assert_str_eq(status.protocol, expected);
	crew_close(&a, RG_CLOSE_LEAVE);
	crew_close(&b, RG_CLOSE_LEAVE);
}

/* bugs librdkafka 70 */
START_TEST(the_order_of_the_list_decides)
{
	protocol_is("roundrobin,range", "roundrobin");
	protocol_is("range,roundrobin", "range");
	protocol_is("sticky,roundrobin,range", "sticky");
}
END_TEST

/* --- Metadata that is old, wrong or not to be had ----------------------------------------------------------------- */

/* Metadata are asked for while the first JoinGroup is under way. When that takes long they are asked for again. */
START_TEST(a_topic_grows_while_the_first_member_joins)
{
	rg_error error = {0};
	int hold;

	OK(rg_testkit_hold_request(kit, RG__API_JOIN_GROUP, 2, false, &hold, &error)); /* the one with a member id */
	crew_join(&a, "a", "t");
	wait_until_held(hold, (struct actor *[]){&a, NULL});
	OK(rg_testkit_grow_topic(kit, "t", 5, &error));
	crew_poll_for(300, (struct actor *[]){&a, NULL});
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned > 0, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3,4");
}
END_TEST

/* bugs librdkafka 8: the leader may not know the group's topics, for whatever reason. It does not stand still: it asks
 * again, or goes on without them and comes back for them. */
START_TEST(metadata_fails_while_leading)
{
	static const rg_err errors[] = {29, 17, 5, 3, 6, -1};
	rg_error error = {0};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int64_t asked;
		int hold;
		char group[16];

		snprintf(group, sizeof(group), "g%zu", i);
		crew_open(&a, "a", crew_conf("group.id", group, "metadata.max.age.ms", "100", NULL));
		OK(rg_testkit_hold_request(kit, RG__API_JOIN_GROUP, 1, false, &hold, &error));
		crew_subscribe(&a, "t");
		wait_until_held(hold, (struct actor *[]){&a, NULL});
		crew_poll_for(300, (struct actor *[]){&a, NULL}); /* what it knows from before it joined is too old by now */
		for (int nth = 1; nth <= 8; nth++)
			OK(errors[i] < 0 ? rg_testkit_drop_request(kit, RG__API_METADATA, nth, false, &error)
			                 : rg_testkit_fail_request(kit, RG__API_METADATA, nth, errors[i], &error));
		asked = rg_testkit_request_count(kit, RG__API_METADATA);
		OK(rg_testkit_release(kit, hold, &error));
		crew_until(a.owned == 2, &a);
		ck_assert_int_gt(rg_testkit_request_count(kit, RG__API_METADATA), asked);
		ck_assert_msg(alternates(&a), "%d: %s", errors[i], a.seen);
		crew_close(&a, RG_CLOSE_LEAVE);
	}
}
END_TEST

/* bugs librdkafka 12: what is known of the topics is always older than metadata.max.age.ms when somebody joins. That
 * neither delays the rebalance nor makes the leader ask in a loop. */
START_TEST(old_metadata_delays_nothing)
{
	int64_t asked, began, took;

	crew_open(&a, "a", crew_conf("metadata.max.age.ms", "200", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	for (int round = 1; round <= 4; round++) {
		crew_poll_for(250, (struct actor *[]){&a, NULL});
		asked = rg_testkit_request_count(kit, RG__API_METADATA);
		began = now_ms();
		crew_open(&b, "b", crew_conf("metadata.max.age.ms", "200", NULL));
		crew_subscribe(&b, "t");
		crew_until(a.owned == 1 && b.owned == 1, &a, &b);
		took = now_ms() - began;
		/* The leader, its watch, and the same of librdkafka's for each of the two. */
		ck_assert_int_le(rg_testkit_request_count(kit, RG__API_METADATA) - asked, 12 + 6 * (took / 200));
		crew_close(&b, RG_CLOSE_LEAVE);
		crew_until(a.owned == 2, &a);
		ck_assert_int_eq(count_of(&a, "prepare"), 1 + 2 * round);
	}
}
END_TEST

/* bugs librdkafka 31: joined as soon as the topic was made, when brokers say for a moment that they do not know it, or
 * that nobody leads it. The application hears of no error. */
START_TEST(joining_right_after_the_topic_was_made)
{
	static const rg_err errors[] = {3, 5};
	rg_error error = {0};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		char topic[16];

		snprintf(topic, sizeof(topic), "new%zu", i);
		OK(rg_testkit_add_topic(kit, topic, 3, &error));
		for (int nth = 1; nth <= 6; nth++)
			OK(rg_testkit_fail_request(kit, RG__API_METADATA, nth, errors[i], &error));
		open_quick(&a, "a", topic);
		crew_until(a.owned == 3, &a);
		produce(topic, -1, 6);
		crew_until(a.records == 6, &a);
		ck_assert_str_eq(a.errors, "");
		ck_assert(alternates(&a));
		crew_close(&a, RG_CLOSE_LEAVE);
	}
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, unsubscribed_when_everything_is_lost_already);
	tcase_add_test(tcase, the_leader_knows_old_and_new_topics_during_a_change);
	tcase_add_test(tcase, a_change_that_is_taken_back_while_joining_fails);
	tcase_add_test(tcase, a_matching_topic_that_the_leader_saw_first);
	tcase_add_test(tcase, what_is_revoked_is_revoked_in_the_new_generation);
	tcase_add_test(tcase, the_order_of_the_list_decides);
	tcase_add_test(tcase, a_topic_grows_while_the_first_member_joins);
	tcase_add_test(tcase, metadata_fails_while_leading);
	tcase_add_test(tcase, old_metadata_delays_nothing);
	tcase_add_test(tcase, joining_right_after_the_topic_was_made);
}

int main(void)
{
	return run_suite("consumer_changes", fill, start, crew_end);
}
