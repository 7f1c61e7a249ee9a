/* SPDX-License-Identifier: Apache-2.0 */
/* How a link comes up, and all the ways in which it does not: names, addresses, handshakes, hostile bytes. */
#include "fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fixture f;

static void begin(void)
{
	fixture_begin(&f);
}

static void end(void)
{
	fixture_end(&f);
}

/* One connect call has ended in one `down` with these words. */
static void check_down(rg_err code, const char *text)
{
	ck_assert_int_eq(f.ups, 0);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, code);
	ck_assert_str_eq(f.down.text, text);
	ck_assert(rg__link_is_down(f.link));
}

static void check_down_has(rg_err code, const char *text)
{
	ck_assert_int_eq(f.ups, 0);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_int_eq(f.down.code, code);
	ck_assert_msg(strstr(f.down.text, text), "\"%s\" is not in \"%s\"", text, f.down.text);
	ck_assert_msg(strncmp(f.down.text, "10.0.0.1:9092: ", 15) == 0, "%s", f.down.text);
}

START_TEST(comes_up_with_the_newest_version_of_both)
{
	broker_range(&f.broker, RG__API_HEARTBEAT, 0, 3);
	broker_range(&f.broker, RG__API_METADATA, 14, 20);
	fixture_connect(&f);
	ck_assert_int_eq(rg__link_version(f.link, RG__API_HEARTBEAT), -1);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	ck_assert(rg__link_is_up(f.link));
	ck_assert_str_eq(rg__link_name(f.link), "10.0.0.1:9092");
	ck_assert_int_eq(rg__link_version(f.link, RG__API_HEARTBEAT), 3);
	ck_assert_int_eq(rg__link_version(f.link, RG__API_METADATA), -1);
	ck_assert_int_eq(rg__link_version(f.link, RG__API_JOIN_GROUP), 9);
	ck_assert_int_eq(rg__link_version(f.link, -5), -1);
	ck_assert_int_eq(rg__link_version(f.link, 32000), -1);
	ck_assert_int_eq(f.broker.hellos, 1);
	ck_assert_int_eq(f.broker.last_hello_version, 4);
	/* A second connect call while it is up is a mistake of the owner's. */
	ck_assert_int_eq(rg__link_connect(f.link, "10.0.0.1", 9092), RG_ERR_STATE);
}
END_TEST

/* KIP-511: error 35 comes in version 0, with the broker's own range. */
START_TEST(older_broker_names_its_versions_of_api_versions)
{
	f.broker.api_versions_last = 2;
	broker_range(&f.broker, RG__API_API_VERSIONS, 0, 2);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(f.broker.hellos, 2);
	ck_assert_int_eq(f.broker.last_hello_version, 2);
	ck_assert_int_eq(f.sim.attempts, 1); /* on the same connection */
}
END_TEST

START_TEST(broker_before_kip_511_names_nothing)
{
	f.broker.api_versions_last = 2;
	f.broker.empty_on_35 = true;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(f.broker.last_hello_version, 0);
}
END_TEST

/* A broker that lies about its range is not asked for ever. */
START_TEST(broker_that_always_says_35)
{
	f.broker.api_versions_last = -1;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_UNSUPPORTED, "10.0.0.1:9092: the broker supports no version of ApiVersions that we speak");
	ck_assert_int_le(f.broker.hellos, 3);
}
END_TEST

START_TEST(broker_that_hangs_up_on_what_it_does_not_know)
{
	f.broker.api_versions_last = 0;
	f.broker.hangs_up_on_unknown = true;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(f.downs, 0);
	ck_assert_int_eq(f.broker.last_hello_version, 0);
	ck_assert_int_eq(f.sim.attempts, 2); /* once more, and no more */
}
END_TEST

START_TEST(broker_that_always_hangs_up)
{
	f.broker.hangs_up_on_hello = true;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_TRANSPORT, "10.0.0.1:9092: connection closed by the other side during the handshake (does the port "
	                             "expect TLS or another protocol, or is the broker older than 0.10?)");
	ck_assert_int_eq(f.sim.attempts, 2);
}
END_TEST

static const int16_t needed[] = {RG__API_FIND_COORDINATOR, RG__API_OFFSET_COMMIT};

START_TEST(broker_too_old)
{
	f.conf.apis = needed;
	f.conf.api_count = 2;
	broker_range(&f.broker, RG__API_OFFSET_COMMIT, 0, 1);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_UNSUPPORTED,
	           "10.0.0.1:9092: broker too old: it has OffsetCommit in versions 0 to 1, we speak 2 to 9");
}
END_TEST

START_TEST(broker_too_new)
{
	f.conf.apis = needed;
	f.conf.api_count = 2;
	broker_range(&f.broker, RG__API_OFFSET_COMMIT, 10, 12);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_UNSUPPORTED,
	           "10.0.0.1:9092: broker too new: it has OffsetCommit in versions 10 to 12, we speak 2 to 9");
}
END_TEST

START_TEST(broker_without_groups)
{
	f.conf.apis = needed;
	f.conf.api_count = 2;
	for (int i = 0; i < f.broker.range_count; i++) {
		if (f.broker.ranges[i].key == RG__API_FIND_COORDINATOR)
			f.broker.ranges[i].key = 1;
	}
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_UNSUPPORTED, "10.0.0.1:9092: broker too old: it does not know FindCoordinator");
}
END_TEST

START_TEST(refused)
{
	f.broker.server.mode = SIM_REFUSE;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_TRANSPORT, "10.0.0.1:9092: connection refused");
	/* What waited was answered with the same words, before. */
	ck_assert_int_eq(fixture_find(&f, 1)->error.code, RG_ERR_TRANSPORT);
	ck_assert_str_eq(fixture_find(&f, 1)->error.text, f.down.text);
	ck_assert_int_eq(fixture_find(&f, 1)->downs, 0);
	/* Nothing can be asked until the next attempt. */
	ck_assert_int_eq(fixture_ask(&f, 2, 5000, 0, NULL), RG_ERR_TRANSPORT);
	f.broker.server.mode = SIM_ACCEPT;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 3, 5000, 0, NULL), RG_OK);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(fixture_find(&f, 3)->error.code, RG_OK);
}
END_TEST

START_TEST(name_that_does_not_resolve)
{
	fixture_link(&f);
	ck_assert_int_eq(rg__link_connect(f.link, "nowhere.example", 9092), RG_OK);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_RESOLVE, "nowhere.example:9092: the name does not resolve");
}
END_TEST

START_TEST(unusable_names)
{
	char longer[300];

	fixture_link(&f);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_int_eq(rg__link_connect(f.link, "", 9092), RG_ERR_INVALID);
	ck_assert_int_eq(rg__link_connect(f.link, longer, 9092), RG_ERR_INVALID);
	ck_assert_str_eq(rg__link_name(f.link), "");
}
END_TEST

START_TEST(resolver_that_hangs)
{
	struct sim_name slow = {.name = "slow.example", .hangs = true};

	sim_name(&f.sim, &slow);
	fixture_link(&f);
	ck_assert_int_eq(rg__link_connect(f.link, "slow.example", 9092), RG_OK);
	sim_run_ms(&f.sim, 9999);
	ck_assert_int_eq(f.downs, 0);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_TIMED_OUT, "slow.example:9092: the name did not resolve within 10000 ms");
}
END_TEST

/* client.dns.lookup=use_all_dns_ips: the first does not exist, the second swallows packets, the third works. */
START_TEST(all_addresses_of_a_name_in_turn)
{
	struct sim_name many = {.name = "kafka.example", .addresses = {"10.0.0.7", "10.0.0.8", "10.0.0.1"}};
	struct sim_server hole = {.address = "10.0.0.8", .port = 9092, .mode = SIM_SILENT};

	sim_name(&f.sim, &many);
	sim_add(&f.sim, &hole);
	fixture_link(&f);
	ck_assert_int_eq(rg__link_connect(f.link, "kafka.example", 9092), RG_OK);
	sim_run_ms(&f.sim, 9999);
	ck_assert_int_eq(f.sim.attempts, 2);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.sim.attempts, 3);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(f.downs, 0);
	/* Once up, the text of its end says which address it was. */
	sim_hang_up(f.broker.conn);
	sim_run_ms(&f.sim, 1);
	ck_assert_str_eq(f.down.text, "kafka.example:9092 (10.0.0.1): connection closed by the other side");
}
END_TEST

START_TEST(all_addresses_fail)
{
	struct sim_name many = {.name = "kafka.example", .addresses = {"10.0.0.7", "10.0.0.8"}};

	sim_name(&f.sim, &many);
	fixture_link(&f);
	ck_assert_int_eq(rg__link_connect(f.link, "kafka.example", 9092), RG_OK);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_TRANSPORT, "kafka.example:9092 (10.0.0.8, address 2 of 2): connection refused");
	ck_assert_int_eq(f.sim.attempts, 2);
}
END_TEST

/* An address that takes connections and does not answer must not keep the next one from being tried. */
START_TEST(next_address_after_a_failed_handshake)
{
	struct sim_name two = {.name = "kafka.example", .addresses = {"10.0.0.2", "10.0.0.1"}};
	static struct broker dumb;

	broker_init(&dumb, &f.sim, "10.0.0.2");
	dumb.mute = true;
	sim_name(&f.sim, &two);
	fixture_link(&f);
	ck_assert_int_eq(rg__link_connect(f.link, "kafka.example", 9092), RG_OK);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(dumb.hellos, 1);
	ck_assert_int_eq(f.ups, 1);
}
END_TEST

START_TEST(connect_timeout_at_its_deadline)
{
	int64_t began = f.sim.now_us;

	f.broker.server.mode = SIM_SILENT;
	f.conf.connect_timeout_ms = 2500;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 60000);
	check_down(RG_ERR_TIMED_OUT, "10.0.0.1:9092: no connection within 2500 ms");
	ck_assert_int_eq(f.down_at_us, began + 2500000);
}
END_TEST

START_TEST(handshake_timeout_at_its_deadline)
{
	int64_t began = f.sim.now_us;

	f.broker.mute = true;
	f.conf.connect_timeout_ms = 2500;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 60000);
	check_down(RG_ERR_TIMED_OUT, "10.0.0.1:9092: no answer to ApiVersions within 2500 ms (does the port expect TLS or "
	                             "another protocol?)");
	ck_assert_int_eq(f.down_at_us, began + 2500000);
}
END_TEST

START_TEST(a_port_that_talks_http)
{
	f.broker.says = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down_has(RG_ERR_PROTOCOL, "not Kafka's protocol");
	check_down_has(RG_ERR_PROTOCOL, "HTTP");
}
END_TEST

START_TEST(a_port_that_talks_tls)
{
	f.broker.says = "\x15\x03\x03\x00\x02\x02\x16";
	f.broker.says_len = 7;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down_has(RG_ERR_PROTOCOL, "TLS");
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	const char *text;
} hostile[] = {
	{"\xff\xff\xff\xff", 4, "negative length"},
	{"\x80\x00\x00\x00", 4, "negative length"},
	{"\x7f\xff\xff\xff", 4, "over the limit"},
	{"\x06\x40\x00\x01", 4, "over the limit"},
	{"\x00\x00\x00\x00", 4, "byte"},                         /* no correlation id */
	{"\x00\x00\x00\x03\x00\x00\x00", 7, "byte"},              /* half a correlation id */
	{"\x00\x00\x00\x04\x00\x00\x00\x01", 8, "ApiVersions"},  /* no body */
	{"\x00\x00\x00\x04\x00\x00\x00\x63", 8, "an answer to request 99, but ApiVersions was request 1"},
	/* a list of 4 billion keys: refused before anything is allocated for it */
	{"\x00\x00\x00\x0b\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff\x0f", 15, "ApiVersions"},
	{"\x00\x00\x00\x06\x00\x00\x00\x01\x00\x2a", 10, "ApiVersions"}, /* error 42 and no more */
};

START_TEST(hostile_bytes_in_the_handshake)
{
	f.broker.says = hostile[_i].bytes;
	f.broker.says_len = hostile[_i].len;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down_has(RG_ERR_PROTOCOL, hostile[_i].text);
}
END_TEST

/* Random bytes, behind a length that lets them through to the decoder and with the right correlation id. */
START_TEST(garbage_in_the_handshake)
{
	unsigned char bytes[200];
	uint32_t word = (uint32_t)_i * 2654435761u + 12345u;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		word = word * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(word >> 24);
	}
	memcpy(bytes, "\x00\x00\x00\xc4\x00\x00\x00\x01", 8);
	f.broker.says = (const char *)bytes;
	f.broker.says_len = sizeof(bytes);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down_has(RG_ERR_PROTOCOL, "10.0.0.1:9092");
}
END_TEST

/* One life with a request, hung up when the broker has sent `cut` bytes. Returns how many it sent. */
static size_t live(size_t cut, size_t chunk)
{
	fixture_begin(&f);
	f.broker.cut = cut;
	f.sim.chunk = chunk;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	sim_run_ms(&f.sim, 6000);
	ck_assert_ptr_nonnull(fixture_find(&f, 1));
	return f.broker.sent;
}

/* The answers to ApiVersions and to a request, cut at every byte, arriving whole or each byte alone: the owner
 * hears of it once, and the request ends once. */
START_TEST(cut_at_every_byte)
{
	fixture_end(&f);
	size_t whole = live(SIZE_MAX, (size_t)_i);

	ck_assert_int_eq(f.downs, 0);
	ck_assert_int_eq(fixture_find(&f, 1)->error.code, RG_OK);
	ck_assert_uint_gt(whole, 60);
	for (size_t cut = 0; cut < whole; cut++) {
		fixture_end(&f);
		live(cut, (size_t)_i);
		ck_assert_int_eq(f.downs, 1);
		ck_assert_int_eq(f.down.code, RG_ERR_TRANSPORT);
		ck_assert_int_eq(fixture_find(&f, 1)->error.code, RG_ERR_TRANSPORT);
	}
}
END_TEST

START_TEST(freed_in_up)
{
	f.frees_in_up = true;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.ups, 1);
	ck_assert_int_eq(f.done_count, 0);
	ck_assert_int_eq(f.downs, 0);
}
END_TEST

START_TEST(freed_in_down)
{
	f.frees_in_down = true;
	f.broker.server.mode = SIM_REFUSE;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.downs, 1);
}
END_TEST

/* Freed at every moment of a life: nothing is said afterwards, nothing is left. */
START_TEST(freed_at_every_turn)
{
	int64_t turns = _i;

	f.conf.connect_timeout_ms = 1000;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	while (turns-- > 0)
		sim_run_to(&f.sim, f.sim.now_us + 1);
	rg__link_free(f.link);
	f.link = NULL;
	int said = f.ups + f.downs + f.done_count;

	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.ups + f.downs + f.done_count, said);
}
END_TEST

START_TEST(connects_again_from_down)
{
	f.reconnects_in_down = 3;
	f.broker.server.mode = SIM_REFUSE;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 4);
	ck_assert_int_eq(f.sim.attempts, 4);
}
END_TEST

START_TEST(ended_by_its_owner)
{
	fixture_link(&f);
	rg__link_disconnect(f.link, "never connected"); /* nothing happens */
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 0);
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.ups, 1);
	f.broker.holds = true;
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	rg__link_disconnect(f.link, "the coordinator moved");
	ck_assert(!rg__link_is_up(f.link));
	ck_assert_int_eq(f.downs, 0);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 1);
	ck_assert_str_eq(f.down.text, "10.0.0.1:9092: the coordinator moved");
	ck_assert_int_eq(fixture_find(&f, 1)->error.code, RG_ERR_TRANSPORT);
	rg__link_disconnect(f.link, "again");
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.downs, 1);
}
END_TEST

/* --- Layers ------------------------------------------------------------------------------------------------------- */

/* A layer that turns every byte's bits over, in both directions, as TLS would do more cleverly. */
struct flip {
	struct rg__stream stream;
	struct rg__stream *lower;
	bool refuses;
};

static void flip_bytes(uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)~data[i];
}

static void flip_connected(void *user)
{
	struct flip *flip = user;
	rg_error error = {RG_ERR_INVALID, "the certificate is not for this host"};

	if (flip->refuses)
		flip->stream.events->closed(flip->stream.user, &error);
	else
		flip->stream.events->connected(flip->stream.user);
}

static void flip_received(void *user, const uint8_t *data, size_t len)
{
	struct flip *flip = user;
	uint8_t copy[4096];

	ck_assert_uint_le(len, sizeof(copy));
	memcpy(copy, data, len);
	flip_bytes(copy, len);
	flip->stream.events->received(flip->stream.user, copy, len);
}

static void flip_closed(void *user, const rg_error *error)
{
	struct flip *flip = user;

	flip->stream.events->closed(flip->stream.user, error);
}

static bool flip_write(struct rg__stream *stream, struct rg__buf *buf)
{
	flip_bytes(buf->data, buf->len);
	return rg__stream_write(((struct flip *)stream)->lower, buf);
}

static int flips_alive;

static void flip_close(struct rg__stream *stream)
{
	rg__stream_close(((struct flip *)stream)->lower);
	free(stream);
	flips_alive--;
}

static struct rg__stream *flip_wrap(struct rg__io *io, struct rg__stream *lower, const char *host, void *conf)
{
	static const struct rg__stream_ops ops = {flip_write, flip_close};
	static const struct rg__stream_events events = {flip_connected, flip_received, flip_closed};
	struct flip *flip = calloc(1, sizeof(*flip));

	(void)io;
	ck_assert_ptr_nonnull(flip);
	ck_assert_str_eq(host, "10.0.0.1");
	flip->stream.ops = &ops;
	flip->lower = lower;
	flip->refuses = *(bool *)conf;
	rg__stream_listen(lower, &events, flip);
	flips_alive++;
	return &flip->stream;
}

/* Two of them undo each other, so a plain broker understands. */
START_TEST(layers_lie_on_each_other)
{
	bool refuses = false;
	struct rg__layer layers[] = {{flip_wrap, &refuses}, {flip_wrap, &refuses}};

	f.conf.layers = layers;
	f.conf.layer_count = 2;
	fixture_connect(&f);
	ck_assert_int_eq(fixture_ask(&f, 1, 5000, 0, NULL), RG_OK);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(fixture_find(&f, 1)->error.code, RG_OK);
	ck_assert_int_eq(flips_alive, 2);
	rg__link_free(f.link);
	f.link = NULL;
	ck_assert_int_eq(flips_alive, 0);
}
END_TEST

/* What a layer refuses for good is not tried at the name's other addresses. */
START_TEST(layer_that_refuses)
{
	bool refuses = true;
	struct rg__layer layer = {flip_wrap, &refuses};

	f.conf.layers = &layer;
	f.conf.layer_count = 1;
	fixture_connect(&f);
	sim_run_ms(&f.sim, 1);
	check_down(RG_ERR_INVALID, "10.0.0.1:9092: the certificate is not for this host");
	ck_assert_int_eq(flips_alive, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_connect");
	TCase *tcase = tcase_create("connect");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, comes_up_with_the_newest_version_of_both);
	tcase_add_test(tcase, older_broker_names_its_versions_of_api_versions);
	tcase_add_test(tcase, broker_before_kip_511_names_nothing);
	tcase_add_test(tcase, broker_that_always_says_35);
	tcase_add_test(tcase, broker_that_hangs_up_on_what_it_does_not_know);
	tcase_add_test(tcase, broker_that_always_hangs_up);
	tcase_add_test(tcase, broker_too_old);
	tcase_add_test(tcase, broker_too_new);
	tcase_add_test(tcase, broker_without_groups);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, name_that_does_not_resolve);
	tcase_add_test(tcase, unusable_names);
	tcase_add_test(tcase, resolver_that_hangs);
	tcase_add_test(tcase, all_addresses_of_a_name_in_turn);
	tcase_add_test(tcase, all_addresses_fail);
	tcase_add_test(tcase, next_address_after_a_failed_handshake);
	tcase_add_test(tcase, connect_timeout_at_its_deadline);
	tcase_add_test(tcase, handshake_timeout_at_its_deadline);
	tcase_add_test(tcase, a_port_that_talks_http);
	tcase_add_test(tcase, a_port_that_talks_tls);
	tcase_add_loop_test(tcase, hostile_bytes_in_the_handshake, 0, (int)(sizeof(hostile) / sizeof(hostile[0])));
	tcase_add_loop_test(tcase, garbage_in_the_handshake, 0, 200);
	tcase_add_loop_test(tcase, cut_at_every_byte, 0, 2);
	tcase_add_test(tcase, freed_in_up);
	tcase_add_test(tcase, freed_in_down);
	tcase_add_loop_test(tcase, freed_at_every_turn, 0, 12);
	tcase_add_test(tcase, connects_again_from_down);
	tcase_add_test(tcase, ended_by_its_owner);
	tcase_add_test(tcase, layers_lie_on_each_other);
	tcase_add_test(tcase, layer_that_refuses);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
