/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/offset_fetch.h"
#include "testkit/coordinator.h"
#include "testkit/offset_fetch_forms.h"

typedef struct rg__offset_fetch_response_group_topic result_topic;
typedef struct rg__offset_fetch_response_group_topic_partition result_partition;

static void fill(struct rg__kit_coordinator *c, int32_t partition, const struct rg__kit_offset *offset,
		 result_partition *result)
{
	result->partition_index = partition;
	result->committed_offset = offset ? offset->offset : -1;
	result->committed_leader_epoch = offset ? offset->leader_epoch : -1;
	result->metadata = rg__kit_copy(c, offset ? offset->metadata : rg__bytes_of(""));
}

/* KIP-447: an offset that a transaction under way may replace is none that somebody could begin at. */
static void hide_unstable(struct rg__kit_coordinator *c, struct rg__bytes group, struct rg__bytes topic,
			  result_partition *result)
{
	if (!rg__kit_offset_is_unstable(c, group, topic, result->partition_index))
		return;
	result->committed_offset = result->committed_leader_epoch = -1;
	result->metadata = rg__bytes_of("");
	result->error_code = RG__KIT_UNSTABLE_OFFSET_COMMIT;
}

static bool fetch_topic(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			const struct rg__offset_fetch_request_group_topic *topic, result_topic *result)
{
	const int32_t *wanted = RG__ITEMS(int32_t, topic->partition_indexes);

	result->name = rg__kit_copy(c, topic->name);
	if (!rg__array_init(&rg__offset_fetch_response_group_topic_partition_fields, topic->partition_indexes.count,
			    &c->out->arena, &result->partitions))
		return false;
	for (int32_t i = 0; i < topic->partition_indexes.count; i++)
		fill(c, wanted[i], group ? rg__kit_offset_find(group, topic->name, wanted[i]) : NULL,
		     &RG__ITEMS(result_partition, result->partitions)[i]);
	return true;
}

/* KIP-88: no list of topics means all that have an offset. */
static bool fetch_all(struct rg__kit_coordinator *c, const struct rg__kit_group *group, struct rg__array *ret_topics)
{
	int32_t topic_count = group ? (int32_t)HASH_COUNT(group->offsets) : 0;
	result_topic *result;

	if (!rg__array_init(&rg__offset_fetch_response_group_topic_fields, topic_count, &c->out->arena, ret_topics))
		return false;
	result = RG__ITEMS(result_topic, *ret_topics);
	for (const struct rg__kit_offset_topic *topic = group ? group->offsets : NULL; topic;
	     topic = topic->hh.next, result++) {
		result_partition *to;

		result->name = rg__kit_copy(c, topic->name);
		if (!rg__array_init(&rg__offset_fetch_response_group_topic_partition_fields,
				    (int32_t)HASH_COUNT(topic->partitions), &c->out->arena, &result->partitions))
			return false;
		to = RG__ITEMS(result_partition, result->partitions);
		for (const struct rg__kit_offset *offset = topic->partitions; offset; offset = offset->hh.next)
			fill(c, offset->partition, offset, to++);
	}
	return true;
}

static void hide_all_unstable(struct rg__kit_coordinator *c, const struct rg__offset_fetch_response_group *result)
{
	const result_topic *topics = RG__ITEMS(result_topic, result->topics);

	for (int32_t t = 0; t < result->topics.count; t++)
		for (int32_t p = 0; p < topics[t].partitions.count; p++)
			hide_unstable(c, result->group_id, topics[t].name, &RG__ITEMS(result_partition, topics[t].partitions)[p]);
}

static bool fetch_offsets(struct rg__kit_coordinator *c, const struct rg__offset_fetch_request_group *wanted,
			  struct rg__offset_fetch_response_group *result)
{
	const struct rg__kit_group *group = rg__kit_group_find(c, wanted->group_id);
	const struct rg__offset_fetch_request_group_topic *topics =
		RG__ITEMS(struct rg__offset_fetch_request_group_topic, wanted->topics);

	result->group_id = rg__kit_copy(c, wanted->group_id);
	if (rg__kit_unloaded_find(c, wanted->group_id)) {
		result->error_code = RG__KIT_LOAD_IN_PROGRESS;
		return true;
	}
	/* broker: a group that does not exist has no offsets, which is no error. */
	if (wanted->topics.count < 0)
		return fetch_all(c, group, &result->topics);
	if (!rg__array_init(&rg__offset_fetch_response_group_topic_fields, wanted->topics.count, &c->out->arena,
			    &result->topics))
		return false;
	for (int32_t i = 0; i < wanted->topics.count; i++)
		if (!fetch_topic(c, group, &topics[i], &RG__ITEMS(result_topic, result->topics)[i]))
			return false;
	return true;
}

static bool fetch_group(struct rg__kit_coordinator *c, const struct rg__offset_fetch_request *fetch,
			const struct rg__offset_fetch_request_group *wanted,
			struct rg__offset_fetch_response_group *result)
{
	if (!fetch_offsets(c, wanted, result))
		return false;
	if (fetch->require_stable && !result->error_code)
		hide_all_unstable(c, result);
	return true;
}

static bool fetch_one(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__offset_fetch_request_group wanted;
	struct rg__offset_fetch_response_group result = {0};
	struct rg__offset_fetch_response *answer;

	if (!rg__kit_offset_fetch_as_group(request->body, &c->out->arena, &wanted) ||
	    !fetch_group(c, request->body, &wanted, &result))
		return false;
	/* Version 1 has no error for the whole and carries it in each partition. */
	if (result.error_code && request->version < 2) {
		rg__kit_answer_error(c, request, result.error_code);
		return true;
	}
	answer = rg__kit_answer(c, &reply, request->api);
	return answer && rg__kit_offset_fetch_from_group(&result, &c->out->arena, answer);
}

bool rg__kit_on_offset_fetch(struct rg__kit_coordinator *c, const struct rg__kit_request *request)
{
	const struct rg__offset_fetch_request *fetch = request->body;
	struct rg__kit_reply reply = rg__kit_reply_to(request);
	struct rg__offset_fetch_response *answer;

	if (request->version < 8)
		return fetch_one(c, request);
	answer = rg__kit_answer(c, &reply, request->api);
	if (!answer || !rg__array_init(&rg__offset_fetch_response_group_fields, fetch->groups.count, &c->out->arena,
				       &answer->groups))
		return false;
	for (int32_t i = 0; i < fetch->groups.count; i++)
		if (!fetch_group(c, fetch, &RG__ITEMS(struct rg__offset_fetch_request_group, fetch->groups)[i],
				 &RG__ITEMS(struct rg__offset_fetch_response_group, answer->groups)[i]))
			return false;
	return true;
}
