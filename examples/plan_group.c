/* SPDX-License-Identifier: Apache-2.0 */
/* regroup-plan: the model as the group that assignors see. */
#include "plan_model.h"

#include <stdlib.h>
#include <string.h>

static int compare_ids(const void *a, const void *b)
{
	return strcmp((*(const struct member *const *)a)->id, (*(const struct member *const *)b)->id);
}

static int compare_numbers(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int compare_partitions(const void *a, const void *b)
{
	const rg_group_partition *x = a, *y = b;

	return x->topic != y->topic ? compare_numbers(&x->topic, &y->topic) : compare_numbers(&x->partition, &y->partition);
}

/* By topic of the model: its index in the group, or -1 for one that nobody subscribes to, nor owns if those count. */
static int32_t *number_topics(const struct model *model, bool with_owned)
{
	int32_t *numbers = model_alloc((size_t)model->topic_count, sizeof(*numbers)), count = 0;

	for (int32_t m = 0; m < model->member_count; m++) {
		for (int32_t i = 0; i < model->members[m].topic_count; i++) {
			const struct topic *topic = model_topic(model, model->members[m].topics[i]);

			if (topic)
				numbers[topic - model->topics] = 1;
		}
		for (int32_t i = 0; with_owned && i < model->members[m].owned_count; i++) {
			const struct topic *topic = model_topic(model, model->members[m].owned[i].topic);

			if (topic)
				numbers[topic - model->topics] = 1;
		}
	}
	for (int32_t t = 0; t < model->topic_count; t++)
		numbers[t] = numbers[t] ? count++ : -1;
	return numbers;
}

static int32_t number_of(const struct model *model, const int32_t *numbers, const char *name)
{
	const struct topic *topic = model_topic(model, name);

	return topic ? numbers[topic - model->topics] : -1;
}

static void list_topics(const struct model *model, const int32_t *numbers, const struct member *from,
                        rg_group_member *to)
{
	int32_t *list = model_alloc((size_t)from->topic_count, sizeof(*list)), count = 0;

	for (int32_t i = 0; i < from->topic_count; i++) {
		int32_t number = number_of(model, numbers, from->topics[i]);

		if (number >= 0)
			list[count++] = number;
	}
	qsort(list, (size_t)count, sizeof(*list), compare_numbers);
	for (int32_t i = 0; i < count; i++)
		if (!to->topic_count || list[to->topic_count - 1] != list[i])
			list[to->topic_count++] = list[i];
	to->topics = list;
}

static void list_owned(const struct model *model, const int32_t *numbers, const struct member *from,
                       rg_group_member *to)
{
	rg_group_partition *list;
	int32_t count = 0;

	for (int32_t i = 0; i < from->owned_count; i++)
		count += from->owned[i].count;
	list = model_alloc((size_t)count, sizeof(*list));
	count = 0;
	for (int32_t i = 0; i < from->owned_count; i++) {
		const struct topic *topic = model_topic(model, from->owned[i].topic);
		int32_t number = topic ? numbers[topic - model->topics] : -1;

		for (int32_t k = 0; number >= 0 && k < from->owned[i].count; k++)
			if (from->owned[i].partitions[k] >= 0 && from->owned[i].partitions[k] < topic->partitions)
				list[count++] = (rg_group_partition){number, from->owned[i].partitions[k]};
	}
	qsort(list, (size_t)count, sizeof(*list), compare_partitions);
	for (int32_t i = 0; i < count; i++)
		if (!to->owned_count || compare_partitions(&list[to->owned_count - 1], &list[i]))
			list[to->owned_count++] = list[i];
	to->owned = list;
}

static uint8_t *put(uint8_t *at, size_t size, uint32_t value)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
	return at + size;
}

/* What members of Java's sticky assignor send: topics with their partitions, then the generation. */
static rg_bytes sticky_bytes(const struct member *member)
{
	size_t len = 8;

	for (int32_t i = 0; i < member->owned_count; i++)
		len += 2 + strlen(member->owned[i].topic) + 4 + 4 * (size_t)member->owned[i].count;
	uint8_t *bytes = model_alloc(len, 1), *at = put(bytes, 4, (uint32_t)member->owned_count);

	for (int32_t i = 0; i < member->owned_count; i++) {
		const struct owned *owned = &member->owned[i];
		size_t name = strlen(owned->topic);

		at = put(at, 2, (uint32_t)name);
		memcpy(at, owned->topic, name);
		at = put(at + name, 4, (uint32_t)owned->count);
		for (int32_t k = 0; k < owned->count; k++)
			at = put(at, 4, (uint32_t)owned->partitions[k]);
	}
	put(at, 4, (uint32_t)member->generation);
	return (rg_bytes){bytes, len};
}

static rg_bytes userdata_of(const struct member *member, const char *assignor)
{
	if (assignor && !strcmp(assignor, "sticky") && member->owned_count)
		return sticky_bytes(member);
	if (assignor && !strcmp(assignor, "weighted") && member->capacity) {
		uint8_t *bytes = model_alloc(4, 1);

		put(bytes, 4, (uint32_t)member->capacity);
		return (rg_bytes){bytes, 4};
	}
	return (rg_bytes){NULL, 0};
}

const rg_group *model_group(struct model *model, const char *assignor)
{
	rg_group *group = model_alloc(1, sizeof(*group));
	int32_t *numbers = number_topics(model, !assignor);
	rg_group_topic *topics = model_alloc((size_t)model->topic_count, sizeof(*topics));
	rg_group_member *members = model_alloc((size_t)model->member_count, sizeof(*members));
	const struct member **order = model_alloc((size_t)model->member_count, sizeof(*order));

	*group = (rg_group){.size = sizeof(*group), .topics = topics, .members = members, .member_count = model->member_count,
	                    .generation = model->generation + 1};
	for (int32_t t = 0; t < model->topic_count; t++)
		if (numbers[t] >= 0)
			topics[group->topic_count++] = (rg_group_topic){model->topics[t].name, model->topics[t].partitions,
			                                                model->topics[t].racks, model->topics[t].rack_counts};
	for (int32_t m = 0; m < model->member_count; m++)
		order[m] = &model->members[m];
	qsort(order, (size_t)model->member_count, sizeof(const struct member *), compare_ids);
	for (int32_t m = 0; m < model->member_count; m++) {
		members[m] = (rg_group_member){.member_id = order[m]->id,
		                               .instance_id = order[m]->instance_id,
		                               .rack = order[m]->rack,
		                               .generation = order[m]->generation,
		                               .userdata = userdata_of(order[m], assignor)};
		list_topics(model, numbers, order[m], &members[m]);
		list_owned(model, numbers, order[m], &members[m]);
	}
	return group;
}
