/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_CONNECTION_H
#define RG__TESTKIT_CONNECTION_H

/* A client's connection. As a broker does, it takes one request at a time: while one is being worked on, nothing more
 * is read, so answers keep the order of the requests, and a client that goes away is not missed before its answer is
 * sent. */

#include "testkit/kit.h"

struct rg__kit_upstream;

struct rg__kit_connection {
	UT_hash_handle hh;
	uint64_t id;
	struct rg_testkit *kit;
	struct rg__kit_front *front;
	uv_tcp_t socket;
	uv_timer_t timer; /* latency */
	int open_handles;
	bool closing;
	struct rg__buf in; /* received; starts with the request that is worked on */
	struct rg__kit_connection *next_ready;
	bool is_ready;
	/* The request that is worked on. */
	bool busy;
	size_t frame_used; /* its bytes in `in`, length included */
	struct rg__bytes frame;
	struct rg__bytes client_id; /* a view into it */
	int16_t api, version;
	int32_t correlation_id;
	struct rg__kit_rule *rule; /* the fault that hit it; NULL */
	bool held;                 /* by that fault */
	bool delayed;              /* by the latency */
	struct rg__buf answer;     /* its frame, waiting to go */
	struct rg__kit_upstream *upstream; /* NULL until something is passed on */
};

/* connection.c */
void rg__kit_accept(struct rg__kit_front *front);
void rg__kit_connection_close(struct rg__kit_connection *connection);
/* Encodes a body as the answer to the request that is worked on, and sends it unless a fault keeps it. */
void rg__kit_connection_answer(struct rg__kit_connection *connection, const struct rg__api *api, int version,
			       const void *body);
void rg__kit_connection_deliver(struct rg__kit_connection *connection); /* `answer` is filled; also after a hold */
void rg__kit_connection_done(struct rg__kit_connection *connection);    /* on to the next request */
void rg__kit_connection_failed(struct rg__kit_connection *connection, const char *why); /* out of memory */
void rg__kit_pump(struct rg_testkit *kit);

/* upstream.c: the connection to the mock broker that goes with a client's. */
void rg__kit_upstream_forward(struct rg__kit_connection *connection); /* the request that is worked on, unchanged */
void rg__kit_upstream_close(struct rg__kit_connection *connection);

/* uv_write with its own copy of the bytes. */
bool rg__kit_write(uv_stream_t *stream, struct rg__buf *bytes); /* takes them over; false: out of memory */
/* A connection lives until the last of its handles is closed. */
void rg__kit_handle_open(struct rg__kit_connection *connection, uv_handle_t *handle); /* handle->data becomes it */
void rg__kit_handle_gone(struct rg__kit_connection *connection);

#endif
