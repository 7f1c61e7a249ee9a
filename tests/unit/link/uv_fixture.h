/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LINK_UV_FIXTURE_H
#define TESTS_UNIT_LINK_UV_FIXTURE_H

/* The libuv implementation on real loopback sockets, with a server in the same loop that answers ApiVersions and
 * Heartbeat. */

#include "link/link.h"
#include "link/uv_io.h"

#include "suite.h"

struct uv_fixture {
	uv_loop_t loop;
	struct rg__io *io;
	uv_tcp_t listener;
	bool listening;
	uint16_t port;
	uv_tcp_t *accepted; /* the newest */
	struct rg__buf inbox;
	size_t received;
	bool mute;         /* the server reads and does not answer */
	bool hangs_up_at_once;
	int woken, fired, ups, downs, dones, news; /* news: any of the last three */
	rg_error down;
	rg_err done_err;
	int64_t fired_at_us;
	bool late; /* the test's own time ran out */
};

extern struct uv_fixture f;

/* Around each test: f.io is there, nobody listens yet. end() finds everything closed that was freed. */
void begin(void);
void end(void);

/* On f.port, a free one, until server_close(). */
void listen_on_loopback(void);
void listen_on_port(uint16_t port);
void server_close(void);

/* Runs the loop until *counter reaches `want`; 10 seconds are a failure. */
void run_until(const int *counter, int want);

#endif
