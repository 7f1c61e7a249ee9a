/* SPDX-License-Identifier: Apache-2.0 */
#include "explore_memory.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of a power of two, each behind its class; free ones hang together by class. */
enum { CLASSES = 20, ROOM = 1 << 20, SMALLEST = 32 };

struct block {
	size_t class;
	struct block *next; /* while it is free; the user's bytes begin here otherwise */
};

static struct {
	size_t used;
	struct block *free[CLASSES];
	alignas(16) uint8_t room[ROOM];
} memory;

static const size_t head = 16;

void *rg__malloc(size_t size)
{
	size_t class = 0;
	struct block *block;

	assert(size < ROOM);
	while ((size_t)SMALLEST << class < size + head)
		class++;
	block = memory.free[class];
	if (block) {
		memory.free[class] = block->next;
		return (uint8_t *)block + head;
	}
	if (memory.used + ((size_t)SMALLEST << class) > ROOM) {
		fprintf(stderr, "explore: a world is larger than %d bytes\n", (int)ROOM);
		abort();
	}
	block = (struct block *)(void *)&memory.room[memory.used];
	memory.used += (size_t)SMALLEST << class;
	block->class = class;
	return (uint8_t *)block + head;
}

void rg__free(void *ptr)
{
	struct block *block;

	if (!ptr)
		return;
	block = (struct block *)(void *)((uint8_t *)ptr - head);
	block->next = memory.free[block->class];
	memory.free[block->class] = block;
}

void *rg__calloc(size_t count, size_t size)
{
	void *ptr = rg__malloc(count * size);

	memset(ptr, 0, count * size);
	return ptr;
}

void *rg__realloc(void *ptr, size_t size)
{
	struct block *block = ptr ? (struct block *)(void *)((uint8_t *)ptr - head) : NULL;
	size_t had = block ? ((size_t)SMALLEST << block->class) - head : 0;
	void *other;

	if (block && size <= had)
		return ptr;
	other = rg__malloc(size);
	if (ptr)
		memcpy(other, ptr, had);
	rg__free(ptr);
	return other;
}

char *rg__strndup(const char *s, size_t len)
{
	char *copy = s ? rg__malloc(len + 1) : NULL;

	if (copy) {
		memcpy(copy, s, len);
		copy[len] = '\0';
	}
	return copy;
}

char *rg__strdup(const char *s)
{
	return s ? rg__strndup(s, strlen(s)) : NULL;
}

/* No allocation fails here. */
long rg__alloc_fail_after(long countdown)
{
	(void)countdown;
	return 0;
}

void rg__alloc_ask(rg__alloc_judge *judge)
{
	(void)judge;
}

void memory_save(struct memory_copy *copy)
{
	size_t len = offsetof(__typeof__(memory), room) + memory.used;

	if (copy->room < len) {
		uint8_t *bytes = realloc(copy->bytes, len * 2);

		if (!bytes)
			abort();
		copy->bytes = bytes;
		copy->room = len * 2;
	}
	memcpy(copy->bytes, &memory, len);
	copy->len = len;
}

void memory_restore(const struct memory_copy *copy)
{
	memcpy(&memory, copy->bytes, copy->len);
}
