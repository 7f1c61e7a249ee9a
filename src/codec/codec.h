/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_CODEC_H
#define RG__CODEC_CODEC_H

/* Bytes <-> structs for every message, driven by the tables of field.h. No I/O, no clock, no state.
 *
 * What is refused when decoding: a length or count beyond what is left (checked before anything is allocated), a
 * varint of more than five bytes or 32 bits, a string over 32,767 bytes, null where the version does not allow it, a
 * tagged field that is longer or shorter than it says, and bytes behind the end of a request or response: they would
 * mean that the two sides do not agree on the layout, and reading on would be guessing.
 * What is accepted, as Kafka's own readers do: unknown tagged fields (skipped), tags in any order, a tag twice (the
 * last one counts), a bool of any non-zero byte. */

#include "base/arena.h"
#include "base/bytes.h"
#include "codec/field.h"

#include <stdbool.h>
#include <stdint.h>

/* Why bytes or a message were refused. */
struct rg__codec_error {
	const char *message; /* "JoinGroupResponse", a constant */
	int version;         /* -1: not known at that point */
	size_t offset;       /* decoding: where the refused field starts, from the start of the input */
	bool decoding;       /* otherwise encoding, where there is no offset */
	bool out_of_memory;  /* the bytes or the message may be good, we could not hold them */
	char path[128];      /* "members[3].metadata", empty for the message as a whole */
	char what[128];      /* "length 500, but only 12 bytes are left" */
};

enum { RG__CODEC_TEXT_MAX = 384 };

/* One sentence, NUL-terminated, cut if `size` is too small (RG__CODEC_TEXT_MAX never is):
 * "JoinGroupResponse v9, members[3].metadata at byte 218: length 500, but only 12 bytes are left". */
void rg__codec_error_text(const struct rg__codec_error *err, char *text, size_t size);

/* Decodes a message from the start of `in`. With `ret_used` the message may be followed by other bytes; NULL: it must
 * be all of `in`. Fields that the version does not have get their defaults. Strings and bytes are views into `in`,
 * arrays live in `arena`: both must outlive the message. Memory taken from the arena is at most 32 times the length of
 * `in`. On failure the message and *ret_used are untouched, `err` (may be NULL) is filled; the arena may have grown. */
bool rg__decode(const struct rg__fields *fields, int version, struct rg__bytes in, struct rg__arena *arena,
		void *ret_message, size_t *ret_used, struct rg__codec_error *err);

/* Appends a message. A field that the version does not have is dropped if it is ignorable or at its default,
 * otherwise the message is refused, as is a null the version does not allow. On failure `out` has its old length. */
bool rg__encode(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out,
		struct rg__codec_error *err);

/* Appends the message as one line of JSON for logs, in the shape Kafka's own request log has: camelCase names, the
 * fields of that version only, bytes in base64, ids as Kafka prints them. Bytes that are not UTF-8 become U+FFFD.
 * False: out of memory. */
bool rg__print(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out);

#endif
