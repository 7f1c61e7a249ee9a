/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <string.h>

bool rg__kit_own(struct rg__bytes *at, struct rg__bytes view)
{
	char *copy = NULL;

	if (!rg__bytes_store(view, &copy))
		return false;
	rg__kit_disown(at);
	*at = (struct rg__bytes){(uint8_t *)copy, view.len};
	return true;
}

void rg__kit_disown(struct rg__bytes *at)
{
	rg__free((void *)(uintptr_t)at->data);
	*at = RG__NULL_BYTES;
}

int64_t rg__kit_after(int64_t now_us, int64_t wait_us)
{
	return wait_us > INT64_MAX - 1 - now_us ? INT64_MAX - 1 : now_us + wait_us;
}

struct rg__kit_group *rg__kit_group_find(const struct rg__kit_coordinator *c, struct rg__bytes id)
{
	struct rg__kit_group *found = NULL;

	if (id.data)
		HASH_FIND(hh, c->groups, id.data, (unsigned)id.len, found);
	return found;
}

struct rg__kit_group *rg__kit_group_new(struct rg__kit_coordinator *c, struct rg__bytes id)
{
	struct rg__kit_group *group = rg__calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->state = RG__KIT_EMPTY;
	group->sync_due_us = RG__KIT_NO_DEADLINE;
	group->empty_since_us = c->now_us;
	if (!rg__kit_own(&group->id, id)) {
		rg__free(group);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, c->groups, group->id.data, (unsigned)group->id.len, group);
	if (!RG__HASH_ADDED(group)) {
		rg__kit_disown(&group->id);
		rg__free(group);
		return NULL;
	}
	return group;
}

void rg__kit_group_free(struct rg__kit_coordinator *c, struct rg__kit_group *group)
{
	struct rg__kit_member *member, *next_member;
	struct rg__kit_pending_id *pending, *next_pending;

	HASH_DEL(c->groups, group);
	HASH_ITER(hh, group->members, member, next_member) {
		HASH_DEL(group->members, member);
		rg__kit_member_free(member);
	}
	HASH_ITER(hh, group->pending_ids, pending, next_pending)
		rg__kit_pending_id_remove(group, pending);
	rg__kit_delayed_join_free(group);
	rg__kit_offsets_free(&group->offsets);
	rg__kit_record_free(group->record);
	rg__kit_disown(&group->protocol_type);
	rg__kit_disown(&group->protocol_name);
	rg__kit_disown(&group->leader);
	rg__kit_disown(&group->id);
	rg__free(group);
}

struct rg__kit_member *rg__kit_member_find(const struct rg__kit_group *group, struct rg__bytes id)
{
	struct rg__kit_member *found = NULL;

	if (id.data)
		HASH_FIND(hh, group->members, id.data, (unsigned)id.len, found);
	return found;
}

struct rg__kit_member *rg__kit_member_by_instance(const struct rg__kit_group *group, struct rg__bytes instance_id)
{
	struct rg__kit_member *member;

	for (member = group->members; member && instance_id.data; member = member->hh.next)
		if (rg__bytes_equal(member->instance_id, instance_id))
			return member;
	return NULL;
}

static void free_protocols(struct rg__kit_protocol *protocols, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		rg__kit_disown(&protocols[i].name);
		rg__kit_disown(&protocols[i].metadata);
	}
	rg__free(protocols);
}

bool rg__kit_member_set_protocols(struct rg__kit_member *member, const struct rg__join_group_request *request)
{
	const struct rg__join_group_request_protocol *from =
		RG__ITEMS(struct rg__join_group_request_protocol, request->protocols);
	int32_t count = request->protocols.count > 0 ? request->protocols.count : 0;
	struct rg__kit_protocol *to = rg__calloc((size_t)count, sizeof(*to));

	if (!to)
		return false;
	for (int32_t i = 0; i < count; i++)
		if (!rg__kit_own(&to[i].name, from[i].name) || !rg__kit_own(&to[i].metadata, from[i].metadata)) {
			free_protocols(to, count);
			return false;
		}
	free_protocols(member->protocols, member->protocol_count);
	member->protocols = to;
	member->protocol_count = count;
	return true;
}

void rg__kit_member_set_timeouts(struct rg__kit_member *member, const struct rg__kit_request *request)
{
	const struct rg__join_group_request *join = request->body;
	/* KIP-62: version 0 has no rebalance timeout and means the session's. */
	int32_t rebalance_ms = request->version < 1 ? join->session_timeout_ms : join->rebalance_timeout_ms;

	member->session_us = (int64_t)join->session_timeout_ms * 1000;
	member->rebalance_us = rebalance_ms > 0 ? (int64_t)rebalance_ms * 1000 : 0;
}

struct rg__kit_member *rg__kit_member_new(const struct rg__kit_request *request, struct rg__bytes id)
{
	const struct rg__join_group_request *join = request->body;
	struct rg__kit_member *member = rg__calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->expires_us = RG__KIT_NO_DEADLINE;
	rg__kit_member_set_timeouts(member, request);
	if (!rg__kit_own(&member->id, id) || !rg__kit_own(&member->instance_id, join->group_instance_id) ||
	    !rg__kit_own(&member->client_id, request->client_id) ||
	    !rg__kit_own(&member->assignment, rg__bytes_of("")) || !rg__kit_member_set_protocols(member, join)) {
		rg__kit_member_free(member);
		return NULL;
	}
	return member;
}

void rg__kit_member_free(struct rg__kit_member *member)
{
	free_protocols(member->protocols, member->protocol_count);
	rg__kit_disown(&member->id);
	rg__kit_disown(&member->instance_id);
	rg__kit_disown(&member->client_id);
	rg__kit_disown(&member->assignment);
	rg__free(member);
}

bool rg__kit_group_add(struct rg__kit_group *group, struct rg__kit_member *member)
{
	if (!group->leader.data && !rg__kit_own(&group->leader, member->id))
		return false;
	HASH_ADD_KEYPTR(hh, group->members, member->id.data, (unsigned)member->id.len, member);
	return RG__HASH_ADDED(member);
}

bool rg__kit_group_has_leader(const struct rg__kit_group *group, const struct rg__kit_member *member)
{
	return group->leader.data && rg__bytes_equal(group->leader, member->id);
}

bool rg__kit_group_remove(struct rg__kit_group *group, struct rg__kit_member *member)
{
	bool led = rg__kit_group_has_leader(group, member);

	HASH_DEL(group->members, member);
	rg__kit_member_free(member);
	if (!led)
		return true;
	return rg__kit_own(&group->leader, group->members ? group->members->id : RG__NULL_BYTES);
}

int64_t rg__kit_group_rebalance_us(const struct rg__kit_group *group)
{
	int64_t longest_us = 0;

	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (member->rebalance_us > longest_us)
			longest_us = member->rebalance_us;
	return longest_us;
}

bool rg__kit_group_all_joined(const struct rg__kit_group *group)
{
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (!member->join.parked)
			return false;
	return !group->pending_ids;
}

void rg__kit_member_alive(const struct rg__kit_coordinator *c, struct rg__kit_member *member)
{
	member->expires_us = rg__kit_after(c->now_us, member->session_us);
}
