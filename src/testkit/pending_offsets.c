/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* Offsets that a transaction sent to a group and that are the group's when it is committed (KIP-98). Who asks for
 * stable offsets hears 88 meanwhile (KIP-447). They outlive the moves of coordinators, which write them down as they
 * come. */

struct rg__kit_pending_offset {
	struct rg__kit_pending_offset *next;
	struct rg__bytes transactional_id, group, topic, metadata; /* owned */
	int32_t partition, leader_epoch;
	int64_t offset;
};

static void free_one(struct rg__kit_pending_offset *pending)
{
	rg__kit_disown(&pending->transactional_id);
	rg__kit_disown(&pending->group);
	rg__kit_disown(&pending->topic);
	rg__kit_disown(&pending->metadata);
	rg__free(pending);
}

static struct rg__kit_pending_offset *find(const struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
					   struct rg__bytes group, struct rg__bytes topic, int32_t partition)
{
	struct rg__kit_pending_offset *pending = c->pending_offsets;

	while (pending && !(pending->partition == partition && rg__bytes_equal(pending->topic, topic) &&
			    rg__bytes_equal(pending->group, group) &&
			    rg__bytes_equal(pending->transactional_id, transactional_id)))
		pending = pending->next;
	return pending;
}

static struct rg__kit_pending_offset *add(struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
					  struct rg__bytes group, struct rg__bytes topic, int32_t partition)
{
	struct rg__kit_pending_offset *pending = rg__calloc(1, sizeof(*pending));

	if (!pending)
		return NULL;
	pending->partition = partition;
	if (!rg__kit_own(&pending->transactional_id, transactional_id) || !rg__kit_own(&pending->group, group) ||
	    !rg__kit_own(&pending->topic, topic)) {
		free_one(pending);
		return NULL;
	}
	pending->next = c->pending_offsets;
	c->pending_offsets = pending;
	return pending;
}

bool rg__kit_pending_offset_store(struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
				  struct rg__bytes group, struct rg__bytes topic, int32_t partition, int64_t offset,
				  int32_t leader_epoch, struct rg__bytes metadata)
{
	struct rg__kit_pending_offset *pending = find(c, transactional_id, group, topic, partition);

	if (!pending)
		pending = add(c, transactional_id, group, topic, partition);
	if (!pending || !rg__kit_own(&pending->metadata, metadata.data ? metadata : rg__bytes_of("")))
		return false;
	pending->offset = offset;
	pending->leader_epoch = leader_epoch;
	return true;
}

bool rg__kit_offset_is_unstable(const struct rg__kit_coordinator *c, struct rg__bytes group, struct rg__bytes topic,
				int32_t partition)
{
	for (const struct rg__kit_pending_offset *pending = c->pending_offsets; pending; pending = pending->next)
		if (pending->partition == partition && rg__bytes_equal(pending->topic, topic) &&
		    rg__bytes_equal(pending->group, group))
			return true;
	return false;
}

void rg__kit_pending_offsets_forget(struct rg__kit_coordinator *c, struct rg__bytes group)
{
	struct rg__kit_pending_offset **at = &c->pending_offsets, *pending;

	while ((pending = *at)) {
		if (group.data && !rg__bytes_equal(pending->group, group)) {
			at = &pending->next;
			continue;
		}
		*at = pending->next;
		free_one(pending);
	}
}

/* Into the group, or what the next coordinator of it will read; a group that is gone has no use for it. */
static bool settle(struct rg__kit_coordinator *c, const struct rg__kit_pending_offset *pending)
{
	struct rg__kit_group *group = rg__kit_group_find(c, pending->group);
	struct rg__kit_unloaded *unloaded = rg__kit_unloaded_find(c, pending->group);
	struct rg__kit_offset_topic **offsets = group ? &group->offsets : unloaded ? &unloaded->offsets : NULL;

	return !offsets || rg__kit_offset_store(offsets, pending->topic, pending->partition, pending->offset,
						pending->leader_epoch, pending->metadata);
}

bool rg__kit_coordinator_end_transaction(struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
					 bool committed)
{
	struct rg__kit_pending_offset **at = &c->pending_offsets, *pending;

	while (!c->failed && (pending = *at)) {
		if (!rg__bytes_equal(pending->transactional_id, transactional_id)) {
			at = &pending->next;
			continue;
		}
		c->failed |= committed && !settle(c, pending);
		*at = pending->next;
		free_one(pending);
	}
	return !c->failed;
}
