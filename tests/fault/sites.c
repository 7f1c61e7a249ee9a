/* SPDX-License-Identifier: Apache-2.0 */
#include "sites.h"

#include "base/alloc.h"

#include <check.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The nearest callers are the same for all (this file, alloc.c, an arena); that many further ones tell the sites apart. */
enum { SITES_MAX = 1 << 13, NEAREST = 2, DEPTH = 9 };

static struct {
	pthread_mutex_t lock;
	struct site {
		uint64_t key; /* 0: free */
		bool failed; /* since sites_again() */
		bool ever;
		void *frames[NEAREST + DEPTH];
		int count;
	} sites[SITES_MAX];
	int seen, failed;
	long allocations;
	const char *step;
	int armed, left;
	bool on, show;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct site *site_of(void *const *frames, int count)
{
	uint64_t key = 14695981039346656037u;
	size_t at;

	for (int i = NEAREST; i < count; i++)
		key = (key ^ (uintptr_t)frames[i]) * 1099511628211u;
	key += !key;
	for (at = key % SITES_MAX; s.sites[at].key && s.sites[at].key != key; at = (at + 1) % SITES_MAX)
		;
	if (!s.sites[at].key) {
		ck_assert_int_lt(s.seen, SITES_MAX / 2);
		s.sites[at].key = key;
		memcpy(s.sites[at].frames, frames, (size_t)count * sizeof(*frames));
		s.sites[at].count = count;
		s.seen++;
	}
	return &s.sites[at];
}

static void show(const struct site *site, const char *when)
{
	fprintf(stderr, "--- %s\n", when);
	backtrace_symbols_fd(site->frames, site->count, STDERR_FILENO);
}

static bool judge(void)
{
	void *frames[NEAREST + DEPTH];
	int count = backtrace(frames, NEAREST + DEPTH);
	bool fails;

	pthread_mutex_lock(&s.lock);
	struct site *site = site_of(frames, count);

	s.allocations++;
	fails = s.left && !site->failed && (s.left == s.armed || !site->ever);
	if (fails) {
		s.failed += !site->ever;
		site->failed = site->ever = true;
		if (s.show)
			show(site, s.step);
		s.left--;
	}
	pthread_mutex_unlock(&s.lock);
	return fails;
}

void sites_begin(void)
{
	void *frames[1];

	backtrace(frames, 1); /* the first time it loads what it needs */
	s.show = getenv("FAULT_SHOW") != NULL;
	s.on = true;
	rg__alloc_ask(judge);
}

void sites_end(void)
{
	s.on = false;
	rg__alloc_ask(NULL);
	for (int i = 0; s.show && i < SITES_MAX; i++)
		if (s.sites[i].key && !s.sites[i].ever)
			show(&s.sites[i], "never failed");
}

void sites_pause(bool pause)
{
	rg__alloc_ask(s.on && !pause ? judge : NULL);
}

void sites_arm(const char *step, int count)
{
	pthread_mutex_lock(&s.lock);
	s.step = step;
	s.armed = s.left = count;
	pthread_mutex_unlock(&s.lock);
}

int sites_disarm(void)
{
	int failed;

	pthread_mutex_lock(&s.lock);
	failed = s.armed - s.left;
	s.armed = s.left = 0;
	pthread_mutex_unlock(&s.lock);
	return failed;
}

void sites_again(void)
{
	pthread_mutex_lock(&s.lock);
	for (int i = 0; i < SITES_MAX; i++)
		s.sites[i].failed = false;
	pthread_mutex_unlock(&s.lock);
}

int sites_seen(void)
{
	return s.seen;
}

int sites_failed(void)
{
	return s.failed;
}

long sites_allocations(void)
{
	return s.allocations;
}
