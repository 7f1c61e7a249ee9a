/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_CREW_H
#define TESTS_TESTKIT_CREW_H

/* Consumers on the embedded cluster, all driven by the test's own thread, and what each of them has seen as one line of
 * text: "prepare, complete, assigned t:0,1". */

#include <check.h>
#include <regroup/regroup.h>
#include <regroup/testkit.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SEEN_MAX = 8192, WITHIN_MS = 20000, RECORDS_MAX = 4096 };
/* How late anything may be that waits for nothing, or for a given time, on a busy machine. What it must not wait for takes
 * longer, or for ever. */
enum { BUSY_MS = 1000 };

struct actor {
	const char *name;
	rg_consumer *consumer;
	char seen[SEEN_MAX];   /* callbacks */
	char errors[SEEN_MAX]; /* that poll returned, "CODE; CODE" */
	rg_error error;        /* the last of them */
	int records;
	int record_partitions[RECORDS_MAX];
	int64_t record_offsets[RECORDS_MAX];
	int owned;             /* partitions, by the callbacks */
	/* What its callbacks do beside writing down that they were called. */
	void (*in_revoked)(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions);
	void (*in_lost)(struct actor *actor, const rd_kafka_topic_partition_list_t *partitions);
	void (*in_assigned)(struct actor *actor, rd_kafka_topic_partition_list_t *partitions);
	int callback_ms; /* each of them takes so long */
	int violations;  /* records of partitions that are not owned, … */
	int nameless;    /* generations without a member id or a protocol */
	bool owns[64];   /* of topic "t", by the callbacks */
	atomic_int warnings; /* log lines of level 4 and worse */
	atomic_int own_warnings; /* those of them that are not librdkafka's, which name its thread */
	char warned[4096];   /* a line each, the latest that fit; other threads write them: see warned() */
	atomic_int beats;    /* heartbeats answered well */
	atomic_int calls;    /* heartbeats answered with a call to join again (27) */
	atomic_int coordinators; /* found; librdkafka, which looks for one too, says nothing of it here */
};

extern rg_testkit *kit;
extern rg_listener crew_listener;

void crew_cluster(const char *topics, int brokers); /* for a fixture's setup */
void crew_end(void); /* for its teardown: frees consumers that are left, then the cluster */

/* A configuration for the cluster and the group "g": quick timeouts, earliest, no automatic commits. Then name,
 * value, …, NULL. */
rg_conf *crew_conf(const char *first, ...);
void crew_open(struct actor *actor, const char *name, rg_conf *conf); /* frees conf */
void crew_subscribe(struct actor *actor, const char *topics);         /* "t,u" */
/* All of the above with crew_conf's values, subscribed to `topics`. */
void crew_join(struct actor *actor, const char *name, const char *topics);
void crew_close(struct actor *actor, int how);

/* Polls the actors in turn until the condition holds; fails the test when it does not within WITHIN_MS. */
#define crew_until(condition, ...) \
	do { \
		struct actor *all_[] = {__VA_ARGS__, NULL}; \
		int64_t ends_ = now_ms() + WITHIN_MS; \
		while (!(condition)) { \
			if (now_ms() > ends_) \
				crew_too_late(#condition, all_); \
			crew_turn(all_); \
		} \
	} while (0)

int64_t now_ms(void);
void crew_turn(struct actor *const *actors);
void crew_too_late(const char *condition, struct actor *const *actors);
void crew_poll_for(int ms, struct actor *const *actors);

bool warned(const struct actor *actor, const char *text);
bool warned_exactly(const struct actor *actor, const char *text);
bool seen(const struct actor *actor, const char *text);  /* somewhere in what it saw */
int count_of(const struct actor *actor, const char *word);
bool alternates(const struct actor *actor); /* prepare and complete */
void produce(const char *topic, int partition, int count);

#define OK(call) ck_assert_msg((call) == RG_OK, #call ": %s", error.text)

#endif
