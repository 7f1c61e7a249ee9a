/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/plan.h"

#include "base/alloc.h"

#include <string.h>

struct rg_plan *rg__plan_new(const rg_group *group)
{
	struct rg_plan *plan = rg__calloc(1, sizeof(*plan));
	int64_t total = 0;

	if (!plan)
		return NULL;
	plan->group = group;
	plan->offsets = rg__calloc((size_t)group->topic_count + 1, sizeof(*plan->offsets));
	if (!plan->offsets)
		goto fail;
	for (int32_t t = 0; t < group->topic_count; t++) {
		total += group->topics[t].partition_count;
		if (total > INT32_MAX)
			goto fail;
		plan->offsets[t + 1] = (int32_t)total;
	}
	plan->partition_count = (int32_t)total;
	plan->owners = rg__malloc((size_t)total * sizeof(*plan->owners));
	if (!plan->owners)
		goto fail;
	for (int32_t i = 0; i < plan->partition_count; i++)
		plan->owners[i] = RG__NOBODY;
	return plan;
fail:
	rg__plan_free(plan);
	return NULL;
}

static void drop_index(struct rg_plan *plan)
{
	rg__free(plan->numbers);
	rg__free(plan->groups);
	rg__free(plan->number_starts);
	rg__free(plan->group_starts);
	plan->numbers = NULL;
	plan->groups = NULL;
	plan->number_starts = plan->group_starts = NULL;
}

void rg__plan_free(struct rg_plan *plan)
{
	if (!plan)
		return;
	for (int32_t m = 0; plan->userdata && m < plan->group->member_count; m++)
		rg__free((void *)(uintptr_t)plan->userdata[m].data);
	rg__free(plan->userdata);
	drop_index(plan);
	rg__free(plan->owners);
	rg__free(plan->offsets);
	rg__free(plan);
}

rg_err rg_plan_give_range(rg_plan *plan, int32_t member, int32_t topic, int32_t first, int32_t count)
{
	const rg_group *group = plan->group;

	if (count == 0)
		return RG_OK;
	if (member < 0 || member >= group->member_count || topic < 0 || topic >= group->topic_count || first < 0 ||
	    count < 0 || first > group->topics[topic].partition_count - count) {
		if (!plan->outside.found) {
			plan->outside.found = true;
			plan->outside.partition = (rg_group_partition){topic, first};
			plan->outside.member = member;
			plan->outside.count = count;
		}
		return RG_ERR_INVALID;
	}
	int32_t *owner = plan->owners + plan->offsets[topic] + first;

	for (int32_t i = 0; i < count; i++) {
		if (owner[i] != RG__NOBODY && !plan->twice.found) {
			plan->twice.found = true;
			plan->twice.partition = (rg_group_partition){topic, first + i};
			plan->twice.member = owner[i];
			plan->twice.second_member = member;
		}
		owner[i] = member;
	}
	return RG_OK;
}

rg_err rg_plan_give(rg_plan *plan, int32_t member, int32_t topic, int32_t partition)
{
	return rg_plan_give_range(plan, member, topic, partition, 1);
}

rg_err rg_plan_set_userdata(rg_plan *plan, int32_t member, const void *data, size_t len)
{
	if (member < 0 || member >= plan->group->member_count || (!data && len))
		return RG_ERR_INVALID;
	if (!plan->userdata)
		plan->userdata = rg__calloc((size_t)plan->group->member_count, sizeof(*plan->userdata));
	if (!plan->userdata)
		return RG_ERR_MEMORY;
	char *copy = rg__strndup(data ? data : "", len);

	if (!copy)
		return RG_ERR_MEMORY;
	rg__free((void *)(uintptr_t)plan->userdata[member].data);
	plan->userdata[member] = (struct rg__bytes){(const uint8_t *)copy, len};
	return RG_OK;
}

struct rg__bytes rg__plan_userdata(const struct rg_plan *plan, int32_t member)
{
	return plan->userdata ? plan->userdata[member] : RG__NULL_BYTES;
}

/* How many numbers and groups each member will have, as starts. */
static int32_t count_groups(struct rg_plan *plan, int32_t *last_topic)
{
	int32_t members = plan->group->member_count;

	for (int32_t t = 0; t < plan->group->topic_count; t++)
		for (int32_t i = plan->offsets[t]; i < plan->offsets[t + 1]; i++) {
			int32_t owner = plan->owners[i];

			if (owner == RG__NOBODY)
				continue;
			plan->number_starts[owner + 1]++;
			plan->group_starts[owner + 1] += last_topic[owner] != t;
			last_topic[owner] = t;
		}
	for (int32_t m = 0; m < members; m++) {
		plan->number_starts[m + 1] += plan->number_starts[m];
		plan->group_starts[m + 1] += plan->group_starts[m];
		last_topic[m] = -1;
	}
	return plan->group_starts[members];
}

bool rg__plan_index(struct rg_plan *plan)
{
	int32_t members = plan->group->member_count;
	size_t room = (size_t)members + 1;
	int32_t *scratch = rg__malloc(3 * room * sizeof(*scratch));
	bool ok = false;

	drop_index(plan);
	plan->number_starts = rg__calloc(room, sizeof(*plan->number_starts));
	plan->group_starts = rg__calloc(room, sizeof(*plan->group_starts));
	plan->numbers = rg__malloc((size_t)plan->partition_count * sizeof(*plan->numbers));
	if (!scratch || !plan->number_starts || !plan->group_starts || !plan->numbers)
		goto out;
	int32_t *last_topic = scratch, *number_at = scratch + room, *group_at = number_at + room;

	for (int32_t m = 0; m < members; m++)
		last_topic[m] = -1;
	plan->groups = rg__malloc((size_t)count_groups(plan, last_topic) * sizeof(*plan->groups));
	if (!plan->groups)
		goto out;
	memcpy(number_at, plan->number_starts, room * sizeof(*number_at));
	memcpy(group_at, plan->group_starts, room * sizeof(*group_at));
	for (int32_t t = 0; t < plan->group->topic_count; t++)
		for (int32_t i = plan->offsets[t]; i < plan->offsets[t + 1]; i++) {
			int32_t owner = plan->owners[i];

			if (owner == RG__NOBODY)
				continue;
			if (last_topic[owner] != t)
				plan->groups[group_at[owner]++] = (struct rg__plan_group){t, number_at[owner]};
			last_topic[owner] = t;
			plan->numbers[number_at[owner]++] = i - plan->offsets[t];
		}
	ok = true;
out:
	rg__free(scratch);
	if (!ok)
		drop_index(plan);
	return ok;
}

int32_t rg__plan_topic_count(const struct rg_plan *plan, int32_t member)
{
	return plan->group_starts[member + 1] - plan->group_starts[member];
}

int32_t rg__plan_partition_count(const struct rg_plan *plan, int32_t member)
{
	return plan->number_starts[member + 1] - plan->number_starts[member];
}

int32_t rg__plan_topic(const struct rg_plan *plan, int32_t member, int32_t i, const int32_t **ret_partitions,
                       int32_t *ret_count)
{
	int32_t at = plan->group_starts[member] + i;
	bool is_last = at + 1 == plan->group_starts[member + 1];
	int32_t end = is_last ? plan->number_starts[member + 1] : plan->groups[at + 1].first;

	*ret_partitions = plan->numbers + plan->groups[at].first;
	*ret_count = end - plan->groups[at].first;
	return plan->groups[at].topic;
}

rg_group_partition rg__plan_at(const struct rg_plan *plan, int32_t flat)
{
	int32_t low = 0, high = plan->group->topic_count; /* offsets[low] <= flat < offsets[high] */

	while (high - low > 1) {
		int32_t middle = low + (high - low) / 2;

		if (plan->offsets[middle] <= flat)
			low = middle;
		else
			high = middle;
	}
	return (rg_group_partition){low, flat - plan->offsets[low]};
}

rg_plan *rg_plan_new(const rg_group *group)
{
	return rg__plan_new(group);
}

void rg_plan_free(rg_plan *plan)
{
	rg__plan_free(plan);
}

int32_t rg_plan_owner(const rg_plan *plan, int32_t topic, int32_t partition)
{
	if (topic < 0 || topic >= plan->group->topic_count || partition < 0 ||
	    partition >= plan->group->topics[topic].partition_count)
		return RG__NOBODY;
	return plan->owners[plan->offsets[topic] + partition];
}

rg_bytes rg_plan_userdata(const rg_plan *plan, int32_t member)
{
	struct rg__bytes userdata = RG__NULL_BYTES;

	if (member >= 0 && member < plan->group->member_count)
		userdata = rg__plan_userdata(plan, member);
	return (rg_bytes){userdata.data, userdata.len};
}
