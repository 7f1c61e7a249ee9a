/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

/* One run: a world, a cluster, some processes, and what is checked while they live. */

#include "app.h"
#include "testkit/sim_cluster.h"

#include <stdio.h>

enum { APPS = 8 };

struct planned { /* a share that a leader handed in and the coordinator took */
	struct planned *next;
	int64_t at_us;
	int32_t generation;
	uint64_t bytes;  /* a hash */
	uint64_t member; /* likewise */
};

/* What the wire shows of a connection. */
struct wire;

enum { SEATS_MAX = 24 };

/* The generation that the coordinator began last, as its events tell it. */
struct begun {
	int32_t generation; /* -1: none, or nobody has seen it begin */
	int64_t at_us, prepared_us; /* when it began, and when the one after it began to be prepared; 0: not yet */
	uint64_t joined[SEATS_MAX], synced[SEATS_MAX]; /* hashes of the ids that were answered, and that asked for the plan */
	int joined_count, synced_count;
};

/* Somebody else's member that does half of what it should: it beats, and perhaps asks for the plan, and never joins again. */
struct sleepwalker {
	bool walks, is_static, syncs, commits;
	char id[80]; /* "": its JoinGroup is parked */
	int32_t generation;
	bool leads, owes_sync;
	int64_t next_beat_us;
};

struct sim {
	uint64_t seed;
	struct rg__sim_world world;
	struct rg__sim_net net;
	struct rg__sim_cluster cluster;
	struct app_settings settings;
	int brokers;
	bool first_edition; /* of the generator: what seeds that were kept before it grew were made by */
	bool many_static;
	struct app apps[APPS];
	int app_count;
	struct rg__sim_event watch;
	FILE *events; /* NULL: nobody listens */
	bool healed;

	/* check.c */
	struct planned *plans;
	struct wire *wires;
	int64_t state_lost_us; /* when the coordinator last forgot everything; 0: never */
	int64_t committed[PLACES];
	struct begun begun;
	struct sleepwalker sleepwalker;
	const struct app *seats[APPS]; /* by group.instance.id: who joined with it last */
	bool fenced_by_fault; /* a fault says 82 */
	int64_t moved_us; /* when the coordinator last moved with what it had written down; 0: never */
	int32_t last_generation; /* that began since the group was last restored or empty; -1: none */
	long requests_in_window[APPS], finds_in_window[APPS];
	int64_t finds_window_us;
	int64_t window_us;
	bool garbage; /* answers may say anything in this run */
	long grey; /* two owners where no client can know better */
	char broken[300]; /* what does not hold; "" while everything does */

	/* For the summary. */
	long completes, losts, joins, requests, most_requests_per_second, most_finds, fences, calm_restarts;
};

/* Ends the run with what is wrong. Only the first counts. */
void sim_broken(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* check.c: what must hold, told by those who see it. */
bool check_init(struct sim *sim);
void check_free(struct sim *sim);
void check_prepare(struct app *app);
void check_complete(struct app *app, const rg_member_event *event);
void check_owns(struct app *app, uint64_t added); /* before they are */
void check_left(struct app *app);
void check_lost(struct app *app, rg_cause cause);
void check_error(struct app *app, rg_err err, bool fatal);
void check_leads(struct app *app);
void check_state_lost(struct sim *sim);
void check_topic_gone(struct sim *sim, int topic);
void check_home(struct sim *sim);   /* after everybody has left */
void check_beats(struct sim *sim);  /* while nothing happens, and has not for a while */
bool check_settled(struct sim *sim, char *why, size_t size); /* after the faults are over */

/* check_coordinator.c: what it says and does, held against the rules. */
uint64_t check_hash(struct rg__bytes bytes);
void check_coordinator_event(void *user, const struct rg__kit_event *event);
void check_coordinator_answer(struct sim *sim, const struct rg__kit_request *request, const void *answer);
void check_coordinator(struct sim *sim); /* from time to time */

/* check_static.c: twins, and seats that outlive who sat there. */
void check_seat(struct sim *sim, struct app *app, const struct rg__kit_request *request, const void *answer);
void check_fenced(struct app *app);
void check_after_end(struct app *app);
void check_twins(struct app *app); /* from time to time */
bool check_lost_seat(const struct app *app); /* a twin has it, which this one cannot know before a broker tells it */

/* foreign.c */
void foreign_join(struct sim *sim, int kind);
void foreign_sleepwalk(struct sim *sim, int kind, unsigned how);
void foreign_heard(struct sim *sim, const struct rg__kit_event *event);
void foreign_answered(struct sim *sim, const struct rg__kit_request *request, const void *answer);
void foreign_time(struct sim *sim); /* from time to time */

/* wire.c */
void wire_tap(struct sim *sim);
void wire_forget(struct sim *sim);

#endif
