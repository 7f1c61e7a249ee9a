/* SPDX-License-Identifier: Apache-2.0 */
/* Event lines, read back by another hand's JSON reader. */
#include "base/event_line.h"

#include "../../lib/suite.h"
#include "base/alloc.h"
#include "base/json.h"

#include <jansson.h>
#include <string.h>

START_TEST(a_line_is_one_object)
{
	struct rg__event_line line = {0};
	json_t *object, *partitions;
	const char *text;

	rg__event_begin(&line, 1700000000000001, "client", "m\"1", 3, "assigned");
	rg__event_bool(&line, "leader", true);
	rg__event_int(&line, "attempt", 2);
	rg__event_str(&line, "reason", "a\nb");
	rg__event_str(&line, "absent", NULL);
	rg__event_partitions_begin(&line, "partitions");
	rg__event_partition(&line, "a", 0, true, true);
	rg__event_partition(&line, "a", 1, false, false);
	rg__event_partition(&line, "b", 7, false, true);
	rg__event_partitions_end(&line, true);
	text = rg__event_end(&line);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(strchr(text, '\n'));
	object = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(object);
	ck_assert_int_eq(json_integer_value(json_object_get(object, "t_us")), 1700000000000001);
	ck_assert_str_eq(json_string_value(json_object_get(object, "src")), "client");
	ck_assert_str_eq(json_string_value(json_object_get(object, "member")), "m\"1");
	ck_assert_int_eq(json_integer_value(json_object_get(object, "gen")), 3);
	ck_assert_str_eq(json_string_value(json_object_get(object, "event")), "assigned");
	ck_assert(json_is_true(json_object_get(object, "leader")));
	ck_assert_str_eq(json_string_value(json_object_get(object, "reason")), "a\nb");
	ck_assert_ptr_null(json_object_get(object, "absent"));
	partitions = json_object_get(object, "partitions");
	ck_assert_uint_eq(json_array_size(json_object_get(partitions, "a")), 2);
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(partitions, "b"), 0)), 7);
	json_decref(object);

	/* The next one begins clean, and "nothing" is an object too. */
	rg__event_begin(&line, 2, "client", NULL, -1, "lost");
	rg__event_partitions_begin(&line, "partitions");
	rg__event_partitions_end(&line, false);
	ck_assert_str_eq(rg__event_end(&line), "{\"t_us\":2,\"src\":\"client\",\"member\":\"\",\"gen\":-1,\"event\":\"lost\",\"partitions\":{}}");
	rg__event_free(&line);
}
END_TEST

START_TEST(hostile_text_stays_text)
{
	/* Member ids, topics and reasons come from others. */
	static const struct {
		struct rg__bytes text;
		const char *json;
	} cases[] = {
		{{(const uint8_t *)"a\0b\x1f\x7f", 5}, "\"a\\u0000b\\u001f\\u007f\""},
		{{(const uint8_t *)"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9}, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{{(const uint8_t *)"\xff", 1}, "\"\xef\xbf\xbd\""},
		{{(const uint8_t *)"\xc0\x80", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  /* overlong */
		{{(const uint8_t *)"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
		{{(const uint8_t *)"\xf4\x90\x80\x80", 4}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{{(const uint8_t *)"x\xe2\x82", 3}, "\"x\xef\xbf\xbd\xef\xbf\xbd\""},               /* cut off */
		{{(const uint8_t *)"\"\\/", 3}, "\"\\\"\\\\/\""},
		{{NULL, 0}, "\"\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rg__buf buf = {0};

		ck_assert(rg__json_string(&buf, cases[i].text));
		ck_assert(rg__bytes_is(rg__buf_view(&buf), cases[i].json));
		json_t *value = json_loadb((const char *)buf.data, buf.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		ck_assert_ptr_nonnull(value);
		json_decref(value);
		rg__buf_free(&buf);
	}
}
END_TEST

START_TEST(without_memory_there_is_no_line)
{
	struct rg__event_line line = {0};
	long n = 0, left;

	do {
		const char *text;

		rg__event_free(&line);
		rg__alloc_fail_after(++n);
		rg__event_begin(&line, 1, "client", "m1", 1, "a name that is long enough to need more than one piece of memory, twice");
		rg__event_str(&line, "reason", "and this one makes sure of it, because it is quite as long as the first one was");
		text = rg__event_end(&line);
		left = rg__alloc_fail_after(0);
		ck_assert((text != NULL) == (left > 0));
	} while (left <= 0);
	ck_assert_int_gt(n, 2);
	/* A line that failed does not spoil the next. */
	rg__event_free(&line);
	rg__alloc_fail_after(1);
	rg__event_begin(&line, 1, "client", "m1", 1, "x");
	ck_assert_ptr_null(rg__event_end(&line));
	rg__event_begin(&line, 1, "client", "m1", 1, "x");
	ck_assert_ptr_nonnull(rg__event_end(&line));
	rg__event_free(&line);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_line_is_one_object);
	tcase_add_test(tcase, hostile_text_stays_text);
	tcase_add_test(tcase, without_memory_there_is_no_line);
}

int main(void)
{
	return suite_run("base_event_line", fill, 10);
}
