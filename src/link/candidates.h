/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_CANDIDATES_H
#define RG__LINK_CANDIDATES_H

/* The addresses a cluster may be reached at, and which to try next. No I/O, no clock. */

#include "link/bootstrap.h"

#include "base/backoff.h"

#include <stdbool.h>

struct rg__candidate {
	struct rg__endpoint at;
	bool bootstrap;
	int32_t node_id; /* -1: not known as a broker */
	unsigned failures;
	int64_t not_before_us; /* of the next attempt */
	uint64_t tried;        /* counts attempts over all; 0: never */
};

struct rg__candidates {
	struct rg__candidate *items;
	size_t count, capacity;
	uint64_t tries;
	int64_t backoff_ms, backoff_max_ms;
	struct rg__random random;
	bool never_again; /* bootstrap addresses are not tried while any broker is known (metadata.recovery.strategy=none) */
};

/* Takes the endpoints, in a random order. RG_ERR_MEMORY. */
rg_err rg__candidates_init(struct rg__candidates *candidates, const struct rg__endpoint *bootstrap, size_t count,
                           int64_t backoff_ms, int64_t backoff_max_ms, uint64_t seed);
void rg__candidates_clear(struct rg__candidates *candidates);

/* A broker, instead of one with the same id. RG_ERR_INVALID: negative id, empty or overlong host, unusable port,
 * or more brokers than anybody has. RG_ERR_MEMORY. */
rg_err rg__candidates_learn(struct rg__candidates *candidates, int32_t node_id, const char *host, size_t host_len,
                            int32_t port);
/* To learn a whole list: forget, learn each, tidy. What is in both lists keeps its backoff. */
void rg__candidates_forget(struct rg__candidates *candidates); /* no address is a known broker any more */
void rg__candidates_tidy(struct rg__candidates *candidates);   /* drops what is neither a broker nor bootstrap */
bool rg__candidates_any_known(const struct rg__candidates *candidates);
const struct rg__candidate *rg__candidates_node(const struct rg__candidates *candidates, int32_t node_id);

/* The next to try: a known broker that has not failed since it last worked; else, of all addresses whose backoff
 * is over, the one not tried for longest (KIP-899: when no broker works, the bootstrap addresses have their turn).
 * NULL: none yet, *ret_at_us says when. */
struct rg__candidate *rg__candidates_next(struct rg__candidates *candidates, int64_t now_us, int64_t *ret_at_us);

/* How an attempt went, by address, for the array may have changed meanwhile. */
void rg__candidates_failed(struct rg__candidates *candidates, const struct rg__endpoint *at, int64_t now_us);
void rg__candidates_worked(struct rg__candidates *candidates, const struct rg__endpoint *at);

#endif
