/* SPDX-License-Identifier: Apache-2.0 */
#include "base/backoff.h"

uint64_t rg__random_next(struct rg__random *random)
{
	uint64_t x = random->state ? random->state : 0x9e3779b97f4a7c15u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545f4914f6cdd1du;
}

int64_t rg__backoff(int64_t first, int64_t max, unsigned failures, struct rg__random *random)
{
	int64_t delay = first;

	while (failures-- && delay < max)
		delay = delay > INT64_MAX / 2 ? max : delay * 2;
	if (delay > max)
		delay = max;
	if (delay <= 0)
		return 0;
	int64_t thousandths = (int64_t)(800 + rg__random_next(random) % 401);

	return delay / 1000 * thousandths + delay % 1000 * thousandths / 1000;
}
