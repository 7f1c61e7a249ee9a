/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a member alive, what does not, and who it is that speaks for it. */
#include "codec/api.h"
#include "crew.h"
#include "suite.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Sanitizers make each partition cost many times as much. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { SLOWNESS = 10, LATEST_PERCENT = 200 };
#else
enum { SLOWNESS = 1, LATEST_PERCENT = 120 };
#endif

static struct actor a;
static struct actor *const alone[] = {&a, NULL};

static void start(void)
{
	crew_cluster("t:2", 1);
}

/* What the consumer says it has sent, by its events; and when its heartbeats were sent. */
static struct {
	atomic_int joins, syncs, heartbeats, leaves, commits;
	atomic_llong last_heartbeat_us, longest_gap_us;
} told;

static void count_event(void *user, const char *json)
{
	static const struct {
		const char *name;
		atomic_int *count;
	} counted[] = {
		{"\"event\":\"join_sent\"", &told.joins},     {"\"event\":\"sync_sent\"", &told.syncs},
		{"\"event\":\"leaving\"", &told.leaves},      {"\"event\":\"heartbeat_sent\"", &told.heartbeats},
		{"\"event\":\"commit_sent\"", &told.commits},
	};
	const char *time = strstr(json, "\"t_us\":");
	long long at_us = time ? strtoll(time + 7, NULL, 10) : 0, last_us;

	(void)user;
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (strstr(json, counted[i].name))
			atomic_fetch_add(counted[i].count, 1);
	if (!strstr(json, "\"heartbeat_sent\""))
		return;
	last_us = atomic_exchange(&told.last_heartbeat_us, at_us);
	if (last_us && at_us - last_us > atomic_load(&told.longest_gap_us))
		atomic_store(&told.longest_gap_us, at_us - last_us);
}

/* As crew_open(), with events for this file. */
static void open_counted(rg_conf *conf)
{
	rg_error error = {0};

	memset(&told, 0, sizeof(told));
	memset(&a, 0, sizeof(a));
	a.name = "a";
	rg_conf_set_events(conf, count_event, NULL);
	OK(rg_consumer_new(&a.consumer, conf, &error));
	rg_conf_free(conf);
}

static void close_counted(void)
{
	rg_error error = {0};

	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	rg_consumer_free(a.consumer);
	a.consumer = NULL;
}

/* --- Heartbeats --------------------------------------------------------------------------------------------------- */

/* bugs kafka 6593: an application that does nothing but commit, for many sessions. */
START_TEST(commits_in_a_loop_leave_room_for_heartbeats)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	int64_t ends;
	int beats, count = 0;

	crew_open(&a, "a", crew_conf("session.timeout.ms", "500", "heartbeat.interval.ms", "100", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	rd_kafka_topic_partition_list_add(list, "t", 0);
	beats = atomic_load(&a.beats);
	for (ends = now_ms() + 3000; now_ms() < ends; count++) {
		list->elems[0].offset = count;
		OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
		OK(rg_consumer_commit_async(a.consumer, list, NULL, NULL, &error));
	}
	/* Commits keep the session, too, so the heartbeats have to be counted. */
	ck_assert_int_ge(atomic_load(&a.beats) - beats, 10);
	crew_poll_for(50, alone);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	ck_assert_str_eq(a.errors, "");
	ck_assert_int_gt(count, 50);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* A cluster with one topic of very many partitions instead of the usual one. */
static void widen_cluster(int32_t partitions)
{
	char topics[32];
	rg_testkit_conf conf;
	rg_error error = {0};

	crew_end();
	snprintf(topics, sizeof(topics), "wide:%d", (int)partitions);
	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = topics;
	conf.partitions_max = partitions;
	OK(rg_testkit_new(&kit, &conf, &error));
}

/* bugs librdkafka 48: ten thousand partitions are assigned, their offsets asked for, and all begin to fetch. Heartbeats
 * are no later for it than a fifth of their interval. */
START_TEST(ten_thousand_partitions_do_not_delay_heartbeats)
{
	enum { PARTITIONS = 10000 / SLOWNESS, INTERVAL_MS = 1500 };
	int64_t ends = now_ms() + 60000;
	int threads;

	widen_cluster(PARTITIONS);
	threads = rd_kafka_thread_cnt();
	open_counted(crew_conf("session.timeout.ms", "30000", "heartbeat.interval.ms", "1500", "group.heartbeat.budget", "0",
	                       NULL));
	crew_subscribe(&a, "wide");
	while (a.owned < PARTITIONS) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn(alone);
	}
	ck_assert_int_eq(a.owned, PARTITIONS);
	for (int rounds = atomic_load(&told.heartbeats) + 4; atomic_load(&told.heartbeats) < rounds;) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn(alone);
	}
	ck_assert_int_le(atomic_load(&told.longest_gap_us), INTERVAL_MS * 10 * LATEST_PERCENT);
	ck_assert_str_eq(a.errors, "");
	close_counted();
	/* Its handle has so much to tidy up that it is left to do that in the background; better not beside other tests. */
	for (struct timespec nap = {0, 50 * 1000000L}; rd_kafka_thread_cnt() > threads && now_ms() < ends;)
		nanosleep(&nap, NULL);
}
END_TEST

/* --- Polling ------------------------------------------------------------------------------------------------------ */

enum { MAX_POLL_MS = 500 };

static void open_impatient(void)
{
	crew_open(&a, "a", crew_conf("max.poll.interval.ms", "500", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	crew_poll_for(50, alone);
}

static void all_but_poll(void)
{
	rd_kafka_topic_partition_list_t *list = rg_consumer_assignment(a.consumer);
	rg_status status = {.size = sizeof(status)};
	rd_kafka_message_t *message;
	rg_error error = {0};
	int64_t number;

	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = 0;
	rg_consumer_commit(a.consumer, list, 50, NULL);
	rg_consumer_commit_async(a.consumer, list, NULL, NULL, NULL);
	rg_consumer_committed(a.consumer, list, 50, NULL);
	rg_consumer_position(a.consumer, "t", 0, &number, 0, NULL);
	rg_consumer_lag(a.consumer, "t", 0, &number, 0, NULL);
	rg_consumer_seek(a.consumer, "t", 0, 0, NULL);
	rg_consumer_pause(a.consumer, NULL, NULL);
	rg_consumer_resume(a.consumer, NULL, NULL);
	rg_consumer_wakeup(a.consumer);
	rg_consumer_rebalance_pending(a.consumer);
	rg_consumer_failed(a.consumer);
	rg_consumer_status(a.consumer, &status, NULL);
	/* Polling the handle that fetches is not polling the consumer; its records are the consumer's. */
	message = rd_kafka_consumer_poll(rg_consumer_handle(a.consumer), 0);
	if (message)
		rd_kafka_message_destroy(message);
	rd_kafka_poll(rg_consumer_handle(a.consumer), 0);
	rd_kafka_topic_partition_list_destroy(list);
	/* A poll that is refused is none. */
	rg_consumer_poll_batch(a.consumer, &message, 0, 0, &error);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
}

/* bugs librdkafka 51: what the manual says: poll and poll_batch count, nothing else does. */
START_TEST(only_polling_is_polling)
{
	int64_t ends;

	open_impatient();
	for (ends = now_ms() + 3 * MAX_POLL_MS; now_ms() < ends;)
		all_but_poll();
	crew_until(a.error.code, &a);
	ck_assert_int_eq(a.error.code, RG_ERR_MAX_POLL);
	crew_until(count_of(&a, "assigned") == 2, &a); /* and by polling it is back */
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1, lost(MAX_POLL) t:0,1, prepare, complete, assigned t:0,1");
	ck_assert_str_eq(a.errors, "MAX_POLL");
}
END_TEST

START_TEST(each_way_of_polling_counts)
{
	rd_kafka_message_t *messages[4];
	struct timespec nap = {0, 100 * 1000000L};
	rg_error error = {0};
	int64_t ends;

	open_impatient();
	for (ends = now_ms() + 3 * MAX_POLL_MS; now_ms() < ends; nanosleep(&nap, NULL))
		ck_assert_ptr_null(rg_consumer_poll(a.consumer, 0, &error));
	for (ends = now_ms() + 3 * MAX_POLL_MS; now_ms() < ends; nanosleep(&nap, NULL))
		ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, messages, 4, 0, &error), 0);
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, 3 * MAX_POLL_MS, &error)); /* one that waits for long */
	ck_assert_int_eq(error.code, RG_OK);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
}
END_TEST

/* --- Who speaks --------------------------------------------------------------------------------------------------- */

static void nothing_but_ours(void)
{
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_JOIN_GROUP), atomic_load(&told.joins));
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_SYNC_GROUP), atomic_load(&told.syncs));
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_LEAVE_GROUP), atomic_load(&told.leaves));
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_OFFSET_COMMIT), atomic_load(&told.commits));
	/* One may be on its way. */
	ck_assert_int_le(rg_testkit_request_count(kit, RG__API_HEARTBEAT), atomic_load(&told.heartbeats));
	ck_assert_int_ge(rg_testkit_request_count(kit, RG__API_HEARTBEAT), atomic_load(&told.heartbeats) - 1);
}

/* bugs librdkafka 77: every request of the group is one that regroup has sent: the handle that fetches neither joins nor
 * beats, and a commit through it is not the group's. */
START_TEST(the_fetching_handle_says_nothing_to_the_group)
{
	rd_kafka_topic_partition_list_t *offsets;
	rg_error error = {0};

	produce("t", -1, 20);
	open_counted(crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "50", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.records == 20, &a);
	crew_until(atomic_load(&told.commits) > 0 && atomic_load(&told.heartbeats) > 5, &a);
	nothing_but_ours();
	offsets = rg_consumer_assignment(a.consumer);
	for (int i = 0; i < offsets->cnt; i++)
		offsets->elems[i].offset = 1;
	ck_assert_int_eq(rd_kafka_commit(rg_consumer_handle(a.consumer), offsets, 0), RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, offsets, WITHIN_MS, &error), RG_OK);
	ck_assert_int_ne((int)offsets->elems[0].offset, 1);
	rd_kafka_topic_partition_list_destroy(offsets);
	crew_poll_for(300, alone);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
	close_counted();
}
END_TEST

/* bugs kafka 14201: the static name is the member's, and no request of the handle's carries it. */
START_TEST(the_fetching_handle_has_no_static_name)
{
	char value[64] = "";
	size_t size = sizeof(value);
	const rd_kafka_conf_t *conf;

	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	conf = rd_kafka_conf(rg_consumer_handle(a.consumer));
	if (rd_kafka_conf_get(conf, "group.instance.id", value, &size) == RD_KAFKA_CONF_OK)
		ck_assert_str_eq(value, "");
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
}
END_TEST

/* --- Quickly in, and nothing left --------------------------------------------------------------------------------- */

/* bugs librdkafka 15: from nothing to partitions it takes round trips and no pauses; of some attempts, on a machine that
 * has other things to do, one is as quick as that. */
START_TEST(the_first_assignment_does_not_wait_for_anything)
{
	int64_t best_ms = INT64_MAX;

	for (int i = 0; i < 10 && best_ms >= 100; i++) {
		char group[16];
		int64_t began;

		snprintf(group, sizeof(group), "first%d", i);
		began = now_ms();
		crew_open(&a, "a", crew_conf("group.id", group, NULL));
		crew_subscribe(&a, "t");
		crew_until(a.owned == 2, &a);
		if (now_ms() - began < best_ms)
			best_ms = now_ms() - began;
		crew_close(&a, RG_CLOSE_LEAVE);
	}
	ck_assert_int_lt(best_ms, 100);
}
END_TEST

static int thread_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	ck_assert_ptr_nonnull(tasks);
	for (const struct dirent *task; (task = readdir(tasks));)
		count += task->d_name[0] != '.';
	closedir(tasks);
	return count;
}

/* scenarios C.64: the threads there were before are those there are afterwards: of lives that ended well, in the middle,
 * or before they began. librdkafka's own end a moment later. */
START_TEST(closing_leaves_no_thread_behind)
{
	struct timespec nap = {0, 20 * 1000000L};
	int before = thread_count();
	int64_t ends;

	for (int i = 0; i < 6; i++) {
		crew_open(&a, "a", crew_conf(NULL));
		ck_assert_int_gt(thread_count(), before);
		if (i % 3 > 0)
			crew_subscribe(&a, "t");
		if (i % 3 > 1)
			crew_until(a.owned == 2, &a);
		crew_close(&a, i % 2 ? RG_CLOSE_LEAVE : RG_CLOSE_REMAIN);
	}
	for (ends = now_ms() + WITHIN_MS; thread_count() > before; nanosleep(&nap, NULL))
		ck_assert_msg(now_ms() < ends, "%d threads, and %d before", thread_count(), before);
}
END_TEST

/* bugs 34: somebody who has no listener can ask whether the others wait for his poll; nothing is called that he did not
 * set, and polling answers the question. */
START_TEST(without_a_listener_the_hint_is_a_question)
{
	const char *const topics[] = {"t"};
	int64_t ends = now_ms() + WITHIN_MS;
	static struct actor b;
	rg_error error = {0};

	crew_open(&a, "a", crew_conf(NULL));
	OK(rg_consumer_subscribe(a.consumer, topics, 1, NULL, NULL, &error));
	crew_until(rg_testkit_request_count(kit, RG__API_SYNC_GROUP) == 1 && !rg_consumer_rebalance_pending(a.consumer), &a);
	crew_poll_for(50, alone);
	ck_assert_int_eq(rg_consumer_rebalance_pending(a.consumer), 0);
	crew_join(&b, "b", "t");
	while (!rg_consumer_rebalance_pending(a.consumer)) {
		ck_assert_int_lt(now_ms(), ends);
		crew_turn((struct actor *[]){&b, NULL});
	}
	crew_until(b.owned == 1, &a, &b);
	crew_until(!rg_consumer_rebalance_pending(a.consumer), &a, &b);
	ck_assert_str_eq(a.seen, "");
	ck_assert_str_eq(a.errors, "");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_set_timeout(tcase, 170);
	tcase_add_test(tcase, closing_leaves_no_thread_behind); /* first: later ones may leave something to be tidied up */
	tcase_add_test(tcase, commits_in_a_loop_leave_room_for_heartbeats);
	tcase_add_test(tcase, ten_thousand_partitions_do_not_delay_heartbeats);
	tcase_add_test(tcase, only_polling_is_polling);
	tcase_add_test(tcase, each_way_of_polling_counts);
	tcase_add_test(tcase, the_fetching_handle_says_nothing_to_the_group);
	tcase_add_test(tcase, the_fetching_handle_has_no_static_name);
	tcase_add_test(tcase, the_first_assignment_does_not_wait_for_anything);
	tcase_add_test(tcase, without_a_listener_the_hint_is_a_question);
}

int main(void)
{
	return run_suite("consumer_liveness", fill, start, crew_end);
}
