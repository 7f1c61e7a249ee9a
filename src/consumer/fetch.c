/* SPDX-License-Identifier: Apache-2.0 */
/* librdkafka as the engine that fetches: it is told what to fetch and from where, and knows nothing of the group. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"
#include "consumer/leader_epoch.h"

#include <string.h>
#include <time.h>

enum { DESTROY_WAIT_MS = 5000, CUT_WAIT_MS = 500, HANDLES_MAX = 256, WAIT_FOR_MAX = 1000 };

/* Whatever the application has set: offsets are committed by us alone, with member id and generation, and we reset them,
 * as the application has set it. */
static rg_err force(rd_kafka_conf_t *conf, rg_error *error)
{
	static const char *const forced[][2] = {
		{"enable.auto.commit", "false"},
		{"enable.auto.offset.store", "false"},
		{"auto.offset.reset", "error"},
	};

	for (size_t i = 0; i < sizeof(forced) / sizeof(forced[0]); i++) {
		char text[256];

		if (rd_kafka_conf_set(conf, forced[i][0], forced[i][1], text, sizeof(text)) != RD_KAFKA_CONF_OK)
			return rg__fail(error, RG_ERR_LIBRDKAFKA, "%s: %s", forced[i][0], text);
	}
	return RG_OK;
}

rg_err rg__fetch_open(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(consumer->conf->rdkafka);
	char text[256] = "";

	rg__connections_watch(consumer->connections, conf);
	if (force(conf, error)) {
		rd_kafka_conf_destroy(conf);
		return RG_ERR_LIBRDKAFKA;
	}
	consumer->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!consumer->rk) {
		/* Properties that contradict each other, or something that the machine refused. */
		bool invalid = rd_kafka_last_error() == RD_KAFKA_RESP_ERR__INVALID_ARG;

		rd_kafka_conf_destroy(conf);
		return rg__fail(error, invalid ? RG_ERR_INVALID : RG_ERR_LIBRDKAFKA, invalid ? "%s" : "librdkafka: %s", text);
	}
	/* Errors, statistics and logs come through the queue that poll reads. */
	rd_kafka_poll_set_consumer(consumer->rk);
	consumer->queue = rd_kafka_queue_get_consumer(consumer->rk);
	if (!consumer->queue)
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "librdkafka: no consumer queue");
	return RG_OK;
}

/* --- Topics ------------------------------------------------------------------------------------------------------- */

static void drop_handles(rd_kafka_topic_t **handles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rd_kafka_topic_destroy(handles[i]);
	rg__free(handles);
}

/* Each topic that is owned, until there is no more room. */
static size_t owned_topics(const struct rg__owned *owned, const char **names, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < owned->count && count < room; i++)
		if (!count || strcmp(names[count - 1], owned->slots[i].at.topic) != 0)
			names[count++] = owned->slots[i].at.topic;
	return count;
}

/* A handle makes librdkafka look the topic's leaders up now: a partition that is assigned before they are known waits
 * half a second for its first fetch. Without the memory for them it does. To make a handle librdkafka goes through all
 * it has, so there are never many: of a large subscription only what is owned gets one, which is late but mostly not too
 * late, since the group's offset has to be fetched first. */
void rg__fetch_topics(rg_consumer *consumer)
{
	rd_kafka_topic_t **before = consumer->handles;
	size_t before_count = consumer->handle_count, count = consumer->topics.count;
	const char *const *names = consumer->topics.items;
	const char *owned[HANDLES_MAX];

	if (count > HANDLES_MAX) {
		count = owned_topics(&consumer->owned, owned, HANDLES_MAX);
		names = owned;
	}
	consumer->handle_count = 0;
	consumer->handles = count ? rg__calloc(count, sizeof(*consumer->handles)) : NULL;
	for (size_t i = 0; consumer->handles && i < count; i++) {
		rd_kafka_topic_t *handle = rd_kafka_topic_new(consumer->rk, names[i], NULL);

		if (handle)
			consumer->handles[consumer->handle_count++] = handle;
	}
	drop_handles(before, before_count);
}

void rg__fetch_owned_topics(rg_consumer *consumer)
{
	if (consumer->topics.count > HANDLES_MAX)
		rg__fetch_topics(consumer);
}

/* --- Partitions --------------------------------------------------------------------------------------------------- */

static void tell_error(rg_consumer *consumer, const char *what, rd_kafka_error_t *refused)
{
	rg_error error;

	rg__fail(&error, RG_ERR_LIBRDKAFKA, "librdkafka: %s: %s", what, rd_kafka_error_string(refused));
	rd_kafka_error_destroy(refused);
	rg__tell(consumer, &error);
}

/* False: it is still under way. */
static bool take_unassign(rg_consumer *consumer)
{
	rd_kafka_error_t *refused;

	if (!rg__unassign_finished(consumer->unassign, &refused))
		return false;
	rg__unassign_free(consumer->unassign);
	consumer->unassign = NULL;
	if (refused)
		tell_error(consumer, "partitions could not be unassigned", refused);
	return true;
}

/* Never with INVALID or STORED: librdkafka would ask the group itself, as somebody who is no member of it. */
static bool may_start(const struct rg__slot *slot)
{
	return !slot->fetching && !slot->closing && !slot->paused && slot->start != RD_KAFKA_OFFSET_INVALID;
}

/* Begins with every owned partition whose start is known by now. */
void rg__fetch_start(rg_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_error_t *refused;
	int count = 0;

	if (consumer->unassign && !take_unassign(consumer))
		return;
	for (size_t i = 0; i < consumer->owned.count; i++)
		count += may_start(&consumer->owned.slots[i]);
	if (!count)
		return;
	list = rd_kafka_topic_partition_list_new(count);
	for (size_t i = 0; i < consumer->owned.count; i++) {
		const struct rg__slot *slot = &consumer->owned.slots[i];

		if (may_start(slot)) {
			rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, slot->at.topic, slot->at.number);

			at->offset = slot->start;
			/* librdkafka notices then when the log was cut off meanwhile. */
			if (slot->start == slot->position)
				rg__epoch_to_entry(at, slot->leader_epoch);
		}
	}
	refused = rd_kafka_incremental_assign(consumer->rk, list);
	for (int i = 0; i < list->cnt && !refused; i++)
		rg__owned_find(&consumer->owned, list->elems[i].topic, list->elems[i].partition)->fetching = true;
	rd_kafka_topic_partition_list_destroy(list);
	if (refused)
		tell_error(consumer, "partitions could not be assigned", refused);
}

void rg__fetch_stop(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)partitions->count);
	rd_kafka_error_t *refused = NULL;

	for (size_t i = 0; i < partitions->count; i++) {
		const struct rg__partition *at = &partitions->items[i];
		struct rg__slot *slot = rg__owned_find(&consumer->owned, at->topic, at->number);

		if (!slot || !slot->fetching)
			continue;
		rg__ahead_drop(&consumer->ahead, at->topic, at->number);
		slot->fetching = false; /* whatever becomes of the call: nothing of it comes out any more */
		rd_kafka_topic_partition_list_add(list, at->topic, at->number);
	}
	/* Who closes does not wait for librdkafka, and nobody does when there are so many. One at a time. */
	if (list->cnt && (consumer->ending || list->cnt > WAIT_FOR_MAX) && !consumer->unassign &&
	    (consumer->unassign = rg__unassign_start(consumer, list)))
		return;
	if (list->cnt)
		refused = rd_kafka_incremental_unassign(consumer->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (refused)
		tell_error(consumer, "partitions could not be unassigned", refused);
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

static struct rg__slot *slot_of(rg_consumer *consumer, const rd_kafka_message_t *message)
{
	return message->rkt ? rg__owned_find(&consumer->owned, rd_kafka_topic_name(message->rkt), message->partition) : NULL;
}

/* The first record of a paused partition that comes along is where it will go on. librdkafka's own pausing has lost and
 * repeated records in more than one version, so it is not asked for that. */
static void hold_back(rg_consumer *consumer, struct rg__slot *slot, int64_t offset)
{
	slot->start = offset;
	slot->begun = false;
	rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
}

static void note_returned(rg_consumer *consumer, const struct rg__slot *slot, int32_t leader_epoch)
{
	struct rg__returned *last = consumer->returned + consumer->returned_count;

	if (consumer->returned_count && last[-1].epoch == slot->epoch)
		last--;
	else
		consumer->returned_count++;
	*last = (struct rg__returned){slot->at, slot->epoch, slot->next, leader_epoch};
}

/* There is room to note one more record. */
static bool keep_record(rg_consumer *consumer, const rd_kafka_message_t *message)
{
	struct rg__slot *slot = slot_of(consumer, message);

	/* What was queued before the partition was given up, or before it came back. */
	if (!slot || !slot->fetching || slot->closing || (!slot->begun && slot->start >= 0 && message->offset < slot->start))
		return false;
	if (slot->paused) {
		hold_back(consumer, slot, message->offset);
		return false;
	}
	slot->begun = true;
	slot->next = message->offset + 1;
	note_returned(consumer, slot, rg__epoch_of_message(message));
	return true;
}

/* It has many codes, so that only the words tell. */
static bool is_of_find_coordinator(const rd_kafka_message_t *message)
{
	static const char words[] = "FindCoordinator";
	const char *text = message->rkt ? NULL : rd_kafka_message_errstr(message);

	return text && !strncmp(text, words, sizeof(words) - 1);
}

static bool keep_error(rg_consumer *consumer, const rd_kafka_message_t *message)
{
	struct rg__slot *slot;

	/* librdkafka looks for the coordinator, too, and nobody needs to know how it fares: ours says so if it concerns us. */
	if (message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED || is_of_find_coordinator(message))
		return false;
	if (!message->rkt || message->partition < 0)
		return true;
	slot = slot_of(consumer, message);
	if (!slot || !slot->fetching || slot->closing)
		return false;
	if (message->err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
		return true;
	rg__reset_offset(consumer, slot, message->offset, rd_kafka_message_errstr(message));
	return false;
}

/* Takes it over. NULL: it concerns nothing that is owned. */
static rd_kafka_message_t *sift(rg_consumer *consumer, rd_kafka_message_t *message)
{
	if (message->err ? keep_error(consumer, message) : keep_record(consumer, message))
		return message;
	rd_kafka_message_destroy(message);
	return NULL;
}

rd_kafka_message_t *rg__fetch_ready(rg_consumer *consumer)
{
	rd_kafka_message_t *message;

	while ((message = rg__ahead_take(&consumer->ahead)))
		if ((message = sift(consumer, message)))
			return message;
	return NULL;
}

/* One record or error of librdkafka's that concerns what is owned, or NULL: nothing within the time, or woken up. */
rd_kafka_message_t *rg__fetch_poll(rg_consumer *consumer, int timeout_ms)
{
	rd_kafka_message_t *message = rg__fetch_ready(consumer);

	if (message)
		return message;
	message = rd_kafka_consumer_poll(consumer->rk, timeout_ms);
	if (!message)
		return NULL;
	if (!message->err)
		rg__ahead_fill(&consumer->ahead, consumer->queue);
	return sift(consumer, message);
}

/* Nothing is revoked in between: all of them are of partitions that are owned when the batch is handed out. */
size_t rg__fetch_more(rg_consumer *consumer, rd_kafka_message_t **messages, size_t count)
{
	rd_kafka_message_t *message, **fresh;
	size_t kept = 0;
	ssize_t got;

	while (kept < count && (message = rg__fetch_ready(consumer)))
		messages[kept++] = message;
	fresh = messages + kept;
	got = kept < count ? rd_kafka_consume_batch_queue(consumer->queue, 0, fresh, count - kept) : 0;
	for (ssize_t i = 0; i < got; i++)
		if ((message = sift(consumer, fresh[i])))
			messages[kept++] = message;
	return kept;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

struct ending {
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool ended, abandoned;
	rd_kafka_t *rk;
	struct rg__unassign *unassign;
	struct rg__connections *connections;
	struct rg__voice *voice;
};

/* A broker thread that is busy with something else keeps its connection open; then it is as if none had been cut. */
static void end_handle(rd_kafka_t *rk, struct rg__unassign *unassign, struct rg__connections *connections)
{
	rg__unassign_free(unassign);
	rg__connections_cut(connections);
	rg__connections_gone(connections, CUT_WAIT_MS);
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

static void free_ending(struct ending *ending)
{
	pthread_cond_destroy(&ending->done);
	pthread_mutex_destroy(&ending->lock);
	rg__connections_free(ending->connections);
	rg__voice_free(ending->voice);
	rg__free(ending);
}

static void *destroy(void *user)
{
	struct ending *ending = user;
	bool abandoned;

	end_handle(ending->rk, ending->unassign, ending->connections);
	pthread_mutex_lock(&ending->lock);
	ending->ended = true;
	abandoned = ending->abandoned;
	pthread_cond_broadcast(&ending->done);
	pthread_mutex_unlock(&ending->lock);
	if (abandoned)
		free_ending(ending);
	return NULL;
}

static bool wait_for_end(struct ending *ending)
{
	struct timespec until;
	bool ended;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DESTROY_WAIT_MS / 1000;
	pthread_mutex_lock(&ending->lock);
	while (!ending->ended && !err)
		err = pthread_cond_timedwait(&ending->done, &ending->lock, &until);
	ended = ending->ended;
	pthread_mutex_unlock(&ending->lock);
	return ended;
}

/* False: it ended in the last moment. */
static bool abandon(struct ending *ending)
{
	bool ended;

	rg__voice_write(ending->voice, RG__LOG_ERR, "CLOSE",
	                "librdkafka's handle does not end and is left behind: a record that poll returned was not freed, or it is busy");
	rg__voice_mute(ending->voice);
	pthread_mutex_lock(&ending->lock);
	ended = ending->ended;
	ending->abandoned = !ended;
	pthread_mutex_unlock(&ending->lock);
	return !ended;
}

/* librdkafka waits without end for records that were not freed, so it does that on a thread of its own, and is left to
 * itself when it takes too long. */
void rg__fetch_destroy(rd_kafka_t *rk, struct rg__unassign *unassign, struct rg__connections *connections,
                       struct rg__voice *voice)
{
	struct ending *ending = rg__calloc(1, sizeof(*ending));
	pthread_t thread;

	if (ending) {
		pthread_mutex_init(&ending->lock, NULL);
		pthread_cond_init(&ending->done, NULL);
		ending->rk = rk;
		ending->unassign = unassign;
		ending->connections = connections;
		ending->voice = voice;
	}
	if (!ending || pthread_create(&thread, NULL, destroy, ending)) {
		end_handle(rk, unassign, connections);
		rg__connections_free(connections);
		rg__voice_free(voice);
		rg__free(ending);
		return;
	}
	if (!wait_for_end(ending) && abandon(ending)) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	free_ending(ending);
}

/* Early, so that librdkafka is done with the loss of its connections when its handle is destroyed. A look-up that is
 * under way would wait in vain for its answer. */
void rg__fetch_end(rg_consumer *consumer)
{
	if (!consumer->lookup)
		rg__connections_cut(consumer->connections);
}

void rg__fetch_close(rg_consumer *consumer)
{
	if (!consumer->rk)
		return;
	rg__ahead_drop(&consumer->ahead, NULL, 0); /* the handle's end would wait for them */
	drop_handles(consumer->handles, consumer->handle_count);
	consumer->handles = NULL;
	consumer->handle_count = 0;
	if (consumer->queue)
		rd_kafka_queue_destroy(consumer->queue);
	consumer->queue = NULL;
}
