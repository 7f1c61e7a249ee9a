/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* What happens to a group because time passed. There are no timers that could outlive what they were set for
 * (KAFKA-7196): each deadline is a value of the thing it concerns, and the earliest is looked up anew every time. */

enum what { NOTHING, LOAD, DELAYED_JOIN, SYNC, SESSION, PENDING_ID, FORGET };

struct due {
	int64_t at_us;
	enum what what;
	struct rg__kit_group *group;
	struct rg__kit_member *member;
	struct rg__kit_pending_id *pending_id;
	struct rg__kit_unloaded *unloaded;
};

static bool earlier(struct due *due, int64_t at_us, enum what what)
{
	if (at_us >= due->at_us)
		return false;
	*due = (struct due){.at_us = at_us, .what = what};
	return true;
}

static void look_at_group(const struct rg__kit_coordinator *c, struct rg__kit_group *group, struct due *due)
{
	if (group->delayed_join && earlier(due, group->delayed_join->due_us, DELAYED_JOIN))
		due->group = group;
	if (earlier(due, group->sync_due_us, SYNC))
		due->group = group;
	for (struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (earlier(due, member->expires_us, SESSION)) {
			due->group = group;
			due->member = member;
		}
	for (struct rg__kit_pending_id *pending = group->pending_ids; pending; pending = pending->hh.next)
		if (earlier(due, pending->expires_us, PENDING_ID)) {
			due->group = group;
			due->pending_id = pending;
		}
	if (group->state == RG__KIT_EMPTY && !group->pending_ids && c->conf.empty_group_us > 0 &&
	    earlier(due, rg__kit_after(group->empty_since_us, c->conf.empty_group_us), FORGET))
		due->group = group;
}

static struct due find_earliest(const struct rg__kit_coordinator *c)
{
	struct due due = {.at_us = RG__KIT_NO_DEADLINE, .what = NOTHING};

	for (struct rg__kit_unloaded *unloaded = c->unloaded; unloaded; unloaded = unloaded->hh.next)
		if (earlier(&due, unloaded->ready_us, LOAD))
			due.unloaded = unloaded;
	for (struct rg__kit_group *group = c->groups; group; group = group->hh.next)
		look_at_group(c, group, &due);
	return due;
}

int64_t rg__kit_coordinator_deadline(const struct rg__kit_coordinator *c)
{
	return find_earliest(c).at_us;
}

static void tell(struct rg__kit_coordinator *c, const struct rg__kit_group *group, struct rg__bytes member,
		 const char *reason)
{
	struct rg__kit_event *event = rg__kit_event(c, RG__KIT_EVENT_EXPIRED, group->id, member, group->generation);

	if (event)
		event->reason = rg__bytes_of(reason);
}

/* broker: a member that waits for an answer is alive, except a new one, whose only sign of life was its JoinGroup; its
 * clock starts again when the answer goes out. */
static bool end_session(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member)
{
	member->expires_us = RG__KIT_NO_DEADLINE;
	if (!member->is_new && (member->join.parked || member->sync.parked))
		return true;
	tell(c, group, member->id, "session timeout");
	rg__kit_answer_join_error(c, group->id, group->generation, &member->join, rg__bytes_of(""),
				  RG__KIT_UNKNOWN_MEMBER_ID);
	if (!rg__kit_group_remove(group, member))
		return false;
	if (group->state == RG__KIT_EMPTY)
		return true;
	return rg__kit_rebalance_or_complete(c, group, "a member's session ended");
}

static bool end_pending_id(struct rg__kit_coordinator *c, struct rg__kit_group *group,
			   struct rg__kit_pending_id *pending)
{
	tell(c, group, pending->id, "the id that was handed out did not come back");
	rg__kit_pending_id_remove(group, pending);
	return rg__kit_delayed_join_try(c, group);
}

/* KAFKA-12890: who has its JoinGroup answer and never asked for the plan holds up the others if it leads, and a share
 * of the partitions in any case. */
static bool end_sync(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	struct rg__kit_member *member, *next;

	group->sync_due_us = RG__KIT_NO_DEADLINE;
	HASH_ITER(hh, group->members, member, next) {
		if (!member->owes_sync)
			continue;
		tell(c, group, member->id, "no SyncGroup within the rebalance timeout");
		if (!rg__kit_group_remove(group, member))
			return false;
	}
	return rg__kit_prepare_rebalance(c, group, "members did not sync");
}

static bool forget(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	rg__kit_group_become(c, group, RG__KIT_DEAD, "empty for too long");
	rg__kit_group_free(c, group);
	return true;
}

bool rg__kit_expire_next(struct rg__kit_coordinator *c, bool *ret_done)
{
	struct due due = find_earliest(c);

	*ret_done = due.at_us <= c->now_us;
	if (!*ret_done)
		return true;
	switch (due.what) {
	case LOAD:
		return rg__kit_load(c, due.unloaded);
	case DELAYED_JOIN:
		return rg__kit_delayed_join_due(c, due.group);
	case SYNC:
		return end_sync(c, due.group);
	case SESSION:
		return end_session(c, due.group, due.member);
	case PENDING_ID:
		return end_pending_id(c, due.group, due.pending_id);
	case FORGET:
		return forget(c, due.group);
	case NOTHING:
		break;
	}
	return true;
}
