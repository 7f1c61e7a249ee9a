/* SPDX-License-Identifier: Apache-2.0 */
/* KIP-580: first * 2^n, capped, and then 20 % to either side. */
#include "base/backoff.h"

#include "../../lib/suite.h"

START_TEST(within_its_bounds)
{
	/* scenarios A.2 */
	struct rg__random random = {.state = 3};

	for (unsigned failures = 0; failures < 12; failures++) {
		int64_t middle = failures < 4 ? INT64_C(100000) << failures : 1000000;
		int64_t least = INT64_MAX, most = 0;

		for (int i = 0; i < 2000; i++) {
			int64_t pause = rg__backoff(100000, 1000000, failures, &random);

			least = pause < least ? pause : least;
			most = pause > most ? pause : most;
		}
		ck_assert_int_ge(least, middle * 8 / 10);
		ck_assert_int_le(most, middle * 12 / 10);
		/* and it uses them */
		ck_assert_int_lt(least, middle * 82 / 100);
		ck_assert_int_gt(most, middle * 118 / 100);
	}
}
END_TEST

START_TEST(no_overflow_and_no_negative_pause)
{
	struct rg__random random = {.state = 3};

	ck_assert_int_eq(rg__backoff(0, 1000, 5, &random), 0);
	ck_assert_int_eq(rg__backoff(-5, 1000, 5, &random), 0);
	ck_assert_int_gt(rg__backoff(1, INT64_MAX / 2, 4000000000u, &random), INT64_MAX / 4);
	ck_assert_int_gt(rg__backoff(INT32_MAX * INT64_C(1000), INT32_MAX * INT64_C(1000), 100, &random), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_le(rg__backoff(5000, 1000, 0, &random), 1200);
}
END_TEST

START_TEST(one_seed_one_sequence)
{
	/* A run of the simulation is repeated by its seed, whatever compiled it: these are the numbers of the algorithm. */
	struct rg__random a = {.state = 42}, b = {.state = 42}, zero = {0};

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(rg__backoff(123456, 9000000, (unsigned)i % 8, &a), rg__backoff(123456, 9000000, (unsigned)i % 8, &b));
	ck_assert_uint_ne(rg__random_next(&zero), 0);
	a.state = 1;
	ck_assert_uint_eq(rg__random_next(&a), UINT64_C(0x47e4ce4b896cdd1d)); /* the first number of xorshift64* for 1 */
	/* 100 ms and the first draw of 1: 800 + 0x47e4ce4b896cdd1d mod 401 thousandths of it */
	a.state = 1;
	ck_assert_int_eq(rg__backoff(100000, 1000000, 0, &a), 100 * (800 + (int64_t)(UINT64_C(0x47e4ce4b896cdd1d) % 401)));
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, within_its_bounds);
	tcase_add_test(tcase, no_overflow_and_no_negative_pause);
	tcase_add_test(tcase, one_seed_one_sequence);
}

int main(void)
{
	return suite_run("base_backoff", fill, 10);
}
