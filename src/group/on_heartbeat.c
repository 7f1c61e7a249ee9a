/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to Heartbeat: where a Stable member learns what the group is doing. */
#include "group/internal.h"

#include <string.h>

/* When the coordinator may give the seat away, after an answer to what was sent at `sent_at`: its timer cannot have started
 * earlier, and how long the answer took to arrive we cannot know. A third of a session is left in any case, to get in touch
 * before anything is called lost. */
int64_t rg__session_end_us(const struct rg__machine *machine, int64_t now_us, int64_t sent_at)
{
	int64_t session_us = machine->conf.session_timeout_ms * INT64_C(1000);
	int64_t least = now_us + session_us / 3;

	return sent_at + session_us > least ? sent_at + session_us : least;
}

static void alive(struct rg__machine *machine)
{
	/* Counted from when it was sent: the coordinator's timer cannot have started earlier. */
	machine->session_ends_at = machine->heartbeat_sent_at + machine->conf.session_timeout_ms * INT64_C(1000);
	machine->session_doubtful = false;
	machine->heartbeat_failures = 0;
	machine->coordinator_good = true;
}

static void good(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	int64_t most_us = machine->conf.heartbeat_interval_ms * INT64_C(1000);

	alive(machine);
	machine->calm_at = machine->heartbeat_sent_at;
	machine->auth_reported = false;
	if (machine->proving) {
		rg__complete(machine, now_us, actions);
		return;
	}
	if (machine->membership != RG__STABLE)
		return;
	memset(machine->repeats, 0, sizeof(machine->repeats));
	if (machine->heartbeat_grows) {
		machine->heartbeat_interval_us *= 2;
		if (machine->heartbeat_interval_us >= most_us) {
			machine->heartbeat_interval_us = most_us;
			machine->heartbeat_grows = false;
		}
	}
}

/* The group rebalances (27) or goes on without us (22, 25). */
static void rejoin(struct rg__machine *machine, int64_t now_us, const struct rg__event *event,
                   const struct rg__reaction *reaction, struct rg__actions *actions)
{
	if (reaction->keep_generation) {
		alive(machine); /* an answer all the same (librdkafka 3450) */
		if (machine->proving) {
			rg__refused(machine, now_us, RG__REQUEST_SYNC_GROUP, event->err, actions); /* it came between */
			return;
		}
		if (machine->membership != RG__STABLE)
			return; /* the rebalance we are in is the one it speaks of */
		rg__set_reason(machine->reason, "the group is rebalancing");
	} else {
		rg__lose(machine, rg__loss_of(event->err), reaction->keep_member_id, actions);
		rg__set_reason(machine->reason, "heartbeat answered %s", rg_err_name(event->err));
	}
	if (machine->membership == RG__STABLE)
		rg__begin_rebalance(machine, actions);
	rg__again(machine, now_us, RG__REQUEST_HEARTBEAT, reaction);
}

RG__HANDLER(rg__on_heartbeat_answered)
{
	const struct rg__reaction *reaction = rg__react(RG__REQUEST_HEARTBEAT, event->err);

	/* KAFKA-9823: an answer for a generation that is over says nothing about this one. */
	if (!machine->heartbeat || event->attempt != machine->heartbeat)
		return;
	machine->heartbeat = 0;
	switch (reaction->verb) {
	case RG__GO_ON:
		good(machine, now_us, actions);
		return;
	case RG__REJOIN:
		rejoin(machine, now_us, event, reaction, actions);
		return;
	case RG__FAIL:
		rg__fail_for_good(machine, RG__REQUEST_HEARTBEAT, event->err, actions);
		return;
	case RG__REPORT:
		if (!machine->auth_reported)
			rg__report(machine, RG__REQUEST_HEARTBEAT, event->err, actions);
		machine->auth_reported = true;
		break;
	case RG__RETRY:
	case RG__CALLER:
		break;
	}
	machine->heartbeat_at = now_us + rg__backoff(machine->conf.retry_backoff_ms * INT64_C(1000),
	                                             machine->conf.retry_backoff_max_ms * INT64_C(1000),
	                                             machine->heartbeat_failures++, &machine->random);
	if (reaction->drop_coordinator)
		rg__drop_coordinator(machine, now_us, actions);
}
