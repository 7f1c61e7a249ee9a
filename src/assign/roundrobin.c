/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/builtin.h"
#include "assign/order.h"
#include "assign/subscribers.h"
#include "base/alloc.h"
#include "base/error.h"

/* Where the turn goes on inside a topic: at the first of its subscribers, `place[m]` being the member's place in the
 * circle, whose place is `turn` or later; behind the last one it starts again with the first. */
static int64_t next_subscriber(const struct rg__subscribers *subs, int32_t topic, const int32_t *place, int32_t turn)
{
	int64_t low = subs->starts[topic], high = subs->starts[topic + 1];

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (place[subs->members[middle]] < turn)
			low = middle + 1;
		else
			high = middle;
	}
	return low < subs->starts[topic + 1] ? low : subs->starts[topic];
}

/* Java's: all partitions, topic by topic, to all members in turn, skipping those that do not subscribe. */
static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	struct rg__subscribers subs = {0};
	int32_t *order = rg__member_order(group), *place = rg__malloc((size_t)group->member_count * sizeof(*place));
	int32_t turn = 0;
	rg_err err = RG_ERR_MEMORY;

	(void)user;
	if (!order || !place || !rg__subscribers_init(&subs, group, order))
		goto out;
	for (int32_t i = 0; i < group->member_count; i++)
		place[order[i]] = i;
	for (int32_t t = 0; t < group->topic_count; t++) {
		int64_t first = subs.starts[t], end = subs.starts[t + 1];

		if (first == end)
			continue;
		int64_t at = next_subscriber(&subs, t, place, turn);

		for (int32_t p = 0; p < group->topics[t].partition_count; p++) {
			if (at == end)
				at = first;
			turn = place[subs.members[at]] + 1;
			plan->owners[plan->offsets[t] + p] = subs.members[at++];
		}
	}
	err = RG_OK;
out:
	rg__subscribers_free(&subs);
	rg__free(place);
	rg__free(order);
	return err ? rg__fail(error, err, "roundrobin: out of memory") : RG_OK;
}

const rg_assignor rg__roundrobin = {
	.size = sizeof(rg_assignor), .name = "roundrobin", .protocols = RG_EAGER, .assign = assign};
