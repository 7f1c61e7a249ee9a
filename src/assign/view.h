/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_VIEW_H
#define RG__ASSIGN_VIEW_H

/* Builds the dense view that assignors see out of what members said (names, in any order, not to be trusted) and what
 * the cluster has. */

#include "base/arena.h"
#include "base/bytes.h"

#include <regroup/assignor.h>

struct rg__owned_input {
	struct rg__bytes topic;
	const int32_t *partitions;
	int32_t count;
};

struct rg__member_input {
	struct rg__bytes member_id;
	struct rg__bytes instance_id, rack; /* the null view: none; an empty rack is none, too (KIP-881) */
	const struct rg__bytes *topics;     /* none when its subscription could not be read: it gets nothing */
	int32_t topic_count;
	const struct rg__owned_input *owned;
	int32_t owned_count;
	int32_t generation; /* -1 when unknown */
	struct rg__bytes userdata;
};

struct rg__racks_input {
	const struct rg__bytes *names; /* the null view: a broker without a rack */
	int32_t count;
};

struct rg__topic_input {
	struct rg__bytes name;
	int32_t partition_count;
	const struct rg__racks_input *racks; /* per partition, or NULL */
};

struct rg__view {
	rg_group group;
	const int32_t *sources; /* for each member of the view the index of its input: the view's ids end at a NUL byte */
	int32_t dropped_members; /* same member id as an earlier one */
	int64_t dropped_claims;  /* owned partitions that do not exist, or were named twice */
	struct rg__arena arena;
};

/* Everything in the view is a copy, but for userdata. Members with the id of an earlier input are dropped, and so are
 * topics that the cluster does not have or nobody subscribes to. RG_OK, RG_ERR_MEMORY, or RG_ERR_INVALID when there
 * are more than INT32_MAX partitions. Free with rg__view_free(), also after an error. */
rg_err rg__view_build(struct rg__view *view, const struct rg__member_input *members, int32_t member_count,
                      const struct rg__topic_input *topics, int32_t topic_count, int32_t generation, rg_error *error);
void rg__view_free(struct rg__view *view);

#endif
