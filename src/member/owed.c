/* SPDX-License-Identifier: Apache-2.0 */
/* What the application is owed, in order, and the events it takes. */
#include "base/alloc.h"
#include "base/error.h"
#include "member/internal.h"

#include <assert.h>
#include <string.h>

struct taken {
	rg_member_event event; /* first: what the application holds */
	struct rg__kept *group, *assignment;
	char *member_id, *reason;
};

static const rg_cause causes[] = {
	[RG__LOST_NOT] = RG_CAUSE_NONE,
	[RG__LOST_UNKNOWN_MEMBER] = RG_CAUSE_UNKNOWN_MEMBER,
	[RG__LOST_ILLEGAL_GENERATION] = RG_CAUSE_ILLEGAL_GENERATION,
	[RG__LOST_FENCED] = RG_CAUSE_FENCED,
	[RG__LOST_SESSION] = RG_CAUSE_SESSION_TIMEOUT,
	[RG__LOST_MAX_POLL] = RG_CAUSE_MAX_POLL,
	[RG__LOST_FATAL] = RG_CAUSE_FATAL,
};

const char *rg_cause_name(rg_cause cause)
{
	static const char *const names[] = {
		[RG_CAUSE_NONE] = "NONE",
		[RG_CAUSE_UNKNOWN_MEMBER] = "UNKNOWN_MEMBER",
		[RG_CAUSE_ILLEGAL_GENERATION] = "ILLEGAL_GENERATION",
		[RG_CAUSE_FENCED] = "FENCED",
		[RG_CAUSE_SESSION_TIMEOUT] = "SESSION_TIMEOUT",
		[RG_CAUSE_MAX_POLL] = "MAX_POLL",
		[RG_CAUSE_FATAL] = "FATAL",
	};

	return (size_t)cause < sizeof(names) / sizeof(*names) ? names[cause] : "UNKNOWN";
}

static void release(struct rg__owed *owed)
{
	rg__kept_release(owed->group);
	rg__kept_release(owed->assignment);
	rg__free(owed->member_id);
	rg__free(owed->reason);
	memset(owed, 0, sizeof(*owed));
}

static struct rg__owed *at(rg_member *member, unsigned i)
{
	return &member->owed[(member->owed_first + i) % RG__OWED_MAX];
}

/* Asks are few: the machine waits for the answer before it asks again. Errors that the application does not come for may
 * be many, so when the ring is full the newest of them goes. */
static void make_room(rg_member *member)
{
	unsigned i = member->owed_count - 1;

	while (i && (at(member, i)->type != RG_MEMBER_ERROR || at(member, i)->fatal))
		i--;
	assert(at(member, i)->type == RG_MEMBER_ERROR && !at(member, i)->fatal);
	release(at(member, i));
	for (; i + 1 < member->owed_count; i++)
		*at(member, i) = *at(member, i + 1);
	member->owed_count--;
}

static struct rg__owed *slot(rg_member *member)
{
	if (member->owed_count == RG__OWED_MAX)
		make_room(member);
	return at(member, member->owed_count++);
}

static void owe_error(rg_member *member, struct rg__owed *owed, const struct rg__action *action)
{
	owed->type = RG_MEMBER_ERROR;
	owed->fatal = action->type == RG__DO_FAIL;
	/* The answer was good in form, and what the machine found wrong with it has no words yet. */
	if (action->err != RG_ERR_MAX_POLL && member->cause.code != action->err)
		rg__explain(member, action->request, action->err, member->link ? rg__link_name(member->link) : NULL,
		            RG__NULL_BYTES);
	if (action->err == RG_ERR_MAX_POLL)
		rg__fail(&owed->error, RG_ERR_MAX_POLL,
		         "max.poll.interval.ms (%d ms) passed without a poll; the member left the group and joins again when polled",
		         (int)member->conf->settings.max_poll_interval_ms);
	else
		owed->error = member->cause;
	rg__log(&member->log,
	        rg__told_again(&member->told, rg__now_us(member->io), &owed->error) ? RG__LOG_DEBUG : RG__LOG_ERR, "GROUP",
	        "%s", owed->error.text);
	rg__trace_error(member, &owed->error);
}

void rg__owe(rg_member *member, const struct rg__action *action)
{
	struct rg__owed *owed = slot(member);

	memset(owed, 0, sizeof(*owed));
	owed->ticket = action->attempt;
	owed->generation = rg__machine_generation(member->machine);
	/* One that has no group shows "" rather than failing: it is there for people. */
	if (action->type != RG__DO_RUN_ASSIGNOR && action->type != RG__DO_COMPLETE)
		owed->member_id = rg__strdup(rg__machine_member_id(member->machine));
	switch (action->type) {
	case RG__DO_PREPARE:
		owed->type = RG_MEMBER_PREPARE;
		owed->reason = rg__strdup(action->reason);
		break;
	case RG__DO_LOST:
		owed->type = RG_MEMBER_LOST;
		owed->cause = causes[action->loss];
		break;
	case RG__DO_RUN_ASSIGNOR:
		owed->type = RG_MEMBER_ASSIGN;
		owed->group = rg__kept_hold(member->group);
		member->assign_ticket = action->attempt;
		break;
	case RG__DO_COMPLETE:
		owed->type = RG_MEMBER_COMPLETE;
		owed->is_leader = rg__machine_is_leader(member->machine);
		owed->skip_assignment = member->skip_assignment;
		owed->group = rg__kept_hold(member->group);
		owed->assignment = rg__kept_hold(member->assignment);
		break;
	case RG__DO_LEFT:
		owed->type = RG_MEMBER_LEFT;
		owed->error = member->leave_error;
		rg__trace(member, "left");
		break;
	default:
		owe_error(member, owed, action);
		break;
	}
}

/* Frees what was not taken; with only_asks the errors stay. */
void rg__owed_drop(rg_member *member, bool only_asks)
{
	unsigned count = member->owed_count;

	member->owed_count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct rg__owed *owed = &member->owed[(member->owed_first + i) % RG__OWED_MAX];
		struct rg__owed moved = *owed;

		memset(owed, 0, sizeof(*owed));
		if (only_asks && moved.type == RG_MEMBER_ERROR)
			member->owed[(member->owed_first + member->owed_count++) % RG__OWED_MAX] = moved;
		else
			release(&moved);
	}
}

rg_member_event *rg_member_next(rg_member *member)
{
	struct rg__owed *owed = &member->owed[member->owed_first];
	struct taken *taken;

	if (!member->owed_count)
		return NULL;
	taken = rg__calloc(1, sizeof(*taken));
	if (!taken)
		return NULL; /* it stays first in line */
	taken->group = owed->group;
	taken->assignment = owed->assignment;
	taken->member_id = owed->member_id;
	taken->reason = owed->reason;
	rg_member_event *event = &taken->event;

	event->type = owed->type;
	event->ticket = owed->ticket;
	event->generation = owed->generation;
	event->member_id = owed->group ? owed->group->member_id : owed->member_id ? owed->member_id : "";
	event->protocol = owed->group ? owed->group->protocol : "";
	event->is_leader = owed->is_leader;
	event->skip_assignment = owed->skip_assignment;
	event->cause = owed->cause;
	event->error = owed->error;
	event->fatal = owed->fatal;
	event->reason = owed->reason ? owed->reason : "";
	if (owed->group && (owed->type == RG_MEMBER_ASSIGN || owed->is_leader)) {
		event->members = owed->group->infos;
		event->member_count = owed->group->count;
	}
	if (owed->assignment) {
		const struct rg__sync_group_response *body = owed->assignment->message->body;

		event->assignment = (rg_bytes){body->assignment.data, body->assignment.len};
	}
	memset(owed, 0, sizeof(*owed));
	member->owed_first = (member->owed_first + 1) % RG__OWED_MAX;
	member->owed_count--;
	return event;
}

void rg_member_event_free(rg_member_event *event)
{
	struct taken *taken = (struct taken *)event;

	if (!taken)
		return;
	rg__kept_release(taken->group);
	rg__kept_release(taken->assignment);
	rg__free(taken->member_id);
	rg__free(taken->reason);
	rg__free(taken);
}
