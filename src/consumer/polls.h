/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_POLLS_H
#define RG__CONSUMER_POLLS_H

/* How often the application polls, and how much of its time it spends there. With records at hand poll is called millions of
 * times a second: between two ticks of the clock that is one comparison and one addition. */

#include "base/stat.h"

struct rg__polls {
	int64_t began_us; /* the last one; 0: there was none */
	int64_t ended_us; /* of it, while none is under way */
	int64_t same;     /* polls that began in the same tick as the last one before */
	struct rg__stat between; /* from the beginning of one to the beginning of the next */
	struct rg__stat inside;  /* how much of that was inside the first of the two */
};

void rg__polls_tick(struct rg__polls *polls, const struct rg__stat_conf *windows, int64_t now_us);

static inline void rg__polls_begin(struct rg__polls *polls, const struct rg__stat_conf *windows, int64_t now_us)
{
	if (now_us == polls->began_us)
		polls->same++;
	else
		rg__polls_tick(polls, windows, now_us);
}

static inline void rg__polls_end(struct rg__polls *polls, int64_t now_us)
{
	polls->ended_us = now_us;
}

/* The share of the window's time that was spent inside poll, where the application waits for records. NaN: unknown. */
double rg__polls_idle(const struct rg__polls *polls, const struct rg__stat_conf *windows, int64_t now_us);

#endif
