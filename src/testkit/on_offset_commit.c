/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/offset_commit.h"
#include "testkit/coordinator.h"

/* broker: generation -1 without any name is a client outside the group protocol. It may commit only while nobody is in
 * the group; a negative generation is enough for that when the group is Empty, whatever else the request says. */
int16_t rg__kit_commit_check(const struct rg__kit_group *group, int32_t generation, struct rg__bytes member_id,
			     struct rg__bytes instance_id, bool transactional, struct rg__kit_member **ret_member)
{
	struct rg__kit_member *member = NULL;
	bool simple = generation < 0;
	bool named = member_id.len > 0 || instance_id.data;
	int16_t error;

	if (ret_member)
		*ret_member = NULL;
	if (simple && group->state == RG__KIT_EMPTY)
		return 0;
	/* broker: a transaction that says nothing of a member, as older clients' do, is taken at its word. */
	if (simple && !named)
		return transactional ? 0 : RG__KIT_UNKNOWN_MEMBER_ID;
	error = rg__kit_member_check(group, member_id, instance_id, &member);
	if (error)
		return error;
	if (generation != group->generation)
		return RG__KIT_ILLEGAL_GENERATION;
	if (group->state == RG__KIT_AWAITING_SYNC && !transactional)
		return RG__KIT_REBALANCE_IN_PROGRESS;
	if (ret_member)
		*ret_member = member;
	return 0;
}

static int16_t check_member(const struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			    const struct rg__offset_commit_request *commit)
{
	struct rg__kit_member *member;
	int16_t error = rg__kit_commit_check(group, commit->generation_id_or_member_epoch, commit->member_id,
					     commit->group_instance_id, false, &member);

	/* In PreparingRebalance the generation before is still good, so that members can commit on revoke. */
	if (member)
		rg__kit_member_alive(c, member);
	return error;
}

int16_t rg__kit_commit_group(struct rg__kit_coordinator *c, struct rg__bytes group_id, int32_t generation,
			     int16_t missing_error, struct rg__kit_group **ret_group)
{
	struct rg__kit_group *group = rg__kit_group_find(c, group_id);

	*ret_group = NULL;
	if (rg__kit_unloaded_find(c, group_id))
		return RG__KIT_LOAD_IN_PROGRESS;
	if (!group && generation >= 0)
		return missing_error;
	if (!group) {
		group = rg__kit_group_new(c, group_id);
		if (!group || !rg__kit_record_store(group)) {
			c->failed = true;
			return 0;
		}
	}
	*ret_group = group;
	return 0;
}

/* KIP-848 gave missing groups a number of their own, from version 9 on; before that it is 22. */
static int16_t find_group(struct rg__kit_coordinator *c, const struct rg__kit_request *request,
			  struct rg__kit_group **ret_group)
{
	const struct rg__offset_commit_request *commit = request->body;
	int16_t error = rg__kit_commit_group(c, commit->group_id, commit->generation_id_or_member_epoch,
					     request->version >= 9 ? RG__KIT_GROUP_ID_NOT_FOUND : RG__KIT_ILLEGAL_GENERATION,
					     ret_group);

	return *ret_group ? check_member(c, *ret_group, commit) : error;
}

bool rg__kit_partition_exists(const struct rg__kit_coordinator *c, struct rg__bytes topic, int32_t partition)
{
	return !c->conf.partition_exists || c->conf.partition_exists(c->conf.user, topic, partition);
}

static bool store(struct rg__kit_coordinator *c, struct rg__kit_group *group,
		  const struct rg__offset_commit_request_topic *topic, int16_t group_error,
		  struct rg__offset_commit_response_topic *result)
{
	const struct rg__offset_commit_request_topic_partition *from =
		RG__ITEMS(struct rg__offset_commit_request_topic_partition, topic->partitions);
	struct rg__offset_commit_response_topic_partition *to;

	result->name = rg__kit_copy(c, topic->name);
	if (!rg__array_init(&rg__offset_commit_response_topic_partition_fields, topic->partitions.count, &c->out->arena,
			    &result->partitions))
		return false;
	to = RG__ITEMS(struct rg__offset_commit_response_topic_partition, result->partitions);
	for (int32_t i = 0; i < topic->partitions.count; i++) {
		to[i].partition_index = from[i].partition_index;
		to[i].error_code = rg__kit_partition_exists(c, topic->name, from[i].partition_index) ? group_error
										  : RG__KIT_UNKNOWN_TOPIC_OR_PARTITION;
		if (!to[i].error_code && from[i].committed_metadata.len > (size_t)c->conf.offset_metadata_max)
			to[i].error_code = RG__KIT_OFFSET_METADATA_TOO_LARGE;
		if (!to[i].error_code &&
		    !rg__kit_offset_store(&group->offsets, topic->name, from[i].partition_index, from[i].committed_offset,
					  from[i].committed_leader_epoch, from[i].committed_metadata))
			return false;
	}
	return true;
}

bool rg__kit_on_offset_commit(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__offset_commit_request *commit = request->body;
	const struct rg__offset_commit_request_topic *topics =
		RG__ITEMS(struct rg__offset_commit_request_topic, commit->topics);
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__offset_commit_response *answer = rg__kit_answer(c, &reply, request->api);
	struct rg__kit_group *group;
	int16_t error;

	if (!answer || !rg__array_init(&rg__offset_commit_response_topic_fields, commit->topics.count, &c->out->arena,
				       &answer->topics))
		return false;
	error = find_group(c, request, &group);
	for (int32_t i = 0; i < commit->topics.count && !c->failed; i++)
		if (!store(c, group, &topics[i], error,
			   &RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)[i]))
			return false;
	return true;
}
