/* SPDX-License-Identifier: Apache-2.0 */
/* Consume, transform, produce: each record exactly once, whoever crashes when.
 *
 *   transactions -b localhost:9092 -g group -i from -o to -T transactional-id [-X key=value]… [-d MS]
 *
 * Writes each record of one topic to another, in capitals, with its key. A batch of records, what was made of them and the
 * offsets they came from are one transaction; readers with isolation.level=read_committed see all of it or nothing.
 *
 * Two things keep the promise. A transaction says which member of the group it is from, and in which generation
 * (KIP-447); when the group has given the partitions to somebody else meanwhile, the broker refuses its offsets and with
 * them the transaction. And a process that is started again under its transactional id ends what its predecessor left
 * open; nobody else can before transaction.timeout.ms, and until then the partitions it read from stand still.
 *
 * A transaction begins and ends between two polls, and callbacks run inside poll only: so no rebalance takes a partition
 * away in the middle of one, as far as this process knows. -d makes each take so long, to see what happens when it does
 * not know. */
#include <regroup/regroup.h>

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 500, POLL_MS = 200, CALL_MS = 30000, CLOSE_MS = 10000 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct app {
	rg_conf *conf;
	rd_kafka_conf_t *producer_conf;
	const char *from, *to;
	int delay_ms;
	rg_consumer *consumer;
	rd_kafka_t *producer;
};

static void fail(const char *text)
{
	fprintf(stderr, "transactions: %s\n", text);
	exit(1);
}

/* --- One transaction ---------------------------------------------------------------------------------------------- */

static void take_time(const struct app *app)
{
	struct timespec time = {app->delay_ms / 1000, app->delay_ms % 1000 * 1000000L};

	if (app->delay_ms)
		nanosleep(&time, NULL);
}

static rd_kafka_error_t *transform(struct app *app, const rd_kafka_message_t *record)
{
	char *text = malloc(record->len + 1);
	const rd_kafka_vu_t parts[] = {
		{.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = app->to},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {record->key, record->key_len}},
		{.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {text, record->len}},
		{.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
	};
	rd_kafka_error_t *error;

	if (!text)
		fail("out of memory");
	for (size_t i = 0; i < record->len; i++)
		text[i] = (char)toupper(((const unsigned char *)record->payload)[i]);
	while ((error = rd_kafka_produceva(app->producer, parts, sizeof(parts) / sizeof(parts[0]))) &&
	       rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
		rd_kafka_error_destroy(error);
		rd_kafka_poll(app->producer, 100);
	}
	free(text);
	return error;
}

/* Where each partition goes on after this batch; its records are in order. */
static rd_kafka_topic_partition_list_t *ends_of(rd_kafka_message_t *const *batch, size_t count)
{
	rd_kafka_topic_partition_list_t *ends = rd_kafka_topic_partition_list_new(8);

	for (size_t i = 0; i < count; i++) {
		const char *topic = rd_kafka_topic_name(batch[i]->rkt);
		rd_kafka_topic_partition_t *end;

		if (batch[i]->err)
			continue;
		if (!(end = rd_kafka_topic_partition_list_find(ends, topic, batch[i]->partition)))
			end = rd_kafka_topic_partition_list_add(ends, topic, batch[i]->partition);
		end->offset = batch[i]->offset + 1;
	}
	return ends;
}

static rd_kafka_error_t *send_offsets(struct app *app, rd_kafka_message_t *const *batch, size_t count)
{
	rd_kafka_consumer_group_metadata_t *me = rg_consumer_group_metadata(app->consumer);
	rd_kafka_topic_partition_list_t *ends;
	rd_kafka_error_t *error;

	if (!me)
		return rd_kafka_error_new(RD_KAFKA_RESP_ERR__STATE, "not in the group any more");
	ends = ends_of(batch, count);
	error = rd_kafka_send_offsets_to_transaction(app->producer, ends, me, CALL_MS);
	rd_kafka_topic_partition_list_destroy(ends);
	rd_kafka_consumer_group_metadata_destroy(me);
	return error;
}

static rd_kafka_error_t *transact(struct app *app, rd_kafka_message_t *const *batch, size_t count)
{
	rd_kafka_error_t *error = rd_kafka_begin_transaction(app->producer);

	for (size_t i = 0; !error && i < count; i++)
		if (!batch[i]->err)
			error = transform(app, batch[i]);
	take_time(app);
	if (!error)
		error = send_offsets(app, batch, count);
	while (!error && (error = rd_kafka_commit_transaction(app->producer, CALL_MS)) && rd_kafka_error_is_retriable(error)) {
		rd_kafka_error_destroy(error);
		error = NULL;
	}
	return error;
}

/* As if the batch had not been read. What is not owned any more is somebody else's to read again. */
static void rewind_batch(struct app *app, rd_kafka_message_t *const *batch, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (!batch[i]->err)
			rg_consumer_seek(app->consumer, rd_kafka_topic_name(batch[i]->rkt), batch[i]->partition, batch[i]->offset, NULL);
}

/* Only what is fatal for the producer, such as another process with its transactional id, ends this one. */
static void undo(struct app *app, rd_kafka_error_t *error, rd_kafka_message_t *const *batch, size_t count)
{
	fprintf(stderr, "transactions: %zu records aborted: %s\n", count, rd_kafka_error_string(error));
	if (rd_kafka_error_is_fatal(error))
		exit(1);
	rd_kafka_error_destroy(error);
	while ((error = rd_kafka_abort_transaction(app->producer, CALL_MS))) {
		if (!rd_kafka_error_is_retriable(error))
			fail(rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
	}
	rewind_batch(app, batch, count);
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static void run(struct app *app)
{
	static rd_kafka_message_t *batch[BATCH];

	while (!stop && !rg_consumer_failed(app->consumer)) {
		rg_error error;
		rd_kafka_error_t *failed = NULL;
		size_t count = rg_consumer_poll_batch(app->consumer, batch, BATCH, POLL_MS, &error);

		if (error.code)
			fprintf(stderr, "transactions: %s\n", error.text);
		if (count && (failed = transact(app, batch, count)))
			undo(app, failed, batch, count);
		for (size_t i = 0; i < count; i++)
			rd_kafka_message_destroy(batch[i]);
	}
}

static void start(struct app *app)
{
	char text[512];
	rd_kafka_error_t *failed;
	rg_error error;

	if (!(app->producer = rd_kafka_new(RD_KAFKA_PRODUCER, app->producer_conf, text, sizeof(text))))
		fail(text);
	/* Before this process joins: whoever had its id before is out of the way then. */
	while ((failed = rd_kafka_init_transactions(app->producer, CALL_MS))) {
		if (!rd_kafka_error_is_retriable(failed))
			fail(rd_kafka_error_string(failed));
		rd_kafka_error_destroy(failed);
	}
	if (rg_consumer_new(&app->consumer, app->conf, &error) ||
	    rg_consumer_subscribe(app->consumer, &app->from, 1, NULL, NULL, &error))
		fail(error.text);
}

static void set(rg_conf *conf, const char *name, const char *value)
{
	rg_error error;

	if (!rg_conf_set(conf, name, value, &error))
		return;
	fprintf(stderr, "transactions: %s\n", error.text);
	exit(2);
}

static void set_producer(rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char text[512];

	if (!rd_kafka_conf_set(conf, name, value, text, sizeof(text)))
		return;
	fprintf(stderr, "transactions: %s\n", text);
	exit(2);
}

/* key=value is for the consumer, or for the producer when the key begins with "producer." */
static void set_pair(struct app *app, char *pair)
{
	static const char prefix[] = "producer.";
	char *value = strchr(pair, '=');

	if (!value || value == pair) {
		fprintf(stderr, "transactions: -X %s: key=value is wanted\n", pair);
		exit(2);
	}
	*value++ = '\0';
	if (!strncmp(pair, prefix, strlen(prefix)))
		set_producer(app->producer_conf, pair + strlen(prefix), value);
	else
		set(app->conf, pair, value);
}

static const char usage[] =
	"Usage: transactions -b BOOTSTRAP -g GROUP -i FROM -o TO -T TRANSACTIONAL_ID [-X KEY=VALUE]… [-d MS]";

static void read_options(struct app *app, int argc, char **argv)
{
	const char *id = NULL;
	int option;

	while ((option = getopt(argc, argv, "b:g:i:o:T:X:d:")) != -1) {
		if (option == 'b') {
			set(app->conf, "bootstrap.servers", optarg);
			set_producer(app->producer_conf, "bootstrap.servers", optarg);
		} else if (option == 'g') {
			set(app->conf, "group.id", optarg);
		} else if (option == 'T') {
			set_producer(app->producer_conf, "transactional.id", id = optarg);
		} else if (option == 'X') {
			set_pair(app, optarg);
		} else if (option == 'i') {
			app->from = optarg;
		} else if (option == 'o') {
			app->to = optarg;
		} else if (option == 'd' && atoi(optarg) >= 0) {
			app->delay_ms = atoi(optarg);
		} else {
			id = NULL, optind = argc;
		}
	}
	if (id && app->from && app->to)
		return;
	fprintf(stderr, "%s\n", usage);
	exit(2);
}

int main(int argc, char **argv)
{
	static struct app app; /* fail() may end the program at any point */
	int failed;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return puts(usage) < 0 || fflush(stdout);
	app.conf = rg_conf_new();
	app.producer_conf = rd_kafka_conf_new();
	if (!app.conf)
		fail("out of memory");
	/* The offsets are the transactions', and where there are none yet everything is to be read. */
	set(app.conf, "enable.auto.commit", "false");
	set(app.conf, "auto.offset.reset", "earliest");
	set(app.conf, "isolation.level", "read_committed");
	read_options(&app, argc, argv);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	start(&app);
	run(&app);
	failed = rg_consumer_failed(app.consumer);
	rg_consumer_close(app.consumer, RG_CLOSE_LEAVE, CLOSE_MS, NULL);
	rg_consumer_free(app.consumer);
	rg_conf_free(app.conf);
	rd_kafka_destroy(app.producer);
	return failed;
}
