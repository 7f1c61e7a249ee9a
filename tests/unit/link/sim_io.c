/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_io.h"

#include "base/alloc.h"
#include "base/error.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* Everything that will happen, by time and then in order of its making. */
struct sim_event {
	struct sim_event *next;
	int64_t at_us;
	uint64_t order;
	void *owner; /* timer, lookup or connection: cancelled together with it */
	void (*run)(struct sim *sim, struct sim_event *event);
	uint8_t *data;
	size_t len;
};

/* An event is not one of the library's allocations: those are made to fail, the network is not. */
static struct sim_event *event_add(struct sim *sim, int64_t at_us, void *owner,
                                   void (*run)(struct sim *, struct sim_event *))
{
	struct sim_event *event = calloc(1, sizeof(*event)), **at = &sim->events;

	ck_assert_ptr_nonnull(event);
	event->at_us = at_us < sim->now_us ? sim->now_us : at_us;
	event->order = ++sim->order;
	event->owner = owner;
	event->run = run;
	while (*at && (*at)->at_us <= event->at_us)
		at = &(*at)->next;
	event->next = *at;
	*at = event;
	return event;
}

static void event_free(struct sim_event *event)
{
	free(event->data);
	free(event);
}

static void cancel(struct sim *sim, const void *owner, void (*run)(struct sim *, struct sim_event *))
{
	for (struct sim_event **at = &sim->events; *at;) {
		struct sim_event *event = *at;

		if (event->owner == owner && (!run || event->run == run)) {
			*at = event->next;
			event_free(event);
		} else {
			at = &event->next;
		}
	}
}

void sim_turn(struct sim *sim)
{
	struct sim_event *event = sim->events;

	if (!event)
		return;
	sim->events = event->next;
	sim->now_us = event->at_us;
	sim->dispatching = true;
	event->run(sim, event);
	sim->dispatching = false;
	event_free(event);
	ck_assert_msg(++sim->turns < 2000000, "the loop spins");
}

int64_t sim_next_us(const struct sim *sim)
{
	return sim->events ? sim->events->at_us : INT64_MAX;
}

void sim_run_to(struct sim *sim, int64_t at_us)
{
	while (sim->events && sim->events->at_us <= at_us)
		sim_turn(sim);
	sim->now_us = at_us;
}

void sim_run_ms(struct sim *sim, int64_t ms)
{
	sim_run_to(sim, sim->now_us + ms * 1000);
}

/* --- Clock and timers --------------------------------------------------------------------------------------------- */

static int64_t now_us(struct rg__io *io)
{
	return ((struct sim *)io)->now_us;
}

static void timer_run(struct sim *sim, struct sim_event *event)
{
	struct rg__timer *timer = event->owner;

	(void)sim;
	timer->fired(timer->user);
}

static struct rg__timer *timer_new(struct rg__io *io, void (*fired)(void *user), void *user)
{
	struct rg__timer *timer = rg__calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	*timer = (struct rg__timer){io, fired, user};
	((struct sim *)io)->timers++;
	return timer;
}

static void timer_clear(struct rg__timer *timer)
{
	cancel((struct sim *)timer->io, timer, NULL);
}

static void timer_set(struct rg__timer *timer, int64_t at_us)
{
	timer_clear(timer);
	event_add((struct sim *)timer->io, at_us, timer, timer_run);
}

static void timer_free(struct rg__timer *timer)
{
	timer_clear(timer);
	((struct sim *)timer->io)->timers--;
	rg__free(timer);
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

struct rg__lookup {
	struct sim *sim;
	char host[256];
	uint16_t port;
	rg__resolved *resolved;
	void *user;
};

static void make_address(const char *text, uint16_t port, struct rg__address *ret_address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret_address->storage;

	memset(ret_address, 0, sizeof(*ret_address));
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	ck_assert_int_eq(inet_pton(AF_INET, text, &in->sin_addr), 1);
}

static void lookup_run(struct sim *sim, struct sim_event *event)
{
	struct rg__lookup *lookup = event->owner;
	struct rg__address addresses[4];
	struct sockaddr_in numeric;
	size_t count = 0;
	rg_error error;

	if (inet_pton(AF_INET, lookup->host, &numeric.sin_addr) == 1)
		make_address(lookup->host, lookup->port, &addresses[count++]);
	for (struct sim_name *name = sim->names; name; name = name->next) {
		for (int i = 0; strcmp(name->name, lookup->host) == 0 && i < 4 && name->addresses[i]; i++)
			make_address(name->addresses[i], lookup->port, &addresses[count++]);
	}
	rg__fail(&error, RG_ERR_RESOLVE, "the name does not resolve");
	sim->lookups--;
	lookup->resolved(lookup->user, addresses, count, count ? NULL : &error);
	rg__free(lookup);
}

static struct rg__lookup *resolve(struct rg__io *io, const char *host, uint16_t port, rg__resolved *resolved,
                                  void *user)
{
	struct sim *sim = (struct sim *)io;
	struct rg__lookup *lookup = rg__calloc(1, sizeof(*lookup));
	bool hangs = false;

	if (!lookup)
		return NULL;
	*lookup = (struct rg__lookup){.sim = sim, .port = port, .resolved = resolved, .user = user};
	strncpy(lookup->host, host, sizeof(lookup->host) - 1);
	for (struct sim_name *name = sim->names; name; name = name->next)
		hangs = hangs || (name->hangs && strcmp(name->name, host) == 0);
	sim->lookups++;
	if (!hangs)
		event_add(sim, sim->now_us, lookup, lookup_run);
	return lookup;
}

static void resolve_cancel(struct rg__io *io, struct rg__lookup *lookup)
{
	struct sim *sim = (struct sim *)io;

	cancel(sim, lookup, NULL);
	sim->lookups--;
	rg__free(lookup);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

struct sim_conn {
	struct rg__stream stream;
	struct sim *sim;
	struct sim_server *server;
	struct rg__buf inbox;
	int64_t sent_until_us; /* when the last of what was sent to the client arrives */
	bool hung_up, closed_said;
};

static void connected_run(struct sim *sim, struct sim_event *event)
{
	struct sim_conn *conn = event->owner;

	(void)sim;
	conn->stream.events->connected(conn->stream.user);
}

/* Before the client hears of its success, since it may close at once. */
static void opened_run(struct sim *sim, struct sim_event *event)
{
	struct sim_conn *conn = event->owner;

	(void)sim;
	if (conn->server->opened)
		conn->server->opened(conn, conn->server->user);
}

static void closed_run(struct sim *sim, struct sim_event *event)
{
	struct sim_conn *conn = event->owner;
	rg_error error;

	(void)sim;
	ck_assert(!conn->closed_said);
	conn->closed_said = true;
	rg__fail(&error, RG_ERR_TRANSPORT, "%s", conn->hung_up ? "connection closed by the other side" : "connection refused");
	conn->stream.events->closed(conn->stream.user, &error);
}

static void to_server_run(struct sim *sim, struct sim_event *event)
{
	struct sim_conn *conn = event->owner;

	(void)sim;
	if (!conn->hung_up)
		conn->server->received(conn, event->data, event->len, conn->server->user);
}

static void to_client_run(struct sim *sim, struct sim_event *event)
{
	struct sim_conn *conn = event->owner;

	(void)sim;
	conn->stream.events->received(conn->stream.user, event->data, event->len);
}

static void deliver(struct sim_conn *conn, int64_t at_us, const void *data, size_t len,
                    void (*run)(struct sim *, struct sim_event *))
{
	struct sim_event *event = event_add(conn->sim, at_us, conn, run);

	event->data = malloc(len);
	ck_assert_ptr_nonnull(event->data);
	memcpy(event->data, data, len);
	event->len = len;
}

void sim_send_in(struct sim_conn *conn, const void *data, size_t len, int64_t delay_us)
{
	const uint8_t *at = data;
	size_t chunk = conn->sim->chunk ? conn->sim->chunk : len;

	if (conn->sent_until_us < conn->sim->now_us + delay_us)
		conn->sent_until_us = conn->sim->now_us + delay_us;
	while (len && !conn->hung_up) {
		size_t take = len < chunk ? len : chunk;

		deliver(conn, conn->sent_until_us, at, take, to_client_run);
		at += take;
		len -= take;
	}
}

void sim_send(struct sim_conn *conn, const void *data, size_t len)
{
	sim_send_in(conn, data, len, 0);
}

void sim_hang_up(struct sim_conn *conn)
{
	if (conn->hung_up)
		return;
	conn->hung_up = true;
	event_add(conn->sim, conn->sent_until_us, conn, closed_run);
}

struct rg__buf *sim_inbox(struct sim_conn *conn)
{
	return &conn->inbox;
}

static bool conn_write(struct rg__stream *stream, struct rg__buf *buf)
{
	struct sim_conn *conn = (struct sim_conn *)stream;
	void *marker = rg__malloc(1); /* as every real stream: a write needs memory */

	if (!marker)
		return false;
	rg__free(marker);
	ck_assert(!conn->closed_said);
	deliver(conn, conn->sim->now_us, buf->data, buf->len, to_server_run);
	rg__buf_free(buf);
	return true;
}

static void conn_close(struct rg__stream *stream)
{
	struct sim_conn *conn = (struct sim_conn *)stream;

	cancel(conn->sim, conn, NULL);
	if (conn->server && conn->server->closed)
		conn->server->closed(conn, conn->server->user);
	conn->sim->streams--;
	free(conn->inbox.data);
	rg__free(conn);
}

static struct rg__stream *io_connect(struct rg__io *io, const struct rg__address *address)
{
	static const struct rg__stream_ops ops = {conn_write, conn_close};
	struct sim *sim = (struct sim *)io;
	struct sim_conn *conn = rg__calloc(1, sizeof(*conn));
	uint16_t port = ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
	char text[64];

	if (!conn)
		return NULL;
	conn->stream.ops = &ops;
	conn->sim = sim;
	sim->streams++;
	sim->attempts++;
	rg__address_text(address, text, sizeof(text));
	for (struct sim_server *server = sim->servers; server; server = server->next) {
		if (strcmp(server->address, text) == 0 && server->port == port)
			conn->server = server;
	}
	if (conn->server)
		conn->server->attempts++;
	if (!conn->server || conn->server->mode == SIM_REFUSE) {
		event_add(sim, sim->now_us, conn, closed_run);
	} else if (conn->server->mode == SIM_ACCEPT) {
		event_add(sim, sim->now_us, conn, opened_run);
		event_add(sim, sim->now_us, conn, connected_run);
	}
	return &conn->stream;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

void sim_init(struct sim *sim)
{
	static const struct rg__io_ops ops = {
		.now_us = now_us,
		.unix_us = now_us,
		.timer_new = timer_new,
		.timer_set = timer_set,
		.timer_clear = timer_clear,
		.timer_free = timer_free,
		.resolve = resolve,
		.resolve_cancel = resolve_cancel,
		.connect = io_connect,
	};

	*sim = (struct sim){.io = {&ops}, .now_us = 1000000};
}

void sim_end(struct sim *sim)
{
	ck_assert_int_eq(sim->timers, 0);
	ck_assert_int_eq(sim->streams, 0);
	ck_assert_int_eq(sim->lookups, 0);
	ck_assert_ptr_null(sim->events);
}

void sim_add(struct sim *sim, struct sim_server *server)
{
	server->next = sim->servers;
	sim->servers = server;
}

void sim_name(struct sim *sim, struct sim_name *name)
{
	name->next = sim->names;
	sim->names = name;
}
