/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to any broker of a cluster: which are tried, how often, and what the caller hears. */
#include "fake_broker.h"

#include "link/cluster.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BROKERS = 3, DONE_MAX = 64 };

static struct {
	struct sim sim;
	struct broker brokers[BROKERS]; /* 10.0.0.1 … 10.0.0.3 */
	struct rg__cluster_conf conf;
	struct rg__cluster *cluster;
	struct rg__metadata_request metadata;
	int ups, failures;
	char up[64];
	rg_error failed;
	struct {
		uintptr_t tag;
		rg_error error;
		int64_t at_us;
		char broker[64];
	} done[DONE_MAX];
	int done_count;
	bool frees_in_done, frees_in_failed, frees_in_up, asks_in_done;
} f;

static void release(void)
{
	rg__cluster_free(f.cluster);
	f.cluster = NULL;
}

static void up(void *user, const char *broker)
{
	ck_assert_ptr_eq(user, &f);
	ck_assert(f.sim.dispatching);
	f.ups++;
	snprintf(f.up, sizeof(f.up), "%s", broker);
	if (f.frees_in_up)
		release();
}

static void failed(void *user, const rg_error *error)
{
	ck_assert_ptr_eq(user, &f);
	ck_assert(f.sim.dispatching);
	f.failures++;
	f.failed = *error;
	if (f.frees_in_failed)
		release();
}

static void ask(uintptr_t tag, int64_t timeout_ms, rg__request_id *ret_id);

static void done(void *user, const struct rg__response *response)
{
	ck_assert(f.sim.dispatching);
	ck_assert_int_lt(f.done_count, DONE_MAX);
	f.done[f.done_count].tag = (uintptr_t)user;
	f.done[f.done_count].error = response->error;
	f.done[f.done_count].at_us = f.sim.now_us;
	snprintf(f.done[f.done_count].broker, sizeof(f.done[0].broker), "%s", response->broker);
	f.done_count++;
	if (f.frees_in_done)
		release();
	else if (f.asks_in_done)
		ask((uintptr_t)user + 1, 5000, NULL);
}

static void ask(uintptr_t tag, int64_t timeout_ms, rg__request_id *ret_id)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &f.metadata, .timeout_ms = timeout_ms, .done = done,
	                        .user = (void *)tag};
	bool dispatching = f.sim.dispatching;

	f.sim.dispatching = false;
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, ret_id), RG_OK);
	f.sim.dispatching = dispatching;
}

static void begin(void)
{
	static const char *const addresses[BROKERS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

	memset(&f, 0, sizeof(f));
	sim_init(&f.sim);
	for (int i = 0; i < BROKERS; i++)
		broker_init(&f.brokers[i], &f.sim, addresses[i]);
	rg__fields_init(&rg__metadata_request_fields, &f.metadata);
	rg__cluster_conf_init(&f.conf);
	f.conf.bootstrap = "10.0.0.1:9092";
	f.conf.seed = 5;
}

static void start(void)
{
	static const struct rg__cluster_events events = {.failed = failed, .up = up};
	rg_error error = {0};

	ck_assert_int_eq(rg__cluster_new(&f.sim.io, &f.conf, &events, &f, &f.cluster, &error), RG_OK);
}

static void end(void)
{
	release();
	sim_end(&f.sim);
}

static void set_all(enum sim_mode mode)
{
	for (int i = 0; i < BROKERS; i++)
		f.brokers[i].server.mode = mode;
}

static int attempts(int i)
{
	return f.brokers[i].server.attempts;
}

START_TEST(bad_bootstrap_list)
{
	static const struct rg__cluster_events events = {.failed = failed, .up = up};
	rg_error error = {0};

	f.conf.bootstrap = "a:1,b:99999";
	ck_assert_int_eq(rg__cluster_new(&f.sim.io, &f.conf, &events, &f, &f.cluster, &error), RG_ERR_INVALID);
	ck_assert_ptr_null(f.cluster);
	ck_assert_msg(strstr(error.text, "\"b:99999\""), "%s", error.text);
}
END_TEST

START_TEST(connects_when_asked)
{
	start();
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 0); /* nobody asked */
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	ck_assert_str_eq(f.done[0].broker, "10.0.0.1:9092");
	ck_assert_str_eq(f.up, "10.0.0.1:9092");
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

/* The broker closes what is idle: no news for anybody, and no new connection before somebody asks. */
START_TEST(idle_connection_is_closed)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092";
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_hang_up(f.brokers[attempts(0) ? 0 : 1].conn);
	sim_run_ms(&f.sim, 600000);
	ck_assert_int_eq(f.failures, 0);
	ck_assert_int_eq(f.sim.attempts, 1);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
}
END_TEST

START_TEST(bootstrap_addresses_in_turn)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092,10.0.0.3:9092";
	set_all(SIM_REFUSE);
	f.brokers[_i].server.mode = SIM_ACCEPT;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	ck_assert_int_le(f.sim.attempts, 3);
	ck_assert_int_eq(f.failures, f.sim.attempts - 1);
}
END_TEST

/* Everything is down for a minute: each failure is told with address and cause, and the backoff bounds their number. */
START_TEST(dead_cluster_does_not_make_us_spin)
{
	int expected = 0;

	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092,10.0.0.3:9092";
	f.conf.seed = (uint64_t)_i;
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 59999);
	ck_assert_int_eq(f.done_count, 0);
	/* per address: pauses 50, 100, 200, 400, 800, 1000, 1000 … ms, at most a fifth shorter */
	for (int64_t at_ms = 0, pause_ms = 50; at_ms < 60000; at_ms += pause_ms * 8 / 10, pause_ms *= 2) {
		expected++;
		if (pause_ms > 1000)
			pause_ms = 1000;
	}
	for (int i = 0; i < BROKERS; i++) {
		ck_assert_int_le(attempts(i), expected);
		ck_assert_int_ge(attempts(i), 40); /* and it does not give up */
	}
	ck_assert_int_eq(f.failures, f.sim.attempts);
	ck_assert_uint_le(f.sim.turns, (uint64_t)f.sim.attempts * 10);
	ck_assert_msg(strstr(f.failed.text, ":9092: connection refused"), "%s", f.failed.text);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_msg(strncmp(f.done[0].error.text, "Metadata: no broker was reachable within 60000 ms; 10.0.0.", 58) == 0,
	              "%s", f.done[0].error.text);
	/* Nobody asks any more: it is quiet. */
	int before = f.sim.attempts;

	sim_run_ms(&f.sim, 60000);
	ck_assert_int_le(f.sim.attempts, before + 1);
}
END_TEST

/* A broker that shakes hands and hangs up is as good as a dead one. */
START_TEST(broker_that_hangs_up_after_the_handshake)
{
	f.brokers[0].cut = 0;
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_le(f.sim.attempts, 2 * 80); /* each time once more with ApiVersions 0 */
	ck_assert_int_eq(f.done_count, 1);
}
END_TEST

START_TEST(comes_back)
{
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 30000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 1200);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
}
END_TEST

/* Success ends the growing of pauses: the next interruption is short. */
START_TEST(pauses_are_short_again_after_success)
{
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 30000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 1200);
	ck_assert_int_eq(f.done_count, 1);
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
	ask(2, 60000, NULL);
	sim_run_ms(&f.sim, 60);
	ck_assert_int_eq(f.done_count, 2);
}
END_TEST

static void name_nodes(struct broker *broker, int first, int count)
{
	static const char *const hosts[BROKERS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

	broker->node_count = count;
	for (int i = 0; i < count; i++) {
		rg__fields_init(&rg__metadata_response_broker_fields, &broker->nodes[i]);
		broker->nodes[i].node_id = first + i + 1;
		broker->nodes[i].host = rg__bytes_of(hosts[first + i]);
		broker->nodes[i].port = 9092;
	}
}

/* Metadata names brokers that the list did not: they are tried when the first goes away, before the list is again. */
START_TEST(learns_from_metadata)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 1, 2); /* 2 and 3 */
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 3, &host, &port));
	ck_assert_str_eq(host, "10.0.0.3");
	ck_assert_uint_eq(port, 9092);
	ck_assert(!rg__cluster_node(f.cluster, 1, &host, &port));
	sim_hang_up(f.brokers[0].conn);
	f.brokers[1].server.mode = SIM_REFUSE;
	sim_run_ms(&f.sim, 1);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.3:9092");
	ck_assert_int_eq(attempts(0), 1);
	/* This one named no brokers at all, which says nothing. */
	ck_assert(rg__cluster_node(f.cluster, 3, &host, &port));
	/* KIP-899: none of the known works any more. */
	f.brokers[2].server.mode = SIM_REFUSE;
	sim_hang_up(f.brokers[2].conn);
	sim_run_ms(&f.sim, 1);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_str_eq(f.done[2].broker, "10.0.0.1:9092");
}
END_TEST

START_TEST(hostile_metadata)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 0, 3);
	f.brokers[0].nodes[0].host = rg__bytes_of("");
	f.brokers[0].nodes[1].port = -1;
	f.brokers[0].nodes[2].node_id = -7;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	for (int32_t id = -10; id < 10; id++)
		ck_assert(!rg__cluster_node(f.cluster, id, &host, &port));
	sim_hang_up(f.brokers[0].conn);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done[f.done_count - 1].error.code, RG_OK); /* the bootstrap address is still there */
}
END_TEST

/* KIP-1102 */
START_TEST(broker_asks_to_rebootstrap)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 0, 3);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	f.brokers[0].metadata_error = 129;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(!rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
}
END_TEST

/* KIP-1102: without rebootstrap that is no reason to forget anybody. */
START_TEST(broker_asks_to_rebootstrap_in_vain)
{
	const char *host = NULL;
	uint16_t port = 0;

	f.conf.rebootstrap = false;
	name_nodes(&f.brokers[0], 0, 3);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	f.brokers[0].metadata_error = 129;
	f.brokers[0].node_count = 0;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
}
END_TEST

/* The first broker is for the start only, and knows of the two others. */
static void learn_of_two(void)
{
	name_nodes(&f.brokers[0], 1, 2);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	f.brokers[1].server.mode = f.brokers[2].server.mode = SIM_REFUSE;
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
}

/* KIP-899: metadata.recovery.strategy=none. */
START_TEST(bootstrap_is_for_the_start_only)
{
	const char *host = NULL;
	uint16_t port = 0;

	f.conf.rebootstrap = false;
	f.conf.rebootstrap_trigger_ms = 1000;
	learn_of_two();
	ask(2, 600000, NULL);
	sim_run_ms(&f.sim, 599000);
	ck_assert_int_eq(attempts(0), 1);
	ck_assert_int_ge(attempts(1), 500);
	ck_assert_int_ge(attempts(2), 500);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	f.brokers[2].server.mode = SIM_ACCEPT;
	sim_run_ms(&f.sim, 1000 * 2);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.3:9092");
}
END_TEST

/* KIP-1102: metadata.recovery.rebootstrap.trigger.ms; before that moment the known ones are tried, too, after it not. */
START_TEST(known_brokers_are_forgotten)
{
	const char *host = NULL;
	uint16_t port = 0;
	int before;

	f.conf.rebootstrap_trigger_ms = 20000;
	learn_of_two();
	f.brokers[0].server.mode = SIM_REFUSE;
	sim_run_ms(&f.sim, 100000); /* nobody asks: that is no time without an answer */
	ask(2, 60000, NULL);
	sim_run_ms(&f.sim, 19900);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	before = attempts(1);
	ck_assert_int_ge(before, 10);
	sim_run_ms(&f.sim, 2000);
	ck_assert(!rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_int_le(attempts(1), before + 2);
	before = attempts(1);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(attempts(1), before);
	f.brokers[0].server.mode = SIM_ACCEPT;
	sim_run_ms(&f.sim, 2000);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.1:9092");
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port)); /* learned anew */
}
END_TEST

/* connections.max.idle.ms: closed by us, to the millisecond; no failure of anybody, and no pause for who asks next. */
START_TEST(an_idle_connection_is_closed_by_us)
{
	f.conf.idle_max_ms = 5000;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_run_ms(&f.sim, 4000);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 4990);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	sim_run_ms(&f.sim, 20);
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
	ck_assert_int_eq(f.done_count, 2);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 1);
	ck_assert_int_eq(f.failures, 0);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_int_eq(f.sim.attempts, 2);
	/* A request that the broker thinks about for long is no idleness. */
	f.brokers[0].holds = true;
	ask(4, 20000, NULL);
	sim_run_ms(&f.sim, 15000);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	ck_assert_int_eq(f.sim.attempts, 2);
}
END_TEST

/* Connected before anybody asks, so that the first answer takes one round trip. */
START_TEST(prepared)
{
	start();
	rg__cluster_prepare(f.cluster);
	sim_run_ms(&f.sim, 1);
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
	rg__cluster_prepare(f.cluster); /* changes nothing */
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

/* One attempt, of which nobody hears; who asks then does, and gets the next one's answer. */
START_TEST(prepared_in_vain)
{
	f.brokers[0].server.mode = SIM_REFUSE;
	start();
	rg__cluster_prepare(f.cluster);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 1);
	ck_assert_int_eq(f.failures, 0);
	f.brokers[0].server.mode = SIM_ACCEPT;
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
}
END_TEST

START_TEST(asked_while_it_prepares)
{
	f.brokers[0].server.mode = SIM_REFUSE;
	start();
	rg__cluster_prepare(f.cluster);
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.failures, 1);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_gt(f.failures, 2);
}
END_TEST

START_TEST(idle_for_ever)
{
	f.conf.idle_max_ms = 0;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 10000000);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
}
END_TEST

START_TEST(leaves_a_broker_for_another)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092";
	f.brokers[0].holds = f.brokers[1].holds = true;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	char before[64];

	snprintf(before, sizeof(before), "%s", rg__cluster_broker(f.cluster));
	rg__cluster_leave(f.cluster);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TRANSPORT);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	ck_assert_str_ne(rg__cluster_broker(f.cluster), before);
}
END_TEST

/* What was sent when the connection broke is the caller's to repeat; what was not sent waits for the next broker. */
START_TEST(broken_while_asked)
{
	f.conf.link.in_flight_max = 1;
	f.brokers[0].holds = true;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TRANSPORT);
	ck_assert_str_eq(f.done[0].error.text, "10.0.0.1:9092: connection closed by the other side");
	f.brokers[0].holds = false;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
}
END_TEST

START_TEST(timeout_at_its_deadline)
{
	int64_t began = f.sim.now_us;

	f.brokers[0].server.mode = SIM_SILENT;
	start();
	ask(1, 1234, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.done[0].at_us, began + 1234000);
}
END_TEST

/* The time spent on finding a broker counts. */
START_TEST(timeout_counts_through_the_connect)
{
	int64_t began = f.sim.now_us;

	set_all(SIM_REFUSE);
	f.brokers[0].holds = true;
	start();
	ask(1, 3000, NULL);
	sim_run_ms(&f.sim, 1000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.done[0].at_us, began + 3000000);
}
END_TEST

START_TEST(cancelled)
{
	rg__request_id waiting = 0, sent = 0;

	f.brokers[0].holds = true;
	start();
	ask(1, 5000, &waiting);
	rg__cluster_cancel(f.cluster, waiting);
	rg__cluster_cancel(f.cluster, waiting);
	sim_run_ms(&f.sim, 100);
	ck_assert_int_eq(f.sim.attempts, 0);
	ask(2, 5000, &sent);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.brokers[0].seen_count, 1);
	rg__cluster_cancel(f.cluster, sent);
	broker_answer(&f.brokers[0], &f.brokers[0].seen[0]);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(f.done_count, 0);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
}
END_TEST

START_TEST(queue_has_an_end)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &f.metadata, .timeout_ms = 5000, .done = done};

	f.conf.link.queue_max = 2;
	start();
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, NULL), RG_ERR_STATE);
	call.api_key = 999;
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, NULL), RG_ERR_INVALID);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
}
END_TEST

START_TEST(asks_again_in_done)
{
	f.asks_in_done = true;
	start();
	ask(1, 5000, NULL);
	for (int i = 0; f.done_count < 20 && i < 1000; i++)
		sim_turn(&f.sim);
	ck_assert_int_eq(f.done_count, 20);
	f.asks_in_done = false;
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

START_TEST(freed_in_callbacks)
{
	f.frees_in_done = _i == 0 || _i == 1;
	f.frees_in_up = _i == 2;
	f.frees_in_failed = _i == 3;
	if (_i == 1 || _i == 3)
		set_all(SIM_REFUSE);
	start();
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_ptr_null(f.cluster);
	ck_assert_int_eq(f.done_count, _i < 2 ? 1 : 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_cluster");
	TCase *tcase = tcase_create("cluster");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, bad_bootstrap_list);
	tcase_add_test(tcase, connects_when_asked);
	tcase_add_test(tcase, idle_connection_is_closed);
	tcase_add_loop_test(tcase, bootstrap_addresses_in_turn, 0, BROKERS);
	tcase_add_loop_test(tcase, dead_cluster_does_not_make_us_spin, 0, 10);
	tcase_add_test(tcase, broker_that_hangs_up_after_the_handshake);
	tcase_add_test(tcase, comes_back);
	tcase_add_test(tcase, pauses_are_short_again_after_success);
	tcase_add_test(tcase, learns_from_metadata);
	tcase_add_test(tcase, hostile_metadata);
	tcase_add_test(tcase, broker_asks_to_rebootstrap);
	tcase_add_test(tcase, broker_asks_to_rebootstrap_in_vain);
	tcase_add_test(tcase, bootstrap_is_for_the_start_only);
	tcase_add_test(tcase, known_brokers_are_forgotten);
	tcase_add_test(tcase, an_idle_connection_is_closed_by_us);
	tcase_add_test(tcase, prepared);
	tcase_add_test(tcase, prepared_in_vain);
	tcase_add_test(tcase, asked_while_it_prepares);
	tcase_add_test(tcase, idle_for_ever);
	tcase_add_test(tcase, leaves_a_broker_for_another);
	tcase_add_test(tcase, broken_while_asked);
	tcase_add_test(tcase, timeout_at_its_deadline);
	tcase_add_test(tcase, timeout_counts_through_the_connect);
	tcase_add_test(tcase, cancelled);
	tcase_add_test(tcase, queue_has_an_end);
	tcase_add_test(tcase, asks_again_in_done);
	tcase_add_loop_test(tcase, freed_in_callbacks, 0, 4);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failures = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
