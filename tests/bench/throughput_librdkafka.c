/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput.h"

#include <librdkafka/rdkafka.h>

static rd_kafka_t *rk;
static rd_kafka_queue_t *queue; /* NULL: one record a call */

static void set(rd_kafka_conf_t *conf, const char *key, const char *value)
{
	char text[512];

	if (rd_kafka_conf_set(conf, key, value, text, sizeof(text)) != RD_KAFKA_CONF_OK)
		throughput_refuse(text);
}

void throughput_open(const char *bootstrap, const char *group, const char *topic, bool batch)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	char text[512];

	set(conf, "bootstrap.servers", bootstrap);
	set(conf, "group.id", group);
	set(conf, "auto.offset.reset", "earliest");
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!rk)
		throughput_refuse(text);
	rd_kafka_poll_set_consumer(rk);
	if (batch)
		queue = rd_kafka_queue_get_consumer(rk);
	rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
	if (rd_kafka_subscribe(rk, topics))
		throughput_refuse("cannot subscribe");
	rd_kafka_topic_partition_list_destroy(topics);
}

static void finish(rd_kafka_message_t *message)
{
	if (message->err)
		throughput_refuse(rd_kafka_message_errstr(message));
	rd_kafka_message_destroy(message);
}

long throughput_take(void)
{
	rd_kafka_message_t *messages[BATCH_MAX];
	ssize_t count;

	if (!queue) {
		if (!(messages[0] = rd_kafka_consumer_poll(rk, 1000)))
			return 0;
		finish(messages[0]);
		return 1;
	}
	count = rd_kafka_consume_batch_queue(queue, 1000, messages, BATCH_MAX);
	if (count < 0)
		throughput_refuse(rd_kafka_err2name(rd_kafka_last_error()));
	for (ssize_t i = 0; i < count; i++)
		finish(messages[i]);
	return (long)count;
}

void throughput_close(void)
{
	if (queue)
		rd_kafka_queue_destroy(queue);
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
}
