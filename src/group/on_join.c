/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to JoinGroup. */
#include "group/internal.h"

/* True: the answer makes sense and the member is what it says. The broker is not trusted to be one. */
static rg_err take_identity(struct rg__machine *machine, const struct rg__event *event)
{
	/* KIP-559: the type is echoed since v7. */
	if (event->protocol_type.data && !rg__bytes_is(event->protocol_type, machine->conf.protocol_type))
		return 23;
	if (!event->member_id.len || event->generation < 0)
		return RG_ERR_PROTOCOL;
	if (!rg__bytes_store(event->protocol_name, &machine->protocol))
		return RG_ERR_MEMORY;
	if (!rg__bytes_store(event->member_id, &machine->member_id))
		return RG_ERR_MEMORY;
	machine->generation = event->generation;
	machine->epoch++;
	/* A group of the new protocol (KIP-848) names no leader: everybody follows. */
	machine->leader = event->leader.len && rg__bytes_equal(event->leader, event->member_id);
	return RG_OK;
}

/* broker: with a new generation begin the sessions of its members. An answer that only repeats the one before (the
 * SyncGroup in between failed) begins nothing, so neither the session nor the next heartbeat may be put off by it. If
 * an answer got lost before this one, this may be a repetition, too: then the session is as old as the JoinGroup whose
 * answer that was, also for who owns nothing yet, as SyncGroup may begin none. Who owns something beats at once. */
static void begin_session(struct rg__machine *machine, int64_t now_us, bool repeated)
{
	bool unheard = machine->unheard_at != RG__FOREVER;
	int64_t unheard_until = unheard ? machine->unheard_at + machine->conf.session_timeout_ms * INT64_C(1000) : 0;
	int64_t beat_at = now_us + machine->heartbeat_interval_us;

	machine->session_doubtful = repeated && (machine->session_doubtful || machine->session_ends_at == RG__FOREVER);
	if (!repeated || machine->session_ends_at == RG__FOREVER)
		machine->session_ends_at = rg__session_end_us(machine, now_us, machine->parked_at);
	/* If it is over already it cannot be that one: nobody would have been left to repeat it to. */
	if (unheard_until > now_us && unheard_until < machine->session_ends_at)
		machine->session_ends_at = unheard_until;
	/* A JoinGroup that was parked for long leaves little of that: the first heartbeat must be in time to tell. */
	if (machine->session_ends_at > now_us && beat_at > now_us + (machine->session_ends_at - now_us) / 2)
		beat_at = now_us + (machine->session_ends_at - now_us) / 2;
	if (unheard && machine->owns)
		beat_at = now_us;
	if (!repeated || machine->heartbeat_at > beat_at)
		machine->heartbeat_at = beat_at;
}

/* broker: who has its JoinGroup answer and has not asked for the plan within the rebalance timeout is out (KAFKA-12890), however
 * well it beats. The generation did not begin before the JoinGroup was sent; how long the answer took we cannot know. */
static int64_t sync_by_us(const struct rg__machine *machine, int64_t now_us)
{
	int64_t since_us = machine->parked_at < machine->unheard_at ? machine->parked_at : machine->unheard_at;
	int64_t by_us = since_us + machine->conf.rebalance_timeout_ms * INT64_C(1000);
	int64_t least = now_us + machine->conf.session_timeout_ms * INT64_C(1000) / 3;

	return by_us > least ? by_us : least;
}

static void joined(struct rg__machine *machine, int64_t now_us, const struct rg__event *event, struct rg__actions *actions)
{
	bool repeated = machine->heard_generation == event->generation;

	machine->heard_generation = event->generation;
	machine->coordinator_good = true;
	machine->heartbeats_on = true;
	machine->heartbeat_grows = false;
	machine->heartbeat_interval_us = machine->conf.heartbeat_interval_ms * INT64_C(1000);
	begin_session(machine, now_us, repeated);
	if (!repeated || machine->sync_by == RG__FOREVER)
		machine->sync_by = sync_by_us(machine, now_us);
	machine->unheard_at = RG__FOREVER;
	if (machine->leader && !event->skip_assignment) {
		struct rg__action *run = rg__act(actions, RG__DO_RUN_ASSIGNOR);

		rg__move(machine, RG__ASSIGNING);
		machine->assign = run->attempt = rg__next_attempt(machine);
		return;
	}
	rg__send_sync(machine, now_us, false, actions); /* KIP-814: a leader that skips sends no plan either */
}

RG__HANDLER(rg__on_join_answered)
{
	rg_err err = event->err;

	/* KAFKA-20938: a broker may answer a superseded JoinGroup late, with 16 or anything; it is no longer the question. */
	if (!machine->join || event->attempt != machine->join)
		return;
	machine->join = 0;
	if (err == RG_OK) {
		err = take_identity(machine, event);
	} else if (err == 79) { /* KIP-394 */
		/* It belongs to every join without an id. Only one that had been given an id can make us go round. */
		if (!machine->member_id)
			rg__forgive(machine, RG__REQUEST_JOIN_GROUP, 79);
		if (!event->member_id.len)
			err = RG_ERR_PROTOCOL;
		else if (!rg__bytes_store(event->member_id, &machine->member_id))
			err = RG_ERR_MEMORY;
		else
			machine->epoch++;
	}
	if (err == RG_OK) {
		joined(machine, now_us, event, actions);
		return;
	}
	if (event->err <= 0)
		rg__join_unheard(machine);
	rg__refused(machine, now_us, RG__REQUEST_JOIN_GROUP, err, actions);
}

RG__HANDLER(rg__on_assigned)
{
	if (!machine->assign || event->attempt != machine->assign)
		return;
	machine->assign = 0;
	/* Whatever number an assignor comes up with, no broker answered: its codes mean nothing here. */
	if (event->err)
		rg__refused_as(machine, now_us, RG__REQUEST_SYNC_GROUP, event->err,
		               rg__react(RG__REQUEST_SYNC_GROUP, event->err == RG_ERR_MEMORY ? RG_ERR_MEMORY : RG__ANY_CODE),
		               actions);
	else if (machine->coordinator != RG__COORDINATOR_KNOWN)
		rg__again(machine, now_us, RG__REQUEST_SYNC_GROUP, rg__react(RG__REQUEST_SYNC_GROUP, RG_ERR_TRANSPORT));
	else
		rg__send_sync(machine, now_us, true, actions);
}
