/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the simulated network: what is on the line, and how it ends. */
#include "testkit/sim_net.h"

#include "base/alloc.h"
#include "base/error.h"
#include "testkit/sim_internal.h"

#include <string.h>
#include <utlist.h>

struct piece {
	struct piece *prev, *next;
	struct rg__sim_event event;
	struct rg__sim_connection *connection;
	bool to_server;
	size_t len;
	uint8_t data[];
};

/* One direction. */
struct line {
	struct piece *pieces;
	int64_t last_us; /* bytes do not overtake each other */
	int64_t stalled_until_us;
};

struct rg__sim_connection {
	struct rg__stream stream; /* first: the client's end */
	struct rg__sim_connection *prev, *next;
	struct rg__sim_host *host; /* NULL: the process is gone */
	struct rg__sim_net *net;
	int host_number, port;
	uint64_t id;
	struct line up, down;
	struct rg__sim_event open, client_end, server_end;
	bool accepted, connected;
	bool client_closed, server_closed; /* the side has no more use for it */
	bool client_told;                  /* `closed` ran, or is not wanted */
	rg_error why;
	void *server_slot, *tap_slot;
};

uint64_t rg__sim_connection_id(const struct rg__sim_connection *connection)
{
	return connection->id;
}

int rg__sim_connection_host(const struct rg__sim_connection *connection)
{
	return connection->host_number;
}

int rg__sim_connection_port(const struct rg__sim_connection *connection)
{
	return connection->port;
}

void **rg__sim_connection_slot(struct rg__sim_connection *connection)
{
	return &connection->server_slot;
}

void **rg__sim_tap_slot(struct rg__sim_connection *connection)
{
	return &connection->tap_slot;
}

struct rg__sim_connection *rg__sim_connection_next(struct rg__sim_connection *connection)
{
	return connection->next;
}

static int64_t trip_us(const struct rg__sim_connection *connection)
{
	int64_t latency_us = connection->host ? connection->host->latency_us : 500;

	return latency_us + (int64_t)rg__sim_draw(connection->net->world, (uint32_t)(latency_us / 4 + 1));
}

/* When something that is put on the line now arrives; INT64_MAX: never. */
static int64_t arrival_us(const struct rg__sim_connection *connection, struct line *line)
{
	int64_t at_us = connection->net->world->now_us + trip_us(connection);

	if (line->stalled_until_us == INT64_MAX)
		return INT64_MAX;
	if (at_us < line->stalled_until_us)
		at_us = line->stalled_until_us;
	if (at_us < line->last_us)
		at_us = line->last_us;
	line->last_us = at_us;
	return at_us;
}

/* --- Endings -------------------------------------------------------------------------------------------------------- */

static void empty(struct rg__sim_connection *connection, struct line *line)
{
	struct piece *piece, *next;

	DL_FOREACH_SAFE(line->pieces, piece, next) {
		DL_DELETE(line->pieces, piece);
		rg__sim_event_free(connection->net->world, &piece->event);
		rg__free(piece);
	}
}

/* When neither side has any use for it: it goes when the callback that is running is over. */
static void bury(struct rg__sim_connection *connection)
{
	struct rg__sim_net *net = connection->net;

	if (!connection->client_closed || !connection->server_closed)
		return;
	empty(connection, &connection->up);
	empty(connection, &connection->down);
	rg__sim_event_free(net->world, &connection->open);
	rg__sim_event_free(net->world, &connection->client_end);
	rg__sim_event_free(net->world, &connection->server_end);
	if (connection->host)
		DL_DELETE(connection->host->connections, connection);
	connection->host = NULL;
	connection->next = net->dead;
	net->dead = connection;
	rg__sim_at(net->world, &net->reap, net->world->now_us);
}

static void reap(void *user)
{
	struct rg__sim_net *net = user;

	while (net->dead) {
		struct rg__sim_connection *connection = net->dead;

		net->dead = connection->next;
		rg__free(connection);
	}
}

static void server_hears(void *user)
{
	struct rg__sim_connection *connection = user;
	struct rg__sim_port *port = &connection->net->ports[connection->port];

	empty(connection, &connection->up);
	if (connection->server_closed)
		return;
	connection->server_closed = true;
	if (connection->accepted)
		port->events->closed(port->user, connection);
	bury(connection);
}

static void tap_closed(struct rg__sim_connection *connection)
{
	struct rg__sim_tap *tap = &connection->net->tap;

	if (connection->connected && tap->closed)
		tap->closed(tap->user, connection);
	connection->connected = false;
}

static void client_hears(void *user)
{
	struct rg__sim_connection *connection = user;

	if (connection->client_closed || connection->client_told)
		return;
	connection->client_told = true;
	empty(connection, &connection->down);
	tap_closed(connection);
	connection->stream.events->closed(connection->stream.user, &connection->why);
}

/* The client's end is of no use any more: what it sent and has not arrived is lost, as with a reset. */
static void client_gone(struct rg__sim_connection *connection)
{
	if (connection->client_closed)
		return;
	tap_closed(connection);
	connection->client_closed = true;
	empty(connection, &connection->down);
	empty(connection, &connection->up);
	if (!connection->accepted)
		connection->server_closed = true;
	if (!connection->server_closed)
		rg__sim_at(connection->net->world, &connection->server_end,
		           connection->net->world->now_us + trip_us(connection));
	bury(connection);
}

static void stream_close(struct rg__stream *stream)
{
	client_gone((struct rg__sim_connection *)stream);
}

static void fail(struct rg__sim_connection *connection, int64_t at_us, const char *why)
{
	rg__fail(&connection->why, RG_ERR_TRANSPORT, "%s", why);
	rg__sim_at(connection->net->world, &connection->client_end, at_us);
}

void rg__sim_hang_up(struct rg__sim_connection *connection)
{
	int64_t at_us;

	if (connection->server_closed)
		return;
	connection->server_closed = true;
	empty(connection, &connection->up);
	rg__sim_cancel(connection->net->world, &connection->server_end);
	at_us = arrival_us(connection, &connection->down);
	if (at_us != INT64_MAX && !connection->client_closed)
		fail(connection, at_us, "the broker closed the connection");
	bury(connection);
}

void rg__sim_break(struct rg__sim_connection *connection)
{
	struct rg__sim_world *world = connection->net->world;

	empty(connection, &connection->up);
	empty(connection, &connection->down);
	if (!connection->client_closed)
		fail(connection, world->now_us, "connection reset by peer");
	if (!connection->server_closed)
		rg__sim_at(world, &connection->server_end, world->now_us);
}

/* --- Bytes ---------------------------------------------------------------------------------------------------------- */

static void deliver(void *user)
{
	struct piece *piece = user;
	struct rg__sim_connection *connection = piece->connection;
	struct rg__sim_net *net = connection->net;
	struct rg__sim_port *port = &net->ports[connection->port];
	struct line *line = piece->to_server ? &connection->up : &connection->down;

	DL_DELETE(line->pieces, piece);
	rg__sim_event_free(net->world, &piece->event);
	if (piece->to_server && !connection->server_closed) {
		port->events->received(port->user, connection, piece->data, piece->len);
	} else if (!piece->to_server && !connection->client_closed && !connection->client_told) {
		if (net->tap.bytes)
			net->tap.bytes(net->tap.user, connection, false, piece->data, piece->len);
		connection->stream.events->received(connection->stream.user, piece->data, piece->len);
	}
	rg__free(piece);
}

static bool put(struct rg__sim_connection *connection, bool to_server, const uint8_t *data, size_t len)
{
	struct line *line = to_server ? &connection->up : &connection->down;
	struct piece *piece = rg__malloc(sizeof(*piece) + len);
	int64_t at_us;

	if (!piece)
		return false;
	if (!rg__sim_event_init(connection->net->world, &piece->event, deliver, piece)) {
		rg__free(piece);
		return false;
	}
	piece->connection = connection;
	piece->to_server = to_server;
	piece->len = len;
	memcpy(piece->data, data, len);
	DL_APPEND(line->pieces, piece);
	at_us = arrival_us(connection, line);
	if (at_us != INT64_MAX)
		rg__sim_at(connection->net->world, &piece->event, at_us);
	return true;
}

static bool put_all(struct rg__sim_connection *connection, bool to_server, const uint8_t *data, size_t len)
{
	uint32_t piece_max = connection->host ? connection->host->piece_max : 0;

	while (len) {
		size_t some = len;

		if (piece_max && some > 1)
			some = 1 + rg__sim_draw(connection->net->world, piece_max < len ? piece_max : (uint32_t)len);
		if (some > len)
			some = len;
		if (!put(connection, to_server, data, some))
			return false;
		data += some;
		len -= some;
	}
	return true;
}

void rg__sim_send(struct rg__sim_connection *connection, const uint8_t *data, size_t len)
{
	if (connection->server_closed || connection->client_closed)
		return;
	if (!put_all(connection, false, data, len))
		rg__sim_break(connection);
}

static bool stream_write(struct rg__stream *stream, struct rg__buf *buf)
{
	struct rg__sim_connection *connection = (struct rg__sim_connection *)stream;
	struct rg__sim_tap *tap = &connection->net->tap;

	if (tap->bytes)
		tap->bytes(tap->user, connection, true, buf->data, buf->len);
	if (!connection->server_closed && !put_all(connection, true, buf->data, buf->len))
		return false;
	rg__buf_free(buf);
	return true;
}

static void stall_line(struct rg__sim_connection *connection, struct line *line, int64_t until_us)
{
	struct piece *piece;

	if (line->stalled_until_us == INT64_MAX)
		return; /* what stands still for ever does so */
	line->stalled_until_us = until_us;
	DL_FOREACH(line->pieces, piece) {
		if (until_us == INT64_MAX)
			rg__sim_cancel(connection->net->world, &piece->event);
		else if (!piece->event.place || piece->event.at_us < until_us)
			rg__sim_at(connection->net->world, &piece->event, until_us);
	}
	if (until_us != INT64_MAX && line->last_us < until_us)
		line->last_us = until_us;
}

bool rg__sim_stands_still(const struct rg__sim_connection *connection)
{
	return connection->up.stalled_until_us == INT64_MAX || connection->down.stalled_until_us == INT64_MAX;
}

void rg__sim_stall(struct rg__sim_connection *connection, bool to_server, bool to_client, int64_t until_us)
{
	if (to_server)
		stall_line(connection, &connection->up, until_us);
	if (to_client)
		stall_line(connection, &connection->down, until_us);
}

/* --- Beginnings ------------------------------------------------------------------------------------------------------ */

static void opens(void *user)
{
	struct rg__sim_connection *connection = user;
	struct rg__sim_net *net = connection->net;
	struct rg__sim_port *port = &net->ports[connection->port];

	if (connection->client_closed)
		return;
	if (port->state == RG__SIM_PORT_SILENT)
		return;
	if (port->state == RG__SIM_PORT_REFUSES || !port->events) {
		connection->server_closed = true;
		fail(connection, net->world->now_us + trip_us(connection), "connection refused");
		return;
	}
	connection->accepted = connection->connected = true;
	port->events->accepted(port->user, connection);
	if (net->tap.opened)
		net->tap.opened(net->tap.user, connection);
	connection->stream.events->connected(connection->stream.user);
}

static const struct rg__stream_ops stream_ops = {stream_write, stream_close};

struct rg__stream *rg__sim_connect(struct rg__sim_host *host, int port)
{
	struct rg__sim_net *net = host->net;
	struct rg__sim_connection *connection = rg__calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	if (!rg__sim_event_init(net->world, &connection->open, opens, connection) ||
	    !rg__sim_event_init(net->world, &connection->client_end, client_hears, connection) ||
	    !rg__sim_event_init(net->world, &connection->server_end, server_hears, connection)) {
		rg__sim_event_free(net->world, &connection->open);
		rg__sim_event_free(net->world, &connection->client_end);
		rg__free(connection);
		return NULL;
	}
	connection->stream.ops = &stream_ops;
	connection->host = host;
	connection->net = net;
	connection->host_number = host->number;
	connection->port = port;
	connection->id = ++net->connections_made;
	DL_APPEND(host->connections, connection);
	rg__sim_at(net->world, &connection->open, net->world->now_us + 2 * trip_us(connection));
	return &connection->stream;
}

void rg__sim_host_free(struct rg__sim_host *host)
{
	struct rg__sim_connection *connection, *next;

	DL_FOREACH_SAFE(host->connections, connection, next) {
		connection->client_closed = true;
		if (connection->server_closed)
			bury(connection);
		else
			server_hears(connection);
	}
}

bool rg__sim_net_init(struct rg__sim_net *net, struct rg__sim_world *world)
{
	*net = (struct rg__sim_net){.world = world};
	return rg__sim_event_init(world, &net->reap, reap, net);
}

void rg__sim_net_free(struct rg__sim_net *net)
{
	reap(net);
	rg__sim_event_free(net->world, &net->reap);
}
