/* SPDX-License-Identifier: Apache-2.0 */
/* Members whose time is over and who do not know it yet: nothing they send counts any more, by heartbeat, by commit or
 * in a transaction; and what a transaction of a living one sends counts when it is committed. */
#include "client.h"
#include "codec/heartbeat.h"
#include "codec/offset_commit.h"
#include "codec/txn_offset_commit.h"
#include "crew.h"
#include "suite.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

static struct actor a, b;
static rd_kafka_t *producer;

static void start(void)
{
	crew_cluster("t:2,out:1", 2);
}

static void end(void)
{
	if (producer)
		rd_kafka_destroy(producer);
	producer = NULL;
	crew_end();
}

/* The one of the two that does not coordinate the group. */
static int32_t other_broker(void)
{
	return rg_testkit_coordinator(kit, "g") == 1 ? 2 : 1;
}

/* --- Transactions ------------------------------------------------------------------------------------------------- */

/* NULL: it went well. */
#define NO_ERROR(call) \
	do { \
		rd_kafka_error_t *error_ = (call); \
		ck_assert_msg(!error_, #call ": %s", rd_kafka_error_string(error_)); \
	} while (0)

static void open_producer(void)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];

	ck_assert_int_eq(rd_kafka_conf_set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit), text, sizeof(text)), 0);
	ck_assert_int_eq(rd_kafka_conf_set(conf, "transactional.id", "producer-1", text, sizeof(text)), 0);
	producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	ck_assert_msg(producer != NULL, "%s", text);
	NO_ERROR(rd_kafka_init_transactions(producer, WITHIN_MS));
}

static void begin(void)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, "out", NULL);

	ck_assert_ptr_nonnull(topic);
	NO_ERROR(rd_kafka_begin_transaction(producer));
	ck_assert_int_eq(rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, (void *)(uintptr_t)"x", 1, NULL, 0, NULL), 0);
	rd_kafka_topic_destroy(topic);
}

/* Sends the position of t [0]; returns Kafka's number. */
static rd_kafka_resp_err_t send_offset(rd_kafka_consumer_group_metadata_t *who, int64_t offset)
{
	rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
	rd_kafka_resp_err_t code;
	rd_kafka_error_t *error;

	rd_kafka_topic_partition_list_add(offsets, "t", 0)->offset = offset;
	error = rd_kafka_send_offsets_to_transaction(producer, offsets, who, WITHIN_MS);
	code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
	if (error)
		ck_assert_msg(rd_kafka_error_txn_requires_abort(error), "%s", rd_kafka_error_string(error));
	if (error)
		rd_kafka_error_destroy(error);
	rd_kafka_topic_partition_list_destroy(offsets);
	return code;
}

/* What the group has for t [0]; -1: nothing; -2: it is not settled, and was not for `timeout_ms`. */
static int64_t committed(int timeout_ms)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};
	rg_err err;
	int64_t offset;

	rd_kafka_topic_partition_list_add(list, "t", 0);
	err = rg_consumer_committed(a.consumer, list, timeout_ms, &error);
	offset = list->elems[0].offset >= 0 ? list->elems[0].offset : -1;
	ck_assert_msg(err == RG_OK || err == RG_ERR_TIMED_OUT, "%s", error.text);
	rd_kafka_topic_partition_list_destroy(list);
	return err ? -2 : offset;
}

static rd_kafka_consumer_group_metadata_t *metadata_of(const struct actor *actor)
{
	rd_kafka_consumer_group_metadata_t *metadata = rg_consumer_group_metadata(actor->consumer);

	ck_assert_ptr_nonnull(metadata);
	return metadata;
}

/* KIP-447, bugs 60: offsets of a transaction are not the group's before it is committed, nobody begins at what it may
 * replace meanwhile, and what is aborted was never there. */
START_TEST(offsets_of_a_transaction_count_when_it_is_committed)
{
	rd_kafka_consumer_group_metadata_t *metadata;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	metadata = metadata_of(&a);
	open_producer();
	begin();
	ck_assert_int_eq(send_offset(metadata, 5), 0);
	ck_assert_int_eq(committed(200), -2);
	NO_ERROR(rd_kafka_commit_transaction(producer, WITHIN_MS));
	ck_assert_int_eq(committed(WITHIN_MS), 5);
	begin();
	ck_assert_int_eq(send_offset(metadata, 9), 0);
	/* The coordinator moves in the middle, and it is all the same. */
	OK(rg_testkit_move_coordinator(kit, "g", other_broker(), true, 0, &error));
	ck_assert_int_eq(committed(500), -2);
	NO_ERROR(rd_kafka_abort_transaction(producer, WITHIN_MS));
	ck_assert_int_eq(committed(WITHIN_MS), 5);
	rd_kafka_consumer_group_metadata_destroy(metadata);
}
END_TEST

/* The same producer comes back: what it left open is aborted. */
START_TEST(a_producer_that_comes_back_aborts_what_it_left)
{
	rd_kafka_consumer_group_metadata_t *metadata;

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	metadata = metadata_of(&a);
	open_producer();
	begin();
	ck_assert_int_eq(send_offset(metadata, 5), 0);
	ck_assert_int_eq(committed(200), -2);
	rd_kafka_destroy(producer);
	open_producer();
	ck_assert_int_eq(committed(WITHIN_MS), -1);
	rd_kafka_consumer_group_metadata_destroy(metadata);
}
END_TEST

/* --- Their time is over ------------------------------------------------------------------------------------------- */

/* The group went on: its generation is another. */
START_TEST(a_transaction_of_an_old_generation)
{
	rd_kafka_consumer_group_metadata_t *old, *metadata;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	old = metadata_of(&a);
	open_producer();
	begin();
	OK(rg_consumer_rejoin(a.consumer, "a test", &error));
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert_int_eq(send_offset(old, 5), RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
	NO_ERROR(rd_kafka_abort_transaction(producer, WITHIN_MS));
	ck_assert_int_eq(committed(WITHIN_MS), -1);
	metadata = metadata_of(&a);
	begin();
	ck_assert_int_eq(send_offset(metadata, 6), 0);
	NO_ERROR(rd_kafka_commit_transaction(producer, WITHIN_MS));
	ck_assert_int_eq(committed(WITHIN_MS), 6);
	rd_kafka_consumer_group_metadata_destroy(old);
	rd_kafka_consumer_group_metadata_destroy(metadata);
}
END_TEST

/* Its session is over, since its heartbeats are rare. */
START_TEST(a_transaction_of_a_member_that_is_out)
{
	rd_kafka_consumer_group_metadata_t *old;
	rg_error error = {0};

	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	old = metadata_of(&a);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	crew_join(&b, "b", "t");
	crew_until(b.owned == 2, &b);
	open_producer();
	begin();
	ck_assert_int_eq(send_offset(old, 5), RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	NO_ERROR(rd_kafka_abort_transaction(producer, WITHIN_MS));
	rd_kafka_consumer_group_metadata_destroy(old);
}
END_TEST

/* KIP-345: another process has taken over its group.instance.id; it hears so from the first thing it does: here that is
 * a commit, since its heartbeats are rare, and it is over at once. Nothing of it is stored. */
START_TEST(a_static_member_that_was_replaced_commits)
{
	rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
	rd_kafka_consumer_group_metadata_t *old;
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("group.instance.id", "one", "heartbeat.interval.ms", "20000", "session.timeout.ms",
	                             "30000", "group.heartbeat.budget", "0", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	old = metadata_of(&a);
	crew_open(&b, "b", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&b, "t");
	crew_until(b.owned == 2, &b);
	ck_assert(!rg_consumer_failed(a.consumer)); /* it has not heard of it */
	open_producer();
	begin();
	ck_assert_int_eq(send_offset(old, 5), RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
	NO_ERROR(rd_kafka_abort_transaction(producer, WITHIN_MS));
	rd_kafka_topic_partition_list_add(offsets, "t", 0)->offset = 7;
	ck_assert_int_eq(rg_consumer_commit(a.consumer, offsets, WITHIN_MS, &error), RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
	crew_until(rg_consumer_failed(a.consumer) && a.owned == 0, &a);
	ck_assert(seen(&a, "lost(FENCED) t:0,1"));
	ck_assert_ptr_null(rg_consumer_group_metadata(a.consumer));
	OK(rg_consumer_committed(b.consumer, offsets, WITHIN_MS, &error));
	ck_assert_int_eq(offsets->elems[0].offset, RD_KAFKA_OFFSET_INVALID);
	ck_assert_int_eq(b.owned, 2);
	ck_assert_str_eq(b.errors, "");
	rd_kafka_topic_partition_list_destroy(offsets);
	rd_kafka_consumer_group_metadata_destroy(old);
}
END_TEST

/* --- By hand: each way of speaking, and each thing that is wrong with who speaks ---------------------------------- */

struct who {
	const char *member, *instance;
	int32_t generation;
	int heartbeat, commit, transaction; /* what each hears */
};

static int heartbeat_as(struct client *client, const struct who *who)
{
	struct rg__heartbeat_request request;

	rg__fields_init(&rg__heartbeat_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id = who->generation;
	request.member_id = rg__bytes_of(who->member);
	request.group_instance_id = rg__bytes_of(who->instance);
	return ((const struct rg__heartbeat_response *)client_ask(client, RG__API_HEARTBEAT, 4, &request))->error_code;
}

static int commit_as(struct client *client, const struct who *who)
{
	struct rg__offset_commit_request_topic_partition partition = {.committed_offset = 3, .committed_leader_epoch = -1};
	struct rg__offset_commit_request_topic topic = {rg__bytes_of("t"), {&partition, 1}};
	struct rg__offset_commit_request request;
	const struct rg__offset_commit_response *answer;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id_or_member_epoch = who->generation;
	request.member_id = rg__bytes_of(who->member);
	request.group_instance_id = rg__bytes_of(who->instance);
	request.topics = (struct rg__array){&topic, 1};
	answer = client_ask(client, RG__API_OFFSET_COMMIT, 8, &request);
	return RG__ITEMS(struct rg__offset_commit_response_topic_partition,
	                 RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)->partitions)->error_code;
}

static int transaction_as(struct client *client, int version, const struct who *who)
{
	struct rg__txn_offset_commit_request_topic_partition partition = {.committed_offset = 3,
	                                                                  .committed_leader_epoch = -1};
	struct rg__txn_offset_commit_request_topic topic = {rg__bytes_of("t"), {&partition, 1}};
	struct rg__txn_offset_commit_request request;
	const struct rg__txn_offset_commit_response *answer;

	rg__fields_init(&rg__txn_offset_commit_request_fields, &request);
	request.transactional_id = rg__bytes_of("by-hand");
	request.group_id = rg__bytes_of("g");
	if (version >= 3) {
		request.generation_id = who->generation;
		request.member_id = rg__bytes_of(who->member);
		request.group_instance_id = rg__bytes_of(who->instance);
	}
	request.topics = (struct rg__array){&topic, 1};
	answer = client_ask(client, RG__API_TXN_OFFSET_COMMIT, version, &request);
	return RG__ITEMS(struct rg__txn_offset_commit_response_topic_partition,
	                 RG__ITEMS(struct rg__txn_offset_commit_response_topic, answer->topics)->partitions)->error_code;
}

START_TEST(who_is_told_what)
{
	rg_status status = {.size = sizeof(status)};
	struct client client;
	rg_error error = {0};

	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_status(a.consumer, &status, &error));

	const struct who people[] = {
		{status.member_id, "one", status.generation, 0, 0, 0},
		{status.member_id, "one", status.generation - 1, 22, 22, 22}, /* of a generation that is over */
		{status.member_id, "one", status.generation + 1, 22, 22, 22}, /* of one that is none yet */
		{"one-0123", "one", status.generation, 82, 82, 82},           /* replaced: the name is another's */
		{"m1-4567", NULL, status.generation, 25, 25, 25},             /* thrown out */
		{status.member_id, "two", status.generation, 25, 25, 25},     /* under a name that nobody has */
	};

	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, "g")));
	for (size_t i = 0; i < sizeof(people) / sizeof(people[0]); i++) {
		ck_assert_msg(heartbeat_as(&client, &people[i]) == people[i].heartbeat, "heartbeat of %zu", i);
		ck_assert_msg(commit_as(&client, &people[i]) == people[i].commit, "commit of %zu", i);
		ck_assert_msg(transaction_as(&client, 3, &people[i]) == people[i].transaction, "transaction of %zu", i);
	}
	/* Older clients do not say who they are, and are believed. */
	for (int version = 0; version <= 2; version++)
		ck_assert_int_eq(transaction_as(&client, version, &people[0]), 0);
	OK(rg_testkit_fail_request(kit, RG__API_TXN_OFFSET_COMMIT, 1, 29, &error));
	ck_assert_int_eq(transaction_as(&client, 3, &people[0]), 29);
	client_close(&client);
	client_open(&client, rg_testkit_port(kit, other_broker()));
	ck_assert_int_eq(transaction_as(&client, 3, &people[0]), 16);
	client_close(&client);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, offsets_of_a_transaction_count_when_it_is_committed);
	tcase_add_test(tcase, a_producer_that_comes_back_aborts_what_it_left);
	tcase_add_test(tcase, a_transaction_of_an_old_generation);
	tcase_add_test(tcase, a_transaction_of_a_member_that_is_out);
	tcase_add_test(tcase, a_static_member_that_was_replaced_commits);
	tcase_add_test(tcase, who_is_told_what);
}

int main(void)
{
	return run_suite("consumer_zombies", fill, start, end);
}
