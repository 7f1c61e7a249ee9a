/* SPDX-License-Identifier: Apache-2.0 */
/* What an application can ask: what it subscribes to, what the group has of its offsets, where it is and how far
 * behind. */
#include "base/alloc.h"
#include "base/backoff.h"
#include "base/error.h"
#include "consumer/internal.h"
#include "consumer/leader_epoch.h"
#include "group/reactions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

rg_err rg__check_timeout(const char *call, int timeout_ms, rg_error *error)
{
	if (timeout_ms >= -1)
		return RG_OK;
	return rg__fail(error, RG_ERR_INVALID, "%s: a timeout of %d ms; it is 0 or more, or -1 to wait without end", call,
	                timeout_ms);
}

static int64_t until(int timeout_ms)
{
	return rg__mono_us() + (timeout_ms < 0 ? INT_MAX : timeout_ms) * INT64_C(1000);
}

static int left_ms(int64_t until_us)
{
	int64_t ms = (until_us - rg__mono_us()) / 1000;

	return ms < 0 ? 0 : (int)ms;
}

/* --- What it has -------------------------------------------------------------------------------------------------- */

rd_kafka_topic_partition_list_t *rg_consumer_assignment(rg_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)consumer->owned.count);

	for (size_t i = 0; list && i < consumer->owned.count; i++) {
		const struct rg__slot *slot = &consumer->owned.slots[i];

		rd_kafka_topic_partition_list_add(list, slot->at.topic, slot->at.number);
	}
	return list;
}

rd_kafka_topic_partition_list_t *rg_consumer_subscription(rg_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)consumer->asked.count);

	for (size_t i = 0; list && i < consumer->asked.count; i++)
		rd_kafka_topic_partition_list_add(list, consumer->asked.items[i], RD_KAFKA_PARTITION_UA);
	return list;
}

/* --- What the group has ------------------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	return rg__partition_compare(&((const struct rg__offsets_fetch_entry *)a)->at,
	                             &((const struct rg__offsets_fetch_entry *)b)->at);
}

/* The names stay the list's, which outlives the question. */
static struct rg__offsets_fetch *make_question(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions)
{
	struct rg__offsets_fetch *fetch = rg__offsets_fetch_new(consumer, (size_t)partitions->cnt);

	if (!fetch)
		return NULL;
	fetch->wants_metadata = true;
	for (int i = 0; i < partitions->cnt; i++)
		fetch->entries[i] = (struct rg__offsets_fetch_entry){
			.at = {partitions->elems[i].topic, partitions->elems[i].partition}, .offset = RG__NO_OFFSET};
	qsort(fetch->entries, fetch->count, sizeof(*fetch->entries), compare_entries);
	return fetch;
}

static rg_err check_list(const struct rg__offsets_fetch *fetch, rg_error *error)
{
	for (size_t i = 1; i < fetch->count; i++)
		if (!compare_entries(&fetch->entries[i - 1], &fetch->entries[i]))
			return rg__fail(error, RG_ERR_INVALID, "rg_consumer_committed: %s [%d] is listed twice",
			                fetch->entries[i].at.topic, (int)fetch->entries[i].at.number);
	return RG_OK;
}

/* False: time is up, or somebody has woken the call up. */
static bool wait_for(rg_consumer *consumer, struct rg__offsets_fetch *fetch, int64_t until_us)
{
	bool news = false, finished;

	while (!(finished = rg__offsets_fetch_finished(fetch)) && rg__mono_us() < until_us &&
	       (consumer->inside || !atomic_load(&consumer->wakeup))) {
		rg__sleep(consumer, until_us);
		news |= rg__news(consumer);
	}
	if (news)
		rg__news_again(consumer); /* it was about something else as well, perhaps */
	return finished;
}

/* What stands in the way, RG_OK when all is answered. */
static rg_err obstacle(const struct rg__offsets_fetch *fetch)
{
	if (fetch->error.code)
		return fetch->error.code;
	for (size_t i = 0; i < fetch->count; i++)
		if (rg__react(RG__REQUEST_OFFSET_FETCH, fetch->entries[i].err)->verb == RG__RETRY)
			return fetch->entries[i].err;
	return RG_OK;
}

static bool pause_before(rg_consumer *consumer, unsigned failures, int64_t until_us)
{
	const struct rg__settings *settings = &consumer->conf->settings;
	int64_t pause_us =
		rg__backoff(settings->retry_backoff_ms * INT64_C(1000), settings->retry_backoff_max_ms * INT64_C(1000),
		            failures, &consumer->random);
	int64_t then_us = rg__mono_us() + pause_us;
	bool news = false;

	if (then_us >= until_us)
		return false;
	while (rg__mono_us() < then_us && (consumer->inside || !atomic_load(&consumer->wakeup))) {
		rg__sleep(consumer, then_us);
		news |= rg__news(consumer);
	}
	if (news)
		rg__news_again(consumer);
	return true;
}

/* Asks until there is an answer that asking again would not change. */
static rg_err ask(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, int64_t until_us,
                  struct rg__offsets_fetch **ret_fetch, rg_error *error)
{
	rg_err last = RG_OK;

	for (unsigned failures = 0;; failures++) {
		struct rg__offsets_fetch *fetch = make_question(consumer, partitions);
		rg_err err = fetch ? check_list(fetch, error) : rg__fail(error, RG_ERR_MEMORY, "out of memory");
		bool finished = false;

		if (!err) {
			rg__offsets_fetch_send(fetch);
			finished = wait_for(consumer, fetch, until_us);
			last = finished ? obstacle(fetch) : last;
		}
		if (finished && (!last || rg__react(RG__REQUEST_OFFSET_FETCH, last)->verb != RG__RETRY)) {
			*ret_fetch = fetch;
			return RG_OK;
		}
		rg__offsets_fetch_free(fetch);
		if (err)
			return err;
		if (!consumer->inside && rg__woken_up(consumer))
			return rg__fail(error, RG_ERR_WOKEN, "rg_consumer_committed: woken up before there was an answer");
		if (!finished || !pause_before(consumer, failures, until_us))
			return rg__fail(error, RG_ERR_TIMED_OUT, "rg_consumer_committed: no answer in time%s%s",
			                last ? ", at last " : "", last ? rg_err_name(last) : "");
	}
}

/* Ends with a NUL that does not count: some take it for a string. The list frees it with free(). */
static bool set_metadata(rd_kafka_topic_partition_t *to, struct rg__bytes metadata)
{
	char *copy = metadata.len ? rg__malloc(metadata.len + 1) : NULL;

	if (metadata.len && !copy)
		return false;
	if (copy) {
		memcpy(copy, metadata.data, metadata.len);
		copy[metadata.len] = '\0';
	}
	rg__free(to->metadata); /* libc's free(), as its own destructor */
	to->metadata = copy;
	to->metadata_size = metadata.len;
	return true;
}

static rg_err give(const struct rg__offsets_fetch *fetch, rd_kafka_topic_partition_list_t *partitions, rg_error *error)
{
	rg_err worst = RG_OK;

	for (int i = 0; i < partitions->cnt; i++) {
		rd_kafka_topic_partition_t *to = &partitions->elems[i];
		struct rg__offsets_fetch_entry key = {.at = {to->topic, to->partition}};
		const struct rg__offsets_fetch_entry *from =
			bsearch(&key, fetch->entries, fetch->count, sizeof(key), compare_entries);
		rg_err err = from->err;

		if (!err && !set_metadata(to, from->metadata))
			err = RG_ERR_MEMORY;
		to->err = rg__kafka_error(err);
		to->offset = err || from->offset == RG__NO_OFFSET ? RD_KAFKA_OFFSET_INVALID : from->offset;
		rg__epoch_to_entry(to, err ? -1 : from->leader_epoch);
		if (err && !worst)
			worst = rg__fail(error, err, "offset of %s [%d]: %s", to->topic, (int)to->partition, rg_err_name(err));
	}
	return worst;
}

rg_err rg_consumer_committed(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, int timeout_ms,
                             rg_error *error)
{
	struct rg__offsets_fetch *fetch = NULL;
	int64_t began_us = rg__mono_us();
	rg_err err;

	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_committed: the consumer is closed");
	if (consumer->seat != RG__SEAT_TAKEN)
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_committed: %s",
		                consumer->asked.count ? "what the patterns find is not known yet, and poll joins when it is"
		                                      : "the consumer is not subscribed");
	if (!partitions)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_committed: no list of partitions");
	if ((err = rg__check_timeout("rg_consumer_committed", timeout_ms, error)) || !partitions->cnt)
		return err;
	err = ask(consumer, partitions, until(timeout_ms), &fetch, error);
	consumer->committed_waited_us += rg__mono_us() - began_us;
	if (err)
		return err;
	if (fetch->error.code) {
		err = fetch->error.code;
		if (error)
			*error = fetch->error;
	} else {
		err = give(fetch, partitions, error);
	}
	rg__offsets_fetch_free(fetch);
	return err;
}

/* --- Where it is -------------------------------------------------------------------------------------------------- */

static struct rg__slot *owned_slot(rg_consumer *consumer, const char *call, const char *topic, int32_t partition,
                                   rg_error *error)
{
	struct rg__slot *slot = topic ? rg__owned_find(&consumer->owned, topic, partition) : NULL;

	if (consumer->closed)
		rg__fail(error, RG_ERR_CLOSED, "%s: the consumer is closed", call);
	else if (!slot)
		rg__fail(error, RG_ERR_NOT_OWNED, "%s: %s [%d] is not owned by this consumer", call,
		         topic ? topic : "(no topic)", (int)partition);
	else
		return slot;
	return NULL;
}

/* Where a partition begins (RD_KAFKA_OFFSET_BEGINNING) or ends (RD_KAFKA_OFFSET_END), asked of its leader. By this
 * call and not rd_kafka_query_watermark_offsets(), which forgets its time limit when the leader is gone (seen with
 * 2.0.2). */
static rg_err query(rg_consumer *consumer, const struct rg__slot *slot, int64_t which, int64_t until_us,
                    int64_t *ret_offset, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, slot->at.topic, slot->at.number);
	int wait_ms = left_ms(until_us);
	rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__TIMED_OUT;
	int64_t found;

	at->offset = which;
	if (wait_ms)
		err = rd_kafka_offsets_for_times(consumer->rk, list, wait_ms);
	if (!err)
		err = at->err;
	found = at->offset;
	rd_kafka_topic_partition_list_destroy(list);
	if (!err && found >= 0) {
		*ret_offset = found;
		return RG_OK;
	}
	if (!err || err == RD_KAFKA_RESP_ERR__TIMED_OUT || err == RD_KAFKA_RESP_ERR__TRANSPORT)
		return rg__fail(error, RG_ERR_TIMED_OUT, "%s [%d]: its bounds are not known in time", slot->at.topic,
		                (int)slot->at.number);
	return rg__fail(error, err > 0 ? (rg_err)err : RG_ERR_LIBRDKAFKA, "%s [%d]: its bounds: %s", slot->at.topic,
	                (int)slot->at.number, rd_kafka_err2str(err));
}

/* Waits for the group's answer, while that is what is missing. */
static void wait_for_start(rg_consumer *consumer, const struct rg__slot *slot, int64_t until_us)
{
	bool news = false;

	/* A listener may still choose the offset itself: nothing begins before it has returned. */
	if (consumer->inside)
		return;
	rg__start_positions(consumer);
	while (slot->start == RD_KAFKA_OFFSET_INVALID && !slot->hopeless && rg__mono_us() < until_us) {
		int64_t look_us = rg__start_positions_at(consumer);

		rg__sleep(consumer, look_us < until_us ? look_us : until_us);
		news |= rg__news(consumer);
		rg__start_positions(consumer);
	}
	if (news)
		rg__news_again(consumer);
}

static rg_err find_position(rg_consumer *consumer, struct rg__slot *slot, int64_t until_us, int64_t *ret_offset,
                            rg_error *error)
{
	rg_err err;

	wait_for_start(consumer, slot, until_us);
	if (slot->next >= 0 || slot->start >= 0) {
		*ret_offset = slot->next >= 0 ? slot->next : slot->start;
		return RG_OK;
	}
	if (slot->start == RD_KAFKA_OFFSET_BEGINNING) {
		/* Asked once: the answer may have to wait behind a fetch that waits for records. */
		if (!(err = query(consumer, slot, RD_KAFKA_OFFSET_BEGINNING, until_us, ret_offset, error)))
			slot->start = *ret_offset;
		return err;
	}
	if (slot->start == RD_KAFKA_OFFSET_INVALID && !slot->hopeless)
		return rg__fail(error, RG_ERR_TIMED_OUT, "%s [%d]: the group's offset is not known yet", slot->at.topic,
		                (int)slot->at.number);
	return rg__fail(error, RG_ERR_NO_OFFSET, "%s [%d]: %s", slot->at.topic, (int)slot->at.number,
	                slot->hopeless ? "it has no offset" : "it goes on at a place that shows with the next record");
}

rg_err rg_consumer_position(rg_consumer *consumer, const char *topic, int32_t partition, int64_t *ret_offset,
                            int timeout_ms, rg_error *error)
{
	struct rg__slot *slot = owned_slot(consumer, "rg_consumer_position", topic, partition, error);

	if (!slot)
		return consumer->closed ? RG_ERR_CLOSED : RG_ERR_NOT_OWNED;
	if (rg__check_timeout("rg_consumer_position", timeout_ms, error))
		return RG_ERR_INVALID;
	return find_position(consumer, slot, until(timeout_ms), ret_offset, error);
}

rg_err rg_consumer_lag(rg_consumer *consumer, const char *topic, int32_t partition, int64_t *ret_lag, int timeout_ms,
                       rg_error *error)
{
	struct rg__slot *slot = owned_slot(consumer, "rg_consumer_lag", topic, partition, error);
	int64_t until_us = until(timeout_ms), position, low, high = RD_KAFKA_OFFSET_INVALID;
	rg_err err;

	if (!slot)
		return consumer->closed ? RG_ERR_CLOSED : RG_ERR_NOT_OWNED;
	if ((err = rg__check_timeout("rg_consumer_lag", timeout_ms, error)))
		return err;
	if ((err = find_position(consumer, slot, until_us, &position, error)))
		return err;
	/* What the last fetch said; of a partition that is not fetched there is no news. */
	if (slot->fetching && !slot->paused)
		rd_kafka_get_watermark_offsets(consumer->rk, topic, partition, &low, &high);
	if (high < 0 && (err = query(consumer, slot, RD_KAFKA_OFFSET_END, until_us, &high, error)))
		return err;
	*ret_lag = high > position ? high - position : 0;
	return RG_OK;
}
