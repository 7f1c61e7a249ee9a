/* SPDX-License-Identifier: Apache-2.0 */
#include "member.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int64_t clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Flushed, so that whoever reads the file sees what has happened. */
static void end_line(void)
{
	puts("}");
	fflush(stdout);
}

static void begin_line(const char *event)
{
	printf("{\"t_us\":%lld,\"src\":\"client\",\"event\":\"%s\"", (long long)clock_us(CLOCK_REALTIME), event);
}

void bench_event(const char *event)
{
	begin_line(event);
	end_line();
}

/* All of one topic: a member subscribes to no more. */
void bench_partitions(const char *event, const rd_kafka_topic_partition_list_t *partitions)
{
	begin_line(event);
	if (partitions->cnt) {
		printf(",\"partitions\":{\"%s\":[", partitions->elems[0].topic);
		for (int i = 0; i < partitions->cnt; i++)
			printf("%s%d", i ? "," : "", (int)partitions->elems[i].partition);
		printf("]}");
	}
	end_line();
}

void bench_committed(const char *error)
{
	begin_line(error ? "commit_failed" : "committed");
	if (error)
		printf(",\"error\":\"%s\"", error);
	end_line();
}

void bench_refuse(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(2);
}

void bench_begin(struct bench_member *member, int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};

	bench_event("start");
	if (argc < 5)
		bench_refuse("Usage: BOOTSTRAP GROUP TOPIC COMMIT_MS [KEY=VALUE]…");
	sigaction(SIGTERM, &action, NULL);
	*member = (struct bench_member){argv[1], argv[2], argv[3], atoi(argv[4]), argv + 5};
}

void bench_settings(const struct bench_member *member, void (*set)(void *user, const char *key, const char *value),
                    void *user)
{
	set(user, "bootstrap.servers", member->bootstrap);
	set(user, "group.id", member->group);
	for (char *const *setting = member->settings; *setting; setting++) {
		char *key = strdup(*setting);
		char *equals = key ? strchr(key, '=') : NULL;

		if (!equals)
			bench_refuse("a setting is KEY=VALUE");
		*equals = '\0';
		set(user, key, equals + 1);
		free(key);
	}
}

bool bench_goes_on(void)
{
	return !stop;
}

bool bench_commit_due(const struct bench_member *member)
{
	static int64_t due_us;
	int64_t now_us = clock_us(CLOCK_MONOTONIC);

	if (!member->commit_ms || now_us < due_us)
		return false;
	due_us = now_us + member->commit_ms * INT64_C(1000);
	return true;
}
