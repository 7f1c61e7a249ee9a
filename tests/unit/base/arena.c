/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "../../lib/suite.h"
#include "base/alloc.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

START_TEST(memory_is_zeroed_and_aligned)
{
	struct rg__arena arena = {0};
	char *last = NULL;

	for (size_t size = 0; size < 600; size++) {
		char *p = rg__arena_calloc(&arena, 1, size);

		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
		ck_assert_ptr_ne(p, last);
		for (size_t i = 0; i < size; i++)
			ck_assert_int_eq(p[i], 0);
		memset(p, 0x55, size); /* the next must not lie in it */
		last = p;
	}
	ck_assert_uint_ge(arena.size_total, 600 * 599 / 2);
	rg__arena_clear(&arena);
	ck_assert_uint_eq(arena.size_total, 0);
	ck_assert_ptr_nonnull(rg__arena_calloc(&arena, 3, 5));
	rg__arena_clear(&arena);
	rg__arena_clear(&arena);
}
END_TEST

START_TEST(a_large_piece_does_not_waste_the_current_block)
{
	struct rg__arena arena = {0};
	char *small = rg__arena_calloc(&arena, 1, 16), *large = rg__arena_calloc(&arena, 1, 100000), *next;

	ck_assert_ptr_nonnull(large);
	memset(large, 1, 100000);
	next = rg__arena_calloc(&arena, 1, 16);
	ck_assert_ptr_eq(next, small + 16);
	rg__arena_clear(&arena);
}
END_TEST

START_TEST(copies)
{
	struct rg__arena arena = {0};
	char *copy = rg__arena_copy(&arena, "a\0b", 3);

	ck_assert_mem_eq(copy, "a\0b", 4);
	ck_assert_str_eq(rg__arena_copy(&arena, NULL, 0), "");
	ck_assert_ptr_null(rg__arena_copy(&arena, "x", SIZE_MAX));
	rg__arena_clear(&arena);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
	/* A count out of a hostile frame times the size of a struct */
	struct rg__arena arena = {0};

	ck_assert_ptr_null(rg__arena_calloc(&arena, SIZE_MAX / 2, 3));
	ck_assert_ptr_null(rg__arena_calloc(&arena, SIZE_MAX, 1));
	ck_assert_ptr_null(rg__arena_calloc(&arena, 1, SIZE_MAX - 8));
	rg__alloc_fail_after(1);
	ck_assert_ptr_null(rg__arena_calloc(&arena, 1, 8));
	ck_assert_ptr_nonnull(rg__arena_calloc(&arena, 1, 8));
	ck_assert_uint_eq(arena.size_total, _Alignof(max_align_t));
	rg__arena_clear(&arena);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, memory_is_zeroed_and_aligned);
	tcase_add_test(tcase, a_large_piece_does_not_waste_the_current_block);
	tcase_add_test(tcase, copies);
	tcase_add_test(tcase, absurd_sizes_are_refused);
}

int main(void)
{
	return suite_run("base_arena", fill, 10);
}
