/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

static void refuse(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
		   const struct rg__kit_request *request, struct rg__bytes member_id, int16_t error)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_reply reply = rg__kit_reply_to(request);

	rg__kit_answer_join_error(c, join->group_id, group ? group->generation : -1, &reply, member_id, error);
}

static bool add_member(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__bytes id,
		       const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_member *member;
	struct rg__kit_pending_id *pending;

	if (!group->members && !rg__kit_own(&group->protocol_type, join->protocol_type))
		return false;
	member = rg__kit_member_new(request, id);
	if (!member)
		return false;
	if (!rg__kit_group_add(group, member)) {
		rg__kit_member_free(member);
		return false;
	}
	pending = rg__kit_pending_id_find(group, id);
	if (pending)
		rg__kit_pending_id_remove(group, pending);
	if (group->delayed_join)
		group->delayed_join->newcomer = true;
	/* broker: it cannot send heartbeats before it has its answer, and a client that gave up on a long rebalance and came
	 * back as somebody else must not hold up the group for ever: a longer, fixed limit takes the session's place. */
	member->is_new = true;
	member->expires_us = rg__kit_after(c->now_us, c->conf.new_member_us);
	rg__kit_park(c, group, member, request);
	return rg__kit_rebalance_or_complete(c, group, "a member joins");
}

/* KIP-394: the id goes out with 79, and the group waits for its bearer. */
static bool hand_out_id(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__bytes id,
			const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	int64_t expires_us = rg__kit_after(c->now_us, (int64_t)join->session_timeout_ms * 1000);

	refuse(c, group, request, id, RG__KIT_MEMBER_ID_REQUIRED);
	return rg__kit_pending_id_add(group, id, expires_us);
}

static bool join_as(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__bytes id,
		    const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_member *seat;

	if (!join->group_instance_id.data)
		return request->version >= 4 ? hand_out_id(c, group, id, request) : add_member(c, group, id, request);
	seat = rg__kit_member_by_instance(group, join->group_instance_id);
	return seat ? rg__kit_static_rejoin(c, group, seat, id, request) : add_member(c, group, id, request);
}

static bool join_new(struct rg__kit_coordinator *c, struct rg__kit_group *group, const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__bytes id = RG__NULL_BYTES;
	bool ok;

	if (!rg__kit_group_supports(group, join)) {
		refuse(c, group, request, rg__bytes_of(""), RG__KIT_INCONSISTENT_GROUP_PROTOCOL);
		return true;
	}
	if (!rg__kit_make_member_id(c, join->group_instance_id.data ? join->group_instance_id : request->client_id, &id))
		return false;
	ok = join_as(c, group, id, request);
	rg__kit_disown(&id);
	return ok;
}

static bool update(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
		   const struct rg__kit_request *request, const char *reason)
{
	if (!rg__kit_member_set_protocols(member, request->body))
		return false;
	rg__kit_member_set_timeouts(member, request);
	/* In this order, so that a rebalance starts with its JoinGroup already here. */
	rg__kit_park(c, group, member, request);
	return rg__kit_rebalance_or_complete(c, group, reason);
}

/* broker: who lost its answer and asks again the same way gets the same answer again; who asks for something else,
 * and a leader of a settled group whatever it asks for, starts a rebalance. */
static bool rejoin(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
		   const struct rg__kit_request *request)
{
	bool leads = rg__kit_group_has_leader(group, member);
	struct rg__kit_reply reply = rg__kit_reply_to(request);

	switch (group->state) {
	case RG__KIT_PREPARING_REBALANCE:
		return update(c, group, member, request, NULL);
	case RG__KIT_AWAITING_SYNC:
		if (!rg__kit_member_matches(member, request->body))
			return update(c, group, member, request, "a member's subscription changed");
		rg__kit_answer_join(c, group, &reply, member, group->leader, leads, false);
		return true;
	case RG__KIT_STABLE:
		if (leads)
			return update(c, group, member, request, "the leader rejoins");
		if (!rg__kit_member_matches(member, request->body))
			return update(c, group, member, request, "a member's subscription changed");
		rg__kit_answer_join(c, group, &reply, member, group->leader, false, false);
		return true;
	default:
		refuse(c, group, request, member->id, RG__KIT_UNKNOWN_MEMBER_ID);
		return true;
	}
}

static bool join_existing(struct rg__kit_coordinator *c, struct rg__kit_group *group,
			  const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_member *member;
	int16_t error;

	if (!rg__kit_group_supports(group, join)) {
		refuse(c, group, request, join->member_id, RG__KIT_INCONSISTENT_GROUP_PROTOCOL);
		return true;
	}
	if (rg__kit_pending_id_find(group, join->member_id)) {
		if (!join->group_instance_id.data)
			return add_member(c, group, join->member_id, request);
		/* broker: static members are never asked for an id, so this is somebody else's; it throws here. */
		refuse(c, group, request, rg__bytes_of(""), RG__KIT_UNKNOWN_SERVER_ERROR);
		return true;
	}
	error = rg__kit_member_check(group, join->member_id, join->group_instance_id, &member);
	if (error) {
		refuse(c, group, request, join->member_id, error);
		return true;
	}
	return rejoin(c, group, member, request);
}

/* KIP-389. While a rebalance is on, seats go to who comes first; after that only newcomers can be too many. */
static bool has_room(const struct rg__kit_coordinator *c, const struct rg__kit_group *group, struct rg__bytes id)
{
	const struct rg__kit_member *member = rg__kit_member_find(group, id);
	int32_t waiting = 0;

	if (group->state == RG__KIT_EMPTY)
		return true;
	if (group->state != RG__KIT_PREPARING_REBALANCE)
		return member || (int64_t)HASH_COUNT(group->members) < c->conf.group_size_max;
	for (const struct rg__kit_member *other = group->members; other; other = other->hh.next)
		waiting += other->join.parked;
	return (member && member->join.parked) || waiting < c->conf.group_size_max;
}

/* broker: the size is checked before the protocols, and who is too many loses its seat. */
static bool turn_away(struct rg__kit_coordinator *c, struct rg__kit_group *group, const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_member *member = rg__kit_member_find(group, join->member_id);
	struct rg__kit_pending_id *pending = rg__kit_pending_id_find(group, join->member_id);

	refuse(c, group, request, rg__bytes_of(""), RG__KIT_GROUP_MAX_SIZE_REACHED);
	if (pending)
		rg__kit_pending_id_remove(group, pending);
	return !member || rg__kit_group_remove(group, member);
}

static int16_t check_request(const struct rg__kit_coordinator *c, const struct rg__join_group_request *join)
{
	int64_t session_us = (int64_t)join->session_timeout_ms * 1000;

	if (!join->group_id.len)
		return RG__KIT_INVALID_GROUP_ID;
	if (session_us < c->conf.session_min_us || session_us > c->conf.session_max_us)
		return RG__KIT_INVALID_SESSION_TIMEOUT;
	if (rg__kit_unloaded_find(c, join->group_id))
		return RG__KIT_LOAD_IN_PROGRESS;
	return 0;
}

bool rg__kit_on_join(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_group *group = rg__kit_group_find(c, join->group_id);
	bool known = join->member_id.len > 0;
	struct rg__kit_event *event = rg__kit_event(c, RG__KIT_EVENT_JOIN_RECEIVED, join->group_id, join->member_id,
						    group ? group->generation : -1);
	int16_t error = check_request(c, join);

	if (event)
		event->reason = rg__kit_copy(c, join->reason);
	/* broker: only a newcomer makes a group. */
	if (!error && !group && known)
		error = RG__KIT_UNKNOWN_MEMBER_ID;
	if (error) {
		refuse(c, group, request, error == RG__KIT_LOAD_IN_PROGRESS ? rg__bytes_of("") : join->member_id, error);
		return true;
	}
	if (!group) {
		group = rg__kit_group_new(c, join->group_id);
		if (!group || !rg__kit_record_store(group))
			return false;
	}
	if (!has_room(c, group, join->member_id))
		return turn_away(c, group, request);
	return known ? join_existing(c, group, request) : join_new(c, group, request);
}
