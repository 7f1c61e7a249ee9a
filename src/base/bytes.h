/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_BYTES_H
#define RG__BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A view of bytes somebody else owns. `data` NULL is Kafka's null, which is not the same as empty (len 0). Used for
 * strings and byte fields alike; a string is not NUL-terminated. */
struct rg__bytes {
	const uint8_t *data;
	size_t len;
};

#define RG__NULL_BYTES ((struct rg__bytes){NULL, 0})

/* A view of a C string; NULL gives the null view. */
struct rg__bytes rg__bytes_of(const char *s);
bool rg__bytes_equal(struct rg__bytes a, struct rg__bytes b); /* null equals null only */
bool rg__bytes_is(struct rg__bytes a, const char *s);         /* the same bytes as the C string */
int rg__bytes_compare(struct rg__bytes a, struct rg__bytes b); /* null first, then as memcmp, then the shorter */

/* Gives *at a copy (NUL behind it) and frees what was there. A null view makes *at NULL. False: out of memory, *at
 * untouched. Free with rg__free. */
bool rg__bytes_store(struct rg__bytes view, char **at);

/* A buffer that grows. Zero-initialised is empty and valid. After a failed append `failed` stays set and later appends
 * do nothing, so a writer may check once at the end. */
struct rg__buf {
	uint8_t *data;
	size_t len, capacity;
	bool failed;
};

bool rg__buf_reserve(struct rg__buf *buf, size_t more);
bool rg__buf_append(struct rg__buf *buf, const void *data, size_t len);
bool rg__buf_append_str(struct rg__buf *buf, const char *s);
bool rg__buf_printf(struct rg__buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rg__buf_consume(struct rg__buf *buf, size_t len); /* drops bytes at the front */
void rg__buf_free(struct rg__buf *buf);                /* empty and usable again */
struct rg__bytes rg__buf_view(const struct rg__buf *buf); /* never the null view */

#endif
