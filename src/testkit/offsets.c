/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

static struct rg__kit_offset_topic *find_topic(struct rg__kit_offset_topic *offsets, struct rg__bytes name)
{
	struct rg__kit_offset_topic *found = NULL;

	if (name.data)
		HASH_FIND(hh, offsets, name.data, (unsigned)name.len, found);
	return found;
}

static struct rg__kit_offset *find_partition(struct rg__kit_offset_topic *in, int32_t partition)
{
	struct rg__kit_offset *found = NULL;

	if (in)
		HASH_FIND(hh, in->partitions, &partition, sizeof(partition), found);
	return found;
}

struct rg__kit_offset *rg__kit_offset_find(const struct rg__kit_group *group, struct rg__bytes topic, int32_t partition)
{
	return find_partition(find_topic(group->offsets, topic), partition);
}

static struct rg__kit_offset_topic *add_topic(struct rg__kit_offset_topic **offsets, struct rg__bytes name)
{
	struct rg__kit_offset_topic *topic = rg__calloc(1, sizeof(*topic));

	if (!topic)
		return NULL;
	if (rg__kit_own(&topic->name, name)) {
		HASH_ADD_KEYPTR(hh, *offsets, topic->name.data, (unsigned)topic->name.len, topic);
		if (RG__HASH_ADDED(topic))
			return topic;
		rg__kit_disown(&topic->name);
	}
	rg__free(topic);
	return NULL;
}

static struct rg__kit_offset *add_partition(struct rg__kit_offset_topic *topic, int32_t partition)
{
	struct rg__kit_offset *offset = rg__calloc(1, sizeof(*offset));

	if (!offset)
		return NULL;
	offset->partition = partition;
	HASH_ADD(hh, topic->partitions, partition, sizeof(offset->partition), offset);
	if (RG__HASH_ADDED(offset))
		return offset;
	rg__free(offset);
	return NULL;
}

bool rg__kit_offset_store(struct rg__kit_offset_topic **offsets, struct rg__bytes topic, int32_t partition,
			  int64_t offset, int32_t leader_epoch, struct rg__bytes metadata)
{
	struct rg__kit_offset_topic *in = find_topic(*offsets, topic);
	struct rg__kit_offset *at = find_partition(in, partition);

	if (!in)
		in = add_topic(offsets, topic);
	if (in && !at)
		at = add_partition(in, partition);
	if (!at || !rg__kit_own(&at->metadata, metadata.data ? metadata : rg__bytes_of("")))
		return false;
	at->offset = offset;
	at->leader_epoch = leader_epoch;
	return true;
}

void rg__kit_offsets_free(struct rg__kit_offset_topic **topics)
{
	struct rg__kit_offset_topic *topic, *next_topic;
	struct rg__kit_offset *offset, *next_offset;

	HASH_ITER(hh, *topics, topic, next_topic) {
		HASH_ITER(hh, topic->partitions, offset, next_offset) {
			HASH_DEL(topic->partitions, offset);
			rg__kit_disown(&offset->metadata);
			rg__free(offset);
		}
		HASH_DEL(*topics, topic);
		rg__kit_disown(&topic->name);
		rg__free(topic);
	}
}
