/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_SIM_INTERNAL_H
#define RG__TESTKIT_SIM_INTERNAL_H

#include "testkit/sim_net.h"

/* sim_net.c: a connection that begins; NULL: out of memory. */
struct rg__stream *rg__sim_connect(struct rg__sim_host *host, int port);

#endif
