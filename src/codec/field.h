/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_FIELD_H
#define RG__CODEC_FIELD_H

/* A message is a C struct and a table of its fields; one interpreter (codec.h) decodes, encodes and prints them all. The
 * tables follow Kafka's message definitions field by field, and a test holds the two against each other. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rg__type {
	RG__BOOL,   /* bool */
	RG__INT8,   /* int8_t */
	RG__INT16,  /* int16_t */
	RG__INT32,  /* int32_t */
	RG__INT64,  /* int64_t */
	RG__UUID,   /* struct rg__uuid */
	RG__STRING, /* struct rg__bytes; a view into the decoded frame */
	RG__BYTES,  /* struct rg__bytes; a view into the decoded frame */
	RG__ARRAY,  /* struct rg__array of what `element` says */
	RG__STRUCT  /* the struct that `fields` describes, in place */
};

struct rg__uuid {
	uint8_t bytes[16];
};

/* An array field. `items` points to `count` elements in the arena of the message (when decoded), or wherever the writer
 * keeps them. Null is items NULL and count -1; a table says in which versions null is allowed. */
struct rg__array {
	void *items;
	int32_t count;
};

enum { RG__LAST = 127, RG__NEVER = -1 };

struct rg__fields;

struct rg__field {
	const char *name;    /* Kafka's, as in its definition: "memberId" is written MemberId there and here */
	enum rg__type type;
	enum rg__type element; /* of RG__ARRAY: a scalar type, RG__STRING, RG__BYTES or RG__STRUCT */
	int8_t first, last;    /* versions that have the field; RG__LAST: no end */
	int8_t nullable_first; /* first version in which null is allowed, RG__NEVER: in none */
	int8_t tag;            /* tagged field: its tag, else RG__NEVER */
	int8_t tag_first;      /* first version in which it is a tagged field */
	bool ignorable;        /* may be dropped silently when the version does not have it; else encoding a value refuses */
	int64_t fallback;      /* default of scalars; strings, bytes and arrays: 0 empty, -1 null */
	size_t offset;         /* in the C struct */
	const struct rg__fields *fields; /* of RG__STRUCT and arrays of it */
};

struct rg__fields {
	const struct rg__field *items;
	int count;
	size_t size; /* of the C struct */
};

#endif
