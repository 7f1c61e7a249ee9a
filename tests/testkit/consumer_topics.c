/* SPDX-License-Identifier: Apache-2.0 */
/* Topics that are missing, appear, grow, and belong to others. */
#include "crew.h"
#include "suite.h"

#include <string.h>

static struct actor a, b, c;

static void start(void)
{
	crew_cluster("t:2,u:1", 1);
}

static void open_quick(struct actor *actor, const char *name, const char *topics)
{
	crew_open(actor, name, crew_conf("metadata.max.age.ms", "100", NULL));
	crew_subscribe(actor, topics);
}

/* scenarios E.96; bugs librdkafka 30: nothing is owned, nobody is bothered, and one rebalance brings it. */
START_TEST(a_topic_that_does_not_exist_yet)
{
	rg_error error = {0};

	open_quick(&a, "a", "x");
	crew_until(atomic_load(&a.warnings) > 0 && seen(&a, "assigned"), &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned");
	ck_assert(warned_exactly(&a, "TOPIC: x does not exist; its partitions come when it does"));
	crew_poll_for(300, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(atomic_load(&a.warnings), 1); /* once, although it looks again and again */
	OK(rg_testkit_add_topic(kit, "x", 3, &error));
	crew_until(a.owned == 3, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned, prepare, complete, assigned x:0,1,2");
	produce("x", -1, 6);
	crew_until(a.records == 6, &a);
}
END_TEST

/* scenarios E.89; bugs 19, 20; librdkafka 74 */
START_TEST(partitions_that_are_added_are_shared_soon)
{
	rg_error error = {0};

	open_quick(&a, "a", "t");
	open_quick(&b, "b", "t");
	crew_until(a.owned == 1 && b.owned == 1, &a, &b);
	OK(rg_testkit_grow_topic(kit, "t", 6, &error));
	crew_until(a.owned == 3 && b.owned == 3, &a, &b);
	produce("t", -1, 12);
	crew_until(a.records + b.records == 12, &a, &b);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

/* scenarios E.84; bugs 21: the leader watches what the others consume, too. */
START_TEST(a_leader_watches_topics_of_others)
{
	rg_error error = {0};

	open_quick(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	crew_open(&b, "b", crew_conf(NULL)); /* would itself not look for five minutes */
	crew_subscribe(&b, "u");
	crew_until(b.owned == 1 && a.owned == 2, &a, &b);
	OK(rg_testkit_grow_topic(kit, "u", 3, &error));
	crew_until(b.owned == 3 && a.owned == 2, &a, &b);
}
END_TEST

/* KIP-814, scenarios E.83, bugs 22: a static leader that restarts keeps the plan, and still notices growth. */
START_TEST(a_restarted_static_leader_notices_growth)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("group.instance.id", "one", "metadata.max.age.ms", "100", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	crew_close(&a, RG_CLOSE_DEFAULT);
	crew_open(&b, "b", crew_conf("group.instance.id", "one", "metadata.max.age.ms", "100", NULL));
	crew_subscribe(&b, "t");
	crew_until(b.owned == 2, &b);
	ck_assert_str_eq(b.seen, "prepare, complete, assigned t:0,1");
	OK(rg_testkit_grow_topic(kit, "t", 5, &error));
	crew_until(b.owned == 5, &b);
}
END_TEST

/* bugs 17: what grew while the leader's JoinGroup was out is in the plan already, also where nobody looks for changes
 * before five minutes are over; and no second rebalance comes of it where they look all the time. */
START_TEST(a_plan_is_made_for_what_there_is_now)
{
	rg_error error = {0};
	int hold;

	(_i ? open_quick : crew_join)(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_hold_request(kit, 11, 3, false, &hold, &error));
	(_i ? open_quick : crew_join)(&b, "b", "t"); /* joins in two steps, so that the third is a's */
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 2); /* it is the leader's own */
	OK(rg_testkit_grow_topic(kit, "t", 4, &error));
	crew_poll_for(300, (struct actor *[]){&a, &b, NULL});
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	crew_poll_for(1500, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(a.owned + b.owned, 4);
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	ck_assert_int_eq(count_of(&b, "prepare"), 1);
	ck_assert(alternates(&a) && alternates(&b));
}
END_TEST

/* bugs librdkafka 75: looking costs nothing when there is nothing new. */
START_TEST(looking_does_not_become_a_storm)
{
	int64_t before;

	open_quick(&a, "a", "t,nowhere");
	crew_until(a.owned == 2, &a);
	before = rg_testkit_request_count(kit, 3);
	crew_poll_for(1000, (struct actor *[]){&a, NULL});
	ck_assert_int_le(rg_testkit_request_count(kit, 3) - before, 40); /* librdkafka looks, too */
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
}
END_TEST

/* A topic that goes away takes its partitions along (scenarios H.157). */
START_TEST(a_topic_that_is_deleted)
{
	rg_error error = {0};

	open_quick(&a, "a", "t,u");
	crew_until(a.owned == 3, &a);
	OK(rg_testkit_remove_topic(kit, "u", &error));
	crew_until(a.owned == 2, &a);
	ck_assert(alternates(&a));
}
END_TEST

/* What was read of it cannot be committed any more, and nobody waits for that: neither the rebalance nor the end. */
START_TEST(a_topic_that_is_deleted_after_it_was_read)
{
	rg_error error = {0};
	int64_t began;

	produce("u", 0, 3);
	crew_open(&a, "a",
	          crew_conf("metadata.max.age.ms", "100", "enable.auto.commit", "true", "auto.commit.interval.ms", "600000", NULL));
	crew_subscribe(&a, "t,u");
	crew_until(a.records == 3, &a);
	crew_turn((struct actor *[]){&a, NULL}); /* they are processed */
	OK(rg_testkit_remove_topic(kit, "u", &error));
	began = now_ms();
	crew_until(a.owned == 2, &a);
	ck_assert_int_lt(now_ms() - began, 10000);
	ck_assert(alternates(&a));
	OK(rg_testkit_add_topic(kit, "v", 1, &error));
	produce("v", 0, 3);
	crew_subscribe(&a, "t,v");
	crew_until(a.records == 6, &a);
	OK(rg_testkit_remove_topic(kit, "v", &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error), 3);
	ck_assert_str_eq(error.text, "commit of v [0]: UNKNOWN_TOPIC_OR_PARTITION");
	ck_assert_int_lt(now_ms() - began, 10000);
	rg_consumer_free(a.consumer);
	a.consumer = NULL;
}
END_TEST

static rg_err committed[3];
static int commits;

static void note_commit(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets, void *user)
{
	(void)consumer;
	(void)user;
	ck_assert_int_lt(commits, 3);
	committed[commits++] = error->code;
	ck_assert_int_eq(offsets->elems[0].err, 0); /* t */
}

/* Nor do the commits after it, which are in line. */
START_TEST(commits_with_a_topic_that_is_deleted)
{
	static const char *const topics[] = {"t", "u"};
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
	rg_error error = {0};
	int64_t began;

	commits = 0;
	crew_join(&a, "a", "t,u");
	crew_until(a.owned == 3, &a);
	OK(rg_testkit_remove_topic(kit, "u", &error));
	began = now_ms();
	for (int i = 0; i < 2; i++)
		rd_kafka_topic_partition_list_add(list, topics[i], 0)->offset = 1;
	for (int i = 0; i < 3; i++) {
		OK(rg_consumer_commit_async(a.consumer, list, note_commit, NULL, &error));
		if (!i) /* the last two are of t only */
			rd_kafka_topic_partition_list_del(list, "u", 0);
	}
	crew_until(commits == 3, &a);
	ck_assert_int_lt(now_ms() - began, 10000);
	ck_assert_int_eq(committed[0], 3);
	ck_assert_int_eq(committed[1], RG_OK);
	ck_assert_int_eq(committed[2], RG_OK);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

START_TEST(three_members_with_different_topics)
{
	open_quick(&a, "a", "t");
	open_quick(&b, "b", "t,u");
	open_quick(&c, "c", "u");
	crew_until(a.owned + b.owned + c.owned == 3 && a.owned && c.owned + b.owned, &a, &b, &c);
	crew_poll_for(200, (struct actor *[]){&a, &b, &c, NULL});
	ck_assert(!seen(&a, " u:") && !seen(&c, " t:"));
	ck_assert_int_eq(a.owned + b.owned + c.owned, 3);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_topic_that_does_not_exist_yet);
	tcase_add_test(tcase, partitions_that_are_added_are_shared_soon);
	tcase_add_test(tcase, a_leader_watches_topics_of_others);
	tcase_add_test(tcase, a_restarted_static_leader_notices_growth);
	tcase_add_loop_test(tcase, a_plan_is_made_for_what_there_is_now, 0, 2);
	tcase_add_test(tcase, looking_does_not_become_a_storm);
	tcase_add_test(tcase, a_topic_that_is_deleted);
	tcase_add_test(tcase, a_topic_that_is_deleted_after_it_was_read);
	tcase_add_test(tcase, commits_with_a_topic_that_is_deleted);
	tcase_add_test(tcase, three_members_with_different_topics);
}

int main(void)
{
	return run_suite("consumer_topics", fill, start, crew_end);
}
