/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that watch a consumer want to know, at a glance and in numbers. */
#include "base/error.h"
#include "consumer/internal.h"

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

struct walk {
	rg_metric_cb *each;
	void *user;
};

static void tell(const struct walk *walk, const char *name, double value)
{
	walk->each(name, value, walk->user);
}

/* Names as Java has them; `name` with "-avg" and "-max" behind it, in milliseconds. */
static void tell_durations(const struct walk *walk, const char *name, const struct rg__durations *durations)
{
	char text[64];

	snprintf(text, sizeof(text), "%s-avg", name);
	tell(walk, text, rg__durations_avg_ms(durations));
	snprintf(text, sizeof(text), "%s-max", name);
	tell(walk, text, (double)durations->max_us / 1000);
}

static double seconds_ago(int64_t now_us, int64_t at_us)
{
	return at_us ? (double)(now_us - at_us) / 1000000 : -1;
}

static void tell_member(const struct walk *walk, const struct snapshot *snapshot)
{
	const struct rg__counters *counters = &snapshot->counters;

	tell_durations(walk, "commit-latency", &counters->commit);
	tell(walk, "commit-total", (double)counters->commit.count);
	tell(walk, "failed-rebalance-total", (double)counters->failed_rebalances);
	tell(walk, "heartbeat-response-time-max", (double)counters->heartbeat.max_us / 1000);
	tell(walk, "heartbeat-total", (double)counters->heartbeat.count);
	tell_durations(walk, "join-time", &counters->join);
	tell(walk, "join-total", (double)counters->join.count);
	tell(walk, "last-heartbeat-seconds-ago", seconds_ago(snapshot->now_us, counters->last_heartbeat_at_us));
	tell(walk, "last-rebalance-seconds-ago", seconds_ago(snapshot->now_us, counters->last.at_us));
	tell_durations(walk, "rebalance-latency", &counters->rebalance);
	tell(walk, "rebalance-latency-total", (double)counters->rebalance.sum_us / 1000);
	tell(walk, "rebalance-total", (double)counters->rebalance.count);
	tell_durations(walk, "sync-time", &counters->sync);
	tell(walk, "sync-total", (double)counters->sync.count);
}

rg_err rg_consumer_metrics(rg_consumer *consumer, rg_metric_cb *each, void *user, rg_error *error)
{
	const struct walk walk = {each, user};
	struct snapshot snapshot;
	int64_t left_at;

	if (!each)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_metrics: nobody to tell them to");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_metrics: the consumer is closed");
	rg__on_loop(consumer, take, &snapshot);
	left_at = consumer->inside ? 0 : atomic_load(&consumer->left_poll_at);
	tell(&walk, "assigned-partitions", (double)consumer->owned.count);
	tell_member(&walk, &snapshot);
	tell_durations(&walk, "partition-assigned-latency", &consumer->assigned_took);
	tell_durations(&walk, "partition-lost-latency", &consumer->lost_took);
	tell_durations(&walk, "partition-revoked-latency", &consumer->revoked_took);
	tell(&walk, "commit-sync-time-ns-total", (double)consumer->commit_waited_us * 1000);
	tell(&walk, "committed-time-ns-total", (double)consumer->committed_waited_us * 1000);
	tell(&walk, "last-poll-seconds-ago", left_at ? (double)(rg__mono_us() - left_at) / 1000000 : 0);
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
