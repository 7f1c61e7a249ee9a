/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/describe_groups.h"
#include "codec/heartbeat.h"
#include "codec/leave_group.h"
#include "codec/list_groups.h"
#include "codec/offset_commit.h"
#include "codec/sync_group.h"
#include "codec/txn_offset_commit.h"
#include "testkit/coordinator.h"
#include "testkit/offset_fetch_forms.h"

static struct rg__bytes copy(struct rg__arena *arena, struct rg__bytes view, bool *ok)
{
	const char *at = view.data ? rg__arena_copy(arena, view.data, view.len) : NULL;

	*ok = *ok && (at || !view.data);
	return (struct rg__bytes){(const uint8_t *)at, at ? view.len : 0};
}

/* broker: where it is not the group that refuses, the member id is left out. */
static void fail_join(const struct rg__kit_request *request, int16_t error, struct rg__join_group_response *answer)
{
	answer->error_code = error;
	answer->protocol_name = request->version < 7 ? rg__bytes_of("") : RG__NULL_BYTES;
}

static bool fail_commit(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena, void *body)
{
	const struct rg__offset_commit_request *commit = request->body;
	struct rg__offset_commit_response *answer = body;
	bool ok = rg__array_init(&rg__offset_commit_response_topic_fields, commit->topics.count, arena, &answer->topics);

	for (int32_t t = 0; ok && t < commit->topics.count; t++) {
		const struct rg__offset_commit_request_topic *from =
			&RG__ITEMS(struct rg__offset_commit_request_topic, commit->topics)[t];
		struct rg__offset_commit_response_topic *to =
			&RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)[t];

		to->name = copy(arena, from->name, &ok);
		ok = ok && rg__array_init(&rg__offset_commit_response_topic_partition_fields, from->partitions.count,
					  arena, &to->partitions);
		for (int32_t p = 0; ok && p < from->partitions.count; p++) {
			struct rg__offset_commit_response_topic_partition *partition =
				&RG__ITEMS(struct rg__offset_commit_response_topic_partition, to->partitions)[p];

			partition->partition_index = RG__ITEMS(struct rg__offset_commit_request_topic_partition,
							       from->partitions)[p].partition_index;
			partition->error_code = error;
		}
	}
	return ok;
}

static bool fail_txn_commit(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena, void *body)
{
	const struct rg__txn_offset_commit_request *commit = request->body;
	struct rg__txn_offset_commit_response *answer = body;
	bool ok = rg__array_init(&rg__txn_offset_commit_response_topic_fields, commit->topics.count, arena,
				 &answer->topics);

	for (int32_t t = 0; ok && t < commit->topics.count; t++) {
		const struct rg__txn_offset_commit_request_topic *from =
			&RG__ITEMS(struct rg__txn_offset_commit_request_topic, commit->topics)[t];
		struct rg__txn_offset_commit_response_topic *to =
			&RG__ITEMS(struct rg__txn_offset_commit_response_topic, answer->topics)[t];

		to->name = copy(arena, from->name, &ok);
		ok = ok && rg__array_init(&rg__txn_offset_commit_response_topic_partition_fields, from->partitions.count,
					  arena, &to->partitions);
		for (int32_t p = 0; ok && p < from->partitions.count; p++)
			RG__ITEMS(struct rg__txn_offset_commit_response_topic_partition, to->partitions)[p] =
				(struct rg__txn_offset_commit_response_topic_partition){
					RG__ITEMS(struct rg__txn_offset_commit_request_topic_partition,
						  from->partitions)[p].partition_index,
					error};
	}
	return ok;
}

/* Some errors are a partition's, whichever version; the others stand for the whole as soon as the version can say
 * so. */
static bool fail_fetch_group(const struct rg__offset_fetch_request_group *wanted, int version, int16_t error,
			     struct rg__arena *arena, struct rg__offset_fetch_response_group *result)
{
	bool each_partition = version < 2 || error == RG__KIT_UNSTABLE_OFFSET_COMMIT ||
			      error == RG__KIT_UNKNOWN_TOPIC_OR_PARTITION || error == RG__KIT_TOPIC_AUTHORIZATION_FAILED;
	int32_t topic_count = each_partition && wanted->topics.count > 0 ? wanted->topics.count : 0;
	bool ok = rg__array_init(&rg__offset_fetch_response_group_topic_fields, topic_count, arena, &result->topics);

	result->group_id = copy(arena, wanted->group_id, &ok);
	result->error_code = each_partition ? 0 : error;
	for (int32_t t = 0; ok && t < topic_count; t++) {
		const struct rg__offset_fetch_request_group_topic *from =
			&RG__ITEMS(struct rg__offset_fetch_request_group_topic, wanted->topics)[t];
		struct rg__offset_fetch_response_group_topic *to =
			&RG__ITEMS(struct rg__offset_fetch_response_group_topic, result->topics)[t];

		to->name = copy(arena, from->name, &ok);
		ok = ok && rg__array_init(&rg__offset_fetch_response_group_topic_partition_fields,
					  from->partition_indexes.count, arena, &to->partitions);
		for (int32_t p = 0; ok && p < from->partition_indexes.count; p++)
			RG__ITEMS(struct rg__offset_fetch_response_group_topic_partition, to->partitions)[p] =
				(struct rg__offset_fetch_response_group_topic_partition){
					.partition_index = RG__ITEMS(int32_t, from->partition_indexes)[p],
					.committed_offset = -1,
					.committed_leader_epoch = -1,
					.metadata = rg__bytes_of(""),
					.error_code = error};
	}
	return ok;
}

static bool fail_fetch(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena, void *body)
{
	const struct rg__offset_fetch_request *fetch = request->body;
	struct rg__offset_fetch_response *answer = body;
	struct rg__offset_fetch_request_group wanted;
	struct rg__offset_fetch_response_group result = {0};
	bool ok;

	if (request->version < 8)
		return rg__kit_offset_fetch_as_group(fetch, arena, &wanted) &&
		       fail_fetch_group(&wanted, request->version, error, arena, &result) &&
		       rg__kit_offset_fetch_from_group(&result, arena, answer);
	ok = rg__array_init(&rg__offset_fetch_response_group_fields, fetch->groups.count, arena, &answer->groups);
	for (int32_t g = 0; ok && g < fetch->groups.count; g++)
		ok = fail_fetch_group(&RG__ITEMS(struct rg__offset_fetch_request_group, fetch->groups)[g],
				      request->version, error, arena,
				      &RG__ITEMS(struct rg__offset_fetch_response_group, answer->groups)[g]);
	return ok;
}

static bool fail_describe(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena, void *body)
{
	const struct rg__describe_groups_request *wanted = request->body;
	struct rg__describe_groups_response *answer = body;
	bool ok = rg__array_init(&rg__describe_groups_response_group_fields, wanted->groups.count, arena, &answer->groups);

	for (int32_t i = 0; ok && i < wanted->groups.count; i++) {
		struct rg__describe_groups_response_group *to =
			&RG__ITEMS(struct rg__describe_groups_response_group, answer->groups)[i];

		to->group_id = copy(arena, RG__ITEMS(struct rg__bytes, wanted->groups)[i], &ok);
		to->error_code = error;
	}
	return ok;
}

void *rg__kit_error_body(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena)
{
	const struct rg__api *api = rg__api_by_key(request->api);
	void *body = api ? rg__arena_calloc(arena, 1, api->response->size) : NULL;
	bool ok = body != NULL;

	if (!ok)
		return NULL;
	rg__fields_init(api->response, body);
	switch (request->api) {
	case RG__API_JOIN_GROUP:
		fail_join(request, error, body);
		break;
	case RG__API_SYNC_GROUP:
		((struct rg__sync_group_response *)body)->error_code = error;
		break;
	case RG__API_HEARTBEAT:
		((struct rg__heartbeat_response *)body)->error_code = error;
		break;
	case RG__API_LEAVE_GROUP:
		((struct rg__leave_group_response *)body)->error_code = error;
		break;
	case RG__API_OFFSET_COMMIT:
		ok = fail_commit(request, error, arena, body);
		break;
	case RG__API_TXN_OFFSET_COMMIT:
		ok = fail_txn_commit(request, error, arena, body);
		break;
	case RG__API_OFFSET_FETCH:
		ok = fail_fetch(request, error, arena, body);
		break;
	case RG__API_DESCRIBE_GROUPS:
		ok = fail_describe(request, error, arena, body);
		break;
	case RG__API_LIST_GROUPS:
		((struct rg__list_groups_response *)body)->error_code = error;
		break;
	default:
		ok = false;
	}
	return ok ? body : NULL;
}
