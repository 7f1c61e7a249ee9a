/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.servers, and which address of a cluster is tried when. */
#include "base/alloc.h"
#include "link/candidates.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *list;
	const char *want[4]; /* as host|port */
} good[] = {
	{"a:1", {"a|1"}},
	{"localhost:9092,kafka-2.example.com:19092", {"localhost|9092", "kafka-2.example.com|19092"}},
	{" a:1 ,\tb:2\n", {"a|1", "b|2"}},
	{"a:1,,b:2,", {"a|1", "b|2"}},
	{"a", {"a|9092"}},
	{"[::1]:9093,[fe80::1%eth0]", {"::1|9093", "fe80::1%eth0|9092"}},
	{"10.0.0.1:65535", {"10.0.0.1|65535"}},
	{"b\xc3\xbc" "cher.example:1", {"b\xc3\xbc" "cher.example|1"}},
};

START_TEST(good_lists)
{
	struct rg__endpoint *endpoints = NULL;
	size_t count = 0;
	rg_error error = {0};

	ck_assert_int_eq(rg__bootstrap_parse(good[_i].list, &endpoints, &count, &error), RG_OK);
	for (size_t i = 0; i < count; i++) {
		char text[300];

		snprintf(text, sizeof(text), "%s|%u", endpoints[i].host, (unsigned)endpoints[i].port);
		ck_assert_ptr_nonnull(good[_i].want[i]);
		ck_assert_str_eq(text, good[_i].want[i]);
	}
	ck_assert_ptr_null(good[_i].want[count]);
	rg__free(endpoints);
}
END_TEST

static const struct {
	const char *list, *text;
} bad[] = {
	{NULL, "bootstrap.servers: not set; give host:port[,host:port]"},
	{"", "bootstrap.servers: empty; give host:port[,host:port]"},
	{" , ,", "bootstrap.servers: empty; give host:port[,host:port]"},
	{"a:1,b:x", "bootstrap.servers: \"b:x\": the port must be a number from 1 to 65535"},
	{"a:0", "bootstrap.servers: \"a:0\": the port must be a number from 1 to 65535"},
	{"a:65536", "bootstrap.servers: \"a:65536\": the port must be a number from 1 to 65535"},
	{"a:", "bootstrap.servers: \"a:\": the port must be a number from 1 to 65535"},
	{"a:-1", "bootstrap.servers: \"a:-1\": the port must be a number from 1 to 65535"},
	{"a:00000000009092", "bootstrap.servers: \"a:00000000009092\": the port must be a number from 1 to 65535"},
	{":9092", "bootstrap.servers: \":9092\": the host is missing"},
	{"[]:9092", "bootstrap.servers: \"[]:9092\": the host is missing"},
	{"[::1:9092", "bootstrap.servers: \"[::1:9092\": the bracket is not closed"},
	{"[::1]9092", "bootstrap.servers: \"[::1]9092\": only :port may follow the bracket"},
	/* What may be a password is not given back. */
	{"a:1,user:secret@b:9092",
	 "bootstrap.servers: not accepted, with an '@' in it: host:port[,host:port], without user and password"},
	{"user:sec,ret@b:9092",
	 "bootstrap.servers: not accepted, with an '@' in it: host:port[,host:port], without user and password"},
	{"a b:9092", "bootstrap.servers: \"a b:9092\": the host has a character that no host name has"},
	{"a:1;b:2", "bootstrap.servers: \"a:1;b:2\": an IPv6 address needs brackets, as in [::1]:9092; a protocol in front "
	            "is not part of it"},
	{"::1", "bootstrap.servers: \"::1\": an IPv6 address needs brackets, as in [::1]:9092; a protocol in front is not "
	        "part of it"},
	{"PLAINTEXT://a:1", "bootstrap.servers: \"PLAINTEXT://a:1\": an IPv6 address needs brackets, as in [::1]:9092; a "
	                    "protocol in front is not part of it"},
};

START_TEST(bad_lists_name_the_entry)
{
	struct rg__endpoint *endpoints = NULL;
	size_t count = 77;
	rg_error error = {0};

	ck_assert_int_eq(rg__bootstrap_parse(bad[_i].list, &endpoints, &count, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, bad[_i].text);
	ck_assert_ptr_null(endpoints);
	ck_assert_uint_eq(count, 77);
}
END_TEST

START_TEST(too_long_a_host)
{
	struct rg__endpoint *endpoints = NULL;
	size_t count = 0;
	char list[600];
	rg_error error = {0};

	memset(list, 'a', sizeof(list));
	memcpy(list + 255, ":1", 3);
	ck_assert_int_eq(rg__bootstrap_parse(list, &endpoints, &count, &error), RG_OK);
	rg__free(endpoints);
	memset(list, 'a', sizeof(list));
	list[sizeof(list) - 1] = '\0';
	ck_assert_int_eq(rg__bootstrap_parse(list, &endpoints, &count, &error), RG_ERR_INVALID);
	ck_assert_msg(strstr(error.text, "longer than 255 bytes"), "%s", error.text);
}
END_TEST

START_TEST(no_memory)
{
	struct rg__endpoint *endpoints = NULL;
	size_t count = 0;

	rg__alloc_fail_after(1);
	ck_assert_int_eq(rg__bootstrap_parse("a:1", &endpoints, &count, NULL), RG_ERR_MEMORY);
	ck_assert_int_eq(rg__alloc_fail_after(0), 0);
}
END_TEST

/* --- Candidates --------------------------------------------------------------------------------------------------- */

static struct rg__candidates candidates;

static void begin_with(int count, uint64_t seed)
{
	struct rg__endpoint endpoints[8] = {0};

	for (int i = 0; i < count; i++) {
		snprintf(endpoints[i].host, sizeof(endpoints[i].host), "boot%d", i);
		endpoints[i].port = 9092;
	}
	ck_assert_int_eq(rg__candidates_init(&candidates, endpoints, (size_t)count, 100, 1000, seed), RG_OK);
}

static struct rg__candidate *next(int64_t now_us)
{
	int64_t at_us = 0;

	return rg__candidates_next(&candidates, now_us, &at_us);
}

START_TEST(order_depends_on_the_seed)
{
	bool first[4] = {false};

	for (uint64_t seed = 0; seed < 100; seed++) {
		begin_with(4, seed);
		first[next(0)->at.host[4] - '0'] = true;
		rg__candidates_clear(&candidates);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_msg(first[i], "boot%d was never first", i);
}
END_TEST

START_TEST(each_in_turn_then_wait)
{
	int tried[3] = {0};
	int64_t at_us = 0;

	begin_with(3, 7);
	for (int i = 0; i < 3; i++) {
		struct rg__candidate *at = next(1000);

		tried[at->at.host[4] - '0']++;
		rg__candidates_failed(&candidates, &at->at, 1000);
	}
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(tried[i], 1);
	ck_assert_ptr_null(rg__candidates_next(&candidates, 1000, &at_us));
	ck_assert_int_ge(at_us, 1000 + 80000);
	ck_assert_int_le(at_us, 1000 + 120000);
	ck_assert_ptr_null(rg__candidates_next(&candidates, at_us - 1, &at_us));
	ck_assert_ptr_nonnull(rg__candidates_next(&candidates, at_us, &at_us));
	rg__candidates_clear(&candidates);
}
END_TEST

/* KIP-580: the pause grows to its maximum, give or take a fifth. */
START_TEST(pauses_grow)
{
	static const int64_t want_ms[] = {100, 200, 400, 800, 1000, 1000, 1000};
	int64_t now = 0;

	begin_with(1, (uint64_t)_i);
	for (size_t i = 0; i < sizeof(want_ms) / sizeof(want_ms[0]); i++) {
		struct rg__candidate *at = next(now);

		ck_assert_ptr_nonnull(at);
		rg__candidates_failed(&candidates, &at->at, now);
		ck_assert_int_ge(at->not_before_us - now, want_ms[i] * 800);
		ck_assert_int_le(at->not_before_us - now, want_ms[i] * 1200);
		now = at->not_before_us;
	}
	rg__candidates_worked(&candidates, &candidates.items[0].at);
	rg__candidates_failed(&candidates, &candidates.items[0].at, now);
	ck_assert_int_le(candidates.items[0].not_before_us - now, 120000);
	rg__candidates_clear(&candidates);
}
END_TEST

/* KIP-899: known brokers first; when each of them has failed, bootstrap addresses too. */
START_TEST(rebootstrap)
{
	begin_with(1, 1);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "node1", 5, 9092), RG_OK);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 2, "node2", 5, 9092), RG_OK);
	struct rg__candidate *a = next(0);

	ck_assert_int_eq(a->node_id, 1);
	rg__candidates_failed(&candidates, &a->at, 0);
	struct rg__candidate *b = next(0);

	ck_assert_int_eq(b->node_id, 2);
	rg__candidates_failed(&candidates, &b->at, 0);
	ck_assert_str_eq(next(0)->at.host, "boot0");
	rg__candidates_clear(&candidates);
}
END_TEST

START_TEST(learning)
{
	begin_with(1, 1);
	ck_assert_int_eq(rg__candidates_learn(&candidates, -1, "x", 1, 9092), RG_ERR_INVALID);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "", 0, 9092), RG_ERR_INVALID);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "x\0y", 3, 9092), RG_ERR_INVALID);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "x", 1, 0), RG_ERR_INVALID);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "x", 1, -9092), RG_ERR_INVALID);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "x", 1, 65536), RG_ERR_INVALID);
	ck_assert_uint_eq(candidates.count, 1);

	/* The bootstrap address may be a broker's own. */
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "boot0", 5, 9092), RG_OK);
	ck_assert_uint_eq(candidates.count, 1);
	/* A broker moves: its old address goes, unless it is a bootstrap one. */
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "b", 1, 1), RG_OK);
	ck_assert_int_eq(rg__candidates_learn(&candidates, 1, "c", 1, 1), RG_OK);
	rg__candidates_tidy(&candidates);
	ck_assert_uint_eq(candidates.count, 2);
	ck_assert_str_eq(rg__candidates_node(&candidates, 1)->at.host, "c");
	ck_assert_ptr_null(rg__candidates_node(&candidates, 2));
	ck_assert_ptr_null(rg__candidates_node(&candidates, -1));
	rg__candidates_forget(&candidates);
	rg__candidates_tidy(&candidates);
	ck_assert_uint_eq(candidates.count, 1);
	rg__candidates_clear(&candidates);
}
END_TEST

/* Metadata that names a million brokers does not fill the memory. */
START_TEST(brokers_have_a_limit)
{
	begin_with(1, 1);
	for (int32_t id = 0; id < 5000; id++) {
		char host[32];
		int len = snprintf(host, sizeof(host), "node%d", id);

		rg__candidates_learn(&candidates, id, host, (size_t)len, 9092);
	}
	ck_assert_uint_le(candidates.count, 2000);
	ck_assert_ptr_nonnull(rg__candidates_node(&candidates, 0));
	rg__candidates_clear(&candidates);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_bootstrap");
	TCase *tcase = tcase_create("bootstrap");

	tcase_add_loop_test(tcase, good_lists, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, bad_lists_name_the_entry, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, too_long_a_host);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, order_depends_on_the_seed);
	tcase_add_test(tcase, each_in_turn_then_wait);
	tcase_add_loop_test(tcase, pauses_grow, 0, 20);
	tcase_add_test(tcase, rebootstrap);
	tcase_add_test(tcase, learning);
	tcase_add_test(tcase, brokers_have_a_limit);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
