/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions by regular expression, and topics that come, go and seem to be gone. */
#include "base/alloc.h"
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct actor a, b, c;

static void start(void)
{
	crew_cluster("t:2,order-1:1,order-2:1,other:1,__consumer_offsets:3", 1);
}

static void open_quick(struct actor *actor, const char *name, const char *topics)
{
	crew_open(actor, name, crew_conf("metadata.max.age.ms", "200", NULL));
	crew_subscribe(actor, topics);
}

static void look_on(int ms, struct actor *const *actors)
{
	crew_poll_for(ms, actors);
}

START_TEST(what_matches_is_subscribed_to)
{
	rd_kafka_topic_partition_list_t *list;

	open_quick(&a, "a", "^order-[0-9]+$,t");
	crew_until(a.owned == 4, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned order-1:0 order-2:0 t:0,1");
	produce("order-2", 0, 3);
	crew_until(a.records == 3, &a);
	list = rg_consumer_subscription(a.consumer); /* as it was asked for */
	ck_assert_int_eq(list->cnt, 2);
	ck_assert_str_eq(list->elems[0].topic, "^order-[0-9]+$");
	ck_assert_str_eq(list->elems[1].topic, "t");
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* Subscribed is who has subscribed, also before the first poll has seen what the pattern finds. */
START_TEST(calls_before_the_first_look)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};

	rd_kafka_topic_partition_list_add(list, "order-1", 0)->offset = 1;
	open_quick(&a, "a", "^order-");
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	OK(rg_consumer_commit_async(a.consumer, NULL, NULL, NULL, &error));
	ck_assert_int_eq(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error), RG_ERR_NOT_OWNED);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error), RG_ERR_STATE);
	ck_assert_str_eq(error.text,
	                 "rg_consumer_committed: what the patterns find is not known yet, and poll joins when it is");
	OK(rg_consumer_rejoin(a.consumer, "test", &error)); /* it will */
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	OK(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* scenarios E.91 */
START_TEST(a_topic_that_appears_is_found)
{
	rg_error error = {0};

	open_quick(&a, "a", "^order-");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_add_topic(kit, "order-3", 2, &error));
	OK(rg_testkit_add_topic(kit, "no-order", 2, &error));
	crew_until(a.owned == 4, &a);
	look_on(600, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	produce("order-3", 1, 5);
	crew_until(a.records == 5, &a);
	OK(rg_testkit_grow_topic(kit, "order-3", 5, &error));
	crew_until(a.owned == 7, &a);
	look_on(600, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 3);
	OK(rg_testkit_remove_topic(kit, "order-1", &error));
	crew_until(a.owned == 6, &a);
	look_on(600, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 4);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

START_TEST(nothing_matches_yet)
{
	rg_error error = {0};

	open_quick(&a, "a", "^new-");
	crew_until(count_of(&a, "assigned") == 1, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned");
	OK(rg_testkit_add_topic(kit, "new-1", 2, &error));
	crew_until(a.owned == 2, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned, prepare, complete, assigned new-1:0,1");
}
END_TEST

/* scenarios E.94 */
START_TEST(internal_topics_are_left_out)
{
	open_quick(&a, "a", "^.*");
	crew_until(a.owned == 5, &a);
	ck_assert(!seen(&a, "__consumer_offsets"));
	crew_open(&b, "b", crew_conf("exclude.internal.topics", "false", "group.id", "h", NULL));
	crew_subscribe(&b, "^__consumer,^t$");
	crew_until(b.owned == 5, &b);
	ck_assert_str_eq(b.seen, "prepare, complete, assigned __consumer_offsets:0,1,2 t:0,1");
	/* By its name it is always there. */
	crew_open(&c, "c", crew_conf("group.id", "i", NULL));
	crew_subscribe(&c, "__consumer_offsets");
	crew_until(c.owned == 3, &c);
}
END_TEST

/* KAFKA-7126: three members, one new topic: not a rebalance for each of them. */
START_TEST(all_members_find_it_together)
{
	rg_error error = {0};
	int before;

	open_quick(&a, "a", "^order-");
	open_quick(&b, "b", "^order-");
	open_quick(&c, "c", "^order-");
	crew_until(a.owned + b.owned + c.owned == 2 && count_of(&a, "complete") && count_of(&b, "complete") &&
	           count_of(&c, "complete"), &a, &b, &c);
	look_on(300, (struct actor *[]){&a, &b, &c, NULL});
	before = count_of(&a, "prepare");
	OK(rg_testkit_add_topic(kit, "order-3", 4, &error));
	crew_until(a.owned + b.owned + c.owned == 6, &a, &b, &c);
	look_on(800, (struct actor *[]){&a, &b, &c, NULL});
	ck_assert_int_eq(count_of(&a, "prepare") - before, 1);
	ck_assert_int_eq(a.owned + b.owned + c.owned, 6);
	ck_assert(alternates(&a) && alternates(&b) && alternates(&c));
}
END_TEST

/* A topic that is missing in one answer and back in the next has not been away: by name, and by pattern. */
static void gap(const char *topics)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("metadata.max.age.ms", "1000", NULL));
	crew_subscribe(&a, topics);
	crew_until(a.owned == 2, &a);
	/* It looks every second, after a miss a little sooner. Of gaps of half a second every 1.6 s one look sees some, and
	 * the next one after it none. */
	for (int i = 0; i < 4; i++) {
		OK(rg_testkit_remove_topic(kit, "t", &error));
		look_on(500, (struct actor *[]){&a, NULL});
		OK(rg_testkit_add_topic(kit, "t", 2, &error));
		look_on(1100, (struct actor *[]){&a, NULL});
	}
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	ck_assert_int_eq(a.owned, 2);
	OK(rg_testkit_remove_topic(kit, "t", &error)); /* and now for good */
	crew_until(a.owned == 0, &a);
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
}

START_TEST(a_gap_in_metadata_by_name)
{
	gap("t");
}
END_TEST

START_TEST(a_gap_in_metadata_by_pattern)
{
	gap("^t$");
}
END_TEST

/* bugs 16, librdkafka 11: the subscription changes while JoinGroup, then SyncGroup, is out. */
static void change_during(int api, const char *topics, const char *assigned)
{
	rg_error error = {0};
	int hold;

	OK(rg_testkit_hold_request(kit, api, 1, false, &hold, &error));
	open_quick(&a, "a", "t");
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	crew_subscribe(&a, topics);
	look_on(100, (struct actor *[]){&a, NULL});
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(seen(&a, assigned), &a);
	look_on(500, (struct actor *[]){&a, NULL});
	ck_assert_int_le(count_of(&a, "prepare"), 2);
	ck_assert(alternates(&a));
}

START_TEST(changed_while_joining)
{
	change_during(11, "other", "assigned other:0");
	ck_assert_int_eq(a.owned, 1);
}
END_TEST

START_TEST(changed_to_a_pattern_while_joining)
{
	change_during(11, "^order-", "assigned order-1:0 order-2:0");
	ck_assert_int_eq(a.owned, 2);
}
END_TEST

START_TEST(changed_to_a_pattern_while_syncing)
{
	change_during(14, "^ot", "assigned other:0");
	ck_assert_int_eq(a.owned, 1);
}
END_TEST

START_TEST(from_pattern_to_names_and_back)
{
	rg_error error = {0};

	open_quick(&a, "a", "^order-");
	crew_until(a.owned == 2, &a);
	crew_subscribe(&a, "^order-"); /* the same: nothing happens */
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2 && seen(&a, "assigned t:0,1"), &a);
	crew_subscribe(&a, "^oth");
	crew_until(seen(&a, "assigned other:0"), &a);
	ck_assert_int_eq(count_of(&a, "prepare"), 3);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	ck_assert_int_eq(a.owned, 0);
	crew_subscribe(&a, "^order-");
	crew_until(a.owned == 2, &a);
	ck_assert(alternates(&a));
}
END_TEST

/* Cooperative: what is kept is not disturbed by a topic that appears. */
START_TEST(a_cooperative_member_keeps_what_it_has)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("metadata.max.age.ms", "200",
	                             "partition.assignment.strategy", "cooperative-sticky", NULL));
	crew_subscribe(&a, "^order-");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_add_topic(kit, "order-3", 1, &error));
	crew_until(a.owned == 3, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned order-1:0 order-2:0, prepare, complete, assigned order-3:0");
}
END_TEST

/* Closing before anything was found; with nobody to ask. */
START_TEST(closed_before_it_has_looked)
{
	rg_error error = {0};
	int64_t began;

	OK(rg_testkit_stop_broker(kit, 1, &error));
	open_quick(&a, "a", "^order-");
	look_on(100, (struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "");
	began = now_ms();
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 500, &error));
	ck_assert_int_lt(now_ms() - began, 3000);
}
END_TEST

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static int callbacks;

static void count_callback(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                           void *user)
{
	(void)consumer, (void)error, (void)offsets, (void)user;
	callbacks++;
}

/* A life with all that this program and its neighbours test, in which the n-th allocation fails. */
static void one_life(long n)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_message_t *batch[16];
	rg_conf *conf;
	rg_consumer *consumer;
	int64_t ends = now_ms() + 150, offset;
	char group[32];
	rg_error error = {0};
	int accepted = 0;
	size_t records = 0;

	callbacks = 0;
	snprintf(group, sizeof(group), "g%ld", n);
	rd_kafka_topic_partition_list_add(list, "t", 0);
	conf = crew_conf("group.id", group, "metadata.max.age.ms", "20", "auto.offset.reset", "by_duration:P1D", NULL);
	rg_conf_set_log(conf, NULL, NULL);
	rg__alloc_fail_after(n);
	if (rg_consumer_new(&consumer, conf, &error)) {
		ck_assert_msg(error.code == RG_ERR_MEMORY || error.code == RG_ERR_SYSTEM, "%ld: %s", n, error.text);
		rd_kafka_topic_partition_list_destroy(list);
		rg_conf_free(conf);
		return;
	}
	rg_conf_free(conf);
	if (rg_consumer_subscribe(consumer, (const char *[]){"^t$", "other"}, 2, &crew_listener, &a, &error))
		ck_assert_int_eq(error.code, RG_ERR_MEMORY);
	while (records < 4 && now_ms() < ends) {
		size_t got = rg_consumer_poll_batch(consumer, batch, 16, 2, NULL);

		for (size_t i = 0; i < got; i++) {
			records += !batch[i]->err;
			rd_kafka_message_destroy(batch[i]);
		}
		if (a.owned == 3 && !accepted) {
			produce("other", 0, 4);
			rg_consumer_seek(consumer, "t", 0, 0, NULL);
			accepted += !rg_consumer_commit_async(consumer, NULL, count_callback, NULL, NULL);
			rg_consumer_committed(consumer, list, 50, NULL);
			rg_consumer_position(consumer, "t", 0, &offset, 50, NULL);
		}
	}
	rg_consumer_close(consumer, RG_CLOSE_LEAVE, 200, NULL);
	rg_consumer_free(consumer);
	rd_kafka_topic_partition_list_destroy(list);
	ck_assert_int_eq(callbacks, accepted);
}

START_TEST(memory_may_run_out_anywhere)
{
	long tried = 0;

	memset(&a, 0, sizeof(a));
	a.name = "a";
	for (long n = 1; n < 4000; n++) {
		a.seen[0] = '\0';
		one_life(n);
		ck_assert_int_eq(a.owned, 0);
		ck_assert_int_eq(a.violations, 0);
		tried = n;
		if (rg__alloc_fail_after(0) > 0)
			break; /* it lived without needing so many */
		n += n / 15;
	}
	ck_assert_int_gt(tried, 150);
	ck_assert_int_lt(tried, 4000);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, what_matches_is_subscribed_to);
	tcase_add_test(tcase, calls_before_the_first_look);
	tcase_add_test(tcase, a_topic_that_appears_is_found);
	tcase_add_test(tcase, nothing_matches_yet);
	tcase_add_test(tcase, internal_topics_are_left_out);
	tcase_add_test(tcase, all_members_find_it_together);
	tcase_add_test(tcase, a_gap_in_metadata_by_name);
	tcase_add_test(tcase, a_gap_in_metadata_by_pattern);
	tcase_add_test(tcase, changed_while_joining);
	tcase_add_test(tcase, changed_to_a_pattern_while_joining);
	tcase_add_test(tcase, changed_to_a_pattern_while_syncing);
	tcase_add_test(tcase, from_pattern_to_names_and_back);
	tcase_add_test(tcase, a_cooperative_member_keeps_what_it_has);
	tcase_add_test(tcase, closed_before_it_has_looked);
	tcase_add_test(tcase, memory_may_run_out_anywhere);
}

int main(void)
{
	return run_suite("consumer_patterns", fill, start, crew_end);
}
