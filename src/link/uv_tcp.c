/* SPDX-License-Identifier: Apache-2.0 */
#include "link/uv_internal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* TCP on a poll handle and not on uv_tcp_t: libuv writes without MSG_NOSIGNAL, so a broker that goes away would end an
 * application that has not thought of SIGPIPE. */

struct chunk {
	struct chunk *next;
	struct rg__buf buf;
	size_t sent;
};

struct rg__uv_tcp {
	struct rg__stream stream;
	struct rg__uv_io *uv;
	uv_poll_t poll;
	int fd;
	bool connected, closing, ended; /* ended: `closed` was said */
	struct chunk *first, *last;     /* not sent yet */
	int failure;                    /* errno of what failed inside a call, said later */
	struct rg__uv_tcp *next_failed;
};

/* One turn of the loop reads this often from one stream, then the others have their turn. */
enum { READS_PER_TURN = 16, KEEPALIVE_IDLE_S = 60 };

static void polled(uv_poll_t *handle, int status, int events);

static void watch(struct rg__uv_tcp *tcp)
{
	int events = tcp->connected ? UV_READABLE | (tcp->first ? UV_WRITABLE : 0) : UV_WRITABLE;

	uv_poll_start(&tcp->poll, events, polled);
}

static void end(struct rg__uv_tcp *tcp, rg_err code, const char *cause)
{
	rg_error error;

	uv_poll_stop(&tcp->poll);
	tcp->ended = true;
	rg__fail(&error, code, "%s", cause);
	tcp->stream.events->closed(tcp->stream.user, &error);
}

static void end_with_errno(struct rg__uv_tcp *tcp, int number)
{
	char text[128];

	uv_strerror_r(uv_translate_sys_error(number), text, sizeof(text));
	end(tcp, number == ETIMEDOUT ? RG_ERR_TIMED_OUT : RG_ERR_TRANSPORT, text);
}

/* Has a failure said from the loop. */
static void fail_later(struct rg__uv_tcp *tcp, int number)
{
	if (tcp->failure)
		return;
	tcp->failure = number;
	tcp->next_failed = tcp->uv->failed_streams;
	tcp->uv->failed_streams = tcp;
	uv_async_send(&tcp->uv->async);
}

/* A read that does not fill the buffer has emptied the socket, mostly; whatever else comes is there in the loop's next turn.
 * To ask once more would be one of the five calls to the system that a heartbeat costs. `to_the_end`: there is no next turn. */
static void read_some(struct rg__uv_tcp *tcp, bool to_the_end)
{
	for (int i = 0; i < READS_PER_TURN && !tcp->closing && !tcp->ended; i++) {
		ssize_t n = recv(tcp->fd, tcp->uv->read_buffer, RG__UV_READ_SIZE, 0);

		if (n > 0) {
			tcp->stream.events->received(tcp->stream.user, tcp->uv->read_buffer, (size_t)n);
			if (n < RG__UV_READ_SIZE && !to_the_end)
				return;
		} else if (n == 0)
			end(tcp, RG_ERR_TRANSPORT, "connection closed by the other side");
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		else if (errno != EINTR)
			end_with_errno(tcp, errno);
	}
}

/* 0, or the errno that ended it. */
static int write_some(struct rg__uv_tcp *tcp)
{
	while (tcp->first) {
		struct chunk *chunk = tcp->first;
		ssize_t n = send(tcp->fd, chunk->buf.data + chunk->sent, chunk->buf.len - chunk->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
		chunk->sent += (size_t)n;
		if (chunk->sent < chunk->buf.len)
			continue;
		tcp->first = chunk->next;
		if (!tcp->first)
			tcp->last = NULL;
		rg__buf_free(&chunk->buf);
		rg__free(chunk);
	}
	return 0;
}

/* What the broker still said comes before the news that it is gone: it may be the reason. `number` is for when reading
 * does not tell. */
static void fail_now(struct rg__uv_tcp *tcp, int number)
{
	if (tcp->connected)
		read_some(tcp, true);
	if (!tcp->closing && !tcp->ended)
		end_with_errno(tcp, number);
}

/* To a port of this machine where nobody listens, TCP can connect a socket to itself (RFC 9293, 3.5, simultaneous open):
 * it is enough that the system picks that very port for the socket's own end. */
static bool is_to_itself(int fd)
{
	struct sockaddr_storage own = {0}, peer = {0};
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	return !getsockname(fd, (struct sockaddr *)&own, &own_len) && !getpeername(fd, (struct sockaddr *)&peer, &peer_len) &&
	       own_len == peer_len && !memcmp(&own, &peer, own_len);
}

/* Reset, so that nothing of it holds the port of a broker that is about to start. */
static void end_as_refused(struct rg__uv_tcp *tcp)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(tcp->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	end_with_errno(tcp, ECONNREFUSED);
}

static void finish_connect(struct rg__uv_tcp *tcp, int status)
{
	int number = 0;
	socklen_t len = sizeof(number);

	if (getsockopt(tcp->fd, SOL_SOCKET, SO_ERROR, &number, &len) < 0)
		number = errno;
	if (!number && status < 0)
		number = -status;
	if (number) {
		end_with_errno(tcp, number);
		return;
	}
	if (is_to_itself(tcp->fd)) {
		end_as_refused(tcp);
		return;
	}
	tcp->connected = true;
	watch(tcp);
	tcp->stream.events->connected(tcp->stream.user);
}

static void polled(uv_poll_t *handle, int status, int events)
{
	struct rg__uv_tcp *tcp = handle->data;

	if (tcp->failure)
		return; /* about to be said */
	if (!tcp->connected) {
		finish_connect(tcp, status);
		return;
	}
	if (status < 0) { /* an error on the socket, which libuv calls EBADF: reading tells which one */
		fail_now(tcp, ECONNRESET);
		return;
	}
	if (events & UV_WRITABLE) {
		int number = write_some(tcp);

		if (number) {
			fail_now(tcp, number);
			return;
		}
		if (!tcp->first)
			watch(tcp);
	}
	if (events & UV_READABLE)
		read_some(tcp, false);
}

void rg__uv_tcp_deliver(struct rg__uv_io *uv)
{
	while (!uv->freed && uv->failed_streams) {
		struct rg__uv_tcp *tcp = uv->failed_streams;

		uv->failed_streams = tcp->next_failed;
		if (!tcp->ended)
			fail_now(tcp, tcp->failure);
	}
}

static bool tcp_write(struct rg__stream *stream, struct rg__buf *buf)
{
	struct rg__uv_tcp *tcp = (struct rg__uv_tcp *)stream;

	if (tcp->failure || tcp->ended) {
		rg__buf_free(buf);
		return true;
	}
	struct chunk *chunk = rg__calloc(1, sizeof(*chunk));

	if (!chunk)
		return false;
	chunk->buf = *buf;
	*buf = (struct rg__buf){0};
	if (tcp->last)
		tcp->last->next = chunk;
	else
		tcp->first = chunk;
	tcp->last = chunk;
	int number = write_some(tcp);

	if (number)
		fail_later(tcp, number);
	else if (tcp->first)
		watch(tcp);
	return true;
}

static void poll_closed(uv_handle_t *handle)
{
	struct rg__uv_tcp *tcp = handle->data;
	struct rg__uv_io *uv = tcp->uv;

	while (tcp->first) {
		struct chunk *chunk = tcp->first;

		tcp->first = chunk->next;
		rg__buf_free(&chunk->buf);
		rg__free(chunk);
	}
	rg__free(tcp);
	rg__uv_handle_closed(uv);
}

static void tcp_close(struct rg__stream *stream)
{
	struct rg__uv_tcp *tcp = (struct rg__uv_tcp *)stream;

	for (struct rg__uv_tcp **at = &tcp->uv->failed_streams; *at; at = &(*at)->next_failed) {
		if (*at == tcp) {
			*at = tcp->next_failed;
			break;
		}
	}
	tcp->closing = true;
	uv_close((uv_handle_t *)&tcp->poll, poll_closed);
	close(tcp->fd);
}

static const struct rg__stream_ops tcp_ops = {.write = tcp_write, .close = tcp_close};

/* A failure here costs latency or the notice of a dead peer, not the connection. */
static void set_options(int fd)
{
	int on = 1, idle = KEEPALIVE_IDLE_S;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
}

struct rg__stream *rg__uv_tcp_connect(struct rg__io *io, const struct rg__address *address)
{
	struct rg__uv_io *uv = (struct rg__uv_io *)io;
	socklen_t len = address->storage.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int number = 0;
	struct rg__uv_tcp *tcp = rg__calloc(1, sizeof(*tcp));

	if (!tcp)
		return NULL;
	tcp->stream.ops = &tcp_ops;
	tcp->uv = uv;
	tcp->fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (tcp->fd < 0) {
		/* A family the system lacks: a poll handle needs some descriptor until the failure is said. */
		number = errno;
		tcp->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	}
	if (tcp->fd < 0 || uv_poll_init(uv->loop, &tcp->poll, tcp->fd) < 0) {
		if (tcp->fd >= 0)
			close(tcp->fd);
		rg__free(tcp);
		return NULL;
	}
	tcp->poll.data = tcp;
	rg__uv_handle_opened(uv);
	set_options(tcp->fd);
	if (!number && connect(tcp->fd, (const struct sockaddr *)&address->storage, len) < 0 && errno != EINPROGRESS &&
	    errno != EINTR)
		number = errno;
	if (number)
		fail_later(tcp, number);
	else
		watch(tcp);
	return &tcp->stream;
}
