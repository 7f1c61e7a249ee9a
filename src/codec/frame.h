/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_FRAME_H
#define RG__CODEC_FRAME_H

/* What travels on a connection: four bytes of length, a header, a body. "Frame" below is what the length counts. */

#include "codec/api.h"
#include "codec/api_versions.h"
#include "codec/codec.h"
#include "codec/header.h"

enum { RG__FRAME_LIMIT_DEFAULT = 100 * 1024 * 1024 };

/* Looks for one frame at the start of what was received. True: either *ret_frame is a view of it and *ret_used the
 * bytes to consume (length included), or *ret_frame is the null view and *ret_used how many bytes there must be before
 * it is worth asking again. False: the length is negative or over `limit`, and the connection is of no use any more;
 * if the four bytes look like another protocol (HTTP, TLS), `err` says so. */
bool rg__frame_next(struct rg__bytes received, size_t limit, struct rg__bytes *ret_frame, size_t *ret_used,
		    struct rg__codec_error *err);

/* Client side. `body` is the struct of api->request; the whole frame with its length is appended to `out`. */
bool rg__encode_request(const struct rg__api *api, int version, int32_t correlation_id, struct rg__bytes client_id,
			const void *body, struct rg__buf *out, struct rg__codec_error *err);

/* The correlation id, which every response starts with: tells which request it answers, before the API is known. */
bool rg__peek_correlation_id(struct rg__bytes frame, int32_t *ret_correlation_id, struct rg__codec_error *err);

/* `ret_body` is the struct of api->response; its views point into `frame`. *ret_correlation_id may be NULL. */
bool rg__decode_response(const struct rg__api *api, int version, struct rg__bytes frame, struct rg__arena *arena,
			 int32_t *ret_correlation_id, void *ret_body, struct rg__codec_error *err);

/* As rg__decode_response for ApiVersions, whichever version the broker answered in: one that does not know `version`
 * answers in version 0 with error 35 and the range it has (KIP-511). */
bool rg__decode_api_versions_response(int version, struct rg__bytes frame, struct rg__arena *arena,
				      struct rg__api_versions_response *ret_body, struct rg__codec_error *err);

/* Server side. The header of any request, also of APIs and versions we do not speak (every header from version 1 on
 * starts the same way), so that it can be forwarded or answered with an error. */
bool rg__decode_request_header(struct rg__bytes frame, struct rg__request_header *ret_header,
			       struct rg__codec_error *err);

/* The body of a request whose header named this API and version; refuses versions outside api->first … api->last. What
 * follows the body is ignored. broker: so does Kafka's, and librdkafka 2.12 relies on it (three bytes behind a request
 * for Metadata of all topics). */
bool rg__decode_request(const struct rg__api *api, int version, struct rg__bytes frame, struct rg__arena *arena,
			void *ret_body, struct rg__codec_error *err);

/* `body` is the struct of api->response; the whole frame with its length is appended to `out`. */
bool rg__encode_response(const struct rg__api *api, int version, int32_t correlation_id, const void *body,
			 struct rg__buf *out, struct rg__codec_error *err);

#endif
