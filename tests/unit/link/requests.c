/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on a link: order, deadlines, throttling, cancelling, and what becomes of them when the connection ends. */
#include "fixture.h"

#include "codec/find_coordinator.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fixture f;

static void begin(void)
{
	fixture_begin(&f);
}

static void end(void)
{
	fixture_end(&f);
}

static void come_up(void)
{
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
}

static void ask(uintptr_t tag, int64_t timeout_ms)
{
	ck_assert_int_eq(fixture_ask(&f, tag, timeout_ms, 0, NULL), RG_OK);
}

static rg_err outcome(uintptr_t tag)
{
	const struct fixture_done *done = fixture_find(&f, tag);

	ck_assert_msg(done, "request %d has not ended", (int)tag);
	return done->error.code;
}

START_TEST(asked_before_connecting)
{
	fixture_link(&f);
	ask(1, 5000);
	sim_run_ms(&f.sim, 100);
	ck_assert_int_eq(f.done_count, 0);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_OK);
	ck_assert_int_eq(fixture_find(&f, 1)->version, 4);
}
END_TEST

START_TEST(several_in_flight_in_order)
{
	f.broker.holds = true;
	come_up();
	for (uintptr_t tag = 1; tag <= 5; tag++)
		ask(tag, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.broker.seen_count, 5);
	for (int i = 0; i < 5; i++) {
		if (i)
			ck_assert_int_eq(f.broker.seen[i].correlation_id, f.broker.seen[i - 1].correlation_id + 1);
		broker_answer(&f.broker, &f.broker.seen[i]);
		sim_run_ms(&f.sim, 1);
		ck_assert_int_eq(f.done_count, i + 1);
		ck_assert_int_eq(outcome((uintptr_t)i + 1), RG_OK);
	}
}
END_TEST

START_TEST(more_than_the_window_wait_unsent)
{
	f.conf.in_flight_max = 2;
	f.broker.holds = true;
	come_up();
	for (uintptr_t tag = 1; tag <= 5; tag++)
		ask(tag, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.broker.seen_count, 2);
	broker_answer(&f.broker, &f.broker.seen[0]);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.broker.seen_count, 3);
	f.broker.holds = false;
	broker_answer(&f.broker, &f.broker.seen[1]);
	broker_answer(&f.broker, &f.broker.seen[2]);
	sim_run_ms(&f.sim, 1);
	for (uintptr_t tag = 1; tag <= 5; tag++)
		ck_assert_int_eq(outcome(tag), RG_OK);
}
END_TEST

/* A request that is too big for the window of bytes goes alone, not never. */
START_TEST(bytes_of_the_window)
{
	f.conf.in_flight_bytes_max = 10;
	f.broker.holds = true;
	come_up();
	ask(1, 5000);
	ask(2, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.broker.seen_count, 1);
	broker_answer(&f.broker, &f.broker.seen[0]);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.broker.seen_count, 2);
}
END_TEST

START_TEST(queue_has_an_end)
{
	f.conf.queue_max = 3;
	fixture_link(&f);
	ask(1, 5000);
	ask(2, 5000);
	ask(3, 5000);
	ck_assert_int_eq(fixture_ask(&f, 4, 5000, 0, NULL), RG_ERR_STATE);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 3);
	ask(5, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(5), RG_OK);
}
END_TEST

START_TEST(unknown_api)
{
	struct rg__call call = {.api_key = 999, .body = &f.heartbeat};

	fixture_link(&f);
	ck_assert_int_eq(rg__link_request(f.link, &call, NULL), RG_ERR_INVALID);
}
END_TEST

/* The others learn of it, in order, before `down`; nothing can be asked from inside. */
START_TEST(disconnected_with_three_outstanding)
{
	f.broker.holds = true;
	f.asks_in_done = true;
	f.conf.in_flight_max = 2; /* so one of the three was not sent */
	come_up();
	ask(1, 5000);
	ask(2, 5000);
	ask(3, 5000);
	sim_run_ms(&f.sim, 1);
	sim_hang_up(f.broker.conn);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_int_eq(f.refused, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(f.done[i].tag, (uintptr_t)i + 1);
		ck_assert_int_eq(f.done[i].error.code, RG_ERR_TRANSPORT);
		ck_assert_str_eq(f.done[i].error.text, "10.0.0.1:9092: connection closed by the other side");
		ck_assert_int_eq(f.done[i].downs, 0);
	}
}
END_TEST

START_TEST(overdue_request_ends_the_connection)
{
	int64_t began;

	f.broker.holds = true;
	come_up();
	began = f.sim.now_us;
	ask(1, 3000);
	ask(2, 9000);
	sim_run_ms(&f.sim, 20000);
	ck_assert_int_eq(outcome(1), RG_ERR_TIMED_OUT);
	ck_assert_str_eq(fixture_find(&f, 1)->error.text, "10.0.0.1:9092: no answer to Heartbeat within 3000 ms");
	ck_assert_int_eq(fixture_find(&f, 1)->at_us, began + 3000000);
	ck_assert_int_eq(outcome(2), RG_ERR_TRANSPORT); /* its own time had not run out */
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.down_at_us, began + 3000000);
}
END_TEST

START_TEST(overdue_request_that_keeps_the_connection)
{
	f.broker.holds = true;
	come_up();
	ck_assert_int_eq(fixture_ask(&f, 1, 3000, RG__CALL_KEEP, NULL), RG_OK);
	ask(2, 9000);
	sim_run_ms(&f.sim, 3000);
	ck_assert_int_eq(outcome(1), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.downs, 0);
	/* The late answer is dropped, the next one finds its request. */
	broker_answer(&f.broker, &f.broker.seen[0]);
	broker_answer(&f.broker, &f.broker.seen[1]);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(2), RG_OK);
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

START_TEST(timeout_counts_from_the_call)
{
	int64_t began = f.sim.now_us;

	f.broker.server.mode = SIM_SILENT;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 500);
	ask(1, 2000);
	sim_run_ms(&f.sim, 20000);
	ck_assert_int_eq(outcome(1), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(fixture_find(&f, 1)->at_us, began + 2500000);
	ck_assert_str_eq(fixture_find(&f, 1)->error.text,
	                 "10.0.0.1:9092: Heartbeat was not sent within 2000 ms (still connecting)");
	ck_assert_int_eq(f.down_at_us, began + 10000000); /* the attempt itself went on */
}
END_TEST

START_TEST(default_timeout)
{
	int64_t began = f.sim.now_us;

	f.conf.request_timeout_ms = 700;
	fixture_link(&f);
	ask(1, -1);
	ask(2, 0);
	sim_run_ms(&f.sim, 5000);
	ck_assert_int_eq(fixture_find(&f, 1)->at_us, began + 700000);
	ck_assert_int_eq(fixture_find(&f, 2)->at_us, began);
}
END_TEST

/* bugs kafka 13126: the longest timeout there is must not become the shortest. */
START_TEST(endless_timeout)
{
	f.broker.holds = true;
	come_up();
	ask(1, INT64_MAX);
	ask(2, INT64_MAX / 1000);
	ask(3, INT32_MAX);
	sim_run_ms(&f.sim, 1000000);
	ck_assert_int_eq(f.done_count, 0);
	f.broker.holds = false;
	for (int i = 0; i < 3; i++)
		broker_answer(&f.broker, &f.broker.seen[i]);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_OK);
	ck_assert_int_eq(outcome(3), RG_OK);
}
END_TEST

START_TEST(correlation_mismatch)
{
	come_up();
	f.broker.correlation_skew = 1;
	ask(1, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_ERR_PROTOCOL);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, RG_ERR_PROTOCOL);
	ck_assert_str_eq(f.down.text,
	                 "10.0.0.1:9092: an answer to request 3 where that to Heartbeat, request 2, is next");
}
END_TEST

START_TEST(answer_that_nobody_asked_for)
{
	come_up();
	sim_send(f.broker.conn, "\x00\x00\x00\x04\x00\x00\x00\x05", 8);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_str_eq(f.down.text, "10.0.0.1:9092: an answer to request 5, but nothing was asked");
}
END_TEST

/* Heartbeat answers that are no such thing; the error names API, version, field and place. */
static const struct {
	const char *bytes;
	size_t len;
	const char *text;
} bad_answers[] = {
	{"\x00\x00\x00\x04\x00\x00\x00\x02", 8, "Heartbeat"},
	{"\x00\x00\x00\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00", 14, "HeartbeatResponse v4"},
	{"\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00", 17, "HeartbeatResponse v4"},
	{"\xff\xff\xff\xfe", 4, "negative length"},
	{"\x06\x40\x00\x01", 4, "over the limit"},
};

START_TEST(hostile_answers)
{
	come_up();
	f.broker.holds = true;
	ask(1, 5000);
	ask(2, 5000);
	sim_run_ms(&f.sim, 1);
	sim_send(f.broker.conn, bad_answers[_i].bytes, bad_answers[_i].len);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_ERR_PROTOCOL);
	ck_assert_int_eq(outcome(2), RG_ERR_PROTOCOL);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, RG_ERR_PROTOCOL);
	ck_assert_msg(strstr(f.down.text, bad_answers[_i].text), "%s", f.down.text);
}
END_TEST

/* The limit of a frame is a setting. */
START_TEST(frame_limit)
{
	f.conf.frame_limit = 20;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_msg(strstr(f.down.text, "over the limit of 20"), "%s", f.down.text);
}
END_TEST

START_TEST(api_that_the_broker_lacks)
{
	broker_range(&f.broker, RG__API_HEARTBEAT, 7, 9);
	come_up();
	ask(1, 5000);
	ck_assert_int_eq(f.done_count, 0); /* said from the loop */
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_ERR_UNSUPPORTED);
	ck_assert_str_eq(fixture_find(&f, 1)->error.text,
	                 "10.0.0.1:9092: broker too new: it has Heartbeat in versions 7 to 9, we speak 0 to 4");
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

/* A body that the version cannot carry is an error of the caller's, and the connection's only of that request. */
START_TEST(body_that_the_version_cannot_carry)
{
	broker_range(&f.broker, RG__API_HEARTBEAT, 0, 2);
	come_up();
	f.heartbeat.group_instance_id = rg__bytes_of("i"); /* since version 3 */
	ask(1, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(1), RG_ERR_INVALID);
	f.heartbeat.group_instance_id = RG__NULL_BYTES;
	ask(2, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(2), RG_OK);
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

/* --- prepare ------------------------------------------------------------------------------------------------------ */

static struct rg__find_coordinator_request coordinator_request;
static struct rg__bytes coordinator_key;
static int prepared, coordinator_done;

static const void *prepare_find_coordinator(void *user, int16_t version)
{
	(void)user;
	prepared = version;
	rg__fields_init(&rg__find_coordinator_request_fields, &coordinator_request);
	coordinator_key = rg__bytes_of("g");
	if (version >= 4)
		coordinator_request.coordinator_keys = (struct rg__array){&coordinator_key, 1};
	else
		coordinator_request.key = coordinator_key;
	return &coordinator_request;
}

static void found(void *user, const struct rg__response *response)
{
	(void)user;
	ck_assert_int_eq(response->error.code, RG_OK);
	coordinator_done++;
}

/* KIP-699 changed the shape of FindCoordinator: the body is made when the version is known. */
START_TEST(shape_depends_on_the_version)
{
	struct rg__call call = {.api_key = RG__API_FIND_COORDINATOR, .prepare = prepare_find_coordinator,
	                        .timeout_ms = 5000, .done = found};

	prepared = coordinator_done = 0;
	broker_range(&f.broker, RG__API_FIND_COORDINATOR, 0, (int16_t)_i);
	fixture_link(&f);
	ck_assert_int_eq(rg__link_request(f.link, &call, NULL), RG_OK);
	ck_assert_int_eq(prepared, 0);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(prepared, _i);
	ck_assert_int_eq(coordinator_done, 1);
}
END_TEST

/* --- Throttling --------------------------------------------------------------------------------------------------- */

/* KIP-219, scenarios J.180: after an answer with throttle_time_ms the next request waits that long. */
START_TEST(throttled)
{
	int64_t throttled_at;

	come_up();
	f.broker.throttle_ms = 400;
	ask(1, 5000);
	sim_run_ms(&f.sim, 1);
	throttled_at = fixture_find(&f, 1)->at_us;
	f.broker.throttle_ms = 0;
	ask(2, 5000);
	ask(3, 300);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.broker.seen[1].at_us, throttled_at + 400000);
	ck_assert_int_eq(f.broker.seen_count, 2);
	ck_assert_int_eq(outcome(2), RG_OK);
	/* The wait counts against the timeout, and running out unsent is no fault of the connection's. */
	ck_assert_int_eq(outcome(3), RG_ERR_TIMED_OUT);
	ck_assert_str_eq(fixture_find(&f, 3)->error.text,
	                 "10.0.0.1:9092: Heartbeat was not sent within 300 ms (the broker asked to wait)");
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

/* KIP-219: below version 2 of Heartbeat the broker has done the waiting itself. */
START_TEST(throttled_by_the_broker_itself)
{
	come_up();
	fixture_end(&f);
	fixture_begin(&f);
	broker_range(&f.broker, RG__API_HEARTBEAT, 0, 1);
	come_up();
	f.broker.throttle_ms = 400;
	ask(1, 5000);
	sim_run_ms(&f.sim, 1);
	ask(2, 5000);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(outcome(2), RG_OK);
}
END_TEST

/* A wait of 24 days, or a negative one, is not obeyed. */
START_TEST(absurd_throttle)
{
	f.conf.request_timeout_ms = 2000;
	come_up();
	f.broker.throttle_ms = _i ? INT32_MAX : INT32_MIN;
	ask(1, 5000);
	sim_run_ms(&f.sim, 1);
	ask(2, 5000);
	sim_run_ms(&f.sim, 2000);
	ck_assert_int_eq(outcome(2), RG_OK);
	ck_assert_int_le(f.broker.seen[1].at_us, f.broker.seen[0].at_us + (_i ? 2000000 : 0) + 1000);
}
END_TEST

/* --- Cancelling --------------------------------------------------------------------------------------------------- */

START_TEST(cancelled_while_waiting)
{
	rg__request_id id = 0;

	fixture_link(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, &id), RG_OK);
	ck_assert_uint_ne(id, 0);
	rg__link_cancel(f.link, id);
	rg__link_cancel(f.link, id);
	rg__link_cancel(f.link, 12345);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 0);
	ck_assert_int_eq(f.broker.seen_count, 0);
}
END_TEST

START_TEST(cancelled_after_sending)
{
	rg__request_id id = 0;

	f.broker.holds = true;
	come_up();
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, &id), RG_OK);
	ask(2, 50000);
	sim_run_ms(&f.sim, 1);
	rg__link_cancel(f.link, id);
	broker_answer(&f.broker, &f.broker.seen[0]);
	broker_answer(&f.broker, &f.broker.seen[1]);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(outcome(2), RG_OK);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

/* Its answer is still awaited, or cancelled requests could fill the window of a dead connection for ever. */
START_TEST(cancelled_and_never_answered)
{
	rg__request_id id = 0;

	f.broker.holds = true;
	come_up();
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, &id), RG_OK);
	sim_run_ms(&f.sim, 1);
	rg__link_cancel(f.link, id);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 0);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, RG_ERR_TIMED_OUT);
}
END_TEST

/* As above, with requests that leave the connection alone: whoever cannot be sent for their sake ends it. */
START_TEST(window_full_of_kept_requests)
{
	f.conf.in_flight_max = 2;
	f.broker.holds = true;
	come_up();
	ck_assert_int_eq(fixture_ask(&f, 1, 1000, RG__CALL_KEEP, NULL), RG_OK);
	ck_assert_int_eq(fixture_ask(&f, 2, 1000, RG__CALL_KEEP, NULL), RG_OK);
	ask(3, 5000);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(outcome(1), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(outcome(2), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(outcome(3), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.downs, 1);
}
END_TEST

START_TEST(cancelled_after_failing_inside_the_call)
{
	rg__request_id id = 0;

	broker_range(&f.broker, RG__API_HEARTBEAT, 7, 9);
	come_up();
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, &id), RG_OK);
	rg__link_cancel(f.link, id);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 0);
}
END_TEST

/* --- From inside callbacks ---------------------------------------------------------------------------------------- */

START_TEST(asks_again_in_done)
{
	f.asks_in_done = true;
	f.broker.holds = true;
	come_up();
	ask(1, 5000);
	for (int i = 0; i < 10; i++) {
		sim_run_ms(&f.sim, 1);
		ck_assert_int_eq(f.broker.seen_count, i + 1);
		broker_answer(&f.broker, &f.broker.seen[i]);
		sim_run_ms(&f.sim, 1);
	}
	ck_assert_int_eq(f.done_count, 10);
}
END_TEST

/* One that always fails at once and is always asked again has a turn of the loop between its tries: others are
 * served. */
START_TEST(asks_again_in_done_what_cannot_be)
{
	f.asks_in_done = true;
	broker_range(&f.broker, RG__API_HEARTBEAT, 7, 9);
	come_up();
	ask(1, 5000);
	int turns = 0;

	for (; f.done_count < 100 && turns < 1000; turns++)
		sim_turn(&f.sim);
	ck_assert_int_eq(f.done_count, 100);
	ck_assert_int_ge(turns, 100);
}
END_TEST

START_TEST(freed_in_done)
{
	f.broker.holds = _i == 1;
	f.frees_in_done = true;
	come_up();
	ask(1, 5000);
	ask(2, 5000);
	ask(3, 5000);
	sim_run_ms(&f.sim, _i == 0 ? 1 : 60000);
	ck_assert_int_eq(f.done_count, 1); /* of three answers in one piece, or of three that failed together */
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

/* --- Keeping an answer -------------------------------------------------------------------------------------------- */

static struct rg__message *kept;

static void keep(void *user, const struct rg__response *response)
{
	(void)user;
	ck_assert_str_eq(response->broker, "10.0.0.1:9092");
	ck_assert_int_gt(response->sent_us, 0);
	kept = rg__response_keep(response);
}

START_TEST(answer_outlives_the_link)
{
	struct rg__metadata_request request;
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &request, .timeout_ms = 5000, .done = keep};

	rg__fields_init(&rg__metadata_request_fields, &request);
	rg__fields_init(&rg__metadata_response_broker_fields, &f.broker.nodes[0]);
	f.broker.nodes[0].host = rg__bytes_of("some.host");
	f.broker.nodes[0].port = 9092;
	f.broker.node_count = 1;
	come_up();
	ck_assert_int_eq(rg__link_request(f.link, &call, NULL), RG_OK);
	sim_run_ms(&f.sim, 1);
	rg__link_free(f.link);
	f.link = NULL;
	ck_assert_ptr_nonnull(kept);
	const struct rg__metadata_response *metadata = kept->body;
	const struct rg__metadata_response_broker *broker = metadata->brokers.items;

	ck_assert_int_eq(metadata->brokers.count, 1);
	ck_assert(rg__bytes_is(broker->host, "some.host"));
	rg__message_free(kept);
	rg__message_free(NULL);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, asked_before_connecting);
	tcase_add_test(tcase, several_in_flight_in_order);
	tcase_add_test(tcase, more_than_the_window_wait_unsent);
	tcase_add_test(tcase, bytes_of_the_window);
	tcase_add_test(tcase, queue_has_an_end);
	tcase_add_test(tcase, unknown_api);
	tcase_add_test(tcase, disconnected_with_three_outstanding);
	tcase_add_test(tcase, overdue_request_ends_the_connection);
	tcase_add_test(tcase, overdue_request_that_keeps_the_connection);
	tcase_add_test(tcase, timeout_counts_from_the_call);
	tcase_add_test(tcase, default_timeout);
	tcase_add_test(tcase, endless_timeout);
	tcase_add_test(tcase, correlation_mismatch);
	tcase_add_test(tcase, answer_that_nobody_asked_for);
	tcase_add_loop_test(tcase, hostile_answers, 0, (int)(sizeof(bad_answers) / sizeof(bad_answers[0])));
	tcase_add_test(tcase, frame_limit);
	tcase_add_test(tcase, api_that_the_broker_lacks);
	tcase_add_test(tcase, body_that_the_version_cannot_carry);
	tcase_add_loop_test(tcase, shape_depends_on_the_version, 3, 5);
	tcase_add_test(tcase, throttled);
	tcase_add_test(tcase, throttled_by_the_broker_itself);
	tcase_add_loop_test(tcase, absurd_throttle, 0, 2);
	tcase_add_test(tcase, cancelled_while_waiting);
	tcase_add_test(tcase, cancelled_after_sending);
	tcase_add_test(tcase, cancelled_and_never_answered);
	tcase_add_test(tcase, window_full_of_kept_requests);
	tcase_add_test(tcase, cancelled_after_failing_inside_the_call);
	tcase_add_test(tcase, asks_again_in_done);
	tcase_add_test(tcase, asks_again_in_done_what_cannot_be);
	tcase_add_loop_test(tcase, freed_in_done, 0, 2);
	tcase_add_test(tcase, answer_outlives_the_link);
}

int main(void)
{
	Suite *suite = suite_create("link_requests");
	TCase *tcase = tcase_create("requests");

	tcase_add_checked_fixture(tcase, begin, end);
	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
