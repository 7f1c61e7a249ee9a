/* SPDX-License-Identifier: Apache-2.0 */
#include "link/internal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESSES_MAX = 64 };

void rg__link_conf_init(struct rg__link_conf *ret_conf)
{
	*ret_conf = (struct rg__link_conf){
		.software_name = "regroup",
		.software_version = "0",
		.connect_timeout_ms = 10000,
		.request_timeout_ms = 30000,
		.frame_limit = RG__FRAME_LIMIT_DEFAULT,
		.in_flight_max = 100,
		.in_flight_bytes_max = (size_t)128 * 1024 * 1024,
		.queue_max = 1000,
	};
}

/* --- What the loop calls ------------------------------------------------------------------------------------------ */

static void destroy(struct rg__link *link)
{
	rg__buf_free(&link->frame);
	rg__free(link->addresses);
	rg__free(link);
}

void rg__link_enter(struct rg__link *link)
{
	link->busy++;
}

void rg__link_leave(struct rg__link *link)
{
	if (link->busy == 1 && !link->freed)
		rg__requests_deliver(link);
	if (--link->busy)
		return;
	if (link->freed)
		destroy(link);
	else
		rg__link_schedule(link);
}

void rg__link_schedule(struct rg__link *link)
{
	int64_t at = rg__requests_deadline_us(link);

	if (link->busy)
		return; /* rg__link_leave will */
	if (link->failing || link->requests.finished)
		at = 0;
	if (link->stage_deadline_us && link->stage_deadline_us < at)
		at = link->stage_deadline_us;
	if (at == INT64_MAX)
		rg__timer_clear(link->timer);
	else
		rg__timer_set(link->timer, at);
}

static void stage_timed_out(struct rg__link *link)
{
	const char *what = link->state == RG__LINK_RESOLVING    ? "the name did not resolve"
	                   : link->state == RG__LINK_CONNECTING ? "no connection"
	                                                        : "no answer to ApiVersions";
	rg_error error;

	rg__fail(&error, RG_ERR_TIMED_OUT, "%s within %lld ms%s", what, (long long)link->conf->connect_timeout_ms,
	         link->state == RG__LINK_HANDSHAKE ? " (does the port expect TLS or another protocol?)" : "");
	if (link->state == RG__LINK_RESOLVING)
		rg__link_go_down(link, &error);
	else
		rg__link_attempt_failed(link, &error);
}

static void timer_fired(void *user)
{
	struct rg__link *link = user;
	int64_t now = rg__now_us(link->io);

	rg__link_enter(link);
	if (link->failing) {
		rg_error failure = link->failure;

		rg__link_go_down(link, &failure);
	} else if (link->stage_deadline_us && link->stage_deadline_us <= now) {
		stage_timed_out(link);
	}
	if (!link->freed)
		rg__requests_expire(link, now);
	if (!link->freed)
		rg__requests_flush(link);
	rg__link_leave(link);
}

/* --- Going down --------------------------------------------------------------------------------------------------- */

static void close_stream(struct rg__link *link)
{
	rg__stream_close(link->stream);
	link->stream = NULL;
	link->connection++;
	rg__buf_free(&link->frame);
	link->frame_want = 4;
}

static void stop(struct rg__link *link)
{
	close_stream(link);
	if (link->lookup)
		link->io->ops->resolve_cancel(link->io, link->lookup);
	link->lookup = NULL;
	link->stage_deadline_us = 0;
	link->throttled_until_us = 0;
	link->failing = false;
}

/* "host:port", and which address it was where the name has others or another spelling. */
static void name_error(const struct rg__link *link, rg_error *error)
{
	char address[64];

	if (link->address_at >= link->address_count) {
		rg__error_prefix(error, "%s", link->name);
		return;
	}
	rg__address_text(&link->addresses[link->address_at], address, sizeof(address));
	if (strcmp(address, link->host) == 0)
		rg__error_prefix(error, "%s", link->name);
	else if (link->address_count == 1 || link->state == RG__LINK_UP)
		rg__error_prefix(error, "%s (%s)", link->name, address);
	else
		rg__error_prefix(error, "%s (%s, address %zu of %zu)", link->name, address, link->address_at + 1,
		                 link->address_count);
}

void rg__link_go_down(struct rg__link *link, const rg_error *error)
{
	rg_error cause = *error; /* `error` may live in what goes away here */

	name_error(link, &cause);
	rg__log(link->conf->log, RG__LOG_DEBUG, "LINK", "down: %s", cause.text);
	if (link->events->breaks)
		link->events->breaks(link->user, &cause);
	stop(link);
	link->state = RG__LINK_FALLING;
	rg__requests_fail_all(link, &cause);
	rg__requests_deliver(link);
	if (link->freed)
		return;
	link->state = RG__LINK_DOWN;
	link->events->down(link->user, &cause);
}

void rg__link_fail_later(struct rg__link *link, rg_err code, const char *text)
{
	if (link->failing)
		return;
	link->failing = true;
	rg__fail(&link->failure, code, "%s", text);
	rg__link_schedule(link);
}

/* --- Connecting --------------------------------------------------------------------------------------------------- */

static void out_of_memory(struct rg__link *link)
{
	rg_error error;

	rg__fail(&error, RG_ERR_MEMORY, "out of memory or descriptors");
	rg__link_go_down(link, &error);
}

static void connected(void *user)
{
	struct rg__link *link = user;

	rg__link_enter(link);
	link->state = RG__LINK_HANDSHAKE;
	link->stage_deadline_us = rg__now_us(link->io) + link->conf->connect_timeout_ms * 1000;
	rg__link_handshake_start(link);
	rg__link_leave(link);
}

static void closed(void *user, const rg_error *error)
{
	struct rg__link *link = user;
	bool address_is_bad = error->code == RG_ERR_TRANSPORT || error->code == RG_ERR_TIMED_OUT;

	rg__link_enter(link);
	if (link->failing) {
		rg_error failure = link->failure; /* the earlier cause */

		rg__link_go_down(link, &failure);
	} else if (link->state == RG__LINK_HANDSHAKE && address_is_bad && link->asked_version > 0 && !link->asked_again &&
	           !link->frame.len) {
		/* Brokers before 0.10.1 know ApiVersions in version 0 only, or close without a word. */
		link->asked_again = true;
		rg__link_reopen(link);
	} else if (link->state == RG__LINK_HANDSHAKE && address_is_bad) {
		rg_error cause;

		rg__fail(&cause, error->code,
		         "%s during the handshake (does the port expect TLS or another protocol, or is the broker older than "
		         "0.10?)",
		         error->text);
		rg__link_attempt_failed(link, &cause);
	} else if (link->state == RG__LINK_CONNECTING && address_is_bad) {
		rg__link_attempt_failed(link, error);
	} else {
		rg__link_go_down(link, error);
	}
	rg__link_leave(link);
}

static const struct rg__stream_events stream_events = {connected, rg__link_received, closed};

/* NULL: out of memory. */
static struct rg__stream *open_stream(struct rg__link *link)
{
	struct rg__stream *stream = link->io->ops->connect(link->io, &link->addresses[link->address_at]);

	for (size_t i = 0; stream && i < link->conf->layer_count; i++) {
		const struct rg__layer *layer = &link->conf->layers[i];
		struct rg__stream *upper = layer->wrap(link->io, stream, link->host, layer->conf);

		if (!upper)
			rg__stream_close(stream);
		stream = upper;
	}
	return stream;
}

void rg__link_reopen(struct rg__link *link)
{
	close_stream(link);
	link->state = RG__LINK_CONNECTING;
	link->stage_deadline_us = rg__now_us(link->io) + link->conf->connect_timeout_ms * 1000;
	link->stream = open_stream(link);
	if (link->stream)
		rg__stream_listen(link->stream, &stream_events, link);
	else
		out_of_memory(link);
}

void rg__link_attempt_failed(struct rg__link *link, const rg_error *error)
{
	if (error->code == RG_ERR_MEMORY || link->address_at + 1 >= link->address_count) {
		rg__link_go_down(link, error);
		return;
	}
	rg_error cause = *error;

	name_error(link, &cause);
	rg__log(link->conf->log, RG__LOG_DEBUG, "LINK", "%s; trying its next address", cause.text);
	link->address_at++;
	link->asked_again = false;
	rg__link_reopen(link);
}

static void resolved(void *user, const struct rg__address *addresses, size_t count, const rg_error *error)
{
	struct rg__link *link = user;

	rg__link_enter(link);
	link->lookup = NULL;
	if (count > ADDRESSES_MAX)
		count = ADDRESSES_MAX;
	if (!error) {
		link->addresses = rg__calloc(count, sizeof(*addresses));
		if (link->addresses)
			memcpy(link->addresses, addresses, count * sizeof(*addresses));
	}
	if (error) {
		rg__link_go_down(link, error);
	} else if (!link->addresses) {
		out_of_memory(link);
	} else {
		link->address_count = count;
		rg__link_reopen(link);
	}
	rg__link_leave(link);
}

void rg__link_now_up(struct rg__link *link)
{
	link->state = RG__LINK_UP;
	link->stage_deadline_us = 0;
	rg__log(link->conf->log, RG__LOG_DEBUG, "LINK", "%s: up", link->name);
	if (link->events->up)
		link->events->up(link->user);
	if (!link->freed)
		rg__requests_flush(link);
}

int32_t rg__link_next_correlation_id(struct rg__link *link)
{
	link->last_correlation_id = link->last_correlation_id == INT32_MAX ? 0 : link->last_correlation_id + 1;
	return link->last_correlation_id;
}

/* KIP-219: the broker answered at once and counts on the client to wait. A wait beyond the request timeout could only
 * let requests time out, so a broker cannot make a link silent for longer. */
void rg__link_throttle(struct rg__link *link, int32_t throttle_ms)
{
	int64_t wait_ms = throttle_ms < link->conf->request_timeout_ms ? throttle_ms : link->conf->request_timeout_ms;
	int64_t until = rg__now_us(link->io) + wait_ms * 1000;

	if (throttle_ms > 0 && until > link->throttled_until_us)
		link->throttled_until_us = until;
}

/* --- The owner's calls -------------------------------------------------------------------------------------------- */

struct rg__link *rg__link_new(struct rg__io *io, const struct rg__link_conf *conf, const struct rg__link_events *events,
                              void *user)
{
	struct rg__link *link = rg__calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->io = io;
	link->conf = conf;
	link->events = events;
	link->user = user;
	link->frame_want = 4;
	link->timer = rg__timer_new(io, timer_fired, link);
	if (!link->timer) {
		rg__free(link);
		return NULL;
	}
	return link;
}

rg_err rg__link_connect(struct rg__link *link, const char *host, uint16_t port)
{
	size_t len = strlen(host);

	if (link->state != RG__LINK_IDLE && link->state != RG__LINK_DOWN)
		return RG_ERR_STATE;
	if (len == 0 || len > RG__HOST_MAX)
		return RG_ERR_INVALID;
	struct rg__lookup *lookup = link->io->ops->resolve(link->io, host, port, resolved, link);

	if (!lookup)
		return RG_ERR_MEMORY;
	memcpy(link->host, host, len + 1);
	link->port = port;
	snprintf(link->name, sizeof(link->name), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, (unsigned)port);
	rg__free(link->addresses);
	link->addresses = NULL;
	link->address_count = link->address_at = 0;
	link->asked_again = false;
	link->lookup = lookup;
	link->state = RG__LINK_RESOLVING;
	link->stage_deadline_us = rg__now_us(link->io) + link->conf->connect_timeout_ms * 1000;
	rg__link_schedule(link);
	return RG_OK;
}

void rg__link_disconnect(struct rg__link *link, const char *why)
{
	if (link->state != RG__LINK_IDLE && link->state != RG__LINK_FALLING && link->state != RG__LINK_DOWN)
		rg__link_fail_later(link, RG_ERR_TRANSPORT, why);
}

void rg__link_free(struct rg__link *link)
{
	if (!link)
		return;
	link->freed = true;
	stop(link);
	rg__timer_free(link->timer);
	rg__requests_drop(link);
	if (!link->busy)
		destroy(link);
}

bool rg__link_is_up(const struct rg__link *link)
{
	return link->state == RG__LINK_UP && !link->failing;
}

bool rg__link_is_down(const struct rg__link *link)
{
	return link->state == RG__LINK_DOWN;
}

const char *rg__link_name(const struct rg__link *link)
{
	return link->name;
}

int16_t rg__link_version(const struct rg__link *link, int16_t api_key)
{
	if (link->state != RG__LINK_UP || api_key < 0 || api_key >= RG__LINK_API_MAX)
		return -1;
	return link->versions[api_key];
}
