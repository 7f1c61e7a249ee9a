/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_TRANSPORT_H
#define RG__ASSIGN_TRANSPORT_H

/* A transport problem: lefts (kinds of partitions) have a supply that must go to rights (members) along arcs, and
 * each right takes only so much. Solved exactly, as a flow of least cost.
 *
 * A right takes `limits[r]`, and one more if it is `optional[r]`, which at most `extra` rights may do. Along an arc
 * goes what is kept (up to the arc's `keep_caps`: what the right has already) and what is moved (without limit). The
 * cost is lexicographic:
 *   1. as few units as possible are moved off a right that had them, where the arc is not mismatched,
 *   2. as few units as possible go along mismatched arcs (the member is in none of the partition's racks),
 *   3. as few units as possible are moved off a right that had them on a mismatched arc.
 * Without mismatches only 1 is left. Second before third is KIP-881's: who owns a partition outside its racks loses
 * it to somebody inside, if balance allows. */

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct rg__transport {
	int32_t left_count, right_count;
	const int64_t *arc_starts; /* left_count + 1 */
	const int32_t *arc_rights; /* ascending for each left */
	const int32_t *keep_caps;        /* by arc; NULL: nothing is kept, nothing costs anything */
	const unsigned char *mismatches; /* by arc; NULL: none */
	int64_t *supplies;               /* in: what each left has to send; out: what it could not */
	int64_t *limits;
	const unsigned char *optional; /* NULL: none */
	int64_t extra;

	/* The solution. */
	int32_t *keeps, *moves;     /* by arc */
	int64_t *loads;             /* by right, up to its limit */
	unsigned char *extras;      /* by right: takes one more */
	int64_t *overs;             /* by right: what it got but may not keep; 0 when all could be sent */
	struct rg__transport_work *work;
};

/* Prepares what is not given above, in `arena`; everything given must be set and stay. False: out of memory. */
bool rg__transport_init(struct rg__transport *transport, struct rg__arena *arena);

/* Sends as much as possible, at least cost. Limits may be raised afterwards and it be called again, if there are no
 * costs. */
void rg__transport_solve(struct rg__transport *transport);

/* After a solution without costs that left supplies over: marks (1) the lefts that have some over, the rights they
 * can send to, which are all full, the lefts that have sent to those and so on: what is cut off from the rest, which
 * has room. */
void rg__transport_cut_off(const struct rg__transport *transport, unsigned char *rights, unsigned char *lefts);

/* After a solution without costs: marks (by right and by left, 1) the rights that take less than their limit, all
 * lefts that could send to them, and, as those could send to them instead, all rights such lefts send to, and so on.
 * False: none takes less. */
bool rg__transport_wanting(const struct rg__transport *transport, unsigned char *rights, unsigned char *lefts);

#endif
