/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_PROBE_H
#define TESTS_SIM_PROBE_H

/* A look inside a member, for the checks. */

#include <regroup/member.h>
#include <stdbool.h>

struct rg__machine;
const struct rg__machine *probe_machine(const rg_member *member);

/* Whether such an event waits to be taken. */
int probe_owes(const rg_member *member, rg_member_event_type type);

/* Whether the coordinator has told it to send nothing for now (KIP-219). */
bool probe_throttled(const rg_member *member, int64_t now_us);
struct rg__link;
bool probe_link_throttled(const struct rg__link *link, int64_t now_us);

#endif
