/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: refused with words that help, before anything is started; and memory that runs out anywhere. */
#include "base/alloc.h"
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct actor a;

static void start(void)
{
	crew_cluster("t:2", 1);
}

static rg_err nothing(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)group, (void)plan, (void)error, (void)user;
	return RG_OK;
}

static void refused(rg_conf *conf, const char *text)
{
	rg_consumer *consumer = NULL;
	rg_error error = {0};

	ck_assert_int_eq(rg_consumer_new(&consumer, conf, &error), RG_ERR_INVALID);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_str_eq(error.text, text);
	ck_assert_ptr_null(consumer);
	rg_conf_free(conf);
}

START_TEST(configurations_that_contradict_themselves)
{
	rg_conf *conf = rg_conf_new();
	rg_error error = {0};

	refused(conf, "bootstrap.servers: missing: host:port of at least one broker");
	conf = rg_conf_new();
	OK(rg_conf_set(conf, "bootstrap.servers", "localhost", &error));
	refused(conf, "group.id: missing: the name of the group");
	refused(crew_conf("heartbeat.interval.ms", "3000", NULL),
	        "heartbeat.interval.ms: 3000 is not accepted: less than session.timeout.ms, which is 3000");
	refused(crew_conf("reconnect.backoff.ms", "101", NULL),
	        "reconnect.backoff.ms: 101 is not accepted: at most reconnect.backoff.max.ms, which is 100");
	refused(crew_conf("partition.assignment.strategy", "range,rang", NULL),
	        "partition.assignment.strategy: \"rang\" is not accepted: the assignors are range, roundrobin, sticky, "
	        "cooperative-sticky, weighted");
	/* What librdkafka finds when it sees the whole. */
	refused(crew_conf("receive.message.max.bytes", "1512", NULL),
	        "`receive.message.max.bytes` must be >= `fetch.max.bytes` + 512");
	refused(crew_conf("partition.assignment.strategy", "range, org.apache.kafka.clients.consumer.RangeAssignor", NULL),
	        "partition.assignment.strategy: \"range\" is listed twice");
}
END_TEST

/* scenarios E.79 */
START_TEST(assignors_without_a_protocol_in_common)
{
	rg_assignor assignor = {.size = sizeof(assignor), .name = "mine", .protocols = RG_COOPERATIVE, .assign = nothing};
	rg_conf *conf = crew_conf("partition.assignment.strategy", "mine,range", NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, NULL, &error));
	refused(conf,
	        "partition.assignment.strategy: the listed assignors have no protocol in common: some can only be eager, "
	              "some only cooperative");
	conf = crew_conf("partition.assignment.strategy", "other", NULL);
	OK(rg_conf_add_assignor(conf, &assignor, NULL, &error));
	refused(conf, "partition.assignment.strategy: \"other\" is not accepted: the assignors are range, roundrobin, sticky, "
	              "cooperative-sticky, weighted, mine");
}
END_TEST

static void bad_topics(const char *const *names, size_t count, const char *text)
{
	rg_error error = {0};

	ck_assert_int_eq(rg_consumer_subscribe(a.consumer, names, count, NULL, NULL, &error), RG_ERR_INVALID);
	ck_assert_msg(!strncmp(error.text, text, strlen(text)), "%s", error.text);
}

START_TEST(subscriptions_that_cannot_be)
{
	rg_listener too_old = {.size = 1};
	rg_error error = {0};

	crew_open(&a, "a", crew_conf(NULL));
	bad_topics(NULL, 0, "a subscription needs at least one topic");
	bad_topics((const char *[]){"t", NULL}, 2, "topic 1 of the subscription is NULL");
	bad_topics((const char *[]){"t", ""}, 2, "\"\" is no topic's name: 1 to 249 letters, digits, '.', '_' and '-'");
	bad_topics((const char *[]){"t", "^t("}, 2, "\"^t(\" is no regular expression: "); /* then the C library's words */
	bad_topics((const char *[]){".."}, 1, "\"..\" is no topic's name: 1 to 249 letters, digits, '.', '_' and '-'");
	ck_assert_int_eq(rg_consumer_subscribe(a.consumer, (const char *[]){"t"}, 1, &too_old, NULL, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), 0);
}
END_TEST

/* -1 waits without end; less is no time, and more likely a subtraction that went wrong. */
START_TEST(times_that_are_none)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_message_t *messages[1];
	rg_error error = {0};
	int64_t offset = 17;

	rd_kafka_topic_partition_list_add(list, "t", 0);
	crew_join(&a, "a", "t");
	crew_until(a.owned == 2, &a);
	ck_assert_ptr_null(rg_consumer_poll(a.consumer, -2, &error));
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "rg_consumer_poll: a timeout of -2 ms; it is 0 or more, or -1 to wait without end");
	ck_assert_uint_eq(rg_consumer_poll_batch(a.consumer, messages, 1, -2, &error), 0);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_commit(a.consumer, NULL, -1000, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_committed(a.consumer, list, -2, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_position(a.consumer, "t", 0, &offset, -2, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_lag(a.consumer, "t", 0, &offset, INT32_MIN, &error), RG_ERR_INVALID);
	ck_assert_int_eq(offset, 17);
	ck_assert_int_eq(rg_consumer_unsubscribe(a.consumer, -2, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, -2, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "rg_consumer_close: a timeout of -2 ms; it is 0 or more, or -1 to wait without end");
	ck_assert_int_eq(a.owned, 2); /* nothing of it has happened */
	/* Without end, and yet over. */
	OK(rg_consumer_commit(a.consumer, NULL, -1, &error));
	OK(rg_consumer_committed(a.consumer, list, -1, &error));
	OK(rg_consumer_position(a.consumer, "t", 0, &offset, -1, &error));
	OK(rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, -1, &error));
	rd_kafka_topic_partition_list_destroy(list);
}
END_TEST

/* Nobody listening; a name that does not resolve; a broker too old. Told by the log and the events, with backoff, and no error to the
 * application: it may get better. */
static void hopeless(const char *bootstrap, const char *address, const char *cause)
{
	struct actor *actors[] = {&a, NULL};
	rg_error error = {0};
	int64_t began;

	crew_open(&a, "a", crew_conf("bootstrap.servers", bootstrap, NULL));
	crew_subscribe(&a, "t");
	crew_until(warned(&a, cause), &a);
	ck_assert(warned(&a, address));
	crew_poll_for(200, actors);
	/* How often librdkafka warns is not ours to say. */
	ck_assert_msg(atomic_load(&a.own_warnings) <= 1, "%s", a.warned);
	ck_assert_str_eq(a.errors, "");
	began = now_ms();
	rg_consumer_close(a.consumer, RG_CLOSE_LEAVE, 300, &error);
	ck_assert_int_le(now_ms() - began, 300 + BUSY_MS);
	rg_consumer_free(a.consumer);
	a.consumer = NULL;
}

START_TEST(nobody_is_listening)
{
	char address[64];
	rg_error error = {0};

	snprintf(address, sizeof(address), "127.0.0.1:%d", rg_testkit_port(kit, 1));
	OK(rg_testkit_stop_broker(kit, 1, &error));
	hopeless(address, address, "refused");
}
END_TEST

START_TEST(a_name_that_does_not_resolve)
{
	hopeless("no-such-host.invalid:9092", "no-such-host.invalid", "resolve");
}
END_TEST

/* It is told as what it is, not as one that hangs up; the group is not joined through it. */
START_TEST(a_broker_that_is_too_old)
{
	char address[64];
	rg_error error = {0};

	snprintf(address, sizeof(address), "127.0.0.1:%d", rg_testkit_port(kit, 1));
	OK(rg_testkit_set_versions(kit, 8, -1, -1, &error));
	hopeless(address, address, "broker too old: it does not know OffsetCommit");
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), 0);
}
END_TEST

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* A whole life in which the n-th allocation fails; whatever fails, fails with a word about it. */
static void one_life(long n)
{
	rg_conf *conf;
	int64_t ends = now_ms() + 150;
	char group[32];
	rg_consumer *consumer;
	rg_error error = {0};
	int records = 0;

	snprintf(group, sizeof(group), "g%ld", n);
	conf = crew_conf("enable.auto.commit", "true", "auto.commit.interval.ms", "5", "group.id", group, NULL);
	rg_conf_set_log(conf, NULL, NULL);
	rg__alloc_fail_after(n);
	if (rg_consumer_new(&consumer, conf, &error)) {
		/* libuv cannot say which of the two it lacked. */
		ck_assert(error.code == RG_ERR_MEMORY || (error.code == RG_ERR_SYSTEM && strstr(error.text, "memory")));
		rg_conf_free(conf);
		return;
	}
	rg_conf_free(conf);
	if (rg_consumer_subscribe(consumer, (const char *[]){"t"}, 1, &crew_listener, &a, &error) == RG_OK)
		while (records < 4 && now_ms() < ends) {
			rd_kafka_message_t *message = rg_consumer_poll(consumer, 2, NULL);

			records += message && !message->err;
			if (message)
				rd_kafka_message_destroy(message);
		}
	else
		ck_assert_int_eq(error.code, RG_ERR_MEMORY);
	rg_consumer_close(consumer, RG_CLOSE_LEAVE, 200, NULL);
	rg_consumer_free(consumer);
}

/* The n-th allocation fails, for every n of a life: no crash, no leak, no partition that is forgotten. */
START_TEST(memory_may_run_out_anywhere)
{
	long tried = 0;

	memset(&a, 0, sizeof(a));
	a.name = "a";
	produce("t", -1, 4);
	for (long n = 1; n < 4000; n++) {
		bool fell;

		a.seen[0] = '\0';
		one_life(n);
		fell = rg__alloc_fail_after(0) <= 0;
		ck_assert_msg(!a.owned && !a.violations, "%ld: %s", n, a.seen);
		tried = n;
		if (!fell)
			break;
		if (n > 150)
			n += n / 20; /* later ones are much alike */
	}
	ck_assert_int_gt(tried, 60); /* making a consumer takes that many; how long one lives is up to the machine */
	ck_assert_int_lt(tried, 4000);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_set_timeout(tcase, 150);
	tcase_add_test(tcase, configurations_that_contradict_themselves);
	tcase_add_test(tcase, assignors_without_a_protocol_in_common);
	tcase_add_test(tcase, subscriptions_that_cannot_be);
	tcase_add_test(tcase, times_that_are_none);
	tcase_add_test(tcase, nobody_is_listening);
	tcase_add_test(tcase, a_name_that_does_not_resolve);
	tcase_add_test(tcase, a_broker_that_is_too_old);
	tcase_add_test(tcase, memory_may_run_out_anywhere);
}

int main(void)
{
	return run_suite("consumer_input", fill, start, crew_end);
}
