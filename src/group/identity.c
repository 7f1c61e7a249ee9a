/* SPDX-License-Identifier: Apache-2.0 */
/* Losing what the member is: generation, member id, ownership; and the errors that reach the application. */
#include "base/alloc.h"
#include "group/internal.h"

enum rg__loss rg__loss_of(rg_err err)
{
	switch (err) {
	case 22:
		return RG__LOST_ILLEGAL_GENERATION;
	case 25:
	case 69: /* broker: OffsetCommit v9 on a group that is gone */
		return RG__LOST_UNKNOWN_MEMBER;
	case 82:
		return RG__LOST_FENCED;
	default:
		return RG__LOST_FATAL;
	}
}

void rg__tell_lost(struct rg__machine *machine, enum rg__loss loss, struct rg__actions *actions)
{
	struct rg__action *lost = rg__act(actions, RG__DO_LOST);

	machine->owns = false;
	machine->ask = lost->attempt = rg__next_attempt(machine);
	lost->loss = loss;
}

/* The generation is gone, and the member id too unless it may be kept (22 keeps it, 25 and 82 do not). What the
 * application owned, it owns no more: it is told so once, and nothing is sent to join before it answered. */
void rg__lose(struct rg__machine *machine, enum rg__loss loss, bool keep_member_id, struct rg__actions *actions)
{
	machine->generation = -1;
	machine->leader = false;
	machine->epoch++;
	machine->heartbeats_on = false;
	machine->heartbeat = 0;
	machine->heartbeat_at = machine->session_ends_at = machine->sync_by = machine->unheard_at = RG__FOREVER;
	if (!keep_member_id) {
		rg__free(machine->member_id);
		machine->member_id = NULL;
		machine->heard_generation = -1; /* whoever comes with a new id is somebody new, also in that generation */
	}
	if (machine->owns && loss != RG__LOST_NOT)
		rg__tell_lost(machine, loss, actions);
}

void rg__report(struct rg__machine *machine, enum rg__request request, rg_err err, struct rg__actions *actions)
{
	struct rg__action *report = rg__act(actions, RG__DO_REPORT);

	(void)machine;
	report->request = request;
	report->err = err;
}

void rg__fail_for_good(struct rg__machine *machine, enum rg__request request, rg_err err, struct rg__actions *actions)
{
	const struct rg__reaction *reaction = rg__react(request, err);
	struct rg__action *fail;

	if (machine->membership == RG__LEAVING || machine->membership == RG__UNJOINED)
		return; /* on its way out already: what cannot be joined any more can still be left */
	if (machine->coordinator == RG__COORDINATOR_FINDING)
		rg__move_coordinator(machine, RG__COORDINATOR_UNKNOWN);
	machine->find = machine->join = machine->assign = machine->sync = 0;
	rg__lose(machine, rg__loss_of(err), reaction->keep_member_id, actions);
	rg__move(machine, RG__FAILED);
	fail = rg__act(actions, RG__DO_FAIL);
	fail->request = request;
	fail->err = err;
}
