/* SPDX-License-Identifier: Apache-2.0 */
/* What the answers to OffsetCommit and OffsetFetch say about the membership; what they say about offsets is their
 * caller's. */
#include "group/internal.h"

RG__HANDLER(rg__on_offsets_answered)
{
	enum rg__request request = event->type == RG__EVENT_COMMIT_ANSWERED ? RG__REQUEST_OFFSET_COMMIT : RG__REQUEST_OFFSET_FETCH;
	const struct rg__reaction *reaction = rg__react(request, event->err);

	/* The connection is worth more than the commit. */
	if (event->err == RG_ERR_TIMED_OUT && rg__machine_expects_silence(machine))
		return;
	if (reaction->drop_coordinator) {
		rg__drop_coordinator(machine, now_us, actions);
		return;
	}
	/* KAFKA-9823 and librdkafka 4059: an answer to what was sent as somebody else, or while a rebalance is under way,
	 * costs neither the assignment nor the rebalance. */
	if (event->epoch != machine->epoch || machine->membership != RG__STABLE)
		return;
	if (reaction->verb == RG__FAIL) {
		rg__fail_for_good(machine, request, event->err, actions);
	} else if (reaction->verb == RG__REJOIN) {
		if (!reaction->keep_generation)
			rg__lose(machine, rg__loss_of(event->err), reaction->keep_member_id, actions);
		rg__set_reason(machine->reason, "%s answered %s", rg__request_label(request), rg_err_name(event->err));
		rg__begin_rebalance(machine, actions);
		rg__again(machine, now_us, request, reaction);
	}
}
