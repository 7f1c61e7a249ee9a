/* SPDX-License-Identifier: Apache-2.0 */
/* Does what the machine asks for. */
#include "member/internal.h"

static void act_find(rg_member *member, const struct rg__action *action)
{
	rg__find_coordinator(member, action);
}

static void act_drop(rg_member *member, const struct rg__action *action)
{
	(void)action;
	rg__drop_link(member);
}

static void (*const acts[])(rg_member *member, const struct rg__action *action) = {
	[RG__DO_PREPARE] = rg__owe,
	[RG__DO_LOST] = rg__owe,
	[RG__DO_RUN_ASSIGNOR] = rg__owe,
	[RG__DO_COMPLETE] = rg__owe,
	[RG__DO_REPORT] = rg__owe,
	[RG__DO_FAIL] = rg__owe,
	[RG__DO_LEFT] = rg__owe,
	[RG__DO_FIND_COORDINATOR] = act_find,
	[RG__DO_DROP_COORDINATOR] = act_drop,
	[RG__DO_SEND_JOIN] = rg__send_join_group,
	[RG__DO_SEND_SYNC] = rg__send_sync_group,
	[RG__DO_SEND_HEARTBEAT] = rg__send_heartbeat_request,
	[RG__DO_SEND_LEAVE] = rg__send_leave_group,
};

void rg__member_act(rg_member *member, const struct rg__actions *actions)
{
	for (int i = 0; i < actions->count; i++)
		acts[actions->items[i].type](member, &actions->items[i]);
}
