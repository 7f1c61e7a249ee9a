/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/metadata.h"

#include "base/alloc.h"
#include "base/backoff.h"
#include "codec/api.h"
#include "consumer/internal.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD_MAX_US = 200000 }; /* what was so then may not be so any more */

/* --- Request and answer ------------------------------------------------------------------------------------------- */

const struct rg__metadata_request *rg__metadata_request(const struct rg__bytes *names, size_t count, bool create,
                                                        struct rg__arena *arena)
{
	struct rg__metadata_request *request = rg__arena_calloc(arena, 1, sizeof(*request));
	struct rg__metadata_request_topic *topics;

	if (!request)
		return NULL;
	rg__fields_init(&rg__metadata_request_fields, request);
	request->allow_auto_topic_creation = create;
	if (!rg__array_init(&rg__metadata_request_topic_fields, (int32_t)count, arena, &request->topics))
		return NULL;
	topics = request->topics.items;
	for (size_t i = 0; i < count; i++)
		topics[i].name = names[i];
	return request;
}

/* The brokers that have a rack, by id. */
struct racked {
	struct rg__metadata_response_broker *brokers;
	size_t count;
};

static int compare_brokers(const void *a, const void *b)
{
	const struct rg__metadata_response_broker *left = a, *right = b;

	return (left->node_id > right->node_id) - (left->node_id < right->node_id);
}

static struct rg__bytes rack_of(const struct racked *racked, int32_t node)
{
	struct rg__metadata_response_broker key = {.node_id = node}, *found;

	found = bsearch(&key, racked->brokers, racked->count, sizeof(key), compare_brokers);
	return found ? found->rack : RG__NULL_BYTES;
}

/* False: out of memory. */
static bool list_racked(const struct rg__metadata_response *body, struct rg__arena *arena, struct racked *ret_racked)
{
	const struct rg__metadata_response_broker *brokers = body->brokers.items;
	size_t most = body->brokers.count > 0 ? (size_t)body->brokers.count : 0;
	struct racked racked = {rg__arena_calloc(arena, most, sizeof(*racked.brokers)), 0};

	for (size_t i = 0; racked.brokers && i < most; i++)
		if (brokers[i].rack.len)
			racked.brokers[racked.count++] = brokers[i];
	if (racked.count)
		qsort(racked.brokers, racked.count, sizeof(*racked.brokers), compare_brokers);
	*ret_racked = racked;
	return racked.brokers != NULL;
}

/* The racks of each partition's replicas. Partitions come in any order, and a hostile answer has wrong numbers. */
static const struct rg__racks_input *read_racks(const struct racked *racked,
                                                const struct rg__metadata_response_topic *topic,
                                                struct rg__arena *arena)
{
	const struct rg__metadata_response_topic_partition *partitions = topic->partitions.items;
	struct rg__racks_input *racks = rg__arena_calloc(arena, (size_t)topic->partitions.count, sizeof(*racks));

	for (int32_t p = 0; racks && p < topic->partitions.count; p++) {
		int32_t number = partitions[p].partition_index, replicas = partitions[p].replica_nodes.count;
		struct rg__bytes *names;

		if (number < 0 || number >= topic->partitions.count || replicas <= 0)
			continue;
		names = rg__arena_calloc(arena, (size_t)replicas, sizeof(*names));
		if (!names)
			return NULL;
		for (int32_t r = 0; r < replicas; r++)
			names[r] = rack_of(racked, RG__ITEMS(int32_t, partitions[p].replica_nodes)[r]);
		racks[number] = (struct rg__racks_input){names, replicas};
	}
	return racks;
}

static int compare_topics(const void *a, const void *b)
{
	return rg__bytes_compare(((const struct rg__topic_input *)a)->name, ((const struct rg__topic_input *)b)->name);
}

bool rg__metadata_topics(const struct rg__metadata_response *body, struct rg__arena *arena,
                         struct rg__topic_input **ret_topics, int32_t *ret_count)
{
	const struct rg__metadata_response_topic *from = body->topics.items;
	size_t most = body->topics.count > 0 ? (size_t)body->topics.count : 0;
	struct rg__topic_input *topics = rg__arena_calloc(arena, most, sizeof(*topics));
	struct racked racked;
	int32_t count = 0;

	if (!topics || !list_racked(body, arena, &racked))
		return false;
	for (size_t i = 0; i < most; i++) {
		if (from[i].error_code || from[i].partitions.count <= 0 || !from[i].name.data)
			continue;
		topics[count].name = from[i].name;
		topics[count].partition_count = from[i].partitions.count;
		if (racked.count && !(topics[count].racks = read_racks(&racked, &from[i], arena)))
			return false;
		count++;
	}
	if (count)
		qsort(topics, (size_t)count, sizeof(*topics), compare_topics);
	*ret_topics = topics;
	*ret_count = count;
	return true;
}

/* --- The leader's question ---------------------------------------------------------------------------------------- */

static void ask(rg_consumer *consumer, struct rg__metadata_job *job);

static void again_later(rg_consumer *consumer, struct rg__metadata_job *job, const char *why)
{
	const struct rg__settings *settings = &consumer->conf->settings;
	int64_t pause_us = rg__backoff(settings->retry_backoff_ms * INT64_C(1000),
	                               settings->retry_backoff_max_ms * INT64_C(1000),
	                               job->failures++, &consumer->committer.random);

	rg__log(&consumer->log, RG__LOG_INFO, "METADATA", "the leader needs the group's topics: %s", why);
	rg__timer_set(job->timer, rg__now_us(rg__member_io(consumer->member)) + pause_us);
}

/* Ahead of time that means nothing: the leader will see that there is no answer. */
static void failed(rg_consumer *consumer, struct rg__metadata_job *job, const char *why)
{
	if (!job->ahead)
		again_later(consumer, job, why);
}

static void answered(void *user, const struct rg__response *response)
{
	struct rg__metadata_job *job = user;
	rg_consumer *consumer = job->consumer;
	bool wanted;

	job->request = 0;
	if (response->error.code) {
		failed(consumer, job, response->error.text);
		return;
	}
	pthread_mutex_lock(&consumer->thread.lock);
	job->answer = rg__response_keep(response);
	wanted = !job->ahead;
	pthread_mutex_unlock(&consumer->thread.lock);
	if (wanted)
		rg__wake(consumer);
}

static void ask(rg_consumer *consumer, struct rg__metadata_job *job)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .timeout_ms = -1, .done = answered, .user = job};

	rg__arena_clear(&job->arena);
	call.body = rg__metadata_request(job->names, job->count, consumer->conf->settings.allow_auto_create_topics,
	                                 &job->arena);
	if (!call.body || rg__cluster_request(rg__member_cluster(consumer->member), &call, &job->request))
		failed(consumer, job, "the request could not be queued");
}

static void retry(void *user)
{
	struct rg__metadata_job *job = user;

	ask(job->consumer, job);
}

static void begin(rg_consumer *consumer, void *arg)
{
	struct rg__metadata_job *job = arg;

	job->timer = rg__timer_new(rg__member_io(consumer->member), retry, job);
	if (job->timer)
		ask(consumer, job);
}

static void end(rg_consumer *consumer, void *arg)
{
	struct rg__metadata_job *job = arg;

	if (job->request)
		rg__cluster_cancel(rg__member_cluster(consumer->member), job->request);
	rg__timer_free(job->timer);
}

static struct rg__metadata_job *start(struct rg__metadata_job *job)
{
	job->asked_us = rg__mono_us();
	rg__on_loop(job->consumer, begin, job);
	if (job->timer)
		return job;
	rg__metadata_job_free(job);
	return NULL;
}

struct rg__metadata_job *rg__metadata_job_new(rg_consumer *consumer, const struct rg__bytes *names, size_t count)
{
	struct rg__metadata_job *job = rg__calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->consumer = consumer;
	job->names = names;
	job->count = count;
	return start(job);
}

struct rg__metadata_job *rg__metadata_job_new_ahead(rg_consumer *consumer, const char *const *names, size_t count)
{
	struct rg__metadata_job *job = rg__calloc(1, sizeof(*job));
	struct rg__bytes *copies = job ? rg__arena_calloc(&job->names_arena, count, sizeof(*copies)) : NULL;

	if (!job)
		return NULL;
	job->consumer = consumer;
	for (size_t i = 0; copies && i < count; i++) {
		const char *copy = rg__arena_copy(&job->names_arena, names[i], strlen(names[i]));

		copies[i] = rg__bytes_of(copy ? copy : "");
		if (!copy)
			copies = NULL;
	}
	if (!copies) {
		rg__arena_clear(&job->names_arena);
		rg__free(job);
		return NULL;
	}
	job->names = copies;
	job->count = count;
	job->ahead = true;
	return start(job);
}

struct taking {
	struct rg__metadata_job *job;
	bool taken;
};

/* A topic with an error may be there a moment later, so that answer is not used. */
static bool is_complete(const struct rg__metadata_response *body)
{
	const struct rg__metadata_response_topic *topics = body->topics.items;

	for (int32_t i = 0; i < body->topics.count; i++)
		if (topics[i].error_code)
			return false;
	return !body->error_code;
}

static void take(rg_consumer *consumer, void *arg)
{
	struct taking *taking = arg;
	struct rg__metadata_job *job = taking->job;

	pthread_mutex_lock(&consumer->thread.lock);
	taking->taken = job->answer ? is_complete(job->answer->body) : job->request != 0;
	job->ahead = false;
	pthread_mutex_unlock(&consumer->thread.lock);
}

bool rg__metadata_job_take(struct rg__metadata_job *job, const struct rg__bytes *names, size_t count)
{
	struct taking taking = {.job = job};

	if (job->count != count || rg__mono_us() - job->asked_us > AHEAD_MAX_US)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!rg__bytes_equal(job->names[i], names[i]))
			return false;
	rg__on_loop(job->consumer, take, &taking);
	return taking.taken;
}

void rg__metadata_job_free(struct rg__metadata_job *job)
{
	if (!job)
		return;
	rg__on_loop(job->consumer, end, job);
	rg__message_free(job->answer);
	rg__arena_clear(&job->arena);
	rg__arena_clear(&job->names_arena);
	rg__free(job);
}

const struct rg__metadata_response *rg__metadata_job_answer(struct rg__metadata_job *job)
{
	struct rg__message *answer;

	pthread_mutex_lock(&job->consumer->thread.lock);
	answer = job->answer;
	pthread_mutex_unlock(&job->consumer->thread.lock);
	return answer ? answer->body : NULL;
}
