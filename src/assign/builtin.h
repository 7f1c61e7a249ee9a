/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_BUILTIN_H
#define RG__ASSIGN_BUILTIN_H

#include "assign/plan.h"

/* The assignors that need no registering. */
extern const rg_assignor rg__range;
extern const rg_assignor rg__roundrobin;

/* A built-in by its name or by the name of Java's class, as people copy both from configurations; NULL: none of ours. */
const rg_assignor *rg__builtin_find(const char *name);

/* The i-th built-in, NULL behind the last. */
const rg_assignor *rg__builtin_at(int i);

#endif
