/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_SUBSCRIPTION_H
#define RG__CONSUMER_SUBSCRIPTION_H

/* What a consumer subscribes to, and the bytes that tell it to the group's leader. */

#include "base/arena.h"
#include "base/bytes.h"
#include "codec/field.h"
#include "consumer/ownership.h"
#include "consumer/patterns.h"
#include "consumer/strategy.h"

/* Topic names in byte order, each once. */
struct rg__topics {
	const char **items;
	size_t count;
	struct rg__arena arena;
	const struct rg__patterns *patterns; /* whose matches are subscribed to as well; belong to somebody else; NULL: none */
};

/* Copies, checks and orders. RG_OK; RG_ERR_INVALID: none, or a name that no topic can have; RG_ERR_MEMORY. */
rg_err rg__topics_copy(struct rg__topics *ret_topics, const char *const *names, size_t count, rg_error *error);
/* What is subscribed to with these names, some of which may be patterns, when the patterns have found that. There may
 * be nothing. RG_OK or RG_ERR_MEMORY. */
rg_err rg__topics_resolve(struct rg__topics *ret_topics, const struct rg__topics *asked, const char *const *found,
                          size_t found_count, rg_error *error);
void rg__topics_free(struct rg__topics *topics);
bool rg__topics_equal(const struct rg__topics *a, const struct rg__topics *b);
const char *rg__topics_find(const struct rg__topics *topics, struct rg__bytes name); /* ours of that name, or NULL */

/* Partitions as the consumer protocol has them, topic by topic, out of the arena. False: out of memory. */
bool rg__partitions_by_topic(const struct rg__partitions *partitions, struct rg__arena *arena,
                             struct rg__array *ret_topics);

struct rg__subscriber {
	const struct rg__topics *topics;
	const struct rg__partitions *owned; /* NULL: an eager member, which owns nothing when it joins */
	int32_t generation;                 /* the last one, -1: none */
	const char *rack;                   /* KIP-881, or NULL */
};

/* Appends the metadata for JoinGroup, version 3. The same subscription gives the same bytes: a broker starts a
 * rebalance when a member's change. RG_OK; RG_ERR_ASSIGNOR: the assignor's userdata function failed; RG_ERR_MEMORY.
 * `ask` false leaves the userdata out: it is the assignor's code, which runs inside poll only. */
rg_err rg__subscription_write(const struct rg__subscriber *subscriber, const struct rg__listed_assignor *assignor,
                              bool ask,
                              struct rg__buf *out, rg_error *error);

#endif
