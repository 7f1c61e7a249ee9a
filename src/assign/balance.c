/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/balance.h"

#include "assign/block.h"
#include "assign/order.h"
#include "assign/racks.h"
#include "assign/spread.h"
#include "base/alloc.h"

/* What a topic class has to share out in all. */
static int64_t *count_supplies(const struct rg_plan *plan, const struct rg__classes *classes, struct rg__arena *arena)
{
	int64_t *supplies = rg__arena_calloc(arena, (size_t)classes->topic_class_count, sizeof(*supplies));

	for (int32_t t = 0; supplies && t < plan->group->topic_count; t++)
		supplies[classes->topic_classes[t]] += plan->group->topics[t].partition_count;
	return supplies;
}

/* The weights of member classes; all members of a class have the same. */
static bool class_weights(const struct rg__balance *in, const struct rg__classes *classes, struct rg__arena *arena,
                          int32_t **ret)
{
	*ret = NULL;
	if (!in->weights)
		return true;
	*ret = rg__arena_calloc(arena, (size_t)classes->member_class_count, sizeof(**ret));
	for (int32_t k = 0; *ret && k < classes->member_class_count; k++)
		(*ret)[k] = in->weights[classes->members[classes->member_starts[k]]];
	return *ret != NULL;
}

static bool share_blocks(struct rg__block *block, struct rg_plan *plan, const struct rg__spread_room *room)
{
	for (int32_t i = 0; i < block->levels->block_count; i++) {
		struct rg__arena arena = {0};

		block->number = i;
		bool ok = rg__block_solve(block, &arena) && rg__spread(block, plan, room, &arena);

		rg__arena_clear(&arena);
		if (!ok)
			return false;
	}
	return true;
}

static bool share(const struct rg__balance *in, struct rg_plan *plan, const int32_t *order,
                  const struct rg__racks *racks, struct rg__arena *arena)
{
	struct rg__classes classes;
	struct rg__levels levels;
	struct rg__kinds kinds;
	struct rg__block block = {.owners = in->owners, .racks = racks, .classes = &classes, .levels = &levels,
	                          .kinds = &kinds, .plan = plan};
	struct rg__spread_room room;
	int64_t *supplies;
	int32_t *weights;

	if (!rg__classes_init(&classes, arena, in->group, order, in->weights))
		return false;
	supplies = count_supplies(plan, &classes, arena);
	if (!supplies || !class_weights(in, &classes, arena, &weights) ||
	    !rg__levels_init(&levels, arena, &classes, supplies, weights) ||
	    !rg__kinds_init(&kinds, arena, plan, &classes, &levels, racks))
		return false;
	block.link_offsets = rg__arena_calloc(arena, (size_t)classes.link_starts[classes.topic_class_count],
	                                      sizeof(*block.link_offsets));
	return block.link_offsets && rg__spread_room_init(&room, arena, plan) && share_blocks(&block, plan, &room);
}

bool rg__balance(const struct rg__balance *in, struct rg_plan *plan)
{
	struct rg__arena arena = {0};
	struct rg__racks racks = {0};
	int32_t *order = rg__member_order(in->group);
	bool ok = order != NULL, matter = false;

	if (ok && rg__racks_wanted(in->group)) {
		ok = rg__racks_init(&racks, in->group, plan);
		matter = ok && rg__racks_matter(&racks, 0, plan->partition_count, order, in->group->member_count);
	}
	ok = ok && share(in, plan, order, matter ? &racks : NULL, &arena);
	rg__arena_clear(&arena);
	rg__racks_free(&racks);
	rg__free(order);
	return ok;
}
