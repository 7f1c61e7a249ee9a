/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_VALIDATE_H
#define RG__ASSIGN_VALIDATE_H

#include "assign/plan.h"

/* Checks what the leader is about to send: each partition at most once, only to members that subscribe to its topic, no
 * index out of range. Partitions may be left out (a cooperative assignor withholds what must be revoked first): their
 * number comes back in `ret_withheld` (may be NULL). RG_OK and the plan is indexed by member; RG_ERR_BAD_PLAN with the
 * first fault by name in `error`; RG_ERR_MEMORY. */
rg_err rg__plan_validate(struct rg_plan *plan, int32_t *ret_withheld, rg_error *error);

#endif
