/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/commit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "consumer/internal.h"
#include "group/reactions.h"

#include <string.h>

/* A broker may know less than the others for a moment. */
enum { GONE_MS = 1000 };

/* --- The application's side --------------------------------------------------------------------------------------- */

struct rg__commit *rg__commit_new(size_t count, int32_t generation, const char *member_id)
{
	struct rg__commit *commit = rg__calloc(1, sizeof(*commit));

	if (!commit)
		return NULL;
	commit->entries = rg__calloc(count, sizeof(*commit->entries));
	commit->member_id = rg__strdup(member_id);
	commit->count = count;
	commit->generation = generation;
	if (!commit->entries || !commit->member_id) {
		rg__commit_free(commit);
		return NULL;
	}
	return commit;
}

void rg__commit_free(struct rg__commit *commit)
{
	if (!commit)
		return;
	rg__arena_clear(&commit->arena);
	rg__free(commit->entries);
	rg__free(commit->member_id);
	rg__free(commit);
}

static void go_on(rg_consumer *consumer);

static void enqueue(rg_consumer *consumer, void *arg)
{
	struct rg__committer *committer = &consumer->committer;
	struct rg__commit *commit = arg;

	commit->next = NULL;
	if (committer->first)
		committer->last->next = commit;
	else
		committer->first = commit;
	committer->last = commit;
	go_on(consumer);
}

void rg__commit_send(rg_consumer *consumer, struct rg__commit *commit, int64_t timeout_ms)
{
	commit->ends_at = rg__mono_us() + timeout_ms * 1000;
	rg__on_loop(consumer, enqueue, commit);
}

bool rg__commit_finished(rg_consumer *consumer, struct rg__commit *commit)
{
	bool finished;

	pthread_mutex_lock(&consumer->thread.lock);
	finished = commit->finished;
	pthread_mutex_unlock(&consumer->thread.lock);
	return finished;
}

void rg__commit_wait(rg_consumer *consumer, struct rg__commit *commit)
{
	struct rg__thread *thread = &consumer->thread;
	struct timespec until = {.tv_sec = (time_t)(commit->ends_at / 1000000),
	                         .tv_nsec = (long)(commit->ends_at % 1000000) * 1000};
	int err = 0;

	pthread_mutex_lock(&thread->lock);
	while (!commit->finished && !err) {
		/* Before each wait: whoever called while the commit was handed over has told a lock that nobody waited for. */
		commit->woken = commit->wakeable && rg__woken_up(consumer);
		if (commit->woken)
			break;
		err = pthread_cond_timedwait(&thread->told, &thread->lock, &until);
	}
	pthread_mutex_unlock(&thread->lock);
	if (err || commit->woken)
		rg__commit_cancel(consumer, commit);
}

/* --- The loop's side ---------------------------------------------------------------------------------------------- */

static void finish(rg_consumer *consumer, struct rg__commit *commit)
{
	struct rg__committer *committer = &consumer->committer;

	committer->first = commit->next;
	committer->failures = 0;
	committer->pausing = false;
	rg__timer_clear(committer->timer);
	rg__timer_clear(committer->deadline);
	pthread_mutex_lock(&consumer->thread.lock);
	commit->finished = true; /* from here on it is the application's */
	pthread_cond_broadcast(&consumer->thread.told);
	pthread_mutex_unlock(&consumer->thread.lock);
	rg__wake(consumer);
	go_on(consumer);
}

static void finish_with(rg_consumer *consumer, struct rg__commit *commit, const rg_error *error)
{
	for (size_t i = 0; i < commit->count; i++)
		if (!commit->entries[i].answered && !commit->entries[i].err)
			commit->entries[i].err = error->code;
	commit->error = *error;
	finish(consumer, commit);
}

static void trace(rg_consumer *consumer, const char *event, const struct rg__commit *commit, rg_err err)
{
	struct rg__event_sink *sink = rg__member_events(consumer->member);
	struct rg__event_line line = {0};
	const char *topic = NULL;
	bool any = false;

	if (!rg__event_wanted(sink))
		return;
	rg__event_begin(&line, rg__event_now_us(sink), "client", commit->member_id, commit->generation, event);
	rg__event_partitions_begin(&line, "partitions");
	for (size_t i = 0; i < commit->count; i++) {
		const struct rg__partition *at = &commit->entries[i].at;

		rg__event_partition(&line, at->topic, at->number, !any, !topic || strcmp(topic, at->topic) != 0);
		topic = at->topic;
		any = true;
	}
	rg__event_partitions_end(&line, any);
	if (err)
		rg__event_str(&line, "error", rg_err_name(err));
	rg__event_emit(sink, &line);
}

/* The partitions that were not answered yet, topic by topic. Entries are in order. NULL: out of memory. */
static const struct rg__offset_commit_request *build(rg_consumer *consumer, struct rg__commit *commit)
{
	struct rg__offset_commit_request *request;
	struct rg__offset_commit_request_topic *topics;
	struct rg__offset_commit_request_topic_partition *partitions;
	const char *topic = NULL;
	size_t used = 0;

	rg__arena_clear(&commit->arena);
	request = rg__arena_calloc(&commit->arena, 1, sizeof(*request));
	topics = rg__arena_calloc(&commit->arena, commit->count, sizeof(*topics));
	partitions = rg__arena_calloc(&commit->arena, commit->count, sizeof(*partitions));
	if (!request || !topics || !partitions)
		return NULL;
	rg__fields_init(&rg__offset_commit_request_fields, request);
	request->group_id = rg__bytes_of(consumer->conf->settings.group_id);
	request->generation_id_or_member_epoch = commit->generation;
	request->member_id = rg__bytes_of(commit->member_id);
	request->group_instance_id = rg__bytes_of(consumer->conf->settings.group_instance_id);
	request->topics.items = topics;
	for (size_t i = 0; i < commit->count; i++) {
		const struct rg__commit_entry *entry = &commit->entries[i];
		struct rg__offset_commit_request_topic_partition *partition = &partitions[used];

		if (entry->answered)
			continue;
		rg__fields_init(&rg__offset_commit_request_topic_partition_fields, partition);
		partition->partition_index = entry->at.number;
		partition->committed_offset = entry->offset;
		partition->committed_leader_epoch = entry->leader_epoch; /* KIP-320 */
		partition->committed_metadata = (struct rg__bytes){entry->metadata ? entry->metadata : "", entry->metadata_len};
		if (!topic || strcmp(topic, entry->at.topic) != 0) {
			struct rg__offset_commit_request_topic *next = &topics[request->topics.count++];

			rg__fields_init(&rg__offset_commit_request_topic_fields, next);
			topic = entry->at.topic;
			next->name = rg__bytes_of(topic);
			next->partitions = (struct rg__array){partition, 0};
		}
		topics[request->topics.count - 1].partitions.count++;
		used++;
	}
	return request;
}

/* Which of two errors says more: one that concerns the membership or the coordinator before one of a partition. */
static rg_err weightier(rg_err a, rg_err b)
{
	const struct rg__reaction *reaction = rg__react(RG__REQUEST_OFFSET_COMMIT, b);

	if (!a)
		return b;
	return reaction->verb == RG__REJOIN || reaction->verb == RG__FAIL || reaction->drop_coordinator ? b : a;
}

/* Files the answer with the entries. What is left unanswered is to be sent again. Returns what it means as a whole. */
static rg_err file_answer(struct rg__commit *commit, const struct rg__offset_commit_response *body)
{
	const struct rg__offset_commit_response_topic *topics = body->topics.items;
	rg_err worst = RG_OK;

	for (int32_t t = 0; t < body->topics.count; t++) {
		const struct rg__offset_commit_response_topic_partition *partitions = topics[t].partitions.items;

		for (int32_t p = 0; p < topics[t].partitions.count; p++) {
			struct rg__commit_entry *entry =
				rg__partition_find(commit->entries, commit->count, sizeof(*commit->entries), topics[t].name,
						   partitions[p].partition_index);

			if (!entry || entry->answered)
				continue;
			entry->err = partitions[p].error_code;
			entry->answered = rg__react(RG__REQUEST_OFFSET_COMMIT, entry->err)->verb != RG__RETRY;
			worst = weightier(worst, entry->err);
		}
	}
	return worst;
}

static const struct rg__commit_entry *first_open(const struct rg__commit *commit)
{
	for (size_t i = 0; i < commit->count; i++)
		if (!commit->entries[i].answered)
			return &commit->entries[i];
	return NULL;
}

/* broker: a commit that was read behind a JoinGroup is of the generation before (22). As with one that is not sent for that
 * reason, nobody was thrown out. */
static bool came_after_join(rg_consumer *consumer, const struct rg__commit *commit)
{
	int32_t generation = rg__member_generation(consumer->member);

	return generation >= 0 && generation != commit->generation &&
	       rg__member_epoch(consumer->member) == consumer->committer.epoch + 1;
}

/* broker: 3 says that the topic does not exist, which mostly passes, but not when it was deleted. */
static bool is_of_gone_topics(struct rg__commit *commit)
{
	int64_t now_us = rg__mono_us();

	for (size_t i = 0; i < commit->count; i++)
		if (!commit->entries[i].answered && commit->entries[i].err != 3) {
			commit->gone_since = 0;
			return false;
		}
	if (!commit->gone_since)
		commit->gone_since = now_us;
	return commit->gives_way && now_us - commit->gone_since >= GONE_MS * INT64_C(1000);
}

static void conclude(rg_consumer *consumer, struct rg__commit *commit)
{
	bool late = came_after_join(consumer, commit);

	for (size_t i = 0; i < commit->count; i++) {
		struct rg__commit_entry *entry = &commit->entries[i];

		if (entry->err == 22 && late)
			entry->err = 27;
		if (entry->err && (!commit->error.code || weightier(commit->error.code, entry->err) == entry->err))
			rg__fail(&commit->error, entry->err, "commit of %s [%d]: %s", entry->at.topic, (int)entry->at.number,
			         rg_err_name(entry->err));
	}
	finish(consumer, commit);
}

/* What stood in the way, and whose answer is missing. */
static void say_late(rg_consumer *consumer, const struct rg__commit *commit, rg_error *ret_late)
{
	char coordinator[320];

	rg__member_coordinator(consumer->member, coordinator, sizeof(coordinator));
	if (commit->last.code)
		rg__fail(ret_late, RG_ERR_TIMED_OUT, "commit: no success in time, at last %s", commit->last.text);
	else if (commit != consumer->committer.first)
		rg__fail(ret_late, RG_ERR_TIMED_OUT, "commit: no answer in time to those before it");
	else if (coordinator[0])
		rg__fail(ret_late, RG_ERR_TIMED_OUT, "commit: no answer from %s in time", coordinator);
	else
		rg__fail(ret_late, RG_ERR_TIMED_OUT, "commit: no coordinator was found in time");
}

static void again_later(rg_consumer *consumer, const rg_error *error)
{
	struct rg__committer *committer = &consumer->committer;
	const struct rg__settings *settings = &consumer->conf->settings;
	int64_t now_us = rg__mono_us();
	int64_t pause_us = rg__backoff(settings->retry_backoff_ms * INT64_C(1000),
	                               settings->retry_backoff_max_ms * INT64_C(1000),
	                               committer->failures++, &committer->random);

	committer->first->last = *error;
	if (now_us + pause_us < committer->first->ends_at) {
		committer->pausing = true;
		rg__timer_set(committer->timer, rg__now_us(rg__member_io(consumer->member)) + pause_us);
		return;
	}
	rg_error late;

	say_late(consumer, committer->first, &late);
	finish_with(consumer, committer->first, &late);
}

static void answered(void *user, const struct rg__response *response)
{
	rg_consumer *consumer = user;
	struct rg__committer *committer = &consumer->committer;
	struct rg__commit *commit = committer->first;
	rg_err err = response->error.code;

	committer->request = 0;
	if (committer->orphaned) {
		committer->orphaned = false;
		go_on(consumer);
		return;
	}
	rg__member_count_commit(consumer->member, committer->sent_us);
	if (!err)
		err = file_answer(commit, response->body);
	trace(consumer, "commit_received", commit, err);
	rg__member_offsets_answered(consumer->member, true, err, committer->epoch);
	if (response->error.code) {
		if (rg__react(RG__REQUEST_OFFSET_COMMIT, err)->verb == RG__RETRY)
			again_later(consumer, &response->error);
		else
			finish_with(consumer, commit, &response->error);
	} else if (!first_open(commit) || is_of_gone_topics(commit)) {
		conclude(consumer, commit);
	} else {
		rg_error error;

		/* An entry that the broker left out has no error: it will be asked about again. */
		rg__fail(&error, err ? err : RG_ERR_PROTOCOL, "%s from %s", err ? rg_err_name(err) : "an incomplete answer",
		         response->broker);
		again_later(consumer, &error);
	}
}

/* A commit belongs to the generation in which its partitions were owned. Sent in a later one it would be accepted, and
 * could overwrite what their new owner committed. */
static bool still_valid(rg_consumer *consumer, struct rg__commit *commit)
{
	int32_t generation = rg__member_generation(consumer->member);
	rg_error error;

	if (generation == commit->generation && !strcmp(rg__member_member_id(consumer->member), commit->member_id))
		return true;
	if (generation < 0)
		rg__fail(&error, RG_ERR_LOST, "commit: the group has gone on without this member");
	else
		rg__fail(&error, 27, "commit: REBALANCE_IN_PROGRESS: the group is in generation %d, the partitions were owned in %d",
		         (int)generation, (int)commit->generation);
	finish_with(consumer, commit, &error);
	return false;
}

static const void *prepare(void *user, int16_t version)
{
	struct rg__committer *committer = &((rg_consumer *)user)->committer;

	(void)version;
	if (committer->orphaned)
		return NULL; /* it was sent once, and is not sent again over another connection */
	committer->sent = true;
	return committer->body;
}

static void start(rg_consumer *consumer)
{
	struct rg__committer *committer = &consumer->committer;
	struct rg__commit *commit = committer->first;
	/* Not the commit's own time, which may be short: a request that is late ends the connection, and with it the
	 * heartbeats, although the broker may be merely slow. */
	struct rg__call call = {
		.api_key = RG__API_OFFSET_COMMIT, .prepare = prepare, .timeout_ms = -1, .done = answered, .user = consumer};
	rg_error error = {0};

	if (!still_valid(consumer, commit))
		return;
	committer->body = build(consumer, commit);
	committer->sent = false;
	committer->epoch = rg__member_epoch(consumer->member);
	committer->sent_us = rg__now_us(rg__member_io(consumer->member));
	if (!committer->body)
		rg__fail(&error, RG_ERR_MEMORY, "commit: out of memory");
	else if (rg__member_request(consumer->member, &call, &committer->request))
		rg__fail(&error, RG_ERR_MEMORY, "commit: the request could not be queued");
	if (error.code)
		again_later(consumer, &error);
	else
		trace(consumer, "commit_sent", commit, RG_OK);
}

static int64_t left_us(const struct rg__commit *commit)
{
	int64_t left = commit->ends_at - rg__mono_us();

	return left > 0 ? left : 0;
}

/* As many as end at once, one after the other and not inside each other: there may be thousands (KAFKA-6366). */
static void go_on(rg_consumer *consumer)
{
	struct rg__committer *committer = &consumer->committer;

	if (committer->going_on)
		return;
	committer->going_on = true;
	while (committer->first && !committer->request && !committer->pausing)
		start(consumer);
	committer->going_on = false;
	if (committer->first)
		rg__timer_set(committer->deadline, rg__now_us(rg__member_io(consumer->member)) +
		                                           left_us(committer->first));
}

static void retry(void *user)
{
	rg_consumer *consumer = user;

	consumer->committer.pausing = false;
	go_on(consumer);
}

/* What was sent stays with the connection, and nobody minds its answer: what the group has is then not known, and the
 * next commit of positions sends them again. It waits for that answer, so that it does not overtake, and a broker that
 * is slower than the callers have time is not buried in requests, with the heartbeats behind them. */
static void give_up_first(rg_consumer *consumer, const rg_error *error)
{
	struct rg__committer *committer = &consumer->committer;

	if (committer->request && committer->sent) {
		committer->orphaned = true; /* or has been */
	} else if (committer->request) {
		rg__member_cancel(consumer->member, committer->request);
		committer->request = 0;
	}
	finish_with(consumer, committer->first, error);
}

static void too_late(void *user)
{
	rg_consumer *consumer = user;
	rg_error late;

	if (!consumer->committer.first)
		return;
	say_late(consumer, consumer->committer.first, &late);
	give_up_first(consumer, &late);
}

static void cancel(rg_consumer *consumer, void *arg)
{
	struct rg__committer *committer = &consumer->committer;
	struct rg__commit *commit = arg, *before = NULL, *at;
	rg_error late;

	for (at = committer->first; at && at != commit; at = at->next)
		before = at;
	if (!at)
		return; /* finished meanwhile */
	if (commit->woken)
		rg__fail(&late, RG_ERR_WOKEN, "commit: woken up before it was answered");
	else
		say_late(consumer, commit, &late);
	if (!before) {
		give_up_first(consumer, &late);
		return;
	}
	before->next = commit->next;
	if (committer->last == commit)
		committer->last = before;
	for (size_t i = 0; i < commit->count; i++)
		commit->entries[i].err = late.code;
	commit->error = late;
	commit->finished = true; /* nobody else waits: the application does, for this call */
}

void rg__commit_cancel(rg_consumer *consumer, struct rg__commit *commit)
{
	rg__on_loop(consumer, cancel, commit);
}

bool rg__committer_init(rg_consumer *consumer)
{
	struct rg__committer *committer = &consumer->committer;

	committer->random.state = (uint64_t)rg__mono_us();
	committer->timer = rg__timer_new(rg__member_io(consumer->member), retry, consumer);
	committer->deadline = rg__timer_new(rg__member_io(consumer->member), too_late, consumer);
	return committer->timer && committer->deadline;
}

void rg__committer_end(rg_consumer *consumer)
{
	struct rg__committer *committer = &consumer->committer;

	if (committer->request)
		rg__member_cancel(consumer->member, committer->request);
	committer->request = 0;
	rg__timer_free(committer->timer);
	rg__timer_free(committer->deadline);
	committer->timer = committer->deadline = NULL;
}
