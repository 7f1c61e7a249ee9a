/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_BALANCE_H
#define RG__ASSIGN_BALANCE_H

/* The heart of sticky, cooperative-sticky and weighted. In this order, each among what the former leave open:
 *   1. the best balance there is, for any subscriptions and weights (levels.h); exact,
 *   2. as few partitions as possible move away from an owner; exact, and with racks 2a to 2c as in transport.h; exact,
 *   3. each topic is spread over its members; by a greedy choice, not exact. */

#include "assign/plan.h"

struct rg__balance {
	const rg_group *group;
	const int32_t *owners;   /* by flat partition: who has it and subscribes to it, or RG__NOBODY */
	const int32_t *weights;  /* by member, 1 … RG__WEIGHT_MAX; NULL: all equal */
};

/* Fills an empty plan with every partition that has a subscriber. Racks are looked at if they matter
 * (rg__racks_matter). False: out of memory. */
bool rg__balance(const struct rg__balance *balance, struct rg_plan *plan);

#endif
