/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/* What the targets share. Each is one file with LLVMFuzzerTestOneInput; libFuzzer calls it with what it made up,
 * replay.c with the files of a corpus. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with the sentence: this is a find. */
static inline void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static inline void *must(void *ptr)
{
	require(ptr != NULL, "the machine has memory");
	return ptr;
}

/* The input as a source of decisions. At its end everything is 0. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t take(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->at++;
}

static inline uint32_t take_u16(struct input *input)
{
	uint32_t high = take(input);

	return high << 8 | take(input);
}

/* At most `len` bytes. */
static inline struct rg__bytes take_bytes(struct input *input, size_t len)
{
	struct rg__bytes bytes = {input->at, len < input->left ? len : input->left};

	input->at += bytes.len;
	input->left -= bytes.len;
	return bytes;
}

/* A copy in a block of exactly its size, so that ASan sees one byte too far. Free it. */
static inline uint8_t *exact_copy(struct rg__bytes bytes)
{
	uint8_t *copy = must(malloc(bytes.len ? bytes.len : 1));

	if (bytes.len)
		memcpy(copy, bytes.data, bytes.len);
	return copy;
}

#endif
