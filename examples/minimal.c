/* SPDX-License-Identifier: Apache-2.0 */
#include <regroup/regroup.h>
#include <stdio.h>

static void on_assigned(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	fprintf(user, "%s: %d more partitions\n", rd_kafka_name(rg_consumer_handle(consumer)), partitions->cnt);
}

int main(void)
{
	rg_listener listener = {.size = sizeof(listener), .on_assigned = on_assigned};
	rg_conf *conf = rg_conf_new();
	rg_consumer *consumer;
	rg_error error;

	if (rg_conf_set(conf, "bootstrap.servers", "localhost:9092", &error) || rg_conf_set(conf, "group.id", "g", &error) ||
	    rg_conf_set(conf, "auto.offset.reset", "earliest", &error) || rg_consumer_new(&consumer, conf, &error) ||
	    rg_consumer_subscribe(consumer, (const char *[]){"topic"}, 1, &listener, stderr, &error))
		return fprintf(stderr, "%s\n", error.text), 1;
	while (!rg_consumer_failed(consumer)) { /* what goes wrong on the way is in the log, on stderr */
		rd_kafka_message_t *record = rg_consumer_poll(consumer, 1000, NULL);

		if (record && !record->err)
			printf("%.*s\n", (int)record->len, (const char *)record->payload);
		if (record)
			rd_kafka_message_destroy(record);
	}
	return rg_consumer_close(consumer, RG_CLOSE_LEAVE, 10000, NULL), rg_consumer_free(consumer), rg_conf_free(conf), 1;
}
