/* SPDX-License-Identifier: Apache-2.0 */
#include "crew.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

rg_testkit *kit;

enum { CREW_MAX = 16 };
static struct actor *crew[CREW_MAX];

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- What they see ------------------------------------------------------------------------------------------------ */

static void add(char *text, const char *separator, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, SEEN_MAX - len, "%s%s", len ? separator : "", more);
}

static void nap(int ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

	if (ms)
		nanosleep(&time, NULL);
}

/* "assigned t:0,1 u:0" */
static void add_list(struct actor *actor, const char *what, const rd_kafka_topic_partition_list_t *list)
{
	char text[1024] = "";
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", what);

	for (int i = 0; i < list->cnt && len < sizeof(text) - 64; i++) {
		bool same = i && !strcmp(list->elems[i].topic, list->elems[i - 1].topic);

		if (same)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ",%d", list->elems[i].partition);
		else
			len += (size_t)snprintf(text + len, sizeof(text) - len, " %s:%d", list->elems[i].topic,
			                        list->elems[i].partition);
	}
	add(actor->seen, ", ", text);
}

static void change_owned(struct actor *actor, const rd_kafka_topic_partition_list_t *list, bool owned)
{
	actor->owned += owned ? list->cnt : -list->cnt;
	for (int i = 0; i < list->cnt; i++)
		if (!strcmp(list->elems[i].topic, "t")) {
			actor->violations += actor->owns[list->elems[i].partition] == owned;
			actor->owns[list->elems[i].partition] = owned;
		}
}

static void on_join_prepare(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	struct actor *actor = user;

	(void)consumer;
	(void)generation;
	add(actor->seen, ", ", "prepare");
	nap(actor->callback_ms);
}

static void on_join_complete(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	struct actor *actor = user;

	(void)consumer;
	actor->violations += generation->id < 0;
	actor->nameless += !generation->member_id[0] || !generation->protocol[0];
	add(actor->seen, ", ", "complete");
	nap(actor->callback_ms);
}

static void on_revoked(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user)
{
	struct actor *actor = user;

	(void)consumer;
	add_list(actor, "revoked", partitions);
	if (actor->in_revoked)
		actor->in_revoked(actor, partitions);
	change_owned(actor, partitions, false);
	nap(actor->callback_ms);
}

static void on_lost(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause,
                    void *user)
{
	struct actor *actor = user;
	char what[64];

	(void)consumer;
	snprintf(what, sizeof(what), "lost(%s)", rg_cause_name(cause));
	add_list(actor, what, partitions);
	if (actor->in_lost)
		actor->in_lost(actor, partitions);
	change_owned(actor, partitions, false);
	nap(actor->callback_ms);
}

static void on_assigned(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	struct actor *actor = user;

	(void)consumer;
	add_list(actor, "assigned", partitions);
	change_owned(actor, partitions, true);
	if (actor->in_assigned)
		actor->in_assigned(actor, partitions);
	nap(actor->callback_ms);
}

rg_listener crew_listener = {sizeof(rg_listener), on_join_prepare, on_revoked, on_lost, on_join_complete, on_assigned};

static pthread_mutex_t warning_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_warning(struct actor *actor, const char *facility, const char *line)
{
	char text[512];
	int length = snprintf(text, sizeof(text), "%s: %s\n", facility, line);
	size_t kept = strlen(actor->warned);

	if (length >= (int)sizeof(text))
		text[sizeof(text) - 2] = '\n';
	if (kept + strlen(text) >= sizeof(actor->warned)) {
		const char *later = strchr(actor->warned + sizeof(actor->warned) / 2, '\n') + 1;

		memmove(actor->warned, later, strlen(later) + 1);
		kept = strlen(actor->warned);
	}
	memcpy(actor->warned + kept, text, strlen(text) + 1);
}

static void on_log(void *user, int level, const char *facility, const char *line)
{
	struct actor *actor = user;

	if (getenv("CREW_LOG"))
		fprintf(stderr, "%s %d %s: %s\n", actor->name, level, facility, line);
	if (level > 4)
		return;
	pthread_mutex_lock(&warning_lock);
	keep_warning(actor, facility, line);
	pthread_mutex_unlock(&warning_lock);
	atomic_fetch_add(&actor->warnings, 1);
	if (!strstr(line, "[thrd:"))
		atomic_fetch_add(&actor->own_warnings, 1);
}

static void on_event(void *user, const char *json)
{
	struct actor *actor = user;

	if (getenv("CREW_LOG"))
		fprintf(stderr, "%s %s\n", actor->name, json);
	if (strstr(json, "\"heartbeat_received\"") && !strstr(json, "\"error\""))
		atomic_fetch_add(&actor->beats, 1);
	if (strstr(json, "\"heartbeat_received\"") && strstr(json, "REBALANCE_IN_PROGRESS"))
		atomic_fetch_add(&actor->calls, 1);
	if (strstr(json, "\"event\":\"coordinator\""))
		atomic_fetch_add(&actor->coordinators, 1);
}

bool warned(const struct actor *actor, const char *text)
{
	bool found;

	pthread_mutex_lock(&warning_lock);
	found = strstr(actor->warned, text) != NULL;
	pthread_mutex_unlock(&warning_lock);
	return found;
}

bool warned_exactly(const struct actor *actor, const char *text)
{
	size_t length = strlen(text);
	bool same = false;

	pthread_mutex_lock(&warning_lock);
	for (const char *line = actor->warned; *line && !same; line = strchr(line, '\n') + 1)
		same = !strncmp(line, text, length) && line[length] == '\n';
	pthread_mutex_unlock(&warning_lock);
	return same;
}

bool seen(const struct actor *actor, const char *text)
{
	return strstr(actor->seen, text) != NULL;
}

int count_of(const struct actor *actor, const char *word)
{
	int count = 0;

	for (const char *at = actor->seen; (at = strstr(at, word)); at++)
		count++;
	return count;
}

bool alternates(const struct actor *actor)
{
	const char *at = actor->seen;
	bool preparing = false;

	for (;;) {
		const char *prepare = strstr(at, "prepare"), *complete = strstr(at, "complete");

		if (!prepare && !complete)
			return true;
		if (prepare && (!complete || prepare < complete)) {
			if (preparing)
				return false;
			preparing = true;
			at = prepare + 1;
		} else {
			if (!preparing)
				return false;
			preparing = false;
			at = complete + 1;
		}
	}
}

/* --- Their lives -------------------------------------------------------------------------------------------------- */

void crew_cluster(const char *topics, int brokers)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = topics;
	conf.broker_count = brokers;
	if (getenv("CREW_LOG"))
		conf.events_path = "/dev/stderr";
	OK(rg_testkit_new(&kit, &conf, &error));
}

void crew_end(void)
{
	for (int i = 0; i < CREW_MAX; i++) {
		if (crew[i]) {
			rg_consumer_free(crew[i]->consumer);
			crew[i]->consumer = NULL;
		}
		crew[i] = NULL;
	}
	rg_testkit_free(kit);
	kit = NULL;
}

rg_conf *crew_conf(const char *first, ...)
{
	static const char *const usual[][2] = {
		{"group.id", "g"},
		{"auto.offset.reset", "earliest"},
		{"enable.auto.commit", "false"},
		{"session.timeout.ms", "3000"},
		{"heartbeat.interval.ms", "100"},
		{"retry.backoff.ms", "10"},
		{"retry.backoff.max.ms", "100"},
		{"reconnect.backoff.ms", "10"},
		{"reconnect.backoff.max.ms", "100"},
		{"partition.assignment.strategy", "range"},
	};
	rg_conf *conf = rg_conf_new();
	rg_error error = {0};
	va_list more;

	ck_assert_ptr_nonnull(conf);
	if (kit)
		OK(rg_conf_set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit), &error));
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		OK(rg_conf_set(conf, usual[i][0], usual[i][1], &error));
	va_start(more, first);
	for (const char *name = first; name; name = va_arg(more, const char *))
		OK(rg_conf_set(conf, name, va_arg(more, const char *), &error));
	va_end(more);
	return conf;
}

void crew_open(struct actor *actor, const char *name, rg_conf *conf)
{
	rg_error error = {0};

	memset(actor, 0, sizeof(*actor));
	actor->name = name;
	rg_conf_set_log(conf, on_log, actor);
	rg_conf_set_events(conf, on_event, actor);
	OK(rg_consumer_new(&actor->consumer, conf, &error));
	rg_conf_free(conf);
	for (int i = 0; i < CREW_MAX; i++)
		if (!crew[i] || crew[i] == actor) {
			crew[i] = actor;
			return;
		}
	ck_abort_msg("too many consumers");
}

void crew_subscribe(struct actor *actor, const char *topics)
{
	char text[256], *rest = NULL;
	const char *names[16];
	rg_error error = {0};
	size_t count = 0;

	snprintf(text, sizeof(text), "%s", topics);
	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		names[count++] = name;
	OK(rg_consumer_subscribe(actor->consumer, names, count, &crew_listener, actor, &error));
}

void crew_join(struct actor *actor, const char *name, const char *topics)
{
	crew_open(actor, name, crew_conf(NULL));
	crew_subscribe(actor, topics);
}

void crew_close(struct actor *actor, int how)
{
	rg_error error = {0};

	OK(rg_consumer_close(actor->consumer, how, WITHIN_MS, &error));
	rg_consumer_free(actor->consumer);
	actor->consumer = NULL;
	for (int i = 0; i < CREW_MAX; i++)
		if (crew[i] == actor)
			crew[i] = NULL;
}

static void take_record(struct actor *actor, const rd_kafka_message_t *message)
{
	ck_assert_int_lt(actor->records, RECORDS_MAX);
	actor->record_partitions[actor->records] = message->partition;
	actor->record_offsets[actor->records++] = message->offset;
	if (!strcmp(rd_kafka_topic_name(message->rkt), "t") && !actor->owns[message->partition])
		actor->violations++;
}

void crew_turn(struct actor *const *actors)
{
	for (; *actors; actors++) {
		struct actor *actor = *actors;
		rg_error error;
		rd_kafka_message_t *message = rg_consumer_poll(actor->consumer, 5, &error);

		if (error.code) {
			actor->error = error;
			add(actor->errors, "; ", rg_err_name(error.code));
		}
		if (!message)
			continue;
		if (!message->err)
			take_record(actor, message);
		else
			add(actor->errors, "; ", rd_kafka_err2name(message->err));
		rd_kafka_message_destroy(message);
	}
}

void crew_poll_for(int ms, struct actor *const *actors)
{
	for (int64_t ends = now_ms() + ms; now_ms() < ends;)
		crew_turn(actors);
}

void crew_too_late(const char *condition, struct actor *const *actors)
{
	for (; *actors; actors++)
		fprintf(stderr, "%s saw: %s\n  errors: %s\n  last: %s\n  %d records, warnings: %s\n", (*actors)->name,
		        (*actors)->seen, (*actors)->errors, (*actors)->error.text, (*actors)->records, (*actors)->warned);
	ck_abort_msg("not within %d ms: %s", WITHIN_MS, condition);
}

void produce(const char *topic, int partition, int count)
{
	rg_error error = {0};

	OK(rg_testkit_produce(kit, topic, partition, "record-", 0, count, &error));
}
