/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of regroup/consumer.h in every place where it may not belong: inside callbacks and assignors, before there
 * is a subscription, with nobody to talk to, after it is all over. Each says what the table says, in a sentence of its
 * own, changes nothing that it refuses to do, and returns in time. */
#include "codec/api.h"
#include "crew.h"
#include "header_calls.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum place {
	IN_LISTENER,    /* on_assigned; t:0 and t:1 are owned */
	IN_REVOKED,     /* on_revoked of both */
	IN_LOST,        /* on_lost of both */
	IN_ASSIGNOR,    /* assign(), of an eager member: nothing is owned */
	IN_COMMIT_DONE, /* the callback of a commit that does not wait */
	UNSUBSCRIBED,   /* as it was made */
	UNREACHED,      /* subscribed, but no broker was ever there */
	STRANDED,       /* both owned, and then all brokers went away */
	FENCED,         /* a fatal error; poll has told it */
	CLOSED,
	PLACES
};

static const char *const place_names[] = {
	"in on_assigned", "in on_revoked",         "in on_lost",        "in an assignor", "in a commit's callback",
	"unsubscribed",   "no broker ever was there", "all brokers gone", "fenced",         "closed",
};

enum {
	WAIT_MS = 100,    /* of calls that take a time */
	SLACK_MS = 2500,  /* machines are busy */
	NOTHING = -9999,  /* it returned NULL */
	REFUSED = -9998,  /* it says that the consumer has failed */
	EITHER = -9997,   /* RG_OK or RG_ERR_TIMED_OUT: it depends on what was heard before */
	LATER = -9996     /* it ends the place */
};

static struct actor a;
static int wait_ms; /* of calls that ask somebody */
static enum place now_in;

/* --- The calls ---------------------------------------------------------------------------------------------------- */

static rd_kafka_topic_partition_list_t *first_partition(void)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, "t", 0)->offset = 1;
	return list;
}

static void commit_done(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                        void *user)
{
	(void)consumer, (void)error, (void)offsets, (void)user;
}

static void metric(const char *name, double value, void *user)
{
	(void)name, (void)value, (void)user;
}

static rg_err found(void *pointer)
{
	return pointer ? RG_OK : NOTHING;
}

static rg_err call_subscribe(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_subscribe(consumer, (const char *[]){"u"}, 1, NULL, NULL, error);
}

static rg_err call_unsubscribe(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_unsubscribe(consumer, WAIT_MS, error);
}

static rg_err call_poll(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_message_t *message = rg_consumer_poll(consumer, WAIT_MS, error);

	if (message)
		rd_kafka_message_destroy(message);
	return error->code;
}

static rg_err call_poll_batch(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_message_t *message;

	if (rg_consumer_poll_batch(consumer, &message, 1, WAIT_MS, error))
		rd_kafka_message_destroy(message);
	return error->code;
}

static rg_err call_wakeup(rg_consumer *consumer, rg_error *error)
{
	rg_error woken;
	rd_kafka_message_t *message;

	(void)error;
	rg_consumer_wakeup(consumer);
	message = rg_consumer_poll(consumer, 0, &woken); /* which it ends, where one can be */
	if (message)
		rd_kafka_message_destroy(message);
	return RG_OK;
}

static rg_err call_failed(rg_consumer *consumer, rg_error *error)
{
	(void)error;
	return rg_consumer_failed(consumer) ? REFUSED : RG_OK;
}

static rg_err call_commit(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = first_partition();
	rg_err err = rg_consumer_commit(consumer, list, wait_ms, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_commit_all(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_commit(consumer, NULL, wait_ms, error);
}

static rg_err call_commit_async(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = first_partition();
	rg_err err = rg_consumer_commit_async(consumer, list, commit_done, NULL, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_seek(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_seek(consumer, "t", 0, 1, error);
}

static rg_err call_pause(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = first_partition();
	rg_err err = rg_consumer_pause(consumer, list, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_resume(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = first_partition();
	rg_err err = rg_consumer_resume(consumer, list, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_rejoin(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_rejoin(consumer, "a test", error);
}

static rg_err call_rebalance_pending(rg_consumer *consumer, rg_error *error)
{
	(void)error;
	rg_consumer_rebalance_pending(consumer);
	return RG_OK;
}

static rg_err call_assignment(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = rg_consumer_assignment(consumer);
	rg_err err = found(list);

	(void)error;
	if (list)
		rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_subscription(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = rg_consumer_subscription(consumer);
	rg_err err = found(list);

	(void)error;
	if (list)
		rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_committed(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_topic_partition_list_t *list = first_partition();
	rg_err err = rg_consumer_committed(consumer, list, wait_ms, error);

	rd_kafka_topic_partition_list_destroy(list);
	return err;
}

static rg_err call_position(rg_consumer *consumer, rg_error *error)
{
	int64_t offset = -77;
	rg_err err = rg_consumer_position(consumer, "t", 0, &offset, wait_ms, error);

	ck_assert(err ? offset == -77 : offset >= 0);
	return err;
}

static rg_err call_lag(rg_consumer *consumer, rg_error *error)
{
	int64_t lag = -77;
	rg_err err = rg_consumer_lag(consumer, "t", 0, &lag, wait_ms, error);

	ck_assert(err ? lag == -77 : lag >= 0);
	return err;
}

static rg_err call_status(rg_consumer *consumer, rg_error *error)
{
	rg_status status = {.size = sizeof(status)};

	return rg_consumer_status(consumer, &status, error);
}

static rg_err call_metrics(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_metrics(consumer, metric, NULL, error);
}

static rg_err call_metric(rg_consumer *consumer, rg_error *error)
{
	double value = -77;
	rg_err err = rg_consumer_metric(consumer, "rebalance-total", &value, error);

	ck_assert(err ? (int)value == -77 : value >= 0);
	return err;
}

static rg_err call_group_metadata(rg_consumer *consumer, rg_error *error)
{
	rd_kafka_consumer_group_metadata_t *metadata = rg_consumer_group_metadata(consumer);
	rg_err err = found(metadata);

	(void)error;
	if (metadata)
		rd_kafka_consumer_group_metadata_destroy(metadata);
	return err;
}

static rg_err call_handle(rg_consumer *consumer, rg_error *error)
{
	(void)error;
	return found(rg_consumer_handle(consumer));
}

static rg_err call_close(rg_consumer *consumer, rg_error *error)
{
	return rg_consumer_close(consumer, RG_CLOSE_LEAVE, WAIT_MS, error);
}

static rg_err call_new(rg_consumer *consumer, rg_error *error)
{
	rg_consumer *other = NULL;
	rg_conf *conf = crew_conf("group.id", "other", NULL);
	rg_err err;

	(void)consumer;
	rg_conf_set_log(conf, NULL, NULL);
	err = rg_consumer_new(&other, conf, error);
	rg_conf_free(conf);
	rg_consumer_free(other);
	return err;
}

/* Inside a callback there is nothing it could return, and it must not pull the ground from under its caller. */
static rg_err call_free(rg_consumer *consumer, rg_error *error)
{
	(void)error;
	rg_consumer_free(now_in <= IN_COMMIT_DONE ? consumer : NULL);
	return RG_OK;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

enum {
	OK_ = RG_OK,
	STATE = RG_ERR_STATE,
	OWNED = RG_ERR_NOT_OWNED,
	LOST = RG_ERR_LOST,
	TIMED = RG_ERR_TIMED_OUT,
	FATAL = RG_ERR_FATAL,
	CLOSED_ = RG_ERR_CLOSED
};

/* Calls that end a place come last in it, or are tried by the tests below. */
static const struct row {
	const char *name;
	rg_err (*call)(rg_consumer *consumer, rg_error *error);
	int expected[PLACES];
} rows[] = {
	/*                              assigned revoked lost  assignor done  unsubscr. unreached stranded fenced closed */
	{"rg_consumer_new", call_new, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_subscribe", call_subscribe, {STATE, STATE, STATE, STATE, STATE, LATER, LATER, LATER, FATAL, CLOSED_}},
	{"rg_consumer_poll", call_poll, {STATE, STATE, STATE, STATE, STATE, OK_, OK_, OK_, FATAL, CLOSED_}},
	{"rg_consumer_poll_batch", call_poll_batch, {STATE, STATE, STATE, STATE, STATE, OK_, OK_, OK_, FATAL, CLOSED_}},
	{"rg_consumer_wakeup", call_wakeup, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_failed", call_failed, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, REFUSED, OK_}},
	{"rg_consumer_commit", call_commit, {OK_, OK_, LOST, OWNED, OK_, STATE, OWNED, TIMED, OWNED, CLOSED_}},
	{"rg_consumer_commit", call_commit_all, {OK_, OK_, LOST, OK_, OK_, STATE, OK_, TIMED, OK_, CLOSED_}},
	{"rg_consumer_commit_async", call_commit_async, {OK_, OK_, LOST, OWNED, OK_, STATE, OWNED, OK_, OWNED, CLOSED_}},
	{"rg_consumer_seek", call_seek, {OK_, OWNED, OWNED, OWNED, OK_, OWNED, OWNED, OK_, OWNED, CLOSED_}},
	{"rg_consumer_pause", call_pause, {OK_, OWNED, OWNED, OWNED, OK_, OWNED, OWNED, OK_, OWNED, CLOSED_}},
	{"rg_consumer_resume", call_resume, {OK_, OWNED, OWNED, OWNED, OK_, OWNED, OWNED, OK_, OWNED, CLOSED_}},
	{"rg_consumer_rebalance_pending", call_rebalance_pending, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_assignment", call_assignment, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_subscription", call_subscription, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_committed", call_committed, {OK_, OK_, OK_, OK_, OK_, STATE, TIMED, TIMED, OK_, CLOSED_}},
	{"rg_consumer_position", call_position, {OK_, OK_, OWNED, OWNED, OK_, OWNED, OWNED, OK_, OWNED, CLOSED_}},
	{"rg_consumer_lag", call_lag, {OK_, OK_, OWNED, OWNED, OK_, OWNED, OWNED, EITHER, OWNED, CLOSED_}},
	{"rg_consumer_status", call_status, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, CLOSED_}},
	{"rg_consumer_metrics", call_metrics, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, CLOSED_}},
	{"rg_consumer_metric", call_metric, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, CLOSED_}},
	{"rg_consumer_group_metadata", call_group_metadata,
	 {OK_, OK_, NOTHING, NOTHING, OK_, NOTHING, NOTHING, OK_, NOTHING, NOTHING}},
	{"rg_consumer_handle", call_handle, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_free", call_free, {OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_}},
	{"rg_consumer_rejoin", call_rejoin, {OK_, OK_, OK_, OK_, OK_, STATE, OK_, OK_, FATAL, CLOSED_}},
	{"rg_consumer_unsubscribe", call_unsubscribe, {STATE, STATE, STATE, STATE, STATE, OK_, LATER, LATER, LATER, CLOSED_}},
	{"rg_consumer_close", call_close, {STATE, STATE, STATE, STATE, STATE, LATER, LATER, LATER, LATER, OK_}},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), PICTURE_MAX = 2048 };

static void add_list(char *text, rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt; i++)
		snprintf(text + strlen(text), PICTURE_MAX - strlen(text), " %s:%d", list->elems[i].topic, list->elems[i].partition);
	rd_kafka_topic_partition_list_destroy(list);
}

/* What a call that is refused must leave as it was. */
static void take_picture(rg_consumer *consumer, char *text)
{
	rg_status status = {.size = sizeof(status)};

	snprintf(text, PICTURE_MAX, "%d, owns", rg_consumer_failed(consumer));
	add_list(text, rg_consumer_assignment(consumer));
	add_list(text, rg_consumer_subscription(consumer));
	if (rg_consumer_status(consumer, &status, NULL) == RG_OK)
		snprintf(text + strlen(text), PICTURE_MAX - strlen(text), ", %d %s", status.generation, status.member_id);
	snprintf(text + strlen(text), PICTURE_MAX - strlen(text), ", saw %s", a.seen);
}

static bool as_expected(int expected, rg_err err)
{
	return expected == EITHER ? err == RG_OK || err == RG_ERR_TIMED_OUT : err == expected;
}

static void try_one(enum place place, const struct row *row, rg_consumer *consumer)
{
	char before[PICTURE_MAX], after[PICTURE_MAX];
	rg_error error = {0};
	int64_t began = now_ms(), took;
	rg_err err;

	take_picture(consumer, before);
	err = row->call(consumer, &error);
	took = now_ms() - began;
	take_picture(consumer, after);
	ck_assert_msg(as_expected(row->expected[place], err), "%s %s: %s, \"%s\"", row->name, place_names[place],
	              rg_err_name(err), error.text);
	ck_assert_msg(took < WAIT_MS + SLACK_MS, "%s %s took %d ms", row->name, place_names[place], (int)took);
	ck_assert_msg(!strcmp(before, after), "%s %s: %s, and now %s", row->name, place_names[place], before, after);
	if (err == RG_OK || err == NOTHING || err == REFUSED)
		return;
	ck_assert_int_eq(error.code, err);
	ck_assert_msg(strstr(error.text, ": ") || err == RG_ERR_FATAL, "%s %s: %s", row->name, place_names[place], error.text);
}

static bool walked[PLACES];

static void walk(enum place place, rg_consumer *consumer)
{
	if (walked[place])
		return; /* callbacks come more than once */
	walked[place] = true;
	now_in = place;
	wait_ms = place == UNREACHED || place == STRANDED ? WAIT_MS : WITHIN_MS;
	for (int i = 0; i < ROWS; i++)
		if (rows[i].expected[place] != LATER)
			try_one(place, &rows[i], consumer);
}

/* --- The places --------------------------------------------------------------------------------------------------- */

static void in_assigned(struct actor *actor, rd_kafka_topic_partition_list_t *partitions)
{
	ck_assert_int_eq(partitions->cnt, 2);
	walk(IN_LISTENER, actor->consumer);
}

static void in_revoked(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	ck_assert_int_eq(partitions->cnt, 2);
	walk(IN_REVOKED, actor->consumer);
}

static void in_lost(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions)
{
	ck_assert_int_eq(partitions->cnt, 2);
	walk(IN_LOST, actor->consumer);
}

static void in_commit_done(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                           void *user)
{
	(void)error, (void)offsets, (void)user;
	walk(IN_COMMIT_DONE, consumer);
}

static rg_err in_assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)group, (void)error, (void)user;
	walk(IN_ASSIGNOR, a.consumer);
	return rg_plan_give_range(plan, 0, 0, 0, 2);
}

static void open_watched(void)
{
	rg_assignor assignor = {.size = sizeof(assignor), .name = "mine", .protocols = RG_EAGER, .assign = in_assign};
	rg_conf *conf = crew_conf("partition.assignment.strategy", "mine", "session.timeout.ms", "30000",
	                          "group.instance.id", "one", NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, NULL, &error));
	crew_open(&a, "a", conf);
	a.in_assigned = in_assigned;
	a.in_revoked = in_revoked;
	a.in_lost = in_lost;
}

static void start(void)
{
	memset(walked, 0, sizeof(walked));
	crew_cluster("t:2,u:1", 1);
}

/* With nobody there these may not know how it ended, but end they do. */
static void in_time(rg_err (*call)(rg_consumer *consumer, rg_error *error))
{
	rg_error error = {0};
	int64_t began = now_ms();
	rg_err err = call(a.consumer, &error);

	ck_assert_msg(err == RG_OK || err == RG_ERR_TIMED_OUT, "%s", error.text);
	ck_assert_int_lt(now_ms() - began, WAIT_MS + SLACK_MS);
}

START_TEST(a_life_and_what_is_possible_in_it)
{
	rg_error error = {0};

	produce("t", -1, 10);
	open_watched();
	walk(UNSUBSCRIBED, a.consumer);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2 && a.records >= 9, &a); /* in_assigned has skipped one */
	OK(rg_consumer_commit_async(a.consumer, NULL, in_commit_done, NULL, &error));
	crew_until(walked[IN_COMMIT_DONE], &a);
	OK(rg_consumer_rejoin(a.consumer, NULL, &error));
	crew_until(walked[IN_REVOKED] && a.owned == 2, &a);
	crew_poll_for(200, (struct actor *[]){&a, NULL});
	OK(rg_testkit_stop_broker(kit, 1, &error));
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	walk(STRANDED, a.consumer);
	in_time(call_close);
	ck_assert_int_eq(a.owned, 0);
	a.in_revoked = NULL;
	walk(CLOSED, a.consumer);
	for (int place = 0; place < PLACES; place++)
		ck_assert_msg(walked[place] || place == IN_LOST || place == UNREACHED || place == FENCED, "%s", place_names[place]);
}
END_TEST

START_TEST(fenced_and_what_is_possible_then)
{
	rg_error error = {0};

	walked[IN_LISTENER] = walked[IN_ASSIGNOR] = true;
	open_watched();
	crew_subscribe(&a, "t");
	crew_until(a.owned == 2, &a);
	OK(rg_testkit_fail_request(kit, RG__API_HEARTBEAT, 1, 82, &error));
	crew_until(rg_consumer_failed(a.consumer) && a.owned == 0 && strstr(a.errors, "FATAL"), &a);
	ck_assert(walked[IN_LOST]);
	walk(FENCED, a.consumer);
	in_time(call_unsubscribe);
	in_time(call_close);
}
END_TEST

START_TEST(with_no_broker_from_the_start)
{
	rg_error error = {0};

	OK(rg_testkit_stop_broker(kit, 1, &error));
	open_watched();
	crew_subscribe(&a, "t");
	crew_poll_for(50, (struct actor *[]){&a, NULL});
	walk(UNREACHED, a.consumer);
	in_time(call_subscribe);
	in_time(call_unsubscribe);
	in_time(call_subscribe);
	in_time(call_close);
	ck_assert_int_eq(count_of(&a, "complete"), 0);
	ck_assert_int_eq(count_of(&a, "assigned"), 0);
}
END_TEST

/* --- All of them -------------------------------------------------------------------------------------------------- */

static bool in_table(const char *name, size_t len)
{
	for (int i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len))
			return true;
	return false;
}

/* A call that is added to the header and not to the table is found here. */
START_TEST(the_table_has_every_call_of_the_header)
{
	ck_assert_int_eq(header_calls(HEADERS "/consumer.h", in_table), ROWS - 1); /* rg_consumer_commit is there twice */
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_life_and_what_is_possible_in_it);
	tcase_add_test(tcase, fenced_and_what_is_possible_then);
	tcase_add_test(tcase, with_no_broker_from_the_start);
	tcase_add_test(tcase, the_table_has_every_call_of_the_header);
}

int main(void)
{
	return run_suite("consumer_places", fill, start, crew_end);
}
