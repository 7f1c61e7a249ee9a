/* SPDX-License-Identifier: Apache-2.0 */
/* The application's callbacks, with the event lines that go with them. */
#include "consumer/internal.h"

static rd_kafka_topic_partition_list_t *list_of(const struct rg__partitions *partitions)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)partitions->count);

	for (size_t i = 0; list && i < partitions->count; i++)
		rd_kafka_topic_partition_list_add(list, partitions->items[i].topic, partitions->items[i].number);
	return list;
}

static rg_generation generation_of(const rg_consumer *consumer)
{
	return (rg_generation){
		.id = consumer->generation,
		.member_id = consumer->generation < 0 ? "" : consumer->member_id,
		.protocol = consumer->generation < 0 ? "" : consumer->protocol,
		.is_leader = consumer->is_leader,
		.reason = "",
	};
}

void rg__call_join_prepare(rg_consumer *consumer)
{
	rg_generation generation = generation_of(consumer);

	consumer->rebalancing = true;
	rg__event_of(consumer, "prepare", NULL, NULL);
	if (!consumer->listener.on_join_prepare)
		return;
	rg__callback_begins(consumer);
	consumer->listener.on_join_prepare(consumer, &generation, consumer->listener_user);
	rg__callback_ended(consumer);
}

void rg__call_join_complete(rg_consumer *consumer)
{
	rg_generation generation = generation_of(consumer);

	consumer->rebalancing = false;
	rg__event_of(consumer, "complete", NULL, NULL);
	if (!consumer->listener.on_join_complete)
		return;
	rg__callback_begins(consumer);
	consumer->listener.on_join_complete(consumer, &generation, consumer->listener_user);
	rg__callback_ended(consumer);
}

static void note_took(const rg_consumer *consumer, struct rg__stat *took, int64_t began_us)
{
	int64_t now_us = rg__mono_us();

	rg__stat_add(took, &consumer->windows, now_us - began_us, now_us);
}

void rg__call_revoked(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	if (consumer->listener.on_revoked) {
		rd_kafka_topic_partition_list_t *list = list_of(partitions);
		int64_t began_us = rg__mono_us();

		rg__callback_begins(consumer);
		consumer->listener.on_revoked(consumer, list, consumer->listener_user);
		rg__callback_ended(consumer);
		note_took(consumer, &consumer->revoked_took, began_us);
		rd_kafka_topic_partition_list_destroy(list);
	}
	/* Until the callback has returned they are this member's. */
	rg__event_of(consumer, "revoked", partitions, NULL);
}

void rg__call_lost(rg_consumer *consumer, const struct rg__partitions *partitions, rg_cause cause)
{
	rg__event_of(consumer, "lost", partitions, rg_cause_name(cause));
	if (consumer->listener.on_lost) {
		rd_kafka_topic_partition_list_t *list = list_of(partitions);
		int64_t began_us = rg__mono_us();

		rg__callback_begins(consumer);
		consumer->in_lost = true;
		consumer->listener.on_lost(consumer, list, cause, consumer->listener_user);
		consumer->in_lost = false;
		rg__callback_ended(consumer);
		note_took(consumer, &consumer->lost_took, began_us);
		rd_kafka_topic_partition_list_destroy(list);
	}
}

/* Where the application wants to begin. Positions of its own choice only: what else librdkafka has names for (the
 * stored offset) is what it gets without choosing. */
static void take_start(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *list,
                       const struct rg__partition *at)
{
	const rd_kafka_topic_partition_t *wish = rd_kafka_topic_partition_list_find(
		(rd_kafka_topic_partition_list_t *)list, at->topic, at->number);
	struct rg__slot *slot = rg__owned_find(&consumer->owned, at->topic, at->number);

	if (!wish || !slot)
		return;
	if (wish->offset >= 0) {
		slot->start = slot->position = wish->offset;
	} else if (wish->offset == RD_KAFKA_OFFSET_BEGINNING || wish->offset == RD_KAFKA_OFFSET_END ||
	           wish->offset <= RD_KAFKA_OFFSET_TAIL_BASE) {
		slot->start = wish->offset;
	} else if (wish->offset != RD_KAFKA_OFFSET_INVALID && wish->offset != RD_KAFKA_OFFSET_STORED) {
		rg__log(&consumer->log, RG__LOG_WARNING, "OFFSET", "on_assigned set %s [%d] to %lld, which is no offset; ignored",
		        at->topic, (int)at->number, (long long)wish->offset);
	}
}

void rg__call_assigned(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	rd_kafka_topic_partition_list_t *list;
	int64_t began_us;

	rg__event_of(consumer, "assigned", partitions, NULL);
	if (!consumer->listener.on_assigned)
		return;
	list = list_of(partitions);
	began_us = rg__mono_us();
	rg__callback_begins(consumer);
	consumer->listener.on_assigned(consumer, list, consumer->listener_user);
	rg__callback_ended(consumer);
	note_took(consumer, &consumer->assigned_took, began_us);
	for (size_t i = 0; i < partitions->count; i++)
		take_start(consumer, list, &partitions->items[i]);
	rd_kafka_topic_partition_list_destroy(list);
}
