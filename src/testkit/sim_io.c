/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated world as link/io.h has it: clock, timers, names. */
#include "base/alloc.h"
#include "base/error.h"
#include "testkit/sim_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static struct rg__sim_host *host_of(struct rg__io *io)
{
	return (struct rg__sim_host *)io;
}

static int64_t now_us(struct rg__io *io)
{
	return host_of(io)->net->world->now_us;
}

/* --- Timers ---------------------------------------------------------------------------------------------------------- */

struct timer {
	struct rg__timer base; /* first */
	struct rg__sim_event event;
};

static void fire(void *user)
{
	struct timer *timer = user;

	timer->base.fired(timer->base.user);
}

static struct rg__timer *timer_new(struct rg__io *io, void (*fired)(void *user), void *user)
{
	struct timer *timer = rg__calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	if (!rg__sim_event_init(host_of(io)->net->world, &timer->event, fire, timer)) {
		rg__free(timer);
		return NULL;
	}
	timer->base = (struct rg__timer){io, fired, user};
	return &timer->base;
}

static void timer_set(struct rg__timer *timer, int64_t at_us)
{
	rg__sim_at(host_of(timer->io)->net->world, &((struct timer *)timer)->event, at_us);
}

static void timer_clear(struct rg__timer *timer)
{
	rg__sim_cancel(host_of(timer->io)->net->world, &((struct timer *)timer)->event);
}

static void timer_free(struct rg__timer *timer)
{
	rg__sim_event_free(host_of(timer->io)->net->world, &((struct timer *)timer)->event);
	rg__free(timer);
}

/* --- Names ----------------------------------------------------------------------------------------------------------- */

struct rg__lookup {
	struct rg__sim_host *host;
	struct rg__sim_event event;
	int node; /* 0: no such name */
	uint16_t port;
	rg__resolved *resolved;
	void *user;
};

static void lookup_free(struct rg__lookup *lookup)
{
	rg__sim_event_free(lookup->host->net->world, &lookup->event);
	rg__free(lookup);
}

static void answer(void *user)
{
	struct rg__lookup lookup = *(struct rg__lookup *)user;
	struct rg__address address = {0};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(lookup.port)};
	rg_error error;

	lookup_free(user);
	if (!lookup.node) {
		rg__fail(&error, RG_ERR_RESOLVE, "no such name");
		lookup.resolved(lookup.user, NULL, 0, &error);
		return;
	}
	in.sin_addr.s_addr = htonl(UINT32_C(0x0a000000) + (uint32_t)lookup.node);
	memcpy(&address.storage, &in, sizeof(in));
	lookup.resolved(lookup.user, &address, 1, NULL);
}

static struct rg__lookup *resolve(struct rg__io *io, const char *name, uint16_t port, rg__resolved *resolved, void *user)
{
	struct rg__lookup *lookup = rg__calloc(1, sizeof(*lookup));

	if (!lookup)
		return NULL;
	if (!rg__sim_event_init(host_of(io)->net->world, &lookup->event, answer, lookup)) {
		rg__free(lookup);
		return NULL;
	}
	lookup->host = host_of(io);
	lookup->port = port;
	lookup->resolved = resolved;
	lookup->user = user;
	if (name[0] == 'b' && name[1] >= '1' && name[1] < '0' + RG__SIM_PORTS && !name[2])
		lookup->node = name[1] - '0';
	rg__sim_at(lookup->host->net->world, &lookup->event, now_us(io) + 200);
	return lookup;
}

static void resolve_cancel(struct rg__io *io, struct rg__lookup *lookup)
{
	(void)io;
	lookup_free(lookup);
}

static struct rg__stream *start_connect(struct rg__io *io, const struct rg__address *address)
{
	struct sockaddr_in in;

	memcpy(&in, &address->storage, sizeof(in));
	return rg__sim_connect(host_of(io), (int)(ntohl(in.sin_addr.s_addr) & 0xff));
}

static const struct rg__io_ops ops = {
	.now_us = now_us,
	.unix_us = now_us, /* the time of event records is the simulation's */
	.timer_new = timer_new,
	.timer_set = timer_set,
	.timer_clear = timer_clear,
	.timer_free = timer_free,
	.resolve = resolve,
	.resolve_cancel = resolve_cancel,
	.connect = start_connect,
};

void rg__sim_host_init(struct rg__sim_host *host, struct rg__sim_net *net, int number)
{
	*host = (struct rg__sim_host){.io = {.ops = &ops}, .net = net, .number = number, .latency_us = 500};
}
