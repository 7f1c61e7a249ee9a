/* SPDX-License-Identifier: Apache-2.0 */
/* Very many topics and partitions. What is done with them is counted, not timed: the linker puts counters before the
 * functions that compare, and before some of librdkafka's. */
#include "consumer/internal.h"
#include "consumer/owned.h"
#include "crew.h"
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPICS = 3000, PARTITIONS = 1200, PER_ITEM_MAX = 80, ROUNDS_MAX = 64, HANDLES_MAX = 256, NAME_SIZE = 32 };

/* --- The counters ------------------------------------------------------------------------------------------------- */

static _Thread_local long compared; /* each thread counts its own */

/* What the background thread had compared whenever it came to look at an answer to Metadata. */
static pthread_mutex_t rounds_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t test_thread;
static long rounds[ROUNDS_MAX];
static int round_count;

#define COUNTED(type, function, parameters, arguments) \
	type __real_##function parameters; \
	type __wrap_##function parameters; \
	type __wrap_##function parameters \
	{ \
		compared++; \
		return __real_##function arguments; \
	}

COUNTED(int, strcmp, (const char *a, const char *b), (a, b))
COUNTED(int, strncmp, (const char *a, const char *b, size_t len), (a, b, len))
COUNTED(int, memcmp, (const void *a, const void *b, size_t len), (a, b, len))
COUNTED(bool, rg__bytes_is, (struct rg__bytes a, const char *b), (a, b))

static long moved; /* bytes */

void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len)
{
	if (pthread_equal(pthread_self(), test_thread))
		moved += (long)len;
	return __real_memmove(to, from, len);
}

bool __real_rg__metadata_topics(const struct rg__metadata_response *body, struct rg__arena *arena,
                                struct rg__topic_input **ret_topics, int32_t *ret_count);
bool __wrap_rg__metadata_topics(const struct rg__metadata_response *body, struct rg__arena *arena,
                                struct rg__topic_input **ret_topics, int32_t *ret_count);
bool __wrap_rg__metadata_topics(const struct rg__metadata_response *body, struct rg__arena *arena,
                                struct rg__topic_input **ret_topics, int32_t *ret_count)
{
	pthread_mutex_lock(&rounds_lock);
	if (!pthread_equal(pthread_self(), test_thread) && round_count < ROUNDS_MAX)
		rounds[round_count++] = compared;
	pthread_mutex_unlock(&rounds_lock);
	return __real_rg__metadata_topics(body, arena, ret_topics, ret_count);
}

static int rounds_so_far(void)
{
	int count;

	pthread_mutex_lock(&rounds_lock);
	count = round_count;
	pthread_mutex_unlock(&rounds_lock);
	return count;
}

/* Linear in the list. */
static long finds;

rd_kafka_topic_partition_t *__real_rd_kafka_topic_partition_list_find(rd_kafka_topic_partition_list_t *list,
                                                                      const char *topic, int32_t partition);
rd_kafka_topic_partition_t *__wrap_rd_kafka_topic_partition_list_find(rd_kafka_topic_partition_list_t *list,
                                                                      const char *topic, int32_t partition);
rd_kafka_topic_partition_t *__wrap_rd_kafka_topic_partition_list_find(rd_kafka_topic_partition_list_t *list,
                                                                      const char *topic, int32_t partition)
{
	finds++;
	return __real_rd_kafka_topic_partition_list_find(list, topic, partition);
}

/* Linear in the handles there are. */
static long handles_made, handles_of_t;

rd_kafka_topic_t *__real_rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, rd_kafka_topic_conf_t *conf);
rd_kafka_topic_t *__wrap_rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, rd_kafka_topic_conf_t *conf);
rd_kafka_topic_t *__wrap_rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, rd_kafka_topic_conf_t *conf)
{
	handles_made++;
	handles_of_t += !__real_strcmp(topic, "t");
	return __real_rd_kafka_topic_new(rk, topic, conf);
}

/* --- The crew ----------------------------------------------------------------------------------------------------- */

static struct actor a;

static void start(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	test_thread = pthread_self();
	round_count = 0;
	moved = finds = handles_made = handles_of_t = 0;
	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:4";
	conf.partitions_max = PARTITIONS;
	OK(rg_testkit_new(&kit, &conf, &error));
}

static char (*make_names(void))[NAME_SIZE]
{
	char (*names)[NAME_SIZE] = calloc(TOPICS, sizeof(*names));

	ck_assert_ptr_nonnull(names);
	for (int i = 0; i < TOPICS; i++)
		snprintf(names[i], NAME_SIZE, "nowhere-%05d", i);
	return names;
}

/* To topics that do not exist, and "t". */
static void subscribe_to_many(struct actor *actor)
{
	char (*names)[NAME_SIZE] = make_names();
	const char **list = calloc(TOPICS + 1, sizeof(*list));
	rg_error error = {0};

	ck_assert_ptr_nonnull(list);
	for (int i = 0; i < TOPICS; i++)
		list[i] = names[i];
	list[TOPICS] = "t";
	OK(rg_consumer_subscribe(actor->consumer, list, TOPICS + 1, &crew_listener, actor, &error));
	free(list);
	free(names);
}

/* --- Topics ------------------------------------------------------------------------------------------------------- */

/* The watch looks at its topics again and again: each look may cost their number, not its square. */
START_TEST(topics_that_do_not_exist_are_watched_at_the_cost_of_their_number)
{
	long most = 0;
	int from;

	crew_open(&a, "a", crew_conf("metadata.max.age.ms", "50", NULL));
	subscribe_to_many(&a);
	crew_until(a.owned == 4, &a);
	from = rounds_so_far();
	crew_until(rounds_so_far() >= from + 4, &a);
	pthread_mutex_lock(&rounds_lock);
	for (int i = from + 1; i < round_count; i++)
		most = rounds[i] - rounds[i - 1] > most ? rounds[i] - rounds[i - 1] : most;
	pthread_mutex_unlock(&rounds_lock);
	ck_assert_int_gt(most, TOPICS); /* the counters count */
	ck_assert_msg(most <= (long)TOPICS * PER_ITEM_MAX, "%ld comparisons for %d topics", most, TOPICS);
}
END_TEST

/* Handles of librdkafka are for topics that are owned, when there are many. */
START_TEST(a_large_subscription_makes_few_handles)
{
	long before;

	crew_open(&a, "a", crew_conf(NULL));
	subscribe_to_many(&a);
	ck_assert_int_eq(handles_made, 0);
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(handles_of_t, 1); /* its leaders are looked up before anything is fetched */
	ck_assert_int_le(handles_made, HANDLES_MAX);
	before = handles_made;
	produce("t", -1, 40);
	crew_until(a.records == 40, &a);
	ck_assert_int_eq(handles_made, before);
}
END_TEST

START_TEST(a_small_subscription_has_its_handles_at_once)
{
	crew_open(&a, "a", crew_conf(NULL));
	crew_subscribe(&a, "t");
	ck_assert_int_eq(handles_of_t, 1);
	crew_until(a.owned == 4, &a);
	ck_assert_int_eq(handles_of_t, 1);
}
END_TEST

START_TEST(names_of_many_topics_are_kept)
{
	char (*names)[NAME_SIZE] = make_names();
	struct rg__owned owned = {0};
	const char *first = NULL;
	long before = compared;

	for (int again = 0; again < 2; again++)
		for (int i = 0; i < TOPICS; i++) {
			const char *kept = rg__owned_topic(&owned, names[i], strlen(names[i]));

			ck_assert_ptr_nonnull(kept);
			ck_assert(!__real_strcmp(kept, names[i]) && kept != names[i]);
			if (!i && again)
				ck_assert_ptr_eq(kept, first);
			else if (!i)
				first = kept;
		}
	ck_assert_int_le(compared - before, (long)TOPICS * PER_ITEM_MAX);
	/* A name inside a longer one is another. */
	ck_assert(!__real_strcmp(rg__owned_topic(&owned, "nowhere-00000", 7), "nowhere"));
	rg__owned_free(&owned);
	free(names);
}
END_TEST

/* --- Partitions --------------------------------------------------------------------------------------------------- */

/* Every second one is there, and the others come in between. */
START_TEST(many_partitions_are_added_among_many)
{
	struct rg__partition *items = calloc(PARTITIONS, sizeof(*items));
	struct rg__owned owned = {0};
	uint64_t last = 0;
	long before;

	ck_assert_ptr_nonnull(items);
	before = moved;
	for (int odd = 0; odd < 2; odd++) {
		const char *topic = rg__owned_topic(&owned, "m", 1);

		for (int i = 0; i < PARTITIONS; i++)
			items[i] = (struct rg__partition){topic, 2 * i + odd};
		ck_assert(rg__owned_reserve(&owned, PARTITIONS));
		rg__owned_add(&owned, &(struct rg__partitions){items, PARTITIONS});
		if (!odd)
			owned.slots[7].position = 77;
	}
	ck_assert_int_eq((int)owned.count, 2 * PARTITIONS);
	for (int i = 0; i < 2 * PARTITIONS; i++) {
		struct rg__slot *slot = rg__owned_find(&owned, "m", i);

		ck_assert_ptr_eq(slot, &owned.slots[i]);
		ck_assert_int_eq(slot->at.number, i);
		ck_assert_int_eq(slot->position, i == 14 ? 77 : RG__NO_OFFSET);
	}
	/* Each ownership has an epoch of its own, those that were there before have the older ones. */
	for (int odd = 0; odd < 2; odd++)
		for (int i = odd; i < 2 * PARTITIONS; i += 2) {
			ck_assert_uint_gt(owned.slots[i].epoch, last);
			last = owned.slots[i].epoch;
		}
	ck_assert_uint_eq(owned.last_epoch, last);
	ck_assert_int_le(moved - before, 2 * PARTITIONS * (long)sizeof(struct rg__slot));
	rg__owned_free(&owned);
	free(items);
}
END_TEST

/* The application sorts its list another way round, takes one out and lists one twice. */
static void choose_offsets(struct actor *actor, rd_kafka_topic_partition_list_t *list)
{
	(void)actor;
	for (int i = 0; i < list->cnt / 2; i++) {
		rd_kafka_topic_partition_t other = list->elems[i];

		list->elems[i] = list->elems[list->cnt - 1 - i];
		list->elems[list->cnt - 1 - i] = other;
	}
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = 1000 + list->elems[i].partition;
	rd_kafka_topic_partition_list_del(list, "m", 5);
	rd_kafka_topic_partition_list_add(list, "m", 6)->offset = 99; /* behind the one that counts */
}

START_TEST(offsets_chosen_for_many_partitions_in_another_order)
{
	rg_error error = {0};
	int64_t position;
	char topic[32];
	long before;

	snprintf(topic, sizeof(topic), "m:%d", PARTITIONS);
	OK(rg_testkit_add_topic(kit, "m", PARTITIONS, &error));
	crew_open(&a, "a", crew_conf(NULL));
	a.in_assigned = choose_offsets;
	crew_subscribe(&a, "m");
	before = compared;
	crew_until(a.owned == PARTITIONS, &a);
	ck_assert_int_eq(finds, 0);
	ck_assert_int_le(compared - before, (long)PARTITIONS * PER_ITEM_MAX * 2);
	for (int i = 0; i < PARTITIONS; i++)
		if (i != 5) {
			OK(rg_consumer_position(a.consumer, "m", i, &position, 0, &error));
			ck_assert_int_eq(position, 1000 + i);
		}
	ck_assert_int_lt(rg__owned_find(&a.consumer->owned, "m", 5)->start, 0); /* the group's, or the beginning */
}
END_TEST

/* --- librdkafka is busy ------------------------------------------------------------------------------------------- */

/* As its main thread is with thousands of partitions that do not exist: what waits for it comes back when the gate
 * opens. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool closed, too_late;
	int inside;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void set_gate(bool closed)
{
	pthread_mutex_lock(&gate.lock);
	gate.closed = closed;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

rd_kafka_error_t *__real_rd_kafka_incremental_unassign(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *list);
rd_kafka_error_t *__wrap_rd_kafka_incremental_unassign(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *list);
rd_kafka_error_t *__wrap_rd_kafka_incremental_unassign(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *list)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WITHIN_MS / 1000;
	pthread_mutex_lock(&gate.lock);
	gate.inside++;
	while (gate.closed && !err)
		err = pthread_cond_timedwait(&gate.changed, &gate.lock, &until);
	gate.too_late |= err != 0;
	gate.inside--;
	pthread_mutex_unlock(&gate.lock);
	return __real_rd_kafka_incremental_unassign(rk, list);
}

static bool gate_held(void)
{
	bool held;

	pthread_mutex_lock(&gate.lock);
	held = !gate.too_late;
	pthread_mutex_unlock(&gate.lock);
	return held;
}

static int waiting_at_the_gate(void)
{
	int inside;

	pthread_mutex_lock(&gate.lock);
	inside = gate.inside;
	pthread_mutex_unlock(&gate.lock);
	return inside;
}

/* Design 1.5: every call has a timeout that holds in every state. */
START_TEST(close_does_not_wait_for_librdkafka)
{
	rg_error error = {0};

	produce("t", -1, 40);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 40, &a);
	set_gate(true);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert(gate_held());
	ck_assert(seen(&a, "revoked t:0,1,2,3"));
	ck_assert_int_eq(rg_testkit_request_count(kit, 13), 1);
	set_gate(false);
	rg_consumer_free(a.consumer); /* after the thread that waited */
	a.consumer = NULL;
	ck_assert_int_eq(waiting_at_the_gate(), 0);
}
END_TEST

/* The one that comes back begins where it ended, and only after librdkafka has let go. */
START_TEST(partitions_come_back_before_librdkafka_has_let_go)
{
	rg_error error = {0};

	produce("t", -1, 40);
	crew_open(&a, "a", crew_conf("enable.auto.commit", "true", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 40, &a);
	set_gate(true);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	produce("t", -1, 40);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 4, &a);
	crew_poll_for(100, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, 40);
	ck_assert_int_eq(waiting_at_the_gate(), 1);
	ck_assert(gate_held());
	set_gate(false);
	crew_until(a.records == 80, &a);
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, 80);
	ck_assert_int_eq(a.violations, 0);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* So that librdkafka does not look all of them up. */
static void begin_at_zero(struct actor *actor, rd_kafka_topic_partition_list_t *list)
{
	(void)actor;
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = 0;
}

/* Nor does poll, when it gives so many up. */
START_TEST(a_rebalance_does_not_wait_for_librdkafka)
{
	struct actor b;
	rg_error error = {0};
	char topic[32];
	int before;

	snprintf(topic, sizeof(topic), "m:%d", PARTITIONS);
	OK(rg_testkit_add_topic(kit, "m", PARTITIONS, &error));
	crew_open(&a, "a", crew_conf(NULL));
	crew_open(&b, "b", crew_conf(NULL));
	a.in_assigned = b.in_assigned = begin_at_zero;
	crew_subscribe(&a, "m");
	crew_until(a.owned == PARTITIONS, &a);
	produce("m", 0, 10);
	crew_until(a.records == 10, &a);
	set_gate(true);
	crew_subscribe(&b, "m");
	crew_until(a.owned == PARTITIONS / 2 && b.owned == PARTITIONS / 2, &a, &b);
	produce("m", 0, 10);
	produce("m", PARTITIONS - 1, 10);
	before = a.records + b.records;
	crew_poll_for(200, (struct actor *[]){&a, &b, NULL});
	ck_assert_int_eq(waiting_at_the_gate(), 1);
	ck_assert(gate_held());
	set_gate(false);
	crew_until(a.records + b.records >= before + 20, &a, &b);
	ck_assert_int_eq(a.violations + b.violations, 0);
	ck_assert_str_eq(a.errors, "");
	crew_close(&b, RG_CLOSE_LEAVE);
}
END_TEST

static void end(void)
{
	set_gate(false);
	crew_end();
}

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, topics_that_do_not_exist_are_watched_at_the_cost_of_their_number);
	tcase_add_test(tcase, a_large_subscription_makes_few_handles);
	tcase_add_test(tcase, a_small_subscription_has_its_handles_at_once);
	tcase_add_test(tcase, names_of_many_topics_are_kept);
	tcase_add_test(tcase, many_partitions_are_added_among_many);
	tcase_add_test(tcase, offsets_chosen_for_many_partitions_in_another_order);
	tcase_add_test(tcase, close_does_not_wait_for_librdkafka);
	tcase_add_test(tcase, a_rebalance_does_not_wait_for_librdkafka);
	tcase_add_test(tcase, partitions_come_back_before_librdkafka_has_let_go);
}

int main(void)
{
	return run_suite("consumer_many", fill, start, end);
}
