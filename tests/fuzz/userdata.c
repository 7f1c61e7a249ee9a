/* SPDX-License-Identifier: Apache-2.0 */
/* The userdata of Kafka's sticky assignors. The first byte chooses which. */
#include "codec/sticky.h"
#include "fuzz.h"

static void try_sticky(struct rg__bytes in)
{
	struct rg__sticky_user_data message, again;
	struct rg__arena arena = {0};
	struct rg__buf first = {0}, second = {0};
	struct rg__codec_error err = {0};

	if (rg__sticky_user_data_decode(in, &arena, &message, &err)) {
		require(rg__sticky_user_data_encode(&message, &first, NULL), "what was read can be written");
		require(rg__sticky_user_data_decode(rg__buf_view(&first), &arena, &again, NULL),
			"what was written can be read");
		require(again.generation == message.generation, "the generation stays");
		require(rg__sticky_user_data_encode(&again, &second, NULL), "and written again");
		require(rg__bytes_equal(rg__buf_view(&first), rg__buf_view(&second)), "both are the same");
	} else {
		require(err.what[0], "what is refused has a reason");
	}
	rg__buf_free(&first);
	rg__buf_free(&second);
	rg__arena_clear(&arena);
}

static void try_cooperative(struct rg__bytes in)
{
	struct rg__buf out = {0};
	int32_t generation, again;

	if (rg__cooperative_sticky_user_data_decode(in, &generation, NULL)) {
		require(rg__cooperative_sticky_user_data_encode(generation, &out, NULL), "what was read can be written");
		require(rg__cooperative_sticky_user_data_decode(rg__buf_view(&out), &again, NULL) && again == generation,
			"and is read as the same");
	}
	rg__buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	bool cooperative = take(&input) & 1;
	uint8_t *copy = exact_copy((struct rg__bytes){input.at, input.left});
	struct rg__bytes bytes = {copy, input.left};

	if (cooperative)
		try_cooperative(bytes);
	else
		try_sticky(bytes);
	free(copy);
	return 0;
}
