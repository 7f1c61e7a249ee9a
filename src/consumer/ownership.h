/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_OWNERSHIP_H
#define RG__CONSUMER_OWNERSHIP_H

/* What a member gives up and what it takes, as sets of partitions. No librdkafka, no thread, no memory of its own. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rg__partition {
	const char *topic;
	int32_t number;
};

/* Partitions in order, each once. */
struct rg__partitions {
	struct rg__partition *items;
	size_t count;
};

/* By topic (byte order), then by number. */
int rg__partition_compare(const struct rg__partition *a, const struct rg__partition *b);

/* Puts partitions in order and drops repeated ones. Returns how many were dropped. */
size_t rg__partitions_sort(struct rg__partitions *partitions);

/* The thing of a partition among `count` things of `size` bytes each, which begin with their struct rg__partition and are
 * in the order of these; NULL: there is none. The topic is as a broker names it. */
void *rg__partition_find(const void *things, size_t count, size_t size, struct rg__bytes topic, int32_t number);

/* The index of a partition, or -1. */
ptrdiff_t rg__partitions_find(const struct rg__partitions *partitions, const char *topic, int32_t number);

/* What is given up before JoinGroup: everything in an eager group; in a cooperative one (KIP-429) only what is not
 * subscribed to any more. `topics` are in byte order; ret_given_up->items has room for all that is owned. */
void rg__ownership_before_join(const struct rg__partitions *owned, bool cooperative, const char *const *topics,
                               size_t topic_count, struct rg__partitions *ret_given_up);

/* What a new assignment means for what is owned still: KIP-429's revoked = owned - assigned and added = assigned -
 * owned; the rest is kept. An eager member owns nothing by then. The results have room for as many as they can be. */
void rg__ownership_after_join(const struct rg__partitions *owned, const struct rg__partitions *assigned,
                              struct rg__partitions *ret_revoked, struct rg__partitions *ret_added);

#endif
