/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_IO_H
#define RG__LINK_IO_H

/* The world as a connection sees it: clock, timers, names, byte streams. A table of functions, so that the same
 * link runs on libuv (uv_io.h) or on a simulated clock and network.
 *
 * Three rules hold for everything here, and for link.h and cluster.h above it:
 * - No callback runs inside a call: what a call has to say comes later, from the loop. Also an error that is known
 *   at once.
 * - No callback runs after the object was freed, closed or cancelled.
 * - Every object may be freed from inside any callback, its own included.
 *
 * All of it belongs to one thread, the one that runs the loop. */

#include "base/bytes.h"

#include <regroup/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct rg__io_ops;

/* Implementations put this first into their own struct. */
struct rg__io {
	const struct rg__io_ops *ops;
};

/* --- Timers ------------------------------------------------------------------------------------------------------- */

/* Implementations put this first into their own struct. */
struct rg__timer {
	struct rg__io *io;
	void (*fired)(void *user);
	void *user;
};

/* --- Streams ------------------------------------------------------------------------------------------------------ */

struct rg__stream;

/* What a stream tells its owner. `connected` at most once and first; then `received` any number of times; `closed`
 * at most once and last, also without a `connected` before it. All are required. */
struct rg__stream_events {
	void (*connected)(void *user);
	/* The bytes are valid during the call. len > 0. */
	void (*received)(void *user, const uint8_t *data, size_t len);
	/* Failed or ended by the other side; the text is the cause alone ("connection refused"), the owner knows to whom.
	 * RG_ERR_TRANSPORT and RG_ERR_TIMED_OUT mean that another address of the same name may do better; anything else
	 * (a layer's refusal, say a certificate) means that it will not. The owner still has to close the stream. */
	void (*closed)(void *user, const rg_error *error);
};

struct rg__stream_ops {
	/* Sends the buffer's bytes after all earlier ones. Takes the memory over and leaves `buf` empty. False: out of
	 * memory, `buf` is as before and the stream is of no further use. Only between `connected` and `closed`. */
	bool (*write)(struct rg__stream *stream, struct rg__buf *buf);
	/* Ends and frees the stream, with what lies below it. Always possible, once. Unsent bytes may be lost. */
	void (*close)(struct rg__stream *stream);
};

/* Implementations put this first into their own struct. Whoever owns a new stream sets `events` and `user` before it
 * returns to the loop (rg__stream_listen). */
struct rg__stream {
	const struct rg__stream_ops *ops;
	const struct rg__stream_events *events;
	void *user;
};

/* A layer turns a stream into another one: TLS, SASL. The new stream owns `lower` and listens to it; it says
 * `connected` when its own handshake is done. NULL: out of memory, `lower` still belongs to the caller. `host` is
 * the name as configured (for certificates and SNI) and need not outlive the call. */
struct rg__layer {
	struct rg__stream *(*wrap)(struct rg__io *io, struct rg__stream *lower, const char *host, void *conf);
	void *conf;
};

/* --- Names -------------------------------------------------------------------------------------------------------- */

/* An address with its port. */
struct rg__address {
	struct sockaddr_storage storage;
};

struct rg__lookup;

/* `error` is NULL and count > 0, or `error` says why there are none (RG_ERR_RESOLVE, RG_ERR_MEMORY,
 * RG_ERR_TRANSPORT) in a text without the name. The lookup is gone when this is called: do not cancel it any more. */
typedef void rg__resolved(void *user, const struct rg__address *addresses, size_t count, const rg_error *error);

/* --- The table ---------------------------------------------------------------------------------------------------- */

struct rg__io_ops {
	int64_t (*now_us)(struct rg__io *io);  /* monotonic; never 0 or negative */
	int64_t (*unix_us)(struct rg__io *io); /* wall clock, for event records only */

	struct rg__timer *(*timer_new)(struct rg__io *io, void (*fired)(void *user), void *user); /* NULL: no memory */
	/* Fires once, at now_us >= at_us and never earlier; a deadline that has passed fires in the next turn of the loop.
	 * Replaces the deadline set before. Cannot fail. */
	void (*timer_set)(struct rg__timer *timer, int64_t at_us);
	void (*timer_clear)(struct rg__timer *timer);
	void (*timer_free)(struct rg__timer *timer);

	/* NULL: out of memory. Also takes numeric addresses, which need no name server. */
	struct rg__lookup *(*resolve)(struct rg__io *io, const char *host, uint16_t port, rg__resolved *resolved, void *user);
	void (*resolve_cancel)(struct rg__io *io, struct rg__lookup *lookup);

	/* Starts to connect; failures come as `closed`. NULL: out of memory or descriptors. No time limit of its own. */
	struct rg__stream *(*connect)(struct rg__io *io, const struct rg__address *address);
};

static inline int64_t rg__now_us(struct rg__io *io)
{
	return io->ops->now_us(io);
}

/* KAFKA-13126: a timeout of "for ever" must not wrap round into one of "at once". */
static inline int64_t rg__deadline_us(int64_t now_us, int64_t timeout_ms)
{
	return timeout_ms > (INT64_MAX - now_us) / 1000 ? INT64_MAX - 1 : now_us + timeout_ms * 1000;
}

/* The way back, rounded up; 0 when it has passed. */
static inline int64_t rg__left_ms(int64_t now_us, int64_t deadline_us)
{
	int64_t left_us = deadline_us - now_us;

	return left_us <= 0 ? 0 : left_us / 1000 + (left_us % 1000 != 0);
}

static inline int64_t rg__unix_us(struct rg__io *io)
{
	return io->ops->unix_us(io);
}

static inline struct rg__timer *rg__timer_new(struct rg__io *io, void (*fired)(void *user), void *user)
{
	return io->ops->timer_new(io, fired, user);
}

static inline void rg__timer_set(struct rg__timer *timer, int64_t at_us)
{
	timer->io->ops->timer_set(timer, at_us);
}

static inline void rg__timer_clear(struct rg__timer *timer)
{
	timer->io->ops->timer_clear(timer);
}

static inline void rg__timer_free(struct rg__timer *timer) /* NULL is fine */
{
	if (timer)
		timer->io->ops->timer_free(timer);
}

static inline void rg__stream_listen(struct rg__stream *stream, const struct rg__stream_events *events, void *user)
{
	stream->events = events;
	stream->user = user;
}

static inline bool rg__stream_write(struct rg__stream *stream, struct rg__buf *buf)
{
	return stream->ops->write(stream, buf);
}

static inline void rg__stream_close(struct rg__stream *stream) /* NULL is fine */
{
	if (stream)
		stream->ops->close(stream);
}

/* The address without its port ("10.0.0.1", "::1"), cut to fit. */
void rg__address_text(const struct rg__address *address, char *ret_text, size_t size);

#endif
