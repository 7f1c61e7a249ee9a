/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_KIT_H
#define RG__TESTKIT_KIT_H

/* The cluster behind regroup/testkit.h as its own files see it. Everything here runs on the kit's thread, except what
 * says otherwise: the public calls hand it a function to run (rg__kit_call) and wait. No callback works on another
 * connection's requests: who has something to go on with is put on a list, which rg__kit_pump() works off before the
 * loop waits again. */

#include "base/error.h"
#include "base/hash.h"
#include "codec/frame.h"
#include "testkit/cluster.h"
#include "testkit/faults.h"
#include "testkit/group_coordinator.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <regroup/testkit.h>
#include <stdio.h>
#include <uv.h>

enum { RG__KIT_API_KEYS = 256 };

struct rg__kit_connection;

/* A broker's port. */
struct rg__kit_front {
	struct rg_testkit *kit;
	struct rg__kit_broker *broker;
	uv_tcp_t *listener; /* NULL: closed */
	int32_t latency_ms;
};

/* The librdkafka mock broker that keeps the records. */
struct rg__kit_mock {
	rd_kafka_t *handle, *producer; /* the latter NULL until records are put in */
	rd_kafka_mock_cluster_t *cluster;
	struct sockaddr_in address;
};

/* Where event lines go: a file, a callback, and a store for those who wait. The store is shared between threads. */
struct rg__kit_sink {
	FILE *file;
	bool close_file;
	char **lines; /* a ring of RG__KIT_LINES_MAX */
	size_t first, count;
	char *last; /* the newest, for the text of a wait that timed out */
	struct rg__event_line line;
};

struct rg__kit_command;

struct rg_testkit {
	rg_testkit_conf conf;
	struct rg__buf bootstrap;
	uv_loop_t loop;
	pthread_t thread;
	uv_async_t wake;
	uv_timer_t deadline;
	struct rg__kit_cluster cluster;
	struct rg__kit_coordinator *coordinator;
	struct rg__kit_faults faults;
	struct rg__kit_front fronts[RG__KIT_BROKERS_MAX];
	struct rg__kit_mock mock;
	struct rg__kit_connection *connections; /* by id */
	struct rg__kit_connection *ready;       /* those with something to go on with */
	uint64_t last_connection_id;
	int64_t request_counts[RG__KIT_API_KEYS], request_total;
	bool stopping;
	rg_error broken; /* code not RG_OK: memory ran out, everything is closed */
	/* Shared between threads, under `lock`; `changed` is told about every event and every fault that fired. */
	pthread_mutex_t producing; /* of mock.producer, and of nothing else */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t changes;
	struct rg__kit_command *commands;
	struct rg__kit_sink sink;
};

/* kit.c */
/* Runs `run(kit, arg)` on the kit's thread and returns what it returned. Other threads only. */
rg_err rg__kit_call(struct rg_testkit *kit, rg_err (*run)(struct rg_testkit *, void *, rg_error *), void *arg,
		    rg_error *error);
bool rg__kit_on_own_thread(const struct rg_testkit *kit);
int64_t rg__kit_now_us(void);
void rg__kit_break(struct rg_testkit *kit, const char *why); /* out of memory: closes everything, refuses every call */
void rg__kit_changed(struct rg_testkit *kit);                /* wakes those who wait */
uint64_t rg__kit_changes(struct rg_testkit *kit);            /* any thread */
/* Any thread: waits until there were more changes than `seen`, at most until that time (rg__kit_now_us). */
void rg__kit_wait_change(struct rg_testkit *kit, uint64_t seen, int64_t until_us);

/* event_sink.c */
rg_err rg__kit_sink_open(struct rg_testkit *kit, rg_error *error);
void rg__kit_sink_close(struct rg_testkit *kit);
void rg__kit_emit(struct rg_testkit *kit, const struct rg__kit_event *event);

/* front.c */
rg_err rg__kit_front_open(struct rg__kit_front *front, rg_error *error); /* listens on broker->port, 0: any */
void rg__kit_front_close(struct rg__kit_front *front);                   /* and every connection of it */

/* mock.c */
rg_err rg__kit_mock_open(struct rg_testkit *kit, rg_error *error);
void rg__kit_mock_close(struct rg__kit_mock *mock);
rg_err rg__kit_mock_add_topic(struct rg_testkit *kit, const char *name, rg_error *error);

/* mock_versions.c: offers what the mock offers, where we do not answer ourselves. Blocks for a moment. */
rg_err rg__kit_mock_versions(struct rg_testkit *kit, rg_error *error);
/* Waits until the mock's thread has been round its loop once. To be called before each call of rd_kafka_mock_…: in
 * librdkafka 2.0.2 the thread may take the wake-up of a second call for the end of the first one's, and sleeps a
 * second on it. */
rg_err rg__kit_mock_settle(struct rg_testkit *kit, rg_error *error);

/* topic_list.c: makes the topics of "name:partitions,…". */
rg_err rg__kit_add_topics(struct rg_testkit *kit, const char *list, rg_error *error);
rg_err rg__kit_add_topic(struct rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error);

/* request.c */
void rg__kit_request_begin(struct rg__kit_connection *connection, struct rg__bytes frame);
void rg__kit_request_apply(struct rg__kit_connection *connection); /* also after a hold */
void rg__kit_dispatch(struct rg_testkit *kit, struct rg__kit_outcome *outcome); /* clears it */
void rg__kit_time_passed(struct rg_testkit *kit); /* does what is due in the groups, and sets the timer */

#endif
