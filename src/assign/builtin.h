/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_BUILTIN_H
#define RG__ASSIGN_BUILTIN_H

#include "assign/plan.h"

/* The assignors that need no registering. */
extern const rg_assignor rg__range;
extern const rg_assignor rg__roundrobin;
extern const rg_assignor rg__sticky;
extern const rg_assignor rg__cooperative_sticky;
extern const rg_assignor rg__weighted;

/* A built-in by its name or by the name of Java's class, as people copy both from configurations; NULL: none of
 * ours. */
const rg_assignor *rg__builtin_find(const char *name);

/* What a built-in's functions get as `user`: its memory between rounds, one per consumer; NULL for those without.
 * `capacity` is what the member states to `weighted`, 1 … RG__CAPACITY_MAX. RG_OK, RG_ERR_INVALID or RG_ERR_MEMORY.
 * `assign` does not look at it and may be given NULL. */
rg_err rg__builtin_open(const rg_assignor *assignor, int32_t capacity, void **ret_user);
void rg__builtin_close(void *user);

enum { RG__CAPACITY_MAX = 65535 };

/* The i-th built-in, NULL behind the last. */
const rg_assignor *rg__builtin_at(int i);

#endif
