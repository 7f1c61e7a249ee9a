/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_commit_async: commits nobody waits for. They wait in the same line as all others, so none overtakes
 * another, and their callbacks run in the order in which they were made, inside the application's own calls. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"

enum { PENDING_MAX = 10000 };

struct rg__async {
	struct rg__async *next;
	struct rg__commit *commit; /* NULL: there was nothing to commit */
	rd_kafka_topic_partition_list_t *offsets;
	rg_commit_cb *done;
	void *user;
};

static void free_async(struct rg__async *async)
{
	if (!async)
		return;
	rg__commit_free(async->commit);
	if (async->offsets)
		rd_kafka_topic_partition_list_destroy(async->offsets);
	rg__free(async);
}

/* --- Making one --------------------------------------------------------------------------------------------------- */

static rd_kafka_topic_partition_list_t *positions(const rg_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)consumer->owned.count);

	for (size_t i = 0; list && i < consumer->owned.count; i++) {
		const struct rg__slot *slot = &consumer->owned.slots[i];

		if (slot->position >= 0)
			rd_kafka_topic_partition_list_add(list, slot->at.topic, slot->at.number)->offset = slot->position;
	}
	return list;
}

/* The leader epochs of positions: the list cannot carry them in every librdkafka. */
static void add_epochs(rg_consumer *consumer, struct rg__commit *commit)
{
	for (size_t i = 0; i < commit->count; i++) {
		struct rg__commit_entry *entry = &commit->entries[i];
		const struct rg__slot *slot = rg__owned_find_epoch(&consumer->owned, &entry->at, entry->epoch);

		if (slot)
			entry->leader_epoch = slot->leader_epoch;
	}
}

static rg_err make(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *offsets, struct rg__async *async,
                   rg_error *error)
{
	rg_err err;

	async->offsets = offsets ? rd_kafka_topic_partition_list_copy(offsets) : positions(consumer);
	if (!async->offsets)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	if (!async->offsets->cnt)
		return RG_OK;
	async->commit = rg__commit_new((size_t)async->offsets->cnt, consumer->generation, consumer->member_id);
	if (!async->commit)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	async->commit->gives_way = true;
	err = rg__commit_fill(consumer, async->offsets, async->commit, error);
	if (!err && !offsets)
		add_epochs(consumer, async->commit);
	return err;
}

rg_err rg_consumer_commit_async(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *offsets,
                                rg_commit_cb *done, void *user, rg_error *error)
{
	struct rg__async *async;
	rg_err err = rg__may_commit(consumer, "rg_consumer_commit_async", error);

	if (err)
		return err;
	if (consumer->async_count == PENDING_MAX)
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_commit_async: %d commits are under way already", PENDING_MAX);
	rg__settle(consumer);
	if (!(async = rg__calloc(1, sizeof(*async))))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	async->done = done;
	async->user = user;
	if ((err = make(consumer, offsets, async, error))) {
		free_async(async);
		return err;
	}
	if (consumer->async_first)
		consumer->async_last->next = async;
	else
		consumer->async_first = async;
	consumer->async_last = async;
	consumer->async_count++;
	if (async->commit)
		rg__commit_send(consumer, async->commit, consumer->conf->settings.default_api_timeout_ms);
	return RG_OK;
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */

static void call(rg_consumer *consumer, struct rg__async *async)
{
	const rg_error fine = {0}, *error = async->commit ? &async->commit->error : &fine;
	bool inside = consumer->inside;
	/* Away from poll is who was called from it; in other calls that runs already. */
	bool away = !inside && atomic_load(&consumer->left_poll_at) == 0;

	if (async->commit)
		rg__commit_results(async->offsets, async->commit);
	if (error->code)
		rg__log(&consumer->log, RG__LOG_INFO, "COMMIT", "asynchronous %s", error->text);
	if (!async->done)
		return;
	if (away)
		rg__callback_begins(consumer);
	consumer->inside = true;
	async->done(consumer, error, async->offsets, async->user);
	consumer->inside = inside;
	if (away)
		rg__callback_ended(consumer);
}

void rg__async_deliver(rg_consumer *consumer)
{
	struct rg__async *async;

	if (consumer->delivering)
		return; /* a callback that commits: the others run when it has returned */
	consumer->delivering = true;
	while ((async = consumer->async_first) && (!async->commit || rg__commit_finished(consumer, async->commit))) {
		consumer->async_first = async->next;
		consumer->async_count--;
		if (async->commit)
			rg__note_committed(consumer, async->commit);
		call(consumer, async);
		free_async(async);
	}
	consumer->delivering = false;
}

void rg__async_wait(rg_consumer *consumer, int64_t until_us)
{
	bool news = false;

	rg__async_deliver(consumer);
	while (consumer->async_first && !consumer->delivering && rg__mono_us() < until_us &&
	       !(consumer->wakeable && atomic_load(&consumer->wakeup))) {
		rg__sleep(consumer, until_us);
		news |= rg__news(consumer);
		rg__async_deliver(consumer);
	}
	if (news)
		rg__news_again(consumer); /* it may have been about something else, too */
}

void rg__async_end(rg_consumer *consumer, int64_t until_us)
{
	rg__async_wait(consumer, until_us);
	for (struct rg__async *async = consumer->async_first; async; async = async->next)
		if (async->commit && !rg__commit_finished(consumer, async->commit))
			rg__commit_cancel(consumer, async->commit);
	rg__async_deliver(consumer);
}
