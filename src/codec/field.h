/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_FIELD_H
#define RG__CODEC_FIELD_H

/* A message is a C struct and a table of its fields; one interpreter (codec.h) decodes, encodes and prints them all.
 * The tables follow Kafka's message definitions field by field, and a test holds the two against each other. Which
 * version has which field is said in the tables and nowhere else. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rg__type {
	RG__STRUCT, /* what `fields` describes; only as element, and what an array holds unless it says otherwise */
	RG__BOOL,   /* bool */
	RG__INT8,   /* int8_t */
	RG__INT16,  /* int16_t */
	RG__INT32,  /* int32_t */
	RG__INT64,  /* int64_t */
	RG__UUID,   /* struct rg__uuid */
	RG__STRING, /* struct rg__bytes; a view into the decoded frame */
	RG__BYTES,  /* struct rg__bytes; a view into the decoded frame */
	RG__ARRAY   /* struct rg__array of what `element` says */
};

struct rg__uuid {
	uint8_t bytes[16];
};

/* An array field. `items` points to `count` elements in the arena of the message (when decoded), or wherever the
 * writer keeps them. Null is count -1; the tables say in which versions null is allowed. Zero-initialised is empty. */
struct rg__array {
	void *items;
	int32_t count;
};

#define RG__NULL_ARRAY ((struct rg__array){NULL, -1})

/* The elements of an array field: `RG__ITEMS(struct rg__join_group_response_member, response.members)[i].member_id`. */
#define RG__ITEMS(type, array) ((type *)(array).items)

enum {
	RG__LAST = 127, /* as `last`: the newest version still has the field */
	RG__NEVER = 127, /* as `flexible_first`: no version is flexible */
	RG__NULL = -1   /* as `fallback` of a string, bytes or array: the default is null */
};

struct rg__fields;

/* One field. The order of the members is that of the tables' columns. */
struct rg__field {
	size_t offset;       /* in the C struct */
	const char *name;    /* as in Kafka's definition: "MemberId" */
	enum rg__type type;
	int8_t first, last;  /* the versions that have the field */
	enum rg__type element; /* of RG__ARRAY */
	const struct rg__fields *fields; /* of arrays of RG__STRUCT */
	bool nullable;       /* null is allowed from nullable_first on */
	int8_t nullable_first;
	bool ignorable;      /* dropped when the version does not have it; otherwise encoding a value is refused */
	bool tagged;         /* travels under `tag` in the tagged section of flexible versions (KIP-482) */
	int8_t tag;
	bool plain_string;   /* keeps its two-byte length in flexible versions: the client id of the request header */
	int64_t fallback;    /* default of scalars; of strings, bytes and arrays 0 (empty) or RG__NULL */
};

struct rg__fields {
	const char *name; /* of the message or the element, as in Kafka's definition */
	const struct rg__field *items;
	int count;
	size_t size;           /* of the C struct */
	int8_t flexible_first; /* of a message: first version with compact lengths and tags; its elements follow it */
};

/* A row and a table: columns behind `member` are name, type, first, last, then what else there is by name. */
#define RG__FIELD(owner, member, ...) {.offset = offsetof(owner, member), __VA_ARGS__}
#define RG__FIELDS(owner, kafka_name, rows) \
	.name = kafka_name, .items = rows, .count = (int)(sizeof(rows) / sizeof((rows)[0])), .size = sizeof(owner)

/* Sets every field of `message` to its default. An empty string is not the null view: a message that is only
 * zero-initialised holds nulls, which encoding refuses where the version does not allow them. */
void rg__fields_init(const struct rg__fields *fields, void *message);

struct rg__arena;

/* Gives *ret_array `count` elements from the arena, each with its defaults. False: out of memory. */
bool rg__array_init(const struct rg__fields *element_fields, int32_t count, struct rg__arena *arena,
		    struct rg__array *ret_array);

#endif
