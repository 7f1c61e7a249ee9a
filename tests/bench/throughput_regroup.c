/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput.h"

#include <regroup/regroup.h>

enum { CLOSE_TIMEOUT_MS = 10000 };

static rg_consumer *consumer;

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

	if (batch)
		throughput_refuse("there is no call yet that returns many records");
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
	rg_error error;
	rd_kafka_message_t *message = rg_consumer_poll(consumer, 1000, &error);

	if (error.code)
		throughput_refuse(error.text);
	if (!message)
		return 0;
	if (message->err)
		throughput_refuse(rd_kafka_message_errstr(message));
	rd_kafka_message_destroy(message);
	return 1;
}

void throughput_close(void)
{
	rg_consumer_close(consumer, RG_CLOSE_DEFAULT, CLOSE_TIMEOUT_MS, NULL);
	rg_consumer_free(consumer);
}
