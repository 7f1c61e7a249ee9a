/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/sim_world.h"

#include "base/alloc.h"

void rg__sim_world_init(struct rg__sim_world *world, uint64_t seed)
{
	*world = (struct rg__sim_world){.now_us = RG__SIM_START_US};
	/* Seeds that differ little must not begin alike. */
	world->random.state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	rg__random_next(&world->random);
	rg__random_next(&world->random);
}

void rg__sim_world_free(struct rg__sim_world *world)
{
	rg__free(world->heap);
	world->heap = NULL;
}

bool rg__sim_event_init(struct rg__sim_world *world, struct rg__sim_event *event, void (*run)(void *user), void *user)
{
	*event = (struct rg__sim_event){.run = run, .user = user};
	if (world->events == world->capacity) {
		size_t capacity = world->capacity ? world->capacity * 2 : 64;
		struct rg__sim_event **heap = rg__realloc(world->heap, capacity * sizeof(*heap));

		if (!heap)
			return false;
		world->heap = heap;
		world->capacity = capacity;
	}
	world->events++;
	return true;
}

void rg__sim_event_free(struct rg__sim_world *world, struct rg__sim_event *event)
{
	rg__sim_cancel(world, event);
	if (event->run)
		world->events--;
	event->run = NULL;
}

static bool before(const struct rg__sim_event *a, const struct rg__sim_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void put(struct rg__sim_world *world, struct rg__sim_event *event, size_t place)
{
	world->heap[place - 1] = event;
	event->place = place;
}

static void rise(struct rg__sim_world *world, struct rg__sim_event *event)
{
	size_t place = event->place;

	while (place > 1 && before(event, world->heap[place / 2 - 1])) {
		put(world, world->heap[place / 2 - 1], place);
		place /= 2;
	}
	put(world, event, place);
}

static void sink(struct rg__sim_world *world, struct rg__sim_event *event)
{
	size_t place = event->place;

	for (size_t child; (child = place * 2) <= world->count; place = child) {
		if (child < world->count && before(world->heap[child], world->heap[child - 1]))
			child++;
		if (!before(world->heap[child - 1], event))
			break;
		put(world, world->heap[child - 1], place);
	}
	put(world, event, place);
}

void rg__sim_cancel(struct rg__sim_world *world, struct rg__sim_event *event)
{
	struct rg__sim_event *last;

	if (!event->place)
		return;
	last = world->heap[--world->count];
	if (last != event) {
		last->place = event->place;
		rise(world, last);
		sink(world, last);
	}
	event->place = 0;
}

void rg__sim_at(struct rg__sim_world *world, struct rg__sim_event *event, int64_t at_us)
{
	rg__sim_cancel(world, event);
	event->at_us = at_us > world->now_us ? at_us : world->now_us;
	event->order = world->order++;
	event->place = ++world->count;
	rise(world, event);
}

int64_t rg__sim_next_us(const struct rg__sim_world *world)
{
	return world->count ? world->heap[0]->at_us : INT64_MAX;
}

bool rg__sim_step(struct rg__sim_world *world, int64_t until_us)
{
	struct rg__sim_event *event = world->count ? world->heap[0] : NULL;

	if (!event || event->at_us > until_us) {
		if (until_us > world->now_us)
			world->now_us = until_us;
		return false;
	}
	rg__sim_cancel(world, event);
	world->now_us = event->at_us;
	event->run(event->user); /* which may free the event */
	return true;
}

uint32_t rg__sim_draw(struct rg__sim_world *world, uint32_t below)
{
	return (uint32_t)(rg__random_next(&world->random) >> 33) % below;
}
