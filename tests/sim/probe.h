/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_PROBE_H
#define TESTS_SIM_PROBE_H

/* A look inside a member, for the checks. */

#include <regroup/member.h>

struct rg__machine;
const struct rg__machine *probe_machine(const rg_member *member);

/* Whether such an event waits to be taken. */
int probe_owes(const rg_member *member, rg_member_event_type type);

#endif
