/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/finder.h"

#include "base/alloc.h"
#include "base/backoff.h"
#include "codec/api.h"
#include "codec/metadata.h"
#include "consumer/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MISSING_AGAIN_MS = 1000, UNKNOWN_TOPIC_OR_PARTITION = 3 };

/* --- What was found ----------------------------------------------------------------------------------------------- */

static int compare_found(const void *a, const void *b)
{
	return strcmp(((const struct rg__found *)a)->name, ((const struct rg__found *)b)->name);
}

static struct rg__found *find(struct rg__found *found, size_t count, const char *name)
{
	struct rg__found key = {.name = (char *)name};

	return count ? bsearch(&key, found, count, sizeof(key), compare_found) : NULL;
}

static void free_found(struct rg__found *found, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rg__free(found[i].name);
	rg__free(found);
}

static int compare_name(const void *name, const void *found)
{
	return rg__bytes_compare(*(const struct rg__bytes *)name, rg__bytes_of(((const struct rg__found *)found)->name));
}

/* A topic with an error exists as far as it was known before; a new one counts when it is well. */
static bool is_match(rg_consumer *consumer, const struct rg__metadata_response_topic *topic)
{
	const struct rg__finder *finder = &consumer->finder;

	if (topic->is_internal && consumer->conf->settings.exclude_internal_topics)
		return false;
	if (!rg__patterns_match_bytes(finder->patterns, topic->name))
		return false;
	if (topic->error_code && topic->error_code != UNKNOWN_TOPIC_OR_PARTITION)
		return finder->count && bsearch(&topic->name, finder->found, finder->count, sizeof(*finder->found), compare_name);
	return !topic->error_code;
}

static bool add(struct rg__found *found, size_t *count, struct rg__bytes name)
{
	char *copy = rg__strndup((const char *)name.data, name.len);

	if (!copy)
		return false;
	found[(*count)++] = (struct rg__found){.name = copy};
	return true;
}

static size_t sort(struct rg__found *found, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(found, count, sizeof(*found), compare_found);
	for (size_t i = 0; i < count; i++) {
		if (kept && !strcmp(found[kept - 1].name, found[i].name))
			rg__free(found[i].name); /* a hostile answer */
		else
			found[kept++] = found[i];
	}
	return kept;
}

/* Those that are missing for the first time stay: an answer may come from a broker that knows less than the others.
 * False: out of memory. */
static bool collect(rg_consumer *consumer, const struct rg__metadata_response *body, struct rg__found **ret_found,
                    size_t *ret_count, bool *ret_missing)
{
	const struct rg__finder *finder = &consumer->finder;
	const struct rg__metadata_response_topic *topics = body->topics.items;
	size_t most = (size_t)(body->topics.count > 0 ? body->topics.count : 0) + finder->count, count = 0, seen;
	struct rg__found *found = rg__calloc(most, sizeof(*found));
	bool fine = found != NULL;

	for (int32_t i = 0; fine && i < body->topics.count; i++)
		fine = !is_match(consumer, &topics[i]) || add(found, &count, topics[i].name);
	seen = count = fine ? sort(found, count) : count;
	for (size_t i = 0; fine && i < finder->count; i++) {
		const struct rg__found *before = &finder->found[i];

		if (before->missing || find(found, seen, before->name))
			continue;
		fine = add(found, &count, rg__bytes_of(before->name));
		if (fine)
			found[count - 1].missing = true;
	}
	if (!fine) {
		free_found(found, count);
		return false;
	}
	*ret_missing = count > seen;
	*ret_count = sort(found, count);
	*ret_found = found;
	return true;
}

static bool same(const struct rg__finder *finder, const struct rg__found *found, size_t count)
{
	if (finder->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(finder->found[i].name, found[i].name) != 0)
			return false;
	return true;
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

static void in_ms(rg_consumer *consumer, int64_t ms)
{
	rg__timer_set(consumer->finder.timer, rg__now_us(rg__member_io(consumer->member)) + ms * 1000);
}

static void look(void *user);

static void publish(rg_consumer *consumer, struct rg__found *found, size_t count)
{
	struct rg__finder *finder = &consumer->finder;
	bool changed = !same(finder, found, count);

	free_found(finder->found, finder->count);
	finder->found = found;
	finder->count = count;
	pthread_mutex_lock(&consumer->thread.lock);
	finder->version += changed || !finder->version;
	finder->fresh = true;
	pthread_mutex_unlock(&consumer->thread.lock);
	rg__wake(consumer);
}

static void answered(void *user, const struct rg__response *response)
{
	rg_consumer *consumer = user;
	const struct rg__settings *settings = &consumer->conf->settings;
	struct rg__finder *finder = &consumer->finder;
	struct rg__found *found;
	size_t count;
	int64_t next_ms = settings->metadata_max_age_ms;
	bool missing;

	finder->request = 0;
	if (finder->again) {
		look(consumer); /* this answer may be older than what made somebody ask */
		return;
	}
	if (response->error.code || !collect(consumer, response->body, &found, &count, &missing)) {
		in_ms(consumer, rg__backoff(settings->retry_backoff_ms, settings->retry_backoff_max_ms, finder->failures++,
		                            &consumer->committer.random));
		return;
	}
	finder->failures = 0;
	publish(consumer, found, count);
	in_ms(consumer, missing && next_ms > MISSING_AGAIN_MS ? MISSING_AGAIN_MS : next_ms);
}

static void look(void *user)
{
	rg_consumer *consumer = user;
	struct rg__finder *finder = &consumer->finder;
	struct rg__call call = {.api_key = RG__API_METADATA, .timeout_ms = -1, .done = answered, .user = consumer};
	struct rg__metadata_request *request;

	if (!finder->patterns || finder->request)
		return;
	finder->again = false;
	rg__arena_clear(&finder->arena);
	if ((request = rg__arena_calloc(&finder->arena, 1, sizeof(*request)))) {
		rg__fields_init(&rg__metadata_request_fields, request);
		request->topics = (struct rg__array){NULL, -1}; /* all there are */
		request->allow_auto_topic_creation = false;
	}
	call.body = request;
	if (!request || rg__cluster_request(rg__member_cluster(consumer->member), &call, &finder->request))
		in_ms(consumer, consumer->conf->settings.retry_backoff_max_ms);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

void rg__finder_set(rg_consumer *consumer, void *patterns)
{
	struct rg__finder *finder = &consumer->finder;

	if (finder->request)
		rg__cluster_cancel(rg__member_cluster(consumer->member), finder->request);
	finder->request = 0;
	rg__timer_clear(finder->timer);
	free_found(finder->found, finder->count);
	finder->found = NULL;
	finder->count = 0;
	finder->failures = 0;
	finder->patterns = patterns;
	pthread_mutex_lock(&consumer->thread.lock);
	finder->version = 0;
	finder->fresh = false;
	pthread_mutex_unlock(&consumer->thread.lock);
	look(consumer);
}

void rg__finder_refresh(rg_consumer *consumer, void *unused)
{
	struct rg__finder *finder = &consumer->finder;

	(void)unused;
	pthread_mutex_lock(&consumer->thread.lock);
	finder->fresh = false;
	pthread_mutex_unlock(&consumer->thread.lock);
	finder->again = finder->request != 0;
	look(consumer);
}

bool rg__finder_is_fresh(rg_consumer *consumer)
{
	bool fresh;

	pthread_mutex_lock(&consumer->thread.lock);
	fresh = consumer->finder.fresh;
	pthread_mutex_unlock(&consumer->thread.lock);
	return fresh;
}

unsigned rg__finder_version(rg_consumer *consumer)
{
	unsigned version;

	pthread_mutex_lock(&consumer->thread.lock);
	version = consumer->finder.version;
	pthread_mutex_unlock(&consumer->thread.lock);
	return version;
}

void rg__finder_take(rg_consumer *consumer, void *arg)
{
	struct rg__finder *finder = &consumer->finder;
	struct rg__found_names *names = arg;

	names->items = rg__arena_calloc(names->arena, finder->count, sizeof(*names->items));
	names->count = finder->count;
	for (size_t i = 0; names->items && i < finder->count; i++)
		if (!(names->items[i] = rg__arena_copy(names->arena, finder->found[i].name, strlen(finder->found[i].name))))
			names->items = NULL;
	names->version = rg__finder_version(consumer);
}

bool rg__finder_init(rg_consumer *consumer)
{
	consumer->finder.timer = rg__timer_new(rg__member_io(consumer->member), look, consumer);
	return consumer->finder.timer != NULL;
}

void rg__finder_end(rg_consumer *consumer)
{
	if (!consumer->finder.timer)
		return;
	rg__finder_set(consumer, NULL);
	rg__arena_clear(&consumer->finder.arena);
	rg__timer_free(consumer->finder.timer);
	consumer->finder.timer = NULL;
}
