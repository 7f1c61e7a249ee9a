/* SPDX-License-Identifier: Apache-2.0 */
/* OffsetCommit and OffsetFetch of a simulated process. */
#include "app_offsets.h"

#include "base/alloc.h"
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "sim.h"

#include <string.h>
#include <utlist.h>

struct offsets_request {
	struct offsets_request *prev, *next;
	struct app *app;
	struct rg__arena arena;
	uint64_t places;
	uint32_t epoch;
	struct rg__offset_commit_request commit;
	struct rg__offset_fetch_request fetch;
};

static const char *const names[TOPICS] = {"t0", "t1", "t2", "t3"};

static struct offsets_request *make(struct app *app, uint64_t places)
{
	struct offsets_request *request = rg__calloc(1, sizeof(*request));

	if (!request) {
		sim_broken(app->sim, "out of memory");
		return NULL;
	}
	request->app = app;
	request->places = places;
	request->epoch = rg__member_epoch(app->member);
	DL_APPEND(app->requests, request);
	return request;
}

static void forget(struct offsets_request *request)
{
	DL_DELETE(request->app->requests, request);
	rg__arena_clear(&request->arena);
	rg__free(request);
}

void app_offsets_free(struct app *app)
{
	while (app->requests)
		forget(app->requests);
}

static int topic_of(struct rg__bytes name)
{
	return name.len == 2 && name.data[1] >= '0' && name.data[1] < '0' + TOPICS ? name.data[1] - '0' : -1;
}

static unsigned part(uint64_t places, int topic)
{
	return (unsigned)(places >> (topic * PARTITIONS_MAX)) & 0xffff;
}

static int32_t count_bits(unsigned bits)
{
	return (int32_t)__builtin_popcount(bits);
}

static int32_t count_topics(uint64_t places)
{
	int32_t count = 0;

	for (int t = 0; t < TOPICS; t++)
		count += part(places, t) != 0;
	return count;
}

/* --- Commit ------------------------------------------------------------------------------------------------------------ */

static void commit_done(void *user, const struct rg__response *response)
{
	struct offsets_request *request = user;
	struct app *app = request->app;
	const struct rg__offset_commit_response *body = response->body;
	uint32_t epoch = request->epoch;
	rg_err err = response->error.code;

	for (int32_t i = 0; body && i < body->topics.count && !err; i++) {
		const struct rg__offset_commit_response_topic *topic =
			&RG__ITEMS(struct rg__offset_commit_response_topic, body->topics)[i];

		for (int32_t p = 0; p < topic->partitions.count && !err; p++)
			err = RG__ITEMS(struct rg__offset_commit_response_topic_partition, topic->partitions)[p].error_code;
	}
	forget(request);
	rg__member_offsets_answered(app->member, true, err, epoch);
}

static bool fill_commit(struct offsets_request *request)
{
	struct app *app = request->app;
	struct rg__offset_commit_request *commit = &request->commit;
	struct rg__offset_commit_request_topic *topic;
	const char *id = rg__member_member_id(app->member);
	char instance[16];

	rg__fields_init(&rg__offset_commit_request_fields, commit);
	snprintf(instance, sizeof(instance), "i%d", app->instance);
	commit->group_id = rg__bytes_of("g");
	commit->generation_id_or_member_epoch = rg__member_generation(app->member);
	commit->member_id = rg__bytes_of(rg__arena_copy(&request->arena, id, strlen(id)));
	if (app->is_static)
		commit->group_instance_id = rg__bytes_of(rg__arena_copy(&request->arena, instance, strlen(instance)));
	if (!rg__array_init(&rg__offset_commit_request_topic_fields, count_topics(request->places), &request->arena, &commit->topics))
		return false;
	topic = commit->topics.items;
	for (int t = 0; t < TOPICS; t++) {
		struct rg__offset_commit_request_topic_partition *to;

		if (!part(request->places, t))
			continue;
		topic->name = rg__bytes_of(names[t]);
		if (!rg__array_init(&rg__offset_commit_request_topic_partition_fields, count_bits(part(request->places, t)),
		                    &request->arena, &topic->partitions))
			return false;
		to = topic->partitions.items;
		for (int p = 0; p < PARTITIONS_MAX; p++)
			if (part(request->places, t) & (1u << p)) {
				to->partition_index = p;
				to->committed_offset = app->position[t * PARTITIONS_MAX + p];
				to++;
			}
		topic++;
	}
	return true;
}

void app_commit(struct app *app, uint64_t places)
{
	struct rg__call call = {.api_key = RG__API_OFFSET_COMMIT, .timeout_ms = -1, .done = commit_done};
	struct offsets_request *request;

	/* Without a generation there is nothing to commit with; and while a JoinGroup is out it would wait behind that. */
	places &= app->positioned;
	if (!places || rg__member_generation(app->member) < 0 || strcmp(rg_member_state(app->member), "Joining") == 0 ||
	    strcmp(rg_member_state(app->member), "Syncing") == 0)
		return;
	/* One at a time: sent again over a new connection, an old one must not come behind a newer one. */
	DL_FOREACH(app->requests, request)
		if (request->commit.topics.count)
			return;
	request = make(app, places);
	if (!request)
		return;
	if (!fill_commit(request)) {
		sim_broken(app->sim, "out of memory");
		return;
	}
	call.body = &request->commit;
	call.user = request;
	if (rg__member_request(app->member, &call, NULL))
		forget(request);
}

/* --- Fetch --------------------------------------------------------------------------------------------------------------- */

static void take(struct app *app, uint64_t wanted, struct rg__bytes name, int32_t partition, int16_t error, int64_t offset)
{
	int topic = topic_of(name);
	uint64_t place;

	if (topic < 0 || partition < 0 || partition >= PARTITIONS_MAX || error)
		return;
	place = app_place(topic, partition);
	if (!(wanted & place & app->owned) || (app->positioned & place))
		return;
	app->positioned |= place;
	app->position[topic * PARTITIONS_MAX + partition] = offset >= 0 ? offset : 0;
}

static rg_err take_topics(struct app *app, uint64_t wanted, const struct rg__offset_fetch_response *body)
{
	for (int32_t i = 0; i < body->topics.count; i++) {
		const struct rg__offset_fetch_response_topic *topic =
			&RG__ITEMS(struct rg__offset_fetch_response_topic, body->topics)[i];

		for (int32_t p = 0; p < topic->partitions.count; p++) {
			const struct rg__offset_fetch_response_topic_partition *at =
				&RG__ITEMS(struct rg__offset_fetch_response_topic_partition, topic->partitions)[p];

			take(app, wanted, topic->name, at->partition_index, at->error_code, at->committed_offset);
		}
	}
	return body->error_code;
}

static rg_err take_group(struct app *app, uint64_t wanted, const struct rg__offset_fetch_response_group *group)
{
	for (int32_t i = 0; i < group->topics.count; i++) {
		const struct rg__offset_fetch_response_group_topic *topic =
			&RG__ITEMS(struct rg__offset_fetch_response_group_topic, group->topics)[i];

		for (int32_t p = 0; p < topic->partitions.count; p++) {
			const struct rg__offset_fetch_response_group_topic_partition *at =
				&RG__ITEMS(struct rg__offset_fetch_response_group_topic_partition, topic->partitions)[p];

			take(app, wanted, topic->name, at->partition_index, at->error_code, at->committed_offset);
		}
	}
	return group->error_code;
}

static void fetch_done(void *user, const struct rg__response *response)
{
	struct offsets_request *request = user;
	struct app *app = request->app;
	const struct rg__offset_fetch_response *body = response->body;
	uint32_t epoch = request->epoch;
	/* What was asked for an ownership that is over says nothing about the next one. */
	uint64_t wanted = epoch == rg__member_epoch(app->member) ? request->places : 0;
	rg_err err = response->error.code;

	if (body && response->version < 8)
		err = take_topics(app, wanted, body);
	else if (body && body->groups.count == 1)
		err = take_group(app, wanted, body->groups.items);
	forget(request);
	rg__member_offsets_answered(app->member, false, err, epoch);
}

static bool list(struct offsets_request *request, int t, struct rg__bytes *ret_name, struct rg__array *ret_indexes)
{
	unsigned bits = part(request->places, t);
	int32_t *numbers = rg__arena_calloc(&request->arena, PARTITIONS_MAX, sizeof(*numbers)), count = 0;

	if (!numbers)
		return false;
	for (int p = 0; p < PARTITIONS_MAX; p++)
		if (bits & (1u << p))
			numbers[count++] = p;
	*ret_name = rg__bytes_of(names[t]);
	*ret_indexes = (struct rg__array){numbers, count};
	return true;
}

/* KIP-709: from version 8 on a list of groups, here of one. */
static const void *fetch_prepare(void *user, int16_t version)
{
	struct offsets_request *request = user;
	struct rg__offset_fetch_request *fetch = &request->fetch;
	struct rg__offset_fetch_request_group *group = NULL;
	struct rg__array *topics = &fetch->topics;
	int32_t count = 0;

	rg__fields_init(&rg__offset_fetch_request_fields, fetch);
	fetch->require_stable = version >= 7;
	if (version >= 8) {
		if (!rg__array_init(&rg__offset_fetch_request_group_fields, 1, &request->arena, &fetch->groups))
			return NULL;
		group = fetch->groups.items;
		group->group_id = rg__bytes_of("g");
		topics = &group->topics;
	} else {
		fetch->group_id = rg__bytes_of("g");
	}
	if (!rg__array_init(version >= 8 ? &rg__offset_fetch_request_group_topic_fields : &rg__offset_fetch_request_topic_fields,
	                    count_topics(request->places), &request->arena, topics))
		return NULL;
	for (int t = 0; t < TOPICS; t++) {
		struct rg__offset_fetch_request_topic *old = version >= 8 ? NULL : topics->items;
		struct rg__offset_fetch_request_group_topic *new = version >= 8 ? topics->items : NULL;

		if (!part(request->places, t))
			continue;
		if (!(new ? list(request, t, &new[count].name, &new[count].partition_indexes)
		          : list(request, t, &old[count].name, &old[count].partition_indexes)))
			return NULL;
		count++;
	}
	return fetch;
}

void app_fetch(struct app *app, uint64_t places)
{
	struct rg__call call = {.api_key = RG__API_OFFSET_FETCH, .timeout_ms = -1, .prepare = fetch_prepare, .done = fetch_done};
	struct offsets_request *request;

	if (!places || !rg__member_is_stable(app->member))
		return;
	request = make(app, places);
	if (!request)
		return;
	call.user = request;
	if (rg__member_request(app->member, &call, NULL))
		forget(request);
}
