/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator: found, not found, gone. */
#include "group/internal.h"

static int64_t find_pause_us(struct rg__machine *machine)
{
	return rg__backoff(machine->conf.retry_backoff_ms * INT64_C(1000), machine->conf.retry_backoff_max_ms * INT64_C(1000),
	                   machine->find_failures++, &machine->random);
}

/* The connection is of no use any more. That alone does not end a membership: Stable stays Stable, and a rebalance goes on
 * once the coordinator is known again. The first look-up goes out at once; while look-ups keep naming a broker that does
 * not do (librdkafka 3396), or one that does for a moment only, the pauses grow. */
void rg__drop_coordinator(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	if (machine->coordinator != RG__COORDINATOR_KNOWN)
		return;
	rg__move_coordinator(machine, RG__COORDINATOR_UNKNOWN);
	rg__act(actions, RG__DO_DROP_COORDINATOR);
	machine->abandoned = false;
	machine->heartbeat = 0;
	machine->find_at = now_us;
	if (machine->coordinator_good && now_us - machine->found_at >= machine->conf.retry_backoff_max_ms * INT64_C(1000))
		machine->find_failures = 0;
	if (machine->find_failures == 0)
		machine->find_failures = 1;
	else
		machine->find_at += find_pause_us(machine);
	if (machine->membership == RG__JOINING)
		rg__join_unheard(machine);
	if (machine->membership == RG__JOINING || machine->membership == RG__SYNCING)
		rg__again(machine, now_us, RG__REQUEST_JOIN_GROUP, rg__react(RG__REQUEST_JOIN_GROUP, RG_ERR_TRANSPORT));
	else if (machine->membership == RG__LEAVING)
		rg__out(machine, actions);
}

RG__HANDLER(rg__on_coordinator_down)
{
	(void)event;
	rg__drop_coordinator(machine, now_us, actions);
}

RG__HANDLER(rg__on_find_answered)
{
	const struct rg__reaction *reaction = rg__react(RG__REQUEST_FIND_COORDINATOR, event->err);

	if (!machine->find || event->attempt != machine->find)
		return;
	machine->find = 0;
	if (!event->err) {
		rg__move_coordinator(machine, RG__COORDINATOR_KNOWN);
		machine->found_at = now_us;
		machine->coordinator_good = false;
		if (machine->heartbeats_on)
			machine->heartbeat_at = now_us; /* it may have forgotten us: ask */
		return;
	}
	rg__move_coordinator(machine, RG__COORDINATOR_UNKNOWN);
	machine->find_at = now_us + find_pause_us(machine);
	if (!machine->wanted)
		return; /* it left meanwhile: nobody waits for the coordinator any more */
	if (reaction->verb == RG__FAIL) {
		rg__fail_for_good(machine, RG__REQUEST_FIND_COORDINATOR, event->err, actions);
	} else if (reaction->verb == RG__REPORT) {
		machine->held = true;
		rg__report(machine, RG__REQUEST_FIND_COORDINATOR, event->err, actions);
	}
}
