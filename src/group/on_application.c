/* SPDX-License-Identifier: Apache-2.0 */
/* What the application wants: start, rejoin, leave, and that it polls. */
#include "group/internal.h"

#include <stdio.h>
#include <string.h>

RG__HANDLER(rg__on_start)
{
	(void)event;
	(void)actions;
	if (machine->wanted)
		return;
	machine->wanted = true;
	machine->suspended = machine->held = false;
	machine->join_at = machine->find_at = now_us;
	machine->poll_ends_at =
		machine->conf.max_poll_interval_ms ? now_us + machine->conf.max_poll_interval_ms * INT64_C(1000) : RG__FOREVER;
	rg__set_reason(machine->reason, "%s", event->reason ? event->reason : "");
}

/* KIP-568. Before the application is prepared the wish is part of the rebalance that begins; afterwards it is one more. */
RG__HANDLER(rg__on_rejoin)
{
	(void)now_us;
	(void)actions;
	if (!machine->wanted || machine->membership == RG__FAILED)
		return;
	if (machine->membership == RG__UNJOINED && !machine->in_rebalance && !rg__joins_silently(machine))
		return; /* about to ask the application anyway */
	machine->rejoin_wanted = true;
	rg__set_reason(machine->wish, "%s", event->reason ? event->reason : "");
}

RG__HANDLER(rg__on_retry)
{
	(void)event;
	(void)actions;
	machine->held = false;
	(void)now_us;
}

/* KIP-62: the application proves by polling that it lives; the heartbeats prove only that the process does. */
RG__HANDLER(rg__on_poll)
{
	(void)actions;
	if (!machine->conf.max_poll_interval_ms)
		return;
	machine->poll_ends_at = event->polling ? RG__FOREVER
	                                       : now_us - event->ago_us + machine->conf.max_poll_interval_ms * INT64_C(1000);
	if (machine->suspended && !event->ago_us) {
		machine->suspended = false;
		rg__set_reason(machine->reason, "polling again after max.poll.interval.ms");
	}
}

/* Inside a rebalance nothing but the newest ask counts: an older answer was given before the newer thing happened. */
RG__HANDLER(rg__on_prepared)
{
	(void)now_us;
	(void)actions;
	if (!machine->ask || event->attempt != machine->ask)
		return;
	machine->ask = 0;
	machine->owns = event->keeps && machine->generation >= 0;
	if (!rg__joins_silently(machine))
		machine->rejoin_wanted = false; /* what it wanted so far is in the subscription that it just gave */
}

RG__HANDLER(rg__on_group_size)
{
	int64_t most_us = machine->conf.heartbeat_interval_ms * INT64_C(1000);
	int64_t interval_us;

	(void)now_us;
	(void)actions;
	if (!machine->conf.heartbeat_budget || event->group_size <= 0)
		return;
	interval_us = event->group_size * INT64_C(1000000) / machine->conf.heartbeat_budget;
	if (interval_us < RG__HEARTBEAT_MIN_US)
		interval_us = RG__HEARTBEAT_MIN_US;
	machine->heartbeat_interval_us = interval_us < most_us ? interval_us : most_us;
	machine->heartbeat_grows = false;
	if (machine->heartbeats_on && machine->heartbeat_at > now_us + machine->heartbeat_interval_us)
		machine->heartbeat_at = now_us + machine->heartbeat_interval_us;
}
