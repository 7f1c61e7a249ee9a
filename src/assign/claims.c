/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/claims.h"

static void claim(struct rg__claims *c, const struct rg__claim *said, int32_t member, int32_t flat)
{
	int32_t owner = c->owners[flat];

	c->flags[flat] |= RG__CLAIMED;
	if (owner == RG__NOBODY) {
		c->owners[flat] = member;
	} else if (said[member].generation == said[owner].generation) {
		c->flags[flat] |= RG__CONTESTED;
	} else if (said[member].generation > said[owner].generation) {
		c->owners[flat] = member;
		c->flags[flat] &= (unsigned char)~RG__CONTESTED;
	}
}

bool rg__claims_init(struct rg__claims *c, struct rg__arena *arena, const struct rg_plan *plan,
                     const struct rg__claim *said)
{
	size_t count = (size_t)plan->partition_count;

	c->owners = rg__arena_calloc(arena, count, sizeof(*c->owners));
	c->flags = rg__arena_calloc(arena, count, sizeof(*c->flags));
	if (!c->owners || !c->flags)
		return false;
	for (size_t i = 0; i < count; i++)
		c->owners[i] = RG__NOBODY;
	/* A contested partition keeps one of its claimants until all have spoken, for its generation. */
	for (int32_t m = 0; m < plan->group->member_count; m++)
		for (int32_t i = 0; i < said[m].count; i++)
			claim(c, said, m, plan->offsets[said[m].owned[i].topic] + said[m].owned[i].partition);
	for (size_t i = 0; i < count; i++)
		if (c->flags[i] & RG__CONTESTED)
			c->owners[i] = RG__NOBODY;
	return true;
}

void rg__claims_drop_unsubscribed(struct rg__claims *c, const struct rg_plan *plan, const struct rg__claim *said)
{
	for (int32_t m = 0; m < plan->group->member_count; m++) {
		const rg_group_member *member = &plan->group->members[m];
		int32_t at = 0;

		for (int32_t i = 0; i < said[m].count; i++) {
			int32_t topic = said[m].owned[i].topic, flat = plan->offsets[topic] + said[m].owned[i].partition;

			while (at < member->topic_count && member->topics[at] < topic)
				at++;
			if ((at == member->topic_count || member->topics[at] != topic) && c->owners[flat] == m)
				c->owners[flat] = RG__NOBODY;
		}
	}
}
