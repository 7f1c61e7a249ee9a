/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_USERDATA_H
#define RG__ASSIGN_USERDATA_H

/* The userdata of Java's sticky assignors, byte for byte, so that in a mixed group any member can lead. */

#include "assign/claims.h"
#include "assign/names.h"

/* Java's StickyAssignor (KIP-54, KIP-341): what the member owned and, since v1, of which generation. Topics are
 * looked up in the group; what does not exist is left out. Empty or null userdata: owns nothing. Broken userdata:
 * owns nothing, too, as Java does. False: out of memory. */
bool rg__userdata_read_sticky(rg_bytes userdata, const rg_group *group, const struct rg__names *topics,
                              struct rg__arena *arena, struct rg__claim *ret);

/* The table of a group's topics that this needs. False: out of memory. */
bool rg__userdata_index_topics(struct rg__names *ret_topics, const rg_group *group, struct rg__arena *arena);

/* Writes it (v1) for what a member got; returns the length, which may be above `capacity`: then the end is missing. */
int32_t rg__userdata_write_sticky(const rg_assignment *assignment, void *buffer, int32_t capacity);

/* Java's CooperativeStickyAssignor: the generation of the last assignment, -1 before the first. Java reads it only from
 * members whose subscription does not say its generation itself (before KIP-792). Broken: -1. */
int32_t rg__userdata_read_generation(rg_bytes userdata);
int32_t rg__userdata_write_generation(int32_t generation, void *buffer, int32_t capacity);

/* Ours, for `weighted`: a capacity, as one int32, 1 … RG__WEIGHT_MAX; everything else counts as 1. It is written by
 * rg__userdata_write_generation(): the same four bytes. */
int32_t rg__userdata_read_capacity(rg_bytes userdata);

#endif
