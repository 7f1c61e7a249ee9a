/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput.h"

#include <regroup/regroup.h>

enum { CLOSE_TIMEOUT_MS = 10000 };

static rg_consumer *consumer;
static bool many;

static void set(rg_conf *conf, const char *key, const char *value)
{
	rg_error error;

	if (rg_conf_set(conf, key, value, &error))
		throughput_refuse(error.text);
}

void throughput_open(const char *bootstrap, const char *group, const char *topic, bool batch)
{
	rg_conf *conf = rg_conf_new();
	rg_error error;

	many = batch;
	if (!conf)
		throughput_refuse("out of memory");
	set(conf, "bootstrap.servers", bootstrap);
	set(conf, "group.id", group);
	set(conf, "auto.offset.reset", "earliest");
	if (rg_consumer_new(&consumer, conf, &error) || rg_consumer_subscribe(consumer, &topic, 1, NULL, NULL, &error))
		throughput_refuse(error.text);
	rg_conf_free(conf);
}

long throughput_take(void)
{
	rd_kafka_message_t *messages[BATCH_MAX];
	rg_error error;
	size_t count;

	if (many)
		count = rg_consumer_poll_batch(consumer, messages, BATCH_MAX, 1000, &error);
	else
		count = (messages[0] = rg_consumer_poll(consumer, 1000, &error)) ? 1 : 0;
	if (error.code)
		throughput_refuse(error.text);
	for (size_t i = 0; i < count; i++) {
		if (messages[i]->err)
			throughput_refuse(rd_kafka_message_errstr(messages[i]));
		rd_kafka_message_destroy(messages[i]);
	}
	return (long)count;
}

void throughput_close(void)
{
	rg_consumer_close(consumer, RG_CLOSE_DEFAULT, CLOSE_TIMEOUT_MS, NULL);
	rg_consumer_free(consumer);
}
