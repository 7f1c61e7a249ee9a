/* SPDX-License-Identifier: Apache-2.0 */
#include "random_group.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t random_below(struct random *random, int32_t below)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (int32_t)((z ^ (z >> 31)) % (uint64_t)below);
}

static void *need(size_t count, size_t size)
{
	void *got = calloc(count ? count : 1, size);

	ck_assert_ptr_nonnull(got);
	return got;
}

static const char *const racks[] = {"a", "b", "c"};

static void fill_topic(rg_group_topic *topic, int32_t index, struct random *random, int32_t partitions, bool with_racks)
{
	char *name = need(16, 1);

	snprintf(name, 16, "t%04d", (int)index);
	topic->name = name;
	topic->partition_count = partitions;
	if (!with_racks)
		return;
	const char ***sets = need((size_t)partitions, sizeof(*sets));
	int32_t *counts = need((size_t)partitions, sizeof(*counts));

	for (int32_t p = 0; p < partitions; p++) {
		counts[p] = random_below(random, 3);
		sets[p] = need(2, sizeof(**sets));
		for (int32_t i = 0; i < counts[p]; i++)
			sets[p][i] = racks[random_below(random, 3)];
	}
	topic->racks = (const char *const *const *)sets;
	topic->rack_counts = counts;
}

static void fill_member(rg_group_member *member, int32_t index, struct random *random, int32_t topics,
                        const struct random_shape *shape)
{
	char *id = need(16, 1);
	int32_t *list = need((size_t)topics, sizeof(*list));

	snprintf(id, 16, "m%04d", (int)index);
	member->member_id = id;
	member->generation = -1;
	member->topics = list;
	if (shape->racks && random_below(random, 5))
		member->rack = racks[random_below(random, 3)];
	for (int32_t t = 0; t < topics; t++)
		if (shape->same_topics || random_below(random, 5) < 3)
			list[member->topic_count++] = t;
}

static int32_t some_weight(struct random *random, const struct random_shape *shape)
{
	static const int32_t wide[] = {1, 2, 3, 7, 100, 40000, 65534, 65535};

	if (shape->wide_weights)
		return wide[random_below(random, sizeof(wide) / sizeof(wide[0]))];
	return shape->weights ? 1 + random_below(random, 4) : 1;
}

void random_group_init(struct random_group *g, struct random *random, const struct random_shape *shape)
{
	int32_t topics = 1 + random_below(random, shape->topics_max), members = 1 + random_below(random, shape->members_max);
	rg_group_topic *topic = need((size_t)topics, sizeof(*topic));
	rg_group_member *member = need((size_t)members, sizeof(*member));
	int32_t left = shape->partitions_total;

	*g = (struct random_group){.group = {.size = sizeof(rg_group), .members = member, .member_count = members,
	                                     .topics = topic, .generation = 10}};
	for (int32_t t = 0; t < topics && left; t++) {
		int32_t partitions = 1 + random_below(random, shape->partitions_max < left ? shape->partitions_max : left);

		fill_topic(&topic[g->group.topic_count++], t, random, partitions, shape->racks);
		left -= partitions;
		g->partition_count += partitions;
	}
	g->weights = need((size_t)members, sizeof(*g->weights));
	g->owners = need((size_t)g->partition_count, sizeof(*g->owners));
	for (int32_t m = 0; m < members; m++) {
		fill_member(&member[m], m, random, g->group.topic_count, shape);
		g->weights[m] = some_weight(random, shape);
	}
	for (int32_t i = 0; i < g->partition_count; i++)
		g->owners[i] = random_below(random, 3) ? random_below(random, members) : RG__NOBODY;
}

void random_group_claim(struct random_group *g, int32_t generation)
{
	for (int32_t m = 0; m < g->group.member_count; m++) {
		rg_group_member *member = (rg_group_member *)(uintptr_t)&g->group.members[m];
		rg_group_partition *owned = need((size_t)g->partition_count, sizeof(*owned));
		int32_t flat = 0;

		free((void *)(uintptr_t)member->owned);
		member->owned = owned;
		member->owned_count = 0;
		member->generation = generation;
		for (int32_t t = 0; t < g->group.topic_count; t++)
			for (int32_t p = 0; p < g->group.topics[t].partition_count; p++)
				if (g->owners[flat++] == m)
					owned[member->owned_count++] = (rg_group_partition){t, p};
	}
}

void random_group_drop(struct random_group *g, int32_t member)
{
	((rg_group_member *)(uintptr_t)g->group.members)[member].topic_count = 0;
}

void random_group_free(struct random_group *g)
{
	for (int32_t t = 0; t < g->group.topic_count; t++) {
		const rg_group_topic *topic = &g->group.topics[t];

		for (int32_t p = 0; topic->racks && p < topic->partition_count; p++)
			free((void *)(uintptr_t)topic->racks[p]);
		free((void *)(uintptr_t)topic->racks);
		free((void *)(uintptr_t)topic->rack_counts);
		free((void *)(uintptr_t)topic->name);
	}
	for (int32_t m = 0; m < g->group.member_count; m++) {
		free((void *)(uintptr_t)g->group.members[m].member_id);
		free((void *)(uintptr_t)g->group.members[m].topics);
		free((void *)(uintptr_t)g->group.members[m].owned);
	}
	free((void *)(uintptr_t)g->group.topics);
	free((void *)(uintptr_t)g->group.members);
	free(g->owners);
	free(g->weights);
}

bool random_group_subscribes(const rg_group *group, int32_t member, int32_t topic)
{
	for (int32_t i = 0; i < group->members[member].topic_count; i++)
		if (group->members[member].topics[i] == topic)
			return true;
	return false;
}
