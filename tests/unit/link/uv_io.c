/* SPDX-License-Identifier: Apache-2.0 */
/* The libuv implementation on real loopback sockets: a link to a server in the same loop, and the rules of io.h. */
#include "base/alloc.h"
#include "codec/frame.h"
#include "codec/heartbeat.h"
#include "link/link.h"
#include "link/uv_io.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
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
} f;

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

static void listen_on_loopback(void)
{
	struct sockaddr_in at;
	int len = sizeof(at);

	uv_ip4_addr("127.0.0.1", 0, &at);
	uv_tcp_init(&f.loop, &f.listener);
	ck_assert_int_eq(uv_tcp_bind(&f.listener, (const struct sockaddr *)&at, 0), 0);
	ck_assert_int_eq(uv_listen((uv_stream_t *)&f.listener, 8, connection_cb), 0);
	ck_assert_int_eq(uv_tcp_getsockname(&f.listener, (struct sockaddr *)&at, &len), 0);
	f.port = ntohs(at.sin_port);
	f.listening = true;
}

static void server_close(void)
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

static void begin(void)
{
	memset(&f, 0, sizeof(f));
	ck_assert_int_eq(uv_loop_init(&f.loop), 0);
	ck_assert_int_eq(rg__uv_io_new(&f.loop, woken, &f, &f.io), 0);
	ck_assert_ptr_nonnull(f.io);
}

/* All handles are closed by what was freed: the loop ends by itself and can be closed. */
static void end(void)
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

/* Runs the loop until *counter reaches `want`; 10 seconds are a failure. */
static void run_until(const int *counter, int want)
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

/* --- Timers and wake-ups ------------------------------------------------------------------------------------------ */

static void fired(void *user)
{
	(void)user;
	f.fired++;
	f.fired_at_us = rg__now_us(f.io);
}

START_TEST(timer_is_never_early)
{
	struct rg__timer *timer = rg__timer_new(f.io, fired, NULL);

	for (int i = 0; i < 20; i++) {
		int64_t at = rg__now_us(f.io) + i * 701;

		rg__timer_set(timer, at);
		ck_assert_int_eq(f.fired, i);
		run_until(&f.fired, i + 1);
		ck_assert_int_ge(f.fired_at_us, at);
	}
	rg__timer_free(timer);
}
END_TEST

START_TEST(timer_cleared_and_freed)
{
	struct rg__timer *passed = rg__timer_new(f.io, fired, NULL), *soon = rg__timer_new(f.io, fired, NULL);
	struct rg__timer *far = rg__timer_new(f.io, fired, NULL), *last = rg__timer_new(f.io, fired, NULL);

	rg__timer_set(passed, 0);
	rg__timer_set(soon, rg__now_us(f.io) + 1000);
	rg__timer_set(far, INT64_MAX);
	rg__timer_set(last, rg__now_us(f.io) + 20000);
	rg__timer_clear(passed);
	rg__timer_clear(soon);
	rg__timer_free(far);
	run_until(&f.fired, 1);
	ck_assert_int_eq(f.fired, 1);
	rg__timer_set(passed, 0);
	rg__timer_free(passed);
	rg__timer_free(soon);
	rg__timer_free(last);
	ck_assert_int_ge(rg__unix_us(f.io), INT64_C(1600000000000000));
}
END_TEST

static struct rg__timer *again;

static void fired_and_set_again(void *user)
{
	(void)user;
	f.fired++;
	rg__timer_set(again, 0);
}

/* A timer that is always due leaves the loop its turns. */
START_TEST(timer_that_is_always_due)
{
	again = rg__timer_new(f.io, fired_and_set_again, NULL);
	rg__timer_set(again, 0);
	for (int i = 0; i < 50; i++)
		uv_run(&f.loop, UV_RUN_ONCE);
	ck_assert_int_ge(f.fired, 10);
	ck_assert_int_le(f.fired, 50);
	rg__timer_free(again);
}
END_TEST

static void *wake(void *argument)
{
	(void)argument;
	for (int i = 0; i < 1000; i++)
		rg__uv_io_wakeup(f.io);
	return NULL;
}

START_TEST(woken_from_another_thread)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, wake, NULL), 0);
	run_until(&f.woken, 1);
	pthread_join(thread, NULL);
	while (uv_run(&f.loop, UV_RUN_NOWAIT) && f.woken < 1)
		;
	ck_assert_int_ge(f.woken, 1);
	ck_assert_int_le(f.woken, 1000);
}
END_TEST

/* --- Names -------------------------------------------------------------------------------------------------------- */

static size_t found;
static rg_error not_found;
static char first_address[64];
static int lookups_done;

static void resolved(void *user, const struct rg__address *addresses, size_t count, const rg_error *error)
{
	(void)user;
	lookups_done++;
	found = count;
	if (error)
		not_found = *error;
	else
		rg__address_text(&addresses[0], first_address, sizeof(first_address));
}

START_TEST(numeric_names)
{
	static const char *const hosts[] = {"127.0.0.1", "::1"};

	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, hosts[_i], 9092, resolved, NULL));
	ck_assert_int_eq(lookups_done, 0);
	run_until(&lookups_done, 1);
	ck_assert_uint_eq(found, 1);
	ck_assert_str_eq(first_address, hosts[_i]);
}
END_TEST

START_TEST(localhost)
{
	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, "localhost", 9092, resolved, NULL));
	run_until(&lookups_done, 1);
	ck_assert_uint_ge(found, 1);
}
END_TEST

/* A label of more than 63 bytes: refused without asking any server. */
START_TEST(name_that_cannot_exist)
{
	char name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

	lookups_done = 0;
	ck_assert_ptr_nonnull(f.io->ops->resolve(f.io, name, 9092, resolved, NULL));
	run_until(&lookups_done, 1);
	ck_assert_uint_eq(found, 0);
	ck_assert_int_eq(not_found.code, RG_ERR_RESOLVE);
	ck_assert_msg(strstr(not_found.text, "does not resolve"), "%s", not_found.text);
}
END_TEST

/* Cancelled before and after the answer is there; freed with the io while its thread runs. */
START_TEST(cancelled_lookups)
{
	lookups_done = 0;
	for (int i = 0; i < 100; i++) {
		struct rg__lookup *lookup =
			f.io->ops->resolve(f.io, i % 2 ? "localhost" : "127.0.0.1", 9092, resolved, NULL);

		ck_assert_ptr_nonnull(lookup);
		if (i % 3 == 0)
			uv_sleep(1);
		f.io->ops->resolve_cancel(f.io, lookup);
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	ck_assert_int_eq(lookups_done, 0);
}
END_TEST

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
	tcase_add_test(tcase, timer_is_never_early);
	tcase_add_test(tcase, timer_cleared_and_freed);
	tcase_add_test(tcase, timer_that_is_always_due);
	tcase_add_test(tcase, woken_from_another_thread);
	tcase_add_loop_test(tcase, numeric_names, 0, 2);
	tcase_add_test(tcase, localhost);
	tcase_add_test(tcase, name_that_cannot_exist);
	tcase_add_test(tcase, cancelled_lookups);
	tcase_add_loop_test(tcase, asks_and_is_answered, 0, 2);
	tcase_add_test(tcase, nobody_listens);
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
	Suite *suite = suite_create("link_uv_io");
	TCase *tcase = tcase_create("uv_io");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_set_timeout(tcase, 60);
	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
