/* SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include "format.h"
#include "rebalance.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef REGROUP_VERSION /* a copy of this file */
#define REGROUP_VERSION "(own build)"
#endif

enum { CLOSE_MS = 5000, POLL_MS = 100, USAGE = 2 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* The first signal asks for an orderly end; a second one, if that takes too long, has its usual effect. */
static void watch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN); /* a write that fails says so */
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

void app_sleep(int ms)
{
	enum { SLICE_US = 20000 };
	int64_t until_us = now_us() + ms * INT64_C(1000);

	for (int64_t left_us; (left_us = until_us - now_us()) > 0 && !stop;)
		nanosleep(&(struct timespec){.tv_nsec = (left_us < SLICE_US ? left_us : SLICE_US) * 1000}, NULL);
}

void app_say(const struct app *app, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	flockfile(stderr);
	fprintf(stderr, "%s: ", app->name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(args);
}

/* Ends after --help or --version. */
static _Noreturn void end_printed(const struct app *app)
{
	if (ferror(stdout) || fflush(stdout)) {
		app_say(app, "cannot write: %s", strerror(errno));
		exit(1);
	}
	exit(0);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

/* Ends after a sentence about the command line. */
static _Noreturn void end_misused(const struct app *app)
{
	app_say(app, "--help lists the options");
	exit(USAGE);
}

static _Noreturn void refuse(const struct app *app, const char *format, const char *word)
{
	fprintf(stderr, "%s: ", app->name);
	fprintf(stderr, format, word);
	fputc('\n', stderr);
	end_misused(app);
}

static long long number(const struct app *app, const char *option, const char *text, long long min, long long max)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno || value < min || value > max) {
		app_say(app, "%s: \"%s\" is not accepted: a whole number from %lld to %lld", option, text, min, max);
		end_misused(app);
	}
	return value;
}

/* Properties with an option of their own, and whether that was given, or -X. */
static struct {
	const char *name;
	char letter;
	bool by_letter, by_pair;
} own_options[] = {
	{.name = "bootstrap.servers", .letter = 'b'},
	{.name = "group.id", .letter = 'g'},
	{.name = "partition.assignment.strategy", .letter = 'a'},
};

/* One of two that contradict each other would have no effect. */
static void check_said_once(const struct app *app, const char *name, bool by_letter)
{
	for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]); i++) {
		if (strcmp(own_options[i].name, name) != 0)
			continue;
		if (by_letter)
			own_options[i].by_letter = true;
		else
			own_options[i].by_pair = true;
		if (own_options[i].by_letter && own_options[i].by_pair) {
			app_say(app, "-%c and -X %s are the same: give one of them", own_options[i].letter, name);
			end_misused(app);
		}
	}
}

static void set(const struct app *app, const char *name, const char *value)
{
	rg_error error;

	if (rg_conf_set(app->conf, name, value, &error))
		refuse(app, "%s", error.text);
}

static void set_own(const struct app *app, const char *name, const char *value)
{
	check_said_once(app, name, true);
	set(app, name, value);
}

static void set_pair(const struct app *app, char *pair)
{
	char *equals = strchr(pair, '=');

	if (!equals || equals == pair)
		refuse(app, "-X %s: key=value is needed", pair);
	*equals = '\0';
	check_said_once(app, pair, false);
	set(app, pair, equals + 1);
	*equals = '=';
}

static void read_topics(struct app *app, char *list)
{
	for (char *topic = list, *rest; topic; topic = rest) {
		const char **grown = realloc(app->topics, (app->topic_count + 1) * sizeof(*grown));

		rest = strchr(topic, ',');
		if (rest)
			*rest++ = '\0';
		if (!*topic)
			refuse(app, "%s", "-t: there is a topic without a name");
		if (!grown)
			refuse(app, "%s", "out of memory");
		app->topics = grown;
		app->topics[app->topic_count++] = topic;
	}
}

static FILE *open_events(const struct app *app, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!file) {
		app_say(app, "--events %s: %s", path, strerror(errno));
		exit(1);
	}
	return file;
}

enum { EVENTS = 256, DELAY_CALLBACK, DELAY_ASSIGN, STALL_AFTER, VERSION, HELP };

static const struct option long_options[] = {
	{"events", required_argument, NULL, EVENTS},
	{"delay-callback", required_argument, NULL, DELAY_CALLBACK},
	{"delay-assign", required_argument, NULL, DELAY_ASSIGN},
	{"stall-after", required_argument, NULL, STALL_AFTER},
	{"version", no_argument, NULL, VERSION},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

static void take_option(struct app *app, int option, char *value)
{
	switch (option) {
	case 'b':
		set_own(app, "bootstrap.servers", value);
		break;
	case 'g':
		set_own(app, "group.id", value);
		break;
	case 't':
		read_topics(app, value);
		break;
	case 'a':
		set_own(app, "partition.assignment.strategy", value);
		break;
	case 'X':
		set_pair(app, value);
		break;
	case 'f':
		if (format_fault(value))
			refuse(app, "-f: a format has no \"%s\"; there are " FORMAT_LETTERS, format_fault(value));
		app->format = value;
		break;
	case 'c':
		app->count = number(app, "-c", value, 1, LLONG_MAX);
		break;
	case 'e':
		app->exit_at_end = true;
		break;
	case EVENTS:
		app->events = open_events(app, value);
		break;
	case DELAY_CALLBACK:
		app->delay_callback_ms = (int)number(app, "--delay-callback", value, 0, INT_MAX);
		break;
	case DELAY_ASSIGN:
		app->delay_assign_ms = (int)number(app, "--delay-assign", value, 0, INT_MAX);
		break;
	case STALL_AFTER:
		app->stall_after_ms = (int)number(app, "--stall-after", value, 0, INT_MAX);
		break;
	case VERSION:
		printf("%s %s, librdkafka %s\n", app->name, REGROUP_VERSION, rd_kafka_version_str());
		end_printed(app);
	case 'h':
	case HELP:
		fputs(app->help, stdout);
		end_printed(app);
	default:
		/* getopt has said which option it is about. */
		end_misused(app);
	}
}

static bool is_set(const struct app *app, const char *name)
{
	size_t size = 0;

	rg_conf_get(app->conf, name, NULL, 0, &size);
	return size > 1;
}

/* All of them at once, so that nobody has to come back for each. */
static void check_needed(const struct app *app)
{
	bool here[] = {is_set(app, "bootstrap.servers"), is_set(app, "group.id"), app->topic_count > 0};
	static const char *const options[] = {"-b BOOTSTRAP", "-g GROUP", "-t TOPIC"};
	char missing[64] = "";

	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!here[i])
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s", missing[0] ? ", " : "", options[i]);
	if (missing[0])
		refuse(app, "missing: %s", missing);
}

void app_options(struct app *app, int argc, char **argv)
{
	const char *letters = app->prints_records ? "b:g:t:a:X:hf:c:e" : "b:g:t:a:X:h";
	int option;

	app->conf = rg_conf_new();
	if (!app->conf)
		refuse(app, "%s", "out of memory");
	app->format = "%s\n";
	app->stall_after_ms = -1;
	if (!app->prints_records) /* what nobody has seen must not be committed */
		set(app, "enable.auto.commit", "false");
	argv[0] = (char *)(uintptr_t)app->name; /* getopt's messages begin with it */
	while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		take_option(app, option, optarg);
	if (optind < argc)
		refuse(app, "\"%s\" belongs to no option", argv[optind]);
	check_needed(app);
	if (app->exit_at_end)
		set(app, "enable.partition.eof", "true");
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

/* Called on regroup's thread or ours, one call at a time. Flushed, so that whoever reads the file sees what has
 * happened. A file with holes would be worse than none, so the first line that does not get there is the last. */
static void write_event(void *user, const char *json)
{
	struct app *app = user;

	if (atomic_load(&app->unwritten))
		return;
	if (fprintf(app->events, "%s\n", json) < 0 || fflush(app->events)) {
		app_say(app, "--events: cannot write: %s", strerror(errno));
		atomic_store(&app->unwritten, true);
	}
}

/* Errors of the group come out of poll as well, and are printed there; what is left are warnings, and
 * notices that what they spoke of is over. One that repeats is worth one line. Called on any thread, one call at a time. */
static void write_log(void *user, int level, const char *facility, const char *line)
{
	static char last[512];

	(void)facility;
	if ((level != 4 && level != 5) || !strcmp(line, last))
		return;
	snprintf(last, sizeof(last), "%s", line);
	app_say(user, "%s: %s", level == 4 ? "warning" : "notice", line);
}

static _Noreturn void give_up(const struct app *app, const rg_error *error)
{
	app_say(app, "%s", error->text);
	if (error->code == RG_ERR_INVALID)
		end_misused(app);
	exit(1);
}

void app_start(struct app *app)
{
	rg_error error;

	watch_signals();
	rg_conf_set_log(app->conf, write_log, app);
	if (app->events)
		rg_conf_set_events(app->conf, write_event, app);
	if (app->delay_assign_ms && rebalance_slow_assignors(app, &error))
		give_up(app, &error);
	if (rg_consumer_new(&app->consumer, app->conf, &error))
		give_up(app, &error);
	if (rg_consumer_subscribe(app->consumer, app->topics, app->topic_count, &rebalance_listener, app, &error))
		give_up(app, &error);
	app->stalls_at_us = now_us() + app->stall_after_ms * INT64_C(1000);
}

bool app_goes_on(const struct app *app)
{
	return !stop && !app->failed && !atomic_load(&app->unwritten);
}

rd_kafka_message_t *app_poll(struct app *app)
{
	rd_kafka_message_t *message;
	rg_error error;

	/* An application that hangs: its heartbeats go on, it does not poll, and only a signal ends it. */
	if (app->stall_after_ms >= 0 && now_us() >= app->stalls_at_us) {
		app_sleep(INT_MAX);
		return NULL;
	}
	message = rg_consumer_poll(app->consumer, POLL_MS, &error);
	if (error.code) {
		app_say(app, "%s", error.text);
		/* A partition that gets no position has no end to wait for. */
		app->failed = rg_consumer_failed(app->consumer) || (app->exit_at_end && error.code == RG_ERR_NO_OFFSET);
	}
	return message;
}

int app_end(struct app *app)
{
	bool asked = stop;
	rg_error error;
	int code = app->failed;

	if (rg_consumer_close(app->consumer, RG_CLOSE_DEFAULT, CLOSE_MS, &error)) {
		app_say(app, "%s", error.text);
		/* Whoever was asked to go has gone; else it matters whether the last commit got through. */
		code = code || !asked;
	}
	rg_consumer_free(app->consumer);
	rg_conf_free(app->conf);
	free(app->topics);
	if (app->events && app->events != stdout && fclose(app->events) && !atomic_load(&app->unwritten)) {
		app_say(app, "--events: cannot write: %s", strerror(errno));
		code = 1;
	}
	return code || atomic_load(&app->unwritten);
}
