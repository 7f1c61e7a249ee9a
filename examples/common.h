/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

/* What regroup-consume and regroup-member have in common: options, signals, the event file, rebalances as lines on
 * stderr, and the ways to be slow on purpose. */

#include <regroup/regroup.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct app {
	/* Filled by the program before app_options(). */
	const char *name;   /* who speaks in messages */
	const char *help;   /* what --help prints */
	bool prints_records; /* -f, -c and -e are options */
	rg_listener hooks;  /* the program's own, called after the line was printed; all optional */

	/* From the options. */
	rg_conf *conf;
	const char **topics;
	size_t topic_count;
	const char *format;
	long long count; /* 0: no limit */
	bool exit_at_end;
	FILE *events;
	int delay_callback_ms, delay_assign_ms;
	int stall_after_ms; /* -1: never */

	rg_consumer *consumer;
	int64_t stalls_at_us;
	bool failed; /* the consumer has come to its end by an error, or cannot come to the end that it is to come to */
	atomic_bool unwritten; /* an event could not be written, which was told */
};

/* Reads the command line. Ends the program for --help (0) and for what cannot be understood (2). */
void app_options(struct app *app, int argc, char **argv);

/* Makes the consumer and subscribes. Ends the program when that is refused: 2 for a property, 1 for anything else. */
void app_start(struct app *app);

/* The next record, or message with `err` set, to be freed with rd_kafka_message_destroy(); NULL: none for a moment.
 * What the group had to complain about has been printed. */
rd_kafka_message_t *app_poll(struct app *app);

/* False after SIGINT, SIGTERM, an error that ended the consumer, or an event that could not be written. */
bool app_goes_on(const struct app *app);

/* Leaves, frees everything, and returns the exit code. */
int app_end(struct app *app);

/* A sentence on stderr, after the program's name. */
void app_say(const struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
