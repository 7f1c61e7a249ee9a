/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/frame.h"

#include "codec/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_SIZE = 4, ERROR_UNSUPPORTED_VERSION = 35 };

/* What a peer that does not speak Kafka's protocol sends first. */
static const char *other_protocol(const uint8_t *bytes)
{
	if (memcmp(bytes, "HTTP", 4) == 0 || memcmp(bytes, "GET ", 4) == 0)
		return "; the peer speaks HTTP";
	/* TLS record: alert or handshake, version 3.x */
	if ((bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 0x03)
		return "; the peer speaks TLS";
	if (memcmp(bytes, "SSH-", 4) == 0)
		return "; the peer speaks SSH";
	return "";
}

bool rg__frame_next(struct rg__bytes received, size_t limit, struct rg__bytes *ret_frame, size_t *ret_used,
		    struct rg__codec_error *err)
{
	int32_t length;

	if (received.len < LENGTH_SIZE) {
		*ret_frame = RG__NULL_BYTES;
		*ret_used = LENGTH_SIZE;
		return true;
	}
	const uint8_t *at = received.data;

	length = (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
	if (length < 0)
		return rg__codec_refuse(err, "frame", -1, true, "negative length %" PRId32 "%s", length,
					other_protocol(at));
	if ((size_t)length > limit)
		return rg__codec_refuse(err, "frame", -1, true, "length %" PRId32 " is over the limit of %zu%s", length,
					limit, other_protocol(at));
	bool whole = received.len - LENGTH_SIZE >= (size_t)length;

	*ret_frame = whole ? (struct rg__bytes){at + LENGTH_SIZE, (size_t)length} : RG__NULL_BYTES;
	*ret_used = LENGTH_SIZE + (size_t)length;
	return true;
}

static bool check_version(const struct rg__api *api, const char *message, int version, bool decoding,
			  struct rg__codec_error *err)
{
	if (version >= api->first && version <= api->last)
		return true;
	return rg__codec_refuse(err, message, version, decoding, "only versions %d to %d are spoken here", api->first,
				api->last);
}

/* An error inside a header is told as one of the message it belongs to. */
static bool refuse_header(struct rg__codec_error *err, const char *message, int version)
{
	char path[sizeof(err->path)];

	if (!err)
		return false;
	err->message = message;
	err->version = version;
	memcpy(path, err->path, sizeof(path));
	snprintf(err->path, sizeof(err->path), "header%s%.*s", path[0] ? "." : "", (int)sizeof(path) - 16, path);
	return false;
}

struct part {
	const struct rg__fields *fields;
	int version;
	const void *message;
};

static bool encode_frame(struct part header, struct part body, struct rg__buf *out, struct rg__codec_error *err)
{
	static const uint8_t no_length[LENGTH_SIZE];
	size_t start = out->len;

	if (!rg__buf_append(out, no_length, sizeof(no_length))) {
		rg__codec_refuse(err, body.fields->name, body.version, false, "out of memory");
		if (err)
			err->out_of_memory = true;
		return false;
	}
	if (!rg__encode(header.fields, header.version, header.message, out, err)) {
		out->len = start;
		return refuse_header(err, body.fields->name, body.version);
	}
	if (!rg__encode(body.fields, body.version, body.message, out, err)) {
		out->len = start;
		return false;
	}
	size_t length = out->len - start - LENGTH_SIZE;

	if (length > INT32_MAX) {
		out->len = start;
		return rg__codec_refuse(err, body.fields->name, body.version, false, "frame of %zu bytes", length);
	}
	for (size_t i = 0; i < LENGTH_SIZE; i++)
		out->data[start + i] = (uint8_t)(length >> 8 * (LENGTH_SIZE - 1 - i));
	return true;
}

bool rg__encode_request(const struct rg__api *api, int version, int32_t correlation_id, struct rg__bytes client_id,
			const void *body, struct rg__buf *out, struct rg__codec_error *err)
{
	struct rg__request_header fields = {api->key, (int16_t)version, correlation_id, client_id};
	struct part header = {&rg__request_header_fields, rg__api_request_header_version(api, version), &fields};

	return check_version(api, api->request->name, version, false, err) &&
	       encode_frame(header, (struct part){api->request, version, body}, out, err);
}

bool rg__encode_response(const struct rg__api *api, int version, int32_t correlation_id, const void *body,
			 struct rg__buf *out, struct rg__codec_error *err)
{
	struct rg__response_header fields = {correlation_id};
	struct part header = {&rg__response_header_fields, rg__api_response_header_version(api, version), &fields};

	return check_version(api, api->response->name, version, false, err) &&
	       encode_frame(header, (struct part){api->response, version, body}, out, err);
}

bool rg__peek_correlation_id(struct rg__bytes frame, int32_t *ret_correlation_id, struct rg__codec_error *err)
{
	struct rg__response_header header;
	struct rg__arena none = {0}; /* a header has no arrays */
	size_t end;

	if (!rg__decode(&rg__response_header_fields, 0, frame, &none, &header, &end, err))
		return false;
	*ret_correlation_id = header.correlation_id;
	return true;
}

bool rg__decode_response(const struct rg__api *api, int version, struct rg__bytes frame, struct rg__arena *arena,
			 int32_t *ret_correlation_id, void *ret_body, struct rg__codec_error *err)
{
	const char *message = api->response->name;
	struct rg__response_header header;
	size_t end;

	if (!check_version(api, message, version, true, err))
		return false;
	if (!rg__decode(&rg__response_header_fields, rg__api_response_header_version(api, version), frame, arena,
			&header, &end, err))
		return refuse_header(err, message, version);
	if (!rg__decode_at(api->response, message, version, frame, end, arena, ret_body, NULL, err))
		return false;
	if (ret_correlation_id)
		*ret_correlation_id = header.correlation_id;
	return true;
}

bool rg__decode_api_versions_response(int version, struct rg__bytes frame, struct rg__arena *arena,
				      struct rg__api_versions_response *ret_body, struct rg__codec_error *err)
{
	const struct rg__api *api = rg__api_by_key(RG__API_API_VERSIONS);
	struct rg__api_versions_response oldest;

	if (rg__decode_response(api, version, frame, arena, NULL, ret_body, err))
		return true;
	/* KIP-511: anything else in version 0 would be an answer to a question we did not ask. */
	if (!rg__decode_response(api, 0, frame, arena, NULL, &oldest, NULL) ||
	    oldest.error_code != ERROR_UNSUPPORTED_VERSION)
		return false;
	*ret_body = oldest;
	return true;
}

bool rg__decode_request_header(struct rg__bytes frame, struct rg__request_header *ret_header,
			       struct rg__codec_error *err)
{
	struct rg__arena none = {0};
	size_t end;

	return rg__decode(&rg__request_header_fields, 1, frame, &none, ret_header, &end, err);
}

bool rg__decode_request(const struct rg__api *api, int version, struct rg__bytes frame, struct rg__arena *arena,
			void *ret_body, struct rg__codec_error *err)
{
	const char *message = api->request->name;
	struct rg__request_header header;
	size_t end;

	if (!check_version(api, message, version, true, err))
		return false;
	if (!rg__decode(&rg__request_header_fields, rg__api_request_header_version(api, version), frame, arena, &header,
			&end, err))
		return refuse_header(err, message, version);
	return rg__decode_at(api->request, message, version, frame, end, arena, ret_body, &end, err);
}
