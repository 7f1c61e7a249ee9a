/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_SIM_WORLD_H
#define RG__TESTKIT_SIM_WORLD_H

/* A clock that moves only when something is due, and the list of what is. Everything simulated hangs on it; the same calls
 * give the same run. */

#include "base/backoff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that will happen once. Part of what it happens to; queued while `place` is not 0. */
struct rg__sim_event {
	void (*run)(void *user);
	void *user;
	int64_t at_us;
	uint64_t order; /* what was queued first happens first */
	size_t place;   /* in the heap, from 1 */
};

struct rg__sim_world {
	int64_t now_us; /* starts at RG__SIM_START_US */
	struct rg__random random;
	struct rg__sim_event **heap;
	size_t count, capacity;
	size_t events; /* that exist: the heap has room for each */
	uint64_t order;
};

#define RG__SIM_START_US INT64_C(1000000)

void rg__sim_world_init(struct rg__sim_world *world, uint64_t seed);
void rg__sim_world_free(struct rg__sim_world *world);

/* An event of the world's; false: out of memory. rg__sim_event_free() takes it out again, queued or not. */
bool rg__sim_event_init(struct rg__sim_world *world, struct rg__sim_event *event, void (*run)(void *user), void *user);
void rg__sim_event_free(struct rg__sim_world *world, struct rg__sim_event *event);

/* Queues it, anew if it is queued already. A time that has passed means now. Cannot fail. */
void rg__sim_at(struct rg__sim_world *world, struct rg__sim_event *event, int64_t at_us);
void rg__sim_cancel(struct rg__sim_world *world, struct rg__sim_event *event);

/* When something happens next; INT64_MAX: never. */
int64_t rg__sim_next_us(const struct rg__sim_world *world);

/* Lets the next thing happen. False: there is none, or it is later than `until_us`, which it is now. */
bool rg__sim_step(struct rg__sim_world *world, int64_t until_us);

/* 0 … below - 1 */
uint32_t rg__sim_draw(struct rg__sim_world *world, uint32_t below);

#endif
