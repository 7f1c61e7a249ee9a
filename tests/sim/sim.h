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

struct sim {
	uint64_t seed;
	struct rg__sim_world world;
	struct rg__sim_net net;
	struct rg__sim_cluster cluster;
	struct app_settings settings;
	int brokers;
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
	int32_t last_generation; /* that began since the group was last restored or empty; -1: none */
	long requests_in_window[APPS];
	int64_t window_us;
	bool garbage; /* answers may say anything in this run */
	long grey; /* two owners where no client can know better */
	char broken[300]; /* what does not hold; "" while everything does */

	/* For the summary. */
	long completes, losts, joins, requests, most_requests_per_second;
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
bool check_settled(struct sim *sim, char *why, size_t size); /* after the faults are over */

/* wire.c */
void wire_tap(struct sim *sim);
void wire_forget(struct sim *sim);

#endif
