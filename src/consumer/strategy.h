/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_STRATEGY_H
#define RG__CONSUMER_STRATEGY_H

/* Which assignors a consumer offers, best first, and how it gives partitions up. */

#include "member/settings.h"

struct rg__listed_assignor {
	const rg_assignor *assignor;
	void *user;
	bool builtin;
};

struct rg__strategy {
	struct rg__listed_assignor *items;
	size_t count;
	bool cooperative; /* KIP-429: all of the listed can do it; one that cannot makes the whole list eager */
};

/* Reads partition.assignment.strategy. Assignors of the user's stay where they are, in `conf`. RG_OK;
 * RG_ERR_INVALID: a name nobody has, or named twice, or assignors without a protocol in common; RG_ERR_MEMORY. */
rg_err rg__strategy_resolve(const rg_conf *conf, struct rg__strategy *ret_strategy, rg_error *error);
void rg__strategy_free(struct rg__strategy *strategy);

/* By the name on the wire; NULL: none of the listed. */
const struct rg__listed_assignor *rg__strategy_find(const struct rg__strategy *strategy, const char *name);

#endif
