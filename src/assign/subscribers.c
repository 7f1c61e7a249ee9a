/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/subscribers.h"

#include "base/alloc.h"

#include <string.h>

bool rg__subscribers_init(struct rg__subscribers *subscribers, const rg_group *group, const int32_t *order)
{
	size_t topics = (size_t)group->topic_count;
	int64_t *starts = rg__calloc(topics + 2, sizeof(*starts));
	int32_t *members = NULL;

	if (!starts)
		return false;
	/* Counted two places ahead, so that filling the lists moves each start to where it belongs. */
	for (int32_t m = 0; m < group->member_count; m++)
		for (int32_t i = 0; i < group->members[m].topic_count; i++)
			starts[group->members[m].topics[i] + 2]++;
	for (size_t t = 0; t < topics; t++)
		starts[t + 2] += starts[t + 1];
	members = rg__malloc((size_t)starts[topics + 1] * sizeof(*members));
	if (!members) {
		rg__free(starts);
		return false;
	}
	for (int32_t i = 0; i < group->member_count; i++) {
		const rg_group_member *member = &group->members[order[i]];

		for (int32_t k = 0; k < member->topic_count; k++)
			members[starts[member->topics[k] + 1]++] = order[i];
	}
	subscribers->starts = starts;
	subscribers->members = members;
	return true;
}

void rg__subscribers_free(struct rg__subscribers *subscribers)
{
	rg__free(subscribers->starts);
	rg__free(subscribers->members);
	*subscribers = (struct rg__subscribers){0};
}
