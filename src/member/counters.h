/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_COUNTERS_H
#define RG__MEMBER_COUNTERS_H

/* What has happened to a member, in numbers. No clock: whoever counts says what time it is. Durations are microseconds. */

#include "base/stat.h"
#include "group/reactions.h"

#include <regroup/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { RG__REASON_MAX = 256 };

struct rg__rebalance_count {
	int64_t at_us; /* when it began; when it was over for the last one */
	int64_t took_us;
	int32_t joins; /* JoinGroup requests */
	char reason[RG__REASON_MAX];
};

struct rg__counters {
	struct rg__stat_conf windows;
	struct rg__stat join, sync, heartbeat, commit, rebalance; /* how long they took */
	struct rg__stat failed; /* rounds of JoinGroup and SyncGroup that were answered with an error, as Java counts */
	bool rebalancing;
	struct rg__rebalance_count now;  /* while rebalancing */
	struct rg__rebalance_count last; /* at_us 0: there was none */
	int64_t join_sent_us, sync_sent_us;
	int64_t heartbeat_sent_us; /* 0: none was */
};

/* Of JoinGroup, SyncGroup and Heartbeat; all others are nothing to count. `reason` may be NULL. */
void rg__count_sent(struct rg__counters *counters, enum rg__request request, const char *reason, int64_t now_us);
void rg__count_answered(struct rg__counters *counters, enum rg__request request, rg_err err, int64_t now_us);
void rg__count_left(struct rg__counters *counters); /* a rebalance under way will not be over */

#endif
