/* SPDX-License-Identifier: Apache-2.0 */
/* The member's lines in the event stream. */
#include "member/internal.h"

static bool begin(rg_member *member, struct rg__event_line *line, const char *event)
{
	if (!rg__event_wanted(member->events))
		return false;
	rg__event_begin(line, rg__event_now_us(member->events), "client", rg__machine_member_id(member->machine),
	                rg__machine_generation(member->machine), event);
	return true;
}

void rg__trace(rg_member *member, const char *event)
{
	struct rg__event_line line = {0};

	if (begin(member, &line, event))
		rg__event_emit(member->events, &line);
}

void rg__trace_request(rg_member *member, const char *event, uint32_t attempt, const char *reason)
{
	struct rg__event_line line = {0};

	if (!begin(member, &line, event))
		return;
	rg__event_int(&line, "attempt", attempt);
	if (reason && *reason)
		rg__event_str(&line, "reason", reason);
	rg__event_emit(member->events, &line);
}

void rg__trace_answer(rg_member *member, const char *event, uint32_t attempt, rg_err err, int32_t generation, bool leader)
{
	struct rg__event_line line = {0};

	if (!rg__event_wanted(member->events))
		return;
	rg__event_begin(&line, rg__event_now_us(member->events), "client", rg__machine_member_id(member->machine), generation,
	                event);
	rg__event_int(&line, "attempt", attempt);
	if (err)
		rg__event_str(&line, "error", rg_err_name(err));
	else if (leader)
		rg__event_bool(&line, "leader", true);
	rg__event_emit(member->events, &line);
}

void rg__trace_error(rg_member *member, const rg_error *error)
{
	struct rg__event_line line = {0};

	if (!begin(member, &line, "error"))
		return;
	rg__event_str(&line, "error", rg_err_name(error->code));
	rg__event_str(&line, "reason", error->text);
	rg__event_emit(member->events, &line);
}
