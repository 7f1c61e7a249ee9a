/* SPDX-License-Identifier: Apache-2.0 */
/* Leaving: because the application wants it, or because it stopped polling. */
#include "base/alloc.h"
#include "group/internal.h"

#include <stdio.h>

static bool leave_is_sent(const struct rg__machine *machine, enum rg__leave_mode mode)
{
	if (machine->coordinator != RG__COORDINATOR_KNOWN || !machine->member_id)
		return false;
	if (mode == RG__LEAVE_DEFAULT) /* KIP-345: a static member's seat outlives it */
		return !machine->conf.instance_id;
	return mode == RG__LEAVE_ALWAYS;
}

static void forget_requests(struct rg__machine *machine)
{
	machine->join = machine->assign = machine->sync = machine->heartbeat = 0;
}

/* Out of the group, whatever became of the request. */
void rg__out(struct rg__machine *machine, struct rg__actions *actions)
{
	rg__lose(machine, RG__LOST_NOT, false, actions);
	machine->leave = 0;
	machine->leave_by = RG__FOREVER;
	if (machine->membership != RG__UNJOINED) {
		if (machine->membership != RG__LEAVING)
			rg__move(machine, RG__LEAVING);
		rg__move(machine, RG__UNJOINED);
	}
	if (machine->abandoned && machine->coordinator == RG__COORDINATOR_KNOWN) {
		rg__move_coordinator(machine, RG__COORDINATOR_UNKNOWN);
		rg__act(actions, RG__DO_DROP_COORDINATOR);
	}
	machine->abandoned = false;
	if (machine->leave_asked) /* leaving because of max.poll.interval.ms is no answer to LEAVE */
		rg__act(actions, RG__DO_LEFT);
	machine->leave_asked = false;
}

/* Sends LeaveGroup where it is due, and is out at once where it is not. */
static void leave(struct rg__machine *machine, enum rg__leave_mode mode, struct rg__actions *actions)
{
	bool joining = machine->membership == RG__JOINING || machine->membership == RG__SYNCING;

	/* A broker takes up what comes behind a parked request only when that is answered: with it the connection is of no
	 * use to whoever joins next. */
	machine->abandoned = joining;
	forget_requests(machine);
	if (!leave_is_sent(machine, mode)) {
		rg__out(machine, actions);
		return;
	}
	struct rg__action *send = rg__act(actions, RG__DO_SEND_LEAVE);

	rg__move(machine, RG__LEAVING);
	machine->heartbeats_on = false;
	machine->leave = send->attempt = rg__next_attempt(machine);
	send->timeout_us = machine->leave_timeout_us;
	send->beside_join = joining;
	send->reason = machine->leave_reason;
}

RG__HANDLER(rg__on_leave)
{
	machine->leave_asked = true;
	machine->wanted = machine->suspended = machine->held = false;
	machine->rejoin_wanted = false;
	machine->owns = false; /* the application gave everything up before it asked */
	machine->in_rebalance = false;
	machine->ask = 0;
	machine->poll_ends_at = RG__FOREVER;
	machine->leave_timeout_us = machine->conf.request_timeout_ms * INT64_C(1000);
	if (event->timeout_us > 0 && event->timeout_us < machine->leave_timeout_us)
		machine->leave_timeout_us = event->timeout_us;
	if (machine->membership == RG__LEAVING) { /* the answer that is on its way will do, if it comes in time */
		if (now_us + machine->leave_timeout_us < machine->leave_by)
			machine->leave_by = now_us + machine->leave_timeout_us;
		return;
	}
	rg__set_reason(machine->leave_reason, "%s", event->reason ? event->reason : "");
	leave(machine, event->leave_mode, actions);
}

/* KIP-62: max.poll.interval.ms is over. The seat goes to the others now; the member comes back when it polls again. */
void rg__poll_expired(struct rg__machine *machine, struct rg__actions *actions)
{
	bool owned = machine->owns;

	machine->suspended = true;
	machine->poll_ends_at = RG__FOREVER;
	if (machine->membership == RG__LEAVING || machine->membership == RG__UNJOINED)
		return;
	machine->leave_timeout_us = machine->conf.request_timeout_ms * INT64_C(1000);
	snprintf(machine->leave_reason, sizeof(machine->leave_reason),
	         "max.poll.interval.ms (%d ms) passed without a poll", (int)machine->conf.max_poll_interval_ms);
	rg__report(machine, RG__REQUEST_LEAVE_GROUP, RG_ERR_MAX_POLL, actions);
	machine->owns = false;
	leave(machine, RG__LEAVE_DEFAULT, actions);
	if (owned)
		rg__tell_lost(machine, RG__LOST_MAX_POLL, actions);
}

RG__HANDLER(rg__on_leave_answered)
{
	(void)now_us;
	if (!machine->leave || event->attempt != machine->leave)
		return;
	rg__out(machine, actions);
}
