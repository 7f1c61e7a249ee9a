/* SPDX-License-Identifier: Apache-2.0 */
/* Time has passed. What is merely due (look-up, JoinGroup, heartbeat) is sent by rg__advance() after every event. */
#include "group/internal.h"

/* No heartbeat was answered for a whole session. The coordinator, wherever it is, will give the partitions away from now
 * on, so they are owned no more. A dynamic member keeps id and generation and rejoins with them; a static one joins anew:
 * its seat is found by its instance id, and an old member id could fence it (librdkafka 3437). */
static void session_expired(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	machine->heartbeats_on = false;
	machine->session_ends_at = machine->heartbeat_at = RG__FOREVER;
	if (machine->conf.instance_id)
		rg__lose(machine, RG__LOST_SESSION, false, actions);
	else if (machine->owns)
		rg__tell_lost(machine, RG__LOST_SESSION, actions);
	rg__set_reason(machine->reason, "no heartbeat was answered for session.timeout.ms (%d ms)",
	               (int)machine->conf.session_timeout_ms);
	rg__drop_coordinator(machine, now_us, actions);
	if (machine->membership == RG__STABLE)
		rg__begin_rebalance(machine, actions);
	else if (machine->membership == RG__ASSIGNING)
		rg__again(machine, now_us, RG__REQUEST_HEARTBEAT, rg__react(RG__REQUEST_HEARTBEAT, RG_ERR_TIMED_OUT));
}

RG__HANDLER(rg__on_deadline)
{
	(void)event;
	if (rg__session_counts(machine) && now_us >= machine->session_ends_at)
		session_expired(machine, now_us, actions);
	if (now_us >= rg__rejoin_by_us(machine)) {
		rg__tell_lost(machine, RG__LOST_UNKNOWN_MEMBER, actions);
		if (machine->membership == RG__ASSIGNING) /* nobody waits for the plan any more */
			rg__again(machine, now_us, RG__REQUEST_SYNC_GROUP, rg__react(RG__REQUEST_SYNC_GROUP, RG_ERR_TIMED_OUT));
	}
	if (now_us >= machine->leave_by) {
		machine->abandoned = true; /* nobody waits for the answer any more */
		rg__out(machine, actions);
	}
	if (machine->wanted && !machine->suspended && machine->membership != RG__FAILED && now_us >= machine->poll_ends_at)
		rg__poll_expired(machine, actions);
}
