/* SPDX-License-Identifier: Apache-2.0 */
/* Every place of the library that asks for memory is refused it once, through the life of two consumers (life.h). No crash
 * and no leak (the sanitizers look), and the only error that poll tells is that there was no memory.
 *
 * In each step of a life one allocation fails, at a place where none has failed before, until a whole life finds no such
 * place any more; then all of them once more, each followed by one where there never was any. FAULT_EVERY=1 in the
 * environment: instead the n-th allocation of a life fails, for every n; that takes ten minutes and more. The argument says
 * which kind of consumers. */
#include "base/alloc.h"
#include "life.h"
#include "sites.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVES_MAX = 400 };

static void at_every_site(const struct kind *kind)
{
	int lives = 0;
	int64_t began = now_ms();

	/* The second time also what is only asked for in trying again. */
	for (int failures = 1; failures <= 2; failures++) {
		do
			ck_assert_int_lt(lives++, LIVES_MAX);
		while (live(kind, lives, failures));
		sites_again();
	}
	printf("%s: %d lives in %lld ms, %d of %d places failed, in %ld allocations\n", kind->name, lives,
	       (long long)(now_ms() - began), sites_failed(), sites_seen(), sites_allocations());
}

static const struct kind *chosen;

static void at_every_allocation(const struct kind *kind)
{
	long left;

	for (long n = 1;; n++) {
		rg__alloc_fail_after(n);
		live(kind, (int)n, BY_ITSELF);
		left = rg__alloc_fail_after(0);
		if (left > 0)
			break;
		if (n % 100 == 0)
			fprintf(stderr, "%s: %ld\n", kind->name, n);
	}
}

START_TEST(a_life)
{
	if (getenv("FAULT_EVERY")) {
		at_every_allocation(chosen);
		return;
	}
	sites_begin();
	at_every_site(chosen);
	sites_end();
	ck_assert_int_gt(sites_failed(), sites_seen() / 2);
	ck_assert_int_gt(sites_failed(), 100);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, life_begin, crew_end);
	tcase_add_test(tcase, a_life);
}

int main(int argc, char **argv)
{
	chosen = kind_named(argc > 1 ? argv[1] : NULL);
	if (!chosen) {
		fprintf(stderr, "usage: fault_consumer_memory KIND\n");
		return EXIT_FAILURE;
	}
	return run_suite("fault_consumer_memory", fill);
}
