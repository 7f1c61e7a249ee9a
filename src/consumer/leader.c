/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/leader.h"

#include "assign/names.h"
#include "assign/plan.h"
#include "assign/validate.h"
#include "base/alloc.h"
#include "base/error.h"
#include "codec/consumer_protocol.h"
#include "consumer/hint.h"

#include <stdlib.h>
#include <string.h>

/* --- Subscriptions ------------------------------------------------------------------------------------------------ */

static bool read_owned(struct rg__leading *leading, const struct rg__array *from, struct rg__member_input *member)
{
	const struct rg__consumer_protocol_topic_partition *topics = from->items;
	struct rg__owned_input *owned;
	size_t count = from->count > 0 ? (size_t)from->count : 0;

	owned = rg__arena_calloc(&leading->arena, count, sizeof(*owned));
	if (!owned)
		return false;
	for (size_t i = 0; i < count; i++)
		owned[i] = (struct rg__owned_input){topics[i].topic, topics[i].partitions.items, topics[i].partitions.count};
	member->owned = owned;
	member->owned_count = (int32_t)count;
	return true;
}

/* False: out of memory. */
static bool read_member(struct rg__leading *leading, int32_t i, const struct rg__log *log)
{
	const rg_member_info *info = &leading->infos[i];
	struct rg__member_input *member = &leading->members[i];
	struct rg__consumer_protocol_subscription subscription;
	struct rg__codec_error refused = {0};
	char text[RG__CODEC_TEXT_MAX];

	member->member_id = rg__bytes_of(info->member_id);
	member->instance_id = rg__bytes_of(info->instance_id);
	member->generation = -1;
	if (rg__subscription_decode((struct rg__bytes){info->metadata.data, info->metadata.len}, &leading->arena,
	                            &subscription, NULL, &refused)) {
		member->topics = subscription.topics.items;
		member->topic_count = subscription.topics.count;
		member->generation = subscription.generation_id;
		member->rack = subscription.rack_id;
		member->userdata = subscription.user_data;
		return read_owned(leading, &subscription.owned_partitions, member);
	}
	if (refused.out_of_memory)
		return false;
	rg__codec_error_text(&refused, text, sizeof(text));
	rg__log(log, RG__LOG_WARNING, "LEADER", "member %s gets nothing, its subscription cannot be read: %s", info->member_id,
	        text);
	return true;
}

static int compare_bytes(const void *a, const void *b)
{
	return rg__bytes_compare(*(const struct rg__bytes *)a, *(const struct rg__bytes *)b);
}

/* Whether a member names the same topic at the same place as the member before: mostly all of them do, and comparing is
 * cheaper than looking up. */
static bool named_before(const struct rg__leading *leading, int32_t m, int32_t t)
{
	return m > 0 && t < leading->members[m - 1].topic_count &&
	       rg__bytes_equal(leading->members[m - 1].topics[t], leading->members[m].topics[t]);
}

/* Each topic is looked up, and only what is new is kept and sorted. */
static bool collect_topics(struct rg__leading *leading)
{
	struct rg__names names;
	int32_t room = 0;

	if (!rg__names_init(&names, &leading->arena, 16))
		return false;
	for (int32_t m = 0; m < leading->member_count; m++)
		for (int32_t t = 0; t < leading->members[m].topic_count; t++) {
			struct rg__bytes topic = leading->members[m].topics[t];

			if (named_before(leading, m, t) || rg__names_find(&names, topic) != RG__NO_NAME)
				continue;
			if (leading->topic_count == room) {
				struct rg__bytes *larger = rg__arena_calloc(&leading->arena, (size_t)room * 2 + 16, sizeof(*larger));

				if (!larger)
					return false;
				if (room)
					memcpy(larger, leading->topics, (size_t)room * sizeof(*larger));
				leading->topics = larger;
				room = room * 2 + 16;
			}
			if (!rg__names_add(&names, topic, leading->topic_count))
				return false;
			leading->topics[leading->topic_count++] = topic;
		}
	if (leading->topic_count)
		qsort(leading->topics, (size_t)leading->topic_count, sizeof(*leading->topics), compare_bytes);
	return true;
}

bool rg__leading_begin(struct rg__leading *leading, const rg_member_info *infos, size_t count,
                       const struct rg__log *log)
{
	*leading = (struct rg__leading){.infos = infos, .member_count = (int32_t)count};
	leading->members = rg__arena_calloc(&leading->arena, count, sizeof(*leading->members));
	for (int32_t m = 0; leading->members && m < leading->member_count; m++)
		if (!read_member(leading, m, log))
			leading->members = NULL;
	if (leading->members && collect_topics(leading))
		return true;
	rg__leading_end(leading);
	return false;
}

void rg__leading_end(struct rg__leading *leading)
{
	rg__arena_clear(&leading->arena);
	*leading = (struct rg__leading){0};
}

/* --- The plan ----------------------------------------------------------------------------------------------------- */

static int compare_partitions(const void *a, const void *b)
{
	const rg_group_partition *left = a, *right = b;
	int order = (left->topic > right->topic) - (left->topic < right->topic);

	return order ? order : (left->partition > right->partition) - (left->partition < right->partition);
}

/* The view has what a member owns in order. */
static bool claims(const rg_group_member *member, rg_group_partition partition)
{
	return member->owned_count && bsearch(&partition, member->owned, (size_t)member->owned_count, sizeof(partition),
	                                      compare_partitions);
}

/* KIP-429: a cooperative member goes on with what it owns until it has been told not to, so what moves must be left
 * out of the plan for one round. Checked for assignors that are not ours; ours do it by construction. */
static rg_err check_cooperative(const struct rg_plan *plan, const rg_assignor *assignor, rg_error *error)
{
	const rg_group *group = plan->group;

	for (int32_t m = 0; m < group->member_count; m++) {
		const rg_group_member *member = &group->members[m];

		for (int32_t i = 0; i < member->owned_count; i++) {
			rg_group_partition at = member->owned[i];
			int32_t owner = plan->owners[plan->offsets[at.topic] + at.partition];

			if (owner == RG__NOBODY || owner == m || claims(&group->members[owner], at))
				continue;
			return rg__fail(error, RG_ERR_BAD_PLAN,
			                "assignor %s gives %s [%d] to %s while %s owns it: a cooperative assignor leaves it out until "
			                "its owner has given it up",
			                assignor->name, group->topics[at.topic].name, (int)at.partition,
			                group->members[owner].member_id, member->member_id);
		}
	}
	return RG_OK;
}

/* Partitions that nobody gets as long as some member says it owns them. */
static int32_t count_awaited(const struct rg_plan *plan)
{
	const rg_group *group = plan->group;
	int32_t count = 0;

	for (int32_t m = 0; m < group->member_count; m++)
		for (int32_t i = 0; i < group->members[m].owned_count; i++) {
			rg_group_partition at = group->members[m].owned[i];

			count += plan->owners[plan->offsets[at.topic] + at.partition] == RG__NOBODY;
		}
	return count;
}

static bool encode_share(struct rg__leading *leading, const struct rg_plan *plan, int32_t m, struct rg__bytes userdata,
                         rg_bytes *ret_share)
{
	struct rg__consumer_protocol_assignment assignment = {.user_data = userdata};
	struct rg__consumer_protocol_topic_partition *topics;
	int32_t count = rg__plan_topic_count(plan, m);
	struct rg__buf out = {0};
	char *copy = NULL;

	topics = rg__arena_calloc(&leading->arena, (size_t)count, sizeof(*topics));
	for (int32_t i = 0; topics && i < count; i++) {
		const int32_t *partitions;
		int32_t partition_count, topic = rg__plan_topic(plan, m, i, &partitions, &partition_count);

		topics[i].topic = rg__bytes_of(plan->group->topics[topic].name);
		topics[i].partitions = (struct rg__array){(int32_t *)partitions, partition_count};
	}
	assignment.assigned_partitions = (struct rg__array){topics, count};
	if (topics && rg__assignment_encode(RG__CONSUMER_PROTOCOL_LAST, &assignment, &out, NULL))
		copy = rg__arena_copy(&leading->arena, out.data, out.len);
	*ret_share = (rg_bytes){copy, out.len};
	rg__buf_free(&out);
	return copy != NULL;
}

/* `hash` is that of the member before, which mostly has the same topics. */
static uint32_t hash_topics(const struct rg__leading *leading, int32_t m, uint32_t hash)
{
	const struct rg__member_input *member = &leading->members[m];
	int32_t same = 0;

	while (same < member->topic_count && named_before(leading, m, same))
		same++;
	if (m > 0 && same == member->topic_count && same == leading->members[m - 1].topic_count)
		return hash;
	hash = 0;
	for (int32_t t = 0; t < member->topic_count; t++)
		hash = rg__hint_mix(hash, member->topics[t]);
	return hash;
}

/* Of all members, in the order in which they were listed. */
static uint32_t *hash_all_topics(struct rg__leading *leading)
{
	uint32_t *hashes = rg__arena_calloc(&leading->arena, (size_t)leading->member_count, sizeof(*hashes));

	for (int32_t m = 0; hashes && m < leading->member_count; m++)
		hashes[m] = hash_topics(leading, m, m ? hashes[m - 1] : 0);
	return hashes;
}

static uint32_t hash_partitions(const struct rg__topic_input *topics, int32_t count)
{
	uint32_t hash = 0;

	for (int32_t t = 0; t < count; t++)
		hash = rg__hint_mix_partitions(hash, topics[t].name, topics[t].partition_count);
	return hash;
}

/* One share for every member, also for those that get nothing: a broker gives a member that is left out zero bytes,
 * which other clients refuse. */
static rg_err encode_shares(struct rg__leading *leading, const struct rg__view *view, const struct rg_plan *plan,
                            bool hint, uint32_t partitions, struct rg__lead_result *result, rg_error *error)
{
	size_t count = (size_t)plan->group->member_count;
	const uint32_t *topics = hint ? hash_all_topics(leading) : NULL;

	if (topics || !hint)
		result->shares = rg__arena_calloc(&leading->arena, count, sizeof(*result->shares));
	for (int32_t m = 0; result->shares && m < plan->group->member_count; m++) {
		int32_t source = view->sources[m];
		uint8_t bytes[RG__HINT_LEN];
		struct rg__bytes userdata = hint ? (struct rg__bytes){bytes, sizeof(bytes)} : rg__plan_userdata(plan, m);

		if (hint)
			rg__hint_write(plan->group->member_count, topics[source], partitions, bytes);
		result->shares[m].member_id = leading->infos[source].member_id;
		if (!encode_share(leading, plan, m, userdata, &result->shares[m].assignment))
			result->shares = NULL;
	}
	if (!result->shares)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	result->count = count;
	return RG_OK;
}

static rg_err run_assignor(const struct rg__listed_assignor *listed, const rg_group *group, struct rg_plan *plan,
                           rg_error *error)
{
	rg_error said = {0};
	rg_err err = listed->assignor->assign(group, plan, &said, listed->user);

	if (!err)
		return RG_OK;
	said.text[sizeof(said.text) - 1] = '\0';
	return rg__fail(error, err == RG_ERR_MEMORY ? err : RG_ERR_ASSIGNOR, "assignor %s: %s (%s)", listed->assignor->name,
	                said.text[0] ? said.text : "failed",
	                rg_err_name(err));
}

rg_err rg__leading_plan(struct rg__leading *leading, const struct rg__listed_assignor *assignor, bool cooperative,
                        const struct rg__topic_input *topics, int32_t topic_count, int32_t generation,
                        struct rg__lead_result *ret_result, rg_error *error)
{
	struct rg__lead_result result = {0};
	struct rg__view view = {0};
	struct rg_plan *plan = NULL;
	rg_err err = rg__view_build(&view, leading->members, leading->member_count, topics, topic_count, generation, error);

	if (!err && !(plan = rg__plan_new(&view.group)))
		err = rg__fail(error, RG_ERR_MEMORY, "out of memory");
	if (!err)
		err = run_assignor(assignor, &view.group, plan, error);
	if (!err && (err = rg__plan_validate(plan, &result.withheld, error)))
		rg__error_prefix(error, "assignor %s", assignor->assignor->name);
	if (!err && cooperative && !assignor->builtin)
		err = check_cooperative(plan, assignor->assignor, error);
	if (!err)
		err = encode_shares(leading, &view, plan, assignor->builtin, hash_partitions(topics, topic_count), &result, error);
	if (!err) {
		result.partitions = plan->partition_count - result.withheld;
		result.awaited = count_awaited(plan);
		result.topics = view.group.topic_count;
		*ret_result = result;
	}
	rg__plan_free(plan);
	rg__view_free(&view);
	return err;
}
