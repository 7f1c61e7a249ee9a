/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_WIRE_H
#define RG__CODEC_WIRE_H

/* What the interpreter's halves (decode.c, encode.c, print.c, field.c) share. Not for code outside this folder. */

#include "codec/codec.h"

enum {
	RG__STRING_LEN_MAX = 32767, /* also in flexible versions: Kafka's generated code refuses longer ones */
	RG__DEPTH_MAX = 6,          /* fields within arrays within arrays; a test walks the tables */
	RG__MESSAGE_SIZE_MAX = 256  /* of a message's C struct; a test walks the tables */
};

/* The way from the message to the field at work, kept while walking so that an error can name it. */
struct rg__path {
	struct {
		const struct rg__field *field;
		int32_t index; /* -1: the field itself, not an element */
	} steps[RG__DEPTH_MAX];
	int depth;
};

void rg__path_push(struct rg__path *path, const struct rg__field *field);
void rg__path_pop(struct rg__path *path);
void rg__path_text(const struct rg__path *path, char *text, size_t size);

/* The only places where a version is compared. */
bool rg__fields_flexible(const struct rg__fields *fields, int version);
bool rg__field_present(const struct rg__field *field, int version);
bool rg__field_nullable(const struct rg__field *field, int version);

size_t rg__type_size(enum rg__type type, const struct rg__fields *fields); /* of the C value */

/* The fewest bytes an element of an array field can take on the wire, at least 1. */
size_t rg__element_min(const struct rg__field *field, int version, bool flexible);

void *rg__field_at(const struct rg__field *field, void *message);
const void *rg__field_value(const struct rg__field *field, const void *message);
void rg__field_reset(const struct rg__field *field, void *message);
bool rg__field_is_default(const struct rg__field *field, const void *message);

/* Kafka's JSON name of a field: "MemberId" becomes "memberId". */
void rg__field_json_name(const struct rg__field *field, char *name, size_t size);
enum { RG__FIELD_NAME_MAX = 64 };

/* As rg__decode, starting `from` bytes into `in`; offsets in errors count from the start of `in`, and errors name
 * `message`. *ret_end is where the message ends; NULL: it must end with `in`. */
bool rg__decode_at(const struct rg__fields *fields, const char *message, int version, struct rg__bytes in, size_t from,
		   struct rg__arena *arena, void *ret_message, size_t *ret_end, struct rg__codec_error *err);

/* Fills an error that concerns a message as a whole and returns false. */
bool rg__codec_refuse(struct rg__codec_error *err, const char *message, int version, bool decoding, const char *format,
		      ...) __attribute__((format(printf, 5, 6)));

#endif
