/* SPDX-License-Identifier: Apache-2.0 */
/* The cooperative protocol (KIP-429): what is kept goes on flowing, and a group can come to it from the eager one. */
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { PARTITIONS = 6, OFFSET_FETCH = 9, JOIN_GROUP = 11, SYNC_GROUP = 14 };

static struct actor a, b, c;
static struct actor *const everybody[] = {&a, &b, &c};

static void start(void)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	memset(&c, 0, sizeof(c));
	crew_cluster("t:6", 1);
}

static void join_with(struct actor *actor, const char *name, const char *assignors)
{
	crew_open(actor, name, crew_conf("partition.assignment.strategy", assignors, NULL));
	crew_subscribe(actor, "t");
}

/* Looked at after every single poll of every member. */
static bool never_two_owners(void)
{
	for (int partition = 0; partition < PARTITIONS; partition++) {
		int owners = 0;

		for (int i = 0; i < 3; i++)
			owners += everybody[i]->owns[partition];
		ck_assert_msg(owners <= 1, "partition %d has %d owners: %s | %s | %s", partition, owners, a.seen, b.seen, c.seen);
	}
	return true;
}

static const char *protocol_of_group(char text[512])
{
	char *found;
	rg_error error = {0};

	OK(rg_testkit_describe_group(kit, "g", text, 512, &error));
	found = strstr(text, "protocol=");
	return found ? strtok(found + strlen("protocol="), " ") : "";
}

/* --- What is kept ------------------------------------------------------------------------------------------------- */

/* scenarios E.97, bugs 32: a rebalance that somebody else holds up costs the others no record. */
START_TEST(records_flow_while_the_group_waits_for_a_slow_member)
{
	int before;

	join_with(&a, "a", "cooperative-sticky");
	crew_until(a.owned == 6, &a);
	join_with(&b, "b", "cooperative-sticky");
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3, &a, &b);
	join_with(&c, "c", "cooperative-sticky");
	/* b does not poll, so that the group cannot go on; a has sent its JoinGroup. */
	crew_until(count_of(&a, "prepare") > count_of(&a, "complete"), &a, &c);
	before = a.records;
	produce("t", -1, 60);
	crew_until(a.records == before + 30, &a, &c);
	ck_assert_int_eq(count_of(&a, "prepare"), count_of(&a, "complete") + 1); /* still under way */
	crew_until(never_two_owners() && a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	crew_until(a.records + b.records + c.records >= 60, &a, &b, &c);
	ck_assert_int_eq(a.violations + b.violations + c.violations, 0);
}
END_TEST

/* The same behind SyncGroup, with the leader's own partitions. */
START_TEST(records_flow_while_the_plan_is_awaited)
{
	rg_error error = {0};
	int first, second;

	join_with(&a, "a", "cooperative-sticky");
	crew_until(a.owned == 6, &a);
	OK(rg_testkit_hold_request(kit, SYNC_GROUP, 1, false, &first, &error));
	OK(rg_testkit_hold_request(kit, SYNC_GROUP, 2, false, &second, &error));
	join_with(&b, "b", "cooperative-sticky");
	while (rg_testkit_wait_held(kit, first, 5, NULL) || rg_testkit_wait_held(kit, second, 5, NULL))
		crew_turn((struct actor *[]){&a, &b, NULL});
	produce("t", -1, 60);
	crew_until(a.records == 60, &a, &b);
	ck_assert_int_eq(a.owned, 6);
	ck_assert(!seen(&a, "revoked"));
	OK(rg_testkit_release(kit, first, &error));
	OK(rg_testkit_release(kit, second, &error));
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3, &a, &b);
	ck_assert_int_eq(a.violations + b.violations, 0);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* bugs 26: a rebalance comes between, before it is known where a kept partition begins. It begins all the same, and is
 * assigned once. */
START_TEST(a_kept_partition_whose_offset_was_not_known_yet)
{
	rg_error error = {0};
	int hold;

	produce("t", -1, 60);
	OK(rg_testkit_hold_request(kit, OFFSET_FETCH, 1, false, &hold, &error));
	join_with(&a, "a", "cooperative-sticky");
	crew_until(a.owned == 6, &a);
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	join_with(&b, "b", "cooperative-sticky");
	crew_poll_for(50, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(a.records, 0);
	OK(rg_testkit_release(kit, hold, &error));
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3 && a.records + b.records >= 60, &a, &b);
	ck_assert_int_eq(count_of(&a, "assigned t:"), 1);
	ck_assert_int_eq(a.violations + b.violations, 0);
}
END_TEST

static int times[PARTITIONS][1000]; /* that a record was processed */

static void note_records(void)
{
	memset(times, 0, sizeof(times));
	for (int i = 0; i < 3; i++)
		for (int r = 0; r < everybody[i]->records; r++)
			times[everybody[i]->record_partitions[r]][everybody[i]->record_offsets[r]]++;
}

static void each_once(int per_partition)
{
	note_records();
	for (int partition = 0; partition < PARTITIONS; partition++)
		for (int offset = 0; offset < per_partition; offset++)
			ck_assert_msg(times[partition][offset] == 1, "record %d of partition %d was processed %d times", offset,
			              partition, times[partition][offset]);
}

static void commit_in_revoked(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	rg_error error = {0};

	(void)partitions;
	OK(rg_consumer_commit(actor->consumer, NULL, WITHIN_MS, &error));
}

/* a is in the middle of a rebalance: its JoinGroup is parked, since b does not poll. */
static void bring_into_a_rebalance(const char *auto_commit)
{
	produce("t", -1, 60);
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", "enable.auto.commit", auto_commit,
	                             "auto.commit.interval.ms", "3600000", NULL));
	crew_subscribe(&a, "t");
	if (!strcmp(auto_commit, "false"))
		a.in_revoked = commit_in_revoked;
	crew_until(a.records == 60, &a);
	crew_open(&b, "b", crew_conf("partition.assignment.strategy", "cooperative-sticky", "enable.auto.commit", "true", NULL));
	crew_subscribe(&b, "t");
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3, &a, &b);
	join_with(&c, "c", "cooperative-sticky");
	crew_until(count_of(&a, "prepare") > count_of(&a, "complete"), &a, &c);
	produce("t", -1, 60);
	crew_until(a.records == 90, &a, &c);
	crew_poll_for(20, (struct actor *[]){&a, &c, NULL}); /* the last one counts as processed, too */
	ck_assert_int_eq(count_of(&a, "prepare"), count_of(&a, "complete") + 1); /* still under way */
}

/* KIP-429, scenarios D.78, bugs 65: until the new generation begins the broker takes commits, and nothing is processed
 * twice. */
START_TEST(who_leaves_in_a_rebalance_commits_what_came_during_it)
{
	bring_into_a_rebalance(_i ? "true" : "false");
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert(seen(&a, "prepare, revoked t:"));
	ck_assert(!seen(&a, "lost"));
	crew_until(never_two_owners() && b.owned == 3 && c.owned == 3, &b, &c);
	produce("t", -1, 60);
	crew_until(a.records + b.records + c.records >= 180, &b, &c);
	crew_poll_for(100, (struct actor *[]){&b, &c, NULL});
	each_once(30);
	ck_assert_int_eq(a.violations + b.violations + c.violations, 0);
}
END_TEST

/* The same with its own seat: it unsubscribes, and comes back. */
START_TEST(who_unsubscribes_in_a_rebalance_goes_on_where_it_was)
{
	rg_error error = {0};

	bring_into_a_rebalance("true");
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	crew_until(never_two_owners() && b.owned == 3 && c.owned == 3, &b, &c);
	crew_subscribe(&a, "t");
	crew_until(never_two_owners() && a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	crew_until(a.records + b.records + c.records >= 120, &a, &b, &c);
	ck_assert_int_eq(a.violations + b.violations + c.violations, 0);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* Behind SyncGroup nothing can be committed; what was processed before the rebalance began has been. */
START_TEST(who_leaves_in_a_rebalance_has_committed_what_came_before_it)
{
	rg_error error = {0};
	int first, second;

	produce("t", -1, 60);
	crew_open(&a, "a", crew_conf("partition.assignment.strategy", "cooperative-sticky", "enable.auto.commit", "true",
	                             "auto.commit.interval.ms", "3600000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 60, &a);
	OK(rg_testkit_hold_request(kit, SYNC_GROUP, 1, false, &first, &error));
	OK(rg_testkit_hold_request(kit, SYNC_GROUP, 2, false, &second, &error));
	join_with(&b, "b", "cooperative-sticky");
	while (rg_testkit_wait_held(kit, first, 5, NULL) || rg_testkit_wait_held(kit, second, 5, NULL))
		crew_turn((struct actor *[]){&a, &b, NULL});
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert(seen(&a, "lost(NONE) t:0,1,2,3,4,5"));
	OK(rg_testkit_release(kit, first, &error));
	OK(rg_testkit_release(kit, second, &error));
	crew_until(b.owned == 6, &b);
	produce("t", -1, 6);
	crew_until(b.records >= 6, &b);
	crew_poll_for(50, (struct actor *[]){&b, NULL});
	ck_assert_int_eq(b.records, 6);
}
END_TEST

/* --- From eager to cooperative ------------------------------------------------------------------------------------ */

/* scenarios E.79, E.80, bugs 23: an eager member and a cooperative one in the same group, by the only assignor both
 * have. */
START_TEST(an_eager_member_among_cooperative_ones)
{
	char text[512];

	join_with(&a, "a", "cooperative-sticky,range"); /* leads, eager itself */
	crew_until(a.owned == 6, &a);
	join_with(&b, "b", "cooperative-sticky");
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3, &a, &b);
	ck_assert_str_eq(protocol_of_group(text), "cooperative-sticky");
	join_with(&c, "c", "range,cooperative-sticky");
	crew_until(never_two_owners() && a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	/* b gave up one at a time, the eager one everything in each round. */
	ck_assert(!seen(&b, "prepare, revoked"));
	ck_assert(seen(&a, "prepare, revoked t:0,1,2,3,4,5, complete"));
	ck_assert(alternates(&a) && alternates(&b) && alternates(&c));
	ck_assert_int_eq(a.violations + b.violations + c.violations, 0);
}
END_TEST

static bool shared_evenly(void)
{
	return never_two_owners() && a.owned == 2 && b.owned == 2 && c.owned == 2;
}

/* One member after the other is restarted with another list, while records come. */
static void bounce(const char *assignors)
{
	static const char *const names[] = {"a", "b", "c"};

	for (int i = 0; i < 3; i++) {
		struct actor *actor = everybody[i];

		crew_close(actor, RG_CLOSE_LEAVE);
		produce("t", -1, 12);
		ck_assert_int_eq(actor->violations, 0);
		ck_assert_str_eq(actor->errors, "");
		ck_assert(alternates(actor));
		join_with(actor, names[i], assignors);
		crew_until(shared_evenly(), &a, &b, &c);
	}
}

/* bugs 24, 30; librdkafka 71: Kafka's two rolling bounces: range, then both, then cooperative-sticky alone. */
START_TEST(from_range_to_cooperative_in_two_bounces)
{
	char text[512];

	join_with(&a, "a", "range");
	join_with(&b, "b", "range");
	join_with(&c, "c", "range");
	crew_until(shared_evenly(), &a, &b, &c);
	bounce("cooperative-sticky,range");
	bounce("cooperative-sticky");
	ck_assert_str_eq(protocol_of_group(text), "cooperative-sticky");
	/* From here on nobody stops for a newcomer. */
	a.seen[0] = '\0';
	crew_close(&c, RG_CLOSE_LEAVE);
	crew_until(never_two_owners() && a.owned == 3 && b.owned == 3, &a, &b);
	ck_assert(!seen(&a, "revoked"));
}
END_TEST

/* Somebody is to give up a partition before another gets it, and comes back without it: a static member that was away
 * for too long has its seat, and its share, and nothing to give up. The leader does not wait for that for ever. */
START_TEST(what_was_to_be_given_up_and_is_not)
{
	static const char *const away[] = {"partition.assignment.strategy", "cooperative-sticky", "max.poll.interval.ms",
	                                   "2000"};
	rg_error error = {0};
	int rounds;

	crew_open(&a, "a", crew_conf(away[0], away[1], away[2], away[3], "session.timeout.ms", "1000", NULL));
	crew_open(&c, "c", crew_conf(away[0], away[1], away[2], away[3], "session.timeout.ms", "30000",
	                             "group.instance.id", "c", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 6, &a);
	crew_subscribe(&c, "t");
	crew_until(never_two_owners() && a.owned == 3 && c.owned == 3, &a, &c);
	/* Once more, so that the group knows what c owns. */
	rounds = count_of(&c, "complete");
	OK(rg_consumer_rejoin(a.consumer, "because", &error));
	crew_until(count_of(&c, "complete") > rounds && count_of(&a, "complete") == count_of(&a, "prepare"), &a, &c);
	crew_open(&b, "b", crew_conf(away[0], away[1], away[2], away[3], NULL));
	crew_subscribe(&b, "t");
	/* Without c, which does not poll: what a gave up has gone to b, what c is to give up to nobody. */
	crew_until(a.owned == 2 && b.owned == 1, &a, &b);
	crew_until(a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	ck_assert(seen(&c, "lost("));
	rounds = count_of(&a, "prepare");
	crew_poll_for(1300, (struct actor *[]){&a, &b, &c, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), rounds); /* that was all */
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, records_flow_while_the_group_waits_for_a_slow_member);
	tcase_add_test(tcase, records_flow_while_the_plan_is_awaited);
	tcase_add_test(tcase, a_kept_partition_whose_offset_was_not_known_yet);
	tcase_add_loop_test(tcase, who_leaves_in_a_rebalance_commits_what_came_during_it, 0, 2);
	tcase_add_test(tcase, who_unsubscribes_in_a_rebalance_goes_on_where_it_was);
	tcase_add_test(tcase, who_leaves_in_a_rebalance_has_committed_what_came_before_it);
	tcase_add_test(tcase, an_eager_member_among_cooperative_ones);
	tcase_add_test(tcase, from_range_to_cooperative_in_two_bounces);
	tcase_add_test(tcase, what_was_to_be_given_up_and_is_not);
}

int main(void)
{
	return run_suite("consumer_cooperative", fill, start, crew_end);
}
