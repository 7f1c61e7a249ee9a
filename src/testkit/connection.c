/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

#include <string.h>

struct write_request {
	uv_write_t write;
	struct rg__buf bytes;
};

static void on_written(uv_write_t *write, int status)
{
	struct write_request *request = write->data;

	(void)status; /* a connection that broke is noticed by its reader */
	rg__buf_free(&request->bytes);
	rg__free(request);
}

bool rg__kit_write(uv_stream_t *stream, struct rg__buf *bytes)
{
	struct write_request *request = rg__calloc(1, sizeof(*request));
	uv_buf_t piece;

	if (!request)
		return false;
	request->write.data = request;
	request->bytes = *bytes;
	*bytes = (struct rg__buf){0};
	piece = uv_buf_init((char *)request->bytes.data, (unsigned)request->bytes.len);
	if (uv_write(&request->write, stream, &piece, 1, on_written) < 0)
		on_written(&request->write, -1);
	return true;
}

void rg__kit_handle_open(struct rg__kit_connection *connection, uv_handle_t *handle)
{
	handle->data = connection;
	connection->open_handles++;
}

void rg__kit_handle_gone(struct rg__kit_connection *connection)
{
	if (--connection->open_handles)
		return;
	rg__buf_free(&connection->in);
	rg__buf_free(&connection->answer);
	rg__free(connection);
}

static void on_closed(uv_handle_t *handle)
{
	rg__kit_handle_gone(handle->data);
}

static void unlist(struct rg__kit_connection *connection)
{
	struct rg__kit_connection **at = &connection->kit->ready;

	while (*at && *at != connection)
		at = &(*at)->next_ready;
	if (*at)
		*at = connection->next_ready;
	connection->is_ready = false;
}

void rg__kit_connection_close(struct rg__kit_connection *connection)
{
	if (connection->closing)
		return;
	connection->closing = true;
	if (connection->is_ready)
		unlist(connection);
	HASH_DEL(connection->kit->connections, connection);
	rg__kit_upstream_close(connection);
	uv_close((uv_handle_t *)&connection->timer, on_closed);
	uv_close((uv_handle_t *)&connection->socket, on_closed);
}

void rg__kit_connection_failed(struct rg__kit_connection *connection, const char *why)
{
	rg__kit_break(connection->kit, why);
}

static void make_ready(struct rg__kit_connection *connection)
{
	struct rg__kit_connection **end = &connection->kit->ready;

	if (connection->is_ready || connection->closing)
		return;
	while (*end)
		end = &(*end)->next_ready;
	connection->next_ready = NULL;
	connection->is_ready = true;
	*end = connection;
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct rg__kit_connection *connection = handle->data;
	struct rg__buf *in = &connection->in;

	/* Read straight to where it belongs; no room means UV_ENOBUFS below. */
	*ret_buf = uv_buf_init(NULL, 0);
	if (rg__buf_reserve(in, suggested))
		*ret_buf = uv_buf_init((char *)in->data + in->len, (unsigned)(in->capacity - in->len));
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct rg__kit_connection *connection = stream->data;
	struct rg_testkit *kit = connection->kit;

	(void)buf;
	if (length == UV_ENOBUFS) {
		rg__kit_connection_failed(connection, "for what a client sent");
	} else if (length < 0) {
		rg__kit_connection_close(connection);
	} else {
		connection->in.len += (size_t)length;
		make_ready(connection);
	}
	rg__kit_pump(kit);
}

/* Takes the next request up, if there is a whole one and none is worked on; otherwise listens on. */
static void go_on(struct rg__kit_connection *connection)
{
	struct rg__codec_error refused;
	struct rg__bytes frame = RG__NULL_BYTES;
	size_t used;

	if (connection->busy)
		return;
	if (!rg__frame_next(rg__buf_view(&connection->in), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &refused)) {
		rg__kit_connection_close(connection);
		return;
	}
	if (!frame.data) {
		/* EALREADY: it never stopped. */
		uv_read_start((uv_stream_t *)&connection->socket, give_room, on_read);
		return;
	}
	uv_read_stop((uv_stream_t *)&connection->socket);
	connection->busy = true;
	connection->frame_used = used;
	connection->frame = frame;
	rg__kit_request_begin(connection, frame);
}

void rg__kit_pump(struct rg_testkit *kit)
{
	while (kit->ready) {
		struct rg__kit_connection *connection = kit->ready;

		unlist(connection);
		go_on(connection);
	}
}

void rg__kit_connection_done(struct rg__kit_connection *connection)
{
	if (connection->closing)
		return;
	rg__buf_consume(&connection->in, connection->frame_used);
	connection->busy = connection->held = connection->delayed = false;
	connection->rule = NULL;
	connection->frame = connection->client_id = RG__NULL_BYTES;
	make_ready(connection);
}

static void on_timer(uv_timer_t *timer)
{
	struct rg__kit_connection *connection = timer->data;
	struct rg_testkit *kit = connection->kit;

	rg__kit_connection_deliver(connection);
	rg__kit_pump(kit);
}

void rg__kit_connection_deliver(struct rg__kit_connection *connection)
{
	const struct rg__kit_rule *rule = connection->rule;
	int32_t latency_ms = connection->front->latency_ms;

	if (connection->closing)
		return;
	if (rule && rule->fault == RG__KIT_DROP_AFTER) {
		rg__kit_connection_close(connection);
		return;
	}
	if (rule && rule->fault == RG__KIT_HOLD_AFTER && !rule->released) {
		connection->held = true;
		return;
	}
	if (latency_ms > 0 && !connection->delayed) {
		connection->delayed = true;
		uv_timer_start(&connection->timer, on_timer, (uint64_t)latency_ms, 0);
		return;
	}
	if (!rg__kit_write((uv_stream_t *)&connection->socket, &connection->answer)) {
		rg__kit_connection_failed(connection, "while an answer was sent");
		return;
	}
	rg__kit_connection_done(connection);
}

void rg__kit_connection_answer(struct rg__kit_connection *connection, const struct rg__api *api, int version,
			       const void *body)
{
	struct rg__codec_error error;

	if (connection->closing)
		return;
	connection->answer.len = 0;
	if (body && rg__encode_response(api, version, connection->correlation_id, body, &connection->answer, &error))
		rg__kit_connection_deliver(connection);
	else
		/* A body that the version cannot hold would be a bug of ours, which the tests of the coordinator look for. */
		rg__kit_connection_failed(connection, "while an answer was written");
}

void rg__kit_accept(struct rg__kit_front *front)
{
	struct rg_testkit *kit = front->kit;
	struct rg__kit_connection *connection = rg__calloc(1, sizeof(*connection));

	if (!connection) {
		rg__kit_break(kit, "for a connection");
		return;
	}
	connection->kit = kit;
	connection->front = front;
	connection->id = ++kit->last_connection_id;
	HASH_ADD(hh, kit->connections, id, sizeof(connection->id), connection);
	if (!RG__HASH_ADDED(connection)) {
		rg__free(connection);
		rg__kit_break(kit, "for a connection");
		return;
	}
	uv_tcp_init(&kit->loop, &connection->socket);
	uv_timer_init(&kit->loop, &connection->timer);
	rg__kit_handle_open(connection, (uv_handle_t *)&connection->socket);
	rg__kit_handle_open(connection, (uv_handle_t *)&connection->timer);
	if (uv_accept((uv_stream_t *)front->listener, (uv_stream_t *)&connection->socket) < 0) {
		rg__kit_connection_close(connection);
		return;
	}
	uv_tcp_nodelay(&connection->socket, 1);
	make_ready(connection);
}
