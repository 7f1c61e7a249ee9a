/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/offset_fetch_forms.h"

typedef struct rg__offset_fetch_response_group_topic result_topic;
typedef struct rg__offset_fetch_response_group_topic_partition result_partition;

bool rg__kit_offset_fetch_as_group(const struct rg__offset_fetch_request *fetch, struct rg__arena *arena,
				   struct rg__offset_fetch_request_group *ret_wanted)
{
	const struct rg__offset_fetch_request_topic *from =
		RG__ITEMS(struct rg__offset_fetch_request_topic, fetch->topics);
	struct rg__offset_fetch_request_group_topic *to;

	*ret_wanted = (struct rg__offset_fetch_request_group){.group_id = fetch->group_id, .topics = RG__NULL_ARRAY};
	if (fetch->topics.count < 0)
		return true;
	to = rg__arena_calloc(arena, (size_t)fetch->topics.count, sizeof(*to));
	if (!to)
		return false;
	for (int32_t i = 0; i < fetch->topics.count; i++) {
		to[i].name = from[i].name;
		to[i].partition_indexes = from[i].partition_indexes;
	}
	ret_wanted->topics = (struct rg__array){to, fetch->topics.count};
	return true;
}

bool rg__kit_offset_fetch_from_group(const struct rg__offset_fetch_response_group *group, struct rg__arena *arena,
				     struct rg__offset_fetch_response *answer)
{
	const result_topic *from = RG__ITEMS(result_topic, group->topics);

	answer->error_code = group->error_code;
	if (!rg__array_init(&rg__offset_fetch_response_topic_fields, group->topics.count, arena,
			    &answer->topics))
		return false;
	for (int32_t i = 0; i < group->topics.count; i++) {
		struct rg__offset_fetch_response_topic *to =
			&RG__ITEMS(struct rg__offset_fetch_response_topic, answer->topics)[i];
		const result_partition *old = RG__ITEMS(result_partition, from[i].partitions);

		to->name = from[i].name;
		if (!rg__array_init(&rg__offset_fetch_response_topic_partition_fields, from[i].partitions.count,
				    arena, &to->partitions))
			return false;
		for (int32_t p = 0; p < from[i].partitions.count; p++)
			RG__ITEMS(struct rg__offset_fetch_response_topic_partition, to->partitions)[p] =
				(struct rg__offset_fetch_response_topic_partition){
					.partition_index = old[p].partition_index,
					.committed_offset = old[p].committed_offset,
					.committed_leader_epoch = old[p].committed_leader_epoch,
					.metadata = old[p].metadata,
					.error_code = old[p].error_code};
	}
	return true;
}
