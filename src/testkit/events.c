/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <inttypes.h>
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

/* Names come from clients and may hold any bytes: every byte outside ASCII becomes U+FFFD, so that the line is valid. */
static void print_string(struct rg__buf *out, const char *name, struct rg__bytes text)
{
	rg__buf_printf(out, ",\"%s\":\"", name);
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = text.data[i];

		if (byte == '"' || byte == '\\')
			rg__buf_printf(out, "\\%c", byte);
		else if (byte < 0x20)
			rg__buf_printf(out, "\\u%04x", byte);
		else if (byte < 0x7f)
			rg__buf_append(out, &byte, 1);
		else
			rg__buf_append_str(out, "\\ufffd");
	}
	rg__buf_append_str(out, "\"");
}

static void print_error(struct rg__buf *out, int16_t error)
{
	if (error)
		rg__buf_printf(out, ",\"error\":\"%s\"", rg_err_name(error));
}

bool rg__kit_event_print(const struct rg__kit_event *event, int64_t t_us, struct rg__buf *out)
{
	rg__buf_printf(out, "{\"t_us\":%" PRId64 ",\"src\":\"coordinator\",\"event\":\"%s\"", t_us, names[event->type]);
	print_string(out, "group", event->group);
	if (event->member.data)
		print_string(out, "member", event->member);
	rg__buf_printf(out, ",\"gen\":%" PRId32, event->generation);
	if (event->type == RG__KIT_EVENT_STATE)
		rg__buf_printf(out, ",\"from\":\"%s\",\"to\":\"%s\"", rg__kit_group_state_name(event->from),
			       rg__kit_group_state_name(event->to));
	if (event->type == RG__KIT_EVENT_DELAYED_JOIN)
		rg__buf_printf(out, ",\"phase\":\"%s\"", event->completed ? "completed" : "created");
	print_error(out, event->error);
	if (event->type == RG__KIT_EVENT_JOIN_ANSWERED && !event->error)
		rg__buf_printf(out, ",\"leader\":%s", event->leader ? "true" : "false");
	if (event->reason.data)
		print_string(out, "reason", event->reason);
	rg__buf_append_str(out, "}");
	return !out->failed;
}
