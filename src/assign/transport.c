/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/transport.h"

#include <string.h>

/* Successive shortest paths in the primal-dual form. Nodes are the lefts, the rights, `extra` (the hub through which
 * rights take one more) and the sink. Every node has a potential such that no residual arc has a negative reduced
 * cost; along arcs of reduced cost zero a blocking flow (Dinic) sends all it can, then Dijkstra raises the
 * potentials until a new way opens. The start is a flow that is already of least cost for what it sends: everything
 * kept that fits its rack, and the rest poured out evenly where there is room; mostly little is left to do. */

enum { UNSEEN = -1 };

struct rg__transport_work {
	int32_t hub, sink, nodes;
	int64_t keep_miss, move, move_miss; /* costs; a match that is kept costs nothing */
	int64_t *potentials, *distances;
	int32_t *levels; /* of the last search, UNSEEN when not reached */
	int32_t *queue;  /* breadth-first queue, heap, depth-first path: never two of them at a time */
	int32_t *heap_places;
	int64_t *next;         /* by node: the arc at which its depth-first search goes on */
	int64_t *path;         /* the arc by which each node of the path was left */
	int64_t *back_starts;  /* by right: where its lefts begin in back_lefts */
	int32_t *back_lefts;   /* the lefts with an arc to each right, ascending; ~left: nothing ever went along it */
	int64_t extra_used;
	int32_t heap_size;
};

/* One step along the residual graph. `arc` is an index of the problem's arcs, or one of these. */
enum { TO_SINK = -1, TO_HUB = -2, FROM_HUB = -3 };

static bool has_costs(const struct rg__transport *t)
{
	return t->keep_caps != NULL;
}

static int64_t keep_cost(const struct rg__transport *t, int64_t arc)
{
	return t->mismatches && t->mismatches[arc] ? t->work->keep_miss : 0;
}

static int64_t move_cost(const struct rg__transport *t, int64_t arc)
{
	return t->mismatches && t->mismatches[arc] ? t->work->move_miss : t->work->move;
}

static int64_t keep_room(const struct rg__transport *t, int64_t arc)
{
	return t->keep_caps ? t->keep_caps[arc] - t->keeps[arc] : 0;
}

/* The reduced cost of the cheapest way forward along an arc; there is always one, as moves have no limit. */
static int64_t forward_cost(const struct rg__transport *t, int32_t left, int64_t arc)
{
	int64_t cost = keep_room(t, arc) ? keep_cost(t, arc) : move_cost(t, arc);

	return cost + t->work->potentials[left] - t->work->potentials[t->left_count + t->arc_rights[arc]];
}

/* The arc from a left to a right, of which there is one. */
static int64_t arc_between(const struct rg__transport *t, int32_t left, int32_t right)
{
	int64_t low = t->arc_starts[left], high = t->arc_starts[left + 1];

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (t->arc_rights[middle] <= right)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The left of a place in back_lefts. */
static int32_t left_at(const struct rg__transport *t, int64_t place)
{
	return t->work->back_lefts[place] < 0 ? ~t->work->back_lefts[place] : t->work->back_lefts[place];
}

/* Notes that something goes along an arc. */
static void mark_used(struct rg__transport *t, int32_t left, int32_t right)
{
	int64_t low = t->work->back_starts[right], high = t->work->back_starts[right + 1];

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (left_at(t, middle) <= left)
			low = middle;
		else
			high = middle;
	}
	t->work->back_lefts[low] = left;
}

/* The reduced cost of taking back what went along an arc; false when nothing did. A move is dearer, so it goes
 * first. Few arcs are used, mostly, and all the others need not be looked at. */
static bool backward_cost(const struct rg__transport *t, int32_t right, int64_t place, int64_t *ret_arc,
                          int64_t *ret_cost)
{
	int32_t left = t->work->back_lefts[place];
	int64_t arc = left < 0 ? 0 : arc_between(t, left, right);

	if (left < 0 || (!t->moves[arc] && !t->keeps[arc]))
		return false;
	*ret_arc = arc;
	*ret_cost = t->work->potentials[t->left_count + right] - t->work->potentials[left] -
	            (t->moves[arc] ? move_cost(t, arc) : keep_cost(t, arc));
	return true;
}

static bool can_take(const struct rg__transport *t, int32_t right)
{
	return t->loads[right] < t->limits[right];
}

static bool can_take_extra(const struct rg__transport *t, int32_t right)
{
	return t->optional && t->optional[right] && !t->extras[right];
}

/* Lists the lefts of each right, as unused. */
static bool list_lefts(struct rg__transport *t, struct rg__arena *arena)
{
	struct rg__transport_work *w = t->work;
	int64_t arcs = t->arc_starts[t->left_count];

	w->back_starts = rg__arena_calloc(arena, (size_t)t->right_count + 2, sizeof(*w->back_starts));
	w->back_lefts = rg__arena_calloc(arena, (size_t)arcs, sizeof(*w->back_lefts));
	if (!w->back_starts || !w->back_lefts)
		return false;
	for (int64_t a = 0; a < arcs; a++)
		w->back_starts[t->arc_rights[a] + 2]++;
	for (int32_t r = 0; r < t->right_count; r++)
		w->back_starts[r + 2] += w->back_starts[r + 1];
	for (int32_t l = 0; l < t->left_count; l++)
		for (int64_t a = t->arc_starts[l]; a < t->arc_starts[l + 1]; a++)
			w->back_lefts[w->back_starts[t->arc_rights[a] + 1]++] = ~l;
	return true;
}

bool rg__transport_init(struct rg__transport *t, struct rg__arena *arena)
{
	size_t lefts = (size_t)t->left_count, rights = (size_t)t->right_count, arcs = (size_t)t->arc_starts[lefts];
	size_t nodes = lefts + rights + 2;
	struct rg__transport_work *w = rg__arena_calloc(arena, 1, sizeof(*w));

	t->work = w;
	t->keeps = rg__arena_calloc(arena, arcs, sizeof(*t->keeps));
	t->moves = rg__arena_calloc(arena, arcs, sizeof(*t->moves));
	t->loads = rg__arena_calloc(arena, rights, sizeof(*t->loads));
	t->extras = rg__arena_calloc(arena, rights, sizeof(*t->extras));
	t->overs = rg__arena_calloc(arena, rights, sizeof(*t->overs));
	if (!w || !t->keeps || !t->moves || !t->loads || !t->extras || !t->overs)
		return false;
	w->hub = t->left_count + t->right_count;
	w->sink = w->hub + 1;
	w->nodes = w->sink + 1;
	w->potentials = rg__arena_calloc(arena, nodes, sizeof(*w->potentials));
	w->distances = rg__arena_calloc(arena, nodes, sizeof(*w->distances));
	w->levels = rg__arena_calloc(arena, nodes, sizeof(*w->levels));
	w->queue = rg__arena_calloc(arena, nodes, sizeof(*w->queue));
	w->heap_places = rg__arena_calloc(arena, nodes, sizeof(*w->heap_places));
	w->next = rg__arena_calloc(arena, nodes, sizeof(*w->next));
	w->path = rg__arena_calloc(arena, nodes, sizeof(*w->path));
	if (!w->potentials || !w->distances || !w->levels || !w->queue || !w->heap_places || !w->next || !w->path ||
	    !list_lefts(t, arena))
		return false;
	if (has_costs(t)) {
		/* A cycle passes each node once, so one unit of a class weighs more than all of the next on any cycle. */
		int64_t unit = t->mismatches ? (int64_t)nodes + 1 : 1;

		w->move = unit * unit;
		w->move_miss = w->move + unit;
		w->keep_miss = w->move_miss - 1;
	}
	return true;
}

/* Pours a left's supply out over its matching arcs, in proportion to the room at their ends. */
static void pour(struct rg__transport *t, int32_t left)
{
	int64_t room = 0, seen = 0, poured = 0, supply = t->supplies[left];

	for (int64_t a = t->arc_starts[left]; a < t->arc_starts[left + 1]; a++)
		if (!t->mismatches || !t->mismatches[a])
			room += t->limits[t->arc_rights[a]] - t->loads[t->arc_rights[a]];
	if (!room)
		return;
	if (supply > room)
		supply = room;
	for (int64_t a = t->arc_starts[left]; a < t->arc_starts[left + 1]; a++) {
		if (t->mismatches && t->mismatches[a])
			continue;
		int32_t right = t->arc_rights[a];
		int64_t here;

		seen += t->limits[right] - t->loads[right];
		here = (int64_t)((uint64_t)supply * (uint64_t)seen / (uint64_t)room) - poured;
		if (here > t->limits[right] - t->loads[right])
			here = t->limits[right] - t->loads[right];
		if (here <= 0)
			continue;
		t->moves[a] += (int32_t)here;
		t->loads[right] += here;
		t->supplies[left] -= here;
		poured += here;
	}
}

/* As mark_used(), for all arcs that are in use; in their order the places are known. */
static void mark_all_used(struct rg__transport *t)
{
	struct rg__transport_work *w = t->work;
	int64_t *places = w->next + t->left_count; /* by right */

	memcpy(places, w->back_starts, (size_t)t->right_count * sizeof(*places));
	for (int32_t l = 0; l < t->left_count; l++)
		for (int64_t a = t->arc_starts[l]; a < t->arc_starts[l + 1]; a++) {
			int64_t place = places[t->arc_rights[a]]++;

			if (t->moves[a] || t->keeps[a])
				w->back_lefts[place] = l;
		}
}

/* The flow to begin with. All kept units first: a right that had too many has something over. */
static void start(struct rg__transport *t)
{
	struct rg__transport_work *w = t->work;

	for (int32_t l = 0; l < t->left_count && has_costs(t); l++)
		for (int64_t a = t->arc_starts[l]; a < t->arc_starts[l + 1]; a++)
			if (!t->mismatches || !t->mismatches[a]) {
				t->keeps[a] = t->keep_caps[a];
				t->supplies[l] -= t->keep_caps[a];
				t->loads[t->arc_rights[a]] += t->keep_caps[a];
			}
	/* From the last to the first: where too many had one more, the first ones give it up. */
	for (int32_t r = t->right_count - 1; r >= 0; r--) {
		int64_t over = t->loads[r] - t->limits[r];

		if (over <= 0)
			continue;
		t->loads[r] = t->limits[r];
		if (can_take_extra(t, r) && w->extra_used < t->extra) {
			t->extras[r] = 1;
			w->extra_used++;
			over--;
		}
		t->overs[r] = over;
	}
	for (int32_t l = 0; l < t->left_count; l++)
		if (t->supplies[l])
			pour(t, l);
	mark_all_used(t);
	for (int32_t n = 0; n < w->nodes; n++)
		w->potentials[n] = n < t->left_count ? 0 : w->move;
}

static bool is_source(const struct rg__transport *t, int32_t node)
{
	return node < t->left_count ? t->supplies[node] > 0
	                            : node < t->work->hub && t->overs[node - t->left_count] > 0;
}

/* All steps out of a node, by a callback: the sink first, then the hub, then along arcs. Those to a node that
 * `is_useless` are left out: an arc is somewhere in memory, so looking at it is what takes the time. */
typedef void step_fn(struct rg__transport *t, int32_t from, int32_t to, int64_t cost);
typedef bool useless_fn(const struct rg__transport_work *w, int32_t from, int32_t to);

static inline void each_step(struct rg__transport *t, int32_t node, step_fn *step, useless_fn *is_useless)
{
	struct rg__transport_work *w = t->work;
	int64_t arc, cost;

	if (node < t->left_count) {
		for (int64_t a = t->arc_starts[node]; a < t->arc_starts[node + 1]; a++)
			if (!is_useless(w, node, t->left_count + t->arc_rights[a]))
				step(t, node, t->left_count + t->arc_rights[a], forward_cost(t, node, a));
	} else if (node < w->hub) {
		int32_t right = node - t->left_count;

		if (can_take(t, right))
			step(t, node, w->sink, w->potentials[node] - w->potentials[w->sink]);
		if (can_take_extra(t, right))
			step(t, node, w->hub, w->potentials[node] - w->potentials[w->hub]);
		for (int64_t b = w->back_starts[right]; b < w->back_starts[right + 1]; b++)
			if (w->back_lefts[b] >= 0 && !is_useless(w, node, w->back_lefts[b]) &&
			    backward_cost(t, right, b, &arc, &cost))
				step(t, node, w->back_lefts[b], cost);
	} else if (node == w->hub) {
		if (w->extra_used < t->extra)
			step(t, node, w->sink, w->potentials[node] - w->potentials[w->sink]);
		for (int32_t r = 0; r < t->right_count; r++)
			if (t->extras[r])
				step(t, node, t->left_count + r, w->potentials[node] - w->potentials[t->left_count + r]);
	}
}

static void see(struct rg__transport *t, int32_t from, int32_t to, int64_t cost)
{
	struct rg__transport_work *w = t->work;

	if (cost || w->levels[to] != UNSEEN)
		return;
	w->levels[to] = w->levels[from] + 1;
	w->queue[w->heap_size++] = to;
}

static bool is_seen(const struct rg__transport_work *w, int32_t from, int32_t to)
{
	(void)from;
	return w->levels[to] != UNSEEN;
}

/* Levels from all sources along steps of reduced cost zero; whether the sink is reached. */
static bool search(struct rg__transport *t)
{
	struct rg__transport_work *w = t->work;

	w->heap_size = 0;
	for (int32_t n = 0; n < w->nodes; n++) {
		w->levels[n] = UNSEEN;
		if (is_source(t, n)) {
			w->levels[n] = 0;
			w->queue[w->heap_size++] = n;
		}
	}
	/* What is as far away as the sink leads there no more. */
	for (int32_t at = 0; at < w->heap_size && w->levels[w->sink] == UNSEEN; at++)
		each_step(t, w->queue[at], see, is_seen);
	return w->levels[w->sink] != UNSEEN;
}

/* Whether the depth-first search may go from a node of level `level` to `to`. */
static bool leads_on(const struct rg__transport *t, int32_t level, int32_t to, int64_t cost)
{
	return !cost && t->work->levels[to] == level + 1;
}

/* The next step of the depth-first search out of a left, a right or the hub, from next[node] on; false: none left.
 * next counts: for a left its arcs; for a right and the hub first the special steps, then arcs or rights. */
static bool step_from_left(struct rg__transport *t, int32_t node, int32_t *ret_to, int64_t *ret_arc)
{
	int64_t *next = &t->work->next[node];

	for (; *next < t->arc_starts[node + 1] - t->arc_starts[node]; ++*next) {
		int64_t arc = t->arc_starts[node] + *next;

		*ret_to = t->left_count + t->arc_rights[arc];
		*ret_arc = arc;
		if (t->work->levels[*ret_to] == t->work->levels[node] + 1 && !forward_cost(t, node, arc))
			return true;
	}
	return false;
}

static bool step_from_right(struct rg__transport *t, int32_t node, int32_t *ret_to, int64_t *ret_arc)
{
	struct rg__transport_work *w = t->work;
	int32_t right = node - t->left_count, level = w->levels[node];
	int64_t *next = &w->next[node], cost;

	for (; *next < 2 + w->back_starts[right + 1] - w->back_starts[right]; ++*next) {
		if (*next < 2) {
			*ret_to = *next == 0 ? w->sink : w->hub;
			*ret_arc = *next == 0 ? TO_SINK : TO_HUB;
			if ((*next == 0 ? can_take(t, right) : can_take_extra(t, right)) &&
			    leads_on(t, level, *ret_to, w->potentials[node] - w->potentials[*ret_to]))
				return true;
			continue;
		}
		int64_t place = w->back_starts[right] + *next - 2;

		*ret_to = w->back_lefts[place];
		if (*ret_to >= 0 && w->levels[*ret_to] == level + 1 && backward_cost(t, right, place, ret_arc, &cost) && !cost)
			return true;
	}
	return false;
}

static bool step_from_hub(struct rg__transport *t, int32_t *ret_to, int64_t *ret_arc)
{
	struct rg__transport_work *w = t->work;
	int64_t *next = &w->next[w->hub];

	for (; *next <= t->right_count; ++*next) {
		int32_t right = (int32_t)*next - 1;

		*ret_to = right < 0 ? w->sink : t->left_count + right;
		*ret_arc = right < 0 ? TO_SINK : FROM_HUB;
		if ((right < 0 ? w->extra_used < t->extra : t->extras[right]) &&
		    leads_on(t, w->levels[w->hub], *ret_to, w->potentials[w->hub] - w->potentials[*ret_to]))
			return true;
	}
	return false;
}

static bool next_step(struct rg__transport *t, int32_t node, int32_t *ret_to, int64_t *ret_arc)
{
	if (node < t->left_count)
		return step_from_left(t, node, ret_to, ret_arc);
	return node == t->work->hub ? step_from_hub(t, ret_to, ret_arc) : step_from_right(t, node, ret_to, ret_arc);
}

/* How much can go along a step. */
static int64_t step_room(const struct rg__transport *t, int32_t from, int64_t arc)
{
	if (arc == TO_SINK && from != t->work->hub)
		return t->limits[from - t->left_count] - t->loads[from - t->left_count];
	if (arc == TO_SINK)
		return t->extra - t->work->extra_used;
	if (arc == TO_HUB || arc == FROM_HUB)
		return 1;
	if (from < t->left_count)
		return keep_room(t, arc) ? keep_room(t, arc) : INT64_MAX;
	return t->moves[arc] ? t->moves[arc] : t->keeps[arc];
}

static void send_along(struct rg__transport *t, int32_t left, int64_t arc, int32_t amount)
{
	if (!t->moves[arc] && !t->keeps[arc])
		mark_used(t, left, t->arc_rights[arc]);
	*(keep_room(t, arc) ? &t->keeps[arc] : &t->moves[arc]) += amount;
}

static void send_step(struct rg__transport *t, int32_t from, int32_t to, int64_t arc, int64_t amount)
{
	if (arc == TO_SINK && from != t->work->hub)
		t->loads[from - t->left_count] += amount;
	else if (arc == TO_SINK)
		t->work->extra_used += amount;
	else if (arc == TO_HUB)
		t->extras[from - t->left_count] = 1;
	else if (arc == FROM_HUB)
		t->extras[to - t->left_count] = 0;
	else if (from < t->left_count)
		send_along(t, from, arc, (int32_t)amount);
	else if (t->moves[arc])
		t->moves[arc] -= (int32_t)amount;
	else
		t->keeps[arc] -= (int32_t)amount;
}

/* Sends along the path nodes[0 … length], the last being the sink. */
static void augment(struct rg__transport *t, const int32_t *nodes, int32_t length)
{
	int64_t *excess = nodes[0] < t->left_count ? &t->supplies[nodes[0]] : &t->overs[nodes[0] - t->left_count];
	int64_t amount = *excess;

	for (int32_t i = 0; i < length; i++) {
		int64_t room = step_room(t, nodes[i], t->work->path[i]);

		if (room < amount)
			amount = room;
	}
	*excess -= amount;
	for (int32_t i = 0; i < length; i++)
		send_step(t, nodes[i], nodes[i + 1], t->work->path[i], amount);
}

/* Sends all that can go from one source along rising levels. */
static void send_from(struct rg__transport *t, int32_t source)
{
	struct rg__transport_work *w = t->work;
	int32_t *nodes = w->queue, length = 0;

	nodes[0] = source;
	while (is_source(t, source)) {
		int32_t node = nodes[length], to;

		if (node == w->sink) {
			augment(t, nodes, length);
			length = 0;
		} else if (next_step(t, node, &to, &w->path[length])) {
			nodes[++length] = to;
		} else {
			w->levels[node] = UNSEEN; /* leads nowhere */
			if (!length)
				return;
			length--;
			w->next[nodes[length]]++;
		}
	}
}

/* A heap of nodes by distance, then by number, so that ties never depend on chance. */
static bool nearer(const struct rg__transport_work *w, int32_t a, int32_t b)
{
	return w->distances[a] != w->distances[b] ? w->distances[a] < w->distances[b] : a < b;
}

static void heap_put(struct rg__transport_work *w, int32_t place, int32_t node)
{
	w->queue[place] = node;
	w->heap_places[node] = place;
}

static void heap_rise(struct rg__transport_work *w, int32_t place, int32_t node)
{
	for (; place > 0 && nearer(w, node, w->queue[(place - 1) / 2]); place = (place - 1) / 2)
		heap_put(w, place, w->queue[(place - 1) / 2]);
	heap_put(w, place, node);
}

static int32_t heap_pop(struct rg__transport_work *w)
{
	int32_t top = w->queue[0], node = w->queue[--w->heap_size], place = 0;

	for (int32_t child = 1; child < w->heap_size; child = 2 * place + 1) {
		if (child + 1 < w->heap_size && nearer(w, w->queue[child + 1], w->queue[child]))
			child++;
		if (!nearer(w, w->queue[child], node))
			break;
		heap_put(w, place, w->queue[child]);
		place = child;
	}
	if (w->heap_size)
		heap_put(w, place, node);
	return top;
}

static void relax(struct rg__transport *t, int32_t from, int32_t to, int64_t cost)
{
	struct rg__transport_work *w = t->work;
	int64_t distance = w->distances[from] + cost;

	if (distance >= w->distances[to])
		return;
	if (w->distances[to] == INT64_MAX)
		w->heap_places[to] = w->heap_size++;
	w->distances[to] = distance;
	heap_rise(w, w->heap_places[to], to);
}

static bool is_nearer(const struct rg__transport_work *w, int32_t from, int32_t to)
{
	return w->distances[to] <= w->distances[from];
}

/* Raises the potentials by the distances from the sources; whether the sink can be reached at all. */
static bool raise_potentials(struct rg__transport *t)
{
	struct rg__transport_work *w = t->work;
	int32_t node;

	w->heap_size = 0;
	for (int32_t n = 0; n < w->nodes; n++) {
		w->distances[n] = is_source(t, n) ? 0 : INT64_MAX;
		if (!w->distances[n])
			heap_put(w, w->heap_size++, n);
	}
	while (w->heap_size && (node = heap_pop(w)) != w->sink)
		each_step(t, node, relax, is_nearer);
	if (w->distances[w->sink] == INT64_MAX)
		return false;
	for (int32_t n = 0; n < w->nodes; n++)
		w->potentials[n] += w->distances[n] < w->distances[w->sink] ? w->distances[n] : w->distances[w->sink];
	return true;
}

void rg__transport_solve(struct rg__transport *t)
{
	struct rg__transport_work *w = t->work;

	start(t);
	do {
		while (search(t)) {
			memset(w->next, 0, (size_t)w->nodes * sizeof(*w->next));
			for (int32_t n = 0; n < w->hub; n++)
				if (is_source(t, n))
					send_from(t, n);
		}
	} while (has_costs(t) && raise_potentials(t));
}

void rg__transport_cut_off(const struct rg__transport *t, unsigned char *rights, unsigned char *lefts)
{
	/* It is what the last search, which did not reach the sink, has seen. */
	for (int32_t l = 0; l < t->left_count; l++)
		lefts[l] = t->work->levels[l] != UNSEEN;
	for (int32_t r = 0; r < t->right_count; r++)
		rights[r] = t->work->levels[t->left_count + r] != UNSEEN;
}

bool rg__transport_wanting(const struct rg__transport *t, unsigned char *rights, unsigned char *lefts)
{
	struct rg__transport_work *w = t->work;
	int32_t found = 0;

	memset(lefts, 0, (size_t)t->left_count);
	for (int32_t r = 0; r < t->right_count; r++) {
		rights[r] = can_take(t, r);
		if (rights[r])
			w->queue[found++] = r;
	}
	for (int32_t at = 0; at < found; at++)
		for (int64_t b = w->back_starts[w->queue[at]]; b < w->back_starts[w->queue[at] + 1]; b++) {
			int32_t left = left_at(t, b);

			if (lefts[left])
				continue;
			lefts[left] = 1;
			for (int64_t a = t->arc_starts[left]; a < t->arc_starts[left + 1]; a++)
				if (t->moves[a] && !rights[t->arc_rights[a]]) {
					rights[t->arc_rights[a]] = 1;
					w->queue[found++] = t->arc_rights[a];
				}
		}
	return found > 0;
}
