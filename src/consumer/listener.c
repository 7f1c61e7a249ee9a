/* SPDX-License-Identifier: Apache-2.0 */
/* The application's callbacks, with the event lines that go with them. */
#include "base/alloc.h"
#include "consumer/internal.h"

#include <stdlib.h>

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

	generation.reason = consumer->event->reason;
	consumer->rebalancing = true;
	rg__event_of(consumer, "prepare", NULL, generation.reason[0] ? generation.reason : NULL);
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

/* --- Where the application wants to begin ------------------------------------------------------------------------- */

/* What on_assigned made of its list: mostly the one it was given, in the order it had. */
struct wishes {
	const rd_kafka_topic_partition_list_t *list;
	const rd_kafka_topic_partition_t **sorted; /* NULL: not needed yet, or no memory for it */
};

static int compare_wishes(const void *a, const void *b)
{
	const rd_kafka_topic_partition_t *left = *(const rd_kafka_topic_partition_t *const *)a;
	const rd_kafka_topic_partition_t *right = *(const rd_kafka_topic_partition_t *const *)b;
	int order = rg__partition_compare(&(struct rg__partition){left->topic, left->partition},
	                                  &(struct rg__partition){right->topic, right->partition});

	/* Of one that is listed twice the first counts. */
	return order ? order : (left > right) - (left < right);
}

static bool sort_wishes(struct wishes *wishes)
{
	size_t count = (size_t)wishes->list->cnt;

	wishes->sorted = rg__calloc(count, sizeof(*wishes->sorted));
	for (size_t i = 0; wishes->sorted && i < count; i++)
		wishes->sorted[i] = &wishes->list->elems[i];
	if (wishes->sorted)
		qsort(wishes->sorted, count, sizeof(*wishes->sorted), compare_wishes);
	return wishes->sorted != NULL;
}

static bool is_wish_for(const rd_kafka_topic_partition_t *wish, const struct rg__partition *at)
{
	return !rg__partition_compare(&(struct rg__partition){wish->topic, wish->partition}, at);
}

/* `i` is where it was. NULL: the application took it out. */
static const rd_kafka_topic_partition_t *find_wish(struct wishes *wishes, size_t i, const struct rg__partition *at)
{
	const rd_kafka_topic_partition_list_t *list = wishes->list;
	size_t low = 0, high = (size_t)list->cnt;

	if (i < high && is_wish_for(&list->elems[i], at))
		return &list->elems[i];
	if (!high)
		return NULL;
	if (!wishes->sorted && !sort_wishes(wishes))
		return rd_kafka_topic_partition_list_find((rd_kafka_topic_partition_list_t *)list, at->topic, at->number);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const rd_kafka_topic_partition_t *wish = wishes->sorted[middle];

		if (rg__partition_compare(&(struct rg__partition){wish->topic, wish->partition}, at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < (size_t)list->cnt && is_wish_for(wishes->sorted[low], at) ? wishes->sorted[low] : NULL;
}

/* Positions of its own choice only: what else librdkafka has names for (the stored offset) is what it gets without
 * choosing. */
static void take_start(rg_consumer *consumer, const rd_kafka_topic_partition_t *wish, const struct rg__partition *at)
{
	struct rg__slot *slot = rg__owned_find(&consumer->owned, at->topic, at->number);

	if (!wish || !slot)
		return;
	if (rg__is_start(wish->offset))
		rg__slot_begin_at(slot, wish->offset);
	else if (wish->offset != RD_KAFKA_OFFSET_INVALID && wish->offset != RD_KAFKA_OFFSET_STORED)
		rg__log(&consumer->log, RG__LOG_WARNING, "OFFSET", "on_assigned set %s [%d] to %lld, which is no offset; ignored",
		        at->topic, (int)at->number, (long long)wish->offset);
}

void rg__call_assigned(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	rd_kafka_topic_partition_list_t *list;
	struct wishes wishes = {0};
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
	wishes.list = list;
	for (size_t i = 0; i < partitions->count; i++)
		take_start(consumer, find_wish(&wishes, i, &partitions->items[i]), &partitions->items[i]);
	rg__free(wishes.sorted);
	rd_kafka_topic_partition_list_destroy(list);
}
