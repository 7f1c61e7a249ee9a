/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_LEADER_H
#define RG__CONSUMER_LEADER_H

/* What a leader makes of the members' subscriptions: the topics it needs to know about, then the shares. No I/O; the
 * assignor runs inside rg__leading_plan. */

#include "assign/view.h"
#include "base/log.h"
#include "consumer/strategy.h"

#include <regroup/member.h>

struct rg__leading {
	struct rg__arena arena;
	const rg_member_info *infos;
	struct rg__member_input *members;
	int32_t member_count;
	struct rg__bytes *topics; /* that any member subscribes to, in byte order, each once */
	int32_t topic_count;
};

struct rg__lead_result {
	rg_member_share *shares; /* one per member, out of the leading's arena */
	size_t count;
	int32_t partitions, withheld; /* in the plan, and left out of it */
	int32_t awaited; /* of those withheld: some member says it owns it, and is to give it up first */
	int32_t topics;
};

/* Reads the subscriptions. A member whose bytes are no subscription is logged, and gets nothing. `infos` must
 * outlive it. False: out of memory. */
bool rg__leading_begin(struct rg__leading *leading, const rg_member_info *infos, size_t count,
                       const struct rg__log *log);
void rg__leading_end(struct rg__leading *leading);

/* Runs the assignor on the topics that exist, checks its plan and encodes a share for every member. RG_OK;
 * RG_ERR_ASSIGNOR: it returned an error; RG_ERR_BAD_PLAN; RG_ERR_MEMORY; RG_ERR_INVALID: too many partitions. */
rg_err rg__leading_plan(struct rg__leading *leading, const struct rg__listed_assignor *assignor, bool cooperative,
                        const struct rg__topic_input *topics, int32_t topic_count, int32_t generation,
                        struct rg__lead_result *ret_result, rg_error *error);

#endif
