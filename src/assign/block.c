/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/block.h"

static int32_t class_size(const struct rg__block *b, int32_t class)
{
	return b->classes->member_starts[class + 1] - b->classes->member_starts[class];
}

/* Lists the block's members as rights, class by class; bases[class] is where a class begins. */
static bool list_members(struct rg__block *b, struct rg__arena *arena, int32_t *bases)
{
	const struct rg__levels *levels = b->levels;
	struct rg__transport *t = &b->transport;
	unsigned char *optional;
	int32_t count = 0;

	for (int32_t i = levels->member_starts[b->number]; i < levels->member_starts[b->number + 1]; i++) {
		bases[levels->member_order[i]] = count;
		count += class_size(b, levels->member_order[i]);
	}
	t->right_count = count;
	t->extra = levels->extras[b->number];
	b->members = rg__arena_calloc(arena, (size_t)count, sizeof(*b->members));
	t->limits = rg__arena_calloc(arena, (size_t)count, sizeof(*t->limits));
	t->optional = optional = rg__arena_calloc(arena, (size_t)count, 1);
	if (!b->members || !t->limits || !optional)
		return false;
	for (int32_t i = levels->member_starts[b->number]; i < levels->member_starts[b->number + 1]; i++) {
		int32_t class = levels->member_order[i];

		for (int32_t k = 0; k < class_size(b, class); k++) {
			b->members[bases[class] + k] = b->classes->members[b->classes->member_starts[class] + k];
			t->limits[bases[class] + k] = levels->limits[class];
			optional[bases[class] + k] = levels->optional[class];
		}
	}
	return true;
}

/* Notes where each linked member class begins among a topic class's arcs; how many arcs there are. */
static int32_t offset_links(struct rg__block *b, int32_t topic_class)
{
	int32_t count = 0;

	for (int64_t k = b->classes->link_starts[topic_class]; k < b->classes->link_starts[topic_class + 1]; k++) {
		bool here = b->levels->member_blocks[b->classes->links[k]] == b->number;

		b->link_offsets[k] = here ? count : -1;
		count += here ? class_size(b, b->classes->links[k]) : 0;
	}
	return count;
}

/* Fills in the arcs of one kind, from `at` on. */
static int64_t fill_arcs(const struct rg__block *b, const struct rg__kind *kind, const int32_t *bases, int32_t *rights,
                         unsigned char *mismatches, int64_t at)
{
	for (int64_t k = b->classes->link_starts[kind->topic_class]; k < b->classes->link_starts[kind->topic_class + 1]; k++) {
		int32_t class = b->classes->links[k];

		if (b->link_offsets[k] < 0)
			continue;
		for (int32_t i = 0; i < class_size(b, class); i++, at++) {
			rights[at] = bases[class] + i;
			if (mismatches)
				mismatches[at] = !rg__racks_match(b->racks, b->members[rights[at]], kind->set);
		}
	}
	return at;
}

static bool list_arcs(struct rg__block *b, struct rg__arena *arena, const int32_t *bases)
{
	struct rg__transport *t = &b->transport;
	int32_t first = b->levels->topic_starts[b->number], end = b->levels->topic_starts[b->number + 1];
	int64_t arcs = 0;

	b->first_kind = b->kinds->starts[first];
	t->left_count = b->kinds->starts[end] - b->first_kind;
	int64_t *starts = rg__arena_calloc(arena, (size_t)t->left_count + 1, sizeof(*starts));

	t->supplies = rg__arena_calloc(arena, (size_t)t->left_count, sizeof(*t->supplies));
	if (!starts || !t->supplies)
		return false;
	for (int32_t i = first; i < end; i++) {
		int32_t count = offset_links(b, b->levels->topic_order[i]);

		for (int32_t k = b->kinds->starts[i]; k < b->kinds->starts[i + 1]; k++) {
			arcs += count;
			starts[k - b->first_kind + 1] = arcs;
			t->supplies[k - b->first_kind] = b->kinds->items[k].supply;
		}
	}
	int32_t *rights = rg__arena_calloc(arena, (size_t)arcs, sizeof(*rights));
	int32_t *keep_caps = rg__arena_calloc(arena, (size_t)arcs, sizeof(*keep_caps));
	unsigned char *mismatches = b->racks ? rg__arena_calloc(arena, (size_t)arcs, 1) : NULL;

	if (!rights || !keep_caps || (b->racks && !mismatches))
		return false;
	arcs = 0;
	for (int32_t k = 0; k < t->left_count; k++)
		arcs = fill_arcs(b, &b->kinds->items[b->first_kind + k], bases, rights, mismatches, arcs);
	t->arc_starts = starts;
	t->arc_rights = rights;
	t->keep_caps = keep_caps;
	t->mismatches = mismatches;
	return true;
}

int64_t rg__block_arc(const struct rg__block *b, int32_t kind, int32_t member)
{
	int32_t class = b->classes->member_classes[member], topic_class = b->kinds->items[kind].topic_class;
	int64_t low = b->classes->link_starts[topic_class], high = b->classes->link_starts[topic_class + 1];

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (b->classes->links[middle] <= class)
			low = middle;
		else
			high = middle;
	}
	if (b->link_offsets[low] < 0 || b->classes->links[low] != class)
		return -1;
	return b->transport.arc_starts[kind - b->first_kind] + b->link_offsets[low] + b->classes->places[member];
}

/* Counts what members own, as what they may keep. */
static void count_owned(struct rg__block *b, int32_t *keep_caps)
{
	const struct rg__classes *c = b->classes;

	for (int32_t i = b->levels->topic_starts[b->number]; i < b->levels->topic_starts[b->number + 1]; i++)
		for (int32_t k = c->topic_starts[b->levels->topic_order[i]]; k < c->topic_starts[b->levels->topic_order[i] + 1]; k++)
			for (int32_t f = b->plan->offsets[c->topics[k]]; f < b->plan->offsets[c->topics[k] + 1]; f++) {
				int64_t arc = b->owners[f] == RG__NOBODY ? -1 : rg__block_arc(b, b->kinds->of[f], b->owners[f]);

				if (arc >= 0)
					keep_caps[arc]++;
			}
}

bool rg__block_solve(struct rg__block *b, struct rg__arena *arena)
{
	int32_t *bases = rg__arena_calloc(arena, (size_t)b->classes->member_class_count, sizeof(*bases));

	b->transport = (struct rg__transport){0};
	if (!bases || !list_members(b, arena, bases) || !list_arcs(b, arena, bases))
		return false;
	count_owned(b, (int32_t *)(uintptr_t)b->transport.keep_caps);
	if (!rg__transport_init(&b->transport, arena))
		return false;
	rg__transport_solve(&b->transport);
	return true;
}
