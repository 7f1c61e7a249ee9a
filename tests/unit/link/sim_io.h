/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LINK_SIM_IO_H
#define TESTS_UNIT_LINK_SIM_IO_H

/* io.h with virtual time and a network of scripted servers: nothing sleeps, every run is the same. */

#include "link/io.h"

struct sim_event;
struct sim_conn;

/* What an address does when somebody connects. */
enum sim_mode { SIM_ACCEPT, SIM_REFUSE, SIM_SILENT /* SYNs vanish */ };

struct sim_server {
	struct sim_server *next;
	const char *address;
	uint16_t port;
	enum sim_mode mode;
	void (*opened)(struct sim_conn *conn, void *user); /* may be NULL */
	void (*received)(struct sim_conn *conn, const uint8_t *data, size_t len, void *user);
	void (*closed)(struct sim_conn *conn, void *user); /* the client's end is gone, and conn with it; may be NULL */
	void *user;
	int attempts;
};

struct sim_name {
	struct sim_name *next;
	const char *name;
	const char *addresses[4];
	bool hangs; /* the lookup never ends */
};

struct sim {
	struct rg__io io;
	int64_t now_us;
	struct sim_event *events;
	uint64_t order;
	struct sim_server *servers;
	struct sim_name *names;
	size_t chunk;       /* received() gets at most this many bytes at once; 0: all */
	bool dispatching;   /* inside an event: the only time callbacks may run */
	int attempts;       /* connections tried */
	int timers, streams, lookups; /* alive */
	uint64_t turns;     /* events so far */
};

void sim_init(struct sim *sim);
void sim_end(struct sim *sim); /* checks that nothing is alive any more */
void sim_add(struct sim *sim, struct sim_server *server);
void sim_name(struct sim *sim, struct sim_name *name);

/* Runs all events up to that time, and sets the clock to it. */
void sim_run_to(struct sim *sim, int64_t at_us);
void sim_run_ms(struct sim *sim, int64_t ms);
void sim_turn(struct sim *sim); /* one event, if there is one */
int64_t sim_next_us(const struct sim *sim); /* when that is; INT64_MAX: there is none */

/* The server's end. After a hang-up, or when the client has closed, sends go nowhere. */
void sim_send(struct sim_conn *conn, const void *data, size_t len);
void sim_send_in(struct sim_conn *conn, const void *data, size_t len, int64_t delay_us); /* what is sent later waits behind it */
void sim_hang_up(struct sim_conn *conn);
struct rg__buf *sim_inbox(struct sim_conn *conn); /* for the server's use */

#endif
