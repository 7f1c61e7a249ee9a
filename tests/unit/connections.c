/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of a handle of librdkafka's, to its mock cluster: cut before the handle ends, and not made again. */
#include "consumer/connections.h"

#include "../lib/suite.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdatomic.h>
#include <string.h>

enum { WITHIN_MS = 20000, NO_ANSWER_MS = 500, POLL_MS = 10 };

static rd_kafka_t *cluster_handle;
static rd_kafka_mock_cluster_t *cluster;
static struct rg__voice *voice;
static atomic_int lines;

static void count_line(void *user, int level, const char *facility, const char *line)
{
	(void)level;
	(void)facility;
	(void)line;
	(void)user;
	lines++;
}

static rd_kafka_t *handle(rd_kafka_type_t type, struct rg__connections *connections)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk;
	char text[256] = "";

	if (connections)
		rg__connections_watch(connections, conf);
	else
		rd_kafka_conf_set_log_cb(conf, NULL);
	if (cluster)
		rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster), NULL, 0);
	rd_kafka_conf_set(conf, "group.id", "g", NULL, 0);
	rd_kafka_conf_set(conf, "reconnect.backoff.ms", "10", NULL, 0);
	rk = rd_kafka_new(type, conf, text, sizeof(text));
	ck_assert_msg(rk != NULL, "%s", text);
	return rk;
}

static void start(void)
{
	lines = 0;
	cluster = NULL;
	cluster_handle = handle(RD_KAFKA_PRODUCER, NULL);
	cluster = rd_kafka_mock_cluster_new(cluster_handle, 2);
	ck_assert_ptr_nonnull(cluster);
	ck_assert_int_eq(rd_kafka_mock_topic_create(cluster, "t", 2, 1), 0);
	voice = rg__voice_new(count_line, NULL);
	ck_assert_ptr_nonnull(voice);
}

static void end(void)
{
	rg__voice_free(voice);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(cluster_handle);
}

static rd_kafka_resp_err_t ask(rd_kafka_t *rk, int timeout_ms)
{
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 1, NULL, &metadata, timeout_ms);

	if (!err)
		rd_kafka_metadata_destroy(metadata);
	return err;
}

/* The answer may have come over a connection that is closed then: newer versions know a broker by its name first. */
static void wait_for_one(rd_kafka_t *rk, struct rg__connections *connections)
{
	int waited_ms = 0;

	ck_assert_int_eq(ask(rk, WITHIN_MS), 0);
	for (; rg__connections_gone(connections, 0); waited_ms += POLL_MS) {
		ck_assert_int_lt(waited_ms, WITHIN_MS);
		rd_kafka_poll(rk, POLL_MS);
	}
}

/* A connection that breaks while the handle is destroyed may end the process. */
START_TEST(none_is_left)
{
	struct rg__connections *connections = rg__connections_new(voice);
	rd_kafka_t *rk = handle(RD_KAFKA_CONSUMER, connections);
	int before;

	wait_for_one(rk, connections);
	before = lines;
	rg__connections_cut(connections);
	ck_assert(rg__connections_gone(connections, WITHIN_MS));
	ck_assert_int_ne(ask(rk, NO_ANSWER_MS), 0);
	ck_assert(rg__connections_gone(connections, 0));
	ck_assert_int_eq(lines, before);
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	rg__connections_free(connections);
}
END_TEST

START_TEST(what_breaks_by_itself_is_told_and_made_again)
{
	struct rg__connections *connections = rg__connections_new(voice);
	rd_kafka_t *rk = handle(RD_KAFKA_CONSUMER, connections);

	wait_for_one(rk, connections);
	rd_kafka_mock_broker_set_down(cluster, 1);
	rd_kafka_mock_broker_set_down(cluster, 2);
	ck_assert(rg__connections_gone(connections, WITHIN_MS));
	rd_kafka_mock_broker_set_up(cluster, 1);
	rd_kafka_mock_broker_set_up(cluster, 2);
	wait_for_one(rk, connections);
	ck_assert_int_gt(lines, 0);
	rg__connections_cut(connections);
	ck_assert(rg__connections_gone(connections, WITHIN_MS));
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	rg__connections_free(connections);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, none_is_left);
	tcase_add_test(tcase, what_breaks_by_itself_is_told_and_made_again);
}

int main(void)
{
	return suite_run_between("connections", fill, 120, start, end);
}
