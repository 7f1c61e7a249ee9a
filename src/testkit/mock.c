/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/kit.h"

#include <stdlib.h>
#include <string.h>

/* librdkafka's mock cluster of one broker: it keeps the records. It cannot give a topic more partitions later, so
 * each gets as many as it may ever have, and the metadata tells of fewer. */

enum { PRODUCE_TIMEOUT_MS = 60000, NUMBER_ROOM = 32 };

static rg_err find_address(struct rg__kit_mock *mock, rg_error *error)
{
	const char *bootstrap = rd_kafka_mock_cluster_bootstraps(mock->cluster);
	const char *colon = bootstrap ? strrchr(bootstrap, ':') : NULL;
	int port = colon ? atoi(colon + 1) : 0;

	if (!port || uv_ip4_addr("127.0.0.1", port, &mock->address) < 0)
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "the mock broker of librdkafka has no address: %s",
				bootstrap ? bootstrap : "none");
	return RG_OK;
}

rg_err rg__kit_mock_open(struct rg_testkit *kit, rg_error *error)
{
	struct rg__kit_mock *mock = &kit->mock;
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256] = "";

	/* The handle is there because a mock cluster needs one; it has nothing to say. */
	rd_kafka_conf_set_log_cb(conf, NULL);
	mock->handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!mock->handle) {
		rd_kafka_conf_destroy(conf);
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "librdkafka: %s", text);
	}
	mock->cluster = rd_kafka_mock_cluster_new(mock->handle, 1);
	if (!mock->cluster)
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "librdkafka made no mock cluster");
	return find_address(mock, error);
}

void rg__kit_mock_close(struct rg__kit_mock *mock)
{
	if (mock->producer)
		rd_kafka_destroy(mock->producer);
	if (mock->cluster)
		rd_kafka_mock_cluster_destroy(mock->cluster);
	if (mock->handle)
		rd_kafka_destroy(mock->handle);
}

rg_err rg__kit_mock_add_topic(struct rg_testkit *kit, const char *name, rg_error *error)
{
	rg_err err = rg__kit_mock_settle(kit, error);
	rd_kafka_resp_err_t failed;

	if (err)
		return err;
	failed = rd_kafka_mock_topic_create(kit->mock.cluster, name, kit->conf.partitions_max, 1);
	/* It may be there from a topic of that name that was removed. */
	if (failed && failed != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "topic %s: %s", name, rd_kafka_err2str(failed));
	return RG_OK;
}

struct batch {
	int64_t delivered;
	rd_kafka_resp_err_t failed;
};

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
	struct batch *batch = message->_private;

	(void)rk;
	(void)opaque;
	batch->delivered++;
	if (message->err)
		batch->failed = message->err;
}

/* Straight to the mock broker: whatever goes wrong at our fronts is for the clients under test. */
static rg_err make_producer(struct rg_testkit *kit, rg_error *error)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256] = "";

	rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(kit->mock.cluster), NULL, 0);
	rd_kafka_conf_set(conf, "linger.ms", "5", NULL, 0);
	rd_kafka_conf_set_log_cb(conf, NULL);
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	kit->mock.producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (kit->mock.producer)
		return RG_OK;
	rd_kafka_conf_destroy(conf);
	return rg__fail(error, RG_ERR_LIBRDKAFKA, "librdkafka: %s", text);
}

/* A producer that has not seen its topic yet looks again only after a second. */
static rg_err see_topic(rd_kafka_t *producer, rd_kafka_topic_t *topic, rg_error *error)
{
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t failed = rd_kafka_metadata(producer, 0, topic, &metadata, PRODUCE_TIMEOUT_MS);

	if (failed)
		return rg__fail(error, RG_ERR_LIBRDKAFKA, "topic %s: %s", rd_kafka_topic_name(topic),
				rd_kafka_err2str(failed));
	rd_kafka_metadata_destroy(metadata);
	return RG_OK;
}

struct request {
	const char *topic, *prefix;
	int32_t partition; /* -1: in turn */
	int64_t first, count;
	int32_t partition_count; /* found out on the kit's thread */
};

static rd_kafka_resp_err_t send_one(rd_kafka_topic_t *topic, int32_t partition, const struct rg__buf *value,
				    struct batch *batch)
{
	if (!rd_kafka_produce(topic, partition, RD_KAFKA_MSG_F_COPY, value->data, value->len, NULL, 0, batch))
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	return rd_kafka_last_error();
}

/* Returns how many were handed to the producer. */
static int64_t send_all(rd_kafka_t *producer, rd_kafka_topic_t *topic, const struct request *request,
			struct rg__buf *value, struct batch *batch)
{
	int64_t until_us = rg__kit_now_us() + (int64_t)PRODUCE_TIMEOUT_MS * 1000;
	int64_t sent = 0;

	while (sent < request->count && !batch->failed && rg__kit_now_us() < until_us) {
		int32_t partition = request->partition >= 0 ? request->partition : (int32_t)(sent % request->partition_count);
		rd_kafka_resp_err_t failed;

		value->len = 0;
		rg__buf_printf(value, "%s%lld", request->prefix, (long long)(request->first + sent)); /* there is room */
		failed = send_one(topic, partition, value, batch);
		sent += !failed;
		if (failed && failed != RD_KAFKA_RESP_ERR__QUEUE_FULL)
			batch->failed = failed;
		rd_kafka_poll(producer, failed ? 10 : 0);
	}
	return sent;
}

static rg_err produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, const struct request *request, rg_error *error)
{
	struct batch batch = {0};
	struct rg__buf value = {0};
	rg_err err = see_topic(producer, topic, error);
	int64_t sent;

	if (err)
		return err;
	if (!rg__buf_reserve(&value, strlen(request->prefix) + NUMBER_ROOM))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	sent = send_all(producer, topic, request, &value, &batch);
	rg__buf_free(&value);
	rd_kafka_flush(producer, PRODUCE_TIMEOUT_MS);
	if (batch.delivered == request->count && !batch.failed)
		return RG_OK;
	if (batch.failed)
		rg__fail(error, RG_ERR_LIBRDKAFKA, "topic %s: %s", request->topic, rd_kafka_err2str(batch.failed));
	else
		rg__fail(error, RG_ERR_TIMED_OUT, "topic %s: only %lld of %lld records were stored within a minute",
			 request->topic, (long long)batch.delivered, (long long)request->count);
	err = batch.failed ? RG_ERR_LIBRDKAFKA : RG_ERR_TIMED_OUT;
	/* All of them must have reported before `batch` goes. */
	if (batch.delivered < sent) {
		rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(producer, PRODUCE_TIMEOUT_MS);
	}
	return err;
}

static rg_err look_up(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct request *request = arg;
	const struct rg__kit_topic *topic = rg__kit_topic_find(&kit->cluster, rg__bytes_of(request->topic));

	if (!topic)
		return rg__fail(error, RG_ERR_STATE, "there is no topic %s", request->topic);
	if (request->partition < -1 || request->partition >= topic->partition_count)
		return rg__fail(error, RG_ERR_STATE, "topic %s has %d partitions, there is no number %d", request->topic,
				(int)topic->partition_count, (int)request->partition);
	request->partition_count = topic->partition_count;
	return RG_OK;
}

rg_err rg_testkit_produce(rg_testkit *kit, const char *topic, int32_t partition, const char *prefix, int64_t first,
			  int64_t count, rg_error *error)
{
	struct request request = {topic, prefix ? prefix : "", partition, first, count, 0};
	rd_kafka_topic_t *handle;
	rg_err err = rg__kit_call(kit, look_up, &request, error);

	if (err || count <= 0)
		return err;
	/* One at a time: the producer reports to whoever polls. */
	pthread_mutex_lock(&kit->producing);
	if (!kit->mock.producer)
		err = make_producer(kit, error);
	if (!err) {
		handle = rd_kafka_topic_new(kit->mock.producer, topic, NULL);
		err = handle ? produce(kit->mock.producer, handle, &request, error)
			     : rg__fail(error, RG_ERR_LIBRDKAFKA, "topic %s: %s", topic,
					rd_kafka_err2str(rd_kafka_last_error()));
		if (handle)
			rd_kafka_topic_destroy(handle);
	}
	pthread_mutex_unlock(&kit->producing);
	return err;
}
