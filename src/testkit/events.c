/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <regroup/error.h>

static const char *const names[RG__KIT_EVENT_TYPES] = {
	[RG__KIT_EVENT_STATE] = "state",
	[RG__KIT_EVENT_DELAYED_JOIN] = "delayed_join",
	[RG__KIT_EVENT_JOIN_RECEIVED] = "join_received",
	[RG__KIT_EVENT_JOIN_ANSWERED] = "join_answered",
	[RG__KIT_EVENT_SYNC_RECEIVED] = "sync_received",
	[RG__KIT_EVENT_SYNC_ANSWERED] = "sync_answered",
	[RG__KIT_EVENT_EXPIRED] = "expired",
};

const char *rg__kit_event_name(enum rg__kit_event_type type)
{
	return names[type];
}

struct rg__kit_event *rg__kit_event(struct rg__kit_coordinator *c, enum rg__kit_event_type type, struct rg__bytes group,
				    struct rg__bytes member, int32_t generation)
{
	struct rg__kit_event *event = rg__arena_calloc(&c->out->arena, 1, sizeof(*event));

	if (!event) {
		c->failed = true;
		return NULL;
	}
	event->type = type;
	event->group = rg__kit_copy(c, group);
	event->member = rg__kit_copy(c, member);
	event->generation = generation;
	if (c->out->last_event)
		c->out->last_event->next = event;
	else
		c->out->events = event;
	c->out->last_event = event;
	return event;
}

const char *rg__kit_event_line(const struct rg__kit_event *event, int64_t t_us, struct rg__event_line *line)
{
	rg__event_begin(line, t_us, "coordinator", (const char *)event->member.data, event->generation,
			names[event->type]);
	rg__event_bytes(line, "group", event->group);
	if (event->type == RG__KIT_EVENT_STATE) {
		rg__event_str(line, "from", rg__kit_group_state_name(event->from));
		rg__event_str(line, "to", rg__kit_group_state_name(event->to));
	}
	if (event->type == RG__KIT_EVENT_DELAYED_JOIN)
		rg__event_str(line, "phase", event->completed ? "completed" : "created");
	if (event->error)
		rg__event_str(line, "error", rg_err_name(event->error));
	else if (event->type == RG__KIT_EVENT_JOIN_ANSWERED)
		rg__event_bool(line, "leader", event->leader);
	rg__event_bytes(line, "reason", event->reason);
	return rg__event_end(line);
}
