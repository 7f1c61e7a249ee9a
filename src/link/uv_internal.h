/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_UV_INTERNAL_H
#define RG__LINK_UV_INTERNAL_H

/* What the parts of the libuv implementation share. */

#include "link/uv_io.h"

#include <pthread.h>
#include <stdatomic.h>

/* Where lookup threads leave their results. It outlives the io for as long as one of them hangs in the resolver. */
struct rg__uv_mailbox {
	pthread_mutex_t lock;
	struct rg__uv_io *io;    /* NULL: gone, results are not wanted */
	struct rg__lookup *done; /* newest first */
	int refs;                /* the io, and each running thread */
	int threads;
};

struct rg__uv_tcp;
struct rg__uv_timer;

enum { RG__UV_READ_SIZE = 64 * 1024 };

struct rg__uv_io {
	struct rg__io io;
	uv_loop_t *loop;
	uv_async_t async;
	void (*woken)(void *user);
	void *user;
	atomic_bool wakeup_wanted; /* `async` also fires for the io's own business */
	bool freed;
	unsigned handles; /* not yet closed by the loop, `async` included */
	struct rg__uv_mailbox *mailbox;
	struct rg__uv_tcp *failed_streams; /* inside a call, and have to say so from the loop */
	struct rg__uv_timer *due;          /* set to a time that had passed, in order */
	uint64_t turn;                     /* counts deliveries of those */
	uint8_t read_buffer[RG__UV_READ_SIZE]; /* of whichever stream is being read */
};

/* Call when a handle has been initialised, and in its close callback. */
void rg__uv_handle_opened(struct rg__uv_io *uv);
void rg__uv_handle_closed(struct rg__uv_io *uv);

/* uv_resolve.c */
struct rg__uv_mailbox *rg__uv_mailbox_new(struct rg__uv_io *uv);
void rg__uv_mailbox_close(struct rg__uv_mailbox *mailbox);   /* the io goes away */
void rg__uv_mailbox_deliver(struct rg__uv_io *uv);
struct rg__lookup *rg__uv_resolve(struct rg__io *io, const char *host, uint16_t port, rg__resolved *resolved,
                                  void *user);
void rg__uv_resolve_cancel(struct rg__io *io, struct rg__lookup *lookup);

/* uv_tcp.c */
struct rg__stream *rg__uv_tcp_connect(struct rg__io *io, const struct rg__address *address);
void rg__uv_tcp_deliver(struct rg__uv_io *uv);

#endif
