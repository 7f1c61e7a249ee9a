/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_SUBSCRIBERS_H
#define RG__ASSIGN_SUBSCRIBERS_H

#include <regroup/assignor.h>
#include <stdbool.h>

/* The subscriptions seen from the topics: members[starts[t]] … members[starts[t + 1] - 1] subscribe to topic t, in the
 * order in which the members were listed. */
struct rg__subscribers {
	int64_t *starts; /* topic_count + 1 */
	int32_t *members;
};

/* `order` lists member indexes (rg__member_order), each once. False: out of memory, nothing to free. */
bool rg__subscribers_init(struct rg__subscribers *subscribers, const rg_group *group, const int32_t *order);
void rg__subscribers_free(struct rg__subscribers *subscribers);

#endif
