/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_RANDOM_GROUP_H
#define TESTS_UNIT_RANDOM_GROUP_H

/* Random groups for tests that must hold for all groups; a seed gives the same group everywhere. */

#include "assign/plan.h"

#include <stdbool.h>

struct random {
	uint64_t state;
};

/* A number from 0 to below - 1. */
int32_t random_below(struct random *random, int32_t below);

struct random_shape {
	int32_t members_max, topics_max, partitions_max; /* each from 1; partitions per topic */
	int32_t partitions_total; /* at most */
	bool racks, weights, same_topics;
	bool wide_weights; /* of all sizes; else they are 1 to 4 */
};

struct random_group {
	rg_group group;
	int32_t *owners;  /* by flat partition, who it is currently given to, subscribed or not; RG__NOBODY */
	int32_t *weights; /* by member */
	int32_t partition_count;
};

/* A group whose members own something by chance: about a third of the partitions is nobody's. */
void random_group_init(struct random_group *random_group, struct random *random, const struct random_shape *shape);

/* Writes who owns what into the members' `owned`, at a generation. */
void random_group_claim(struct random_group *random_group, int32_t generation);

/* A member takes part no longer: subscribes to nothing. */
void random_group_drop(struct random_group *random_group, int32_t member);
void random_group_free(struct random_group *random_group);

bool random_group_subscribes(const rg_group *group, int32_t member, int32_t topic);

#endif
