/* SPDX-License-Identifier: Apache-2.0 */
/* What a consumer can be asked: committed offsets, positions, lag, subscription. */
#include "client.h"
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "crew.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct actor a;

static void start(void)
{
	crew_cluster("t:2,u:1", 2);
}

static rd_kafka_topic_partition_list_t *one(const char *topic, int partition)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);

	rd_kafka_topic_partition_list_add(list, topic, partition);
	return list;
}

static void join(void)
{
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
}

static int64_t position(const char *topic, int partition)
{
	rg_error error = {0};
	int64_t offset = -77;

	OK(rg_consumer_position(a.consumer, topic, partition, &offset, WITHIN_MS, &error));
	return offset;
}

static int64_t lag(const char *topic, int partition)
{
	rg_error error = {0};
	int64_t lag = -77;

	OK(rg_consumer_lag(a.consumer, topic, partition, &lag, WITHIN_MS, &error));
	return lag;
}

/* --- Committed ---------------------------------------------------------------------------------------------------- */

/* bugs librdkafka 42, 44 */
START_TEST(what_was_committed_comes_back)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0), *asked = one("t", 1);
	rg_error error = {0};

	join();
	list->elems[0].offset = 3;
	list->elems[0].metadata = memcpy(malloc(4), "a\0b", 4);
	list->elems[0].metadata_size = 3;
	OK(rg_consumer_commit_async(a.consumer, list, NULL, NULL, &error)); /* copies the bytes */
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_add(asked, "t", 0)->err = RD_KAFKA_RESP_ERR__FAIL; /* of some call before */
	rd_kafka_topic_partition_list_add(asked, "u", 0)->offset = 5; /* not owned, and nothing committed */
	OK(rg_consumer_committed(a.consumer, asked, WITHIN_MS, &error));
	ck_assert_int_eq(asked->elems[0].offset, RD_KAFKA_OFFSET_INVALID);
	ck_assert_uint_eq(asked->elems[0].metadata_size, 0);
	ck_assert_int_eq(asked->elems[1].err, RD_KAFKA_RESP_ERR_NO_ERROR);
	ck_assert_int_eq(asked->elems[1].offset, 3);
	ck_assert_uint_eq(asked->elems[1].metadata_size, 3);
	ck_assert_mem_eq(asked->elems[1].metadata, "a\0b", 3);
	ck_assert_int_eq(asked->elems[2].offset, RD_KAFKA_OFFSET_INVALID);
	rd_kafka_topic_partition_list_destroy(asked);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* KAFKA-17279: errors that pass are waited for. */
START_TEST(asked_until_there_is_an_answer)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0);
	rg_error error = {0};
	int64_t began;

	join();
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	OK(rg_testkit_fail_request(kit, 9, 1, 14, &error));
	OK(rg_testkit_fail_request(kit, 9, 2, 88, &error));
	OK(rg_testkit_drop_request(kit, 9, 3, false, &error));
	OK(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error));
	OK(rg_testkit_fail_request(kit, 9, 1, 30, &error));
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error), 30);
	OK(rg_testkit_stop_broker(kit, 1, &error));
	OK(rg_testkit_stop_broker(kit, 2, &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, 150, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_lt(now_ms() - began, 3000);
	rg_consumer_wakeup(a.consumer);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, -1, &error), RG_ERR_WOKEN);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

static void commit_by_hand(int32_t leader_epoch)
{
	struct rg__offset_commit_request_topic_partition partition;
	struct rg__offset_commit_request_topic topic;
	struct rg__offset_commit_request request;
	const struct rg__offset_commit_response *answer;
	struct client client;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	rg__fields_init(&rg__offset_commit_request_topic_fields, &topic);
	rg__fields_init(&rg__offset_commit_request_topic_partition_fields, &partition);
	partition.committed_offset = 2;
	partition.committed_leader_epoch = leader_epoch;
	partition.committed_metadata = rg__bytes_of("");
	topic.name = rg__bytes_of("t");
	topic.partitions = (struct rg__array){&partition, 1};
	request.group_id = rg__bytes_of("g");
	request.generation_id_or_member_epoch = -1;
	request.member_id = rg__bytes_of("");
	request.topics = (struct rg__array){&topic, 1};
	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, "g")));
	answer = client_ask(&client, RG__API_OFFSET_COMMIT, 7, &request);
	ck_assert_int_eq(answer->topics.count, 1);
	client_close(&client);
}

static int32_t epoch_by_hand(void)
{
	int32_t zero = 0;
	struct rg__offset_fetch_request_topic topic = {.name = rg__bytes_of("t"), .partition_indexes = {&zero, 1}};
	struct rg__offset_fetch_request request;
	const struct rg__offset_fetch_response *answer;
	const struct rg__offset_fetch_response_topic *topics;
	struct client client;
	int32_t epoch;

	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.topics = (struct rg__array){&topic, 1};
	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, "g")));
	answer = client_ask(&client, RG__API_OFFSET_FETCH, 5, &request);
	topics = answer->topics.items;
	ck_assert_int_eq(answer->topics.count, 1);
	epoch = RG__ITEMS(struct rg__offset_fetch_response_topic_partition, topics[0].partitions)[0].committed_leader_epoch;
	client_close(&client);
	return epoch;
}

/* KIP-320, scenarios F.119: a position that was not moved keeps the leader epoch it was committed with. */
START_TEST(leader_epochs_are_kept)
{
	rg_error error = {0};

	commit_by_hand(7);
	ck_assert_int_eq(epoch_by_hand(), 7);
	join();
	ck_assert_int_eq(position("t", 0), 2);
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	ck_assert_int_eq(epoch_by_hand(), 7);
	OK(rg_consumer_seek(a.consumer, "t", 0, 1, &error)); /* that offset's is not known */
	OK(rg_consumer_commit_async(a.consumer, NULL, NULL, NULL, &error));
	OK(rg_consumer_commit(a.consumer, NULL, WITHIN_MS, &error));
	ck_assert_int_eq(epoch_by_hand(), -1);
}
END_TEST

/* --- Position and lag --------------------------------------------------------------------------------------------- */

START_TEST(where_it_is_and_how_far_behind)
{
	rg_error error = {0};

	join();
	ck_assert_int_eq(position("t", 0), 0); /* the beginning */
	produce("t", 0, 10);
	crew_until(a.records == 10, &a);
	ck_assert_int_eq(position("t", 0), 10);
	ck_assert_int_eq(position("t", 1), 0);
	ck_assert_int_eq(lag("t", 0), 0);
	OK(rg_consumer_seek(a.consumer, "t", 0, 4, &error));
	ck_assert_int_eq(position("t", 0), 4);
	ck_assert_int_eq(lag("t", 0), 6); /* asked: it is not fetched at the moment */
	OK(rg_consumer_pause(a.consumer, NULL, &error));
	produce("t", 0, 5);
	ck_assert_int_eq(position("t", 0), 4);
	ck_assert_int_eq(lag("t", 0), 11);
}
END_TEST

/* The committed offset is waited for, and found. */
START_TEST(the_position_before_the_first_record)
{
	rg_error error = {0};
	int64_t offset = -77, began;
	int hold;

	commit_by_hand(-1);
	OK(rg_testkit_hold_request(kit, 9, 1, true, &hold, &error));
	join();
	began = now_ms();
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, 100, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_ge(now_ms() - began, 95);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, 0, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(offset, -77); /* untouched */
	OK(rg_testkit_release(kit, hold, &error));
	ck_assert_int_eq(position("t", 0), 2);
}
END_TEST

/* Nothing is committed and nothing comes: the broker is asked once where that is, and then it is known. */
START_TEST(the_position_at_the_beginning)
{
	rg_error error = {0};
	int64_t offset = -77, behind = -77;

	join();
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error));
	ck_assert_int_eq(offset, 0);
	offset = -77;
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, 0, &error));
	ck_assert_int_eq(offset, 0);
	while (rg_consumer_lag(a.consumer, "t", 0, &behind, 0, &error)) /* until a fetch has seen the end */
		crew_turn((struct actor *[]){&a, NULL});
	ck_assert_int_eq(behind, 0);
	produce("t", 0, 3);
	crew_until(a.records == 3, &a);
	ck_assert_int_eq(position("t", 0), 3);
}
END_TEST

START_TEST(positions_that_are_not_known)
{
	rg_error error = {0};
	int64_t offset = -77;

	crew_open(&a, "a", crew_conf("auto.offset.reset", "none", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.error.code == RG_ERR_NO_OFFSET, &a);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, WITHIN_MS, &error), RG_ERR_NO_OFFSET);
	ck_assert_str_eq(error.text, "t [0]: it has no offset");
	ck_assert_int_eq(rg_consumer_lag(a.consumer, "t", 0, &offset, WITHIN_MS, &error), RG_ERR_NO_OFFSET);
	ck_assert_int_eq(offset, -77);
	produce("t", 0, 5);
	OK(rg_consumer_seek(a.consumer, "t", 0, RD_KAFKA_OFFSET_END, &error)); /* and the application helps itself */
	ck_assert_int_eq(position("t", 0), 5);
}
END_TEST

START_TEST(lag_is_bounded_with_all_brokers_gone)
{
	rg_error error = {0};
	int64_t offset = -77, began;

	join();
	OK(rg_consumer_seek(a.consumer, "t", 0, 0, &error));
	OK(rg_testkit_stop_broker(kit, 1, &error));
	OK(rg_testkit_stop_broker(kit, 2, &error));
	began = now_ms();
	ck_assert_int_eq(rg_consumer_lag(a.consumer, "t", 0, &offset, 200, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_lt(now_ms() - began, 3000);
	ck_assert_int_eq(rg_consumer_lag(a.consumer, "t", 0, &offset, 0, &error), RG_ERR_TIMED_OUT);
	ck_assert_int_eq(offset, -77);
}
END_TEST

/* --- The rest ----------------------------------------------------------------------------------------------------- */

START_TEST(what_it_subscribes_to)
{
	rd_kafka_topic_partition_list_t *list;
	rg_error error = {0};

	crew_open(&a, "a", crew_conf(NULL));
	list = rg_consumer_subscription(a.consumer);
	ck_assert_int_eq(list->cnt, 0);
	rd_kafka_topic_partition_list_destroy(list);
	crew_subscribe(&a, "u,t,u");
	list = rg_consumer_subscription(a.consumer);
	ck_assert_int_eq(list->cnt, 2);
	ck_assert_str_eq(list->elems[0].topic, "t");
	ck_assert_str_eq(list->elems[1].topic, "u");
	ck_assert_int_eq(list->elems[0].partition, RD_KAFKA_PARTITION_UA);
	rd_kafka_topic_partition_list_destroy(list);
	OK(rg_consumer_unsubscribe(a.consumer, WITHIN_MS, &error));
	list = rg_consumer_subscription(a.consumer);
	ck_assert_int_eq(list->cnt, 0);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

static int64_t asked_inside;
static rg_err inside_errs[2];

static void ask_inside(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	rd_kafka_topic_partition_list_t *list = rg_consumer_assignment(actor->consumer);

	ck_assert_int_eq(list->cnt, partitions->cnt);
	inside_errs[0] = rg_consumer_committed(actor->consumer, list, WITHIN_MS, NULL);
	asked_inside = list->elems[0].offset;
	inside_errs[1] = rg_consumer_position(actor->consumer, "t", 0, &asked_inside, WITHIN_MS, NULL);
	partitions->elems[0].offset = 1; /* still counts */
	rd_kafka_topic_partition_list_destroy(list);
}

/* bugs librdkafka 61: asking inside callbacks returns. */
START_TEST(questions_inside_a_callback)
{
	commit_by_hand(-1);
	crew_open(&a, "a", crew_conf(NULL));
	a.in_assigned = ask_inside;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(inside_errs[0], RG_OK);
	ck_assert_int_eq(asked_inside, 2);
	ck_assert_int_eq(inside_errs[1], RG_ERR_TIMED_OUT); /* at once */
	ck_assert_int_eq(position("t", 0), 1);
}
END_TEST

START_TEST(wrong_questions)
{
	rd_kafka_topic_partition_list_t *list = one("t", 0);
	rg_error error = {0};
	int64_t offset = -77;

	crew_open(&a, "a", crew_conf(NULL));
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, 0, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, 0, &error), RG_ERR_NOT_OWNED);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, NULL, 0, &error), RG_ERR_INVALID);
	rd_kafka_topic_partition_list_add(list, "t", 0);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, WITHIN_MS, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "rg_consumer_committed: t [0] is listed twice");
	ck_assert_int_eq(rg_consumer_position(a.consumer, "u", 0, &offset, 0, &error), RG_ERR_NOT_OWNED);
	ck_assert_int_eq(rg_consumer_lag(a.consumer, NULL, 0, &offset, 0, &error), RG_ERR_NOT_OWNED);
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, 0, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, 0, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(rg_consumer_lag(a.consumer, "t", 0, &offset, 0, &error), RG_ERR_CLOSED);
	ck_assert_int_eq(offset, -77);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* --- For transactions --------------------------------------------------------------------------------------------- */

/* What a producer would send of it, compared as bytes: librdkafka 2.0.2 has no way to ask for its parts. */
static void ck_metadata_is(rd_kafka_consumer_group_metadata_t *metadata, const rg_status *status, const char *instance)
{
	rd_kafka_consumer_group_metadata_t *expected =
		rd_kafka_consumer_group_metadata_new_with_genid("g", status->generation, status->member_id, instance);
	void *bytes, *expected_bytes;
	size_t len, expected_len;

	ck_assert_ptr_nonnull(metadata);
	ck_assert_ptr_null(rd_kafka_consumer_group_metadata_write(metadata, &bytes, &len));
	ck_assert_ptr_null(rd_kafka_consumer_group_metadata_write(expected, &expected_bytes, &expected_len));
	ck_assert_uint_eq(len, expected_len);
	ck_assert_mem_eq(bytes, expected_bytes, len);
	rd_kafka_mem_free(NULL, bytes);
	rd_kafka_mem_free(NULL, expected_bytes);
	rd_kafka_consumer_group_metadata_destroy(metadata);
	rd_kafka_consumer_group_metadata_destroy(expected);
}

static void ask_metadata(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	rg_status status = {.size = sizeof(status)};

	(void)partitions;
	ck_assert_int_eq(rg_consumer_status(actor->consumer, &status, NULL), RG_OK);
	ck_metadata_is(rg_consumer_group_metadata(actor->consumer), &status, "one");
}

static void ask_metadata_in_vain(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	(void)partitions;
	ck_assert_ptr_null(rg_consumer_group_metadata(actor->consumer));
}

/* KIP-447: there is one exactly while the member may commit; a new one for each generation. */
START_TEST(who_it_is_for_a_transaction)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};
	int32_t before;

	crew_open(&a, "a", crew_conf("group.instance.id", "one", NULL));
	ck_assert_ptr_null(rg_consumer_group_metadata(a.consumer));
	a.in_revoked = ask_metadata;
	a.in_lost = ask_metadata_in_vain;
	crew_subscribe(&a, "t");
	ck_assert_ptr_null(rg_consumer_group_metadata(a.consumer));
	crew_until(a.owned == 2, &a);
	OK(rg_consumer_status(a.consumer, &status, &error));
	before = status.generation;
	ck_metadata_is(rg_consumer_group_metadata(a.consumer), &status, "one");
	OK(rg_consumer_rejoin(a.consumer, NULL, &error));
	crew_until(count_of(&a, "assigned") == 2, &a);
	ck_assert(seen(&a, "revoked"));
	OK(rg_consumer_status(a.consumer, &status, &error));
	ck_assert_int_gt(status.generation, before);
	ck_metadata_is(rg_consumer_group_metadata(a.consumer), &status, "one");
	OK(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 1, 82, &error));
	crew_until(rg_consumer_failed(a.consumer) && a.owned == 0, &a);
	ck_assert(seen(&a, "lost(FENCED)"));
	ck_assert_ptr_null(rg_consumer_group_metadata(a.consumer));
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, WITHIN_MS, &error));
	ck_assert_ptr_null(rg_consumer_group_metadata(a.consumer));
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, what_was_committed_comes_back);
	tcase_add_test(tcase, asked_until_there_is_an_answer);
	tcase_add_test(tcase, leader_epochs_are_kept);
	tcase_add_test(tcase, where_it_is_and_how_far_behind);
	tcase_add_test(tcase, the_position_before_the_first_record);
	tcase_add_test(tcase, the_position_at_the_beginning);
	tcase_add_test(tcase, positions_that_are_not_known);
	tcase_add_test(tcase, lag_is_bounded_with_all_brokers_gone);
	tcase_add_test(tcase, what_it_subscribes_to);
	tcase_add_test(tcase, questions_inside_a_callback);
	tcase_add_test(tcase, wrong_questions);
	tcase_add_test(tcase, who_it_is_for_a_transaction);
}

int main(void)
{
	return run_suite("consumer_questions", fill, start, crew_end);
}
