/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/watch.h"

#include "assign/names.h"
#include "base/alloc.h"
#include "base/backoff.h"
#include "codec/api.h"
#include "consumer/hint.h"
#include "consumer/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISSING_FIRST_MS = 1000, NOT_NOW_MS = 1000, REASON_MAX = 200, AWAITED_MAX = 3 };

/* --- What a topic looks like -------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t hash, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * 16777619u; /* FNV-1a */
	return hash;
}

/* The same for the same set of racks for each partition, in whatever order the replicas are. */
static uint32_t racks_of(const rg_consumer *consumer, const struct rg__topic_input *topic)
{
	uint32_t hash = 2166136261u;

	if (!consumer->conf->settings.client_rack || !topic->racks)
		return 0;
	for (int32_t p = 0; p < topic->partition_count; p++) {
		uint32_t set = 0;

		for (int32_t r = 0; r < topic->racks[p].count; r++) {
			struct rg__bytes name = topic->racks[p].names[r];
			bool again = false;

			for (int32_t before = 0; before < r && !again; before++)
				again = rg__bytes_equal(topic->racks[p].names[before], name);
			if (!again)
				set += mix(2166136261u, name.data, name.len);
		}
		hash = mix(hash, &set, sizeof(set));
	}
	return hash;
}

/* In what rg__metadata_topics gave. */
static const struct rg__topic_input *find_input(const struct rg__topic_input *topics, int32_t count, const char *name)
{
	int32_t low = 0, high = count;

	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		int order = rg__bytes_compare(topics[middle].name, rg__bytes_of(name));

		if (!order)
			return &topics[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static int compare_watched(const void *a, const void *b)
{
	return strcmp(((const struct rg__watched *)a)->name, ((const struct rg__watched *)b)->name);
}

static struct rg__watched *find_watched(struct rg__watched *topics, size_t count, const char *name)
{
	struct rg__watched key = {.name = (char *)name};

	return count ? bsearch(&key, topics, count, sizeof(key), compare_watched) : NULL;
}

static void free_list(struct rg__watched *topics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rg__free(topics[i].name);
	rg__free(topics);
}

static int compare_name(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

static bool is_ours(const struct rg__watch_list *list, const char *name)
{
	return list->ours_count && bsearch(name, list->ours, list->ours_count, sizeof(*list->ours), compare_name);
}

/* Names of both, each once, in order. False: out of memory. */
static bool collect(const struct rg__watch_list *list, struct rg__watched **ret_topics, size_t *ret_count)
{
	size_t most = list->count + list->ours_count, count = 0, kept = 0;
	struct rg__watched *topics = rg__calloc(most, sizeof(*topics));

	for (size_t i = 0; topics && i < most; i++) {
		struct rg__bytes name = i < list->count ? list->names[i] : rg__bytes_of(list->ours[i - list->count]);

		topics[count].name = rg__strndup((const char *)name.data, name.len);
		if (!topics[count++].name) {
			free_list(topics, count);
			topics = NULL;
		}
	}
	if (!topics)
		return false;
	if (count)
		qsort(topics, count, sizeof(*topics), compare_watched);
	for (size_t i = 0; i < count; i++) {
		if (kept && !strcmp(topics[kept - 1].name, topics[i].name)) {
			rg__free(topics[i].name);
			continue;
		}
		topics[kept] = topics[i];
		topics[kept].ours = is_ours(list, topics[kept].name);
		topics[kept++].partitions = RG__PARTITIONS_UNKNOWN;
	}
	*ret_topics = topics;
	*ret_count = kept;
	return true;
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static void in_ms(rg_consumer *consumer, int64_t ms)
{
	rg__timer_set(consumer->watch.timer, rg__now_us(rg__member_io(consumer->member)) + ms * 1000);
}

static int64_t interval_ms(rg_consumer *consumer)
{
	struct rg__watch *watch = &consumer->watch;
	int64_t most_ms = consumer->conf->settings.metadata_max_age_ms, ms = most_ms;
	bool missing = watch->inherits;

	for (size_t i = 0; i < watch->count; i++)
		missing |= watch->topics[i].missing && (watch->topics[i].ours || watch->leads);
	if (missing)
		ms = rg__backoff(MISSING_FIRST_MS, most_ms, watch->rounds_missing++, &consumer->committer.random);
	else
		watch->rounds_missing = 0;
	return ms < most_ms ? ms : most_ms;
}

static void tell_missing(rg_consumer *consumer, struct rg__watched *topic)
{
	if (topic->missing && topic->ours && !topic->told)
		rg__log(&consumer->log, RG__LOG_WARNING, "TOPIC", "%s does not exist; its partitions come when it does", topic->name);
	else if (!topic->missing && topic->told)
		rg__log(&consumer->log, RG__LOG_NOTICE, "TOPIC", "%s exists now", topic->name);
	topic->told = topic->missing && topic->ours;
}

static void ask(rg_consumer *consumer, const char *reason)
{
	rg__log(&consumer->log, RG__LOG_INFO, "TOPIC", "%s", reason);
	rg_member_rejoin(consumer->member, reason);
	consumer->watch.changed = true;
}

static void ask_rebalance(rg_consumer *consumer, const struct rg__watched *topic, int32_t partitions)
{
	char reason[REASON_MAX];

	if (topic->partitions == partitions)
		snprintf(reason, sizeof(reason), "topic %s: its replicas moved to other racks", topic->name);
	else
		snprintf(reason, sizeof(reason), "topic %s: %d partitions instead of %d", topic->name, (int)partitions,
		         (int)topic->partitions);
	ask(consumer, reason);
}

/* KIP-814: a restarted leader was not there when its topics may have changed. */
static void compare_inherited(rg_consumer *consumer)
{
	struct rg__watch *watch = &consumer->watch;
	uint32_t now = 0;
	bool missing = false;

	for (size_t i = 0; i < watch->count; i++) {
		const struct rg__watched *topic = &watch->topics[i];

		if (topic->partitions == RG__PARTITIONS_UNKNOWN)
			return;
		if (topic->partitions > 0)
			now = rg__hint_mix_partitions(now, rg__bytes_of(topic->name), topic->partitions);
		missing |= topic->partitions == 0;
	}
	if (now != watch->made_for && missing && !watch->doubts) {
		watch->doubts = true;
		return;
	}
	watch->inherits = false;
	if (now != watch->made_for)
		ask(consumer, "the topics are not those that the plan was made for before this leader was restarted");
}

enum { CERTAIN, UNCERTAIN };

/* A topic-level error other than "does not exist" says nothing about how many partitions there are. The table is for
 * members that subscribe to tens of thousands of topics that do not exist. False: out of memory. */
static bool list_certainty(const struct rg__metadata_response *body, struct rg__arena *arena, struct rg__names *ret_names)
{
	const struct rg__metadata_response_topic *topics = body->topics.items;
	int32_t count = body->topics.count > 0 ? body->topics.count : 0;
	bool fine = rg__names_init(ret_names, arena, count);

	for (int32_t i = 0; fine && i < count; i++) {
		int16_t err = topics[i].error_code;

		fine = rg__names_add(ret_names, topics[i].name, err && err != 3 && err != 17 ? UNCERTAIN : CERTAIN);
	}
	return fine;
}

/* So is one that the answer leaves out. */
static bool is_uncertain(const struct rg__names *answer, const char *name)
{
	return rg__names_find(answer, rg__bytes_of(name)) != CERTAIN;
}

static void compare(rg_consumer *consumer, const struct rg__names *answer, const struct rg__topic_input *topics,
                    int32_t count)
{
	struct rg__watch *watch = &consumer->watch;

	for (size_t i = 0; i < watch->count; i++) {
		struct rg__watched *topic = &watch->topics[i];
		const struct rg__topic_input *now = find_input(topics, count, topic->name);
		int32_t partitions = now ? now->partition_count : 0;
		uint32_t racks = now ? racks_of(consumer, now) : 0;

		if (!now && is_uncertain(answer, topic->name))
			continue;
		/* What a pattern has found the finder watches, and two who notice would ask for two rebalances. */
		if (!now && topic->ours && rg__patterns_match(consumer->finder.patterns, topic->name))
			continue;
		/* Missing once is no news: a broker may know less than the others for a moment. */
		if (!now && !topic->missing && topic->partitions > 0) {
			topic->missing = true;
			continue;
		}
		topic->missing = !now;
		tell_missing(consumer, topic);
		if (topic->partitions == RG__PARTITIONS_UNKNOWN) {
			topic->partitions = partitions;
			topic->racks = racks;
		} else if (watch->leads && !watch->changed && (topic->partitions != partitions || topic->racks != racks)) {
			ask_rebalance(consumer, topic, partitions);
		}
	}
	if (watch->inherits && watch->leads && !watch->changed)
		compare_inherited(consumer);
}

static void answered(void *user, const struct rg__response *response)
{
	rg_consumer *consumer = user;
	const struct rg__settings *settings = &consumer->conf->settings;
	struct rg__watch *watch = &consumer->watch;
	struct rg__topic_input *topics;
	struct rg__arena arena = {0};
	struct rg__names answer;
	int32_t count;

	watch->request = 0;
	if (response->error.code) {
		in_ms(consumer, rg__backoff(settings->retry_backoff_ms, settings->retry_backoff_max_ms, watch->failures++,
		                            &consumer->committer.random));
		return;
	}
	watch->failures = 0;
	if (watch->leads && !rg__member_is_stable(consumer->member)) {
		/* The rebalance under way may be made for what this answer says already. */
		in_ms(consumer, NOT_NOW_MS);
		return;
	}
	if (rg__metadata_topics(response->body, &arena, &topics, &count) &&
	    list_certainty(response->body, &arena, &answer))
		compare(consumer, &answer, topics, count);
	rg__arena_clear(&arena);
	in_ms(consumer, interval_ms(consumer));
}

/* However long somebody takes to give up: a rebalance has to come of it anyway, and waits for him. */
static void give_up_waiting(void *user)
{
	rg_consumer *consumer = user;

	if (!consumer->watch.leads || consumer->watch.awaited_in_vain >= AWAITED_MAX)
		return; /* somebody says so whatever he is given */
	consumer->watch.awaited_in_vain++;
	ask(consumer, "partitions that were to be given up belong to nobody");
}

static void look(void *user)
{
	rg_consumer *consumer = user;
	struct rg__watch *watch = &consumer->watch;
	struct rg__call call = {.api_key = RG__API_METADATA, .timeout_ms = -1, .done = answered, .user = consumer};
	struct rg__bytes *names;

	if (!watch->count || watch->request)
		return;
	rg__arena_clear(&watch->arena);
	names = rg__arena_calloc(&watch->arena, watch->count, sizeof(*names));
	for (size_t i = 0; names && i < watch->count; i++)
		names[i] = rg__bytes_of(watch->topics[i].name);
	if (names)
		call.body = rg__metadata_request(names, watch->count, consumer->conf->settings.allow_auto_create_topics,
		                                 &watch->arena);
	if (!call.body || rg__cluster_request(rg__member_cluster(consumer->member), &call, &watch->request))
		in_ms(consumer, consumer->conf->settings.retry_backoff_max_ms);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static void stop_asking(rg_consumer *consumer)
{
	struct rg__watch *watch = &consumer->watch;

	if (watch->request)
		rg__cluster_cancel(rg__member_cluster(consumer->member), watch->request);
	watch->request = 0;
	rg__timer_clear(watch->timer);
	rg__timer_clear(watch->awaited);
}

/* What is known about each topic: from the plan, or from before. */
static bool fill(rg_consumer *consumer, const struct rg__watch_list *list, struct rg__watched *topics, size_t count)
{
	struct rg__watch *watch = &consumer->watch;
	bool all_known = true;

	for (size_t i = 0; i < count; i++) {
		const struct rg__watched *before = find_watched(watch->topics, watch->count, topics[i].name);
		const struct rg__topic_input *known = find_input(list->known, list->known_count, topics[i].name);

		if (before) {
			topics[i].missing = before->missing;
			topics[i].told = before->told;
		}
		if (list->known) {
			topics[i].partitions = known ? known->partition_count : 0;
			topics[i].racks = known ? racks_of(consumer, known) : 0;
			topics[i].missing = !known;
			tell_missing(consumer, &topics[i]);
		} else if (!before || list->leads) {
			all_known = false;
		}
	}
	return all_known;
}

void rg__watch_set(rg_consumer *consumer, void *arg)
{
	const struct rg__watch_list *list = arg;
	struct rg__watch *watch = &consumer->watch;
	struct rg__watched *topics;
	size_t count;
	bool all_known;

	if (!collect(list, &topics, &count)) {
		in_ms(consumer, NOT_NOW_MS); /* the old list is better than none */
		return;
	}
	all_known = fill(consumer, list, topics, count);
	stop_asking(consumer);
	free_list(watch->topics, watch->count);
	watch->topics = topics;
	watch->count = count;
	watch->leads = list->leads;
	watch->changed = false;
	watch->inherits = list->inherits;
	watch->doubts = false;
	watch->made_for = list->made_for;
	in_ms(consumer, all_known ? interval_ms(consumer) : 0);
	if (list->awaits)
		rg__timer_set(watch->awaited, rg__now_us(rg__member_io(consumer->member)) +
		                                  consumer->conf->settings.session_timeout_ms * INT64_C(1000));
	else if (list->leads)
		watch->awaited_in_vain = 0;
}

void rg__watch_nothing(rg_consumer *consumer, void *unused)
{
	struct rg__watch *watch = &consumer->watch;

	(void)unused;
	stop_asking(consumer);
	free_list(watch->topics, watch->count);
	watch->topics = NULL;
	watch->count = 0;
	watch->leads = false;
}

bool rg__watch_init(rg_consumer *consumer)
{
	struct rg__watch *watch = &consumer->watch;

	watch->timer = rg__timer_new(rg__member_io(consumer->member), look, consumer);
	watch->awaited = rg__timer_new(rg__member_io(consumer->member), give_up_waiting, consumer);
	if (watch->timer && watch->awaited)
		return true;
	rg__timer_free(watch->timer);
	rg__timer_free(watch->awaited);
	watch->timer = watch->awaited = NULL;
	return false;
}

void rg__watch_end(rg_consumer *consumer)
{
	if (!consumer->watch.timer)
		return;
	rg__watch_nothing(consumer, NULL);
	rg__arena_clear(&consumer->watch.arena);
	rg__timer_free(consumer->watch.timer);
	rg__timer_free(consumer->watch.awaited);
	consumer->watch.timer = consumer->watch.awaited = NULL;
}
