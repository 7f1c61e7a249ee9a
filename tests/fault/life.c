/* SPDX-License-Identifier: Apache-2.0 */
#include "life.h"

#include "base/alloc.h"
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSE_MS = 5000 };

struct life {
	const struct kind *kind;
	int number;
	rg_err may_be_told; /* by poll */
	struct actor a, b;
	int commits, committed; /* asynchronous ones, and how many of them were told */
};

const struct kind kinds[KINDS] = {
	{.name = "eager", .assignor = "range", .auto_commit = "false", .topic = "t"},
	{.name = "cooperative", .assignor = "cooperative-sticky", .auto_commit = "true", .topic = "^t$"},
	{.name = "static", .assignor = "sticky,weighted", .auto_commit = "true", .topic = "t", .is_static = true},
};

const struct kind *kind_named(const char *name)
{
	for (int i = 0; name && i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

void life_begin(void)
{
	rg_error error = {0};

	crew_cluster("t:4,u:2", 2);
	for (int i = 0; i < PARTITIONS; i++)
		OK(rg_testkit_produce(kit, "t", i, "record-", 0, RECORDS, &error));
}

/* The call, and again while there was no memory for it. */
#define AGAIN(call) \
	do { \
		rg_error error; \
		rg_err err_; \
		int tries_ = 3; \
		do { \
			error = (rg_error){0}; \
			err_ = (call); \
			ck_assert_int_eq(error.code, err_); \
			ck_assert((error.text[0] != '\0') == (err_ != RG_OK)); \
		} while (err_ == RG_ERR_MEMORY && --tries_); \
		ck_assert_msg(err_ == RG_OK, #call ": %s", error.text); \
	} while (0)

/* --- The steps ---------------------------------------------------------------------------------------------------- */

static rg_err try_to_make(struct actor *actor, const rg_conf *conf, rg_error *error)
{
	rg_err err = rg_consumer_new(&actor->consumer, conf, error);

	ck_assert((err == RG_OK) == (actor->consumer != NULL));
	return err;
}

static void make(struct life *life, struct actor *actor, const char *name)
{
	char group[32];
	rg_conf *conf;

	long countdown = rg__alloc_fail_after(0);

	sites_pause(true); /* a configuration is a matter of tests/unit/conf.c */
	snprintf(group, sizeof(group), "g%d", life->number);
	conf = crew_conf("group.id", group, "partition.assignment.strategy", life->kind->assignor, "enable.auto.commit",
	                 life->kind->auto_commit, "auto.commit.interval.ms", "50", "fetch.wait.max.ms", "10", NULL);
	rg_conf_set_log(conf, NULL, NULL);
	if (life->kind->is_static)
		ck_assert_int_eq(rg_conf_set(conf, "group.instance.id", name, NULL), RG_OK);
	memset(actor, 0, sizeof(*actor));
	actor->name = name;
	sites_pause(false);
	rg__alloc_fail_after(countdown);
	AGAIN(try_to_make(actor, conf, &error));
	rg_conf_free(conf);
}

static void make_a(struct life *life)
{
	make(life, &life->a, "a");
}

static void make_b(struct life *life)
{
	make(life, &life->b, "b");
}

static void subscribe(struct actor *actor, const char *first, const char *second)
{
	const char *topics[] = {first, second};

	AGAIN(rg_consumer_subscribe(actor->consumer, topics, second ? 2 : 1, &crew_listener, actor, &error));
}

static void subscribe_a(struct life *life)
{
	subscribe(&life->a, life->kind->topic, NULL);
}

static void a_gets_all(struct life *life)
{
	crew_until(life->a.owned == PARTITIONS, &life->a);
}

static void a_reads(struct life *life)
{
	int before = life->a.records;

	for (int i = 0; i < PARTITIONS; i++)
		AGAIN(rg_consumer_seek(life->a.consumer, "t", i, RD_KAFKA_OFFSET_BEGINNING, &error));
	crew_until(life->a.records >= before + PARTITIONS * RECORDS, &life->a);
}

static void a_reads_a_batch(struct life *life)
{
	rd_kafka_message_t *messages[8];
	int64_t ends = now_ms() + WITHIN_MS;
	size_t got = 0;

	AGAIN(rg_consumer_seek(life->a.consumer, "t", 1, 0, &error));
	while (!got) {
		rg_error error;

		ck_assert_int_lt(now_ms(), ends);
		got = rg_consumer_poll_batch(life->a.consumer, messages, 8, 10, &error);
		ck_assert_msg(error.code == RG_OK || error.code == RG_ERR_MEMORY, "%s", error.text);
	}
	for (size_t i = 0; i < got; i++)
		rd_kafka_message_destroy(messages[i]);
}

static void a_commits(struct life *life)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
	rd_kafka_topic_partition_t *at;

	AGAIN(rg_consumer_commit(life->a.consumer, NULL, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_add(list, "t", 0)->offset = 2;
	at = rd_kafka_topic_partition_list_add(list, "t", 3);
	at->offset = 3;
	at->metadata = strdup("why");
	at->metadata_size = 3;
	AGAIN(rg_consumer_commit(life->a.consumer, list, WITHIN_MS, &error));
	ck_assert_int_eq(list->elems[0].err, 0);
	ck_assert_int_eq(list->elems[1].err, 0);
	rd_kafka_topic_partition_list_destroy(list);
}

static void done(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets, void *user)
{
	struct life *life = user;

	(void)consumer;
	(void)offsets;
	ck_assert_msg(error->code == RG_OK || error->code == RG_ERR_MEMORY, "%s", error->text);
	life->committed++;
}

static void a_commits_async(struct life *life)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, "t", 2)->offset = 1;
	AGAIN(rg_consumer_commit_async(life->a.consumer, list, done, life, &error));
	AGAIN(rg_consumer_commit_async(life->a.consumer, NULL, done, life, &error));
	rd_kafka_topic_partition_list_destroy(list);
	life->commits += 2;
	crew_until(life->committed == life->commits, &life->a);
}

static void a_pauses(struct life *life)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, "t", 1);
	AGAIN(rg_consumer_pause(life->a.consumer, list, &error));
	AGAIN(rg_consumer_resume(life->a.consumer, list, &error));
	AGAIN(rg_consumer_pause(life->a.consumer, NULL, &error));
	AGAIN(rg_consumer_resume(life->a.consumer, NULL, &error));
	rd_kafka_topic_partition_list_destroy(list);
}

static void ignore(const char *name, double value, void *user)
{
	(void)name;
	(void)value;
	(void)user;
}

/* NULL: there was no memory, and the next time there is. */
static void take_list(rd_kafka_topic_partition_list_t *(*call)(rg_consumer *consumer), struct life *life, int count)
{
	rd_kafka_topic_partition_list_t *list = call(life->a.consumer);

	for (int i = 0; !list && i < 2; i++)
		list = call(life->a.consumer);
	ck_assert_ptr_nonnull(list);
	ck_assert_int_eq(list->cnt, count);
	rd_kafka_topic_partition_list_destroy(list);
}

static void a_asks(struct life *life)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
	rd_kafka_consumer_group_metadata_t *metadata;
	rg_status status = {.size = sizeof(status)};
	int64_t number;

	rd_kafka_topic_partition_list_add(list, "t", 0);
	rd_kafka_topic_partition_list_add(list, "u", 1);
	AGAIN(rg_consumer_committed(life->a.consumer, list, WITHIN_MS, &error));
	ck_assert_int_ge(list->elems[0].offset, 1);
	rd_kafka_topic_partition_list_destroy(list);
	take_list(rg_consumer_assignment, life, PARTITIONS);
	take_list(rg_consumer_subscription, life, 1);
	AGAIN(rg_consumer_position(life->a.consumer, "t", 0, &number, WITHIN_MS, &error));
	AGAIN(rg_consumer_lag(life->a.consumer, "t", 0, &number, WITHIN_MS, &error));
	AGAIN(rg_consumer_status(life->a.consumer, &status, &error));
	AGAIN(rg_consumer_metrics(life->a.consumer, ignore, NULL, &error));
	metadata = rg_consumer_group_metadata(life->a.consumer);
	for (int i = 0; !metadata && i < 2; i++)
		metadata = rg_consumer_group_metadata(life->a.consumer);
	ck_assert_ptr_nonnull(metadata);
	rd_kafka_consumer_group_metadata_destroy(metadata);
}

static void b_joins(struct life *life)
{
	subscribe(&life->b, life->kind->topic, NULL);
	crew_until(life->a.owned == PARTITIONS / 2 && life->b.owned == PARTITIONS / 2, &life->a, &life->b);
}

static void a_rejoins(struct life *life)
{
	int before = count_of(&life->b, "complete");

	AGAIN(rg_consumer_rejoin(life->a.consumer, "because", &error));
	crew_until(count_of(&life->b, "complete") > before && life->a.owned == PARTITIONS / 2 &&
	                   life->b.owned == PARTITIONS / 2, &life->a, &life->b);
}

/* How leaving may end: the connection may have broken just before, and whoever has no coordinator cannot tell it. */
static void check_left(rg_err err, const rg_error *error)
{
	ck_assert_msg(err == RG_OK || err == RG_ERR_MEMORY ||
			      (err == RG_ERR_TIMED_OUT && strstr(error->text, "the session timeout has to end the membership")),
		      "%s", error->text);
}

/* It closes in time, and where not all could be done, it is closed all the same. */
static void end(struct actor *actor)
{
	int64_t began = now_ms();
	rg_error error = {0};
	rg_err err = rg_consumer_close(actor->consumer, RG_CLOSE_LEAVE, CLOSE_MS, &error);

	check_left(err, &error);
	ck_assert_int_lt(now_ms() - began, CLOSE_MS);
	ck_assert_int_eq(rg_consumer_close(actor->consumer, RG_CLOSE_LEAVE, CLOSE_MS, NULL), RG_OK);
	ck_assert_int_eq(actor->owned, 0);
	rg_consumer_free(actor->consumer);
	actor->consumer = NULL;
}

static void b_closes(struct life *life)
{
	end(&life->b);
	crew_until(life->a.owned == PARTITIONS, &life->a);
}

static void a_changes(struct life *life)
{
	subscribe(&life->a, life->kind->topic, "u");
	crew_until(life->a.owned == PARTITIONS + 2, &life->a);
}

static void a_unsubscribes(struct life *life)
{
	rg_error error = {0};
	rg_err err = rg_consumer_unsubscribe(life->a.consumer, CLOSE_MS, &error);

	check_left(err, &error);
	ck_assert_int_eq(life->a.owned, 0);
	subscribe(&life->a, life->kind->topic, NULL);
	crew_until(life->a.owned == PARTITIONS, &life->a);
}

static void a_closes(struct life *life)
{
	end(&life->a);
}

static const struct {
	const char *name;
	void (*run)(struct life *life);
} steps[] = {
	{"make_a", make_a},
	{"subscribe_a", subscribe_a},
	{"a_gets_all", a_gets_all},
	{"a_reads", a_reads},
	{"a_reads_a_batch", a_reads_a_batch},
	{"a_commits", a_commits},
	{"a_commits_async", a_commits_async},
	{"a_pauses", a_pauses},
	{"a_asks", a_asks},
	{"make_b", make_b},
	{"b_joins", b_joins},
	{"a_rejoins", a_rejoins},
	{"b_closes", b_closes},
	{"a_changes", a_changes},
	{"a_unsubscribes", a_unsubscribes},
	{"a_closes", a_closes},
};
enum { STEPS = sizeof(steps) / sizeof(*steps) };

/* --- Lives -------------------------------------------------------------------------------------------------------- */

static void check_what_was_heard(struct life *life, struct actor *actor)
{
	char *rest = NULL;

	ck_assert(alternates(actor));
	ck_assert_int_eq(actor->violations, 0);
	for (char *name = strtok_r(actor->errors, "; ", &rest); name; name = strtok_r(NULL, "; ", &rest))
		ck_assert_msg(!strcmp(name, rg_err_name(life->may_be_told)), "%s told %s; last: %s", actor->name, name, actor->error.text);
}

int live(const struct kind *kind, int number, int failures)
{
	static struct life life;
	int failed = 0;

	memset(&life, 0, sizeof(life));
	life.kind = kind;
	life.number = number;
	life.may_be_told = failures ? RG_ERR_MEMORY : RG_OK;
	for (int i = 0; i < STEPS; i++) {
		sites_arm(steps[i].name, failures > 0 ? failures : 0);
		steps[i].run(&life);
		failed += sites_disarm();
	}
	ck_assert_int_eq(life.committed, life.commits);
	check_what_was_heard(&life, &life.a);
	check_what_was_heard(&life, &life.b);
	return failed;
}
