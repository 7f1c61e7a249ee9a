/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_PLAN_H
#define RG__ASSIGN_PLAN_H

/* The answer of an assignor. Partitions of all topics lie in one array ("flat": the topic's offset + the partition),
 * each with the member it was given to. What an assignor did wrong is remembered, and rg__plan_validate() tells it. */

#include "base/bytes.h"

#include <regroup/assignor.h>
#include <stdbool.h>

enum { RG__NOBODY = -1 };

struct rg__plan_group {
	int32_t topic;
	int32_t first; /* index into numbers[] */
};

struct rg_plan {
	const rg_group *group;
	int32_t *offsets;    /* topic_count + 1: where a topic's partitions begin; the last is partition_count */
	int32_t *owners;     /* a member or RG__NOBODY for each flat partition; assignors inside the library may write it */
	int32_t partition_count;
	struct rg__bytes *userdata; /* one per member, NULL until the first is set; copies */

	/* The first partition that was given twice, and the first call with an index out of range. */
	struct {
		bool found;
		rg_group_partition partition;
		int32_t member, second_member;
		int32_t count; /* of partitions, in `outside` */
	} twice, outside;

	/* What each member got, by rg__plan_index(): numbers[] holds partition numbers, member after member, each member's
	 * ordered by topic and partition; groups[] cuts them into topics. */
	int32_t *numbers;
	struct rg__plan_group *groups;
	int32_t *number_starts, *group_starts; /* member_count + 1 */
};

/* An empty plan for `group`, which must outlive it; NULL when out of memory or when there are more than INT32_MAX
 * partitions. */
struct rg_plan *rg__plan_new(const rg_group *group);
void rg__plan_free(struct rg_plan *plan);

/* Sorts the plan by member, for rg__plan_topic() and rg__plan_count(); again after every change. False: out of
 * memory. */
bool rg__plan_index(struct rg_plan *plan);

/* How many topics and partitions a member got. Needs the index. */
int32_t rg__plan_topic_count(const struct rg_plan *plan, int32_t member);
int32_t rg__plan_partition_count(const struct rg_plan *plan, int32_t member);

/* The i-th topic of a member: its index, and its partition numbers, ascending. Needs the index; valid until the plan is
 * changed or freed. */
int32_t rg__plan_topic(const struct rg_plan *plan, int32_t member, int32_t i, const int32_t **ret_partitions,
                       int32_t *ret_count);

/* The bytes attached to a member; the null view when there are none. */
struct rg__bytes rg__plan_userdata(const struct rg_plan *plan, int32_t member);

/* The topic and partition of a flat partition. */
rg_group_partition rg__plan_at(const struct rg_plan *plan, int32_t flat);

#endif
