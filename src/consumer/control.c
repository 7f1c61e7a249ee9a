/* SPDX-License-Identifier: Apache-2.0 */
/* What an application does to a consumer between two polls: where and whether partitions go on, who shall look up. */
#include "base/error.h"
#include "consumer/internal.h"

/* --- Partitions --------------------------------------------------------------------------------------------------- */

static struct rg__slot *find(rg_consumer *consumer, const char *call, const char *topic, int32_t partition,
                             rg_error *error)
{
	struct rg__slot *slot = topic ? rg__owned_find(&consumer->owned, topic, partition) : NULL;

	if (slot && !slot->closing)
		return slot;
	rg__fail(error, RG_ERR_NOT_OWNED, "%s: %s [%d] is not owned by this consumer", call, topic ? topic : "(no topic)",
	         (int)partition);
	return NULL;
}

/* librdkafka's own seeking differs from version to version in what it leaves queued, and waits; giving the partition
 * up and taking it again does neither. */
rg_err rg_consumer_seek(rg_consumer *consumer, const char *topic, int32_t partition, int64_t offset, rg_error *error)
{
	struct rg__slot *slot;

	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_seek: the consumer is closed");
	if (!rg__is_start(offset))
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_seek: %lld is no offset to begin at", (long long)offset);
	if (!(slot = find(consumer, "rg_consumer_seek", topic, partition, error)))
		return RG_ERR_NOT_OWNED;
	if (slot->fetching)
		rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
	rg__owned_move(&consumer->owned, slot, offset);
	consumer->starting = true;
	return RG_OK;
}

/* All of them or, with an error, none. */
static rg_err set_paused(rg_consumer *consumer, const char *call, const rd_kafka_topic_partition_list_t *partitions,
                         bool paused, rg_error *error)
{
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "%s: the consumer is closed", call);
	for (int i = 0; partitions && i < partitions->cnt; i++)
		if (!find(consumer, call, partitions->elems[i].topic, partitions->elems[i].partition, error))
			return RG_ERR_NOT_OWNED;
	if (!partitions)
		for (size_t i = 0; i < consumer->owned.count; i++)
			consumer->owned.slots[i].paused = paused;
	for (int i = 0; partitions && i < partitions->cnt; i++)
		rg__owned_find(&consumer->owned, partitions->elems[i].topic, partitions->elems[i].partition)->paused = paused;
	consumer->starting |= !paused;
	return RG_OK;
}

rg_err rg_consumer_pause(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_error *error)
{
	return set_paused(consumer, "rg_consumer_pause", partitions, true, error);
}

rg_err rg_consumer_resume(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_error *error)
{
	return set_paused(consumer, "rg_consumer_resume", partitions, false, error);
}

/* --- The group ---------------------------------------------------------------------------------------------------- */

static void say_rejoin(rg_consumer *consumer, void *reason)
{
	rg_member_rejoin(consumer->member, reason);
}

rg_err rg_consumer_rejoin(rg_consumer *consumer, const char *reason, rg_error *error)
{
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_rejoin: the consumer is closed");
	if (consumer->failed)
		return rg__fail(error, RG_ERR_FATAL, "rg_consumer_rejoin: the consumer has failed for good; close it");
	if (!consumer->asked.count) /* KIP-568 */
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_rejoin: the consumer is not subscribed");
	if (consumer->seat == RG__SEAT_TAKEN) /* else it is about to join */
		rg__on_loop(consumer, say_rejoin, (void *)reason);
	return RG_OK;
}

int rg_consumer_rebalance_pending(const rg_consumer *consumer)
{
	return atomic_load(&consumer->pending);
}

/* The loop sets it after it has filed the event, so whichever comes last here or there leaves the right value. */
void rg__not_pending(rg_consumer *consumer)
{
	atomic_store(&consumer->pending, false);
	if (rg__event_waits(consumer, RG_MEMBER_PREPARE) || rg__event_waits(consumer, RG_MEMBER_LOST))
		atomic_store(&consumer->pending, true);
}

/* --- Other threads ------------------------------------------------------------------------------------------------ */

void rg_consumer_wakeup(rg_consumer *consumer)
{
	atomic_store(&consumer->wakeup, true);
	rg__wake(consumer);
}

bool rg__woken_up(rg_consumer *consumer)
{
	return atomic_exchange(&consumer->wakeup, false);
}
