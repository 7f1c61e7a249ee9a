/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_RACKS_H
#define RG__ASSIGN_RACKS_H

/* KIP-881: who can read from a replica in its own rack. Rack names become numbers, and partitions with the same
 * racks share one rack set, so that a group with a million partitions still has a handful of sets. */

#include "assign/plan.h"
#include "base/arena.h"

enum { RG__NO_RACK = -1 };

struct rg__racks {
	int32_t rack_count;
	int32_t *member_racks; /* RG__NO_RACK for a member without one */
	int32_t *sets;         /* the set of each flat partition */
	int32_t set_count;
	struct rg__rack_set {
		const int32_t *racks; /* ascending, each once */
		int32_t count;
	} *items;
	int32_t *stamps; /* per rack: the last call of rg__racks_matter() in which a member had it */
	int32_t stamp;
	struct rg__arena arena;
};

/* Whether any member of the group has a rack; nothing else needs to be looked at when none has. */
bool rg__racks_wanted(const rg_group *group);

/* False: out of memory. rg__racks_free() in any case. */
bool rg__racks_init(struct rg__racks *racks, const rg_group *group, const struct rg_plan *plan);
void rg__racks_free(struct rg__racks *racks);

/* Whether a member may read the partitions of a set in its rack; a member without a rack may read anywhere. */
bool rg__racks_match(const struct rg__racks *racks, int32_t member, int32_t set);

/* Java's rule when racks matter: some member's rack is a broker's, and the partitions do not all have the same
 * racks. For the flat partitions from `first` to `end` and the members listed. */
bool rg__racks_matter(struct rg__racks *racks, int32_t first, int32_t end, const int32_t *members, int64_t count);

#endif
