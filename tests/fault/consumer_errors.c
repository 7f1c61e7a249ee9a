/* SPDX-License-Identifier: Apache-2.0 */
/* Error numbers as answers to what a whole consumer asks for, on the embedded cluster: once for each API and number, and for
 * a while for what only a consumer asks (offsets, Metadata). It reacts as the reaction table says, nobody hears more than
 * the one error there is to hear, nothing spins, and closing takes no longer than it may. The member's own requests, with
 * every number there is, are errors.c's. */
#include "../testkit/crew.h"
#include "codec/api.h"
#include "group/reactions.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { CLOSE_MS = 3000, LASTS_MS = 1000, RULES = 300, PER_SECOND_MAX = 60 };

static const int codes[] = {-1, 1,  3,  5,  7,  8,  9,  12, 14, 15, 16, 17, 22, 23, 24,  25,  26,  27,
                            28, 29, 30, 33, 35, 41, 42, 56, 58, 69, 74, 79, 81, 82, 88, 100, 120, 999};
enum { CODES = sizeof(codes) / sizeof(*codes) };

static const struct api {
	const char *name;
	int key;
	int request; /* enum rg__request; -1: no reaction of the member's */
} apis[] = {
	{"ApiVersions", RG__API_API_VERSIONS, -1},
	{"Metadata", RG__API_METADATA, -1},
	{"FindCoordinator", RG__API_FIND_COORDINATOR, RG__REQUEST_FIND_COORDINATOR},
	{"JoinGroup", RG__API_JOIN_GROUP, RG__REQUEST_JOIN_GROUP},
	{"SyncGroup", RG__API_SYNC_GROUP, RG__REQUEST_SYNC_GROUP},
	{"Heartbeat", RG__API_HEARTBEAT, RG__REQUEST_HEARTBEAT},
	{"OffsetFetch", RG__API_OFFSET_FETCH, RG__REQUEST_OFFSET_FETCH},
	{"OffsetCommit", RG__API_OFFSET_COMMIT, RG__REQUEST_OFFSET_COMMIT},
	{"LeaveGroup", RG__API_LEAVE_GROUP, RG__REQUEST_LEAVE_GROUP},
};
enum { APIS = sizeof(apis) / sizeof(*apis) };

static struct actor a;
static const struct api *api;
static int code, number;

static enum rg__verb verb(void)
{
	return api->request < 0 ? RG__RETRY : rg__react((enum rg__request)api->request, code)->verb;
}

static void start(void)
{
	rg_error error = {0};

	crew_cluster("t:4", 1);
	for (int i = 0; i < 4; i++)
		OK(rg_testkit_produce(kit, "t", i, "record-", 0, 2, &error));
}

static void get_in(void)
{
	char group[32];

	snprintf(group, sizeof(group), "g%d", number++);
	crew_open(&a, "a", crew_conf("group.id", group, "fetch.wait.max.ms", "10", NULL));
	rg_error error = {0};

	OK(rg_consumer_subscribe(a.consumer, (const char *[]){"t"}, 1, &crew_listener, &a, &error));
}

static void refuse(int nth)
{
	rg_error error = {0};

	OK(rg_testkit_fail_request(kit, api->key, nth, code, &error));
}

static bool is_settled(void)
{
	return rg_consumer_failed(a.consumer) || a.owned == 4;
}

static bool can_be_told(const char *told, int times)
{
	const char *name = rg_err_name(code);

	return !strcmp(told, "") || (times && !strcmp(told, name));
}

static void close_in_time(void)
{
	int64_t began = now_ms();
	rg_error error = {0};
	rg_err err = rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, CLOSE_MS, &error);

	ck_assert_msg(err == RG_OK || err == RG_ERR_TIMED_OUT, "%s", error.text);
	ck_assert_int_lt(now_ms() - began, CLOSE_MS + 2500);
	ck_assert_int_eq(a.owned, 0);
	ck_assert(alternates(&a));
	ck_assert_int_eq(a.violations, 0);
	crew_close(&a, RG_CLOSE_LEAVE);
}

/* A commit hears of what is the caller's, and of what ends the generation. */
static void commit(void)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	rg_err err;

	rd_kafka_topic_partition_list_add(list, "t", 0)->offset = 1;
	err = rg_consumer_commit(a.consumer, list, WITHIN_MS, &error);
	ck_assert_msg(err == (verb() == RG__RETRY ? RG_OK : code), "OffsetCommit answers %d: %s (%s)", code,
	              rg_err_name(err), error.text);
	ck_assert_msg(!err || strstr(error.text, rg_err_name(err)) != NULL, "%s", error.text);
	rd_kafka_topic_partition_list_destroy(list);
}

/* What was told, and that the consumer lives on as it should. */
static void check(void)
{
	const char *name = rg_err_name(code);
	bool fails = verb() == RG__FAIL, told = fails || verb() == RG__REPORT;

	crew_until(is_settled(), &a);
	if (api->key == RG__API_FIND_COORDINATOR && a.owned == 4 && !a.errors[0])
		return; /* it was librdkafka's look-up that was refused, which is nobody's business */
	if (fails) {
		crew_until(rg_consumer_failed(a.consumer) && a.errors[0], &a);
		ck_assert_int_eq(strncmp(a.errors, name, strlen(name)), 0);
		return;
	}
	ck_assert(!rg_consumer_failed(a.consumer));
	crew_until(a.records >= 8, &a);
	if (told)
		ck_assert_msg(!strcmp(a.errors, name), "%s answers %d: told %s", api->name, code, a.errors);
	else
		ck_assert_msg(can_be_told(a.errors, api->key == RG__API_OFFSET_FETCH || api->key == RG__API_METADATA),
		              "%s answers %d: told %s: %s", api->name, code, a.errors, a.error.text);
}

static void once(void)
{
	int64_t beats = rg_testkit_request_count(kit, RG__API_HEARTBEAT);
	bool late = api->key == RG__API_HEARTBEAT || api->key == RG__API_OFFSET_COMMIT || api->key == RG__API_LEAVE_GROUP;

	if (!late)
		refuse(1);
	get_in();
	if (late)
		crew_until(a.owned == 4, &a);
	if (late)
		refuse(1);
	if (api->key == RG__API_OFFSET_COMMIT)
		commit();
	if (api->key == RG__API_HEARTBEAT)
		crew_until(rg_testkit_request_count(kit, RG__API_HEARTBEAT) > beats + 2 || rg_consumer_failed(a.consumer), &a);
	if (api->key != RG__API_LEAVE_GROUP)
		check();
	close_in_time();
}

START_TEST(said_once)
{
	api = &apis[_i];
	for (int i = 0; i < CODES; i++) {
		code = codes[i];
		once();
	}
}
END_TEST

static const struct {
	int api, code;
} lasting[] = {
	{1, 3}, {1, 5}, {1, 29}, {1, 999}, {6, 3}, {6, 14}, {6, 16}, {6, 30}, {6, 88}, {7, 3}, {7, 14}, {7, 16}, {7, 999},
};
enum { LASTING = sizeof(lasting) / sizeof(*lasting) };

/* As long as the test: more often than RULES it would not be asked anyway. */
START_TEST(said_for_ever)
{
	int64_t ends, requests;
	rg_error error = {0};

	api = &apis[lasting[_i].api];
	code = lasting[_i].code;
	for (int i = 1; i <= RULES; i++)
		refuse(i);
	get_in();
	if (api->key != RG__API_METADATA)
		crew_until(a.owned == 4, &a);
	requests = rg_testkit_request_count(kit, api->key);
	if (api->key == RG__API_OFFSET_COMMIT)
		OK(rg_consumer_commit_async(a.consumer, NULL, NULL, NULL, &error));
	for (ends = now_ms() + LASTS_MS; now_ms() < ends;)
		crew_turn((struct actor *[]){&a, NULL});
	requests = rg_testkit_request_count(kit, api->key) - requests;
	ck_assert_msg(requests <= PER_SECOND_MAX * LASTS_MS / 1000, "%s answers %d: %d requests a second", api->name, code,
	              (int)requests);
	ck_assert(!rg_consumer_failed(a.consumer));
	close_in_time();
}
END_TEST

/* --- An assignor's errors ----------------------------------------------------------------------------------------- */

static struct {
	rg_err returns; /* RG_OK: gives one partition twice */
	int calls;
} bad;

/* Bad the first time, and then it gives everything to everybody's first. */
static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)user;
	if (bad.calls++) {
		rg_plan_give_range(plan, 0, 0, 0, group->topics[0].partition_count);
		return RG_OK;
	}
	if (!bad.returns) {
		rg_plan_give(plan, 0, 0, 0);
		return rg_plan_give(plan, 0, 0, 0);
	}
	snprintf(error->text, sizeof(error->text), "this is why");
	return bad.returns;
}

static const struct {
	rg_err returned, told;
	const char *word;
} assignors[] = {
	{RG_OK, RG_ERR_BAD_PLAN, "mine"},
	{RG_ERR_INVALID, RG_ERR_ASSIGNOR, "this is why"},
	{27, RG_ERR_ASSIGNOR, "this is why"}, /* no broker said that */
	{RG_ERR_MEMORY, RG_ERR_MEMORY, "this is why"},
};
enum { ASSIGNORS = sizeof(assignors) / sizeof(*assignors) };

/* Poll tells it once, and after a pause it is asked again. */
START_TEST(an_assignor_that_fails)
{
	rg_assignor mine = {.size = sizeof(mine), .name = "mine", .protocols = RG_EAGER, .assign = assign};
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0}, told = {0};

	bad.returns = assignors[_i].returned;
	bad.calls = 0;
	OK(rg_conf_add_assignor(conf, &mine, NULL, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "mine", &error));
	crew_open(&a, "a", conf);
	crew_subscribe(&a, "t");
	for (int64_t ends = now_ms() + WITHIN_MS; !told.code;) {
		ck_assert_int_lt(now_ms(), ends);
		ck_assert_ptr_null(rg_consumer_poll(a.consumer, 10, &told));
	}
	ck_assert_int_eq(told.code, assignors[_i].told);
	ck_assert_msg(strstr(told.text, assignors[_i].word) != NULL, "%s", told.text);
	crew_until(a.owned == 4, &a);
	ck_assert_str_eq(a.errors, "");
	ck_assert_int_eq(bad.calls, 2);
	close_in_time();
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, start, crew_end);
	tcase_add_loop_test(tcase, said_once, 0, APIS);
	tcase_add_loop_test(tcase, said_for_ever, 0, LASTING);
	tcase_add_loop_test(tcase, an_assignor_that_fails, 0, ASSIGNORS);
}

int main(void)
{
	return run_suite("fault_consumer_errors", fill);
}
