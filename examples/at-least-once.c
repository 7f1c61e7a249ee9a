/* SPDX-License-Identifier: Apache-2.0 */
/* Every record is worked on at least once, and seldom twice: records come in batches, progress is committed on the way
 * without waiting for it, and for certain before partitions go to somebody else. */
#include <pthread.h>
#include <regroup/regroup.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 500 };

static atomic_bool stop;

static void work(const rd_kafka_message_t *record)
{
	printf("%s [%d] %lld: %.*s\n", rd_kafka_topic_name(record->rkt), (int)record->partition, (long long)record->offset,
	       (int)record->len, (const char *)record->payload);
}

/* The partitions are ours until this returns, and what is committed here is where the next owner begins. */
static void on_revoked(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user)
{
	rg_error error;

	(void)partitions, (void)user;
	if (rg_consumer_commit(consumer, NULL, 5000, &error))
		fprintf(stderr, "some records will come again, here or elsewhere: %s\n", error.text);
}

/* Others have them already: nothing can be committed, they have begun where the last commit was. */
static void on_lost(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause,
                    void *user)
{
	(void)consumer, (void)user;
	fprintf(stderr, "lost %d partitions (%s): their last records come again elsewhere\n", partitions->cnt,
	        rg_cause_name(cause));
}

/* It is no catastrophe when one fails: the next one has what it had, and more. */
static void on_committed(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                         void *user)
{
	(void)consumer, (void)offsets, (void)user;
	if (error->code)
		fprintf(stderr, "%s\n", error->text);
}

/* Signals come to this thread, where everything may be called that is for any thread. */
static void *wait_for_signal(void *user)
{
	sigset_t signals;
	int which;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigwait(&signals, &which);
	atomic_store(&stop, true);
	rg_consumer_wakeup(user); /* poll may be waiting without end */
	return NULL;
}

static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void consume(rg_consumer *consumer)
{
	static rd_kafka_message_t *batch[BATCH];
	rg_error error;

	while (!atomic_load(&stop) && !rg_consumer_failed(consumer)) {
		size_t count = rg_consumer_poll_batch(consumer, batch, BATCH, -1, &error);

		if (error.code)
			fprintf(stderr, "%s\n", error.text);
		for (size_t i = 0; i < count; i++) {
			if (!batch[i]->err)
				work(batch[i]);
			rd_kafka_message_destroy(batch[i]);
		}
		if (ferror(stdout) || fflush(stdout)) {
			perror("cannot write");
			_Exit(1); /* what is not out is not done, and must not be committed */
		}
		/* Worked on: with this call the batch counts as processed. */
		if (count && rg_consumer_commit_async(consumer, NULL, on_committed, NULL, &error))
			fprintf(stderr, "%s\n", error.text);
	}
}

/* Java's names: commit-latency-avg, commit-total, … */
static void print_commits(const char *name, double value, void *user)
{
	(void)user;
	if (!strncmp(name, "commit-", strlen("commit-")))
		fprintf(stderr, "%s %g\n", name, value);
}

static const char usage[] = "Usage: at-least-once BOOTSTRAP GROUP TOPIC|^PATTERN";

int main(int argc, char **argv)
{
	rg_listener listener = {.size = sizeof(listener), .on_revoked = on_revoked, .on_lost = on_lost};
	rg_consumer *consumer;
	rg_conf *conf;
	pthread_t waiter;
	rg_error error;
	rg_err err;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return puts(usage) < 0 || fflush(stdout);
	if (argc != 4)
		return fprintf(stderr, "%s\n", usage), 2;
	block_signals();
	conf = rg_conf_new();
	err = rg_conf_set(conf, "bootstrap.servers", argv[1], &error) || rg_conf_set(conf, "group.id", argv[2], &error) ||
	      rg_conf_set(conf, "auto.offset.reset", "earliest", &error) ||
	      rg_conf_set(conf, "enable.auto.commit", "false", &error) || rg_consumer_new(&consumer, conf, &error);
	rg_conf_free(conf);
	if (err)
		return fprintf(stderr, "%s\n", error.text), 1;
	pthread_create(&waiter, NULL, wait_for_signal, consumer);
	err = rg_consumer_subscribe(consumer, (const char *const *)&argv[3], 1, &listener, NULL, &error);
	if (err)
		fprintf(stderr, "%s\n", error.text);
	else
		consume(consumer);
	pthread_kill(waiter, SIGTERM); /* in case it still waits */
	pthread_join(waiter, NULL);
	rg_consumer_metrics(consumer, print_commits, NULL, NULL);
	err = rg_consumer_close(consumer, RG_CLOSE_LEAVE, 10000, NULL) || err || rg_consumer_failed(consumer);
	rg_consumer_free(consumer);
	return err;
}
