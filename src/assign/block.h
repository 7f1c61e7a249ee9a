/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_BLOCK_H
#define RG__ASSIGN_BLOCK_H

/* One block of the levels as a transport problem: how many partitions of which kind each member keeps and gets. */

#include "assign/kinds.h"
#include "assign/transport.h"

struct rg__block {
	const int32_t *owners;         /* by flat partition */
	const struct rg__racks *racks; /* NULL: they do not matter */
	const struct rg__classes *classes;
	const struct rg__levels *levels;
	const struct rg__kinds *kinds;
	const struct rg_plan *plan;
	int32_t number;
	int32_t first_kind;    /* kinds first_kind … first_kind + left_count - 1 are the lefts */
	int32_t *members;      /* by right */
	int32_t *link_offsets; /* by link of the classes: where the member class begins among a kind's arcs; -1: not here */
	struct rg__transport transport; /* solved */
};

/* Builds and solves the transport problem of block `number`; what is set above before must be set. `link_offsets` is
 * room for one number per link. Lives in `arena`. False: out of memory. */
bool rg__block_solve(struct rg__block *block, struct rg__arena *arena);

/* The arc from a partition's kind to a member; -1: the member is of another block. */
int64_t rg__block_arc(const struct rg__block *block, int32_t kind, int32_t member);

#endif
