/* SPDX-License-Identifier: Apache-2.0 */
/* A member by librdkafka's own consumer. */
#include "member.h"

#include <string.h>

static void set(void *conf, const char *key, const char *value)
{
	char text[512];

	if (rd_kafka_conf_set(conf, key, value, text, sizeof(text)) != RD_KAFKA_CONF_OK)
		bench_refuse(text);
}

/* As librdkafka's documentation has it. What is assigned or revoked is that from the moment when we are told. */
static void rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	bool cooperative = !strcmp(rd_kafka_rebalance_protocol(rk), "COOPERATIVE");
	rd_kafka_error_t *refused = NULL;

	(void)user;
	if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
		bench_partitions("assigned", partitions);
		if (cooperative)
			refused = rd_kafka_incremental_assign(rk, partitions);
		else
			rd_kafka_assign(rk, partitions);
	} else {
		bench_partitions(rd_kafka_assignment_lost(rk) ? "lost" : "revoked", partitions);
		if (cooperative)
			refused = rd_kafka_incremental_unassign(rk, partitions);
		else
			rd_kafka_assign(rk, NULL);
	}
	if (refused)
		bench_refuse(rd_kafka_error_string(refused));
}

static void commit(rd_kafka_t *rk)
{
	rd_kafka_topic_partition_list_t *owned;
	rd_kafka_resp_err_t err = rd_kafka_assignment(rk, &owned);

	if (err)
		bench_refuse(rd_kafka_err2name(err));
	for (int i = 0; i < owned->cnt; i++)
		owned->elems[i].offset = 0;
	if (owned->cnt) {
		err = rd_kafka_commit(rk, owned, 0);
		bench_committed(err ? rd_kafka_err2name(err) : NULL);
	}
	rd_kafka_topic_partition_list_destroy(owned);
}

static rd_kafka_t *join(const struct bench_member *member)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	rd_kafka_t *rk;
	char text[512];

	bench_settings(member, set, conf);
	rd_kafka_conf_set_rebalance_cb(conf, rebalance);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!rk)
		bench_refuse(text);
	rd_kafka_poll_set_consumer(rk);
	rd_kafka_topic_partition_list_add(topics, member->topic, RD_KAFKA_PARTITION_UA);
	if (rd_kafka_subscribe(rk, topics))
		bench_refuse("cannot subscribe");
	rd_kafka_topic_partition_list_destroy(topics);
	return rk;
}

int main(int argc, char **argv)
{
	struct bench_member member;
	rd_kafka_t *rk;

	bench_begin(&member, argc, argv);
	rk = join(&member);
	while (bench_goes_on()) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(rk, member.commit_ms ? member.commit_ms / 4 : 1000);

		if (message)
			rd_kafka_message_destroy(message);
		if (bench_commit_due(&member))
			commit(rk);
	}
	bench_event("closing");
	rd_kafka_consumer_close(rk);
	bench_event("closed");
	rd_kafka_destroy(rk);
	return 0;
}
