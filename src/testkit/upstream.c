/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"
#include "testkit/forwarded.h"

#include <netinet/in.h>

/* Each client's connection has one of its own to the mock broker, made when first needed. Frames pass unchanged, with
 * the client's correlation ids, so that what comes back can be told apart from answers nobody waits for. */

struct rg__kit_upstream {
	uv_tcp_t socket; /* data: the connection */
	uv_connect_t connect;
	uv_shutdown_t shutdown;
	struct rg__buf in;
	struct rg__kit_connection *connection;
};

static void on_closed(uv_handle_t *handle)
{
	/* The socket is the first member. */
	struct rg__kit_upstream *upstream = (struct rg__kit_upstream *)handle;
	struct rg__kit_connection *connection = upstream->connection;

	rg__buf_free(&upstream->in);
	rg__free(upstream);
	rg__kit_handle_gone(connection);
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
	uv_handle_t *socket = (uv_handle_t *)shutdown->handle;

	if (status != UV_ECANCELED && !uv_is_closing(socket))
		uv_close(socket, on_closed);
}

/* A client that wants no answer (acks=0) may be gone before its request is passed on, and it counts all the same:
 * what was taken from it is still written. */
void rg__kit_upstream_close(struct rg__kit_connection *connection)
{
	struct rg__kit_upstream *upstream = connection->upstream;
	uv_stream_t *stream = (uv_stream_t *)upstream;

	connection->upstream = NULL;
	if (!upstream)
		return;
	uv_read_stop(stream);
	if (connection->kit->stopping || !uv_stream_get_write_queue_size(stream) ||
	    uv_shutdown(&upstream->shutdown, stream, on_shutdown) < 0)
		uv_close((uv_handle_t *)stream, on_closed);
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct rg__buf *in = &((struct rg__kit_upstream *)handle)->in;

	*ret_buf = uv_buf_init(NULL, 0);
	if (rg__buf_reserve(in, suggested))
		*ret_buf = uv_buf_init((char *)in->data + in->len, (unsigned)(in->capacity - in->len));
}

/* With a transaction ends what groups have heard of it. False: out of memory. */
static bool look_at(struct rg__kit_connection *connection, struct rg__bytes answer)
{
	struct rg__bytes id;
	bool committed;

	return !rg__kit_ends_transaction(connection->api, connection->version, connection->frame, answer, &id, &committed) ||
	       rg__kit_coordinator_end_transaction(connection->kit->coordinator, id, committed);
}

/* The answer to what is worked on goes on; others are to requests that want none (acks=0) and are dropped. */
static bool take_frame(struct rg__kit_upstream *upstream)
{
	struct rg__kit_connection *connection = upstream->connection;
	struct rg__codec_error error;
	struct rg__bytes frame = RG__NULL_BYTES;
	int32_t correlation_id;
	size_t used;

	if (!rg__frame_next(rg__buf_view(&upstream->in), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &error) ||
	    (frame.data && !rg__peek_correlation_id(frame, &correlation_id, &error))) {
		rg__kit_connection_close(connection);
		return false;
	}
	if (!frame.data)
		return false;
	if (connection->busy && !connection->held && correlation_id == connection->correlation_id) {
		if (!look_at(connection, frame)) {
			rg__kit_connection_failed(connection, "at the end of a transaction");
			return false;
		}
		connection->answer.len = 0;
		if (!rg__buf_append(&connection->answer, upstream->in.data, used)) {
			rg__kit_connection_failed(connection, "for an answer of the mock broker");
			return false;
		}
		rg__kit_connection_deliver(connection);
	}
	if (connection->closing)
		return false;
	rg__buf_consume(&upstream->in, used);
	return true;
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct rg__kit_upstream *upstream = (struct rg__kit_upstream *)stream;
	struct rg__kit_connection *connection = upstream->connection;
	struct rg_testkit *kit = connection->kit;

	(void)buf;
	if (length == UV_ENOBUFS) {
		rg__kit_connection_failed(connection, "for what the mock broker sent");
	} else if (length < 0) {
		rg__kit_connection_close(connection);
	} else {
		upstream->in.len += (size_t)length;
		while (take_frame(upstream))
			;
	}
	rg__kit_pump(kit);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct rg__kit_upstream *upstream = connect->data;

	if (upstream->connection->closing)
		return;
	if (status < 0 || uv_read_start((uv_stream_t *)&upstream->socket, give_room, on_read) < 0)
		rg__kit_connection_close(upstream->connection);
}

static struct rg__kit_upstream *open_upstream(struct rg__kit_connection *connection)
{
	struct rg__kit_upstream *upstream = rg__calloc(1, sizeof(*upstream));

	if (!upstream)
		return NULL;
	upstream->connection = connection;
	upstream->connect.data = upstream;
	uv_tcp_init(&connection->kit->loop, &upstream->socket);
	rg__kit_handle_open(connection, (uv_handle_t *)&upstream->socket);
	connection->upstream = upstream;
	uv_tcp_nodelay(&upstream->socket, 1);
	if (uv_tcp_connect(&upstream->connect, &upstream->socket,
			   (const struct sockaddr *)&connection->kit->mock.address, on_connected) < 0)
		rg__kit_connection_close(connection);
	return upstream;
}

void rg__kit_upstream_forward(struct rg__kit_connection *connection)
{
	struct rg__buf bytes = {0};

	if (!connection->upstream && !open_upstream(connection)) {
		rg__kit_connection_failed(connection, "for a connection to the mock broker");
		return;
	}
	if (connection->closing)
		return;
	/* What is written before the connection stands waits inside libuv. */
	if (!rg__buf_append(&bytes, connection->in.data, connection->frame_used) ||
	    !rg__kit_write((uv_stream_t *)&connection->upstream->socket, &bytes)) {
		rg__buf_free(&bytes);
		rg__kit_connection_failed(connection, "for a request to the mock broker");
		return;
	}
	if (connection->api == RG__KIT_API_PRODUCE && rg__kit_wants_no_answer(connection->version, connection->frame))
		rg__kit_connection_done(connection);
}
