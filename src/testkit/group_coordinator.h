/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_GROUP_COORDINATOR_H
#define RG__TESTKIT_GROUP_COORDINATOR_H

/* A broker's group coordinator as a pure step: a request and the time go in, answers and events come out, and a call
 * says when to come back. No I/O, clock or thread. What it does is what Kafka 4.x does for classic groups; where
 * brokers differ between versions a setting chooses.
 *
 *     rg__kit_coordinator_step(c, now, request, &out)   request NULL: only time has passed
 *     rg__kit_coordinator_deadline(c)                   when to call it without a request
 *
 * Whatever is due at `now` happens before the request, and again after it (an initial delay of 0 ends at once), so
 * the outcome does not depend on how punctual the caller is. One file per request and per rule lies beside this one. */

#include "base/arena.h"
#include "base/bytes.h"
#include "base/event_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rg__kit_coordinator;

enum { RG__KIT_NEVER_ANSWERED = 0, RG__KIT_NOT_COORDINATOR = 16 };

#define RG__KIT_NO_DEADLINE INT64_MAX

struct rg__kit_coordinator_conf {
	uint64_t seed;              /* of the member ids */
	int64_t initial_delay_us;   /* group.initial.rebalance.delay.ms */
	int64_t session_min_us;     /* group.min.session.timeout.ms */
	int64_t session_max_us;     /* group.max.session.timeout.ms */
	int64_t new_member_us;      /* how long the first JoinGroup of a new member may stay unanswered before it is dropped */
	int32_t group_size_max;     /* group.max.size */
	int32_t offset_metadata_max; /* offset.metadata.max.bytes */
	int64_t empty_group_us;     /* an Empty group is forgotten, offsets too, after this long; 0: never */
	/* What a JoinGroup or SyncGroup hears that is still parked when the same member sends another: 4.3.1 never answers
	 * it, later brokers say 16 (KAFKA-20938). */
	int16_t superseded_error;
	/* Which partitions there are, for OffsetCommit (3); NULL: all. Called inside the step. */
	bool (*partition_exists)(void *user, struct rg__bytes topic, int32_t partition);
	/* Whether that broker coordinates a group, for DescribeGroups (16) and ListGroups; NULL: it does. Called inside the
	 * step. */
	bool (*coordinates)(void *user, int32_t broker, struct rg__bytes group);
	void *user;
};

/* Kafka's defaults, seed 1. */
void rg__kit_coordinator_conf_init(struct rg__kit_coordinator_conf *conf);

struct rg__kit_request {
	uint64_t connection; /* with the correlation id: where the answer goes */
	int32_t correlation_id;
	int16_t api, version;
	int32_t broker; /* who was asked; only for conf.coordinates */
	struct rg__bytes client_id;
	const void *body; /* the decoded struct of codec/, valid during the step */
};

struct rg__kit_answer {
	struct rg__kit_answer *next;
	uint64_t connection;
	int32_t correlation_id;
	int16_t api, version;
	void *body; /* the struct of codec/, in the arena of the outcome */
};

enum rg__kit_group_state {
	RG__KIT_EMPTY,
	RG__KIT_PREPARING_REBALANCE,
	RG__KIT_AWAITING_SYNC,
	RG__KIT_STABLE,
	RG__KIT_DEAD,
	RG__KIT_GROUP_STATES
};

enum rg__kit_event_type {
	RG__KIT_EVENT_STATE,
	RG__KIT_EVENT_DELAYED_JOIN,
	RG__KIT_EVENT_JOIN_RECEIVED,
	RG__KIT_EVENT_JOIN_ANSWERED,
	RG__KIT_EVENT_SYNC_RECEIVED,
	RG__KIT_EVENT_SYNC_ANSWERED,
	RG__KIT_EVENT_EXPIRED,
	RG__KIT_EVENT_TYPES
};

struct rg__kit_event {
	struct rg__kit_event *next;
	enum rg__kit_event_type type;
	struct rg__bytes group, member; /* NUL-terminated; member: null where none is concerned */
	int32_t generation;             /* of the group, after the event */
	int16_t error;                  /* of an answer */
	bool leader;                    /* join_answered: to the leader */
	bool completed;                 /* delayed_join: completed, otherwise created */
	enum rg__kit_group_state from, to; /* state */
	struct rg__bytes reason;        /* null: none */
};

/* What a step asks for, in order. Zero-initialised is empty; a step appends. */
struct rg__kit_outcome {
	struct rg__arena arena;
	struct rg__kit_answer *answers, *last_answer;
	struct rg__kit_event *events, *last_event;
};

void rg__kit_outcome_clear(struct rg__kit_outcome *outcome);

/* NULL: out of memory. The settings are copied. */
struct rg__kit_coordinator *rg__kit_coordinator_new(const struct rg__kit_coordinator_conf *conf);
void rg__kit_coordinator_free(struct rg__kit_coordinator *c); /* NULL is allowed; parked requests stay unanswered */
/* May be changed any time. */
struct rg__kit_coordinator_conf *rg__kit_coordinator_settings(struct rg__kit_coordinator *c);

/* Does what is due and handles the request (may be NULL). `now_us` never goes back. False: out of memory. Then the
 * state is sound to free and to nothing else: every later step is refused too. */
bool rg__kit_coordinator_step(struct rg__kit_coordinator *c, int64_t now_us, const struct rg__kit_request *request,
			      struct rg__kit_outcome *outcome);

/* The earliest time at which something happens by itself; RG__KIT_NO_DEADLINE. */
int64_t rg__kit_coordinator_deadline(const struct rg__kit_coordinator *c);

/* The coordinator of a group (null: of all) moves to another broker: parked requests hear 16, the group is gone, and
 * for `load_us` requests hear 14 (heartbeats 0, as brokers do). Then the group is back with what was stored for it,
 * which is its last Stable or Empty generation and its offsets; with `keep` false nothing was. False: as for the
 * step. */
bool rg__kit_coordinator_move(struct rg__kit_coordinator *c, int64_t now_us, struct rg__bytes group, bool keep,
			      int64_t load_us, struct rg__kit_outcome *outcome);

/* A transaction is over: the offsets it has sent are its groups', or forgotten. False: as for the step. */
bool rg__kit_coordinator_end_transaction(struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
					 bool committed);

/* What a request hears from a broker that cannot answer it: the struct of codec/ with `error` wherever that API's
 * answer holds one, from the arena. NULL: out of memory, or an API that is not one of the group's. */
void *rg__kit_error_body(const struct rg__kit_request *request, int16_t error, struct rg__arena *arena);

/* For tests and pages. The group's state as text: "Stable gen=3 leader=m1 protocol=range members=[m1 m2]"; "absent"
 * when there is none. False: out of memory. */
bool rg__kit_coordinator_print(const struct rg__kit_coordinator *c, struct rg__bytes group, struct rg__buf *out);

/* The state, if there is such a group. */
bool rg__kit_coordinator_state(const struct rg__kit_coordinator *c, struct rg__bytes group,
			       enum rg__kit_group_state *ret_state);

/* states.c: which state may follow which, and the same as a table of text, one line per state. */
const char *rg__kit_group_state_name(enum rg__kit_group_state state);
bool rg__kit_group_state_may_follow(enum rg__kit_group_state from, enum rg__kit_group_state to);
bool rg__kit_group_states_print(struct rg__buf *out);

/* events.c: "join_answered"; and the event as a line of JSON, which lives in `line`. NULL: out of memory. */
const char *rg__kit_event_name(enum rg__kit_event_type type);
const char *rg__kit_event_line(const struct rg__kit_event *event, int64_t t_us, struct rg__event_line *line);

#endif
