/* SPDX-License-Identifier: Apache-2.0 */
/* The libuv implementation's connections, below a link and by themselves: the rules of io.h. */
#include "uv_fixture.h"

#include "base/alloc.h"
#include "codec/frame.h"
#include "codec/heartbeat.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the library calls: with this, the socket has the destination's own port, as if the system had chosen it. */
static bool connects_to_itself;

int socket(int family, int type, int protocol)
{
	int fd = (int)syscall(SYS_socket, family, type, protocol);
	struct sockaddr_in at;

	if (connects_to_itself) {
		uv_ip4_addr("127.0.0.1", f.port, &at);
		ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	}
	return fd;
}

/* --- A link ------------------------------------------------------------------------------------------------------- */

static struct rg__link *link_;
static struct rg__link_conf conf;
static struct rg__heartbeat_request heartbeat;

static void up(void *user)
{
	(void)user;
	f.ups++;
	f.news++;
}

static void down(void *user, const rg_error *error)
{
	(void)user;
	f.downs++;
	f.news++;
	f.down = *error;
}

static void done(void *user, const struct rg__response *response)
{
	(void)user;
	f.dones++;
	f.news++;
	f.done_err = response->error.code;
}

static void connect_to(const char *host)
{
	static const struct rg__link_events events = {.up = up, .down = down};

	rg__link_conf_init(&conf);
	rg__fields_init(&rg__heartbeat_request_fields, &heartbeat);
	link_ = rg__link_new(f.io, &conf, &events, NULL);
	ck_assert_ptr_nonnull(link_);
	ck_assert_int_eq(rg__link_connect(link_, host, f.port), RG_OK);
}

static void ask_heartbeat(void)
{
	struct rg__call call = {.api_key = RG__API_HEARTBEAT, .body = &heartbeat, .timeout_ms = 5000, .done = done};

	ck_assert_int_eq(rg__link_request(link_, &call, NULL), RG_OK);
}

START_TEST(asks_and_is_answered)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};

	listen_on_loopback();
	connect_to(hosts[_i]);
	ask_heartbeat();
	run_until(&f.dones, 1);
	ck_assert_int_eq(f.done_err, RG_OK);
	ck_assert_int_eq(f.ups, 1);
	for (int i = 0; i < 1000; i++)
		ask_heartbeat();
	run_until(&f.dones, 1001);
	ck_assert_int_eq(f.done_err, RG_OK);
	ck_assert_int_eq(f.downs, 0);
	rg__link_free(link_);
}
END_TEST

/* The port was free a moment ago. */
START_TEST(nobody_listens)
{
	char want[64];

	listen_on_loopback();
	server_close();
	uv_run(&f.loop, UV_RUN_NOWAIT);
	connect_to("127.0.0.1");
	run_until(&f.downs, 1);
	snprintf(want, sizeof(want), "127.0.0.1:%u: connection refused", (unsigned)f.port);
	ck_assert_str_eq(f.down.text, want);
	ck_assert_int_eq(f.down.code, RG_ERR_TRANSPORT);
	rg__link_free(link_);
}
END_TEST

START_TEST(broker_resets)
{
	listen_on_loopback();
	f.hangs_up_at_once = true;
	connect_to("127.0.0.1");
	ask_heartbeat();
	run_until(&f.downs, 1);
	ck_assert_int_eq(f.dones, 1);
	ck_assert_int_eq(f.done_err, RG_ERR_TRANSPORT);
	rg__link_free(link_);
}
END_TEST

START_TEST(broker_closes_an_idle_connection)
{
	listen_on_loopback();
	connect_to("127.0.0.1");
	run_until(&f.ups, 1);
	server_close();
	run_until(&f.downs, 1);
	ck_assert_msg(strstr(f.down.text, "closed by the other side"), "%s", f.down.text);
	rg__link_free(link_);
}
END_TEST

/* A port that was given up lies where the system takes the ports of those who connect: once in ten thousand times it
 * takes the very one. TCP then connects the socket to itself, and it hears its own requests; while it stands, a broker
 * that starts again cannot have its port. */
START_TEST(a_connection_to_itself_is_none)
{
	listen_on_loopback();
	server_close();
	uv_run(&f.loop, UV_RUN_NOWAIT);
	connects_to_itself = true;
	connect_to("127.0.0.1");
	run_until(&f.downs, 1);
	connects_to_itself = false;
	ck_assert_int_eq(f.ups, 0);
	ck_assert_msg(strstr(f.down.text, ": connection refused"), "%s", f.down.text);
	rg__link_free(link_);
	listen_on_port(f.port); /* it is free again at once */
}
END_TEST

/* The n-th allocation fails, for every n, from the io to the answer. What was begun ends with RG_ERR_MEMORY or
 * goes well. */
static bool live_with_failure(long n)
{
	static const struct rg__link_events events = {.up = up, .down = down};
	struct rg__call call = {.api_key = RG__API_HEARTBEAT, .body = &heartbeat, .timeout_ms = 5000, .done = done};
	rg_err err = RG_ERR_MEMORY;

	f.news = f.ups = f.downs = f.dones = 0;
	rg__link_conf_init(&conf);
	rg__fields_init(&rg__heartbeat_request_fields, &heartbeat);
	rg__alloc_fail_after(n);
	link_ = rg__link_new(f.io, &conf, &events, NULL);
	if (link_)
		err = rg__link_connect(link_, "127.0.0.1", f.port);
	if (!err)
		err = rg__link_request(link_, &call, NULL);
	while (!err && !f.downs && !f.dones)
		run_until(&f.news, f.news + 1);
	bool failed = rg__alloc_fail_after(0) <= 0;

	if (err)
		ck_assert_int_eq(err, RG_ERR_MEMORY);
	else if (f.downs)
		ck_assert_int_eq(f.down.code, RG_ERR_MEMORY);
	else
		ck_assert(f.done_err == RG_OK || f.done_err == RG_ERR_MEMORY);
	ck_assert(failed || (f.dones == 1 && f.done_err == RG_OK));
	rg__link_free(link_);
	return failed;
}

START_TEST(every_allocation_fails_once)
{
	long n = 1;

	listen_on_loopback();
	while (live_with_failure(n)) {
		rg__buf_free(&f.inbox); /* a request may have been cut */
		ck_assert_int_lt(++n, 1000);
	}
	ck_assert_int_gt(n, 8);
}
END_TEST

/* --- A stream by itself ------------------------------------------------------------------------------------------- */

static int connected_count, closed_count;
static rg_error closed_error;

static void stream_connected(void *user)
{
	(void)user;
	connected_count++;
}

static void stream_received(void *user, const uint8_t *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
}

static void stream_closed(void *user, const rg_error *error)
{
	(void)user;
	closed_count++;
	closed_error = *error;
}

static const struct rg__stream_events stream_events = {stream_connected, stream_received, stream_closed};

static struct rg__stream *open_stream(const char *host)
{
	struct rg__address address = {0};

	connected_count = closed_count = 0;
	if (strchr(host, ':'))
		ck_assert_int_eq(uv_ip6_addr(host, f.port, (struct sockaddr_in6 *)&address.storage), 0);
	else
		ck_assert_int_eq(uv_ip4_addr(host, f.port, (struct sockaddr_in *)&address.storage), 0);
	struct rg__stream *stream = f.io->ops->connect(f.io, &address);

	ck_assert_ptr_nonnull(stream);
	rg__stream_listen(stream, &stream_events, NULL);
	return stream;
}

/* More than the kernel takes at once: the rest goes when there is room, in order, and nothing blocks. */
START_TEST(writes_more_than_fits)
{
	enum { CHUNKS = 64, CHUNK = 256 * 1024 };

	listen_on_loopback();
	f.mute = true;
	struct rg__stream *stream = open_stream("127.0.0.1");

	run_until(&connected_count, 1);
	for (int i = 0; i < CHUNKS; i++) {
		struct rg__buf buf = {0};

		ck_assert(rg__buf_reserve(&buf, CHUNK));
		memset(buf.data, i, CHUNK);
		buf.len = CHUNK;
		ck_assert(rg__stream_write(stream, &buf));
		ck_assert_ptr_null(buf.data);
	}
	for (int64_t until = rg__now_us(f.io) + 10000000; f.received < (size_t)CHUNKS * CHUNK && rg__now_us(f.io) < until;)
		uv_run(&f.loop, UV_RUN_ONCE);
	ck_assert_uint_eq(f.received, (size_t)CHUNKS * CHUNK);
	rg__stream_close(stream);
}
END_TEST

/* The first write after the broker has gone is answered by a reset, the second hits it. That must not raise
 * SIGPIPE, whose default ends the process; and the owner hears of it from the loop. */
START_TEST(writes_to_a_broker_that_is_gone)
{
	signal(SIGPIPE, SIG_DFL);
	listen_on_loopback();
	struct rg__stream *stream = open_stream("127.0.0.1");

	run_until(&connected_count, 1);
	for (int i = 0; i < 1000 && !f.accepted; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_ptr_nonnull(f.accepted);
	server_close();
	for (int i = 0; i < 5; i++) {
		struct rg__buf buf = {0};

		ck_assert(rg__buf_append(&buf, "hello", 5));
		ck_assert(rg__stream_write(stream, &buf));
		ck_assert_ptr_null(buf.data);
		ck_assert_int_eq(closed_count, 0);
	}
	run_until(&closed_count, 1);
	ck_assert_int_eq(closed_error.code, RG_ERR_TRANSPORT);
	rg__stream_close(stream);
}
END_TEST

START_TEST(closed_with_unsent_bytes)
{
	listen_on_loopback();
	f.mute = true;
	struct rg__stream *stream = open_stream("127.0.0.1");
	struct rg__buf buf = {0};

	run_until(&connected_count, 1);
	ck_assert(rg__buf_reserve(&buf, 32 * 1024 * 1024));
	memset(buf.data, 1, 32 * 1024 * 1024);
	buf.len = 32 * 1024 * 1024;
	ck_assert(rg__stream_write(stream, &buf));
	rg__stream_close(stream);
	uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(closed_count, 0);
}
END_TEST

START_TEST(closed_before_it_is_connected)
{
	listen_on_loopback();
	rg__stream_close(open_stream("127.0.0.1"));
	for (int i = 0; i < 10; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(connected_count + closed_count, 0);
}
END_TEST

/* An address that connect() refuses on the spot: said from the loop, not from inside the call; or not, if closed
 * first. */
START_TEST(refused_on_the_spot)
{
	f.port = 9;
	struct rg__stream *stream = open_stream("255.255.255.255");

	ck_assert_int_eq(closed_count, 0);
	if (_i)
		run_until(&closed_count, 1);
	rg__stream_close(stream);
	for (int i = 0; i < 10; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(closed_count, _i);
	ck_assert_int_eq(connected_count, 0);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, asks_and_is_answered, 0, 2);
	tcase_add_test(tcase, nobody_listens);
	tcase_add_test(tcase, a_connection_to_itself_is_none);
	tcase_add_test(tcase, broker_resets);
	tcase_add_test(tcase, broker_closes_an_idle_connection);
	tcase_add_test(tcase, every_allocation_fails_once);
	tcase_add_test(tcase, writes_more_than_fits);
	tcase_add_test(tcase, writes_to_a_broker_that_is_gone);
	tcase_add_test(tcase, closed_with_unsent_bytes);
	tcase_add_test(tcase, closed_before_it_is_connected);
	tcase_add_loop_test(tcase, refused_on_the_spot, 0, 2);
}

int main(void)
{
	return suite_run_between("link_uv_tcp", add_tests, 60, begin, end);
}
