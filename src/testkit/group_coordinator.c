/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

void rg__kit_coordinator_conf_init(struct rg__kit_coordinator_conf *conf)
{
	*conf = (struct rg__kit_coordinator_conf){
		.seed = 1,
		.initial_delay_us = 3000000,
		.session_min_us = 6000000,
		.session_max_us = 1800000000,
		.new_member_us = 300000000,
		.group_size_max = INT32_MAX,
		.offset_metadata_max = 4096,
		.superseded_error = RG__KIT_NEVER_ANSWERED,
	};
}

struct rg__kit_coordinator *rg__kit_coordinator_new(const struct rg__kit_coordinator_conf *conf)
{
	struct rg__kit_coordinator *c = rg__calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->conf = *conf;
	c->random.state = conf->seed;
	return c;
}

void rg__kit_coordinator_free(struct rg__kit_coordinator *c)
{
	struct rg__kit_group *group, *next_group;
	struct rg__kit_unloaded *unloaded, *next_unloaded;

	if (!c)
		return;
	HASH_ITER(hh, c->groups, group, next_group)
		rg__kit_group_free(c, group);
	HASH_ITER(hh, c->unloaded, unloaded, next_unloaded)
		rg__kit_unloaded_free(c, unloaded);
	rg__kit_pending_offsets_forget(c, RG__NULL_BYTES);
	rg__free(c);
}

struct rg__kit_coordinator_conf *rg__kit_coordinator_settings(struct rg__kit_coordinator *c)
{
	return &c->conf;
}

void rg__kit_outcome_clear(struct rg__kit_outcome *outcome)
{
	rg__arena_clear(&outcome->arena);
	*outcome = (struct rg__kit_outcome){0};
}

static bool expire_all(struct rg__kit_coordinator *c)
{
	bool more = true;

	while (more)
		if (!rg__kit_expire_next(c, &more))
			return false;
	return true;
}

static bool handle(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	switch (request->api) {
	case RG__API_JOIN_GROUP:
		return rg__kit_on_join(c, request);
	case RG__API_SYNC_GROUP:
		return rg__kit_on_sync(c, request);
	case RG__API_HEARTBEAT:
		return rg__kit_on_heartbeat(c, request);
	case RG__API_LEAVE_GROUP:
		return rg__kit_on_leave(c, request);
	case RG__API_OFFSET_COMMIT:
		return rg__kit_on_offset_commit(c, request);
	case RG__API_OFFSET_FETCH:
		return rg__kit_on_offset_fetch(c, request);
	case RG__API_TXN_OFFSET_COMMIT:
		return rg__kit_on_txn_offset_commit(c, request);
	case RG__API_DESCRIBE_GROUPS:
		return rg__kit_on_describe_groups(c, request);
	case RG__API_LIST_GROUPS:
		return rg__kit_on_list_groups(c, request);
	default:
		return true; /* not ours: no answer */
	}
}

bool rg__kit_coordinator_step(struct rg__kit_coordinator *c, int64_t now_us, const struct rg__kit_request *request,
			      struct rg__kit_outcome *outcome)
{
	bool ok;

	if (c->failed)
		return false;
	c->now_us = now_us;
	c->out = outcome;
	ok = expire_all(c) && (!request || handle(c, request)) && expire_all(c);
	c->failed |= !ok;
	if (!c->failed)
		for (struct rg__kit_group *group = c->groups; group; group = group->hh.next)
			rg__kit_group_check(group);
	c->out = NULL;
	return !c->failed;
}

bool rg__kit_coordinator_state(const struct rg__kit_coordinator *c, struct rg__bytes group,
			       enum rg__kit_group_state *ret_state)
{
	const struct rg__kit_group *found = rg__kit_group_find(c, group);

	if (!found)
		return false;
	*ret_state = found->state;
	return true;
}

static void print_bytes(struct rg__buf *out, const char *label, struct rg__bytes text)
{
	rg__buf_append_str(out, label);
	if (text.data)
		rg__buf_append(out, text.data, text.len);
	else
		rg__buf_append_str(out, "-");
}

bool rg__kit_coordinator_print(const struct rg__kit_coordinator *c, struct rg__bytes group_id, struct rg__buf *out)
{
	const struct rg__kit_group *group = rg__kit_group_find(c, group_id);
	const char *space = "";

	if (!group)
		return rg__buf_append_str(out, rg__kit_unloaded_find(c, group_id) ? "loading" : "absent");
	rg__buf_printf(out, "%s gen=%d", rg__kit_group_state_name(group->state), (int)group->generation);
	print_bytes(out, " leader=", group->leader);
	print_bytes(out, " protocol=", group->protocol_name);
	rg__buf_append_str(out, " members=[");
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next, space = " ") {
		print_bytes(out, space, member->id);
		rg__buf_append_str(out, member->join.parked ? "+join" : member->sync.parked ? "+sync" : "");
	}
	rg__buf_append_str(out, "]");
	if (group->pending_ids)
		rg__buf_printf(out, " pending=%u", HASH_COUNT(group->pending_ids));
	return !out->failed;
}
