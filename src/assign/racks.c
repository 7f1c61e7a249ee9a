/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/racks.h"

#include "assign/names.h"

#include <string.h>

struct build {
	struct rg__racks *racks;
	struct rg__names names, sets; /* rack names; rack sets, named by the bytes of their rack numbers */
	struct {
		const char *name;
		int32_t rack;
	} recent[64]; /* by address: most partitions share their rack names, and hashing a million names takes time */
	struct {
		const char *names[4];
		int32_t count, set;
	} recent_sets[256]; /* by the addresses of their names */
	int32_t *scratch;
	int32_t scratch_size, set_room;
};

bool rg__racks_wanted(const rg_group *group)
{
	for (int32_t m = 0; m < group->member_count; m++)
		if (group->members[m].rack)
			return true;
	return false;
}

static bool rack_of(struct build *b, const char *name, int32_t *ret)
{
	size_t place = ((uintptr_t)name >> 4) % (sizeof(b->recent) / sizeof(b->recent[0]));

	if (b->recent[place].name != name) {
		struct rg__bytes view = rg__bytes_of(name);
		int32_t rack = rg__names_find(&b->names, view);

		if (rack == RG__NO_NAME) {
			rack = b->racks->rack_count++;
			if (!rg__names_add(&b->names, view, rack))
				return false;
		}
		b->recent[place].name = name;
		b->recent[place].rack = rack;
	}
	*ret = b->recent[place].rack;
	return true;
}

/* A partition has a handful of replicas: sorted by insertion, each rack once. Returns how many there are. */
static int32_t sort_racks(int32_t *racks, int32_t count)
{
	int32_t kept = 0;

	for (int32_t i = 0; i < count; i++) {
		int32_t rack = racks[i], at = kept;

		while (at > 0 && racks[at - 1] > rack)
			at--;
		if (at > 0 && racks[at - 1] == rack)
			continue;
		memmove(racks + at + 1, racks + at, (size_t)(kept - at) * sizeof(*racks));
		racks[at] = rack;
		kept++;
	}
	return kept;
}

static bool add_set(struct build *b, int32_t count)
{
	struct rg__racks *racks = b->racks;
	size_t len = (size_t)count * sizeof(*b->scratch);
	char *copy = rg__arena_copy(&racks->arena, b->scratch, len);

	if (racks->set_count == b->set_room) {
		int32_t room = b->set_room ? 2 * b->set_room : 16;
		struct rg__rack_set *larger = rg__arena_calloc(&racks->arena, (size_t)room, sizeof(*larger));

		if (!larger)
			return false;
		if (racks->set_count)
			memcpy(larger, racks->items, (size_t)racks->set_count * sizeof(*larger));
		racks->items = larger;
		b->set_room = room;
	}
	if (!copy || !rg__names_add(&b->sets, (struct rg__bytes){(const uint8_t *)copy, len}, racks->set_count))
		return false;
	racks->items[racks->set_count++] = (struct rg__rack_set){(const int32_t *)(const void *)copy, count};
	return true;
}

/* The set of one partition; the same number for the same racks. */
static bool find_set(struct build *b, const char *const *names, int32_t count, int32_t *ret)
{
	int32_t unique;

	if (count > b->scratch_size) {
		b->scratch = rg__arena_calloc(&b->racks->arena, (size_t)count, sizeof(*b->scratch));
		if (!b->scratch)
			return false;
		b->scratch_size = count;
	}
	for (int32_t i = 0; i < count; i++)
		if (!rack_of(b, names[i], &b->scratch[i]))
			return false;
	unique = sort_racks(b->scratch, count);
	struct rg__bytes key = {(const uint8_t *)b->scratch, (size_t)unique * sizeof(*b->scratch)};

	*ret = rg__names_find(&b->sets, key);
	if (*ret != RG__NO_NAME)
		return true;
	*ret = b->racks->set_count;
	return add_set(b, unique);
}

/* The same, but quick for names that were seen lately at the same addresses. */
static bool set_of(struct build *b, const char *const *names, int32_t count, int32_t *ret)
{
	uint64_t hash = (uint64_t)count;
	bool same;

	if (count < 0 || count > (int32_t)(sizeof(b->recent_sets[0].names) / sizeof(b->recent_sets[0].names[0])))
		return find_set(b, names, count, ret);
	for (int32_t i = 0; i < count; i++)
		hash = (hash ^ (uintptr_t)names[i]) * 0x9e3779b97f4a7c15u;
	size_t place = (hash >> 32) % (sizeof(b->recent_sets) / sizeof(b->recent_sets[0]));

	same = b->recent_sets[place].count == count + 1;
	for (int32_t i = 0; i < count && same; i++)
		same = b->recent_sets[place].names[i] == names[i];
	if (same) {
		*ret = b->recent_sets[place].set;
		return true;
	}
	if (!find_set(b, names, count, ret))
		return false;
	for (int32_t i = 0; i < count; i++)
		b->recent_sets[place].names[i] = names[i];
	b->recent_sets[place].count = count + 1;
	b->recent_sets[place].set = *ret;
	return true;
}

static bool build_sets(struct build *b, const rg_group *group, const struct rg_plan *plan)
{
	for (int32_t t = 0; t < group->topic_count; t++) {
		const rg_group_topic *topic = &group->topics[t];

		for (int32_t p = 0; p < topic->partition_count; p++)
			if (!set_of(b, topic->racks ? topic->racks[p] : NULL, topic->racks ? topic->rack_counts[p] : 0,
			            &b->racks->sets[plan->offsets[t] + p]))
				return false;
	}
	return true;
}

bool rg__racks_init(struct rg__racks *racks, const rg_group *group, const struct rg_plan *plan)
{
	struct build b = {.racks = racks};

	*racks = (struct rg__racks){0};
	racks->member_racks = rg__arena_calloc(&racks->arena, (size_t)group->member_count, sizeof(*racks->member_racks));
	racks->sets = rg__arena_calloc(&racks->arena, (size_t)plan->partition_count, sizeof(*racks->sets));
	b.scratch_size = 16;
	b.scratch = rg__arena_calloc(&racks->arena, 16, sizeof(*b.scratch));
	if (!racks->member_racks || !racks->sets || !b.scratch || !rg__names_init(&b.names, &racks->arena, 16) ||
	    !rg__names_init(&b.sets, &racks->arena, 64))
		return false;
	for (int32_t m = 0; m < group->member_count; m++) {
		racks->member_racks[m] = RG__NO_RACK;
		if (group->members[m].rack && !rack_of(&b, group->members[m].rack, &racks->member_racks[m]))
			return false;
	}
	if (!build_sets(&b, group, plan))
		return false;
	racks->stamps = rg__arena_calloc(&racks->arena, (size_t)racks->rack_count, sizeof(*racks->stamps));
	return racks->stamps != NULL;
}

void rg__racks_free(struct rg__racks *racks)
{
	rg__arena_clear(&racks->arena);
	*racks = (struct rg__racks){0};
}

bool rg__racks_match(const struct rg__racks *racks, int32_t member, int32_t set)
{
	int32_t rack = racks->member_racks[member];

	if (rack == RG__NO_RACK)
		return true;
	for (int32_t i = 0; i < racks->items[set].count; i++)
		if (racks->items[set].racks[i] == rack)
			return true;
	return false;
}

bool rg__racks_matter(struct rg__racks *racks, int32_t first, int32_t end, const int32_t *members, int64_t count)
{
	bool differ = false;

	for (int32_t i = first + 1; i < end && !differ; i++)
		differ = racks->sets[i] != racks->sets[first];
	if (!differ)
		return false;
	racks->stamp++;
	for (int64_t m = 0; m < count; m++)
		if (racks->member_racks[members[m]] != RG__NO_RACK)
			racks->stamps[racks->member_racks[members[m]]] = racks->stamp;
	for (int32_t i = first; i < end; i++)
		for (int32_t k = 0; k < racks->items[racks->sets[i]].count; k++)
			if (racks->stamps[racks->items[racks->sets[i]].racks[k]] == racks->stamp)
				return true;
	return false;
}
