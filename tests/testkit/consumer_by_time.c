/* SPDX-License-Identifier: Apache-2.0 */
/* Starts that are looked up: auto.offset.reset latest, and by_duration (KIP-1106). The mock broker knows no times of records: what it is asked shows in where
 * it sends a client that asks for any time. */
#include "crew.h"
#include "suite.h"

#include <string.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:2", 1);
}

static void open_by_time(const char *reset)
{
	crew_open(&a, "a", crew_conf("auto.offset.reset", reset, NULL));
	crew_subscribe(&a, "t");
}

/* When it begins at the end nobody can see when that is found: one record after the other until one comes. */
static void records_come(int partition)
{
	int64_t ends = now_ms() + WITHIN_MS;
	bool come = false;

	while (!come) {
		ck_assert_int_lt(now_ms(), ends);
		produce("t", partition, 1);
		crew_poll_for(50, (struct actor *[]){&a, NULL});
		for (int i = 0; i < a.records; i++)
			come |= a.record_partitions[i] == partition;
	}
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static int64_t place_of(struct actor *actor, int partition)
{
	int64_t position;
	rg_error error = {0};

	OK(rg_consumer_position(actor->consumer, "t", partition, &position, WITHIN_MS, &error));
	return position;
}

/* Java's consumer commits where it began, too: what is written while nobody is there waits for the next one. With no
 * record that is young enough by_duration begins at the end as well. */
START_TEST(a_member_that_saw_no_record_leaves_its_place)
{
	const char *reset = _i ? "by_duration:PT1S" : "latest";
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
	rg_error error = {0};
	int64_t lag;

	produce("t", 0, 10);
	crew_open(&a, "a", crew_conf("auto.offset.reset", reset, "enable.auto.commit", "true", "auto.commit.interval.ms",
	                             "3600000", NULL));
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	ck_assert_int_eq(place_of(&a, 0), 10);
	ck_assert_int_eq(place_of(&a, 1), 0);
	OK(rg_consumer_lag(a.consumer, "t", 0, &lag, WITHIN_MS, &error));
	ck_assert_int_eq(lag, 0);
	crew_close(&a, RG_CLOSE_LEAVE);
	ck_assert_int_eq(a.records, 0);
	produce("t", 0, 5);
	produce("t", 1, 5);
	crew_open(&b, "b", crew_conf("auto.offset.reset", reset, NULL));
	crew_subscribe(&b, "t");
	crew_until(b.records == 10, &b);
	for (int i = 0; i < b.records; i++)
		ck_assert_int_ge(b.record_offsets[i], b.record_partitions[i] ? 0 : 10);
	rd_kafka_topic_partition_list_add(list, "t", 0);
	rd_kafka_topic_partition_list_add(list, "t", 1);
	OK(rg_consumer_committed(b.consumer, list, WITHIN_MS, &error));
	ck_assert_int_eq(list->elems[0].offset, 10);
	ck_assert_int_eq(list->elems[1].offset, 0);
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* No answer to where the end is: librdkafka goes on looking, and reading begins there as soon as it knows. */
START_TEST(an_end_that_nobody_tells_is_begun_at_all_the_same)
{
	rg_error error = {0};
	int64_t position;
	int hold;

	produce("t", 0, 10);
	OK(rg_testkit_hold_request(kit, 2, 1, false, &hold, &error));
	open_by_time("latest");
	crew_until(a.owned == 2, &a);
	while (rg_testkit_wait_held(kit, hold, 5, NULL))
		crew_turn((struct actor *[]){&a, NULL});
	while (rg_consumer_position(a.consumer, "t", 0, &position, 0, &error) == RG_ERR_TIMED_OUT)
		crew_turn((struct actor *[]){&a, NULL});
	ck_assert_int_eq(error.code, RG_ERR_NO_OFFSET);
	OK(rg_testkit_release(kit, hold, &error));
	records_come(0);
	records_come(1);
	for (int i = 0; i < a.records; i++)
		ck_assert_int_ge(a.record_offsets[i], a.record_partitions[i] ? 0 : 10);
	ck_assert_int_gt(place_of(&a, 0), 10);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* --- By time ------------------------------------------------------------------------------------------------------ */

/* No record is so old or so young that it matters: one answer for each partition, and reading goes on from there. */
START_TEST(it_begins_where_the_broker_says)
{
	int64_t before;

	produce("t", 0, 5);
	before = rg_testkit_request_count(kit, 2);
	open_by_time("by_duration:P1D");
	crew_until(a.owned == 2 && rg_testkit_request_count(kit, 2) > before, &a);
	records_come(0);
	records_come(1);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* A committed offset comes first. */
START_TEST(a_committed_offset_counts_more)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
	rg_error error = {0};

	produce("t", 0, 5);
	produce("t", 1, 5);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	rd_kafka_topic_partition_list_add(list, "t", 0)->offset = 2;
	rd_kafka_topic_partition_list_add(list, "t", 1)->offset = 4;
	OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
	crew_close(&a, RG_CLOSE_LEAVE);
	open_by_time("by_duration:PT1H");
	crew_until(a.records == 4, &a);
	for (int i = 0; i < a.records; i++)
		ck_assert_int_ge(a.record_offsets[i], a.record_partitions[i] ? 4 : 2);
}
END_TEST

/* Five records, and a committed offset far behind the end of the log. */
static void commit_what_does_not_exist(void)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rg_error error = {0};

	produce("t", 0, 5);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	rd_kafka_topic_partition_list_add(list, "t", 0)->offset = 1000;
	OK(rg_consumer_commit(a.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
	crew_close(&a, RG_CLOSE_LEAVE);
}

/* librdkafka tells, and time decides. Nobody else hears of it. */
START_TEST(an_offset_that_does_not_exist)
{
	commit_what_does_not_exist();
	open_by_time("by_duration:PT1H");
	records_come(0);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* So it is with the other resets: what is there is read, although it lies before the place that was committed. */
START_TEST(an_offset_that_does_not_exist_is_reset)
{
	commit_what_does_not_exist();
	open_by_time(_i ? "latest" : "earliest");
	records_come(0);
	ck_assert_int_ge(a.record_offsets[0], _i ? 5 : 0);
	ck_assert_int_lt(a.record_offsets[0], _i ? 1000 : 1);
	ck_assert_int_eq(place_of(&a, 0), a.record_offsets[a.records - 1] + 1);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

static void at_the_beginning(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	(void)actor;
	for (int i = 0; i < partitions->cnt; i++)
		partitions->elems[i].offset = RD_KAFKA_OFFSET_BEGINNING;
}

/* With none the application is told once, by the partition's name, and helps itself. */
START_TEST(an_offset_that_does_not_exist_is_not_reset)
{
	rg_error error = {0};
	int64_t position;

	produce("t", 0, 5);
	open_by_time("none");
	crew_until(!strcmp(a.errors, "NO_OFFSET; NO_OFFSET"), &a); /* neither of them has one */
	a.errors[0] = '\0';
	OK(rg_consumer_seek(a.consumer, "t", 0, 1000, &error));
	crew_until(a.errors[0], &a);
	ck_assert_int_eq(a.error.code, RG_ERR_NO_OFFSET);
	ck_assert_msg(!strncmp(a.error.text, "t [0]: ", 7) && strstr(a.error.text, "; auto.offset.reset is none"), "%s",
	              a.error.text);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &position, WITHIN_MS, &error), RG_ERR_NO_OFFSET);
	a.errors[0] = '\0';
	OK(rg_consumer_seek(a.consumer, "t", 0, 3, &error));
	crew_until(a.records == 2, &a);
	ck_assert_str_eq(a.errors, "");
}
END_TEST

/* That nobody can tell a place now is no reason to begin somewhere else, and none to ask all the time. */
START_TEST(a_place_that_is_told_late_is_the_one_asked_for)
{
	rg_error error = {0};

	produce("t", 0, 5);
	OK(rg_testkit_set_versions(kit, 2, -1, -1, &error));
	crew_open(&a, "a", crew_conf("auto.offset.reset", _i ? "none" : "latest", NULL));
	a.in_assigned = at_the_beginning;
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	crew_poll_for(1500, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(a.records, 0);
	OK(rg_testkit_set_versions(kit, 2, 0, 5, &error));
	OK(rg_testkit_stop_broker(kit, 1, &error)); /* versions are asked for when a connection is made */
	OK(rg_testkit_start_broker(kit, 1, &error));
	crew_until(a.records == 5, &a);
	ck_assert_int_eq(a.record_offsets[0], 0);
	ck_assert_msg(!strstr(a.errors, "OFFSET"), "%s", a.errors);
}
END_TEST

/* While nobody answers poll does not wait, and closing is bounded. */
START_TEST(nobody_to_ask)
{
	rg_error error = {0};
	int64_t began;
	int hold;

	OK(rg_testkit_hold_request(kit, 9, 1, true, &hold, &error));
	open_by_time("by_duration:P1D");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_release(kit, hold, &error));
	OK(rg_testkit_stop_broker(kit, 1, &error));
	for (int i = 0; i < 20; i++) {
		began = now_ms();
		rg_consumer_poll(a.consumer, 0, NULL);
		ck_assert_int_lt(now_ms() - began, BUSY_MS);
	}
	began = now_ms();
	rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 300, &error);
	ck_assert_int_lt(now_ms() - began, 300 + BUSY_MS);
	rg_consumer_free(a.consumer);
	a.consumer = NULL;
	ck_assert_int_lt(now_ms() - began, 9000);
}
END_TEST

/* A broker that has no such request: nothing is read, and somebody wants to know why. */
START_TEST(what_cannot_be_looked_up_is_told)
{
	rg_error error = {0};
	int lines;

	OK(rg_testkit_set_versions(kit, 2, -1, -1, &error));
	produce("t", 0, 1);
	open_by_time("by_duration:P1D");
	crew_until(warned(&a, "RETRY: the look-up of where partitions begin: t [0]: "), &a);
	ck_assert(warned(&a, "it is looked up again"));
	lines = atomic_load(&a.warnings);
	crew_poll_for(1000, (struct actor *[]){&a, NULL});
	ck_assert_int_eq(atomic_load(&a.warnings), lines); /* once */
	ck_assert_int_eq(a.records, 0);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_loop_test(tcase, a_member_that_saw_no_record_leaves_its_place, 0, 2);
	tcase_add_test(tcase, an_end_that_nobody_tells_is_begun_at_all_the_same);
	tcase_add_test(tcase, it_begins_where_the_broker_says);
	tcase_add_test(tcase, a_committed_offset_counts_more);
	tcase_add_test(tcase, an_offset_that_does_not_exist);
	tcase_add_loop_test(tcase, an_offset_that_does_not_exist_is_reset, 0, 2);
	tcase_add_test(tcase, an_offset_that_does_not_exist_is_not_reset);
	tcase_add_loop_test(tcase, a_place_that_is_told_late_is_the_one_asked_for, 0, 2);
	tcase_add_test(tcase, nobody_to_ask);
	tcase_add_test(tcase, what_cannot_be_looked_up_is_told);
}

int main(void)
{
	return run_suite("consumer_by_time", fill, start, crew_end);
}
