/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/lookup.h"

#include "base/alloc.h"
#include "consumer/internal.h"

#include <signal.h>
#include <string.h>

struct rg__lookup {
	rg_consumer *consumer;
	rd_kafka_topic_partition_list_t *list;
	uint64_t *epochs;
	int timeout_ms;
	pthread_t thread;
	rd_kafka_resp_err_t err;
	bool finished; /* under the consumer's lock */
};

static void *run(void *user)
{
	struct rg__lookup *lookup = user;
	rg_consumer *consumer = lookup->consumer;

	lookup->err = rd_kafka_offsets_for_times(consumer->rk, lookup->list, lookup->timeout_ms);
	pthread_mutex_lock(&consumer->thread.lock);
	lookup->finished = true;
	pthread_mutex_unlock(&consumer->thread.lock);
	rg__wake(consumer);
	return NULL;
}

static void release(struct rg__lookup *lookup)
{
	rd_kafka_topic_partition_list_destroy(lookup->list);
	rg__free(lookup->epochs);
	rg__free(lookup);
}

/* Signals are the application's. */
static int start_thread(struct rg__lookup *lookup)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&lookup->thread, NULL, run, lookup);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

struct rg__lookup *rg__lookup_start(rg_consumer *consumer, const struct rg__lookup_question *questions, size_t count,
                                    int timeout_ms)
{
	struct rg__lookup *lookup = rg__calloc(1, sizeof(*lookup));

	if (!lookup)
		return NULL;
	lookup->consumer = consumer;
	lookup->timeout_ms = timeout_ms;
	lookup->list = rd_kafka_topic_partition_list_new((int)count);
	lookup->epochs = rg__calloc(count, sizeof(*lookup->epochs));
	for (size_t i = 0; lookup->epochs && i < count; i++) {
		const struct rg__lookup_question *question = &questions[i];

		lookup->epochs[i] = question->epoch;
		rd_kafka_topic_partition_list_add(lookup->list, question->at.topic, question->at.number)->offset = question->time_ms;
	}
	if (lookup->epochs && !start_thread(lookup))
		return lookup;
	release(lookup);
	return NULL;
}

bool rg__lookup_finished(struct rg__lookup *lookup)
{
	struct rg__thread *thread = &lookup->consumer->thread;
	bool finished;

	pthread_mutex_lock(&thread->lock);
	finished = lookup->finished;
	pthread_mutex_unlock(&thread->lock);
	return finished;
}

void rg__lookup_free(struct rg__lookup *lookup)
{
	if (!lookup)
		return;
	pthread_join(lookup->thread, NULL);
	release(lookup);
}

size_t rg__lookup_count(const struct rg__lookup *lookup)
{
	return (size_t)lookup->list->cnt;
}

rg_err rg__lookup_result(const struct rg__lookup *lookup, size_t i, struct rg__partition *ret_at, uint64_t *ret_epoch,
                         int64_t *ret_offset)
{
	const rd_kafka_topic_partition_t *at = &lookup->list->elems[i];
	rd_kafka_resp_err_t err = lookup->err ? lookup->err : at->err;

	*ret_at = (struct rg__partition){at->topic, at->partition};
	*ret_epoch = lookup->epochs[i];
	*ret_offset = at->offset;
	if (!err)
		return at->offset >= 0 || at->offset == RD_KAFKA_OFFSET_END ? RG_OK : RG_ERR_LIBRDKAFKA;
	if (err == RD_KAFKA_RESP_ERR__TIMED_OUT)
		return RG_ERR_TIMED_OUT;
	return err > 0 ? (rg_err)err : RG_ERR_TRANSPORT;
}
