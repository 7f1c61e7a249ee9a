/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded cluster without memory: every place in it that asks for some is refused once, while it starts, is told what to
 * do, and serves a client (librdkafka's, which bears everything). A call says so, or the cluster gives up as a whole and says
 * that from then on; no crash, no leak (the sanitizers look), and it can always be freed. */
#include "base/alloc.h"
#include "sites.h"
#include "suite.h"

#include <librdkafka/rdkafka.h>
#include <regroup/testkit.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LIVES_MAX = 400, CLIENT_MS = 3000 };

static rg_testkit *kit;
static bool gave_up;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* How a call may go. Once the cluster has given up it stays so. */
static void take(rg_err err, const rg_error *error)
{
	ck_assert_int_eq(error->code, err);
	if (err == RG_ERR_SYSTEM) {
		ck_assert_msg(strstr(error->text, "out of memory") != NULL, "%s", error->text);
		gave_up = true;
		return;
	}
	ck_assert_msg(!gave_up && (err == RG_OK || err == RG_ERR_MEMORY), "%s", error->text);
}

#define TRY(call) \
	do { \
		rg_error error = {0}; \
		rg_err err_ = (call); \
		take(err_, &error); \
	} while (0)

static void make(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};
	rg_err err = RG_ERR_MEMORY;

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:2";
	conf.broker_count = 2;
	conf.events_path = "/dev/null";
	for (int tries = 0; tries < 3 && err == RG_ERR_MEMORY; tries++)
		err = rg_testkit_new(&kit, &conf, &error);
	ck_assert_msg(err == RG_OK, "%s", error.text);
}

static void order(void)
{
	char text[256];
	int hold = 0;

	TRY(rg_testkit_add_topic(kit, "u", 3, &error));
	TRY(rg_testkit_grow_topic(kit, "t", 4, &error));
	TRY(rg_testkit_fail_request(kit, 12, 2, 27, &error));
	TRY(rg_testkit_drop_request(kit, 3, 3, true, &error));
	TRY(rg_testkit_hold_request(kit, 14, 1, true, &hold, &error));
	if (hold)
		TRY(rg_testkit_release(kit, hold, &error));
	TRY(rg_testkit_set_latency(kit, 1, 1, &error));
	TRY(rg_testkit_set_versions(kit, 9, 1, 7, &error));
	TRY(rg_testkit_describe_group(kit, "g", text, sizeof(text), &error));
}

static void write_records(void)
{
	TRY(rg_testkit_produce(kit, "t", 0, "record-", 0, 2, &error));
}

static rd_kafka_t *client;

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char text[256];

	ck_assert_int_eq(rd_kafka_conf_set(conf, name, value, text, sizeof(text)), RD_KAFKA_CONF_OK);
}

static bool committed;

static void on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *offsets, void *user)
{
	(void)rk;
	(void)offsets;
	(void)user;
	committed |= !err;
}

static void begin_client(void)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	char text[256];

	set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit));
	set(conf, "group.id", "g");
	set(conf, "auto.offset.reset", "earliest");
	set(conf, "heartbeat.interval.ms", "20");
	set(conf, "session.timeout.ms", "2000"); /* so long it may take to end where a commit has no answer */
	set(conf, "fetch.wait.max.ms", "10");
	set(conf, "reconnect.backoff.ms", "10");
	set(conf, "log_level", "0");
	set(conf, "enable.auto.commit", "false");
	rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
	client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	ck_assert_ptr_nonnull(client);
	rd_kafka_poll_set_consumer(client);
	rd_kafka_topic_partition_list_add(topics, "t", RD_KAFKA_PARTITION_UA);
	ck_assert_int_eq(rd_kafka_subscribe(client, topics), 0);
	rd_kafka_topic_partition_list_destroy(topics);
}

/* Until it has read and committed a record, or the cluster has given up. */
static void be_client(void)
{
	int64_t ends = now_ms() + CLIENT_MS;

	committed = false;
	while (!committed && !gave_up && now_ms() < ends) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 20);

		/* Not waiting for the answer: a cluster that gave up gives none. */
		if (message && !message->err)
			rd_kafka_commit_message(client, message, 1);
		if (message)
			rd_kafka_message_destroy(message);
		TRY(rg_testkit_set_latency(kit, 1, 0, &error)); /* lives it still? */
	}
}

static void end_client(void)
{
	if (gave_up)
		rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	else
		rd_kafka_destroy(client);
}

static void move(void)
{
	rg_error waited = {0};
	rg_err err = rg_testkit_wait(kit, "*\"event\":\"nothing like it\"*", 0, &waited);

	if (err != RG_ERR_TIMED_OUT)
		take(err, &waited);
	TRY(rg_testkit_move_coordinator(kit, "g", rg_testkit_coordinator(kit, "g") == 1 ? 2 : 1, true, 0, &error));
	TRY(rg_testkit_stop_broker(kit, 2, &error));
	TRY(rg_testkit_start_broker(kit, 2, &error));
	TRY(rg_testkit_remove_topic(kit, "t", &error));
}

static const struct {
	const char *name;
	void (*run)(void);
} steps[] = {
	{"make", make},           {"order", order},     {"write_records", write_records}, {"begin_client", begin_client},
	{"be_client", be_client}, {"end_client", end_client}, {"move", move},
};
enum { STEPS = sizeof(steps) / sizeof(*steps), BEGIN_CLIENT = 3, END_CLIENT = 5 };

/* How many allocations failed. When the cluster has given up, the client still has to end. */
static int live(void)
{
	int failed = 0;

	gave_up = false;
	for (int i = 0; i < STEPS; i++) {
		if (gave_up && !(i == END_CLIENT && client))
			continue;
		sites_arm(steps[i].name, failed ? 0 : 1);
		steps[i].run();
		failed += sites_disarm();
		if (i == END_CLIENT)
			client = NULL;
	}
	if (gave_up) {
		rg_error error = {0};

		ck_assert_int_eq(rg_testkit_add_topic(kit, "w", 1, &error), RG_ERR_SYSTEM);
		ck_assert_ptr_nonnull(strstr(error.text, "out of memory"));
	}
	rg_testkit_free(kit);
	kit = NULL;
	return failed;
}

START_TEST(at_every_place)
{
	int lives = 0, given_up = 0;
	int64_t began = now_ms();

	sites_begin();
	do {
		ck_assert_int_lt(lives++, LIVES_MAX);
		given_up += gave_up;
	} while (live());
	sites_end();
	ck_assert(!gave_up);
	printf("%d lives in %lld ms, %d of them to the end; %d of %d places failed\n", lives, (long long)(now_ms() - began),
	       lives - given_up, sites_failed(), sites_seen());
	ck_assert_int_gt(sites_failed(), 60);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_set_timeout(tcase, 600); /* each place takes a cluster of its own: a second or two, nearly all of it waiting */
	tcase_add_test(tcase, at_every_place);
}

int main(void)
{
	return run_suite("fault_kit_memory", fill);
}
