/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/polls.h"

#include <math.h>

void rg__polls_tick(struct rg__polls *polls, const struct rg__stat_conf *windows, int64_t now_us)
{
	if (polls->began_us) {
		rg__stat_add_many(&polls->between, windows, polls->same + 1, now_us - polls->began_us, now_us);
		rg__stat_add_many(&polls->inside, windows, polls->same + 1, polls->ended_us - polls->began_us, now_us);
	}
	polls->began_us = now_us;
	polls->same = 0;
}

double rg__polls_idle(const struct rg__polls *polls, const struct rg__stat_conf *windows, int64_t now_us)
{
	int64_t all_us = rg__stat_sum(&polls->between, windows, now_us);

	return all_us ? (double)rg__stat_sum(&polls->inside, windows, now_us) / (double)all_us : NAN;
}
