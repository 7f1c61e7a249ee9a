/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_SIM_NET_H
#define RG__TESTKIT_SIM_NET_H

/* A network inside the program: hosts that see it as link/io.h (timers, names, byte streams), and ports that take their
 * connections. Bytes take their time, arrive in pieces, stand still, or never arrive; connections break on both sides or
 * on one. The broker with node id n is "b<n>" at 10.0.0.n. */

#include "link/io.h"
#include "testkit/sim_world.h"

struct rg__sim_net;
struct rg__sim_connection;

/* Whoever takes connections. All of it runs from the world's events. */
struct rg__sim_port_events {
	void (*accepted)(void *user, struct rg__sim_connection *connection);
	void (*received)(void *user, struct rg__sim_connection *connection, const uint8_t *data, size_t len);
	void (*closed)(void *user, struct rg__sim_connection *connection); /* the client has gone, or the line broke */
};

enum rg__sim_port_state {
	RG__SIM_PORT_OPEN,
	RG__SIM_PORT_REFUSES,
	RG__SIM_PORT_SILENT /* no answer to connect */
};

enum { RG__SIM_PORTS = 8 };

struct rg__sim_port {
	const struct rg__sim_port_events *events;
	void *user;
	enum rg__sim_port_state state;
};

/* Sees what the clients write and read; NULL functions are skipped. */
struct rg__sim_tap {
	void (*opened)(void *user, struct rg__sim_connection *connection);
	void (*bytes)(void *user, struct rg__sim_connection *connection, bool sent, const uint8_t *data, size_t len);
	void (*closed)(void *user, struct rg__sim_connection *connection);
	void *user;
};

/* One process on a machine of its own. */
struct rg__sim_host {
	struct rg__io io; /* first */
	struct rg__sim_net *net;
	int number;
	int64_t latency_us;  /* one way; some jitter comes on top */
	uint32_t piece_max;  /* bytes come in pieces of at most this; 0: whole */
	struct rg__sim_connection *connections;
};

struct rg__sim_net {
	struct rg__sim_world *world;
	struct rg__sim_port ports[RG__SIM_PORTS]; /* by node id */
	struct rg__sim_tap tap;
	struct rg__sim_connection *dead; /* freed when the world is at rest */
	struct rg__sim_event reap;
	uint64_t connections_made;
};

bool rg__sim_net_init(struct rg__sim_net *net, struct rg__sim_world *world); /* false: out of memory */
void rg__sim_net_free(struct rg__sim_net *net); /* after its hosts */

void rg__sim_host_init(struct rg__sim_host *host, struct rg__sim_net *net, int number);
/* Frees what is left of its connections. Timers and streams are their owners' to free, before. */
void rg__sim_host_free(struct rg__sim_host *host);

/* The server's side of a connection. */
void rg__sim_send(struct rg__sim_connection *connection, const uint8_t *data, size_t len);
void rg__sim_hang_up(struct rg__sim_connection *connection); /* what was sent before still arrives */
uint64_t rg__sim_connection_id(const struct rg__sim_connection *connection);
int rg__sim_connection_host(const struct rg__sim_connection *connection);
int rg__sim_connection_port(const struct rg__sim_connection *connection);
void **rg__sim_connection_slot(struct rg__sim_connection *connection); /* for the server */
void **rg__sim_tap_slot(struct rg__sim_connection *connection);        /* for the tap */

/* --- What goes wrong ----------------------------------------------------------------------------------------------- */

/* The line breaks now, with all that is on it; both sides hear of it. */
void rg__sim_break(struct rg__sim_connection *connection);

/* Nothing that is or will be on it arrives before `until_us`; INT64_MAX: never, half-open until a side gives up. */
void rg__sim_stall(struct rg__sim_connection *connection, bool to_server, bool to_client, int64_t until_us);

bool rg__sim_stands_still(const struct rg__sim_connection *connection); /* for ever, in some direction */

struct rg__sim_connection *rg__sim_connection_next(struct rg__sim_connection *connection); /* of the same host */

#endif
