/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the machine: birth and death, the step that hands an event to its file, the two writers of state. */
#include "base/alloc.h"
#include "group/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rg__machine *rg__machine_new(const struct rg__group_conf *conf, int64_t now_us)
{
	struct rg__machine *machine = rg__calloc(1, sizeof(*machine));

	if (!machine)
		return NULL;
	machine->conf = *conf;
	machine->conf.group_id = rg__strdup(conf->group_id);
	machine->conf.instance_id = rg__strdup(conf->instance_id);
	machine->conf.protocol_type = rg__strdup(conf->protocol_type);
	machine->random.state = conf->seed;
	machine->generation = machine->heard_generation = -1;
	machine->find_at = machine->join_at = now_us;
	machine->heartbeat_at = machine->session_ends_at = machine->poll_ends_at = machine->sync_by = RG__FOREVER;
	machine->leave_by = machine->unheard_at = RG__FOREVER;
	machine->heartbeat_interval_us = conf->heartbeat_interval_ms * INT64_C(1000);
	if (!machine->conf.group_id || !machine->conf.protocol_type || (conf->instance_id && !machine->conf.instance_id)) {
		rg__machine_free(machine);
		return NULL;
	}
	return machine;
}

void rg__machine_free(struct rg__machine *machine)
{
	if (!machine)
		return;
	rg__free((char *)machine->conf.group_id);
	rg__free((char *)machine->conf.instance_id);
	rg__free((char *)machine->conf.protocol_type);
	rg__free(machine->member_id);
	rg__free(machine->protocol);
	rg__free(machine);
}

static RG__HANDLER((*const handlers[])) = {
	[RG__EVENT_START] = rg__on_start,
	[RG__EVENT_REJOIN] = rg__on_rejoin,
	[RG__EVENT_LEAVE] = rg__on_leave,
	[RG__EVENT_POLL] = rg__on_poll,
	[RG__EVENT_RETRY] = rg__on_retry,
	[RG__EVENT_PREPARED] = rg__on_prepared,
	[RG__EVENT_ASSIGNED] = rg__on_assigned,
	[RG__EVENT_GROUP_SIZE] = rg__on_group_size,
	[RG__EVENT_FIND_ANSWERED] = rg__on_find_answered,
	[RG__EVENT_COORDINATOR_DOWN] = rg__on_coordinator_down,
	[RG__EVENT_JOIN_ANSWERED] = rg__on_join_answered,
	[RG__EVENT_SYNC_ANSWERED] = rg__on_sync_answered,
	[RG__EVENT_HEARTBEAT_ANSWERED] = rg__on_heartbeat_answered,
	[RG__EVENT_LEAVE_ANSWERED] = rg__on_leave_answered,
	[RG__EVENT_COMMIT_ANSWERED] = rg__on_offsets_answered,
	[RG__EVENT_FETCH_ANSWERED] = rg__on_offsets_answered,
	[RG__EVENT_DEADLINE] = rg__on_deadline,
};

void rg__machine_step(struct rg__machine *machine, int64_t now_us, const struct rg__event *event,
                      struct rg__actions *ret_actions)
{
	ret_actions->count = 0;
	handlers[event->type](machine, now_us, event, ret_actions);
	rg__advance(machine, now_us, ret_actions);
	assert(!rg__machine_check(machine));
}

struct rg__action *rg__act(struct rg__actions *actions, enum rg__action_type type)
{
	assert(actions->count < RG__ACTIONS_MAX);
	struct rg__action *action = &actions->items[actions->count++];

	memset(action, 0, sizeof(*action));
	action->type = type;
	return action;
}

uint32_t rg__next_attempt(struct rg__machine *machine)
{
	if (++machine->last_attempt == 0)
		machine->last_attempt = 1;
	return machine->last_attempt;
}

void rg__move(struct rg__machine *machine, enum rg__membership_state to)
{
	assert(rg__membership_may(machine->membership, to));
	machine->membership = to;
	machine->proving = false;
}

void rg__move_coordinator(struct rg__machine *machine, enum rg__coordinator_state to)
{
	assert(rg__coordinator_may(machine->coordinator, to));
	machine->coordinator = to;
}

/* KIP-800: a reason is cut at 255 bytes; not in the middle of a UTF-8 character, which a broker would refuse. */
static void cut(char *text, size_t len)
{
	if (len <= RG__REASON_CUT)
		return;
	len = RG__REASON_CUT;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	text[len] = '\0';
}

void rg__set_reason(char reason[RG__REASON_CUT + 1], const char *format, ...)
{
	char text[RG__REASON_CUT + 8];
	va_list args;
	int need;

	va_start(args, format);
	need = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cut(text, need < 0 ? 0 : strlen(text));
	memcpy(reason, text, strlen(text) + 1);
}

enum rg__membership_state rg__machine_membership(const struct rg__machine *machine)
{
	return machine->membership;
}

bool rg__machine_expects_silence(const struct rg__machine *machine)
{
	return machine->membership == RG__JOINING || machine->membership == RG__SYNCING;
}

enum rg__coordinator_state rg__machine_coordinator(const struct rg__machine *machine)
{
	return machine->coordinator;
}

const char *rg__machine_member_id(const struct rg__machine *machine)
{
	return machine->member_id ? machine->member_id : "";
}

const char *rg__machine_protocol(const struct rg__machine *machine)
{
	return machine->protocol ? machine->protocol : "";
}

int32_t rg__machine_generation(const struct rg__machine *machine)
{
	return machine->generation;
}

bool rg__machine_is_leader(const struct rg__machine *machine)
{
	return machine->leader;
}

bool rg__machine_wanted(const struct rg__machine *machine)
{
	return machine->wanted;
}

bool rg__machine_rebalancing(const struct rg__machine *machine)
{
	return machine->in_rebalance;
}

uint32_t rg__machine_epoch(const struct rg__machine *machine)
{
	return machine->epoch;
}

int64_t rg__machine_heartbeat_interval_us(const struct rg__machine *machine)
{
	return machine->heartbeat_interval_us;
}
