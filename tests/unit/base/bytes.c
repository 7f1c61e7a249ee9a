/* SPDX-License-Identifier: Apache-2.0 */
/* Views of bytes, buffers that grow, and allocations that fail on demand. */
#include "base/bytes.h"

#include "../../lib/suite.h"
#include "base/alloc.h"

#include <string.h>

START_TEST(null_is_not_empty)
{
	/* Kafka tells null from "": a NULL group.instance.id is no instance id, an empty one is invalid. */
	struct rg__bytes null = rg__bytes_of(NULL), empty = rg__bytes_of("");

	ck_assert_ptr_null(null.data);
	ck_assert_ptr_nonnull(empty.data);
	ck_assert(rg__bytes_equal(null, RG__NULL_BYTES));
	ck_assert(rg__bytes_equal(empty, rg__bytes_of("")));
	ck_assert(!rg__bytes_equal(null, empty));
	ck_assert(!rg__bytes_equal(empty, null));
	ck_assert(rg__bytes_is(null, NULL));
	ck_assert(rg__bytes_is(empty, ""));
	ck_assert(!rg__bytes_is(empty, NULL));
}
END_TEST

START_TEST(bytes_are_ordered_as_java_orders_strings_of_ascii)
{
	static const char *const ordered[] = {NULL, "", "a", "a-", "aa", "ab", "b", "\xc3\xa4"};
	int count = (int)(sizeof(ordered) / sizeof(ordered[0]));

	for (int i = 0; i < count; i++)
		for (int j = 0; j < count; j++) {
			int order = rg__bytes_compare(rg__bytes_of(ordered[i]), rg__bytes_of(ordered[j]));

			ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
		}
	/* A NUL is a byte like others. */
	ck_assert(!rg__bytes_equal((struct rg__bytes){(const uint8_t *)"a\0b", 3}, (struct rg__bytes){(const uint8_t *)"a\0c", 3}));
	ck_assert(!rg__bytes_is((struct rg__bytes){(const uint8_t *)"a\0b", 3}, "a"));
}
END_TEST

START_TEST(a_stored_copy_is_its_own)
{
	char source[] = "member-1", *copy = NULL;

	ck_assert(rg__bytes_store(rg__bytes_of(source), &copy));
	source[0] = 'x';
	ck_assert_str_eq(copy, "member-1");
	/* Also of a part, without a NUL behind it, and of itself. */
	ck_assert(rg__bytes_store((struct rg__bytes){(const uint8_t *)copy, 3}, &copy));
	ck_assert_str_eq(copy, "mem");
	/* Without memory it stays what it was. */
	rg__alloc_fail_after(1);
	ck_assert(!rg__bytes_store(rg__bytes_of("other"), &copy));
	ck_assert_str_eq(copy, "mem");
	ck_assert(rg__bytes_store(RG__NULL_BYTES, &copy));
	ck_assert_ptr_null(copy);
}
END_TEST

START_TEST(a_buffer_grows)
{
	struct rg__buf buf = {0};
	struct rg__bytes view = rg__buf_view(&buf);

	ck_assert_ptr_nonnull(view.data); /* empty, and not null */
	ck_assert_uint_eq(view.len, 0);
	for (int i = 0; i < 10000; i++)
		ck_assert(rg__buf_append(&buf, &(uint8_t){(uint8_t)i}, 1));
	ck_assert_uint_eq(buf.len, 10000);
	for (int i = 0; i < 10000; i++)
		ck_assert_uint_eq(buf.data[i], (uint8_t)i);
	rg__buf_consume(&buf, 255);
	ck_assert_uint_eq(buf.len, 9745);
	ck_assert_uint_eq(buf.data[0], 255);
	rg__buf_consume(&buf, 100000);
	ck_assert_uint_eq(buf.len, 0);
	ck_assert(rg__buf_append_str(&buf, "topic"));
	ck_assert(rg__buf_printf(&buf, "-%d", 12));
	ck_assert(rg__buf_append(&buf, NULL, 0));
	ck_assert(rg__bytes_is(rg__buf_view(&buf), "topic-12"));
	rg__buf_free(&buf);
	ck_assert_ptr_null(buf.data);
	ck_assert(rg__buf_append_str(&buf, "again"));
	rg__buf_free(&buf);
}
END_TEST

START_TEST(a_failed_buffer_stays_failed)
{
	/* So that a writer may check once at the end. */
	struct rg__buf buf = {0};

	ck_assert(rg__buf_append_str(&buf, "kept"));
	ck_assert(!rg__buf_reserve(&buf, SIZE_MAX - 2));
	ck_assert(buf.failed);
	ck_assert(!rg__buf_append_str(&buf, "x"));
	ck_assert(!rg__buf_printf(&buf, "%d", 1));
	ck_assert(rg__bytes_is(rg__buf_view(&buf), "kept"));
	rg__buf_free(&buf);
	ck_assert(!buf.failed);

	rg__alloc_fail_after(1);
	ck_assert(!rg__buf_append_str(&buf, "x"));
	ck_assert(buf.failed);
	rg__buf_free(&buf);
}
END_TEST

START_TEST(exactly_the_nth_allocation_fails)
{
	void *first, *second, *third;

	rg__alloc_fail_after(2);
	first = rg__malloc(1);
	second = rg__calloc(2, 3);
	third = rg__malloc(1);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(second);
	ck_assert_ptr_nonnull(third);
	/* realloc that fails leaves the old memory alone; strdup goes the same way. */
	rg__alloc_fail_after(1);
	ck_assert_ptr_null(rg__realloc(first, 100));
	rg__alloc_fail_after(1);
	ck_assert_ptr_null(rg__strdup("x"));
	/* What is left of the countdown tells whether it was reached. */
	rg__alloc_fail_after(10);
	rg__free(rg__malloc(1));
	ck_assert_int_eq(rg__alloc_fail_after(0), 9);
	rg__free(first);
	rg__free(third);
	rg__free(NULL);
}
END_TEST

START_TEST(copies_of_strings)
{
	char *copy = rg__strndup("ab\0cd", 5);

	ck_assert_mem_eq(copy, "ab\0cd", 6);
	rg__free(copy);
	ck_assert_ptr_null(rg__strdup(NULL));
	ck_assert_ptr_null(rg__strndup(NULL, 3));
	ck_assert_ptr_null(rg__strndup("x", SIZE_MAX));
	copy = rg__malloc(0);
	ck_assert_ptr_nonnull(copy);
	rg__free(copy);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, null_is_not_empty);
	tcase_add_test(tcase, bytes_are_ordered_as_java_orders_strings_of_ascii);
	tcase_add_test(tcase, a_stored_copy_is_its_own);
	tcase_add_test(tcase, a_buffer_grows);
	tcase_add_test(tcase, a_failed_buffer_stays_failed);
	tcase_add_test(tcase, exactly_the_nth_allocation_fails);
	tcase_add_test(tcase, copies_of_strings);
}

int main(void)
{
	return suite_run("base_bytes", fill, 10);
}
