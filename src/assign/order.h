/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_ORDER_H
#define RG__ASSIGN_ORDER_H

#include <regroup/assignor.h>

/* Where a tie is broken by who comes first, all assignors mean this order, which is Java's (KIP-345): static members by
 * instance id, then dynamic ones by member id. A static member keeps its place across restarts, whatever its member id.
 * Returns member indexes, to be freed with rg__free; NULL when out of memory. */
int32_t *rg__member_order(const rg_group *group);

#endif
