/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_KINDS_H
#define RG__ASSIGN_KINDS_H

/* Partitions of one topic class with the same rack set are of one kind: of all criteria only the spread of topics tells
 * them apart. Kinds are numbered in the order of the levels' blocks. */

#include "assign/classes.h"
#include "assign/levels.h"
#include "assign/racks.h"

struct rg__kind {
	int32_t topic_class, set; /* the rack set, -1 without racks */
	int64_t supply;           /* how many partitions */
};

struct rg__kinds {
	struct rg__kind *items;
	int32_t count;
	int32_t *of;     /* by flat partition */
	int32_t *starts; /* by place in the levels' topic order: its first kind; one more behind the last */
};

/* `racks` may be NULL. Lives in `arena`. False: out of memory. */
bool rg__kinds_init(struct rg__kinds *kinds, struct rg__arena *arena, const struct rg_plan *plan,
                    const struct rg__classes *classes, const struct rg__levels *levels, const struct rg__racks *racks);

#endif
