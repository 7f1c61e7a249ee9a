/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

#include <netinet/in.h>

static void on_connection(uv_stream_t *listener, int status)
{
	struct rg__kit_front *front = listener->data;

	if (status == 0)
		rg__kit_accept(front);
	rg__kit_pump(front->kit);
}

static int listen_at(struct rg__kit_front *front)
{
	struct sockaddr_in address;
	struct sockaddr_storage bound;
	int length = sizeof(bound);
	int failed = uv_ip4_addr(front->broker->host, front->broker->port, &address);

	if (!failed)
		failed = uv_tcp_bind(front->listener, (const struct sockaddr *)&address, 0);
	if (!failed)
		failed = uv_listen((uv_stream_t *)front->listener, 1024, on_connection);
	if (!failed)
		failed = uv_tcp_getsockname(front->listener, (struct sockaddr *)&bound, &length);
	if (!failed)
		front->broker->port = ntohs(((const struct sockaddr_in *)&bound)->sin_port);
	return failed;
}

static void on_closed(uv_handle_t *listener)
{
	rg__free(listener);
}

rg_err rg__kit_front_open(struct rg__kit_front *front, rg_error *error)
{
	int failed;

	front->listener = rg__malloc(sizeof(*front->listener));
	if (!front->listener)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	uv_tcp_init(&front->kit->loop, front->listener);
	front->listener->data = front;
	failed = listen_at(front);
	if (failed) {
		rg__fail(error, RG_ERR_SYSTEM, "127.0.0.1:%d: %s", (int)front->broker->port, uv_strerror(failed));
		rg__kit_front_close(front);
		return RG_ERR_SYSTEM;
	}
	front->broker->running = true;
	return RG_OK;
}

void rg__kit_front_close(struct rg__kit_front *front)
{
	struct rg__kit_connection *connection, *next;

	front->broker->running = false;
	/* The descriptor is closed at once, the memory a little later: the port can be opened again right away. */
	if (front->listener)
		uv_close((uv_handle_t *)front->listener, on_closed);
	front->listener = NULL;
	HASH_ITER(hh, front->kit->connections, connection, next)
		if (connection->front == front)
			rg__kit_connection_close(connection);
}
