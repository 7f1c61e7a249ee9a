/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_MESSAGE_H
#define TESTS_FUZZ_MESSAGE_H

#include "codec/codec.h"
#include "fuzz.h"

enum { MESSAGE_ROOM = 512, MEMORY_PER_BYTE = 32 /* codec.h's promise */ };

/* What must hold for bytes read by one table: refused with a reason and little memory, or written again and shown;
 * and what is written is read as the same and written the same. */
static inline void try_message(const struct rg__fields *fields, int version, struct rg__bytes in)
{
	_Alignas(max_align_t) unsigned char message[MESSAGE_ROOM], again[MESSAGE_ROOM];
	struct rg__arena arena = {0}, arena_again = {0};
	struct rg__buf first = {0}, second = {0}, text = {0};
	struct rg__codec_error err = {0};
	char sentence[RG__CODEC_TEXT_MAX];

	require(fields->size <= sizeof(message), "messages fit");
	bool good = rg__decode(fields, version, in, &arena, message, NULL, &err);

	require(arena.size_total <= MEMORY_PER_BYTE * in.len + 64, "memory stays within the promise");
	if (!good) {
		rg__codec_error_text(&err, sentence, sizeof(sentence));
		require(!err.out_of_memory && err.what[0] && err.offset <= in.len && sentence[0],
			"what is refused has a reason");
	} else {
		require(rg__encode(fields, version, message, &first, &err), "what was read can be written");
		require(rg__print(fields, version, message, &text), "and shown");
		require(rg__decode(fields, version, rg__buf_view(&first), &arena_again, again, NULL, &err),
			"what was written can be read");
		require(rg__encode(fields, version, again, &second, &err), "and written again");
		require(rg__bytes_equal(rg__buf_view(&first), rg__buf_view(&second)), "both are the same");
	}
	rg__buf_free(&first);
	rg__buf_free(&second);
	rg__buf_free(&text);
	rg__arena_clear(&arena);
	rg__arena_clear(&arena_again);
}

#endif
