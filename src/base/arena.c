/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

struct rg__arena_block {
	struct rg__arena_block *next;
	size_t used, capacity;
	_Alignas(max_align_t) unsigned char data[];
};

enum { BLOCK_SIZE = 4096, ALIGNMENT = _Alignof(max_align_t) };

static struct rg__arena_block *add_block(struct rg__arena *arena, size_t need)
{
	size_t capacity = need > BLOCK_SIZE ? need : BLOCK_SIZE;
	struct rg__arena_block *block;

	if (capacity > SIZE_MAX - sizeof(*block))
		return NULL;
	block = rg__malloc(sizeof(*block) + capacity);
	if (!block)
		return NULL;
	block->used = 0;
	block->capacity = capacity;
	/* A block of its own size goes behind the current one, which may still have room. */
	if (need > BLOCK_SIZE && arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

void *rg__arena_calloc(struct rg__arena *arena, size_t count, size_t size)
{
	struct rg__arena_block *block = arena->blocks;
	size_t need;

	if (size && count > (SIZE_MAX - ALIGNMENT) / size)
		return NULL;
	need = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!need)
		need = ALIGNMENT;
	if (!block || block->capacity - block->used < need)
		block = add_block(arena, need);
	if (!block)
		return NULL;
	void *result = block->data + block->used;
	block->used += need;
	arena->size_total += need;
	return memset(result, 0, need);
}

char *rg__arena_copy(struct rg__arena *arena, const void *data, size_t len)
{
	char *copy = len == SIZE_MAX ? NULL : rg__arena_calloc(arena, len + 1, 1);

	if (copy && len)
		memcpy(copy, data, len);
	return copy;
}

void rg__arena_clear(struct rg__arena *arena)
{
	while (arena->blocks) {
		struct rg__arena_block *next = arena->blocks->next;

		rg__free(arena->blocks);
		arena->blocks = next;
	}
	arena->size_total = 0;
}
