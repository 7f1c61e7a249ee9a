/* SPDX-License-Identifier: Apache-2.0 */
/* BOOTSTRAP TOPIC PARTITIONS COUNT SIZE: writes COUNT records of SIZE bytes, evenly over the partitions. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

static long refused;

static _Noreturn void refuse(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *user)
{
	(void)rk;
	(void)user;
	refused += message->err != 0;
}

static rd_kafka_t *producer(const char *bootstrap)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[512];
	rd_kafka_t *rk;

	if (rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof(text)) != RD_KAFKA_CONF_OK)
		refuse(text);
	rd_kafka_conf_set_dr_msg_cb(conf, delivered);
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!rk)
		refuse(text);
	return rk;
}

int main(int argc, char **argv)
{
	rd_kafka_topic_t *topic;
	rd_kafka_t *rk;
	char *payload;
	size_t size;

	if (argc != 6)
		refuse("Usage: BOOTSTRAP TOPIC PARTITIONS COUNT SIZE");
	rk = producer(argv[1]);
	topic = rd_kafka_topic_new(rk, argv[2], NULL);
	size = (size_t)atol(argv[5]);
	payload = malloc(size);
	if (!topic || !payload)
		refuse("no topic, or no memory");
	for (size_t i = 0; i < size; i++)
		payload[i] = (char)('a' + i % 26);
	for (long i = 0; i < atol(argv[4]); i++) {
		while (rd_kafka_produce(topic, (int32_t)(i % atol(argv[3])), RD_KAFKA_MSG_F_COPY, payload, size, NULL, 0, NULL)) {
			if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
				refuse(rd_kafka_err2name(rd_kafka_last_error()));
			rd_kafka_poll(rk, 100);
		}
	}
	if (rd_kafka_flush(rk, 60000) || refused)
		refuse("not all records were written");
	free(payload);
	rd_kafka_topic_destroy(topic);
	rd_kafka_destroy(rk);
	return 0;
}
