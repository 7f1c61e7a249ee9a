/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/cluster.h"

#include "base/backoff.h"
#include "codec/heartbeat.h"
#include "codec/leave_group.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"
#include "codec/txn_offset_commit.h"
#include "testkit/coordinator.h"

#include <string.h>

enum { TOPIC_NAME_MAX = 249 };

struct rg__kit_moved {
	UT_hash_handle hh;
	struct rg__bytes group; /* owned */
	int32_t broker;
};

static void forget_moves(struct rg__kit_cluster *cluster)
{
	struct rg__kit_moved *moved, *next;

	HASH_ITER(hh, cluster->moved, moved, next) {
		HASH_DEL(cluster->moved, moved);
		rg__kit_disown(&moved->group);
		rg__free(moved);
	}
}

void rg__kit_cluster_free(struct rg__kit_cluster *cluster)
{
	while (cluster->topics)
		rg__kit_topic_remove(cluster, cluster->topics);
	forget_moves(cluster);
}

struct rg__kit_broker *rg__kit_broker_find(struct rg__kit_cluster *cluster, int32_t id)
{
	return id < 1 || id > cluster->broker_count ? NULL : &cluster->brokers[id - 1];
}

bool rg__kit_is_topic_name(struct rg__bytes name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (size_t i = 0; i < name.len; i++)
		if (!memchr(letters, name.data[i], sizeof(letters) - 1))
			return false;
	return name.len > 0 && name.len <= TOPIC_NAME_MAX && !rg__bytes_is(name, ".") && !rg__bytes_is(name, "..");
}

struct rg__kit_topic *rg__kit_topic_find(const struct rg__kit_cluster *cluster, struct rg__bytes name)
{
	struct rg__kit_topic *topic = cluster->topics;

	while (topic && !rg__bytes_equal(topic->name, name))
		topic = topic->next;
	return topic;
}

/* The same in every run: from how many topics were made before. */
static struct rg__uuid make_topic_id(uint64_t number)
{
	struct rg__random random = {number * 0x9e3779b97f4a7c15u + 1};
	struct rg__uuid id;

	for (size_t i = 0; i < sizeof(id.bytes); i += sizeof(uint64_t)) {
		uint64_t word = rg__random_next(&random);

		memcpy(id.bytes + i, &word, sizeof(word));
	}
	id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x40);
	id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
	return id;
}

struct rg__kit_topic *rg__kit_topic_add(struct rg__kit_cluster *cluster, struct rg__bytes name, int32_t partition_count)
{
	struct rg__kit_topic *topic = rg__calloc(1, sizeof(*topic));
	struct rg__kit_topic **end = &cluster->topics;

	if (!topic)
		return NULL;
	if (!rg__kit_own(&topic->name, name)) {
		rg__free(topic);
		return NULL;
	}
	topic->id = make_topic_id(cluster->topics_made++);
	topic->partition_count = partition_count;
	while (*end)
		end = &(*end)->next;
	*end = topic;
	return topic;
}

void rg__kit_topic_remove(struct rg__kit_cluster *cluster, struct rg__kit_topic *topic)
{
	struct rg__kit_topic **at = &cluster->topics;

	while (*at != topic)
		at = &(*at)->next;
	*at = topic->next;
	rg__kit_disown(&topic->name);
	rg__free(topic->replicas);
	rg__free(topic);
}

bool rg__kit_topic_set_replicas(struct rg__kit_topic *topic, int32_t partition, const struct rg__kit_replicas *replicas)
{
	int32_t first = partition < 0 ? 0 : partition, end = partition < 0 ? topic->partition_count : partition + 1;
	struct rg__kit_replicas *longer;

	if (end > topic->replicas_count) {
		longer = rg__realloc(topic->replicas, (size_t)end * sizeof(*longer));
		if (!longer)
			return false;
		memset(longer + topic->replicas_count, 0, (size_t)(end - topic->replicas_count) * sizeof(*longer));
		topic->replicas = longer;
		topic->replicas_count = end;
	}
	for (int32_t p = first; p < end; p++)
		topic->replicas[p] = *replicas;
	return true;
}

bool rg__kit_versions_set(struct rg__kit_cluster *cluster, int16_t api, int16_t first, int16_t last)
{
	struct rg__kit_versions *at = cluster->versions, *end = at + cluster->version_count;

	while (at < end && at->api < api)
		at++;
	if (at < end && at->api == api) {
		at->first = first;
		at->last = last;
		return true;
	}
	if (cluster->version_count == RG__KIT_APIS_MAX)
		return false;
	memmove(at + 1, at, (size_t)(end - at) * sizeof(*at));
	*at = (struct rg__kit_versions){api, first, last};
	cluster->version_count++;
	return true;
}

bool rg__kit_versions_offered(const struct rg__kit_cluster *cluster, int16_t api, int16_t version)
{
	for (int32_t i = 0; i < cluster->version_count; i++)
		if (cluster->versions[i].api == api)
			return cluster->versions[i].first >= 0 && version >= cluster->versions[i].first &&
			       version <= cluster->versions[i].last;
	return false;
}

void rg__kit_versions_all_ours(struct rg__kit_cluster *cluster)
{
	for (int i = 0; i < rg__api_count; i++)
		rg__kit_versions_set(cluster, rg__apis[i].key, rg__apis[i].first, rg__apis[i].last);
}

int32_t rg__kit_coordinator_of(const struct rg__kit_cluster *cluster, struct rg__bytes group)
{
	struct rg__kit_moved *moved = NULL;

	if (!cluster->broker_count)
		return 0;
	if (group.data)
		HASH_FIND(hh, cluster->moved, group.data, (unsigned)group.len, moved);
	if (moved)
		return moved->broker;
	if (cluster->coordinator_of_all)
		return cluster->coordinator_of_all;
	return (int32_t)(rg__hash(group.data, group.len) % (unsigned)cluster->broker_count) + 1;
}

bool rg__kit_coordinator_set(struct rg__kit_cluster *cluster, struct rg__bytes group, int32_t broker)
{
	struct rg__kit_moved *moved = NULL;

	if (!group.data) {
		forget_moves(cluster);
		cluster->coordinator_of_all = broker;
		return true;
	}
	HASH_FIND(hh, cluster->moved, group.data, (unsigned)group.len, moved);
	if (!moved) {
		moved = rg__calloc(1, sizeof(*moved));
		if (!moved)
			return false;
		if (!rg__kit_own(&moved->group, group)) {
			rg__free(moved);
			return false;
		}
		HASH_ADD_KEYPTR(hh, cluster->moved, moved->group.data, (unsigned)moved->group.len, moved);
		if (!RG__HASH_ADDED(moved)) {
			rg__kit_disown(&moved->group);
			rg__free(moved);
			return false;
		}
	}
	moved->broker = broker;
	return true;
}

static bool elsewhere(const struct rg__kit_cluster *cluster, int32_t broker, struct rg__bytes group)
{
	return rg__kit_coordinator_of(cluster, group) != broker;
}

int16_t rg__kit_coordinator_check(const struct rg__kit_cluster *cluster, int32_t broker,
				  const struct rg__kit_request *request)
{
	const struct rg__offset_fetch_request *fetch = request->body;
	bool away = false;

	switch (request->api) {
	case RG__API_JOIN_GROUP:
		away = elsewhere(cluster, broker, ((const struct rg__join_group_request *)request->body)->group_id);
		break;
	case RG__API_SYNC_GROUP:
		away = elsewhere(cluster, broker, ((const struct rg__sync_group_request *)request->body)->group_id);
		break;
	case RG__API_HEARTBEAT:
		away = elsewhere(cluster, broker, ((const struct rg__heartbeat_request *)request->body)->group_id);
		break;
	case RG__API_LEAVE_GROUP:
		away = elsewhere(cluster, broker, ((const struct rg__leave_group_request *)request->body)->group_id);
		break;
	case RG__API_OFFSET_COMMIT:
		away = elsewhere(cluster, broker, ((const struct rg__offset_commit_request *)request->body)->group_id);
		break;
	case RG__API_TXN_OFFSET_COMMIT:
		away = elsewhere(cluster, broker, ((const struct rg__txn_offset_commit_request *)request->body)->group_id);
		break;
	case RG__API_OFFSET_FETCH:
		away = request->version < 8 && elsewhere(cluster, broker, fetch->group_id);
		for (int32_t i = 0; request->version >= 8 && i < fetch->groups.count; i++)
			away |= elsewhere(cluster, broker,
					  RG__ITEMS(struct rg__offset_fetch_request_group, fetch->groups)[i].group_id);
		break;
	default:
		break;
	}
	return away ? RG__KIT_NOT_COORDINATOR : 0;
}
