/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__GROUP_MACHINE_H
#define RG__GROUP_MACHINE_H

/* The membership machine: what happened goes in, what to do comes out. It reads no clock, calls nobody and starts nothing;
 * all times are microseconds of one clock of the caller's that never goes back. */

#include "base/bytes.h"
#include "group/reactions.h"
#include "group/states.h"

#include <stdbool.h>
#include <stdint.h>

struct rg__machine;

struct rg__group_conf {
	const char *group_id;      /* not empty; copied */
	const char *instance_id;   /* KIP-345, or NULL; copied */
	const char *protocol_type; /* "consumer", "connect", …; copied */
	int32_t session_timeout_ms;
	int32_t rebalance_timeout_ms; /* in JoinGroup: how long the group waits for this member */
	int32_t max_poll_interval_ms; /* 0: never enforced */
	int32_t heartbeat_interval_ms;
	int32_t heartbeat_budget; /* heartbeats per second for the whole group; 0: always the interval */
	int32_t request_timeout_ms;
	int32_t retry_backoff_ms, retry_backoff_max_ms;
	uint64_t seed; /* of the jitter */
};

enum rg__leave_mode { RG__LEAVE_DEFAULT, RG__LEAVE_ALWAYS, RG__LEAVE_NEVER }; /* KIP-1092 */

/* Why ownership ended without the application's doing. */
enum rg__loss {
	RG__LOST_NOT,
	RG__LOST_UNKNOWN_MEMBER,     /* 25: the coordinator does not know the member any more */
	RG__LOST_ILLEGAL_GENERATION, /* 22: the group went on without it */
	RG__LOST_FENCED,             /* 82: another member has the same group.instance.id */
	RG__LOST_SESSION,            /* no heartbeat was answered for session.timeout.ms */
	RG__LOST_MAX_POLL,           /* the application did not poll for max.poll.interval.ms */
	RG__LOST_FATAL               /* another fatal error */
};

enum rg__event_type {
	/* From the application. */
	RG__EVENT_START,     /* be a member from now on */
	RG__EVENT_REJOIN,    /* a rebalance is wanted; reason */
	RG__EVENT_LEAVE,     /* be no member from now on; reason, leave_mode, timeout_us */
	RG__EVENT_POLL,      /* it polls; polling: it is still inside the call, so max.poll.interval.ms does not run */
	RG__EVENT_RETRY,     /* it has seen the error that was reported, and goes on */
	RG__EVENT_PREPARED,  /* answers PREPARE and LOST; attempt: the action's; keeps: it still owns partitions */
	RG__EVENT_ASSIGNED,  /* answers RUN_ASSIGNOR; attempt; err: the assignor's, 0 when there is a plan */
	RG__EVENT_GROUP_SIZE, /* the group has group_size members; 0: not known (a foreign leader) */
	/* From the network. The attempt is the one of the action that is answered. */
	RG__EVENT_FIND_ANSWERED, /* err 0: the coordinator is known */
	RG__EVENT_COORDINATOR_DOWN, /* the connection to it broke, or it was found wrong */
	RG__EVENT_JOIN_ANSWERED,
	RG__EVENT_SYNC_ANSWERED,
	RG__EVENT_HEARTBEAT_ANSWERED,
	RG__EVENT_LEAVE_ANSWERED,
	RG__EVENT_COMMIT_ANSWERED, /* epoch: rg__machine_epoch() when it was sent */
	RG__EVENT_FETCH_ANSWERED,  /* likewise */
	RG__EVENT_DEADLINE         /* rg__machine_deadline() has come */
};

struct rg__event {
	enum rg__event_type type;
	uint32_t attempt;
	rg_err err;
	const char *reason; /* copied */
	enum rg__leave_mode leave_mode;
	int64_t timeout_us;
	bool polling;
	int64_t ago_us; /* POLL, not polling: when it left the call; 0: it was there just now */
	bool keeps;
	int32_t group_size;
	uint32_t epoch;
	/* JoinGroup, and protocol_* of SyncGroup too: views, copied when needed. */
	int32_t generation;
	struct rg__bytes member_id, leader, protocol_type, protocol_name;
	bool skip_assignment; /* KIP-814 */
};

enum rg__action_type {
	/* To the application. PREPARE and LOST are asks: nothing is sent to join before the newest of them was answered. */
	RG__DO_PREPARE,      /* a rebalance begins; attempt */
	RG__DO_LOST,         /* what is owned is owned no more; attempt, loss */
	RG__DO_RUN_ASSIGNOR, /* this member leads; attempt */
	RG__DO_COMPLETE,     /* the rebalance ended with the assignment of the SyncGroup answer just given */
	RG__DO_REPORT,       /* an error the application must see; it may try again */
	RG__DO_FAIL,         /* an error that ends it */
	RG__DO_LEFT,         /* the member is out; the answer to LEAVE */
	/* To the network. */
	RG__DO_FIND_COORDINATOR,
	RG__DO_DROP_COORDINATOR, /* close the connection to it; outstanding answers will be ignored */
	RG__DO_SEND_JOIN,
	RG__DO_SEND_SYNC, /* with_plan: the leader's, with what its assignor made */
	RG__DO_SEND_HEARTBEAT,
	RG__DO_SEND_LEAVE
};

struct rg__action {
	enum rg__action_type type;
	uint32_t attempt;   /* give it back with the answer */
	int64_t timeout_us; /* of a request, from now */
	enum rg__loss loss;
	enum rg__request request; /* REPORT, FAIL: which request was answered so */
	rg_err err;
	bool with_plan;
	bool beside_join; /* SEND_LEAVE: a JoinGroup is still on the connection, and a broker answers in order */
	const char *reason; /* JoinGroup and LeaveGroup (KIP-800), PREPARE; lives until the next step */
};

enum { RG__ACTIONS_MAX = 12 };

struct rg__actions {
	int count;
	struct rg__action items[RG__ACTIONS_MAX];
};

/* NULL: out of memory. Free with rg__machine_free(), which takes NULL. */
struct rg__machine *rg__machine_new(const struct rg__group_conf *conf, int64_t now_us);
void rg__machine_free(struct rg__machine *machine);

/* The one way in. Fills *ret_actions (cleared first) with what to do, in order. */
void rg__machine_step(struct rg__machine *machine, int64_t now_us, const struct rg__event *event,
                      struct rg__actions *ret_actions);

/* When to call step with EVENT_DEADLINE; INT64_MAX: not before something else happens. */
int64_t rg__machine_deadline(const struct rg__machine *machine);

/* What it is now. The strings live until the next step; member_id is "" when there is none. */
enum rg__membership_state rg__machine_membership(const struct rg__machine *machine);
/* Behind a parked JoinGroup or SyncGroup a broker does not even read what was asked: its silence says nothing. */
bool rg__machine_expects_silence(const struct rg__machine *machine);
enum rg__coordinator_state rg__machine_coordinator(const struct rg__machine *machine);
const char *rg__machine_member_id(const struct rg__machine *machine);
const char *rg__machine_protocol(const struct rg__machine *machine); /* the chosen assignor, "" when none */
int32_t rg__machine_generation(const struct rg__machine *machine);   /* -1 when there is none */
bool rg__machine_is_leader(const struct rg__machine *machine);
bool rg__machine_wanted(const struct rg__machine *machine);      /* between START and LEAVE, whatever the state */
bool rg__machine_rebalancing(const struct rg__machine *machine); /* PREPARE given, COMPLETE not yet */
uint32_t rg__machine_epoch(const struct rg__machine *machine); /* changes whenever generation or member id do */
int64_t rg__machine_heartbeat_interval_us(const struct rg__machine *machine);

/* NULL, or which invariant does not hold: called after every step in tests and in debug builds. */
const char *rg__machine_check(const struct rg__machine *machine);

/* The two state tables as Markdown, appended to `out`; ARCHITECTURE.md shows them and a test compares. */
bool rg__states_print(struct rg__buf *out);

#endif
