/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded cluster as a program: brokers on loopback ports that any Kafka client can talk to. */
#include <regroup/testkit.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef REGROUP_VERSION /* a copy of this file */
#define REGROUP_VERSION "(own build)"
#endif

static const char usage[] =
	"Usage: regroup-coordinator --topics NAME:PARTITIONS[,...] [--port P] [--brokers N] [--records N]\n"
	"                           [--initial-delay MS] [--session-min MS] [--events FILE|-]\n"
	"\n"
	"Prints \"listening 127.0.0.1:PORT\" for each broker when all is ready; SIGINT and SIGTERM end it.\n"
	"  --topics LIST        the topics and how many partitions each has, 1 to 64\n"
	"  --port P             of the first broker, the others follow; 0 (the default): free ports\n"
	"  --brokers N          1 to 16, default 1\n"
	"  --records N          puts record-0 to record-<N-1> into each topic, spread over its partitions\n"
	"  --initial-delay MS   how long a new group waits for company, default 0\n"
	"  --session-min MS     the shortest session timeout a member may have, default 1\n"
	"  --events FILE|-      writes what happens to the groups as JSON lines\n"
	"  --version            the version of this program\n"
	"  --help               this text\n";

enum { USAGE = 2, PORT_MAX = 65535 };

__attribute__((format(printf, 1, 2))) static _Noreturn void refuse(const char *format, ...)
{
	va_list args;

	fputs("regroup-coordinator: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nregroup-coordinator: --help lists the options\n", stderr);
	exit(USAGE);
}

static int fail(const rg_error *error)
{
	if (error->code == RG_ERR_INVALID)
		refuse("%s", error->text);
	fprintf(stderr, "regroup-coordinator: %s\n", error->text);
	return EXIT_FAILURE;
}

static long number(const char *option, const char *text, long min, long max)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		refuse("--%s %s: it must be a number from %ld to %ld", option, text, min, max);
	return value;
}

/* What stands in the list is for the kit to judge, but that a name is there once. */
static void check_topics(const char *topics)
{
	for (const char *a = topics; *a; a += strcspn(a, ","), a += *a == ',') {
		size_t len = strcspn(a, ":,");

		for (const char *b = topics; b < a; b += strcspn(b, ",") + 1)
			if (strcspn(b, ":,") == len && !strncmp(a, b, len))
				refuse("--topics %s: topic %.*s is there twice", topics, (int)len, a);
	}
}

/* Ends after --help or --version. */
static _Noreturn void end_printed(void)
{
	if (ferror(stdout) || fflush(stdout)) {
		fprintf(stderr, "regroup-coordinator: cannot write: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	exit(EXIT_SUCCESS);
}

/* Where events go, and whether one could not be written. The kit's thread uses it until the kit is freed. */
struct events {
	FILE *file;
	bool failed;
};

/* Flushed, so that whoever reads the file sees what has happened. A file with holes would be worse than none, so the
 * first line that does not get there is the last, and the program ends as with a signal. */
static void write_event(const char *line, void *user)
{
	struct events *events = user;

	if (events->failed || (fprintf(events->file, "%s\n", line) >= 0 && !fflush(events->file)))
		return;
	events->failed = true;
	fprintf(stderr, "regroup-coordinator: --events: cannot write: %s\n", strerror(errno));
	kill(getpid(), SIGTERM);
}

static void open_events(struct events *events, const char *path, rg_testkit_conf *conf)
{
	events->file = strcmp(path, "-") ? fopen(path, "w") : stdout;
	if (!events->file) {
		fprintf(stderr, "regroup-coordinator: --events %s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	conf->on_event = write_event;
	conf->user = events;
}

static int close_events(struct events *events)
{
	if (events->file && events->file != stdout && fclose(events->file) && !events->failed) {
		fprintf(stderr, "regroup-coordinator: --events: cannot write: %s\n", strerror(errno));
		events->failed = true;
	}
	return events->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void parse(int argc, char **argv, rg_testkit_conf *conf, struct events *events, long *ret_records)
{
	static const struct option options[] = {
		{"topics", required_argument, NULL, 't'},        {"port", required_argument, NULL, 'p'},
		{"brokers", required_argument, NULL, 'b'},       {"records", required_argument, NULL, 'r'},
		{"initial-delay", required_argument, NULL, 'd'}, {"session-min", required_argument, NULL, 's'},
		{"events", required_argument, NULL, 'e'},        {"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}};
	int option, index = 0;

	argv[0] = (char *)(uintptr_t)"regroup-coordinator"; /* getopt's messages begin with it */
	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1) {
		const char *name = options[index].name;

		if (option == 't')
			conf->topics = optarg;
		else if (option == 'p')
			conf->port = (int32_t)number(name, optarg, 0, PORT_MAX);
		else if (option == 'b')
			conf->broker_count = (int32_t)number(name, optarg, 1, 16);
		else if (option == 'r')
			*ret_records = number(name, optarg, 0, 100000000);
		else if (option == 'd')
			conf->group_initial_rebalance_delay_ms = (int32_t)number(name, optarg, 0, 3600000);
		else if (option == 's')
			conf->group_min_session_timeout_ms = (int32_t)number(name, optarg, 1, 1800000);
		else if (option == 'e')
			open_events(events, optarg, conf);
		else if (option == 'v' || option == 'h') {
			fputs(option == 'h' ? usage : "regroup-coordinator " REGROUP_VERSION "\n", stdout);
			end_printed();
		} else { /* getopt has said which option it is about */
			fputs("regroup-coordinator: --help lists the options\n", stderr);
			exit(USAGE);
		}
	}
	if (optind < argc)
		refuse("\"%s\" belongs to no option", argv[optind]);
	if (!conf->topics)
		refuse("missing: %s", "--topics NAME:PARTITIONS");
	check_topics(conf->topics);
	if (conf->port + conf->broker_count - 1 > PORT_MAX)
		refuse("--port %d: that of broker %d would be %d, and the highest there is is %d", (int)conf->port,
		       (int)conf->broker_count, (int)(conf->port + conf->broker_count - 1), (int)PORT_MAX);
}

/* Topics as in the list, one after the other. */
static rg_err fill_topics(rg_testkit *kit, const char *topics, long records, rg_error *error)
{
	char name[256];
	rg_err err = RG_OK;

	while (!err && records && *topics) {
		size_t len = strcspn(topics, ":");

		snprintf(name, sizeof(name), "%.*s", (int)len, topics);
		err = rg_testkit_produce(kit, name, -1, "record-", 0, records, error);
		topics += strcspn(topics, ",");
		topics += *topics == ',';
	}
	return err;
}

int main(int argc, char **argv)
{
	rg_testkit_conf conf;
	struct events events = {0};
	rg_testkit *kit;
	rg_error error;
	sigset_t ends;
	long records = 0;
	int signal_number;

	rg_testkit_conf_init(&conf, sizeof(conf));
	/* One that was killed and started again must not give out the ids that others still have. */
	conf.seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	parse(argc, argv, &conf, &events, &records);
	/* Before any thread is there, so that none of them takes these. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (rg_testkit_new(&kit, &conf, &error))
		return fail(&error);
	if (fill_topics(kit, conf.topics, records, &error)) {
		rg_testkit_free(kit);
		return fail(&error);
	}
	for (int32_t broker = 1; broker <= conf.broker_count; broker++)
		printf("listening 127.0.0.1:%d\n", rg_testkit_port(kit, broker));
	bool told = !ferror(stdout) && !fflush(stdout);

	if (told)
		sigwait(&ends, &signal_number);
	else
		fprintf(stderr, "regroup-coordinator: cannot write: %s\n", strerror(errno));
	rg_testkit_free(kit);
	return close_events(&events) || !told;
}
