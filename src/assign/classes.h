/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_CLASSES_H
#define RG__ASSIGN_CLASSES_H

/* Members with the same subscription (and weight) are one class, topics with the same subscribers are one class: in
 * most groups there is one of each, whatever their size, and the questions of balance are asked between classes. */

#include "assign/plan.h"
#include "base/arena.h"

struct rg__classes {
	int32_t member_class_count, topic_class_count;
	int32_t *member_classes; /* the class of each member */
	int32_t *topic_classes;  /* the class of each topic */
	int32_t *places;         /* of each member: its place in its class */

	/* Members by class, in the order of rg__member_order(); classes are numbered by their first member. */
	int32_t *member_starts, *members;
	/* Topics by class, ascending; classes are numbered by their first topic. */
	int32_t *topic_starts, *topics;
	/* The member classes that subscribe to a topic class, ascending. */
	int64_t *link_starts;
	int32_t *links;
};

/* `weights` by member, or NULL; `order` is rg__member_order()'s. Lives in `arena`. False: out of memory. */
bool rg__classes_init(struct rg__classes *classes, struct rg__arena *arena, const rg_group *group, const int32_t *order,
                      const int32_t *weights);

#endif
