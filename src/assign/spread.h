/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_SPREAD_H
#define RG__ASSIGN_SPREAD_H

#include "assign/block.h"

/* Scratch for all blocks of a plan; no block uses what another has used. */
struct rg__spread_room {
	int32_t *pools, *next, *rights;
	struct rg__segment *segments;
};

/* Lives in `arena`. False: out of memory. */
bool rg__spread_room_init(struct rg__spread_room *room, struct rg__arena *arena, const struct rg_plan *plan);

/* Turns a solved block, which says how many of each kind, into partitions: which ones a member gives up, and who gets
 * which, so that each topic is spread over its members. Greedy: the best there is where equal members own nothing yet.
 * False: out of memory. */
bool rg__spread(const struct rg__block *block, struct rg_plan *plan, const struct rg__spread_room *room,
                struct rg__arena *arena);

#endif
