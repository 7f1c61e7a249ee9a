/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_BACKOFF_H
#define RG__BASE_BACKOFF_H

#include <stdint.h>

/* A small random word (xorshift64*): the only randomness of the library's pure parts, so that one seed repeats a run. */
struct rg__random {
	uint64_t state; /* 0 is made into a constant by the first draw */
};
uint64_t rg__random_next(struct rg__random *random);

/* KIP-580: first * 2^failures, at most `max`, then ±20 % of it at random (so up to 1.2 * max). `failures` counts from 0.
 * Any unit, the same for all three; 0 when `first` is 0. */
int64_t rg__backoff(int64_t first, int64_t max, unsigned failures, struct rg__random *random);

#endif
