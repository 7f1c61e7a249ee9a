/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <assert.h>

static void tell(struct rg__kit_coordinator *c, const struct rg__kit_group *group, bool completed)
{
	struct rg__kit_event *event =
		rg__kit_event(c, RG__KIT_EVENT_DELAYED_JOIN, group->id, RG__NULL_BYTES, group->generation);

	if (event)
		event->completed = completed;
}

/* broker: an ordinary one ends at the largest rebalance timeout of the members there are now; one that joins later
 * with a longer timeout does not move it. An initial one ends by time alone, also when everybody is here (KIP-134). */
bool rg__kit_delayed_join_create(struct rg__kit_coordinator *c, struct rg__kit_group *group, bool initial)
{
	struct rg__kit_delayed_join *join = rg__calloc(1, sizeof(*join));
	int64_t longest_us = rg__kit_group_rebalance_us(group);

	if (!join)
		return false;
	join->initial = initial;
	join->delay_us = initial ? c->conf.initial_delay_us : longest_us;
	if (initial && longest_us > join->delay_us)
		join->remaining_us = longest_us - join->delay_us;
	join->due_us = rg__kit_after(c->now_us, join->delay_us);
	assert(!group->delayed_join);
	group->delayed_join = join;
	tell(c, group, false);
	return true;
}

void rg__kit_delayed_join_free(struct rg__kit_group *group)
{
	rg__free(group->delayed_join);
	group->delayed_join = NULL;
}

bool rg__kit_delayed_join_try(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	if (!group->delayed_join || group->delayed_join->initial || !rg__kit_group_all_joined(group))
		return true;
	return rg__kit_complete_join(c, group);
}

/* KIP-134: each round in which somebody joined is followed by another, within the rebalance timeout. */
static bool extend_initial(const struct rg__kit_coordinator *c, struct rg__kit_delayed_join *join)
{
	int64_t next_us = c->conf.initial_delay_us < join->remaining_us ? c->conf.initial_delay_us : join->remaining_us;

	if (!join->initial || !join->newcomer || next_us <= 0)
		return false;
	join->newcomer = false;
	join->remaining_us = join->remaining_us > join->delay_us ? join->remaining_us - join->delay_us : 0;
	join->delay_us = next_us;
	join->due_us = rg__kit_after(c->now_us, next_us);
	return true;
}

bool rg__kit_delayed_join_due(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	return extend_initial(c, group->delayed_join) || rg__kit_complete_join(c, group);
}

/* Those who wait here have rejoined. Whoever leads goes on leading if he did; else the first who did takes over; if
 * nobody did, static members are all that is left, and the wait starts over. */
bool rg__kit_elect_leader(struct rg__kit_group *group, bool *ret_elected)
{
	const struct rg__kit_member *leader = rg__kit_member_find(group, group->leader);

	*ret_elected = true;
	if (leader && leader->join.parked)
		return true;
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (member->join.parked)
			return rg__kit_own(&group->leader, member->id);
	*ret_elected = false;
	return true;
}

static void expire_absent(struct rg__kit_coordinator *c, struct rg__kit_group *group, bool *ret_ok)
{
	struct rg__kit_member *member, *next;

	HASH_ITER(hh, group->members, member, next) {
		struct rg__kit_event *event;

		/* KIP-345: a static member is allowed to be away, for as long as its session lasts. */
		if (member->join.parked || member->instance_id.data)
			continue;
		event = rg__kit_event(c, RG__KIT_EVENT_EXPIRED, group->id, member->id, group->generation);
		if (event)
			event->reason = rg__bytes_of("did not rejoin within the rebalance timeout");
		*ret_ok = rg__kit_group_remove(group, member) && *ret_ok;
	}
}

/* The generation begins: the first who hear of it are those whose JoinGroup waited. A static member that stayed away
 * is in it as well, and owes a SyncGroup like everybody. */
static void answer_joins(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	for (struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		bool leads = rg__kit_group_has_leader(group, member);

		rg__kit_answer_join(c, group, &member->join, member, group->leader, leads, false);
		rg__kit_member_alive(c, member);
		member->is_new = false;
		member->owes_sync = true;
	}
	/* KAFKA-12890 */
	group->sync_due_us = rg__kit_after(c->now_us, rg__kit_group_rebalance_us(group));
}

bool rg__kit_complete_join(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	bool elected, ok = true;

	expire_absent(c, group, &ok);
	if (!ok || !rg__kit_elect_leader(group, &elected))
		return false;
	if (!elected && group->members) {
		group->delayed_join->due_us = rg__kit_after(c->now_us, rg__kit_group_rebalance_us(group));
		return true;
	}
	group->generation = group->generation == INT32_MAX ? 1 : group->generation + 1;
	if (!rg__kit_own(&group->protocol_name, rg__kit_group_vote(group)))
		return false;
	tell(c, group, true);
	rg__kit_delayed_join_free(group);
	if (!group->members) {
		rg__kit_group_become(c, group, RG__KIT_EMPTY, "nobody is left");
		return rg__kit_record_store(group);
	}
	rg__kit_group_become(c, group, RG__KIT_AWAITING_SYNC, "everybody who will has joined");
	answer_joins(c, group);
	return true;
}
