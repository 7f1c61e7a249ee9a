/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/offsets_fetch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "codec/offset_fetch.h"
#include "consumer/internal.h"

#include <string.h>

/* From these versions on: KIP-447's requireStable, KIP-709's list of groups. */
enum { REQUIRE_STABLE_FIRST = 7, GROUPS_FIRST = 8 };

struct rg__offsets_fetch *rg__offsets_fetch_new(rg_consumer *consumer, size_t count)
{
	struct rg__offsets_fetch *fetch = rg__calloc(1, sizeof(*fetch));

	if (!fetch)
		return NULL;
	fetch->consumer = consumer;
	fetch->count = count;
	fetch->entries = rg__calloc(count, sizeof(*fetch->entries));
	if (!fetch->entries) {
		rg__free(fetch);
		return NULL;
	}
	return fetch;
}

static void finish(struct rg__offsets_fetch *fetch)
{
	struct rg__thread *thread = &fetch->consumer->thread;

	pthread_mutex_lock(&thread->lock);
	fetch->finished = true; /* from here on it is the application's */
	pthread_mutex_unlock(&thread->lock);
}

/* --- Request ------------------------------------------------------------------------------------------------------ */

/* Topics with their partitions: both shapes of the request have the same. False: out of memory. */
struct topic {
	struct rg__bytes name;
	struct rg__array partition_indexes;
};
_Static_assert(sizeof(struct topic) == sizeof(struct rg__offset_fetch_request_topic), "the two shapes");
_Static_assert(sizeof(struct topic) == sizeof(struct rg__offset_fetch_request_group_topic), "the two shapes");

static bool build_topics(struct rg__offsets_fetch *fetch, struct rg__array *ret_topics)
{
	struct topic *topics = rg__arena_calloc(&fetch->arena, fetch->count, sizeof(*topics));
	int32_t *numbers = rg__arena_calloc(&fetch->arena, fetch->count, sizeof(*numbers));
	int32_t count = 0;

	if (!topics || !numbers)
		return false;
	for (size_t i = 0; i < fetch->count; i++) {
		const struct rg__partition *at = &fetch->entries[i].at;

		numbers[i] = at->number;
		if (!i || strcmp(at->topic, fetch->entries[i - 1].at.topic) != 0) {
			topics[count].name = rg__bytes_of(at->topic);
			topics[count++].partition_indexes.items = &numbers[i];
		}
		topics[count - 1].partition_indexes.count++;
	}
	*ret_topics = (struct rg__array){topics, count};
	return true;
}

static const void *prepare(void *user, int16_t version)
{
	struct rg__offsets_fetch *fetch = user;
	struct rg__bytes group_id = rg__bytes_of(fetch->consumer->conf->settings.group_id);
	struct rg__offset_fetch_request *request;
	struct rg__array topics;

	rg__arena_clear(&fetch->arena);
	request = rg__arena_calloc(&fetch->arena, 1, sizeof(*request));
	if (!request || !build_topics(fetch, &topics))
		return NULL;
	rg__fields_init(&rg__offset_fetch_request_fields, request);
	/* Without it a group would begin in front of offsets that a transaction is about to commit. */
	request->require_stable = version >= REQUIRE_STABLE_FIRST;
	if (version < GROUPS_FIRST) {
		request->group_id = group_id;
		request->topics = topics;
		return request;
	}
	struct rg__offset_fetch_request_group *group = rg__arena_calloc(&fetch->arena, 1, sizeof(*group));

	if (!group)
		return NULL;
	rg__fields_init(&rg__offset_fetch_request_group_fields, group);
	group->group_id = group_id;
	group->topics = topics;
	request->groups = (struct rg__array){group, 1};
	return request;
}

/* --- Answer ------------------------------------------------------------------------------------------------------- */

/* What a partition was answered, in either shape. */
struct found {
	int32_t number;
	int64_t offset;
	int32_t leader_epoch;
	struct rg__bytes metadata;
	int16_t err;
};

static void file_partition(struct rg__offsets_fetch *fetch, struct rg__bytes topic, const struct found *found)
{
	struct rg__offsets_fetch_entry *entry =
		rg__partition_find(fetch->entries, fetch->count, sizeof(*fetch->entries), topic, found->number);
	const char *copy = NULL;

	if (!entry)
		return;
	entry->err = found->err;
	entry->offset = found->offset >= 0 ? found->offset : RG__NO_OFFSET;
	entry->leader_epoch = found->leader_epoch;
	entry->metadata = RG__NULL_BYTES;
	if (!fetch->wants_metadata || !found->metadata.len)
		return;
	copy = rg__arena_copy(&fetch->arena, (const char *)found->metadata.data, found->metadata.len);
	if (copy)
		entry->metadata = (struct rg__bytes){(const uint8_t *)copy, found->metadata.len};
	else
		entry->err = RG_ERR_MEMORY;
}

static rg_err file_topics(struct rg__offsets_fetch *fetch, const struct rg__offset_fetch_response *body)
{
	const struct rg__offset_fetch_response_topic *topics = body->topics.items;

	for (int32_t t = 0; t < body->topics.count; t++) {
		const struct rg__offset_fetch_response_topic_partition *parts = topics[t].partitions.items;

		for (int32_t p = 0; p < topics[t].partitions.count; p++)
			file_partition(fetch, topics[t].name,
			               &(struct found){parts[p].partition_index, parts[p].committed_offset,
			                               parts[p].committed_leader_epoch, parts[p].metadata, parts[p].error_code});
	}
	return body->error_code;
}

static rg_err file_groups(struct rg__offsets_fetch *fetch, const struct rg__offset_fetch_response *body)
{
	const struct rg__offset_fetch_response_group *group = body->groups.items;
	const struct rg__offset_fetch_response_group_topic *topics;

	if (body->groups.count != 1)
		return RG_ERR_PROTOCOL;
	topics = group->topics.items;
	for (int32_t t = 0; t < group->topics.count; t++) {
		const struct rg__offset_fetch_response_group_topic_partition *parts = topics[t].partitions.items;

		for (int32_t p = 0; p < topics[t].partitions.count; p++)
			file_partition(fetch, topics[t].name,
			               &(struct found){parts[p].partition_index, parts[p].committed_offset,
			                               parts[p].committed_leader_epoch, parts[p].metadata, parts[p].error_code});
	}
	return group->error_code;
}

static void answered(void *user, const struct rg__response *response)
{
	struct rg__offsets_fetch *fetch = user;
	rg_consumer *consumer = fetch->consumer;
	rg_err err = response->error.code, worst;

	fetch->request = 0;
	if (err) {
		fetch->error = response->error;
	} else {
		for (size_t i = 0; i < fetch->count; i++)
			fetch->entries[i].err = RG_ERR_PROTOCOL; /* until it is answered */
		err = response->version < GROUPS_FIRST ? file_topics(fetch, response->body) : file_groups(fetch, response->body);
		if (err)
			rg__fail(&fetch->error, err, "OffsetFetch answered by %s: %s", response->broker, rg_err_name(err));
	}
	worst = err;
	for (size_t i = 0; i < fetch->count && !worst; i++)
		worst = fetch->entries[i].err;
	rg__member_offsets_answered(consumer->member, false, worst, fetch->epoch);
	finish(fetch);
	rg__wake(consumer);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static void send_it(rg_consumer *consumer, void *arg)
{
	struct rg__offsets_fetch *fetch = arg;
	struct rg__call call = {
		.api_key = RG__API_OFFSET_FETCH, .prepare = prepare, .timeout_ms = -1, .done = answered, .user = fetch};

	fetch->epoch = rg__member_epoch(consumer->member);
	if (rg__member_request(consumer->member, &call, &fetch->request)) {
		rg__fail(&fetch->error, RG_ERR_MEMORY, "OffsetFetch could not be queued");
		finish(fetch);
	}
}

void rg__offsets_fetch_send(struct rg__offsets_fetch *fetch)
{
	rg__on_loop(fetch->consumer, send_it, fetch);
}

static void cancel(rg_consumer *consumer, void *arg)
{
	struct rg__offsets_fetch *fetch = arg;

	if (fetch->request)
		rg__member_cancel(consumer->member, fetch->request);
	fetch->request = 0;
}

void rg__offsets_fetch_free(struct rg__offsets_fetch *fetch)
{
	if (!fetch)
		return;
	rg__on_loop(fetch->consumer, cancel, fetch);
	rg__arena_clear(&fetch->arena);
	rg__free(fetch->entries);
	rg__free(fetch);
}

bool rg__offsets_fetch_finished(struct rg__offsets_fetch *fetch)
{
	struct rg__thread *thread = &fetch->consumer->thread;
	bool finished;

	pthread_mutex_lock(&thread->lock);
	finished = fetch->finished;
	pthread_mutex_unlock(&thread->lock);
	return finished;
}
