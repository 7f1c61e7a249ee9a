/* SPDX-License-Identifier: Apache-2.0 */
#include "member/counters.h"

#include <string.h>

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
	rg__stat_add(&counters->rebalance, &counters->windows, counters->last.took_us, now_us);
}

void rg__count_answered(struct rg__counters *counters, enum rg__request request, rg_err err, int64_t now_us)
{
	const struct rg__stat_conf *windows = &counters->windows;

	if (request == RG__REQUEST_HEARTBEAT) {
		/* A refusal is an answer, too, but not what went wrong on the way (those errors are negative). */
		if (err >= RG_OK)
			rg__stat_add(&counters->heartbeat, windows, now_us - counters->heartbeat_sent_us, now_us);
	} else if (request == RG__REQUEST_JOIN_GROUP || request == RG__REQUEST_SYNC_GROUP) {
		if (err)
			rg__stat_add(&counters->failed, windows, 0, now_us);
		else if (request == RG__REQUEST_JOIN_GROUP)
			rg__stat_add(&counters->join, windows, now_us - counters->join_sent_us, now_us);
		else
			rg__stat_add(&counters->sync, windows, now_us - counters->sync_sent_us, now_us);
		if (!err && request == RG__REQUEST_SYNC_GROUP)
			count_end(counters, now_us);
	}
}

void rg__count_left(struct rg__counters *counters)
{
	counters->rebalancing = false;
}
