/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/heartbeat.h"
#include "testkit/coordinator.h"

bool rg__kit_on_heartbeat(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__heartbeat_request *beat = request->body;
	const struct rg__kit_group *group = rg__kit_group_find(c, beat->group_id);
	struct rg__kit_member *member = NULL;
	int16_t error = 0;

	if (!beat->group_id.len)
		error = RG__KIT_INVALID_GROUP_ID;
	else if (rg__kit_unloaded_find(c, beat->group_id))
		error = 0; /* broker: not a member's fault, and nobody's session ends before the group is loaded */
	else if (!group)
		error = RG__KIT_UNKNOWN_MEMBER_ID;
	else
		error = rg__kit_member_check(group, beat->member_id, beat->group_instance_id, &member);
	if (member && beat->generation_id != group->generation) {
		error = RG__KIT_ILLEGAL_GENERATION;
	} else if (member) {
		rg__kit_member_alive(c, member);
		/* broker: heartbeats while the plan is awaited are ordinary ones. */
		if (group->state == RG__KIT_PREPARING_REBALANCE)
			error = RG__KIT_REBALANCE_IN_PROGRESS;
	}
	rg__kit_answer_error(c, request, error);
	return true;
}
