/* SPDX-License-Identifier: Apache-2.0 */
#include "uv_fixture.h"

#include "base/alloc.h"
#include "codec/frame.h"
#include "codec/heartbeat.h"

#include <string.h>

struct uv_fixture f;

/* --- The server: answers ApiVersions and Heartbeat --------------------------------------------------------------- */

static void close_cb(uv_handle_t *handle)
{
	free(handle);
}

static void write_cb(uv_write_t *write, int status)
{
	(void)status;
	free(write->data);
	free(write);
}

static void server_send(uv_stream_t *to, const void *data, size_t len)
{
	uv_write_t *write = calloc(1, sizeof(*write));
	char *copy = malloc(len);
	uv_buf_t buf = uv_buf_init(copy, (unsigned)len);

	ck_assert(write && copy);
	memcpy(copy, data, len);
	write->data = copy;
	ck_assert_int_eq(uv_write(write, to, &buf, 1, write_cb), 0);
}

static void server_answer(uv_stream_t *to, struct rg__bytes frame)
{
	struct rg__api_versions_response_api_key key = {RG__API_HEARTBEAT, 0, 4};
	struct rg__api_versions_response hello;
	struct rg__heartbeat_response heartbeat;
	struct rg__request_header header;
	struct rg__buf out = {0};

	ck_assert(rg__decode_request_header(frame, &header, NULL));
	rg__fields_init(&rg__api_versions_response_fields, &hello);
	rg__fields_init(&rg__heartbeat_response_fields, &heartbeat);
	hello.api_keys = (struct rg__array){&key, 1};
	ck_assert(rg__encode_response(rg__api_by_key(header.request_api_key), header.request_api_version,
	                              header.correlation_id,
	                              header.request_api_key == RG__API_API_VERSIONS ? (void *)&hello : (void *)&heartbeat,
	                              &out, NULL));
	server_send(to, out.data, out.len);
	rg__buf_free(&out);
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	static char room[65536];

	(void)handle;
	(void)suggested;
	*ret_buf = uv_buf_init(room, sizeof(room));
}

static void read_cb(uv_stream_t *from, ssize_t n, const uv_buf_t *buf)
{
	struct rg__bytes frame;
	size_t used;

	if (n < 0) {
		if ((uv_tcp_t *)from == f.accepted)
			f.accepted = NULL;
		uv_close((uv_handle_t *)from, close_cb);
		return;
	}
	f.received += (size_t)n;
	if (f.mute)
		return;
	long countdown = rg__alloc_fail_after(0); /* the server is not to fail */

	rg__buf_append(&f.inbox, buf->base, (size_t)n);
	while (rg__frame_next(rg__buf_view(&f.inbox), 1 << 20, &frame, &used, NULL) && frame.data) {
		server_answer(from, frame);
		rg__buf_consume(&f.inbox, used);
	}
	rg__alloc_fail_after(countdown);
}

static void connection_cb(uv_stream_t *listener, int status)
{
	uv_tcp_t *tcp = calloc(1, sizeof(*tcp));

	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(tcp);
	uv_tcp_init(&f.loop, tcp);
	ck_assert_int_eq(uv_accept(listener, (uv_stream_t *)tcp), 0);
	if (f.hangs_up_at_once) {
		uv_tcp_close_reset(tcp, close_cb);
		return;
	}
	f.accepted = tcp;
	uv_read_start((uv_stream_t *)tcp, alloc_cb, read_cb);
}

void listen_on_port(uint16_t port)
{
	struct sockaddr_in at;
	int len = sizeof(at);

	uv_ip4_addr("127.0.0.1", port, &at);
	uv_tcp_init(&f.loop, &f.listener);
	ck_assert_int_eq(uv_tcp_bind(&f.listener, (const struct sockaddr *)&at, 0), 0);
	ck_assert_int_eq(uv_listen((uv_stream_t *)&f.listener, 8, connection_cb), 0);
	ck_assert_int_eq(uv_tcp_getsockname(&f.listener, (struct sockaddr *)&at, &len), 0);
	f.port = ntohs(at.sin_port);
	f.listening = true;
}

void listen_on_loopback(void)
{
	listen_on_port(0);
}

void server_close(void)
{
	if (f.accepted)
		uv_close((uv_handle_t *)f.accepted, close_cb);
	f.accepted = NULL;
	if (f.listening)
		uv_close((uv_handle_t *)&f.listener, NULL);
	f.listening = false;
}

/* --- The test's frame --------------------------------------------------------------------------------------------- */

static void woken(void *user)
{
	ck_assert_ptr_eq(user, &f);
	f.woken++;
}

void begin(void)
{
	memset(&f, 0, sizeof(f));
	ck_assert_int_eq(uv_loop_init(&f.loop), 0);
	ck_assert_int_eq(rg__uv_io_new(&f.loop, woken, &f, &f.io), 0);
	ck_assert_ptr_nonnull(f.io);
}

/* All handles are closed by what was freed: the loop ends by itself and can be closed. */
void end(void)
{
	server_close();
	rg__uv_io_free(f.io);
	ck_assert_int_eq(uv_run(&f.loop, UV_RUN_DEFAULT), 0);
	ck_assert_int_eq(uv_loop_close(&f.loop), 0);
	rg__buf_free(&f.inbox);
}

static void too_late(uv_timer_t *timer)
{
	(void)timer;
	f.late = true;
}

static void nothing(uv_handle_t *handle)
{
	*(bool *)handle->data = true;
}

void run_until(const int *counter, int want)
{
	uv_timer_t deadline;
	bool closed = false;

	f.late = false;
	uv_timer_init(&f.loop, &deadline);
	deadline.data = &closed;
	uv_timer_start(&deadline, too_late, 10000, 0);
	while (*counter < want && !f.late)
		uv_run(&f.loop, UV_RUN_ONCE);
	ck_assert_msg(!f.late, "waited for 10 s");
	uv_close((uv_handle_t *)&deadline, nothing);
	while (!closed)
		uv_run(&f.loop, UV_RUN_NOWAIT);
}
