/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_ALLOC_H
#define RG__BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Every allocation of the library goes through these four, so that a test can make the n-th one fail. All may return
 * NULL; nothing aborts. */
void *rg__malloc(size_t size);
void *rg__calloc(size_t count, size_t size);
void *rg__realloc(void *ptr, size_t size);
void rg__free(void *ptr);

/* Copies a NUL-terminated string, or `len` bytes and a NUL behind them. NULL in, NULL out. */
char *rg__strdup(const char *s);
char *rg__strndup(const char *s, size_t len);

/* Tests only: the countdown-th allocation from now fails (1 = the next one), once; 0 turns it off. Counts in all
 * threads. Returns what was left of the countdown that was set before. */
long rg__alloc_fail_after(long countdown);

/* Tests only: asked before every allocation, on whichever thread, whether it fails; NULL: nobody is asked. */
typedef bool rg__alloc_judge(void);
void rg__alloc_ask(rg__alloc_judge *judge);

#endif
