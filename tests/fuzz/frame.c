/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of bytes as a server sees it: frames, request headers, and the body of whatever request a header names. */
#include "base/alloc.h"
#include "codec/frame.h"
#include "fuzz.h"

enum { LIMIT = 1 << 16, BODY_MAX = 512, MEMORY_PER_BYTE = 32 /* codec.h's promise */ };

static void handle_request(struct rg__bytes frame)
{
	_Alignas(max_align_t) unsigned char body[BODY_MAX];
	struct rg__request_header header;
	struct rg__codec_error err = {0};
	struct rg__arena arena = {0};
	struct rg__buf out = {0};

	if (!rg__decode_request_header(frame, &header, &err)) {
		require(err.what[0] && err.offset <= frame.len, "a refused header has a reason");
		return;
	}
	const struct rg__api *api = rg__api_by_key(header.request_api_key);

	if (!api)
		return;
	require(api->request->size <= sizeof(body), "requests fit");
	if (rg__decode_request(api, header.request_api_version, frame, &arena, body, &err)) {
		require(rg__encode_request(api, header.request_api_version, header.correlation_id, header.client_id, body,
					   &out, &err),
			"what was read as a request can be written as one");
		require(out.len >= 4, "a frame has a length");
	} else {
		require(err.what[0], "a refused request has a reason");
	}
	require(arena.size_total <= MEMORY_PER_BYTE * frame.len + 64, "memory stays within the promise");
	rg__buf_free(&out);
	rg__arena_clear(&arena);
}

static void handle_answer(struct rg__bytes frame)
{
	struct rg__api_versions_response versions;
	struct rg__arena arena = {0};
	int32_t correlation_id;

	if (rg__peek_correlation_id(frame, &correlation_id, NULL))
		require(frame.len >= 4, "a correlation id takes four bytes");
	for (int version = 0; version <= 4; version++)
		rg__decode_api_versions_response(version, frame, &arena, &versions, NULL);
	rg__arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg__bytes rest = {data, size}, frame;
	struct rg__codec_error err = {0};
	size_t used;

	while (rest.len) {
		if (!rg__frame_next(rest, LIMIT, &frame, &used, &err)) {
			require(err.what[0], "a refused frame has a reason");
			break;
		}
		if (!frame.data) {
			require(used > rest.len, "a missing frame needs more bytes than there are");
			break;
		}
		require(used == frame.len + 4 && used <= rest.len, "a frame is its length and what that counts");
		uint8_t *copy = exact_copy(frame);

		handle_request((struct rg__bytes){copy, frame.len});
		handle_answer((struct rg__bytes){copy, frame.len});
		free(copy);
		rest.data += used;
		rest.len -= used;
	}
	return 0;
}
