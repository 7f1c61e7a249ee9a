/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that go wrong on demand, order on a connection, coordinators that move, and waiting for events. */
#include "client.h"
#include "codec/find_coordinator.h"
#include "codec/heartbeat.h"
#include "codec/metadata.h"
#include "suite.h"

#include <regroup/testkit.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

static rg_testkit *kit;
static atomic_int event_count;
static atomic_int calls_in_callback;

static void on_event(const char *line, void *user)
{
	rg_error error;

	atomic_fetch_add(&event_count, strstr(line, "\"src\":\"coordinator\"") != NULL && user == &event_count);
	/* Calls from in here are refused instead of waiting for themselves. */
	if (rg_testkit_stop_broker(kit, 1, &error) == RG_ERR_STATE && rg_testkit_wait(kit, "*", 0, &error) == RG_ERR_STATE)
		atomic_fetch_add(&calls_in_callback, 1);
}

static void start(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:3";
	conf.broker_count = 2;
	conf.on_event = on_event;
	conf.user = &event_count;
	atomic_store(&event_count, 0);
	atomic_store(&calls_in_callback, 0);
	ck_assert_msg(!rg_testkit_new(&kit, &conf, &error), "%s", error.text);
	ck_assert(!rg_testkit_move_coordinator(kit, NULL, 1, true, 0, NULL));
}

static void end(void)
{
	rg_testkit_free(kit);
	kit = NULL;
}

static void sit(struct seat *seat)
{
	seat_open(seat, rg_testkit_port(kit, 1));
}

START_TEST(the_nth_request_is_answered_with_an_error)
{
	struct seat m1;

	sit(&m1);
	seat_join(&m1, "g");
	seat_sync(&m1, "g", "all");
	ck_assert(!rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 3, 15, NULL));
	ck_assert(!rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 2, 27, NULL));
	for (int i = 1; i <= 4; i++) {
		seat_heartbeat(&m1, "g");
		ck_assert_int_eq(m1.error, i == 2 ? 27 : i == 3 ? 15 : 0);
	}
	seat_close(&m1);
}
END_TEST

/* Not applied: the group knows nothing of it. */
START_TEST(a_failed_join_leaves_no_trace)
{
	struct seat m1;
	char text[200];

	sit(&m1);
	ck_assert(!rg_testkit_fail_request(kit, RG__API_JOIN_GROUP, 1, 14, NULL));
	seat_hear_join(&m1, seat_send_join(&m1, "g"));
	ck_assert_int_eq(m1.error, 14);
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_str_eq(text, "absent");
	seat_join(&m1, "g");
	seat_close(&m1);
}
END_TEST

START_TEST(metadata_and_lookups_can_fail_too)
{
	struct client client;
	struct rg__metadata_request metadata;
	struct rg__find_coordinator_request find;
	struct rg__bytes key = rg__bytes_of("g");
	const struct rg__metadata_response *answer;
	const struct rg__find_coordinator_response *found;

	rg__fields_init(&rg__metadata_request_fields, &metadata);
	rg__fields_init(&rg__find_coordinator_request_fields, &find);
	metadata.topics = RG__NULL_ARRAY;
	find.coordinator_keys = (struct rg__array){&key, 1};
	client_open(&client, rg_testkit_port(kit, 1));
	ck_assert(!rg_testkit_fail_request(kit, RG__API_METADATA, 1, 5, NULL));
	ck_assert(!rg_testkit_fail_request(kit, RG__API_FIND_COORDINATOR, 1, 15, NULL));
	answer = client_ask(&client, RG__API_METADATA, 9, &metadata);
	ck_assert_int_eq(RG__ITEMS(struct rg__metadata_response_topic, answer->topics)[0].error_code, 5);
	found = client_ask(&client, RG__API_FIND_COORDINATOR, 4, &find);
	ck_assert_int_eq(RG__ITEMS(struct rg__find_coordinator_response_coordinator, found->coordinators)[0].error_code,
			 15);
	answer = client_ask(&client, RG__API_METADATA, 9, &metadata);
	ck_assert_int_eq(RG__ITEMS(struct rg__metadata_response_topic, answer->topics)[0].error_code, 0);
	client_close(&client);
}
END_TEST

START_TEST(a_connection_drops_before_or_after_the_request_counts)
{
	struct seat m1;
	char text[200];

	sit(&m1);
	ck_assert(!rg_testkit_drop_request(kit, RG__API_JOIN_GROUP, 1, false, NULL));
	seat_send_join(&m1, "g");
	client_hears_end(&m1.client);
	seat_close(&m1);
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_str_eq(text, "absent");

	sit(&m1);
	ck_assert(!rg_testkit_drop_request(kit, RG__API_JOIN_GROUP, 1, true, NULL));
	seat_send_join(&m1, "g");
	client_hears_end(&m1.client);
	seat_close(&m1);
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_str_eq(text, "Empty gen=0 leader=- protocol=- members=[] pending=1");
}
END_TEST

START_TEST(a_request_is_held_before_it_counts)
{
	struct seat m1;
	char text[200];
	int hold, other;
	int32_t id;

	sit(&m1);
	ck_assert(!rg_testkit_hold_request(kit, RG__API_JOIN_GROUP, 1, false, &hold, NULL));
	ck_assert_int_eq(rg_testkit_wait_held(kit, hold, 0, NULL), RG_ERR_TIMED_OUT);
	id = seat_send_join(&m1, "g");
	ck_assert(!rg_testkit_wait_held(kit, hold, PATIENCE_MS, NULL));
	ck_assert(client_silent(&m1.client, 50));
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_str_eq(text, "absent");
	ck_assert(!rg_testkit_release(kit, hold, NULL));
	seat_hear_join(&m1, id);
	ck_assert_int_eq(m1.error, 79);

	/* Released before it came, it does not wait at all. */
	ck_assert(!rg_testkit_hold_request(kit, RG__API_JOIN_GROUP, 1, false, &other, NULL));
	ck_assert_int_ne(other, hold);
	ck_assert(!rg_testkit_release(kit, other, NULL));
	seat_join(&m1, "g");
	ck_assert_int_eq(rg_testkit_release(kit, 99, NULL), RG_ERR_INVALID);
	seat_close(&m1);
}
END_TEST

START_TEST(an_answer_is_held)
{
	struct seat m1;
	char text[200];
	int hold;
	int32_t id;

	sit(&m1);
	seat_join(&m1, "g");
	ck_assert(!rg_testkit_hold_request(kit, RG__API_SYNC_GROUP, 1, true, &hold, NULL));
	id = seat_send_sync(&m1, "g", "all");
	ck_assert(!rg_testkit_wait_held(kit, hold, PATIENCE_MS, NULL));
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert(!strncmp(text, "Stable gen=1", 12));
	ck_assert(client_silent(&m1.client, 50));
	ck_assert(!rg_testkit_release(kit, hold, NULL));
	seat_hear_sync(&m1, id);
	ck_assert_int_eq(m1.error, 0);
	seat_close(&m1);
}
END_TEST

/* broker: one request at a time on a connection, so what comes behind a JoinGroup that waits has to wait as well. */
START_TEST(answers_keep_the_order_of_the_requests)
{
	struct seat m1, m2;
	struct rg__metadata_request metadata;
	int32_t join, ask;

	rg__fields_init(&rg__metadata_request_fields, &metadata);
	metadata.topics = RG__NULL_ARRAY;
	sit(&m1);
	sit(&m2);
	seat_join(&m1, "g");
	seat_sync(&m1, "g", "all");
	seat_hear_join(&m2, seat_send_join(&m2, "g"));
	join = seat_send_join(&m2, "g"); /* m1 has to come first */
	client_send(&m2.client, RG__API_METADATA, 5, &metadata);
	ask = m2.client.correlation_id;
	ck_assert(!rg_testkit_wait(kit, "*\"to\":\"PreparingRebalance\"*", PATIENCE_MS, NULL));
	ck_assert(!rg_testkit_wait(kit, "*\"to\":\"PreparingRebalance\"*", PATIENCE_MS, NULL));
	ck_assert(client_silent(&m2.client, 50));
	seat_join(&m1, "g");
	seat_hear_join(&m2, join);
	ck_assert_int_eq(m2.error, 0);
	client_hear(&m2.client, RG__API_METADATA, 5, ask);
	seat_close(&m1);
	seat_close(&m2);
}
END_TEST

/* The story of a group that is not yet stable, through the network: who is told what, in the order of the events. */
START_TEST(not_yet_stable)
{
	static const char *const story[] = {
		"*\"event\":\"delayed_join\"*\"phase\":\"created\"*",
		"*\"from\":\"Empty\",\"to\":\"PreparingRebalance\"*",
		"*\"event\":\"delayed_join\"*\"phase\":\"completed\"*",
		"*\"from\":\"PreparingRebalance\",\"to\":\"AwaitingSync\"*",
		"*\"event\":\"delayed_join\"*\"phase\":\"created\"*",
		"*\"from\":\"AwaitingSync\",\"to\":\"PreparingRebalance\"*",
		"*\"event\":\"sync_answered\"*\"error\":\"REBALANCE_IN_PROGRESS\"*",
		"*\"event\":\"delayed_join\"*\"phase\":\"completed\"*",
		"*\"from\":\"PreparingRebalance\",\"to\":\"AwaitingSync\"*",
		"*\"from\":\"AwaitingSync\",\"to\":\"Stable\"*",
	};
	struct seat m1, m2;
	int32_t join, sync;

	sit(&m1);
	sit(&m2);
	seat_join(&m1, "g");
	seat_hear_join(&m2, seat_send_join(&m2, "g"));
	join = seat_send_join(&m2, "g");
	ck_assert(!rg_testkit_wait(kit, "*\"from\":\"AwaitingSync\",\"to\":\"PreparingRebalance\"*", PATIENCE_MS, NULL));
	seat_sync(&m1, "g", "all");
	ck_assert_int_eq(m1.error, 27);
	seat_join(&m1, "g");
	seat_hear_join(&m2, join);
	ck_assert(m1.leads && !m2.leads && m1.generation == 2 && m2.generation == 2);
	sync = seat_send_sync(&m2, "g", NULL);
	ck_assert(client_silent(&m2.client, 50));
	seat_sync(&m1, "g", "all");
	seat_hear_sync(&m2, sync);
	ck_assert_int_eq(m1.error, 0);
	ck_assert_int_eq(m2.error, 0);
	/* What the waits above passed over is gone; the rest of the story is told in order. */
	for (size_t i = 6; i < sizeof(story) / sizeof(*story); i++)
		ck_assert_msg(!rg_testkit_wait(kit, story[i], PATIENCE_MS, NULL), "%s", story[i]);
	seat_close(&m1);
	seat_close(&m2);
}
END_TEST

START_TEST(the_coordinator_moves)
{
	struct seat m1, there;
	char text[200];
	int32_t join;

	sit(&m1);
	seat_join(&m1, "g");
	seat_sync(&m1, "g", "all");
	ck_assert(!rg_testkit_move_coordinator(kit, "g", 2, true, 0, NULL));
	ck_assert_int_eq(rg_testkit_coordinator(kit, "g"), 2);
	seat_heartbeat(&m1, "g");
	ck_assert_int_eq(m1.error, 16);
	there = m1;
	client_open(&there.client, rg_testkit_port(kit, 2));
	seat_heartbeat(&there, "g");
	ck_assert_int_eq(there.error, 0);
	/* It loads: heartbeats are fine, the rest waits. */
	ck_assert(!rg_testkit_move_coordinator(kit, "g", 2, true, 600000, NULL));
	seat_heartbeat(&there, "g");
	ck_assert_int_eq(there.error, 0);
	seat_hear_join(&there, seat_send_join(&there, "g"));
	ck_assert_int_eq(there.error, 14);
	ck_assert(!rg_testkit_move_coordinator(kit, "g", 2, false, 0, NULL));
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_str_eq(text, "absent");
	seat_heartbeat(&there, "g");
	ck_assert_int_eq(there.error, 25);
	/* Whoever waits is sent away. */
	there.id[0] = '\0';
	seat_join(&there, "g");
	m1.id[0] = '\0';
	ck_assert(!rg_testkit_move_coordinator(kit, NULL, 1, true, 0, NULL));
	seat_join(&m1, "g");
	seat_sync(&m1, "g", "all");
	{
		struct seat m2;

		sit(&m2);
		seat_hear_join(&m2, seat_send_join(&m2, "g"));
		join = seat_send_join(&m2, "g");
		ck_assert(!rg_testkit_wait(kit, "*\"from\":\"Stable\",\"to\":\"PreparingRebalance\"*", PATIENCE_MS, NULL));
		ck_assert(!rg_testkit_move_coordinator(kit, "g", 2, true, 0, NULL));
		seat_hear_join(&m2, join);
		ck_assert_int_eq(m2.error, 16);
		seat_close(&m2);
	}
	seat_close(&m1);
	seat_close(&there);
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

START_TEST(answers_take_their_time)
{
	struct seat m1;
	int64_t began;

	sit(&m1);
	ck_assert(!rg_testkit_set_latency(kit, 1, 200, NULL));
	began = now_ms();
	seat_heartbeat(&m1, "g");
	ck_assert_int_ge(now_ms() - began, 199); /* at least; how much more is the machine's affair */
	ck_assert(!rg_testkit_set_latency(kit, 1, 0, NULL));
	seat_close(&m1);
}
END_TEST

/* scenarios C.58; bugs 73: with real time. */
START_TEST(a_member_that_falls_silent_expires)
{
	struct seat m1;

	sit(&m1);
	seat_join(&m1, "g"); /* session 10 s */
	seat_sync(&m1, "g", "all");
	seat_close(&m1);
	ck_assert(!rg_testkit_wait(kit, "*\"event\":\"expired\"*session timeout*", 30000, NULL));
	ck_assert(!rg_testkit_wait(kit, "*\"to\":\"Empty\"*", 1000, NULL));
}
END_TEST

START_TEST(a_wait_that_ends_says_what_there_was)
{
	rg_error error;
	struct seat m1;

	ck_assert_int_eq(rg_testkit_wait(kit, "*", 0, &error), RG_ERR_TIMED_OUT);
	ck_assert_ptr_nonnull(strstr(error.text, "the last one was none"));
	sit(&m1);
	seat_join(&m1, "g");
	ck_assert_int_eq(rg_testkit_wait(kit, "*no such thing*", 10, &error), RG_ERR_TIMED_OUT);
	ck_assert_ptr_nonnull(strstr(error.text, "*no such thing*"));
	ck_assert_ptr_nonnull(strstr(error.text, "\"event\":\"join_answered\""));
	seat_close(&m1);
	ck_assert_int_ge(atomic_load(&event_count), 6);
	ck_assert_int_eq(atomic_load(&calls_in_callback), atomic_load(&event_count));
}
END_TEST

START_TEST(requests_are_counted)
{
	struct seat m1;

	sit(&m1);
	ck_assert_int_eq(rg_testkit_request_count(kit, -1), 0);
	seat_join(&m1, "g");
	seat_heartbeat(&m1, "g");
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_JOIN_GROUP), 2);
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_HEARTBEAT), 1);
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_SYNC_GROUP), 0);
	ck_assert_int_eq(rg_testkit_request_count(kit, -1), 3);
	seat_close(&m1);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	int hold;

	ck_assert_int_eq(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 0, 27, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 1, 0, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 1, RG_ERR_MEMORY, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_fail_request(kit, 1, 1, 27, NULL), RG_ERR_INVALID); /* Fetch is the mock's */
	ck_assert_int_eq(rg_testkit_drop_request(kit, -2, 1, true, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_hold_request(kit, 11, -1, true, &hold, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_move_coordinator(kit, "g", 3, true, 0, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_move_coordinator(kit, "g", 1, true, -1, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_set_latency(kit, 1, -1, NULL), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_set_group_max_size(kit, 0, NULL), RG_ERR_INVALID);
}
END_TEST

/* bugs 57, 64: a kit goes at once, whoever waits for it, holds it up or talks to it. */
START_TEST(a_kit_ends_in_the_middle_of_everything)
{
	struct seat m1, m2;
	int hold;

	sit(&m1);
	sit(&m2);
	seat_join(&m1, "g");
	seat_sync(&m1, "g", "all");
	seat_hear_join(&m2, seat_send_join(&m2, "g"));
	seat_send_join(&m2, "g");
	ck_assert(!rg_testkit_hold_request(kit, RG__API_HEARTBEAT, 1, false, &hold, NULL));
	{
		struct rg__heartbeat_request beat = {
			.group_id = rg__bytes_of("g"), .generation_id = 1, .member_id = rg__bytes_of(m1.id)};

		client_send(&m1.client, RG__API_HEARTBEAT, 3, &beat);
	}
	ck_assert(!rg_testkit_wait_held(kit, hold, PATIENCE_MS, NULL));
	end();
	client_hears_end(&m1.client);
	client_hears_end(&m2.client);
	seat_close(&m1);
	seat_close(&m2);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_nth_request_is_answered_with_an_error);
	tcase_add_test(tcase, a_failed_join_leaves_no_trace);
	tcase_add_test(tcase, metadata_and_lookups_can_fail_too);
	tcase_add_test(tcase, a_connection_drops_before_or_after_the_request_counts);
	tcase_add_test(tcase, a_request_is_held_before_it_counts);
	tcase_add_test(tcase, an_answer_is_held);
	tcase_add_test(tcase, answers_keep_the_order_of_the_requests);
	tcase_add_test(tcase, not_yet_stable);
	tcase_add_test(tcase, the_coordinator_moves);
	tcase_add_test(tcase, answers_take_their_time);
	tcase_add_test(tcase, a_member_that_falls_silent_expires);
	tcase_add_test(tcase, a_wait_that_ends_says_what_there_was);
	tcase_add_test(tcase, requests_are_counted);
	tcase_add_test(tcase, nonsense_is_refused);
	tcase_add_test(tcase, a_kit_ends_in_the_middle_of_everything);
}

int main(void)
{
	return run_suite("front_faults", fill, start, end);
}
