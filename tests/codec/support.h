/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEC_SUPPORT_H
#define CODEC_SUPPORT_H

#include "codec/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every message with a table, and the versions of it that we speak. */
struct message {
	const char *name; /* Kafka's */
	const struct rg__fields *fields;
	int first, last;
	int api_key; /* -1: none */
};

int message_count(void);
struct message message_at(int i);
bool message_by_name(const char *name, struct message *ret_message);

/* One line of a fixture. `bytes` is a block of exactly `len` bytes, so that ASan sees a read beyond. */
struct vector {
	struct message message;
	int version;
	char kind[8]; /* empty, filled, nulls */
	uint8_t *bytes;
	size_t len;
	char *json;
};

/* All fixtures, read once; aborts with a sentence when one cannot be read. */
const struct vector *vectors(size_t *ret_count);

enum { MESSAGE_SIZE_MAX = 512 };
union decoded {
	max_align_t align;
	unsigned char bytes[MESSAGE_SIZE_MAX];
};

/* The codec's calls for a message, with the version prefix for those that have one. */
bool message_decode(const struct message *message, int version, struct rg__bytes in, struct rg__arena *arena,
		    union decoded *ret_decoded, struct rg__codec_error *err);
bool message_encode(const struct message *message, int version, const union decoded *decoded, struct rg__buf *out,
		    struct rg__codec_error *err);

/* "0a0b 0c" to bytes, spaces ignored; a view of a static buffer that the next call reuses. */
struct rg__bytes hex(const char *digits);

#endif
