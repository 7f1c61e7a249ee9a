/* SPDX-License-Identifier: Apache-2.0 */
#include "base/backoff.h"

uint64_t rg__random_next(uint64_t *state)
{
	uint64_t word = *state += UINT64_C(0x9e3779b97f4a7c15);

	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return word ^ (word >> 31);
}

int64_t rg__backoff_ms(int64_t base_ms, int64_t max_ms, uint32_t failures, uint64_t *random)
{
	enum { JITTER_PER_MILLE = 200, LARGEST = INT32_MAX }; /* no backoff of interest is longer than 24 days */
	int64_t base = base_ms < 1 ? 1 : base_ms > LARGEST ? LARGEST : base_ms;
	int64_t max = max_ms > LARGEST ? LARGEST : max_ms < base ? base : max_ms;
	int64_t delay = base;

	for (uint32_t i = 1; i < failures && delay < max; i++)
		delay *= 2;
	if (delay > max)
		delay = max;
	int64_t per_mille = 1000 - JITTER_PER_MILLE + (int64_t)(rg__random_next(random) % (2 * JITTER_PER_MILLE + 1));

	delay = delay * per_mille / 1000;
	return delay < 1 ? 1 : delay > max ? max : delay;
}
