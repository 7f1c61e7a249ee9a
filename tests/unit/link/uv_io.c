/* SPDX-License-Identifier: Apache-2.0 */
/* The libuv implementation's timers, wake-ups and names: the rules of io.h. */
#include "uv_fixture.h"

#include <pthread.h>
#include <string.h>

/* --- Timers and wake-ups ------------------------------------------------------------------------------------------ */

static void fired(void *user)
{
	(void)user;
	f.fired++;
	f.fired_at_us = rg__now_us(f.io);
}

START_TEST(timer_is_never_early)
{
	struct rg__timer *timer = rg__timer_new(f.io, fired, NULL);

	for (int i = 0; i < 20; i++) {
		int64_t at = rg__now_us(f.io) + i * 701;

		rg__timer_set(timer, at);
		ck_assert_int_eq(f.fired, i);
		run_until(&f.fired, i + 1);
		ck_assert_int_ge(f.fired_at_us, at);
	}
	rg__timer_free(timer);
}
END_TEST

START_TEST(timer_cleared_and_freed)
{
	struct rg__timer *passed = rg__timer_new(f.io, fired, NULL), *soon = rg__timer_new(f.io, fired, NULL);
	struct rg__timer *far = rg__timer_new(f.io, fired, NULL), *last = rg__timer_new(f.io, fired, NULL);

	rg__timer_set(passed, 0);
	rg__timer_set(soon, rg__now_us(f.io) + 1000);
	rg__timer_set(far, INT64_MAX);
	rg__timer_set(last, rg__now_us(f.io) + 20000);
	rg__timer_clear(passed);
	rg__timer_clear(soon);
	rg__timer_free(far);
	run_until(&f.fired, 1);
	ck_assert_int_eq(f.fired, 1);
	rg__timer_set(passed, 0);
	rg__timer_free(passed);
	rg__timer_free(soon);
	rg__timer_free(last);
	ck_assert_int_ge(rg__unix_us(f.io), INT64_C(1600000000000000));
}
END_TEST

static struct rg__timer *again;

static void fired_and_set_again(void *user)
{
	(void)user;
	f.fired++;
	rg__timer_set(again, 0);
}

/* A timer that is always due leaves the loop its turns. */
START_TEST(timer_that_is_always_due)
{
	again = rg__timer_new(f.io, fired_and_set_again, NULL);
	rg__timer_set(again, 0);
	for (int i = 0; i < 50; i++)
		uv_run(&f.loop, UV_RUN_ONCE);
	ck_assert_int_ge(f.fired, 10);
	ck_assert_int_le(f.fired, 50);
	rg__timer_free(again);
}
END_TEST

static void *wake(void *argument)
{
	(void)argument;
	for (int i = 0; i < 1000; i++)
		rg__uv_io_wakeup(f.io);
	return NULL;
}

START_TEST(woken_from_another_thread)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, wake, NULL), 0);
	run_until(&f.woken, 1);
	pthread_join(thread, NULL);
	while (uv_run(&f.loop, UV_RUN_NOWAIT) && f.woken < 1)
		;
	ck_assert_int_ge(f.woken, 1);
	ck_assert_int_le(f.woken, 1000);
}
END_TEST

/* --- Names -------------------------------------------------------------------------------------------------------- */

static size_t found;
static rg_error not_found;
static char first_address[64];
static int lookups_done;

static void resolved(void *user, const struct rg__address *addresses, size_t count, const rg_error *error)
{
	(void)user;
	lookups_done++;
	found = count;
	if (error)
		not_found = *error;
	else
		rg__address_text(&addresses[0], first_address, sizeof(first_address));
}

START_TEST(numeric_names)
{
	static const char *const hosts[] = {"127.0.0.1", "::1"};

	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, hosts[_i], 9092, resolved, NULL));
	ck_assert_int_eq(lookups_done, 0);
	run_until(&lookups_done, 1);
	ck_assert_uint_eq(found, 1);
	ck_assert_str_eq(first_address, hosts[_i]);
}
END_TEST

START_TEST(localhost)
{
	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, "localhost", 9092, resolved, NULL));
	run_until(&lookups_done, 1);
	ck_assert_uint_ge(found, 1);
}
END_TEST

/* A label of more than 63 bytes: refused without asking any server. */
START_TEST(name_that_cannot_exist)
{
	char name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, name, 9092, resolved, NULL));
	run_until(&lookups_done, 1);
	ck_assert_uint_eq(found, 0);
	ck_assert_int_eq(not_found.code, RG_ERR_RESOLVE);
	ck_assert_msg(strstr(not_found.text, "does not resolve"), "%s", not_found.text);
}
END_TEST

/* Cancelled before and after the answer is there; freed with the io while its thread runs. */
START_TEST(cancelled_lookups)
{
	lookups_done = 0;
	for (int i = 0; i < 100; i++) {
		struct rg__lookup *lookup =
			f.io->ops->resolve(f.io, i % 2 ? "localhost" : "127.0.0.1", 9092, resolved, NULL);

		ck_assert_ptr_nonnull(lookup);
		if (i % 3 == 0)
			uv_sleep(1);
		f.io->ops->resolve_cancel(f.io, lookup);
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	ck_assert_int_eq(lookups_done, 0);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, timer_is_never_early);
	tcase_add_test(tcase, timer_cleared_and_freed);
	tcase_add_test(tcase, timer_that_is_always_due);
	tcase_add_test(tcase, woken_from_another_thread);
	tcase_add_loop_test(tcase, numeric_names, 0, 2);
	tcase_add_test(tcase, localhost);
	tcase_add_test(tcase, name_that_cannot_exist);
	tcase_add_test(tcase, cancelled_lookups);
}

int main(void)
{
	return suite_run_between("link_uv_io", add_tests, 60, begin, end);
}
