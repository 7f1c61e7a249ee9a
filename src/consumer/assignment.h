/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_ASSIGNMENT_H
#define RG__CONSUMER_ASSIGNMENT_H

/* What the leader gave this member. */

#include "base/arena.h"
#include "base/log.h"
#include "consumer/ownership.h"
#include "consumer/subscription.h"

#include <regroup/assignor.h>

/* Reads it into partitions in order, each once; their topics are the strings of `topics`. What is not subscribed to
 * (the leader may have seen an older subscription) and numbers that cannot be are dropped and counted. Zero bytes
 * mean that nothing is owned: a leader left this member out. RG_OK, RG_ERR_PROTOCOL, RG_ERR_MEMORY. */
rg_err rg__assignment_read(rg_bytes bytes, const struct rg__topics *topics, struct rg__arena *arena,
                           const struct rg__log *log, struct rg__partitions *ret_partitions, rg_bytes *ret_userdata,
                           size_t *ret_dropped, rg_error *error);

/* The same as the assignor sees it, out of the arena. False: out of memory. */
bool rg__assignment_view(const struct rg__partitions *partitions, struct rg__arena *arena,
                         rg_assignment *ret_assignment);

#endif
