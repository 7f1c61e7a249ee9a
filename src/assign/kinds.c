/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/kinds.h"

#include <string.h>

struct numbering {
	struct rg__kinds *kinds;
	struct rg__arena *arena;
	const struct rg_plan *plan;
	const struct rg__racks *racks;
	int32_t *kind_of_set, *class_of_set; /* of the topic class at hand: whether a set was seen in it, and its kind */
	int32_t room;
};

static bool add(struct numbering *n, int32_t class, int32_t set)
{
	struct rg__kinds *kinds = n->kinds;

	if (kinds->count == n->room) {
		int32_t room = n->room ? 2 * n->room : 16;
		struct rg__kind *larger = rg__arena_calloc(n->arena, (size_t)room, sizeof(*larger));

		if (!larger)
			return false;
		if (kinds->count)
			memcpy(larger, kinds->items, (size_t)kinds->count * sizeof(*larger));
		kinds->items = larger;
		n->room = room;
	}
	kinds->items[kinds->count++] = (struct rg__kind){class, set, 0};
	return true;
}

static bool number_topic(struct numbering *n, int32_t class, int32_t topic)
{
	struct rg__kinds *kinds = n->kinds;

	for (int32_t flat = n->plan->offsets[topic]; flat < n->plan->offsets[topic + 1]; flat++) {
		int32_t kind = kinds->count - 1;

		if (n->racks) {
			int32_t set = n->racks->sets[flat];

			if (n->class_of_set[set] != class) {
				n->class_of_set[set] = class;
				n->kind_of_set[set] = kinds->count;
				if (!add(n, class, set))
					return false;
			}
			kind = n->kind_of_set[set];
		}
		kinds->of[flat] = kind;
		kinds->items[kind].supply++;
	}
	return true;
}

bool rg__kinds_init(struct rg__kinds *kinds, struct rg__arena *arena, const struct rg_plan *plan,
                    const struct rg__classes *classes, const struct rg__levels *levels, const struct rg__racks *racks)
{
	struct numbering n = {.kinds = kinds, .arena = arena, .plan = plan, .racks = racks};
	size_t sets = racks ? (size_t)racks->set_count : 0;

	*kinds = (struct rg__kinds){0};
	kinds->of = rg__arena_calloc(arena, (size_t)plan->partition_count, sizeof(*kinds->of));
	kinds->starts = rg__arena_calloc(arena, (size_t)levels->topic_count + 1, sizeof(*kinds->starts));
	n.kind_of_set = rg__arena_calloc(arena, sets, sizeof(*n.kind_of_set));
	n.class_of_set = rg__arena_calloc(arena, sets, sizeof(*n.class_of_set));
	if (!kinds->of || !kinds->starts || !n.kind_of_set || !n.class_of_set)
		return false;
	memset(n.class_of_set, -1, sets * sizeof(*n.class_of_set));
	for (int32_t i = 0; i < levels->topic_count; i++) {
		int32_t class = levels->topic_order[i];

		kinds->starts[i] = kinds->count;
		if (!racks && !add(&n, class, -1))
			return false;
		for (int32_t k = classes->topic_starts[class]; k < classes->topic_starts[class + 1]; k++)
			if (!number_topic(&n, class, classes->topics[k]))
				return false;
	}
	kinds->starts[levels->topic_count] = kinds->count;
	return true;
}
