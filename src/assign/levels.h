/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_LEVELS_H
#define RG__ASSIGN_LEVELS_H

/* The best balance that the subscriptions allow. A plan is best when the sum of load² / weight over all members is the
 * smallest possible; with equal weights that also makes the sorted list of loads the best one there is.
 *
 * What all best plans have in common: the group falls into blocks, from the busiest members to the idlest,
 * partitions never cross from one block to another, and inside a block each member takes its limit or, where it may,
 * one more, of which there is a fixed number. Any plan that keeps to that is a best one (the theory: M-convex sets,
 * least majorised bases). */

#include "assign/classes.h"

struct rg__levels {
	int32_t block_count;
	int32_t *member_blocks; /* by member class */
	int32_t *topic_blocks;  /* by topic class: the block whose members take all its partitions */
	int64_t *limits;        /* by member class, for each of its members */
	unsigned char *optional; /* by member class: each of its members may take one more */
	int64_t *extras;        /* by block: how many members do */
	int32_t topic_count;
	int32_t *topic_order;   /* topic classes with subscribers, block after block, those with few subscribers first */
	int32_t *member_order;  /* all member classes, block after block */
	int32_t *topic_starts, *member_starts; /* by block: where it begins in the orders; block_count + 1 */
};

/* `supplies` by topic class, `weights` by member class (1 … RG__WEIGHT_MAX), or NULL. Lives in `arena`. False: out
 * of memory. */
bool rg__levels_init(struct rg__levels *levels, struct rg__arena *arena, const struct rg__classes *classes,
                     const int64_t *supplies, const int32_t *weights);

enum { RG__WEIGHT_MAX = 65535 }; /* so that prices compare exactly in 64 bits */

#endif
