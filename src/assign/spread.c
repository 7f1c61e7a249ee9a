/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/spread.h"

#include <stdlib.h>

/* Two steps. First each member that cannot keep all it owns of a kind gives up partitions of the topics it has most of,
 * and among those of the topics of which least was given up so far. What is given up or was nobody's is the pool.
 * Then the pool is dealt out, topic by topic, to the member that has least of the topic; in a kind of which nobody
 * keeps anything that is simply dealing in turn. */

struct receiver {
	int32_t held;        /* of the topic at hand; 0 in a fresh kind */
	int32_t load;        /* of the kind, in the end; 1 in a fresh kind, where it does not count */
	int32_t given, need; /* of the kind, from the pool */
	int32_t right;
};

/* What a member owns of one topic and cannot keep all of. */
struct rg__segment {
	int32_t topic, count, gives;
	int32_t last; /* the last of its partitions, + 1 */
};

struct spreading {
	const struct rg__block *block;
	struct rg_plan *plan;
	int32_t *pools; /* by topic: how many of its partitions are in the pool */

	/* Giving up. */
	int32_t *heads; /* by arc of which only some can be kept: its last partition + 1, 0 for none */
	int32_t *next;  /* by flat partition: the one of the same arc before it, + 1 */
	struct rg__segment *segments;

	/* Dealing. */
	struct receiver **receivers; /* by kind of the block */
	int32_t *receiver_counts;
	struct turn {
		bool goes_round; /* dealt in turn */
		bool is_even;    /* what receivers need differs by one at most */
		int32_t most;    /* what any receiver needs */
		int32_t round, next;
		int32_t topic;   /* otherwise: the topic the heap is for, -1: none yet */
	} *turns; /* by kind */
	unsigned char *is_fresh; /* by kind: nobody keeps anything of it */
	int32_t *held;           /* by right, of the topic at hand */
	int32_t *rights;         /* by member */
};

static int32_t find_kept(const struct spreading *s, int32_t flat, int64_t *ret_arc)
{
	int32_t owner = s->block->owners[flat];

	*ret_arc = owner == RG__NOBODY ? -1 : rg__block_arc(s->block, s->block->kinds->of[flat], owner);
	return *ret_arc < 0 || !s->block->transport.keeps[*ret_arc] ? RG__NOBODY : owner;
}

/* All topics of the block, one after the other, with what to do for each. */
static void each_topic(struct spreading *s, void (*act)(struct spreading *s, int32_t topic))
{
	const struct rg__block *b = s->block;

	for (int32_t i = b->levels->topic_starts[b->number]; i < b->levels->topic_starts[b->number + 1]; i++) {
		int32_t class = b->levels->topic_order[i];

		for (int32_t k = b->classes->topic_starts[class]; k < b->classes->topic_starts[class + 1]; k++)
			act(s, b->classes->topics[k]);
	}
}

/* Everything stays with its owner for now, where the owner keeps any of the kind. */
static void keep_topic(struct spreading *s, int32_t topic)
{
	const struct rg__transport *t = &s->block->transport;

	for (int32_t flat = s->plan->offsets[topic]; flat < s->plan->offsets[topic + 1]; flat++) {
		int64_t arc;

		s->plan->owners[flat] = find_kept(s, flat, &arc);
		if (s->plan->owners[flat] == RG__NOBODY) {
			s->pools[topic]++;
		} else if (t->keeps[arc] < t->keep_caps[arc]) {
			s->next[flat] = s->heads[arc];
			s->heads[arc] = flat + 1;
		}
	}
}

static int compare_pools(const void *a, const void *b, void *pools)
{
	const struct rg__segment *x = a, *y = b;
	const int32_t *counts = pools;

	if (counts[x->topic] != counts[y->topic])
		return counts[x->topic] < counts[y->topic] ? -1 : 1;
	return (x->topic < y->topic) - (x->topic > y->topic);
}

/* How much there is above a level. */
static int64_t above(const struct rg__segment *segments, int32_t count, int32_t level)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < count; i++)
		sum += segments[i].count > level ? segments[i].count - level : 0;
	return sum;
}

/* Cuts `gives` off the highest segments, down to a common level; what does not divide comes off topics with small
 * pools. */
static void cut_segments(struct spreading *s, int32_t count, int32_t gives)
{
	int32_t low = 0, high = 0; /* above(low) >= gives > above(high) */

	for (int32_t i = 0; i < count; i++)
		if (s->segments[i].count > high)
			high = s->segments[i].count;
	while (high - low > 1) {
		int32_t middle = low + (high - low) / 2;

		if (above(s->segments, count, middle) >= gives)
			low = middle;
		else
			high = middle;
	}
	gives -= (int32_t)above(s->segments, count, high);
	qsort_r(s->segments, (size_t)count, sizeof(*s->segments), compare_pools, s->pools);
	for (int32_t i = 0; i < count; i++) {
		struct rg__segment *segment = &s->segments[i];

		segment->gives = segment->count > high ? segment->count - high : 0;
		if (gives > 0 && segment->count >= high) {
			segment->gives++;
			gives--;
		}
	}
}

/* Gives up what cannot be kept of one arc, the last partitions of a topic first. */
static void give_up(struct spreading *s, int64_t arc)
{
	const struct rg__transport *t = &s->block->transport;
	int32_t count = 0, topic_start = INT32_MAX;

	for (int32_t at = s->heads[arc]; at; at = s->next[at - 1]) {
		if (at - 1 < topic_start) {
			int32_t topic = rg__plan_at(s->plan, at - 1).topic;

			s->segments[count++] = (struct rg__segment){.topic = topic, .last = at};
			topic_start = s->plan->offsets[topic];
		}
		s->segments[count - 1].count++;
	}
	cut_segments(s, count, t->keep_caps[arc] - t->keeps[arc]);
	for (int32_t i = 0; i < count; i++) {
		int32_t at = s->segments[i].last;

		s->pools[s->segments[i].topic] += s->segments[i].gives;
		for (int32_t k = 0; k < s->segments[i].gives; k++, at = s->next[at - 1])
			s->plan->owners[at - 1] = RG__NOBODY;
	}
}

/* Who receives how many of each kind. */
static bool list_receivers(struct spreading *s, struct rg__arena *arena)
{
	const struct rg__transport *t = &s->block->transport;

	for (int32_t kind = 0; kind < t->left_count; kind++) {
		int32_t count = 0, most = 0, least = INT32_MAX;
		int64_t needs = 0;
		bool is_kept = false;

		for (int64_t a = t->arc_starts[kind]; a < t->arc_starts[kind + 1]; a++) {
			count += t->moves[a] > 0;
			is_kept = is_kept || t->keeps[a];
		}
		struct receiver *list = rg__arena_calloc(arena, (size_t)count, sizeof(*list));

		if (!list)
			return false;
		s->receivers[kind] = list;
		for (int64_t a = t->arc_starts[kind]; a < t->arc_starts[kind + 1]; a++) {
			if (!t->moves[a])
				continue;
			list[s->receiver_counts[kind]++] = (struct receiver){
				.load = is_kept ? t->keeps[a] + t->moves[a] : 1, .need = t->moves[a], .right = t->arc_rights[a]};
			most = t->moves[a] > most ? t->moves[a] : most;
			least = t->moves[a] < least ? t->moves[a] : least;
			needs += t->moves[a];
		}
		s->is_fresh[kind] = !is_kept;
		/* A round passes all receivers: with very different needs most would be passed over. */
		s->turns[kind] = (struct turn){.goes_round = !is_kept && (int64_t)most * count <= 4 * needs,
		                               .is_even = most - least <= 1, .most = most, .topic = -1};
	}
	return true;
}

/* Who has least of the topic first, measured by what it will have of all; then who has got the smallest part of what it
 * needs; then in order. */
static bool comes_before(const struct receiver *a, const struct receiver *b)
{
	int64_t left = (2 * (int64_t)a->held + 1) * b->load, right = (2 * (int64_t)b->held + 1) * a->load;

	if (left == right) {
		left = (2 * (int64_t)a->given + 1) * b->need;
		right = (2 * (int64_t)b->given + 1) * a->need;
	}
	return left != right ? left < right : a->right < b->right;
}

static void sink_down(struct receiver *heap, int32_t count, int32_t at)
{
	struct receiver moved = heap[at];

	for (int32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
			child++;
		if (!comes_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* The next to receive a partition of a kind: the top of its heap. */
static int32_t deal_to_least(struct spreading *s, int32_t kind)
{
	struct receiver *heap = s->receivers[kind];
	int32_t right = heap[0].right;

	heap[0].held += !s->is_fresh[kind];
	if (++heap[0].given == heap[0].need)
		heap[0] = heap[--s->receiver_counts[kind]];
	sink_down(heap, s->receiver_counts[kind], 0);
	return right;
}

/* How much of its need a receiver should have by the end of a round. There are as many rounds as anyone needs, and each
 * receiver is passed over in some, evenly; but where needs are even, in the last one. */
static int32_t due(const struct turn *turn, const struct receiver *receiver)
{
	int64_t rounds = turn->most, need = receiver->need;

	if (turn->is_even)
		return turn->round < need ? turn->round + 1 : receiver->need;
	return (int32_t)((2 * need * (turn->round + 1) + rounds) / (2 * rounds));
}

/* The same for a fresh kind, where it comes to dealing in turn. */
static int32_t deal_in_turn(struct spreading *s, int32_t kind)
{
	struct turn *turn = &s->turns[kind];
	struct receiver *receiver;

	do {
		if (turn->next == s->receiver_counts[kind]) {
			turn->next = 0;
			turn->round++;
		}
		receiver = &s->receivers[kind][turn->next++];
	} while (receiver->given >= due(turn, receiver));
	receiver->given++;
	return receiver->right;
}

/* Makes a kind's receivers a heap, for a topic by what they hold of it, or once for all topics in a fresh kind. */
static void heap_up(struct spreading *s, int32_t kind, int32_t topic)
{
	struct receiver *heap = s->receivers[kind];
	int32_t count = s->receiver_counts[kind];

	s->turns[kind].topic = topic;
	for (int32_t i = 0; i < count && !s->is_fresh[kind]; i++)
		heap[i].held = s->held[heap[i].right];
	for (int32_t i = count / 2 - 1; i >= 0; i--)
		sink_down(heap, count, i);
}

static void deal_topic(struct spreading *s, int32_t topic)
{
	const struct rg__block *b = s->block;
	int32_t *owners = s->plan->owners, first = s->plan->offsets[topic], end = s->plan->offsets[topic + 1];

	if (!s->pools[topic])
		return;
	for (int32_t flat = first; flat < end; flat++)
		if (owners[flat] != RG__NOBODY)
			s->held[s->rights[owners[flat]]]++;
	for (int32_t flat = first; flat < end; flat++) {
		int32_t kind = b->kinds->of[flat] - b->first_kind, right;

		if (owners[flat] != RG__NOBODY)
			continue;
		if (s->turns[kind].goes_round) {
			right = deal_in_turn(s, kind);
		} else {
			if (s->turns[kind].topic < 0 || (s->turns[kind].topic != topic && !s->is_fresh[kind]))
				heap_up(s, kind, topic);
			right = deal_to_least(s, kind);
		}
		s->held[right]++;
		owners[flat] = b->members[right];
	}
	for (int32_t flat = first; flat < end; flat++)
		s->held[s->rights[owners[flat]]] = 0;
}

static bool prepare(struct spreading *s, const struct rg__spread_room *room, struct rg__arena *arena)
{
	const struct rg__transport *t = &s->block->transport;
	size_t kinds = (size_t)t->left_count;

	s->pools = room->pools;
	s->next = room->next;
	s->rights = room->rights;
	s->segments = room->segments;
	s->heads = rg__arena_calloc(arena, (size_t)t->arc_starts[kinds], sizeof(*s->heads));
	s->receivers = rg__arena_calloc(arena, kinds, sizeof(*s->receivers));
	s->receiver_counts = rg__arena_calloc(arena, kinds, sizeof(*s->receiver_counts));
	s->turns = rg__arena_calloc(arena, kinds, sizeof(*s->turns));
	s->is_fresh = rg__arena_calloc(arena, kinds, sizeof(*s->is_fresh));
	s->held = rg__arena_calloc(arena, (size_t)t->right_count, sizeof(*s->held));
	if (!s->heads || !s->receivers || !s->receiver_counts || !s->turns || !s->is_fresh || !s->held)
		return false;
	for (int32_t r = 0; r < t->right_count; r++)
		s->rights[s->block->members[r]] = r;
	return list_receivers(s, arena);
}

bool rg__spread_room_init(struct rg__spread_room *room, struct rg__arena *arena, const struct rg_plan *plan)
{
	size_t topics = (size_t)plan->group->topic_count;

	room->pools = rg__arena_calloc(arena, topics, sizeof(*room->pools));
	room->segments = rg__arena_calloc(arena, topics, sizeof(*room->segments));
	room->next = rg__arena_calloc(arena, (size_t)plan->partition_count, sizeof(*room->next));
	room->rights = rg__arena_calloc(arena, (size_t)plan->group->member_count, sizeof(*room->rights));
	return room->pools && room->segments && room->next && room->rights;
}

bool rg__spread(const struct rg__block *block, struct rg_plan *plan, const struct rg__spread_room *room,
                struct rg__arena *arena)
{
	const struct rg__transport *t = &block->transport;
	struct spreading s = {.block = block, .plan = plan};

	if (!prepare(&s, room, arena))
		return false;
	each_topic(&s, keep_topic);
	for (int64_t a = 0; a < t->arc_starts[t->left_count]; a++)
		if (s.heads[a])
			give_up(&s, a);
	each_topic(&s, deal_topic);
	return true;
}
