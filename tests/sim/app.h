/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_APP_H
#define TESTS_SIM_APP_H

/* A process with a consumer in it, as a user would write one: it polls, processes, commits, lets go of partitions when it is
 * told to and sometimes takes its time. The member, its links and codec, the leader's work and the reading and writing of
 * subscriptions are the library's own; only the records are made up. */

#include "assign/view.h"
#include "consumer/assignment.h"
#include "consumer/leader.h"
#include "consumer/strategy.h"
#include "consumer/subscription.h"
#include "member/member.h"
#include "testkit/sim_cluster.h"

enum { TOPICS = 4, PARTITIONS_MAX = 16, PLACES = TOPICS * PARTITIONS_MAX };

struct sim;

/* What one run gives all its members. */
struct app_settings {
	const char *strategy;     /* of everybody; of a mixed group, the longest list */
	const char *strategies[2]; /* of a mixed group: each life of a process has one of them; NULL: the same for all */
	const char *bootstrap;
	int session_ms, heartbeat_ms, max_poll_ms, request_ms, budget;
};

enum app_doing { APP_IDLE, APP_PREPARING, APP_LOSING, APP_ASSIGNING, APP_COMPLETING };

struct offsets_request;

struct app {
	struct sim *sim;
	int number;
	bool is_static, born_static; /* born: when it is nobody's twin */
	int instance; /* static: its group.instance.id, which a twin shares */
	struct rg__sim_host host;
	rg_conf *conf;
	rg_member *member; /* NULL: the process does not run */
	struct rg__strategy strategy;
	struct rg__topics topics;
	unsigned topic_mask;
	long lives;

	/* What it wants, and what it is told to do wrong. */
	bool joined, leaving;
	bool restart; /* it failed for good: its supervisor starts it again */
	int64_t fenced_until_us; /* a twin has its place: it does nothing any more until then, and is not started again; 0: no */
	int64_t leave_by_us;
	int64_t gap_until_us, slow_listener_us, slow_assignor_us;

	/* Its one thread. */
	struct rg__sim_event act, tick;
	enum app_doing doing;
	int64_t busy_until_us; /* 0: not inside a callback */
	rg_member_event *event;
	uint64_t revoking;
	struct rg__arena assignment_arena;

	/* What it has. A partition is bit topic * 16 + number. */
	uint64_t owned;
	uint64_t positioned; /* the offset to go on from is known */
	int64_t position[PLACES], committed[PLACES];
	int64_t planned_us;   /* when the coordinator took the plan that this is of */
	int32_t generation;   /* of `owned` */
	bool prepared;        /* prepare came, complete has not */
	struct offsets_request *requests;
	int64_t next_commit_us;

	/* Leading. */
	rg_member_event *assign;
	struct rg__leading leading;
	rg__request_id metadata_id; /* for the plan, or to look whether topics have changed */
	int bad_plans; /* the next plan is wrong: 1 twice, 2 to somebody else */
	bool made_bad; /* it was made, and must not leave the process */
	bool metadata_for_plan, leads, knows_plan, asked;
	int32_t planned[TOPICS]; /* partitions of each topic in the last plan */
	int64_t next_look_us;
	int64_t awaits_until_us; /* when it stops waiting for what its plan wants given up; 0: it does not wait */
	struct rg__metadata_request *metadata_request;
	struct rg__arena metadata_arena;

	/* For the checks. */
	uint64_t known_id;   /* a hash of the member id it last used; 0: none */
	bool id_is_over;     /* it has been told so, or gave the seat up */
	int32_t told_22;     /* the generation of which it was told that it is over; -1: none */
	int32_t heard_22;    /* likewise, when the answer had arrived and was of interest */
	int64_t polled_us;
	int64_t beat_us; /* when the wire last carried a heartbeat of it */
	int64_t seated_us, seat_taken_us; /* static: when it got its seat, and when a twin took it; 0: it has it */

	long prepares, completes, losts, errors;
};

void app_init(struct app *app, struct sim *sim, int number, bool is_static);
void app_free(struct app *app);

void app_start(struct app *app, unsigned topic_mask); /* the process begins, and subscribes */
/* Likewise, with the group.instance.id of another that runs. */
void app_start_twin(struct app *app, const struct app *of);
void app_leave(struct app *app, int timeout_ms);
void app_subscribe(struct app *app, unsigned topic_mask);
void app_rejoin(struct app *app);
/* The process ends without a word; `machine_too`: and nobody hears even that. */
void app_kill(struct app *app, bool machine_too);

bool app_runs(const struct app *app);
uint64_t app_place(int topic, int32_t partition);

#endif
