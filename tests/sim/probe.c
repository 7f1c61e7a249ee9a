/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "member/internal.h"

const struct rg__machine *probe_machine(const rg_member *member)
{
	return member->machine;
}

int probe_owes(const rg_member *member, rg_member_event_type type)
{
	int count = 0;

	for (unsigned i = 0; i < member->owed_count; i++)
		count += member->owed[(member->owed_first + i) % RG__OWED_MAX].type == type;
	return count;
}

bool probe_throttled(const rg_member *member, int64_t now_us)
{
	return member->link && probe_link_throttled(member->link, now_us);
}
