/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/view.h"

#include "assign/names.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* What is needed while building, freed in one go afterwards. */
struct build {
	struct rg__view *view;
	const struct rg__member_input *inputs;
	const struct rg__topic_input *cluster;
	int32_t cluster_count;
	struct rg__arena scratch;
	struct rg__names names;  /* cluster topics by name, the first of each name */
	int32_t *index_of;       /* cluster topic -> topic of the view, RG__NO_NAME when nobody subscribes */
	const int32_t *previous; /* the cluster topics the member before subscribed to, as it listed them */
	int32_t previous_count;
	const char *racks[64]; /* rack names seen so far: a cluster has few, and a million partitions name them */
	int32_t rack_count;
};

enum { RACKS_MAX = (int)(sizeof(((struct build *)0)->racks) / sizeof(const char *)) };

static int compare_members(const void *a, const void *b, void *inputs)
{
	const struct rg__member_input *in = inputs;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	int order = rg__bytes_compare(in[x].member_id, in[y].member_id);

	return order ? order : (x > y) - (x < y);
}

static int compare_topics(const void *a, const void *b, void *cluster)
{
	const struct rg__topic_input *in = cluster;

	return rg__bytes_compare(in[*(const int32_t *)a].name, in[*(const int32_t *)b].name);
}

static int compare_indexes(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int compare_partitions(const void *a, const void *b)
{
	const rg_group_partition *x = a, *y = b;
	int order = (x->topic > y->topic) - (x->topic < y->topic);

	return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

/* The members in order of their ids, without those whose id was there before. */
static int32_t *sort_members(struct build *b, int32_t count, int32_t *ret_kept)
{
	int32_t *order = rg__arena_calloc(&b->view->arena, (size_t)count, sizeof(*order)), kept = 0;

	if (!order)
		return NULL;
	for (int32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, (size_t)count, sizeof(*order), compare_members, (void *)(uintptr_t)b->inputs);
	for (int32_t i = 0; i < count; i++)
		if (!kept || !rg__bytes_equal(b->inputs[order[i]].member_id, b->inputs[order[kept - 1]].member_id))
			order[kept++] = order[i];
	*ret_kept = kept;
	return order;
}

/* Finds a name a member listed at place i. Members mostly list the same topics in the same order, so the name is first
 * compared with what the member before had there. */
static int32_t find_topic(const struct build *b, struct rg__bytes name, int32_t i)
{
	if (i < b->previous_count && b->previous[i] != RG__NO_NAME &&
	    rg__bytes_equal(b->cluster[b->previous[i]].name, name))
		return b->previous[i];
	return rg__names_find(&b->names, name);
}

/* Each member's topics as places in the cluster's list, in the member's order; marks those that somebody subscribes
 * to. */
static bool resolve_topics(struct build *b, int32_t **found, const int32_t *order, int32_t count)
{
	for (int32_t m = 0; m < count; m++) {
		const struct rg__member_input *in = &b->inputs[order[m]];

		found[m] = rg__arena_calloc(&b->view->arena, (size_t)in->topic_count, sizeof(**found));
		if (!found[m])
			return false;
		for (int32_t i = 0; i < in->topic_count; i++) {
			int32_t at = find_topic(b, in->topics[i], i);

			if (at != RG__NO_NAME && b->cluster[at].partition_count <= 0)
				at = RG__NO_NAME;
			found[m][i] = at;
			if (at != RG__NO_NAME)
				b->index_of[at] = 0;
		}
		b->previous = found[m];
		b->previous_count = in->topic_count;
	}
	return true;
}

/* A copy of a rack's name, one for all partitions that name it; NULL when out of memory. */
static const char *rack_name(struct build *b, struct rg__bytes name)
{
	for (int32_t i = 0; i < b->rack_count; i++)
		if (rg__bytes_is(name, b->racks[i]))
			return b->racks[i];
	const char *copy = rg__arena_copy(&b->view->arena, name.data, name.len);

	if (copy && b->rack_count < RACKS_MAX)
		b->racks[b->rack_count++] = copy;
	return copy;
}

static bool copy_racks(struct build *b, const struct rg__topic_input *in, rg_group_topic *topic)
{
	struct rg__arena *arena = &b->view->arena;
	size_t count = (size_t)in->partition_count;
	const char ***racks = rg__arena_calloc(arena, count, sizeof(*racks));
	int32_t *rack_counts = rg__arena_calloc(arena, count, sizeof(*rack_counts));

	if (!racks || !rack_counts)
		return false;
	for (size_t p = 0; p < count; p++) {
		const struct rg__racks_input *from = &in->racks[p];

		racks[p] = rg__arena_calloc(arena, (size_t)from->count, sizeof(**racks));
		if (!racks[p])
			return false;
		for (int32_t i = 0; i < from->count; i++) {
			if (!from->names[i].len)
				continue;
			racks[p][rack_counts[p]] = rack_name(b, from->names[i]);
			if (!racks[p][rack_counts[p]++])
				return false;
		}
	}
	topic->racks = (const char *const *const *)racks;
	topic->rack_counts = rack_counts;
	return true;
}

/* The topics of the view: those somebody subscribes to, by name. */
static rg_err build_topics(struct build *b, rg_error *error)
{
	struct rg__arena *arena = &b->view->arena;
	int32_t *order = rg__arena_calloc(&b->scratch, (size_t)b->cluster_count, sizeof(*order)), count = 0;
	int64_t partitions = 0;

	if (!order)
		return RG_ERR_MEMORY;
	for (int32_t i = 0; i < b->cluster_count; i++)
		if (b->index_of[i] != RG__NO_NAME)
			order[count++] = i;
	qsort_r(order, (size_t)count, sizeof(*order), compare_topics, (void *)(uintptr_t)b->cluster);
	rg_group_topic *topics = rg__arena_calloc(arena, (size_t)count, sizeof(*topics));

	if (!topics)
		return RG_ERR_MEMORY;
	for (int32_t t = 0; t < count; t++) {
		const struct rg__topic_input *in = &b->cluster[order[t]];

		b->index_of[order[t]] = t;
		partitions += in->partition_count;
		topics[t].partition_count = in->partition_count;
		topics[t].name = rg__arena_copy(arena, in->name.data, in->name.len);
		if (!topics[t].name || (in->racks && !copy_racks(b, in, &topics[t])))
			return RG_ERR_MEMORY;
	}
	if (partitions > INT32_MAX)
		return rg__fail(error, RG_ERR_INVALID, "the group's topics have %lld partitions, more than can be assigned",
		                (long long)partitions);
	b->view->group.topics = topics;
	b->view->group.topic_count = count;
	return RG_OK;
}

/* Turns places in the cluster's list into ascending indexes of the view, each once; in place. */
static int32_t to_indexes(const struct build *b, int32_t *list, int32_t count)
{
	int32_t kept = 0, unique = 0;
	bool ascending = true;

	for (int32_t i = 0; i < count; i++) {
		if (list[i] == RG__NO_NAME)
			continue;
		list[kept] = b->index_of[list[i]];
		ascending = ascending && (!kept || list[kept - 1] < list[kept]);
		kept++;
	}
	if (ascending)
		return kept;
	qsort(list, (size_t)kept, sizeof(*list), compare_indexes);
	for (int32_t i = 0; i < kept; i++)
		if (!unique || list[unique - 1] != list[i])
			list[unique++] = list[i];
	return unique;
}

static int64_t claim_count(const struct rg__member_input *in)
{
	int64_t count = 0;

	for (int32_t i = 0; i < in->owned_count; i++)
		count += in->owned[i].count;
	return count;
}

static bool build_owned(struct build *b, const struct rg__member_input *in, rg_group_member *member)
{
	int64_t claims = claim_count(in);
	rg_group_partition *owned = rg__arena_calloc(&b->view->arena, (size_t)claims, sizeof(*owned));
	int32_t kept = 0, unique = 0;

	if (!owned || claims > INT32_MAX)
		return false;
	for (int32_t i = 0; i < in->owned_count; i++) {
		int32_t at = rg__names_find(&b->names, in->owned[i].topic);
		int32_t topic = at == RG__NO_NAME ? RG__NO_NAME : b->index_of[at];

		for (int32_t k = 0; topic != RG__NO_NAME && k < in->owned[i].count; k++) {
			int32_t partition = in->owned[i].partitions[k];

			if (partition >= 0 && partition < b->cluster[at].partition_count)
				owned[kept++] = (rg_group_partition){topic, partition};
		}
	}
	for (int32_t i = 1; i < kept; i++)
		if (compare_partitions(&owned[i - 1], &owned[i]) > 0) {
			qsort(owned, (size_t)kept, sizeof(*owned), compare_partitions);
			break;
		}
	for (int32_t i = 0; i < kept; i++)
		if (!unique || compare_partitions(&owned[unique - 1], &owned[i]))
			owned[unique++] = owned[i];
	member->owned = owned;
	member->owned_count = unique;
	b->view->dropped_claims += claims - unique;
	return true;
}

static bool copy_text(struct rg__arena *arena, struct rg__bytes from, const char **ret)
{
	if (!from.len)
		return true;
	return (*ret = rg__arena_copy(arena, from.data, from.len)) != NULL;
}

static bool build_member(struct build *b, int32_t input, int32_t *topics, rg_group_member *member)
{
	const struct rg__member_input *in = &b->inputs[input];
	struct rg__arena *arena = &b->view->arena;

	member->member_id = "";
	if (!copy_text(arena, in->member_id, &member->member_id) || !copy_text(arena, in->instance_id, &member->instance_id) ||
	    !copy_text(arena, in->rack, &member->rack))
		return false;
	member->topics = topics;
	member->topic_count = to_indexes(b, topics, in->topic_count);
	member->generation = in->generation;
	member->userdata = (rg_bytes){in->userdata.data, in->userdata.len};
	return build_owned(b, in, member);
}

static rg_err build_all(struct build *b, int32_t member_count, rg_error *error)
{
	struct rg__view *view = b->view;
	int32_t kept, *order = sort_members(b, member_count, &kept);
	int32_t **found = rg__arena_calloc(&b->scratch, (size_t)member_count, sizeof(*found));
	rg_group_member *members = rg__arena_calloc(&view->arena, (size_t)member_count, sizeof(*members));
	rg_err err;

	b->index_of = rg__arena_calloc(&b->scratch, (size_t)b->cluster_count, sizeof(*b->index_of));
	if (!order || !found || !members || !b->index_of || !rg__names_init(&b->names, &b->scratch, b->cluster_count))
		return RG_ERR_MEMORY;
	for (int32_t i = 0; i < b->cluster_count; i++) {
		b->index_of[i] = RG__NO_NAME;
		if (!rg__names_add(&b->names, b->cluster[i].name, i))
			return RG_ERR_MEMORY;
	}
	if (!resolve_topics(b, found, order, kept))
		return RG_ERR_MEMORY;
	err = build_topics(b, error);
	for (int32_t m = 0; m < kept && !err; m++)
		if (!build_member(b, order[m], found[m], &members[m]))
			err = RG_ERR_MEMORY;
	view->sources = order;
	view->dropped_members = member_count - kept;
	view->group.members = members;
	view->group.member_count = kept;
	return err;
}

rg_err rg__view_build(struct rg__view *view, const struct rg__member_input *members, int32_t member_count,
                      const struct rg__topic_input *topics, int32_t topic_count, int32_t generation, rg_error *error)
{
	struct build b = {.view = view, .inputs = members, .cluster = topics, .cluster_count = topic_count};

	*view = (struct rg__view){.group = {.size = sizeof(rg_group), .generation = generation}};
	rg_err err = build_all(&b, member_count, error);

	rg__arena_clear(&b.scratch);
	if (err == RG_ERR_MEMORY)
		return rg__fail(error, err, "out of memory while preparing the group for its assignor");
	return err;
}

void rg__view_free(struct rg__view *view)
{
	rg__arena_clear(&view->arena);
	*view = (struct rg__view){0};
}
