/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_CLAIMS_H
#define RG__ASSIGN_CLAIMS_H

/* Who owns what, from what members say, which may be old or contradict itself. */

#include "assign/plan.h"
#include "base/arena.h"

/* What one member says it owns, sorted and without repetitions as in rg_group_member. */
struct rg__claim {
	const rg_group_partition *owned;
	int32_t count;
	int32_t generation; /* -1: it did not say */
};

struct rg__claims {
	int32_t *owners; /* by flat partition: whose it is, RG__NOBODY when nobody's or contested */
	unsigned char *flags; /* by flat partition: RG__CLAIMED, RG__CONTESTED */
};

/* Somebody says it is his, however old the claim; two members say so with the same and newest generation. */
enum { RG__CLAIMED = 1, RG__CONTESTED = 2 };

/* `claims` by member. The newest generation owns (KIP-792); where two of the same generation claim one partition,
 * neither does (KAFKA-12984). An older claim that nobody contradicts counts. Lives in `arena`. False: out of memory. */
bool rg__claims_init(struct rg__claims *ret, struct rg__arena *arena, const struct rg_plan *plan,
                     const struct rg__claim *claims);

/* Takes away what a member owns of topics it no longer subscribes to. */
void rg__claims_drop_unsubscribed(struct rg__claims *claims, const struct rg_plan *plan, const struct rg__claim *said);

#endif
