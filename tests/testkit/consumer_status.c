/* SPDX-License-Identifier: Apache-2.0 */
/* What a consumer says about itself to programs. */
#include "crew.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:4", 2);
}

static rg_status status_of(struct actor *actor)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};

	OK(rg_consumer_status(actor->consumer, &status, &error));
	return status;
}

struct wanted {
	const char *name;
	double value;
	int found, count;
};

static void look_for(const char *name, double value, void *user)
{
	struct wanted *wanted = user;

	wanted->count++;
	if (strcmp(name, wanted->name) != 0)
		return;
	wanted->found++;
	wanted->value = value;
}

static double metric(struct actor *actor, const char *name)
{
	struct wanted wanted = {.name = name};
	rg_error error = {0};

	OK(rg_consumer_metrics(actor->consumer, look_for, &wanted, &error));
	ck_assert_msg(wanted.found == 1, "%s: %d times", name, wanted.found);
	OK(rg_consumer_metric(actor->consumer, name, &wanted.value, &error));
	return wanted.value;
}

START_TEST(before_and_after_joining)
{
	rg_status status;
	char coordinator[64];

	crew_open(&a, "a", crew_conf(NULL));
	status = status_of(&a);
	ck_assert_str_eq(status.state, "Unjoined");
	ck_assert_int_eq(status.generation, -1);
	ck_assert_int_eq(status.coordinator_id, -1);
	ck_assert_str_eq(status.coordinator, "");
	ck_assert_int_eq(status.last_rebalance_ago_ms, -1);
	ck_assert_int_eq((int)metric(&a, "last-heartbeat-seconds-ago"), -1);
	ck_assert_int_eq((int)metric(&a, "last-rebalance-seconds-ago"), -1);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	status = status_of(&a);
	ck_assert_str_eq(status.state, "Stable");
	ck_assert_int_eq(status.generation, 1);
	ck_assert_int_eq(status.is_leader, 1);
	ck_assert_int_eq(status.owned_count, 4);
	ck_assert_int_eq(status.rebalance_pending, 0);
	ck_assert_str_eq(status.protocol, "range");
	ck_assert_int_eq(strncmp(status.member_id, "regroup-", 8), 0);
	ck_assert_int_eq(status.coordinator_id, rg_testkit_coordinator(kit, "g"));
	snprintf(coordinator, sizeof(coordinator), "127.0.0.1:%d", rg_testkit_port(kit, status.coordinator_id));
	ck_assert_str_eq(status.coordinator, coordinator);
	ck_assert_int_eq(status.rebalance_count, 1);
	ck_assert_int_eq(status.last_rebalance_joins, 2); /* KIP-394 */
	ck_assert_int_ge(status.last_rebalance_ago_ms, 0);
	ck_assert_int_gt(status.last_rebalance_took_us, 0);
	ck_assert_int_lt(status.last_rebalance_took_us, WITHIN_MS * INT64_C(1000));
	ck_assert_int_eq((int)metric(&a, "assigned-partitions"), 4);
}
END_TEST

START_TEST(a_coordinator_that_is_lost_is_not_known)
{
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_stop_broker(kit, 1, &error));
	OK(rg_testkit_stop_broker(kit, 2, &error));
	crew_until(status_of(&a).coordinator_id == -1, &a);
	ck_assert_str_eq(status_of(&a).coordinator, "");
	ck_assert_str_eq(status_of(&a).state, "Stable");
}
END_TEST

/* As Java counts: each failed round, 79 included; one rebalance, from its first JoinGroup to its end. */
START_TEST(one_rebalance_with_many_requests)
{
	rg_error error = {0};

	OK(rg_testkit_fail_request(kit, 11, 2, 14, &error));
	OK(rg_testkit_fail_request(kit, 14, 1, 27, &error));
	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(status_of(&a).last_rebalance_joins, 4); /* 79, 14, well but SyncGroup 27, well */
	ck_assert_int_eq((int)metric(&a, "rebalance-total"), 1);
	ck_assert_int_eq((int)metric(&a, "failed-rebalance-total"), 3);
	ck_assert_int_eq((int)metric(&a, "join-total"), 2);
	ck_assert_int_eq((int)metric(&a, "sync-total"), 1);
	ck_assert(metric(&a, "rebalance-latency-avg") >= metric(&a, "sync-time-max"));
	ck_assert(metric(&a, "rebalance-latency-max") == metric(&a, "rebalance-latency-total"));
}
END_TEST

START_TEST(why_the_last_rebalance_was)
{
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 4, &a);
	OK(rg_consumer_rejoin(a.consumer, "new weights", &error));
	crew_until(count_of(&a, "complete") == 2 && a.owned == 4, &a);
	ck_assert_str_eq(status_of(&a).last_rebalance_reason, "new weights");
	ck_assert_int_eq(status_of(&a).last_rebalance_joins, 1);
	ck_assert_int_eq(status_of(&a).rebalance_count, 2);
	crew_join(&b, "b", "t");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert_str_ne(status_of(&a).last_rebalance_reason, "new weights");
	ck_assert_int_eq(status_of(&a).is_leader + status_of(&b).is_leader, 1);
}
END_TEST

START_TEST(numbers_go_up_where_things_happen)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	double beats;

	produce("t", 0, 3);
	crew_open(&a, "a", crew_conf(NULL));
	a.callback_ms = 20;
	crew_subscribe(&a, "t");
	crew_until(a.records == 3, &a);
	ck_assert_int_eq((int)metric(&a, "commit-total"), 0);
	OK(rg_testkit_set_latency(kit, rg_testkit_coordinator(kit, "g"), 30, &error));
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_add(list, "t", 0);
	OK(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
	ck_assert_int_eq((int)metric(&a, "commit-total"), 1);
	ck_assert(metric(&a, "commit-latency-avg") >= 25 && metric(&a, "commit-latency-max") < WITHIN_MS);
	ck_assert(metric(&a, "commit-sync-time-ns-total") >= 25e6);
	ck_assert(metric(&a, "committed-time-ns-total") >= 25e6);
	beats = metric(&a, "heartbeat-total");
	crew_until(metric(&a, "heartbeat-total") >= beats + 2, &a);
	ck_assert(metric(&a, "heartbeat-response-time-max") >= 25);
	ck_assert(metric(&a, "last-heartbeat-seconds-ago") >= 0);
	ck_assert(metric(&a, "last-heartbeat-seconds-ago") < 20);
	ck_assert(metric(&a, "last-poll-seconds-ago") < 20);
	ck_assert(metric(&a, "partition-assigned-latency-avg") >= 20);
	ck_assert(isnan(metric(&a, "partition-revoked-latency-max")));
	ck_assert(metric(&a, "commit-rate") > 0 && metric(&a, "commit-rate") <= 1 / 30.0);
	ck_assert(metric(&a, "heartbeat-rate") >= 2 / 60.0);
	ck_assert(metric(&a, "rebalance-rate-per-hour") > 0 && metric(&a, "rebalance-rate-per-hour") <= 3600 / 30.0);
	ck_assert(metric(&a, "time-between-poll-max") >= metric(&a, "time-between-poll-avg"));
	ck_assert(metric(&a, "poll-idle-ratio-avg") > 0 && metric(&a, "poll-idle-ratio-avg") <= 1);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	ck_assert(metric(&a, "partition-revoked-latency-max") >= 20);
	ck_assert(isnan(metric(&a, "partition-lost-latency-max")));
	ck_assert_int_eq((int)metric(&a, "assigned-partitions"), 0);
	ck_assert_str_eq(status_of(&a).member_id, "");
}
END_TEST

/* facts/protocol 4: the names, each once. */
START_TEST(the_names_are_javas)
{
	static const char *const names[] = {
		"assigned-partitions", "commit-latency-avg", "commit-latency-max", "commit-rate", "commit-total",
		"failed-rebalance-rate-per-hour", "failed-rebalance-total", "heartbeat-rate", "heartbeat-response-time-max",
		"heartbeat-total", "join-rate", "join-time-avg", "join-time-max", "join-total", "last-heartbeat-seconds-ago",
		"last-rebalance-seconds-ago", "partition-assigned-latency-avg", "partition-assigned-latency-max",
		"partition-lost-latency-avg", "partition-lost-latency-max", "partition-revoked-latency-avg",
		"partition-revoked-latency-max", "rebalance-latency-avg", "rebalance-latency-max", "rebalance-latency-total",
		"rebalance-rate-per-hour", "rebalance-total", "sync-rate", "sync-time-avg", "sync-time-max", "sync-total",
		"commit-sync-time-ns-total", "committed-time-ns-total", "last-poll-seconds-ago", "poll-idle-ratio-avg",
		"time-between-poll-avg", "time-between-poll-max",
	};
	struct wanted wanted = {.name = ""};
	rg_error error = {0};
	double value;

	crew_open(&a, "a", crew_conf(NULL));
	ck_assert_int_eq((int)metric(&a, "last-poll-seconds-ago"), -1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		metric(&a, names[i]);
	ck_assert_int_eq(rg_consumer_metrics(a.consumer, look_for, &wanted, NULL), RG_OK);
	ck_assert_uint_eq((size_t)wanted.count, sizeof(names) / sizeof(names[0]));
	ck_assert_int_eq(rg_consumer_metric(a.consumer, "fetch-rate", &value, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "rg_consumer_metric: there is no metric \"fetch-rate\"");
	ck_assert_int_eq(rg_consumer_metric(a.consumer, NULL, &value, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_metric(a.consumer, names[0], NULL, &error), RG_ERR_INVALID);
}
END_TEST

START_TEST(a_caller_of_an_older_version)
{
	struct {
		rg_status status;
		char guard;
	} room;
	rg_error error = {0};
	double value;

	memset(&room, 7, sizeof(room));
	crew_open(&a, "a", crew_conf(NULL));
	room.status.size = offsetof(rg_status, owned_count);
	OK(rg_consumer_status(a.consumer, &room.status, &error));
	ck_assert_str_eq(room.status.state, "Unjoined");
	ck_assert_int_eq(room.status.owned_count, 0x07070707); /* not touched */
	room.status.size = 0;
	ck_assert_int_eq(rg_consumer_status(a.consumer, &room.status, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_status(a.consumer, NULL, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_metrics(a.consumer, NULL, NULL, &error), RG_ERR_INVALID);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 0, &error));
	room.status.size = sizeof(room.status);
	ck_assert_int_eq(rg_consumer_status(a.consumer, &room.status, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_metrics(a.consumer, look_for, NULL, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_metric(a.consumer, "join-total", &value, &error), RG_ERR_CLOSED);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, before_and_after_joining);
	tcase_add_test(tcase, a_coordinator_that_is_lost_is_not_known);
	tcase_add_test(tcase, one_rebalance_with_many_requests);
	tcase_add_test(tcase, why_the_last_rebalance_was);
	tcase_add_test(tcase, numbers_go_up_where_things_happen);
	tcase_add_test(tcase, the_names_are_javas);
	tcase_add_test(tcase, a_caller_of_an_older_version);
}

int main(void)
{
	return run_suite("consumer_status", fill, start, crew_end);
}
