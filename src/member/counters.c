/* SPDX-License-Identifier: Apache-2.0 */
#include "member/counters.h"

#include <string.h>

void rg__durations_add(struct rg__durations *durations, int64_t us)
{
	durations->count++;
	durations->sum_us += us;
	if (us > durations->max_us)
		durations->max_us = us;
}

double rg__durations_avg_ms(const struct rg__durations *durations)
{
	return durations->count ? (double)durations->sum_us / (double)durations->count / 1000 : 0;
}

/* A rebalance begins with its first JoinGroup, however many follow. */
static void count_join(struct rg__counters *counters, const char *reason, int64_t now_us)
{
	if (!counters->rebalancing) {
		counters->rebalancing = true;
		counters->now = (struct rg__rebalance_count){.at_us = now_us};
		strncpy(counters->now.reason, reason ? reason : "", RG__REASON_MAX - 1);
	}
	counters->now.joins++;
	counters->join_sent_us = now_us;
}

void rg__count_sent(struct rg__counters *counters, enum rg__request request, const char *reason, int64_t now_us)
{
	if (request == RG__REQUEST_JOIN_GROUP)
		count_join(counters, reason, now_us);
	else if (request == RG__REQUEST_SYNC_GROUP)
		counters->sync_sent_us = now_us;
	else if (request == RG__REQUEST_HEARTBEAT)
		counters->heartbeat_sent_us = now_us;
}

static void count_end(struct rg__counters *counters, int64_t now_us)
{
	if (!counters->rebalancing)
		return;
	counters->rebalancing = false;
	counters->last = counters->now;
	counters->last.took_us = now_us - counters->now.at_us;
	counters->last.at_us = now_us;
	rg__durations_add(&counters->rebalance, counters->last.took_us);
}

void rg__count_answered(struct rg__counters *counters, enum rg__request request, rg_err err, int64_t now_us)
{
	if (request == RG__REQUEST_HEARTBEAT) {
		rg__durations_add(&counters->heartbeat, now_us - counters->heartbeat_sent_us);
		if (!err)
			counters->last_heartbeat_at_us = now_us;
	} else if (request == RG__REQUEST_JOIN_GROUP || request == RG__REQUEST_SYNC_GROUP) {
		if (err)
			counters->failed_rebalances++;
		else if (request == RG__REQUEST_JOIN_GROUP)
			rg__durations_add(&counters->join, now_us - counters->join_sent_us);
		else
			rg__durations_add(&counters->sync, now_us - counters->sync_sent_us);
		if (!err && request == RG__REQUEST_SYNC_GROUP)
			count_end(counters, now_us);
	}
}

void rg__count_left(struct rg__counters *counters)
{
	counters->rebalancing = false;
}
