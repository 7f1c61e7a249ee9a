/* SPDX-License-Identifier: Apache-2.0 */
/* What the user reads while a member tries the same thing again and again: one line when it lasts, with request, broker and
 * code in it, and one when it is over. In simulated time. */
#include "suite.h"

#include "base/bytes.h"
#include "codec/api.h"
#include "codec/find_coordinator.h"
#include "codec/frame.h"
#include "codec/join_group.h"
#include "member/member.h"
#include "testkit/sim_cluster.h"

#include <regroup/member.h>
#include <stdio.h>
#include <string.h>

enum { SECOND = 1000000, FOR_EVER = INT32_MAX };

static struct rg__sim_world world;
static struct rg__sim_net net;
static struct rg__sim_cluster cluster;
static struct rg__sim_host host;
static rg_member *member;
static char warnings[8192], notices[8192];
static int warning_count, errors;

static void write_line(void *user, int level, const char *facility, const char *line)
{
	char *to = level <= 4 ? warnings : notices;
	size_t len = strlen(to);

	(void)user;
	warning_count += level <= 4;
	if (level <= 5)
		snprintf(to + len, sizeof(warnings) - len, "%s: %s\n", facility, line);
}

static void set(rg_conf *conf, const char *name, const char *value)
{
	rg_error error;

	ck_assert_msg(rg_conf_set(conf, name, value, &error) == RG_OK, "%s", error.text);
}

static void setup(void)
{
	rg_conf *conf = rg_conf_new();
	rg_error error;

	warnings[0] = notices[0] = '\0';
	warning_count = errors = 0;
	rg__sim_world_init(&world, 1);
	ck_assert(rg__sim_net_init(&net, &world));
	ck_assert(rg__sim_cluster_init(&cluster, &net, 1, 1));
	rg__sim_host_init(&host, &net, 1);
	host.latency_us = 500;
	set(conf, "bootstrap.servers", "b1:9092");
	set(conf, "group.id", "g");
	set(conf, "heartbeat.interval.ms", "1000");
	rg_conf_set_log(conf, write_line, NULL);
	ck_assert_msg(rg__member_new_on(&host.io, conf, "consumer", 1, NULL, NULL, &member, &error) == RG_OK, "%s",
	              error.text);
	rg_conf_free(conf);
}

static void teardown(void)
{
	rg_member_free(member);
	rg__sim_host_free(&host);
	rg__sim_cluster_free(&cluster);
	rg__sim_net_free(&net);
	rg__sim_world_free(&world);
}

static void join(void)
{
	rg_member_protocol protocol = {"range", {"", 0}};

	ck_assert_int_eq(rg_member_join(member, &protocol, 1, NULL), RG_OK);
}

/* An application that does what it is asked, and polls. */
static void live(int seconds)
{
	int64_t until = world.now_us + (int64_t)seconds * SECOND;
	rg_member_event *event;

	while (rg__sim_step(&world, until)) {
		rg_member_poll(member);
		while ((event = rg_member_next(member))) {
			if (event->type == RG_MEMBER_PREPARE || event->type == RG_MEMBER_LOST)
				ck_assert_int_eq(rg_member_prepared(member, event->ticket, NULL, 0, 0), RG_OK);
			if (event->type == RG_MEMBER_ASSIGN)
				ck_assert_int_eq(rg_member_assigned(member, event->ticket, NULL, 0), RG_OK);
			if (event->type == RG_MEMBER_ERROR) {
				errors++;
				rg_member_retry(member);
			}
			rg_member_event_free(event);
		}
	}
}

static void fault(enum rg__sim_fault_kind kind, int16_t api, int16_t error)
{
	rg__sim_fault_add(&cluster, &(struct rg__sim_fault){.kind = kind, .api = api, .host = -1, .error = error,
	                                                    .times = FOR_EVER});
}

/* --- Requests that are answered badly ------------------------------------------------------------------------------- */

static const struct {
	enum rg__sim_fault_kind kind;
	int16_t api, error;
	bool once_stable;
	const char *says[4];
} lasting[] = {
	{RG__SIM_ANSWER_ERROR, RG__API_FIND_COORDINATOR, 15, false, {"FindCoordinator for group \"g\" at b1:9092", "(15)", "in turn"}},
	{RG__SIM_ANSWER_ERROR, RG__API_FIND_COORDINATOR, 16, false, {"FindCoordinator for group \"g\" at b1:9092", "(16)", "in turn"}},
	{RG__SIM_ANSWER_ERROR, RG__API_FIND_COORDINATOR, -1, false, {"FindCoordinator for group \"g\" at b1:9092", "(-1)", "in turn"}},
	{RG__SIM_ANSWER_ERROR, RG__API_FIND_COORDINATOR, 14, false, {"FindCoordinator for group \"g\" at b1:9092", "(14)", "asked again"}},
	{RG__SIM_DROP_BEFORE, RG__API_FIND_COORDINATOR, 0, false, {"FindCoordinator for group \"g\": b1:9092", "in turn"}},
	{RG__SIM_GARBAGE, RG__API_FIND_COORDINATOR, 0, false, {"FindCoordinator for group \"g\"", "b1:9092", "in turn"}},
	{RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 79, false, {"JoinGroup for group \"g\" at b1:9092", "(79)", "joins again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 16, false, {"JoinGroup for group \"g\" at b1:9092", "(16)", "looked up again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 25, false, {"JoinGroup for group \"g\" at b1:9092", "(25)", "joins again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 27, false, {"JoinGroup for group \"g\" at b1:9092", "(27)", "joins again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 14, false, {"JoinGroup for group \"g\" at b1:9092", "(14)", "joins again"}},
	{RG__SIM_DROP_BEFORE, RG__API_JOIN_GROUP, 0, false, {"JoinGroup for group \"g\": b1:9092", "looked up again"}},
	{RG__SIM_GARBAGE, RG__API_JOIN_GROUP, 0, false, {"JoinGroup for group \"g\"", "b1:9092", "looked up again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_SYNC_GROUP, 27, false, {"SyncGroup for group \"g\" at b1:9092", "(27)", "joins again"}},
	{RG__SIM_DROP_AFTER, RG__API_SYNC_GROUP, 0, false, {"SyncGroup for group \"g\": b1:9092", "looked up again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_HEARTBEAT, -1, true, {"Heartbeat for group \"g\" at b1:9092", "(-1)", "sent again"}},
	{RG__SIM_ANSWER_ERROR, RG__API_HEARTBEAT, 25, true, {"Heartbeat for group \"g\" at b1:9092", "(25)", "joins again"}},
	{RG__SIM_DROP_BEFORE, RG__API_HEARTBEAT, 0, true, {"Heartbeat for group \"g\": b1:9092", "looked up again"}},
};

/* The line of a request, among those of the connection under it. */
static const char *find_line(const char *in, const char *facility)
{
	for (const char *at = in; *at; at = strchr(at, '\n') + 1)
		if (!strncmp(at, facility, strlen(facility)))
			return at;
	return NULL;
}

START_TEST(what_is_retried_for_ever_is_told_once_and_its_end_too)
{
	const char *const *says = lasting[_i].says;
	const char *line;

	if (lasting[_i].once_stable) {
		join();
		live(3);
		ck_assert_str_eq(rg_member_state(member), "Stable");
	}
	fault(lasting[_i].kind, lasting[_i].api, lasting[_i].error);
	if (!lasting[_i].once_stable)
		join();
	live(600);
	line = find_line(warnings, "RETRY");
	ck_assert_msg(line, "nothing was said: %s", warnings);
	for (int i = 0; i < 4 && says[i]; i++)
		ck_assert_msg(strstr(line, says[i]), "\"%s\" is missing: %s", says[i], warnings);
	/* Not a line for each failure: garbage may look like many errors, and a connection that breaks has its own line. */
	ck_assert_msg(warning_count <= (lasting[_i].kind == RG__SIM_GARBAGE ? 20 : 3), "%d lines: %s", warning_count, warnings);
	rg__sim_faults_clear(&cluster);
	live(60);
	ck_assert_str_eq(rg_member_state(member), "Stable");
	line = find_line(notices, "RETRY");
	ck_assert_msg(line && strstr(line, " works again, after "), "its end was not told: %s", notices);
}
END_TEST

START_TEST(another_cause_is_told_when_it_comes)
{
	fault(RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 16);
	join();
	live(30);
	ck_assert_int_eq(warning_count, 1);
	rg__sim_faults_clear(&cluster);
	fault(RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 14);
	live(30);
	ck_assert_int_eq(warning_count, 2);
	ck_assert_msg(strstr(warnings, "(14)"), "%s", warnings);
}
END_TEST

/* 79 belongs to every first join, and a group that rebalances says 27. */
START_TEST(what_belongs_to_a_join_is_not_told)
{
	join();
	live(60);
	for (int i = 0; i < 5; i++) {
		rg__sim_fault_add(&cluster, &(struct rg__sim_fault){RG__SIM_ANSWER_ERROR, RG__API_HEARTBEAT, -1, 27, 0, 1});
		live(10);
	}
	ck_assert_str_eq(rg_member_state(member), "Stable");
	ck_assert_str_eq(warnings, "");
	ck_assert_str_eq(notices, "");
}
END_TEST

START_TEST(a_member_that_left_has_no_trouble)
{
	fault(RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 16);
	join();
	live(30);
	ck_assert_int_eq(rg_member_leave(member, RG_LEAVE_DEFAULT, "enough", 1000), RG_OK);
	live(5);
	rg__sim_faults_clear(&cluster);
	join();
	live(30);
	ck_assert_str_eq(rg_member_state(member), "Stable");
	ck_assert_str_eq(notices, "");
}
END_TEST

/* The application gets each of these errors, and may pass them by; the log is not filled with them. */
START_TEST(what_the_application_is_told_is_logged_once_a_minute)
{
	fault(RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 81);
	join();
	live(100);
	ck_assert_int_gt(errors, 50);
	ck_assert_int_eq(warning_count, 2);
	rg__sim_faults_clear(&cluster);
	fault(RG__SIM_ANSWER_ERROR, RG__API_JOIN_GROUP, 30);
	live(5);
	ck_assert_int_eq(warning_count, 3);
	ck_assert_msg(strstr(warnings, "GROUP: JoinGroup for group \"g\" at b1:9092: GROUP_AUTHORIZATION_FAILED (30)"), "%s",
	              warnings);
}
END_TEST

/* --- Connections ---------------------------------------------------------------------------------------------------- */

/* The requests on the connection are answered first, and what they do may be its end: the word came too late. */
START_TEST(a_coordinator_connection_that_breaks_is_told)
{
	join();
	live(3);
	ck_assert_str_eq(warnings, "");
	rg__sim_fault_add(&cluster, &(struct rg__sim_fault){RG__SIM_DROP_BEFORE, RG__API_HEARTBEAT, -1, 0, 0, 1});
	live(10);
	ck_assert_int_eq(warning_count, 1);
	ck_assert_msg(strstr(warnings, "COORDINATOR: coordinator: b1:9092"), "%s", warnings);
	ck_assert_str_eq(rg_member_state(member), "Stable");
}
END_TEST

START_TEST(brokers_that_cannot_be_reached_are_told_once)
{
	rg__sim_stop(&cluster, 1, false);
	join();
	live(600);
	ck_assert_msg(find_line(warnings, "CONNECT") && strstr(warnings, "b1:9092"), "%s", warnings);
	ck_assert_msg(warning_count <= 2, "%s", warnings); /* the second is FindCoordinator's */
	rg__sim_start(&cluster, 1);
	live(10);
	ck_assert_str_eq(rg_member_state(member), "Stable");
	ck_assert_msg(find_line(notices, "CONNECT") && strstr(notices, "now to b1:9092"), "%s", notices);
}
END_TEST

START_TEST(a_coordinator_that_is_nowhere_is_told)
{
	cluster.names.brokers[0].port = 70000;
	join();
	live(60);
	ck_assert_msg(strstr(warnings, "FindCoordinator for group \"g\" at b1:9092") && strstr(warnings, "makes no sense"),
	              "%s", warnings);
	ck_assert_int_eq(warning_count, 1);
	cluster.names.brokers[0].port = 9092;
	strcpy(cluster.names.brokers[0].host, "nowhere");
	live(60);
	ck_assert_msg(strstr(warnings, "JoinGroup for group \"g\": nowhere:9092"), "%s", warnings);
	ck_assert_msg(warning_count <= 3, "%s", warnings);
}
END_TEST

/* --- Offsets -------------------------------------------------------------------------------------------------------- */

/* An answer that leaves topics out, say: whoever asked finds it, asks again, and tells the member each time. */
START_TEST(offsets_that_never_come_are_told)
{
	join();
	live(3);
	for (int i = 0; i < 100; i++) {
		rg__member_offsets_answered(member, false, RG_ERR_PROTOCOL, rg__member_epoch(member));
		live(1);
	}
	ck_assert_msg(strstr(warnings, "OffsetFetch for group \"g\": PROTOCOL"), "%s", warnings);
	rg__member_offsets_answered(member, false, RG_OK, rg__member_epoch(member));
	ck_assert_msg(strstr(notices, "OffsetFetch for group \"g\" works again"), "%s", notices);
	ck_assert_msg(warning_count <= 2, "%s", warnings); /* the coordinator was looked up again */
}
END_TEST

/* --- Answers that no broker gives ----------------------------------------------------------------------------------- */

static const struct rg__sim_port_events *real_events;
static int16_t hijacked;
static void (*hijacker)(struct rg__sim_connection *connection, const struct rg__request_header *header);
static int hijackings;

static void say(struct rg__sim_connection *connection, const struct rg__request_header *header, const void *body)
{
	struct rg__codec_error error;
	struct rg__buf out = {0};

	ck_assert(rg__encode_response(rg__api_by_key(header->request_api_key), header->request_api_version,
	                              header->correlation_id, body, &out, &error));
	rg__sim_send(connection, out.data, out.len);
	rg__buf_free(&out);
}

static void say_nul(struct rg__sim_connection *connection, const struct rg__request_header *header)
{
	struct rg__find_coordinator_response_coordinator one;
	struct rg__find_coordinator_response body;

	rg__fields_init(&rg__find_coordinator_response_fields, &body);
	rg__fields_init(&rg__find_coordinator_response_coordinator_fields, &one);
	one.key = rg__bytes_of("g");
	one.node_id = 1;
	one.host = (struct rg__bytes){(const uint8_t *)"b1\0.evil", 8};
	one.port = 9092;
	body.coordinators = (struct rg__array){&one, 1};
	say(connection, header, &body);
}

static void say_nobody(struct rg__sim_connection *connection, const struct rg__request_header *header)
{
	struct rg__join_group_response body;

	rg__fields_init(&rg__join_group_response_fields, &body);
	body.generation_id = ++hijackings;
	body.protocol_type = rg__bytes_of("consumer");
	body.protocol_name = rg__bytes_of("range");
	body.leader = body.member_id = rg__bytes_of("me");
	say(connection, header, &body);
}

static void hijack(void *user, struct rg__sim_connection *connection, const uint8_t *data, size_t len)
{
	struct rg__bytes whole = {data, len}, frame;
	struct rg__request_header header;
	struct rg__codec_error error;
	size_t used;

	if (rg__frame_next(whole, RG__FRAME_LIMIT_DEFAULT, &frame, &used, &error) && frame.data &&
	    rg__decode_request_header(frame, &header, &error) && header.request_api_key == hijacked)
		hijacker(connection, &header);
	else
		real_events->received(user, connection, data, len);
}

static void hijack_accepted(void *user, struct rg__sim_connection *connection)
{
	real_events->accepted(user, connection);
}

static void hijack_closed(void *user, struct rg__sim_connection *connection)
{
	real_events->closed(user, connection);
}

static void hijack_answers(int16_t api, void (*with)(struct rg__sim_connection *, const struct rg__request_header *))
{
	static const struct rg__sim_port_events events = {hijack_accepted, hijack, hijack_closed};

	hijacked = api;
	hijacker = with;
	hijackings = 0;
	real_events = net.ports[1].events;
	net.ports[1].events = &events;
}

/* Whoever connects to what stands before it may be somewhere else than the one who wrote it meant. */
START_TEST(a_host_name_with_a_nul_byte_is_refused)
{
	hijack_answers(RG__API_FIND_COORDINATOR, say_nul);
	join();
	live(60);
	ck_assert_int_eq(rg__member_coordinator(member, (char[8]){0}, 8), -1);
	ck_assert_msg(strstr(warnings, "FindCoordinator for group \"g\" at b1:9092") && strstr(warnings, "makes no sense"),
	              "%s", warnings);
}
END_TEST

/* It would plan for nobody, find its own topics missing in that, and rebalance once a second for ever. */
START_TEST(a_leader_that_is_told_of_no_members_waits)
{
	hijack_answers(RG__API_JOIN_GROUP, say_nobody);
	join();
	live(100);
	ck_assert_msg(strstr(warnings, "JoinGroup for group \"g\" at b1:9092") &&
	                      strstr(warnings, "not among the members that are listed"), "%s", warnings);
	ck_assert_int_eq(warning_count, 1);
	ck_assert_int_gt(hijackings, 50);
	ck_assert_int_le(hijackings, 130); /* retry.backoff.max.ms is a second */
	net.ports[1].events = real_events;
	live(60);
	ck_assert_str_eq(rg_member_state(member), "Stable");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_loop_test(tcase, what_is_retried_for_ever_is_told_once_and_its_end_too, 0,
	                    (int)(sizeof(lasting) / sizeof(lasting[0])));
	tcase_add_test(tcase, another_cause_is_told_when_it_comes);
	tcase_add_test(tcase, what_belongs_to_a_join_is_not_told);
	tcase_add_test(tcase, a_member_that_left_has_no_trouble);
	tcase_add_test(tcase, what_the_application_is_told_is_logged_once_a_minute);
	tcase_add_test(tcase, a_coordinator_connection_that_breaks_is_told);
	tcase_add_test(tcase, brokers_that_cannot_be_reached_are_told_once);
	tcase_add_test(tcase, a_coordinator_that_is_nowhere_is_told);
	tcase_add_test(tcase, offsets_that_never_come_are_told);
	tcase_add_test(tcase, a_host_name_with_a_nul_byte_is_refused);
	tcase_add_test(tcase, a_leader_that_is_told_of_no_members_waits);
}

int main(void)
{
	return run_suite("member_told", fill, setup, teardown);
}
