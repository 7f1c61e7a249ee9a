/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_ARENA_H
#define RG__BASE_ARENA_H

#include <stddef.h>

/* Memory that is freed in one go: what a decoded message points to lives in one. Zero-initialised is empty and valid. */
struct rg__arena_block;
struct rg__arena {
	struct rg__arena_block *blocks; /* newest first */
	size_t size_total;              /* bytes handed out so far */
};

/* `count * size` zeroed bytes, aligned for any type; NULL when out of memory or when the product overflows. A zero
 * count gives a valid pointer. */
void *rg__arena_calloc(struct rg__arena *arena, size_t count, size_t size);

/* `len` bytes copied, with a NUL behind them. */
char *rg__arena_copy(struct rg__arena *arena, const void *data, size_t len);

/* Frees everything; the arena is empty and usable again. */
void rg__arena_clear(struct rg__arena *arena);

#endif
