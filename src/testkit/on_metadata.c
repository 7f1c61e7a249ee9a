/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/metadata.h"
#include "testkit/cluster.h"

#include <string.h>

enum { UNKNOWN_TOPIC_OR_PARTITION = 3, LEADER_NOT_AVAILABLE = 5, INVALID_TOPIC = 17, UNKNOWN_TOPIC_ID = 100 };

static int32_t running_brokers(const struct rg__kit_cluster *cluster, const struct rg__kit_broker *running[])
{
	int32_t count = 0;

	for (int32_t i = 0; i < cluster->broker_count; i++)
		if (cluster->brokers[i].running)
			running[count++] = &cluster->brokers[i];
	return count;
}

static bool add_brokers(const struct rg__kit_cluster *cluster, struct rg__arena *arena,
			struct rg__metadata_response *answer)
{
	const struct rg__kit_broker *running[RG__KIT_BROKERS_MAX];
	int32_t count = running_brokers(cluster, running);
	struct rg__metadata_response_broker *to;

	if (!rg__array_init(&rg__metadata_response_broker_fields, count, arena, &answer->brokers))
		return false;
	to = RG__ITEMS(struct rg__metadata_response_broker, answer->brokers);
	for (int32_t i = 0; i < count; i++) {
		to[i].node_id = running[i]->id;
		to[i].host = rg__bytes_of(running[i]->host);
		to[i].port = running[i]->port;
		to[i].rack = running[i]->rack[0] ? rg__bytes_of(running[i]->rack) : RG__NULL_BYTES;
	}
	answer->controller_id = count ? running[0]->id : -1;
	return true;
}

/* Where it was said who has the replicas. Those that run are in sync, the first of them leads. */
static bool add_replicas(const struct rg__kit_cluster *cluster, const struct rg__kit_replicas *replicas,
			 struct rg__arena *arena, struct rg__metadata_response_topic_partition *to)
{
	int32_t *ids = rg__arena_calloc(arena, 3 * (size_t)replicas->count, sizeof(*ids));
	int32_t *in_sync = ids + replicas->count, *offline = in_sync + replicas->count;

	if (!ids)
		return false;
	to->replica_nodes = (struct rg__array){ids, replicas->count};
	to->isr_nodes = (struct rg__array){in_sync, 0};
	to->offline_replicas = (struct rg__array){offline, 0};
	for (int32_t i = 0; i < replicas->count; i++) {
		ids[i] = replicas->ids[i];
		if (cluster->brokers[ids[i] - 1].running)
			in_sync[to->isr_nodes.count++] = ids[i];
		else
			offline[to->offline_replicas.count++] = ids[i];
	}
	to->leader_id = to->isr_nodes.count ? in_sync[0] : -1;
	to->error_code = to->isr_nodes.count ? 0 : LEADER_NOT_AVAILABLE;
	return true;
}

static bool add_partitions(const struct rg__kit_cluster *cluster, const struct rg__kit_topic *topic,
			   struct rg__arena *arena, struct rg__metadata_response_topic *to)
{
	const struct rg__kit_broker *running[RG__KIT_BROKERS_MAX];
	int32_t count = running_brokers(cluster, running);
	int32_t *ids = rg__arena_calloc(arena, (size_t)count, sizeof(*ids));

	if (!ids || !rg__array_init(&rg__metadata_response_topic_partition_fields, topic->partition_count, arena,
				    &to->partitions))
		return false;
	for (int32_t i = 0; i < count; i++)
		ids[i] = running[i]->id;
	for (int32_t p = 0; p < topic->partition_count; p++) {
		struct rg__metadata_response_topic_partition *at =
			&RG__ITEMS(struct rg__metadata_response_topic_partition, to->partitions)[p];

		at->partition_index = p;
		if (p < topic->replicas_count && topic->replicas[p].count) {
			if (!add_replicas(cluster, &topic->replicas[p], arena, at))
				return false;
			continue;
		}
		at->leader_id = count ? ids[p % count] : -1;
		at->error_code = count ? 0 : LEADER_NOT_AVAILABLE;
		at->replica_nodes = at->isr_nodes = (struct rg__array){count ? &ids[p % count] : NULL, count ? 1 : 0};
	}
	return true;
}

static bool add_topic(const struct rg__kit_cluster *cluster, const struct rg__kit_topic *topic, int16_t error,
		      struct rg__arena *arena, struct rg__metadata_response_topic *to)
{
	to->name = topic->name;
	to->topic_id = topic->id;
	to->error_code = error;
	to->is_internal = rg__bytes_is(topic->name, "__consumer_offsets") || rg__bytes_is(topic->name, "__transaction_state");
	return error || add_partitions(cluster, topic, arena, to);
}

static bool add_all(const struct rg__kit_cluster *cluster, int16_t error, struct rg__arena *arena,
		    struct rg__metadata_response *answer)
{
	int32_t count = 0;
	struct rg__metadata_response_topic *to;

	for (const struct rg__kit_topic *topic = cluster->topics; topic; topic = topic->next)
		count++;
	if (!rg__array_init(&rg__metadata_response_topic_fields, count, arena, &answer->topics))
		return false;
	to = RG__ITEMS(struct rg__metadata_response_topic, answer->topics);
	for (const struct rg__kit_topic *topic = cluster->topics; topic; topic = topic->next)
		if (!add_topic(cluster, topic, error, arena, to++))
			return false;
	return true;
}

/* From version 10 on a topic may be asked for by its id, its name then being null. */
static const struct rg__kit_topic *find(const struct rg__kit_cluster *cluster,
					const struct rg__metadata_request_topic *wanted)
{
	if (wanted->name.data)
		return rg__kit_topic_find(cluster, wanted->name);
	for (const struct rg__kit_topic *topic = cluster->topics; topic; topic = topic->next)
		if (!memcmp(&topic->id, &wanted->topic_id, sizeof(topic->id)))
			return topic;
	return NULL;
}

/* Why there is no such topic. */
static int16_t why_not(const struct rg__metadata_request_topic *wanted)
{
	if (!wanted->name.data)
		return UNKNOWN_TOPIC_ID;
	return rg__kit_is_topic_name(wanted->name) ? UNKNOWN_TOPIC_OR_PARTITION : INVALID_TOPIC;
}

static bool add_wanted(const struct rg__kit_cluster *cluster, const struct rg__metadata_request *metadata, int version,
		       int16_t error, struct rg__arena *arena, struct rg__metadata_response *answer)
{
	const struct rg__metadata_request_topic *wanted = RG__ITEMS(struct rg__metadata_request_topic, metadata->topics);

	if (!rg__array_init(&rg__metadata_response_topic_fields, metadata->topics.count, arena, &answer->topics))
		return false;
	for (int32_t i = 0; i < metadata->topics.count; i++) {
		struct rg__metadata_response_topic *to =
			&RG__ITEMS(struct rg__metadata_response_topic, answer->topics)[i];
		const struct rg__kit_topic *topic = find(cluster, &wanted[i]);

		if (topic && !add_topic(cluster, topic, error, arena, to))
			return false;
		if (topic)
			continue;
		/* The name came with the request and must live as long as the answer. */
		const char *name = rg__arena_copy(arena, wanted[i].name.data, wanted[i].name.len);

		if (!name)
			return false;
		to->name = wanted[i].name.data || version < 12 ? (struct rg__bytes){(const uint8_t *)name, wanted[i].name.len}
							       : RG__NULL_BYTES;
		to->topic_id = wanted[i].topic_id;
		to->error_code = error ? error : why_not(&wanted[i]);
	}
	return true;
}

void *rg__kit_on_metadata(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request, int16_t error,
			  struct rg__arena *arena)
{
	const struct rg__metadata_request *metadata = request->body;
	struct rg__metadata_response *answer = rg__arena_calloc(arena, 1, sizeof(*answer));
	/* Version 0 has no null: there an empty list means all. */
	bool all = request->version == 0 ? metadata->topics.count <= 0 : metadata->topics.count < 0;

	if (!answer)
		return NULL;
	rg__fields_init(&rg__metadata_response_fields, answer);
	answer->cluster_id = rg__bytes_of("regroup-testkit");
	if (!add_brokers(cluster, arena, answer))
		return NULL;
	if (all ? !add_all(cluster, error, arena, answer)
		: !add_wanted(cluster, metadata, request->version, error, arena, answer))
		return NULL;
	return answer;
}
