/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/classes.h"

#include "assign/names.h"

#include <string.h>

/* What a member class is known by: the topics, and behind them the weight. */
static bool member_key(struct rg__arena *arena, const rg_group_member *member, const int32_t *weight,
                       struct rg__bytes *ret_key)
{
	size_t len = (size_t)member->topic_count * sizeof(*member->topics);

	ret_key->data = len ? (const void *)member->topics : (const void *)"";
	ret_key->len = len;
	if (!weight)
		return true;
	int32_t *copy = rg__arena_calloc(arena, (size_t)member->topic_count + 1, sizeof(*copy));

	if (!copy)
		return false;
	if (len)
		memcpy(copy, member->topics, len);
	copy[member->topic_count] = *weight;
	*ret_key = (struct rg__bytes){(const uint8_t *)copy, len + sizeof(*copy)};
	return true;
}

static bool class_members(struct rg__classes *c, struct rg__arena *arena, const rg_group *group, const int32_t *order,
                          const int32_t *weights)
{
	struct rg__names names;
	int32_t last = -1;

	if (!rg__names_init(&names, arena, 16))
		return false;
	for (int32_t i = 0; i < group->member_count; i++) {
		const rg_group_member *member = &group->members[order[i]];
		int32_t *ret = &c->member_classes[order[i]];
		struct rg__bytes key;

		/* Mostly it is the class of the member before. */
		if (last >= 0 && group->members[last].topic_count == member->topic_count &&
		    (!weights || weights[last] == weights[order[i]]) &&
		    (!member->topic_count || !memcmp(group->members[last].topics, member->topics,
		                                     (size_t)member->topic_count * sizeof(*member->topics)))) {
			*ret = c->member_classes[last];
			continue;
		}
		if (!member_key(arena, member, weights ? &weights[order[i]] : NULL, &key))
			return false;
		*ret = rg__names_find(&names, key);
		if (*ret == RG__NO_NAME) {
			*ret = c->member_class_count++;
			if (!rg__names_add(&names, key, *ret))
				return false;
		}
		last = order[i];
	}
	return true;
}

/* Items sorted by their class: starts and lists, in the order given. */
static bool sort_by_class(struct rg__arena *arena, const int32_t *classes, const int32_t *order, int32_t count,
                          int32_t class_count, int32_t **ret_starts, int32_t **ret_items)
{
	int32_t *starts = rg__arena_calloc(arena, (size_t)class_count + 2, sizeof(*starts));
	int32_t *items = rg__arena_calloc(arena, (size_t)count, sizeof(*items));

	if (!starts || !items)
		return false;
	for (int32_t i = 0; i < count; i++)
		starts[classes[i] + 2]++;
	for (int32_t k = 0; k < class_count; k++)
		starts[k + 2] += starts[k + 1];
	for (int32_t i = 0; i < count; i++) {
		int32_t item = order ? order[i] : i;

		items[starts[classes[item] + 1]++] = item;
	}
	*ret_starts = starts;
	*ret_items = items;
	return true;
}

/* The member classes of each topic, as starts and a list. One member speaks for its class. */
static bool link_topics(const struct rg__classes *c, struct rg__arena *arena, const rg_group *group,
                        int64_t **ret_starts, int32_t **ret_links)
{
	int64_t *starts = rg__arena_calloc(arena, (size_t)group->topic_count + 2, sizeof(*starts));

	if (!starts)
		return false;
	for (int32_t k = 0; k < c->member_class_count; k++) {
		const rg_group_member *member = &group->members[c->members[c->member_starts[k]]];

		for (int32_t i = 0; i < member->topic_count; i++)
			starts[member->topics[i] + 2]++;
	}
	for (int32_t t = 0; t < group->topic_count; t++)
		starts[t + 2] += starts[t + 1];
	int32_t *links = rg__arena_calloc(arena, (size_t)starts[group->topic_count + 1], sizeof(*links));

	if (!links)
		return false;
	for (int32_t k = 0; k < c->member_class_count; k++) {
		const rg_group_member *member = &group->members[c->members[c->member_starts[k]]];

		for (int32_t i = 0; i < member->topic_count; i++)
			links[starts[member->topics[i] + 1]++] = k;
	}
	*ret_starts = starts;
	*ret_links = links;
	return true;
}

static bool class_topics(struct rg__classes *c, struct rg__arena *arena, const rg_group *group)
{
	struct rg__names names;
	int64_t *starts, total = 0;
	int32_t *links;

	if (!rg__names_init(&names, arena, 16) || !link_topics(c, arena, group, &starts, &links))
		return false;
	for (int32_t t = 0; t < group->topic_count; t++) {
		struct rg__bytes key = {(const uint8_t *)(links + starts[t]), (size_t)(starts[t + 1] - starts[t]) * sizeof(*links)};
		int32_t *ret = &c->topic_classes[t];

		*ret = rg__names_find(&names, key);
		if (*ret != RG__NO_NAME)
			continue;
		*ret = c->topic_class_count++;
		if (!rg__names_add(&names, key, *ret))
			return false;
		total += starts[t + 1] - starts[t];
	}
	/* The links of each class are those of its first topic. */
	c->link_starts = rg__arena_calloc(arena, (size_t)c->topic_class_count + 1, sizeof(*c->link_starts));
	c->links = rg__arena_calloc(arena, (size_t)total, sizeof(*c->links));
	if (!c->link_starts || !c->links)
		return false;
	for (int32_t t = 0, next = 0; t < group->topic_count; t++) {
		int64_t count = starts[t + 1] - starts[t];

		if (c->topic_classes[t] != next)
			continue;
		memcpy(c->links + c->link_starts[next], links + starts[t], (size_t)count * sizeof(*links));
		c->link_starts[next + 1] = c->link_starts[next] + count;
		next++;
	}
	return true;
}

bool rg__classes_init(struct rg__classes *c, struct rg__arena *arena, const rg_group *group, const int32_t *order,
                      const int32_t *weights)
{
	size_t members = (size_t)group->member_count;

	*c = (struct rg__classes){0};
	c->member_classes = rg__arena_calloc(arena, members, sizeof(*c->member_classes));
	c->places = rg__arena_calloc(arena, members, sizeof(*c->places));
	c->topic_classes = rg__arena_calloc(arena, (size_t)group->topic_count, sizeof(*c->topic_classes));
	if (!c->member_classes || !c->places || !c->topic_classes || !class_members(c, arena, group, order, weights) ||
	    !sort_by_class(arena, c->member_classes, order, group->member_count, c->member_class_count, &c->member_starts,
	                   &c->members) ||
	    !class_topics(c, arena, group) ||
	    !sort_by_class(arena, c->topic_classes, NULL, group->topic_count, c->topic_class_count, &c->topic_starts,
	                   &c->topics))
		return false;
	for (int32_t k = 0; k < c->member_class_count; k++)
		for (int32_t i = c->member_starts[k]; i < c->member_starts[k + 1]; i++)
			c->places[c->members[i]] = i - c->member_starts[k];
	return true;
}
