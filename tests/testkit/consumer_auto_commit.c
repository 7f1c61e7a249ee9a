/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic commits: when they are due, what becomes of errors, and when there are none. */
#include "codec/api.h"
#include "crew.h"
#include "suite.h"

#include <string.h>

static struct actor a;
static struct actor *const alone[] = {&a, NULL};

static void start(void)
{
	crew_cluster("t:2", 2);
}

static void open_auto(struct actor *actor, const char *name, const char *interval_ms, const char *strategy)
{
	crew_open(actor, name, crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", interval_ms,
	                                 "partition.assignment.strategy", strategy, NULL));
	crew_subscribe(actor, "t");
}

static int64_t commits(void)
{
	return rg_testkit_request_count(kit, RG__API_OFFSET_COMMIT);
}

/* What the group has for partition 0, as the coordinator tells it; -1: nothing. */
static int64_t stored(struct actor *actor)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	int64_t offset;

	rd_kafka_topic_partition_list_add(list, "t", 0);
	OK(rg_consumer_committed(actor->consumer, list, WITHIN_MS, &error));
	offset = list->elems[0].offset;
	rd_kafka_topic_partition_list_destroy(list);
	return offset >= 0 ? offset : -1;
}

/* scenarios F.115: nothing is committed before the interval is over, and what fails then because it may get better is
 * tried again after retry.backoff.ms, not an interval later. */
START_TEST(a_whole_interval_and_then_until_it_works)
{
	enum { INTERVAL_MS = 2000 };
	int64_t began, due;
	rg_error error = {0};

	produce("t", 0, 10);
	began = now_ms();
	open_auto(&a, "a", "2000", "range");
	crew_until(a.records == 10, &a);
	OK(rg_testkit_fail_request(kit, RG__API_OFFSET_COMMIT, 1, 14, &error));
	OK(rg_testkit_fail_request(kit, RG__API_OFFSET_COMMIT, 2, 7, &error));
	OK(rg_testkit_drop_request(kit, RG__API_OFFSET_COMMIT, 3, false, &error));
	crew_until(commits() == 1, &a);
	due = now_ms();
	ck_assert_int_ge(due - began, INTERVAL_MS);
	crew_until(commits() == 4, &a);
	ck_assert_int_lt(now_ms() - due, INTERVAL_MS);
	crew_until(stored(&a) == 10, &a);
	crew_poll_for(INTERVAL_MS + 500, alone); /* nothing new is nothing to commit */
	ck_assert_int_eq(commits(), 4);
	produce("t", 0, 5);
	crew_until(stored(&a) == 15, &a);
	ck_assert_int_eq(commits(), 5);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* scenarios F.115: without a coordinator nothing can be committed. The membership stays, records flow, nobody is told;
 * when it is back, so are the commits. */
START_TEST(a_coordinator_that_returns)
{
	int32_t coordinator = rg_testkit_coordinator(kit, "g");
	rg_error error = {0};

	produce("t", 0, 10);
	open_auto(&a, "a", "50", "range");
	crew_until(a.records == 10, &a);
	crew_until(stored(&a) == 10, &a);
	OK(rg_testkit_stop_broker(kit, coordinator, &error));
	produce("t", 0, 5);
	crew_until(a.records == 15, &a);
	crew_poll_for(300, alone); /* some intervals */
	OK(rg_testkit_start_broker(kit, coordinator, &error));
	crew_until(stored(&a) == 15, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	/* librdkafka tells of brokers that are away; the group has no error. */
	ck_assert_int_eq(a.error.code, RG_OK);
}
END_TEST

/* bugs 62: that the member is out is heard from an automatic commit. It is no error of the application's: the partitions
 * are lost, and the member is back. */
static void thrown_out(rg_err by, const char *lost)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "50", "session.timeout.ms", "400",
	                             NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, RG__API_OFFSET_COMMIT, 1, by, &error));
	produce("t", 0, 5);
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert_msg(seen(&a, lost), "%s", a.seen);
	ck_assert_int_eq(count_of(&a, "lost"), 1);
	ck_assert_int_eq(count_of(&a, "revoked"), 0);
	ck_assert_str_eq(a.errors, "");
	crew_until(stored(&a) == 5, &a);
}

START_TEST(an_automatic_commit_hears_25)
{
	thrown_out(25, "assigned t:0,1, lost(UNKNOWN_MEMBER) t:0,1, prepare, complete, assigned t:0,1");
}
END_TEST

START_TEST(an_automatic_commit_hears_22)
{
	thrown_out(22, "assigned t:0,1, lost(ILLEGAL_GENERATION) t:0,1, prepare, complete, assigned t:0,1");
}
END_TEST

/* Only a fenced member has something to tell: it is over. */
START_TEST(an_automatic_commit_hears_82)
{
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "50", "group.instance.id", "one",
	                             NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, RG__API_OFFSET_COMMIT, 1, 82, &error));
	produce("t", 0, 5);
	crew_until(rg_consumer_failed(a.consumer) && a.owned == 0, &a);
	ck_assert(seen(&a, "lost(FENCED) t:0,1"));
	ck_assert_ptr_nonnull(strstr(a.errors, "FENCED_INSTANCE_ID"));
}
END_TEST

/* bugs librdkafka 40: the interval is over many times while JoinGroup, then SyncGroup, is out, and a cooperative member
 * goes on reading: it commits nothing meanwhile, which would be refused with 22 or 27, and all of it afterwards. */
static void due_while(int api)
{
	int64_t before;
	rg_error error = {0};
	int hold;

	open_auto(&a, "a", "20", "cooperative-sticky");
	produce("t", 0, 10);
	crew_until(a.records == 10, &a);
	crew_until(stored(&a) == 10, &a);
	OK(rg_testkit_hold_request(kit, api, 1, false, &hold, &error));
	OK(rg_consumer_rejoin(a.consumer, "a test", &error));
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn(alone);
	before = commits();
	produce("t", 0, 10);
	crew_until(a.records == 20, &a);
	crew_poll_for(200, alone);
	ck_assert_int_eq(commits(), before);
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(stored(&a) == 20, &a);
	ck_assert_int_eq(count_of(&a, "complete"), 2);
	ck_assert_str_eq(a.errors, "");
}

START_TEST(due_while_joining)
{
	due_while(RG__API_JOIN_GROUP);
}
END_TEST

START_TEST(due_while_syncing)
{
	due_while(RG__API_SYNC_GROUP);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_whole_interval_and_then_until_it_works);
	tcase_add_test(tcase, a_coordinator_that_returns);
	tcase_add_test(tcase, an_automatic_commit_hears_25);
	tcase_add_test(tcase, an_automatic_commit_hears_22);
	tcase_add_test(tcase, an_automatic_commit_hears_82);
	tcase_add_test(tcase, due_while_joining);
	tcase_add_test(tcase, due_while_syncing);
}

int main(void)
{
	return run_suite("consumer_auto_commit", fill, start, crew_end);
}
