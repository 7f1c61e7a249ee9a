/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_HASH_H
#define RG__BASE_HASH_H

/* uthash on our allocator. Its own answer to "out of memory" is to end the process; with this an element that could not
 * be added has hh.tbl NULL and is not in the table: check RG__HASH_ADDED after every add. */
#include "base/alloc.h"

#define uthash_malloc(size) rg__malloc(size)
#define uthash_free(ptr, size) rg__free(ptr)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define RG__HASH_ADDED(element) ((element)->hh.tbl != NULL)

#endif
