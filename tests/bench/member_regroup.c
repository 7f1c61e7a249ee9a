/* SPDX-License-Identifier: Apache-2.0 */
/* A member by regroup. */
#include "member.h"

#include <regroup/regroup.h>
#include <stdio.h>

enum { COMMIT_TIMEOUT_MS = 60000, CLOSE_TIMEOUT_MS = 10000 };

static void set(void *conf, const char *key, const char *value)
{
	rg_error error;

	if (rg_conf_set(conf, key, value, &error))
		bench_refuse(error.text);
}

static void on_assigned(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	(void)consumer;
	(void)user;
	bench_partitions("assigned", partitions);
}

static void on_revoked(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user)
{
	(void)consumer;
	(void)user;
	bench_partitions("revoked", partitions);
}

static void on_lost(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause,
                    void *user)
{
	(void)consumer;
	(void)cause;
	(void)user;
	bench_partitions("lost", partitions);
}

static rg_consumer *join(const struct bench_member *member)
{
	static const rg_listener listener = {
		.size = sizeof(listener),
		.on_assigned = on_assigned,
		.on_revoked = on_revoked,
		.on_lost = on_lost,
	};
	rg_conf *conf = rg_conf_new();
	rg_consumer *consumer;
	rg_error error;

	if (!conf)
		bench_refuse("out of memory");
	bench_settings(member, set, conf);
	if (rg_consumer_new(&consumer, conf, &error) ||
	    rg_consumer_subscribe(consumer, &member->topic, 1, &listener, NULL, &error))
		bench_refuse(error.text);
	rg_conf_free(conf);
	return consumer;
}

static void commit(rg_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *owned = rg_consumer_assignment(consumer);
	rg_err err;

	if (!owned)
		bench_refuse("out of memory");
	for (int i = 0; i < owned->cnt; i++)
		owned->elems[i].offset = 0;
	if (owned->cnt) {
		err = rg_consumer_commit(consumer, owned, COMMIT_TIMEOUT_MS, NULL);
		bench_committed(err ? rg_err_name(err) : NULL);
	}
	rd_kafka_topic_partition_list_destroy(owned);
}

int main(int argc, char **argv)
{
	struct bench_member member;
	rg_consumer *consumer;

	bench_begin(&member, argc, argv);
	consumer = join(&member);
	while (bench_goes_on()) {
		rg_error error;
		rd_kafka_message_t *message =
			rg_consumer_poll(consumer, member.commit_ms ? member.commit_ms / 4 : 1000, &error);

		if (error.code) {
			fprintf(stderr, "%s\n", error.text);
			if (rg_consumer_failed(consumer))
				bench_refuse("failed for good");
		}
		if (message)
			rd_kafka_message_destroy(message);
		if (bench_commit_due(&member))
			commit(consumer);
	}
	bench_event("closing");
	rg_consumer_close(consumer, RG_CLOSE_DEFAULT, CLOSE_TIMEOUT_MS, NULL);
	bench_event("closed");
	rg_consumer_free(consumer);
	return 0;
}
