/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/txn_offset_commit.h"
#include "testkit/coordinator.h"

static int16_t find_group(struct rg__kit_coordinator *c, const struct rg__txn_offset_commit_request *commit)
{
	struct rg__kit_group *group;
	int16_t error = rg__kit_commit_group(c, commit->group_id, commit->generation_id, RG__KIT_ILLEGAL_GENERATION, &group);

	if (!group)
		return error;
	/* KIP-447: this is what fences those that the group went on without. No sign of life, unlike OffsetCommit. */
	return rg__kit_commit_check(group, commit->generation_id, commit->member_id, commit->group_instance_id, true, NULL);
}

static bool store(struct rg__kit_coordinator *c, const struct rg__txn_offset_commit_request *commit,
		  const struct rg__txn_offset_commit_request_topic *topic, int16_t group_error,
		  struct rg__txn_offset_commit_response_topic *result)
{
	const struct rg__txn_offset_commit_request_topic_partition *from =
		RG__ITEMS(struct rg__txn_offset_commit_request_topic_partition, topic->partitions);
	struct rg__txn_offset_commit_response_topic_partition *to;

	result->name = rg__kit_copy(c, topic->name);
	if (!rg__array_init(&rg__txn_offset_commit_response_topic_partition_fields, topic->partitions.count,
			    &c->out->arena, &result->partitions))
		return false;
	to = RG__ITEMS(struct rg__txn_offset_commit_response_topic_partition, result->partitions);
	for (int32_t i = 0; i < topic->partitions.count; i++) {
		to[i].partition_index = from[i].partition_index;
		to[i].error_code = rg__kit_partition_exists(c, topic->name, from[i].partition_index) ? group_error
										  : RG__KIT_UNKNOWN_TOPIC_OR_PARTITION;
		if (!to[i].error_code && from[i].committed_metadata.len > (size_t)c->conf.offset_metadata_max)
			to[i].error_code = RG__KIT_OFFSET_METADATA_TOO_LARGE;
		if (!to[i].error_code &&
		    !rg__kit_pending_offset_store(c, commit->transactional_id, commit->group_id, topic->name,
						  from[i].partition_index, from[i].committed_offset,
						  from[i].committed_leader_epoch, from[i].committed_metadata))
			return false;
	}
	return true;
}

bool rg__kit_on_txn_offset_commit(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__txn_offset_commit_request *commit = request->body;
	const struct rg__txn_offset_commit_request_topic *topics =
		RG__ITEMS(struct rg__txn_offset_commit_request_topic, commit->topics);
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__txn_offset_commit_response *answer = rg__kit_answer(c, &reply, request->api);
	int16_t error;

	if (!answer || !rg__array_init(&rg__txn_offset_commit_response_topic_fields, commit->topics.count,
				       &c->out->arena, &answer->topics))
		return false;
	error = find_group(c, commit);
	for (int32_t i = 0; i < commit->topics.count && !c->failed; i++)
		if (!store(c, commit, &topics[i], error,
			   &RG__ITEMS(struct rg__txn_offset_commit_response_topic, answer->topics)[i]))
			return false;
	return true;
}
