/* SPDX-License-Identifier: Apache-2.0 */
/* DescribeGroups and ListGroups: what the coordinator tells those who look on. */
#include "codec/describe_groups.h"
#include "codec/list_groups.h"
#include "testkit/coordinator.h"

#include <string.h>
#include <strings.h>

typedef struct rg__describe_groups_response_group described_group;
typedef struct rg__describe_groups_response_group_member described_member;
typedef struct rg__list_groups_response_group listed_group;

/* As brokers call them. */
static const char *const state_names[RG__KIT_GROUP_STATES] = {
	[RG__KIT_EMPTY] = "Empty",
	[RG__KIT_PREPARING_REBALANCE] = "PreparingRebalance",
	[RG__KIT_AWAITING_SYNC] = "CompletingRebalance",
	[RG__KIT_STABLE] = "Stable",
	[RG__KIT_DEAD] = "Dead",
};

static bool is_here(const struct rg__kit_coordinator *c, const struct rg__kit_request *request, struct rg__bytes group)
{
	return !c->conf.coordinates || c->conf.coordinates(c->conf.user, request->broker, group);
}

static struct rg__bytes text_of(struct rg__kit_coordinator *c, struct rg__bytes text)
{
	return text.data ? rg__kit_copy(c, text) : rg__bytes_of("");
}

/* --- DescribeGroups ----------------------------------------------------------------------------------------------- */

/* broker: subscriptions are shown while the group is Stable, shares from one plan to the next; neither need be there. */
static bool describe_members(struct rg__kit_coordinator *c, const struct rg__kit_group *group, described_group *result)
{
	bool stable = group->state == RG__KIT_STABLE;
	described_member *to;

	if (!rg__array_init(&rg__describe_groups_response_group_member_fields, (int32_t)HASH_COUNT(group->members),
			    &c->out->arena, &result->members))
		return false;
	to = RG__ITEMS(described_member, result->members);
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next, to++) {
		to->member_id = rg__kit_copy(c, member->id);
		to->group_instance_id = rg__kit_copy(c, member->instance_id);
		to->client_id = text_of(c, member->client_id);
		to->client_host = rg__bytes_of("/127.0.0.1"); /* where everybody is */
		if (stable)
			to->member_metadata = text_of(c, rg__kit_member_metadata(member, group->protocol_name));
		to->member_assignment = text_of(c, member->assignment);
	}
	return true;
}

/* broker: nobody's group is Dead, which is no error; from version 6 on it is 69 as well (KIP-1043). */
static void describe_nobodys(struct rg__kit_coordinator *c, const struct rg__kit_request *request,
			     described_group *result)
{
	struct rg__buf text = {0};

	result->group_state = rg__bytes_of(state_names[RG__KIT_DEAD]);
	if (request->version < 6)
		return;
	result->error_code = RG__KIT_GROUP_ID_NOT_FOUND;
	rg__buf_append_str(&text, "Group ");
	rg__buf_append(&text, result->group_id.data, result->group_id.len);
	rg__buf_append_str(&text, " not found.");
	result->error_message = rg__kit_copy(c, rg__buf_view(&text));
	c->failed |= text.failed;
	rg__buf_free(&text);
}

static bool describe(struct rg__kit_coordinator *c, const struct rg__kit_request *request, struct rg__bytes id,
		     described_group *result)
{
	const struct rg__kit_group *group = rg__kit_group_find(c, id);

	result->group_id = text_of(c, id);
	if (!is_here(c, request, id)) {
		result->error_code = RG__KIT_NOT_COORDINATOR;
	} else if (rg__kit_unloaded_find(c, id)) {
		result->error_code = RG__KIT_LOAD_IN_PROGRESS;
	} else if (!group) {
		describe_nobodys(c, request, result);
	} else {
		result->group_state = rg__bytes_of(state_names[group->state]);
		result->protocol_type = text_of(c, group->protocol_type);
		if (group->state == RG__KIT_STABLE)
			result->protocol_data = text_of(c, group->protocol_name);
		return describe_members(c, group, result);
	}
	return true;
}

bool rg__kit_on_describe_groups(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__describe_groups_request *wanted = request->body;
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__describe_groups_response *answer = rg__kit_answer(c, &reply, request->api);

	if (!answer || !rg__array_init(&rg__describe_groups_response_group_fields, wanted->groups.count, &c->out->arena,
				       &answer->groups))
		return false;
	for (int32_t i = 0; i < wanted->groups.count; i++)
		if (!describe(c, request, RG__ITEMS(struct rg__bytes, wanted->groups)[i],
			      &RG__ITEMS(described_group, answer->groups)[i]))
			return false;
	return true;
}

/* --- ListGroups --------------------------------------------------------------------------------------------------- */

/* broker: no filter is every name, whatever case they are written in; names that nothing has find nothing. */
static bool passes(const struct rg__array *filter, const char *name)
{
	const struct rg__bytes *names = RG__ITEMS(struct rg__bytes, *filter);

	for (int32_t i = 0; i < filter->count; i++)
		if (names[i].len == strlen(name) && !strncasecmp((const char *)names[i].data, name, names[i].len))
			return true;
	return filter->count <= 0;
}

static bool is_listed(const struct rg__kit_coordinator *c, const struct rg__kit_request *request,
		      const struct rg__kit_group *group)
{
	const struct rg__list_groups_request *wanted = request->body;

	return is_here(c, request, group->id) && passes(&wanted->states_filter, state_names[group->state]) &&
	       passes(&wanted->types_filter, "classic");
}

static bool any_is_loading(const struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	for (const struct rg__kit_unloaded *unloaded = c->unloaded; unloaded; unloaded = unloaded->hh.next)
		if (is_here(c, request, unloaded->id))
			return true;
	return false;
}

static bool list(struct rg__kit_coordinator *c, const struct rg__kit_request *request, struct rg__array *ret_groups)
{
	int32_t count = 0;
	listed_group *to;

	for (const struct rg__kit_group *group = c->groups; group; group = group->hh.next)
		count += is_listed(c, request, group);
	if (!rg__array_init(&rg__list_groups_response_group_fields, count, &c->out->arena, ret_groups))
		return false;
	to = RG__ITEMS(listed_group, *ret_groups);
	for (const struct rg__kit_group *group = c->groups; group; group = group->hh.next) {
		if (!is_listed(c, request, group))
			continue;
		to->group_id = rg__kit_copy(c, group->id);
		to->protocol_type = text_of(c, group->protocol_type);
		to->group_state = rg__bytes_of(state_names[group->state]);
		to->group_type = rg__bytes_of("classic");
		to++;
	}
	return true;
}

bool rg__kit_on_list_groups(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__list_groups_response *answer = rg__kit_answer(c, &reply, request->api);

	if (!answer)
		return false;
	/* broker: rather no list than one that may lack some. */
	if (any_is_loading(c, request)) {
		answer->error_code = RG__KIT_LOAD_IN_PROGRESS;
		return true;
	}
	return list(c, request, &answer->groups);
}
