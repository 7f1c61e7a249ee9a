/* SPDX-License-Identifier: Apache-2.0 */
/* The connection breaks at the n-th request of every API that the group layer uses, before the broker has applied it and
 * after, for every n that a life of two consumers (life.h) reaches. That is the consumers' own business: poll tells nobody
 * of it. Where inside a frame a line breaks is cuts.c's, byte by byte. */
#include "life.h"
#include "suite.h"

#include <stdio.h>

enum { NTH_MAX = 8 };

/* ApiVersions and Metadata are also librdkafka's, which is served the same. */
static const int apis[] = {18, 3, 10, 11, 14, 12, 13, 8, 9};
enum { APIS = sizeof(apis) / sizeof(*apis) };

static void at_the_nth(bool applied)
{
	rg_error error = {0};
	int64_t began = now_ms();

	for (int nth = 1; nth <= NTH_MAX; nth++) {
		for (int i = 0; i < APIS; i++)
			OK(rg_testkit_drop_request(kit, apis[i], nth, applied, &error));
		live(&kinds[nth % KINDS], nth, 0);
	}
	for (int i = 0; i < APIS; i++)
		ck_assert_int_ge(rg_testkit_request_count(kit, apis[i]), NTH_MAX);
	printf("%d lives in %lld ms\n", NTH_MAX, (long long)(now_ms() - began));
}

START_TEST(before_it_is_applied)
{
	at_the_nth(false);
}
END_TEST

START_TEST(after_it_was_applied)
{
	at_the_nth(true);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, life_begin, crew_end);
	tcase_add_test(tcase, before_it_is_applied);
	tcase_add_test(tcase, after_it_was_applied);
}

int main(void)
{
	return run_suite("fault_consumer_drops", fill);
}
