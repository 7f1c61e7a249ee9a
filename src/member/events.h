/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_EVENTS_H
#define RG__MEMBER_EVENTS_H

/* The way of event lines to the application's callback: one at a time, from any thread. */

#include "base/event_line.h"
#include "link/io.h"

#include <regroup/conf.h>

struct rg__event_sink;

/* NULL: out of memory. `write` may be NULL, then nothing is emitted. */
struct rg__event_sink *rg__event_sink_new(rg_event_cb *write, void *user, struct rg__io *io);
void rg__event_sink_free(struct rg__event_sink *sink);

bool rg__event_wanted(const struct rg__event_sink *sink); /* false: building a line would be wasted */
int64_t rg__event_now_us(const struct rg__event_sink *sink); /* what t_us means: wall clock, or the simulation's */

/* Ends the line, hands it over and frees it. A line that memory ran out for is dropped. */
void rg__event_emit(struct rg__event_sink *sink, struct rg__event_line *line);

#endif
