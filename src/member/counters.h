/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_COUNTERS_H
#define RG__MEMBER_COUNTERS_H

/* What has happened to a member, in numbers. No clock: whoever counts says what time it is. */

#include "group/reactions.h"

#include <regroup/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { RG__REASON_MAX = 256 };

/* Of one kind of thing, since the start. */
struct rg__durations {
	int64_t count, sum_us, max_us;
};

struct rg__rebalance_count {
	int64_t at_us; /* when it began; when it was over for the last one */
	int64_t took_us;
	int32_t joins; /* JoinGroup requests */
	char reason[RG__REASON_MAX];
};

struct rg__counters {
	struct rg__durations join, sync, heartbeat, commit, rebalance;
	int64_t failed_rebalances; /* rounds of JoinGroup and SyncGroup that were answered with an error, as Java counts */
	int64_t last_heartbeat_at_us; /* 0: none was answered */
	bool rebalancing;
	struct rg__rebalance_count now;  /* while rebalancing */
	struct rg__rebalance_count last; /* at_us 0: there was none */
	int64_t join_sent_us, sync_sent_us, heartbeat_sent_us;
};

void rg__durations_add(struct rg__durations *durations, int64_t us);
double rg__durations_avg_ms(const struct rg__durations *durations); /* 0 of none */

/* Of JoinGroup, SyncGroup and Heartbeat; all others are nothing to count. `reason` may be NULL. */
void rg__count_sent(struct rg__counters *counters, enum rg__request request, const char *reason, int64_t now_us);
void rg__count_answered(struct rg__counters *counters, enum rg__request request, rg_err err, int64_t now_us);
void rg__count_left(struct rg__counters *counters); /* a rebalance under way will not be over */

#endif
