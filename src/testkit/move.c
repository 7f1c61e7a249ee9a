/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* The coordinator of a group moves to another broker, which reads what the old one wrote. */

struct rg__kit_record_member {
	struct rg__bytes id, instance_id, client_id, metadata, assignment;
	int64_t session_us, rebalance_us;
};

static struct rg__bytes keep(struct rg__arena *arena, struct rg__bytes view, bool *ok)
{
	const char *at = view.data ? rg__arena_copy(arena, view.data, view.len) : NULL;

	*ok = *ok && (at || !view.data);
	return (struct rg__bytes){(const uint8_t *)at, at ? view.len : 0};
}

void rg__kit_record_free(struct rg__kit_record *record)
{
	if (!record)
		return;
	rg__arena_clear(&record->arena);
	rg__free(record);
}

/* broker: of each member only its subscription for the chosen protocol is written. After a move its next JoinGroup,
 * with its whole list, therefore counts as a change. */
static bool keep_members(struct rg__kit_record *record, const struct rg__kit_group *group)
{
	struct rg__kit_record_member *to;
	bool ok = true;

	record->member_count = (int32_t)HASH_COUNT(group->members);
	to = rg__arena_calloc(&record->arena, (size_t)record->member_count, sizeof(*to));
	if (!to)
		return false;
	record->members = to;
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next, to++) {
		to->id = keep(&record->arena, member->id, &ok);
		to->instance_id = keep(&record->arena, member->instance_id, &ok);
		to->client_id = keep(&record->arena, member->client_id, &ok);
		to->metadata = keep(&record->arena, rg__kit_member_metadata(member, group->protocol_name), &ok);
		to->assignment = keep(&record->arena, member->assignment, &ok);
		to->session_us = member->session_us;
		to->rebalance_us = member->rebalance_us;
	}
	return ok;
}

bool rg__kit_record_store(struct rg__kit_group *group)
{
	struct rg__kit_record *record = rg__calloc(1, sizeof(*record));
	bool ok = true;

	if (!record)
		return false;
	record->generation = group->generation;
	record->protocol_type = keep(&record->arena, group->protocol_type, &ok);
	record->protocol_name = keep(&record->arena, group->protocol_name, &ok);
	record->leader = keep(&record->arena, group->leader, &ok);
	if (!ok || !keep_members(record, group)) {
		rg__kit_record_free(record);
		return false;
	}
	rg__kit_record_free(group->record);
	group->record = record;
	return true;
}

struct rg__kit_unloaded *rg__kit_unloaded_find(const struct rg__kit_coordinator *c, struct rg__bytes id)
{
	struct rg__kit_unloaded *found = NULL;

	if (id.data)
		HASH_FIND(hh, c->unloaded, id.data, (unsigned)id.len, found);
	return found;
}

void rg__kit_unloaded_free(struct rg__kit_coordinator *c, struct rg__kit_unloaded *unloaded)
{
	HASH_DEL(c->unloaded, unloaded);
	rg__kit_record_free(unloaded->record);
	rg__kit_offsets_free(&unloaded->offsets);
	rg__kit_disown(&unloaded->id);
	rg__free(unloaded);
}

static struct rg__kit_unloaded *add_unloaded(struct rg__kit_coordinator *c, struct rg__bytes id, int64_t load_us)
{
	struct rg__kit_unloaded *unloaded = rg__calloc(1, sizeof(*unloaded));

	if (!unloaded)
		return NULL;
	unloaded->ready_us = rg__kit_after(c->now_us, load_us);
	if (rg__kit_own(&unloaded->id, id)) {
		HASH_ADD_KEYPTR(hh, c->unloaded, unloaded->id.data, (unsigned)unloaded->id.len, unloaded);
		if (RG__HASH_ADDED(unloaded))
			return unloaded;
		rg__kit_disown(&unloaded->id);
	}
	rg__free(unloaded);
	return NULL;
}

/* broker: whoever waits is sent to look for the new coordinator. */
static void unload(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_unloaded *to)
{
	for (struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		rg__kit_answer_join_error(c, group->id, group->generation, &member->join, member->id,
					  RG__KIT_NOT_COORDINATOR);
		rg__kit_answer_sync(c, group, &member->sync, member, member->id, RG__KIT_NOT_COORDINATOR);
	}
	rg__kit_group_become(c, group, RG__KIT_DEAD, "the coordinator moves");
	to->record = group->record;
	to->offsets = group->offsets;
	group->record = NULL;
	group->offsets = NULL;
	rg__kit_group_free(c, group);
}

static bool load_member(struct rg__kit_coordinator *c, struct rg__kit_group *group, const struct rg__kit_record *record,
			const struct rg__kit_record_member *from)
{
	struct rg__join_group_request_protocol protocol = {.name = record->protocol_name, .metadata = from->metadata};
	struct rg__join_group_request join = {.group_instance_id = from->instance_id,
					      .session_timeout_ms = (int32_t)(from->session_us / 1000),
					      .rebalance_timeout_ms = (int32_t)(from->rebalance_us / 1000),
					      .protocols = {&protocol, 1}};
	struct rg__kit_request request = {.client_id = from->client_id, .version = 1, .body = &join};
	struct rg__kit_member *member = rg__kit_member_new(&request, from->id);

	if (!member)
		return false;
	if (!rg__kit_own(&member->assignment, from->assignment) || !rg__kit_group_add(group, member)) {
		rg__kit_member_free(member);
		return false;
	}
	rg__kit_member_alive(c, member);
	return true;
}

static bool load_group(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_record *record)
{
	group->generation = record->generation;
	group->record = record;
	if (!rg__kit_own(&group->protocol_type, record->protocol_type) ||
	    !rg__kit_own(&group->protocol_name, record->protocol_name) || !rg__kit_own(&group->leader, record->leader))
		return false;
	for (int32_t i = 0; i < record->member_count; i++)
		if (!load_member(c, group, record, &record->members[i]))
			return false;
	if (!group->members)
		return true;
	/* A group does not come from Empty here: it is found Stable, as somebody else left it. */
	group->state = RG__KIT_STABLE;
	/* KIP-389: the limit may have shrunk meanwhile; a rebalance finds out who is too many. */
	if ((int64_t)HASH_COUNT(group->members) > c->conf.group_size_max)
		return rg__kit_prepare_rebalance(c, group, "more members than group.max.size allows");
	return true;
}

bool rg__kit_load(struct rg__kit_coordinator *c, struct rg__kit_unloaded *unloaded)
{
	struct rg__kit_record *record = unloaded->record;
	struct rg__kit_group *group;
	bool ok = true;

	if (record) {
		group = rg__kit_group_new(c, unloaded->id);
		if (!group)
			return false;
		unloaded->record = NULL;
		group->offsets = unloaded->offsets;
		unloaded->offsets = NULL;
		ok = load_group(c, group, record);
	}
	rg__kit_unloaded_free(c, unloaded);
	return ok;
}

static bool move_one(struct rg__kit_coordinator *c, struct rg__bytes id, bool keep_state, int64_t load_us)
{
	struct rg__kit_group *group = rg__kit_group_find(c, id);
	struct rg__kit_unloaded *unloaded = rg__kit_unloaded_find(c, id);

	if (unloaded)
		unloaded->ready_us = rg__kit_after(c->now_us, load_us);
	else
		unloaded = add_unloaded(c, id, load_us);
	if (!unloaded)
		return false;
	if (group)
		unload(c, group, unloaded);
	if (!keep_state) {
		rg__kit_record_free(unloaded->record);
		unloaded->record = NULL;
		rg__kit_offsets_free(&unloaded->offsets);
		rg__kit_pending_offsets_forget(c, id);
	}
	return load_us > 0 || rg__kit_load(c, unloaded);
}

/* A group that is loaded at once is back at the end of the list: only those that were there before are moved. */
static bool move_all(struct rg__kit_coordinator *c, bool keep_state, int64_t load_us)
{
	struct rg__kit_unloaded *unloaded, *next_unloaded;
	struct rg__kit_group *group, *next_group;
	unsigned count = HASH_COUNT(c->groups);

	HASH_ITER(hh, c->unloaded, unloaded, next_unloaded)
		if (!move_one(c, rg__kit_copy(c, unloaded->id), keep_state, load_us))
			return false;
	HASH_ITER(hh, c->groups, group, next_group)
		if (count-- == 0)
			break;
		else if (!move_one(c, rg__kit_copy(c, group->id), keep_state, load_us))
			return false;
	return true;
}

bool rg__kit_coordinator_move(struct rg__kit_coordinator *c, int64_t now_us, struct rg__bytes group, bool keep_state,
			      int64_t load_us, struct rg__kit_outcome *outcome)
{
	bool ok = !c->failed;

	if (!ok)
		return false;
	c->now_us = now_us;
	c->out = outcome;
	if (group.data)
		ok = move_one(c, group, keep_state, load_us);
	else
		ok = move_all(c, keep_state, load_us);
	c->failed |= !ok;
	c->out = NULL;
	return !c->failed;
}
