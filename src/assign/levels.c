/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/levels.h"

#include "assign/transport.h"

#include <stdlib.h>
#include <string.h>

/* A part of the group that is still to be levelled: member classes members[0 … member_count - 1] and topic classes. */
struct part {
	int32_t *members, *topics;
	int32_t member_count, topic_count;
};

struct levelling {
	struct rg__levels *levels;
	const struct rg__classes *classes;
	const int64_t *supplies;
	const int32_t *weights;
	int32_t *local;      /* by member class: its index in the part at hand, -1 outside */
	int32_t *spare;      /* room to split a part */
	struct part *parts;  /* a stack; parts are disjoint, so there are never more than member classes, and one */
	int32_t part_count;
};

/* The price of the k-th partition of a member with weight w is (2k - 1) / w, as that is what it adds to load² /
 * weight. */
struct price {
	int64_t up, down;
	int64_t members; /* how many take one at exactly this price */
};

static int64_t weight(const struct levelling *v, int32_t class)
{
	return v->weights ? v->weights[class] : 1;
}

static int64_t size(const struct levelling *v, int32_t class)
{
	return v->classes->member_starts[class + 1] - v->classes->member_starts[class];
}

/* How many partitions a member with weight w takes before the price goes above up / down. */
static int64_t demand(int64_t w, int64_t up, int64_t down)
{
	return (up * w + down) / (2 * down);
}

static int compare_prices(const void *a, const void *b)
{
	const struct price *x = a, *y = b;
	int64_t left = x->up * y->down, right = y->up * x->down;

	return (left > right) - (left < right);
}

/* The lowest price at which a part's members together take at least `supply`. It is first closed in by halving between
 * multiples of 1 / GRID, which is so fine that each member has one price at most in between, and then picked. */
static bool find_price(const struct levelling *v, const struct part *part, int64_t supply, struct rg__arena *arena,
                       struct price *ret)
{
	enum { GRID = 2 * (RG__WEIGHT_MAX + 1) };
	struct price *prices = rg__arena_calloc(arena, (size_t)part->member_count, sizeof(*prices));
	int64_t low = 0, high = 0, members = 0, weights = 0, taken = 0;
	int32_t count = 0;

	*ret = (struct price){0, 1, 0};
	if (!prices || !supply)
		return prices != NULL;
	for (int32_t i = 0; i < part->member_count; i++) {
		members += size(v, part->members[i]);
		weights += size(v, part->members[i]) * weight(v, part->members[i]);
	}
	high = ((2 * supply + members) / weights + 1) * GRID;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2, sum = 0;

		for (int32_t i = 0; i < part->member_count; i++)
			sum += size(v, part->members[i]) * demand(weight(v, part->members[i]), middle, GRID);
		if (sum >= supply)
			high = middle;
		else
			low = middle;
	}
	for (int32_t i = 0; i < part->member_count; i++) {
		int64_t w = weight(v, part->members[i]), k = demand(w, low, GRID);

		taken += size(v, part->members[i]) * k;
		if ((2 * k + 1) * GRID <= high * w)
			prices[count++] = (struct price){2 * k + 1, w, size(v, part->members[i])};
	}
	qsort(prices, (size_t)count, sizeof(*prices), compare_prices);
	for (int32_t i = 0; i < count; i++) {
		taken += prices[i].members;
		if (taken < supply)
			continue;
		*ret = prices[i];
		return true;
	}
	return false; /* not reached: at `high` they take enough */
}

/* A part as a transport problem between its classes. */
static bool build(struct levelling *v, const struct part *part, struct rg__transport *t, struct rg__arena *arena)
{
	int64_t *starts = rg__arena_calloc(arena, (size_t)part->topic_count + 1, sizeof(*starts)), arcs = 0;

	for (int32_t i = 0; i < part->topic_count; i++)
		arcs += v->classes->link_starts[part->topics[i] + 1] - v->classes->link_starts[part->topics[i]];
	int32_t *rights = rg__arena_calloc(arena, (size_t)arcs, sizeof(*rights));

	t->supplies = rg__arena_calloc(arena, (size_t)part->topic_count, sizeof(*t->supplies));
	t->limits = rg__arena_calloc(arena, (size_t)part->member_count, sizeof(*t->limits));
	if (!starts || !rights || !t->supplies || !t->limits)
		return false;
	for (int32_t i = 0; i < part->member_count; i++)
		v->local[part->members[i]] = i;
	arcs = 0;
	for (int32_t i = 0; i < part->topic_count; i++) {
		int32_t class = part->topics[i];

		t->supplies[i] = v->supplies[class];
		for (int64_t k = v->classes->link_starts[class]; k < v->classes->link_starts[class + 1]; k++)
			if (v->local[v->classes->links[k]] >= 0)
				rights[arcs++] = v->local[v->classes->links[k]];
		starts[i + 1] = arcs;
	}
	for (int32_t i = 0; i < part->member_count; i++)
		v->local[part->members[i]] = -1;
	t->left_count = part->topic_count;
	t->right_count = part->member_count;
	t->arc_starts = starts;
	t->arc_rights = rights;
	return rg__transport_init(t, arena);
}

/* Moves the marked items behind the others, keeping the order of both; how many are not marked. */
static int32_t divide(int32_t *items, int32_t count, const unsigned char *marks, int32_t *spare)
{
	int32_t kept = 0, moved = 0;

	for (int32_t i = 0; i < count; i++)
		if (marks[i])
			spare[moved++] = items[i];
		else
			items[kept++] = items[i];
	memcpy(items + kept, spare, (size_t)moved * sizeof(*items));
	return kept;
}

/* Splits a part in two, to be levelled each on its own. */
static void split(struct levelling *v, struct part part, const unsigned char *members, const unsigned char *topics)
{
	int32_t m = divide(part.members, part.member_count, members, v->spare);
	int32_t t = divide(part.topics, part.topic_count, topics, v->spare);

	v->parts[v->part_count++] = (struct part){part.members + m, part.topics + t, part.member_count - m,
	                                          part.topic_count - t};
	v->parts[v->part_count++] = (struct part){part.members, part.topics, m, t};
}

/* A part is one block when its members can all take their limits, and with one more each can take everything. */
static bool level(struct levelling *v, struct part part, struct rg__arena *arena)
{
	struct rg__levels *levels = v->levels;
	struct rg__transport t = {0};
	struct price price;
	int64_t supply = 0, limits = 0, over = 0;
	unsigned char *members = rg__arena_calloc(arena, (size_t)part.member_count, 1);
	unsigned char *topics = rg__arena_calloc(arena, (size_t)part.topic_count, 1);

	for (int32_t i = 0; i < part.topic_count; i++)
		supply += v->supplies[part.topics[i]];
	if (!members || !topics || !find_price(v, &part, supply, arena, &price) || !build(v, &part, &t, arena))
		return false;
	for (int32_t i = 0; i < part.member_count; i++) {
		int32_t class = part.members[i];
		int64_t most = demand(weight(v, class), price.up, price.down);

		levels->optional[class] = most > 0 && (2 * most - 1) * price.down == price.up * weight(v, class);
		levels->limits[class] = most - levels->optional[class];
		t.limits[i] = levels->limits[class] * size(v, class);
		limits += t.limits[i];
	}
	rg__transport_solve(&t);
	if (rg__transport_wanting(&t, members, topics)) {
		split(v, part, members, topics);
		return true;
	}
	for (int32_t i = 0; i < part.member_count; i++)
		t.limits[i] += levels->optional[part.members[i]] * size(v, part.members[i]);
	rg__transport_solve(&t);
	for (int32_t i = 0; i < part.topic_count; i++)
		over += t.supplies[i];
	if (over) {
		rg__transport_cut_off(&t, members, topics);
		split(v, part, members, topics);
		return true;
	}
	for (int32_t i = 0; i < part.member_count; i++)
		levels->member_blocks[part.members[i]] = levels->block_count;
	for (int32_t i = 0; i < part.topic_count; i++)
		levels->topic_blocks[part.topics[i]] = levels->block_count;
	/* Parts are split in place and the front one is levelled first, so blocks follow each other in the orders. */
	levels->member_starts[levels->block_count] = (int32_t)(part.members - levels->member_order);
	levels->topic_starts[levels->block_count] = (int32_t)(part.topics - levels->topic_order);
	levels->extras[levels->block_count++] = supply - limits;
	return true;
}

static int32_t *count_up(struct rg__arena *arena, int32_t count)
{
	int32_t *items = rg__arena_calloc(arena, (size_t)count, sizeof(*items));

	for (int32_t i = 0; items && i < count; i++)
		items[i] = i;
	return items;
}

/* Topics with few subscribers come first: they have the least choice of where to go. */
static int compare_choice(const void *a, const void *b, void *link_starts)
{
	const int64_t *starts = link_starts;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	int64_t left = starts[x + 1] - starts[x], right = starts[y + 1] - starts[y];

	return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

bool rg__levels_init(struct rg__levels *levels, struct rg__arena *arena, const struct rg__classes *classes,
                     const int64_t *supplies, const int32_t *weights)
{
	size_t members = (size_t)classes->member_class_count, topics = (size_t)classes->topic_class_count;
	struct levelling v = {.levels = levels, .classes = classes, .supplies = supplies, .weights = weights};
	struct part all = {count_up(arena, classes->member_class_count), count_up(arena, classes->topic_class_count),
	                   classes->member_class_count, classes->topic_class_count};

	*levels = (struct rg__levels){0};
	levels->member_blocks = rg__arena_calloc(arena, members, sizeof(*levels->member_blocks));
	levels->topic_blocks = rg__arena_calloc(arena, topics, sizeof(*levels->topic_blocks));
	levels->limits = rg__arena_calloc(arena, members, sizeof(*levels->limits));
	levels->optional = rg__arena_calloc(arena, members, sizeof(*levels->optional));
	levels->extras = rg__arena_calloc(arena, members, sizeof(*levels->extras));
	levels->topic_starts = rg__arena_calloc(arena, members + 1, sizeof(*levels->topic_starts));
	levels->member_starts = rg__arena_calloc(arena, members + 1, sizeof(*levels->member_starts));
	v.local = rg__arena_calloc(arena, members, sizeof(*v.local));
	v.spare = rg__arena_calloc(arena, members + topics, sizeof(*v.spare));
	v.parts = rg__arena_calloc(arena, members + 1, sizeof(*v.parts));
	if (!all.members || !all.topics || !levels->member_blocks || !levels->topic_blocks || !levels->limits ||
	    !levels->optional || !levels->extras || !levels->topic_starts ||
	    !levels->member_starts || !v.local || !v.spare || !v.parts)
		return false;
	memset(v.local, -1, members * sizeof(*v.local));
	qsort_r(all.topics, topics, sizeof(*all.topics), compare_choice, classes->link_starts);
	/* What nobody subscribes to stays out. */
	while (all.topic_count && classes->link_starts[*all.topics] == classes->link_starts[*all.topics + 1]) {
		all.topics++;
		all.topic_count--;
	}
	levels->topic_order = all.topics;
	levels->topic_count = all.topic_count;
	levels->member_order = all.members;
	if (members)
		v.parts[v.part_count++] = all;
	while (v.part_count) {
		struct rg__arena scratch = {0};
		bool ok = level(&v, v.parts[--v.part_count], &scratch);

		rg__arena_clear(&scratch);
		if (!ok)
			return false;
	}
	levels->member_starts[levels->block_count] = classes->member_class_count;
	levels->topic_starts[levels->block_count] = levels->topic_count;
	return true;
}
