/* SPDX-License-Identifier: Apache-2.0 */
#include "member/metrics.h"

#include "member/internal.h"

#include <string.h>

#define AT(field) offsetof(struct rg__counters, field)
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Kafka: consumer-coordinator-metrics. */
static const struct rg__metric of_membership[] = {
	{"failed-rebalance-rate-per-hour", RG__METRIC_PER_HOUR, AT(failed)},
	{"failed-rebalance-total", RG__METRIC_TOTAL, AT(failed)},
	{"heartbeat-rate", RG__METRIC_RATE, AT(heartbeat)},
	{"heartbeat-response-time-max", RG__METRIC_MAX, AT(heartbeat)},
	{"heartbeat-total", RG__METRIC_TOTAL, AT(heartbeat)},
	{"join-rate", RG__METRIC_RATE, AT(join)},
	{"join-time-avg", RG__METRIC_AVG, AT(join)},
	{"join-time-max", RG__METRIC_MAX, AT(join)},
	{"join-total", RG__METRIC_TOTAL, AT(join)},
	{"rebalance-latency-avg", RG__METRIC_AVG, AT(rebalance)},
	{"rebalance-latency-max", RG__METRIC_MAX, AT(rebalance)},
	{"rebalance-latency-total", RG__METRIC_SUM, AT(rebalance)},
	{"rebalance-rate-per-hour", RG__METRIC_PER_HOUR, AT(rebalance)},
	{"rebalance-total", RG__METRIC_TOTAL, AT(rebalance)},
	{"sync-rate", RG__METRIC_RATE, AT(sync)},
	{"sync-time-avg", RG__METRIC_AVG, AT(sync)},
	{"sync-time-max", RG__METRIC_MAX, AT(sync)},
	{"sync-total", RG__METRIC_TOTAL, AT(sync)},
};

static const struct rg__metric of_commits[] = {
	{"commit-latency-avg", RG__METRIC_AVG, AT(commit)},
	{"commit-latency-max", RG__METRIC_MAX, AT(commit)},
	{"commit-rate", RG__METRIC_RATE, AT(commit)},
	{"commit-total", RG__METRIC_TOTAL, AT(commit)},
};

static double value_of(enum rg__metric_kind kind, const struct rg__stat *stat, const struct rg__stat_conf *windows,
                       int64_t now_us)
{
	switch (kind) {
	case RG__METRIC_AVG:
		return rg__stat_avg(stat, windows, now_us) / 1000;
	case RG__METRIC_MAX:
		return rg__stat_max(stat, windows, now_us) / 1000;
	case RG__METRIC_RATE:
		return rg__stat_rate(stat, windows, now_us);
	case RG__METRIC_PER_HOUR:
		return rg__stat_rate(stat, windows, now_us) * 3600;
	case RG__METRIC_TOTAL:
		return (double)stat->count;
	case RG__METRIC_SUM:
		break;
	}
	return (double)stat->sum / 1000;
}

void rg__metric_tell(const struct rg__metric_walk *walk, const char *name, double value)
{
	if (!walk->only || !strcmp(walk->only, name))
		walk->each(name, value, walk->user);
}

void rg__metrics_tell(const struct rg__metric_walk *walk, const struct rg__metric *metrics, size_t count,
                      const void *stats, const struct rg__stat_conf *windows, int64_t now_us)
{
	for (size_t i = 0; i < count; i++) {
		const void *stat = (const char *)stats + metrics[i].at;

		if (!walk->only || !strcmp(walk->only, metrics[i].name))
			walk->each(metrics[i].name, value_of(metrics[i].kind, stat, windows, now_us), walk->user);
	}
}

double rg__metric_seconds_ago(int64_t at_us, int64_t now_us)
{
	return at_us ? (double)(now_us - at_us) / 1000000 : -1;
}

void rg__counters_tell(const struct rg__metric_walk *walk, const struct rg__counters *counters, int64_t now_us)
{
	rg__metrics_tell(walk, of_membership, COUNT(of_membership), counters, &counters->windows, now_us);
	rg__metric_tell(walk, "last-heartbeat-seconds-ago", rg__metric_seconds_ago(counters->heartbeat_sent_us, now_us));
	rg__metric_tell(walk, "last-rebalance-seconds-ago", rg__metric_seconds_ago(counters->last.at_us, now_us));
}

void rg__counters_tell_commits(const struct rg__metric_walk *walk, const struct rg__counters *counters, int64_t now_us)
{
	rg__metrics_tell(walk, of_commits, COUNT(of_commits), counters, &counters->windows, now_us);
}

rg_err rg_member_metrics(const rg_member *member, rg_metric_cb *each, void *user)
{
	struct rg__metric_walk walk = {each, user, NULL};

	if (!each)
		return RG_ERR_INVALID;
	rg__counters_tell(&walk, &member->counters, rg__now_us(member->io));
	return RG_OK;
}

void rg__member_count_commit(rg_member *member, int64_t sent_us)
{
	int64_t now_us = rg__now_us(member->io);

	rg__stat_add(&member->counters.commit, &member->counters.windows, now_us - sent_us, now_us);
}
