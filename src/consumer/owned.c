/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/owned.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <librdkafka/rdkafka.h>
#include <string.h>

struct rg__owned_topic {
	UT_hash_handle hh;
	char name[];
};

const char *rg__owned_topic(struct rg__owned *owned, const char *name, size_t len)
{
	struct rg__owned_topic *topic;

	HASH_FIND(hh, owned->topics, name, len, topic);
	if (topic)
		return topic->name;
	topic = rg__malloc(sizeof(*topic) + len + 1);
	if (!topic)
		return NULL;
	memcpy(topic->name, name, len);
	topic->name[len] = '\0';
	HASH_ADD_KEYPTR(hh, owned->topics, topic->name, len, topic);
	if (RG__HASH_ADDED(topic))
		return topic->name;
	rg__free(topic);
	return NULL;
}

bool rg__owned_reserve(struct rg__owned *owned, size_t more)
{
	size_t needs = owned->count + more;
	struct rg__partition *listed;
	struct rg__slot *grown;

	if (needs <= owned->capacity)
		return true;
	listed = rg__realloc(owned->listed, needs * sizeof(*listed));
	if (!listed)
		return false;
	owned->listed = listed;
	grown = rg__realloc(owned->slots, needs * sizeof(*grown));
	if (!grown)
		return false;
	owned->slots = grown;
	owned->capacity = needs;
	return true;
}

/* The first slot that does not come before the partition. */
static size_t place_of(const struct rg__owned *owned, const struct rg__partition *partition)
{
	size_t low = 0, high = owned->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rg__partition_compare(&owned->slots[middle].at, partition) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* From the back, so that each slot moves once, however the two lie among each other. */
void rg__owned_add(struct rg__owned *owned, const struct rg__partitions *partitions)
{
	size_t had = owned->count, more = partitions->count;

	owned->count += more;
	for (size_t to = owned->count; more; to--) {
		const struct rg__partition *next = &partitions->items[more - 1];

		if (had && rg__partition_compare(&owned->slots[had - 1].at, next) > 0) {
			owned->slots[to - 1] = owned->slots[--had];
			continue;
		}
		owned->slots[to - 1] = (struct rg__slot){
			.at = *next,
			.epoch = owned->last_epoch + more,
			.start = RD_KAFKA_OFFSET_INVALID,
			.position = RG__NO_OFFSET,
			.leader_epoch = -1,
			.committed = RG__NO_OFFSET,
			.next = RG__NO_OFFSET,
		};
		more--;
	}
	owned->last_epoch += partitions->count;
}

bool rg__is_start(int64_t offset)
{
	return offset >= 0 || offset == RD_KAFKA_OFFSET_BEGINNING || offset == RD_KAFKA_OFFSET_END ||
	       offset <= RD_KAFKA_OFFSET_TAIL_BASE;
}

void rg__slot_begin_at(struct rg__slot *slot, int64_t offset)
{
	bool absolute = offset >= 0;

	slot->start = absolute ? offset : RD_KAFKA_OFFSET_INVALID;
	slot->position = absolute ? offset : RG__NO_OFFSET;
	slot->look = absolute || offset == RD_KAFKA_OFFSET_INVALID ? RG__LOOK_NOT : RG__LOOK_PLACE;
	slot->place = offset;
	slot->no_earlier = 0;
}

void rg__owned_move(struct rg__owned *owned, struct rg__slot *slot, int64_t offset)
{
	slot->epoch = ++owned->last_epoch;
	slot->leader_epoch = -1;
	slot->committed = slot->next = RG__NO_OFFSET;
	slot->sought = slot->begun = slot->hopeless = false;
	rg__slot_begin_at(slot, offset);
}

void rg__owned_remove(struct rg__owned *owned, const struct rg__partitions *partitions)
{
	size_t kept = 0;

	for (size_t i = 0; i < owned->count; i++) {
		const struct rg__partition *at = &owned->slots[i].at;

		if (rg__partitions_find(partitions, at->topic, at->number) < 0)
			owned->slots[kept++] = owned->slots[i];
	}
	owned->count = kept;
}

struct rg__slot *rg__owned_find(struct rg__owned *owned, const char *topic, int32_t number)
{
	struct rg__partition key = {topic, number};
	size_t at = owned->found;

	/* Records come in runs of one partition's. */
	if (at < owned->count && owned->slots[at].at.number == number && !strcmp(owned->slots[at].at.topic, topic))
		return &owned->slots[at];
	owned->found = at = place_of(owned, &key);
	if (at == owned->count || rg__partition_compare(&owned->slots[at].at, &key) != 0)
		return NULL;
	return &owned->slots[at];
}

struct rg__slot *rg__owned_find_epoch(struct rg__owned *owned, const struct rg__partition *partition, uint64_t epoch)
{
	struct rg__slot *slot = rg__owned_find(owned, partition->topic, partition->number);

	return slot && slot->epoch == epoch ? slot : NULL;
}

struct rg__partitions rg__owned_list(struct rg__owned *owned)
{
	for (size_t i = 0; i < owned->count; i++)
		owned->listed[i] = owned->slots[i].at;
	return (struct rg__partitions){owned->listed, owned->count};
}

void rg__owned_free(struct rg__owned *owned)
{
	struct rg__owned_topic *topic, *next;

	HASH_ITER(hh, owned->topics, topic, next)
	{
		HASH_DEL(owned->topics, topic);
		rg__free(topic);
	}
	rg__free(owned->slots);
	rg__free(owned->listed);
	*owned = (struct rg__owned){0};
}
