/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MEMBER_H
#define BENCH_MEMBER_H

/* What the members written in C have in common: the command line, the end by SIGTERM, and events as JSON lines on
 * stdout, the same lines that Member.java writes, so that one program can measure all of them. */

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

struct bench_member {
	const char *bootstrap, *group, *topic;
	int commit_ms;       /* commit that often what is owned, 0: never */
	char *const *settings; /* KEY=VALUE, NULL at the end */
};

/* BOOTSTRAP GROUP TOPIC COMMIT_MS [KEY=VALUE]…; ends the program if that is not what it was given. Writes "start". */
void bench_begin(struct bench_member *member, int argc, char **argv);

/* Hands each setting to `set`, with the two that every member has. */
void bench_settings(const struct bench_member *member, void (*set)(void *user, const char *key, const char *value),
                    void *user);

/* False after SIGTERM. */
bool bench_goes_on(void);

/* Whether a commit is due; the next one is COMMIT_MS later. */
bool bench_commit_due(const struct bench_member *member);

void bench_event(const char *event);
void bench_partitions(const char *event, const rd_kafka_topic_partition_list_t *partitions);
/* NULL: it went well. */
void bench_committed(const char *error);

_Noreturn void bench_refuse(const char *what);

#endif
