/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that watch a consumer want to know, at a glance and in numbers. */
#include "base/error.h"
#include "consumer/internal.h"
#include "member/metrics.h"

#include <stdio.h>
#include <string.h>

struct snapshot {
	struct rg__counters counters;
	const char *state;
	int64_t now_us;
	int32_t coordinator_id;
	char coordinator[sizeof(((rg_status *)0)->coordinator)];
};

static void take(rg_consumer *consumer, void *arg)
{
	struct snapshot *snapshot = arg;

	snapshot->counters = *rg__member_counters(consumer->member);
	snapshot->state = rg_member_state(consumer->member);
	snapshot->now_us = rg__now_us(rg__member_io(consumer->member));
	snapshot->coordinator_id =
		rg__member_coordinator(consumer->member, snapshot->coordinator, sizeof(snapshot->coordinator));
}

static void fill(const rg_consumer *consumer, const struct snapshot *snapshot, rg_status *status)
{
	const struct rg__rebalance_count *last = &snapshot->counters.last;

	status->state = snapshot->state;
	status->generation = consumer->generation;
	status->is_leader = consumer->is_leader;
	status->owned_count = (int32_t)consumer->owned.count;
	status->rebalance_pending = atomic_load(&consumer->pending);
	status->coordinator_id = snapshot->coordinator_id;
	snprintf(status->coordinator, sizeof(status->coordinator), "%s", snapshot->coordinator);
	snprintf(status->member_id, sizeof(status->member_id), "%s", consumer->member_id);
	snprintf(status->protocol, sizeof(status->protocol), "%s", consumer->protocol);
	status->rebalance_count = snapshot->counters.rebalance.count;
	status->last_rebalance_ago_ms = last->at_us ? (snapshot->now_us - last->at_us) / 1000 : -1;
	status->last_rebalance_took_us = last->took_us;
	status->last_rebalance_joins = last->joins;
	snprintf(status->last_rebalance_reason, sizeof(status->last_rebalance_reason), "%s", last->reason);
}

/* Nothing is written behind what the caller has room for: it may be of an older version. */
rg_err rg_consumer_status(rg_consumer *consumer, rg_status *ret_status, rg_error *error)
{
	rg_status status;
	struct snapshot snapshot;
	size_t size;

	if (!ret_status || ret_status->size < sizeof(size))
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_status: `size` must be sizeof(rg_status)");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_status: the consumer is closed");
	size = ret_status->size < sizeof(status) ? ret_status->size : sizeof(status);
	memset(&status, 0, sizeof(status));
	rg__on_loop(consumer, take, &snapshot);
	fill(consumer, &snapshot, &status);
	status.size = size;
	memcpy(ret_status, &status, size);
	return RG_OK;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

#define AT(field) offsetof(struct rg_consumer, field)

static const struct rg__metric of_the_listener[] = {
	{"partition-assigned-latency-avg", RG__METRIC_AVG, AT(assigned_took)},
	{"partition-assigned-latency-max", RG__METRIC_MAX, AT(assigned_took)},
	{"partition-lost-latency-avg", RG__METRIC_AVG, AT(lost_took)},
	{"partition-lost-latency-max", RG__METRIC_MAX, AT(lost_took)},
	{"partition-revoked-latency-avg", RG__METRIC_AVG, AT(revoked_took)},
	{"partition-revoked-latency-max", RG__METRIC_MAX, AT(revoked_took)},
};

/* In poll's own clock, a tick of which is some milliseconds. */
static const struct rg__metric of_polls[] = {
	{"time-between-poll-avg", RG__METRIC_AVG, AT(polls.between)},
	{"time-between-poll-max", RG__METRIC_MAX, AT(polls.between)},
};

static void tell_all(rg_consumer *consumer, const struct rg__metric_walk *walk)
{
	const struct rg__stat_conf *windows = &consumer->windows;
	int64_t now_us = rg__mono_us(), tick_us = rg__mono_coarse_us();
	struct snapshot snapshot;

	rg__on_loop(consumer, take, &snapshot);
	rg__metric_tell(walk, "assigned-partitions", (double)consumer->owned.count);
	rg__counters_tell_commits(walk, &snapshot.counters, snapshot.now_us);
	rg__counters_tell(walk, &snapshot.counters, snapshot.now_us);
	rg__metrics_tell(walk, of_the_listener, sizeof(of_the_listener) / sizeof(of_the_listener[0]), consumer, windows,
	                 now_us);
	rg__metric_tell(walk, "commit-sync-time-ns-total", (double)consumer->commit_waited_us * 1000);
	rg__metric_tell(walk, "committed-time-ns-total", (double)consumer->committed_waited_us * 1000);
	rg__metric_tell(walk, "last-poll-seconds-ago", rg__metric_seconds_ago(consumer->polls.began_us, tick_us));
	rg__metric_tell(walk, "poll-idle-ratio-avg", rg__polls_idle(&consumer->polls, windows, tick_us));
	rg__metrics_tell(walk, of_polls, sizeof(of_polls) / sizeof(of_polls[0]), consumer, windows, tick_us);
}

rg_err rg_consumer_metrics(rg_consumer *consumer, rg_metric_cb *each, void *user, rg_error *error)
{
	const struct rg__metric_walk walk = {each, user, NULL};

	if (!each)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_metrics: nobody to tell them to");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_metrics: the consumer is closed");
	tell_all(consumer, &walk);
	return RG_OK;
}

struct found {
	bool any;
	double value;
};

static void keep(const char *name, double value, void *user)
{
	struct found *found = user;

	(void)name;
	found->any = true;
	found->value = value;
}

rg_err rg_consumer_metric(rg_consumer *consumer, const char *name, double *ret_value, rg_error *error)
{
	struct found found = {0};
	const struct rg__metric_walk walk = {keep, &found, name};

	if (!name || !ret_value)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_metric: no name, or nowhere to put the value");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_metric: the consumer is closed");
	tell_all(consumer, &walk);
	if (!found.any)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_metric: there is no metric \"%s\"", name);
	*ret_value = found.value;
	return RG_OK;
}

/* Without a generation a coordinator takes anybody's offsets (broker: those of a producer outside of the group), which is
 * what fencing is there to prevent (KIP-447). */
rd_kafka_consumer_group_metadata_t *rg_consumer_group_metadata(rg_consumer *consumer)
{
	const struct rg__settings *settings = &consumer->conf->settings;

	if (consumer->closed || consumer->failed || consumer->in_lost || consumer->generation < 0 || !consumer->member_id[0])
		return NULL;
	return rd_kafka_consumer_group_metadata_new_with_genid(settings->group_id, consumer->generation, consumer->member_id,
	                                                       settings->group_instance_id);
}
