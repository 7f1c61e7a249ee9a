/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_countdown;
static _Atomic(rg__alloc_judge *) judge;

static bool must_fail(void)
{
	rg__alloc_judge *asked = atomic_load_explicit(&judge, memory_order_acquire);

	if (asked && asked())
		return true;
	if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0)
		return false;
	return atomic_fetch_sub_explicit(&fail_countdown, 1, memory_order_relaxed) == 1;
}

long rg__alloc_fail_after(long countdown)
{
	return atomic_exchange(&fail_countdown, countdown);
}

void rg__alloc_ask(rg__alloc_judge *asked)
{
	atomic_store(&judge, asked);
}

void *rg__malloc(size_t size)
{
	return must_fail() ? NULL : malloc(size ? size : 1);
}

void *rg__calloc(size_t count, size_t size)
{
	if (must_fail())
		return NULL;
	return calloc(count ? count : 1, size ? size : 1);
}

void *rg__realloc(void *ptr, size_t size)
{
	return must_fail() ? NULL : realloc(ptr, size ? size : 1);
}

void rg__free(void *ptr)
{
	free(ptr);
}

char *rg__strndup(const char *s, size_t len)
{
	if (!s || len == SIZE_MAX)
		return NULL;
	char *copy = rg__malloc(len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *rg__strdup(const char *s)
{
	return s ? rg__strndup(s, strlen(s)) : NULL;
}
