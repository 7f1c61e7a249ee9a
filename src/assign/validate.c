/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/validate.h"

#include "base/error.h"

static rg_err check_indexes(const struct rg_plan *plan, rg_error *error)
{
	const rg_group *group = plan->group;
	rg_group_partition at = plan->outside.partition;
	int32_t member = plan->outside.member;

	if (!plan->outside.found)
		return RG_OK;
	if (member < 0 || member >= group->member_count)
		return rg__fail(error, RG_ERR_BAD_PLAN,
		                "the plan gives a partition to member %d: counted from 0, the group has no more than %d",
		                (int)member, (int)group->member_count);
	if (at.topic < 0 || at.topic >= group->topic_count)
		return rg__fail(error, RG_ERR_BAD_PLAN,
		                "the plan gives member %s a partition of topic %d: counted from 0, the group has no more than %d",
		                group->members[member].member_id, (int)at.topic, (int)group->topic_count);
	return rg__fail(error, RG_ERR_BAD_PLAN,
	                "the plan gives member %s a range of %s outside its partitions: %d from %d on, of %d",
	                group->members[member].member_id, group->topics[at.topic].name, (int)plan->outside.count,
	                (int)at.partition, (int)group->topics[at.topic].partition_count);
}

static rg_err check_once(const struct rg_plan *plan, rg_error *error)
{
	const rg_group *group = plan->group;

	if (!plan->twice.found)
		return RG_OK;
	return rg__fail(error, RG_ERR_BAD_PLAN, "the plan gives %s-%d twice: to member %s and to member %s",
	                group->topics[plan->twice.partition.topic].name, (int)plan->twice.partition.partition,
	                group->members[plan->twice.member].member_id, group->members[plan->twice.second_member].member_id);
}

/* A member's topics in the plan and in its subscription are both ascending, so one walk compares them. */
static rg_err check_subscribed(const struct rg_plan *plan, int32_t m, rg_error *error)
{
	const rg_group_member *member = &plan->group->members[m];
	int32_t at = 0;

	for (int32_t i = 0; i < rg__plan_topic_count(plan, m); i++) {
		const int32_t *partitions;
		int32_t count, topic = rg__plan_topic(plan, m, i, &partitions, &count);

		while (at < member->topic_count && member->topics[at] < topic)
			at++;
		if (at == member->topic_count || member->topics[at] != topic)
			return rg__fail(error, RG_ERR_BAD_PLAN, "the plan gives %s-%d to member %s, which does not subscribe to %s",
			                plan->group->topics[topic].name, (int)partitions[0], member->member_id,
			                plan->group->topics[topic].name);
	}
	return RG_OK;
}

rg_err rg__plan_validate(struct rg_plan *plan, int32_t *ret_withheld, rg_error *error)
{
	int32_t members = plan->group->member_count;
	rg_err err = check_indexes(plan, error);

	if (!err)
		err = check_once(plan, error);
	if (err)
		return err;
	if (!rg__plan_index(plan))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory while checking the plan");
	for (int32_t m = 0; m < members && !err; m++)
		err = check_subscribed(plan, m, error);
	if (!err && ret_withheld)
		*ret_withheld = plan->partition_count - plan->number_starts[members];
	return err;
}

rg_err rg_plan_check(rg_plan *plan, int32_t *ret_withheld, rg_error *error)
{
	return rg__plan_validate(plan, ret_withheld, error);
}
