/* SPDX-License-Identifier: Apache-2.0 */
/* What members put into JoinGroup and leaders into SyncGroup, bytes that go through the coordinator unread. The
 * first byte chooses: a subscription or an assignment. */
#include "codec/consumer_protocol.h"
#include "message.h"

static int clamp(int version)
{
	return version < RG__CONSUMER_PROTOCOL_LAST ? version : RG__CONSUMER_PROTOCOL_LAST;
}

/* The message is written in the version that it was read as, and is then the same. */
static void try_subscription(struct rg__bytes in)
{
	struct rg__consumer_protocol_subscription message, again;
	struct rg__arena arena = {0};
	struct rg__buf first = {0}, second = {0};
	int version = -2, version_again;

	if (rg__subscription_decode(in, &arena, &message, &version, NULL)) {
		require(version >= 0, "negative versions are refused");
		require(rg__subscription_encode(clamp(version), &message, &first, NULL), "what was read can be written");
		require(rg__subscription_decode(rg__buf_view(&first), &arena, &again, &version_again, NULL) &&
				version_again == clamp(version),
			"what was written can be read");
		require(rg__subscription_encode(clamp(version), &again, &second, NULL), "and written again");
		require(rg__bytes_equal(rg__buf_view(&first), rg__buf_view(&second)), "both are the same");
	} else {
		require(version == -2, "a refusal leaves the version alone");
	}
	rg__buf_free(&first);
	rg__buf_free(&second);
	rg__arena_clear(&arena);
}

static void try_assignment(struct rg__bytes in)
{
	struct rg__consumer_protocol_assignment message, again;
	struct rg__arena arena = {0};
	struct rg__buf first = {0}, second = {0};
	int version = -2, version_again;

	if (rg__assignment_decode(in, &arena, &message, &version, NULL)) {
		require(version >= 0, "negative versions are refused");
		require(rg__assignment_encode(clamp(version), &message, &first, NULL), "what was read can be written");
		require(rg__assignment_decode(rg__buf_view(&first), &arena, &again, &version_again, NULL) &&
				version_again == clamp(version),
			"what was written can be read");
		require(rg__assignment_encode(clamp(version), &again, &second, NULL), "and written again");
		require(rg__bytes_equal(rg__buf_view(&first), rg__buf_view(&second)), "both are the same");
	} else {
		require(version == -2, "a refusal leaves the version alone");
	}
	rg__buf_free(&first);
	rg__buf_free(&second);
	rg__arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	bool assignment = take(&input) & 1;
	uint8_t *copy = exact_copy((struct rg__bytes){input.at, input.left});
	struct rg__bytes bytes = {copy, input.left};

	if (assignment)
		try_assignment(bytes);
	else
		try_subscription(bytes);
	free(copy);
	return 0;
}
