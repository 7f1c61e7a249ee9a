/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_BACKOFF_H
#define RG__BASE_BACKOFF_H

#include <stdint.h>

/* The next word of a seeded sequence (splitmix64). Any start value is fine, also 0. */
uint64_t rg__random_next(uint64_t *state);

/* KIP-580: how long to wait before the attempt after `failures` failures in a row (1 or more; less counts as 1):
 * base_ms * 2^(failures-1), within 20 % above or below as *random decides, and at most max_ms. Never less than 1.
 * A max_ms below base_ms counts as base_ms. */
int64_t rg__backoff_ms(int64_t base_ms, int64_t max_ms, uint32_t failures, uint64_t *random);

#endif
