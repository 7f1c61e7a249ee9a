/* SPDX-License-Identifier: Apache-2.0 */
#include "link/internal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* Bytes into frames, frames into answers. A frame is collected in a buffer of its own that grows with what has really
 * arrived, whatever its length claims; the answer then lives in that buffer. */

/* --- Throttling (KIP-219) ----------------------------------------------------------------------------------------- */

/* From this version on the broker answers at once and the client has to wait; below it the broker has waited
 * already. */
static const struct {
	int16_t api_key, first;
} client_throttles[] = {
	{RG__API_METADATA, 6},   {RG__API_OFFSET_COMMIT, 4}, {RG__API_OFFSET_FETCH, 4},
	{RG__API_JOIN_GROUP, 3}, {RG__API_FIND_COORDINATOR, 2}, {RG__API_HEARTBEAT, 2},
	{RG__API_LEAVE_GROUP, 2}, {RG__API_SYNC_GROUP, 2},   {RG__API_DESCRIBE_GROUPS, 2},
	{RG__API_LIST_GROUPS, 2}, {RG__API_API_VERSIONS, 2}, {RG__API_TXN_OFFSET_COMMIT, 1},
};

static int32_t throttle_time_ms(const struct rg__api *api, const void *body)
{
	int32_t throttle_ms = 0;

	for (int i = 0; i < api->response->count; i++) {
		const struct rg__field *field = &api->response->items[i];

		if (strcmp(field->name, "ThrottleTimeMs") == 0)
			memcpy(&throttle_ms, (const char *)body + field->offset, sizeof(throttle_ms));
	}
	return throttle_ms;
}

int32_t rg__response_throttle_ms(const struct rg__api *api, int16_t version, const void *body)
{
	for (size_t i = 0; i < sizeof(client_throttles) / sizeof(client_throttles[0]); i++) {
		if (client_throttles[i].api_key == api->key && version >= client_throttles[i].first)
			return throttle_time_ms(api, body);
	}
	return 0;
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

void rg__message_free(struct rg__message *message)
{
	if (!message)
		return;
	rg__arena_clear(&message->arena);
	rg__buf_free(&message->frame);
	rg__free(message);
}

/* NULL: out of memory, or `refused` is filled. Takes the frame over. */
static struct rg__message *decode(const struct rg__request *request, struct rg__buf *frame_buf, struct rg__bytes frame,
                                  struct rg__codec_error *refused)
{
	struct rg__message *message = rg__calloc(1, sizeof(*message));

	if (!message)
		return NULL;
	message->frame = *frame_buf;
	*frame_buf = (struct rg__buf){0};
	message->body = rg__arena_calloc(&message->arena, 1, request->api->response->size);
	if (!message->body || !rg__decode_response(request->api, request->version, frame, &message->arena, NULL,
	                                           message->body, refused)) {
		rg__message_free(message);
		return NULL;
	}
	return message;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void go_down_protocol(struct rg__link *link, const struct rg__codec_error *refused)
{
	char text[RG__CODEC_TEXT_MAX];
	rg_error error;

	rg__codec_error_text(refused, text, sizeof(text));
	rg__fail(&error, RG_ERR_PROTOCOL, "the answer is not Kafka's protocol: %s", text);
	if (link->state == RG__LINK_HANDSHAKE)
		rg__link_attempt_failed(link, &error);
	else
		rg__link_go_down(link, &error);
}

static void answer(struct rg__link *link, struct rg__request *request, struct rg__buf *frame_buf,
                   struct rg__bytes frame)
{
	struct rg__codec_error refused = {0};
	struct rg__response response = {.api_key = request->call.api_key};
	struct rg__message *message = decode(request, frame_buf, frame, &refused);

	if (!message && refused.what[0] && !refused.out_of_memory) {
		go_down_protocol(link, &refused);
		return;
	}
	if (message) {
		response.message = message;
		response.body = message->body;
		response.throttle_ms = throttle_time_ms(request->api, message->body);
		rg__link_throttle(link, rg__response_throttle_ms(request->api, request->version, message->body));
	} else {
		rg__fail(&response.error, RG_ERR_MEMORY, "%s: no memory for the answer to %s", link->name, request->api->name);
	}
	rg__request_forget(link, request);
	rg__request_answer(link, request, &response);
	rg__message_free(response.message);
}

static void handle_answer(struct rg__link *link, struct rg__buf *frame_buf, struct rg__bytes frame)
{
	struct rg__request *request = link->requests.sent; /* answers come in the order of the requests */
	struct rg__codec_error refused = {0};
	int32_t correlation_id = 0;
	rg_error error;

	if (!rg__peek_correlation_id(frame, &correlation_id, &refused)) {
		go_down_protocol(link, &refused);
	} else if (!request || request->correlation_id != correlation_id) {
		if (request)
			rg__fail(&error, RG_ERR_PROTOCOL, "an answer to request %d where that to %s, request %d, is next",
			         (int)correlation_id, request->api->name, (int)request->correlation_id);
		else
			rg__fail(&error, RG_ERR_PROTOCOL, "an answer to request %d, but nothing was asked", (int)correlation_id);
		rg__link_go_down(link, &error);
	} else if (request->ghost) {
		rg__request_forget(link, request);
		rg__free(request);
	} else {
		answer(link, request, frame_buf, frame);
	}
}

/* Appends up to what the next look needs; the rest is *data, *len. */
static bool collect(struct rg__link *link, const uint8_t **data, size_t *len)
{
	size_t missing = link->frame_want - link->frame.len;
	size_t take = *len < missing ? *len : missing;

	if (!rg__buf_append(&link->frame, *data, take))
		return false;
	*data += take;
	*len -= take;
	return true;
}

static void out_of_memory(struct rg__link *link)
{
	rg_error error;

	rg__fail(&error, RG_ERR_MEMORY, "no memory for an answer of %zu bytes", link->frame_want);
	rg__link_go_down(link, &error);
}

/* A whole frame has arrived. */
static void handle_frame(struct rg__link *link, struct rg__bytes frame)
{
	struct rg__buf frame_buf = link->frame; /* `frame` points into it */

	link->frame = (struct rg__buf){0};
	link->frame_want = 4;
	if (link->state == RG__LINK_HANDSHAKE)
		rg__link_handshake_answer(link, frame);
	else
		handle_answer(link, &frame_buf, frame);
	rg__buf_free(&frame_buf);
}

void rg__link_received(void *user, const uint8_t *data, size_t len)
{
	struct rg__link *link = user;
	uint64_t connection = link->connection;

	rg__link_enter(link);
	while (len && !link->freed && link->connection == connection) {
		struct rg__codec_error refused = {0};
		struct rg__bytes frame;
		size_t used;

		if (!collect(link, &data, &len)) {
			out_of_memory(link);
			break;
		}
		if (link->frame.len < link->frame_want)
			break;
		if (!rg__frame_next(rg__buf_view(&link->frame), (size_t)link->conf->frame_limit, &frame, &used, &refused))
			go_down_protocol(link, &refused);
		else if (frame.data)
			handle_frame(link, frame);
		else
			link->frame_want = used;
	}
	if (!link->freed && link->connection == connection)
		rg__requests_flush(link);
	rg__link_leave(link);
}
