/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_HASH_H
#define RG__BASE_HASH_H

/* uthash on our allocator. Its own answer to "out of memory" is to end the process; with this an element that could not
 * be added has hh.tbl NULL and is not in the table: check RG__HASH_ADDED after every add. */
#include "base/alloc.h"

#include <stdint.h>

static inline unsigned rg__hash(const void *key, size_t len)
{
	const unsigned char *at = key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 16777619u;
	return hash;
}

#define uthash_malloc(size) rg__malloc(size)
#define uthash_free(ptr, size) rg__free(ptr)
#define HASH_NONFATAL_OOM 1
/* FNV-1a. uthash's own function falls through its cases without the attribute that clang's -Wimplicit-fallthrough wants. */
#define HASH_FUNCTION(key, len, hash) ((hash) = rg__hash((key), (len)))
#include <uthash.h>

#define RG__HASH_ADDED(element) ((element)->hh.tbl != NULL)

#endif
