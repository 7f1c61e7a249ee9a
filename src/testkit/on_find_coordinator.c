/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/find_coordinator.h"
#include "testkit/cluster.h"

enum { COORDINATOR_NOT_AVAILABLE = 15, INVALID_REQUEST = 42 };

/* What a key may be: a group's name, or (KIP-98) a transactional id; whoever coordinates the group of that name will do
 * for it. Of share groups (KIP-932) there are none here. */
enum { GROUP, TRANSACTION };

static bool is_known(const struct rg__kit_request *request)
{
	const struct rg__find_coordinator_request *body = request->body;

	return request->version < 1 || body->key_type == GROUP || body->key_type == TRANSACTION;
}

static int16_t find(const struct rg__kit_cluster *cluster, struct rg__bytes key, int16_t error,
		    const struct rg__kit_broker **ret_broker)
{
	int32_t id = rg__kit_coordinator_of(cluster, key);
	static const struct rg__kit_broker nowhere = {.id = -1, .port = -1};

	*ret_broker = &nowhere;
	if (error)
		return error;
	if (!id || !cluster->brokers[id - 1].running)
		return COORDINATOR_NOT_AVAILABLE;
	*ret_broker = &cluster->brokers[id - 1];
	return 0;
}

static bool answer_each(const struct rg__kit_cluster *cluster, const struct rg__find_coordinator_request *request,
			int16_t error, struct rg__arena *arena, struct rg__find_coordinator_response *answer)
{
	const struct rg__bytes *keys = RG__ITEMS(struct rg__bytes, request->coordinator_keys);

	if (!rg__array_init(&rg__find_coordinator_response_coordinator_fields, request->coordinator_keys.count, arena,
			    &answer->coordinators))
		return false;
	for (int32_t i = 0; i < request->coordinator_keys.count; i++) {
		struct rg__find_coordinator_response_coordinator *to =
			&RG__ITEMS(struct rg__find_coordinator_response_coordinator, answer->coordinators)[i];
		const char *key = rg__arena_copy(arena, keys[i].data, keys[i].len);
		const struct rg__kit_broker *broker;

		if (!key)
			return false;
		to->error_code = find(cluster, keys[i], error, &broker);
		to->key = (struct rg__bytes){(const uint8_t *)key, keys[i].len};
		to->node_id = broker->id;
		to->host = rg__bytes_of(broker->host);
		to->port = broker->port;
	}
	return true;
}

void *rg__kit_on_find_coordinator(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request,
				  int16_t error, struct rg__arena *arena)
{
	const struct rg__find_coordinator_request *find_request = request->body;
	struct rg__find_coordinator_response *answer = rg__arena_calloc(arena, 1, sizeof(*answer));
	const struct rg__kit_broker *broker;

	if (!answer)
		return NULL;
	rg__fields_init(&rg__find_coordinator_response_fields, answer);
	if (!error && !is_known(request))
		error = INVALID_REQUEST;
	/* KIP-699: from version 4 on the answer is a list. */
	if (request->version >= 4)
		return answer_each(cluster, find_request, error, arena, answer) ? answer : NULL;
	answer->error_code = find(cluster, find_request->key, error, &broker);
	answer->node_id = broker->id;
	answer->host = rg__bytes_of(broker->host);
	answer->port = broker->port;
	return answer;
}
