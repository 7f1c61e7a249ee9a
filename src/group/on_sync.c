/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to SyncGroup: with it a rebalance is complete. */
#include "group/internal.h"

/* KIP-559: v5 echoes type and name; a broker that mixes groups up must not give us another's assignment. */
static bool same_protocol(const struct rg__machine *machine, const struct rg__event *event)
{
	if (event->protocol_type.data && !rg__bytes_is(event->protocol_type, machine->conf.protocol_type))
		return false;
	return !event->protocol_name.data || !machine->protocol || rg__bytes_is(event->protocol_name, machine->protocol);
}

/* broker: a session begins with the answer to a SyncGroup that was parked; one that finds the group Stable is answered at once
 * and begins none. Which it was we cannot know, so the session is as old as before. */
static bool has_seat(const struct rg__machine *machine, int64_t now_us)
{
	return !machine->session_doubtful && machine->session_ends_at != RG__FOREVER &&
	       machine->session_ends_at - now_us >= machine->conf.session_timeout_ms * INT64_C(1000) / 3;
}

/* What little is left of the session, or nothing as far as we know, may be over before a heartbeat tells: others may have the
 * partitions by then. So the heartbeat that goes out at once has to be answered first. */
static void prove_seat(struct rg__machine *machine, int64_t now_us)
{
	machine->proving = true;
	machine->session_ends_at = rg__session_end_us(machine, now_us, now_us - machine->conf.session_timeout_ms * INT64_C(1000));
	machine->heartbeat = 0;
	machine->heartbeat_at = now_us;
}

void rg__complete(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	int64_t most_us = machine->conf.heartbeat_interval_ms * INT64_C(1000);
	bool proved = machine->proving;

	rg__move(machine, RG__STABLE);
	machine->in_rebalance = false;
	machine->owns = true;
	machine->coordinator_good = true;
	machine->reason[0] = '\0';
	machine->calm_at = proved ? machine->heartbeat_sent_at : machine->parked_at;
	machine->sync_by = RG__FOREVER;
	/* The first heartbeat goes out at once and makes the estimate exact. */
	machine->heartbeat = 0;
	machine->heartbeat_at = now_us;
	machine->heartbeat_grows = machine->conf.heartbeat_budget > 0;
	machine->heartbeat_interval_us =
		machine->heartbeat_grows && RG__HEARTBEAT_MIN_US < most_us ? RG__HEARTBEAT_MIN_US : most_us;
	if (proved)
		machine->heartbeat_at += machine->heartbeat_interval_us;
	rg__act(actions, RG__DO_COMPLETE);
}

RG__HANDLER(rg__on_sync_answered)
{
	if (!machine->sync || event->attempt != machine->sync)
		return;
	machine->sync = 0;
	if (event->err)
		rg__refused(machine, now_us, RG__REQUEST_SYNC_GROUP, event->err, actions);
	else if (!same_protocol(machine, event))
		rg__refused(machine, now_us, RG__REQUEST_SYNC_GROUP, 23, actions);
	else if (has_seat(machine, now_us))
		rg__complete(machine, now_us, actions);
	else
		prove_seat(machine, now_us);
}
