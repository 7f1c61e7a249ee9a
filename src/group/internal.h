/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__GROUP_INTERNAL_H
#define RG__GROUP_INTERNAL_H

/* What the files of the machine share. Nothing outside src/group includes this. */

#include "base/backoff.h"
#include "group/machine.h"

enum { RG__REASON_CUT = 255 /* KIP-800 */, RG__REACTIONS_MAX = 24 };
#define RG__FOREVER INT64_MAX
#define RG__HEARTBEAT_MIN_US INT64_C(100000)

struct rg__machine {
	struct rg__group_conf conf; /* its strings are copies */
	struct rg__random random;

	enum rg__coordinator_state coordinator;
	enum rg__membership_state membership;

	/* What the application wants, beside what is so. */
	bool wanted;         /* between START and LEAVE */
	bool rejoin_wanted;  /* another rebalance, as soon as this one is over */
	bool suspended;      /* out by max.poll.interval.ms, until it polls */
	bool held;           /* an error was reported: nothing is sent to join until RETRY */
	bool in_rebalance;   /* PREPARE given, COMPLETE not yet */
	bool owns;           /* the application may own partitions */
	bool leave_asked;    /* LEAVE was not answered with LEFT yet */
	bool abandoned;      /* the connection still holds a JoinGroup or SyncGroup whose answer nobody wants */

	/* Identity in the group. */
	char *member_id; /* NULL: none */
	char *protocol;
	int32_t generation;
	int32_t heard_generation; /* of the last good JoinGroup answer, although it may be lost since */
	bool leader;
	uint32_t epoch;

	/* Numbers for asks and requests; an outstanding one is not 0. An answer with another number is superseded. */
	uint32_t last_attempt;
	uint32_t ask;
	uint32_t find, join, assign, sync, heartbeat, leave;

	/* When. RG__FOREVER: not. */
	int64_t find_at, join_at, heartbeat_at, session_ends_at, poll_ends_at;
	int64_t heartbeat_sent_at;
	int64_t calm_at; /* when the group was last known not to wait for our JoinGroup */
	int64_t sync_by; /* when the group gives up waiting for our SyncGroup of this generation; RG__FOREVER: it does not wait */
	int64_t parked_at; /* when the last JoinGroup or SyncGroup was sent */
	int64_t unheard_at; /* when the first JoinGroup was sent of those whose answer got lost; RG__FOREVER: none */
	int64_t heartbeat_interval_us;
	int64_t leave_timeout_us;
	int64_t leave_by; /* when LEAVE is answered although the LeaveGroup from before it is not; RG__FOREVER: no need */
	bool heartbeats_on;
	bool session_doubtful; /* it ran out, and the JoinGroup answer since then only repeated the one before */
	bool proving; /* SyncGroup is answered; before it counts, a heartbeat has to */
	bool heartbeat_grows; /* the interval doubles with each beat, up to heartbeat.interval.ms */
	int64_t found_at; /* when the coordinator became known */
	bool coordinator_good; /* it answered since then as a coordinator does */

	/* How often in a row. */
	unsigned find_failures, heartbeat_failures;
	unsigned repeats[RG__REQUESTS][RG__REACTIONS_MAX]; /* by row: answers that ask to go again, since the last good heartbeat */
	bool auth_reported;         /* 30 on a heartbeat reaches the application once, not at each beat */

	char reason[RG__REASON_CUT + 1];       /* of the next JoinGroup */
	char wish[RG__REASON_CUT + 1];         /* of the rebalance that rejoin_wanted means */
	char leave_reason[RG__REASON_CUT + 1];
};

/* machine.c */
struct rg__action *rg__act(struct rg__actions *actions, enum rg__action_type type);
uint32_t rg__next_attempt(struct rg__machine *machine);
void rg__move(struct rg__machine *machine, enum rg__membership_state to);
void rg__move_coordinator(struct rg__machine *machine, enum rg__coordinator_state to);
void rg__set_reason(char reason[RG__REASON_CUT + 1], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* rebalance.c */
void rg__begin_rebalance(struct rg__machine *machine, struct rg__actions *actions);
bool rg__joins_silently(const struct rg__machine *machine);
int64_t rg__rejoin_by_us(const struct rg__machine *machine);
void rg__forgive(struct rg__machine *machine, enum rg__request request, rg_err err);
void rg__again(struct rg__machine *machine, int64_t now_us, enum rg__request request, const struct rg__reaction *reaction);
void rg__join_unheard(struct rg__machine *machine);
void rg__refused(struct rg__machine *machine, int64_t now_us, enum rg__request request, rg_err err, struct rg__actions *actions);
void rg__refused_as(struct rg__machine *machine, int64_t now_us, enum rg__request request, rg_err err,
                    const struct rg__reaction *reaction, struct rg__actions *actions);
void rg__send_sync(struct rg__machine *machine, int64_t now_us, bool with_plan, struct rg__actions *actions);
bool rg__session_counts(const struct rg__machine *machine);
void rg__advance(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions);

/* identity.c */
void rg__tell_lost(struct rg__machine *machine, enum rg__loss loss, struct rg__actions *actions);
enum rg__loss rg__loss_of(rg_err err);
void rg__lose(struct rg__machine *machine, enum rg__loss loss, bool keep_member_id, struct rg__actions *actions);
void rg__report(struct rg__machine *machine, enum rg__request request, rg_err err, struct rg__actions *actions);
void rg__fail_for_good(struct rg__machine *machine, enum rg__request request, rg_err err, struct rg__actions *actions);

/* on_leave.c */
void rg__out(struct rg__machine *machine, struct rg__actions *actions);
void rg__poll_expired(struct rg__machine *machine, struct rg__actions *actions);

/* on_heartbeat.c */
int64_t rg__session_end_us(const struct rg__machine *machine, int64_t now_us, int64_t sent_at);

/* on_sync.c */
void rg__complete(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions);

/* on_coordinator.c */
void rg__drop_coordinator(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions);

/* One file for each thing that can happen to a member. */
#define RG__HANDLER(name)                                                                                                  \
	void name(struct rg__machine *machine, int64_t now_us, const struct rg__event *event, struct rg__actions *actions)
RG__HANDLER(rg__on_start);
RG__HANDLER(rg__on_rejoin);
RG__HANDLER(rg__on_leave);
RG__HANDLER(rg__on_poll);
RG__HANDLER(rg__on_retry);
RG__HANDLER(rg__on_prepared);
RG__HANDLER(rg__on_assigned);
RG__HANDLER(rg__on_group_size);
RG__HANDLER(rg__on_find_answered);
RG__HANDLER(rg__on_coordinator_down);
RG__HANDLER(rg__on_join_answered);
RG__HANDLER(rg__on_sync_answered);
RG__HANDLER(rg__on_heartbeat_answered);
RG__HANDLER(rg__on_leave_answered);
RG__HANDLER(rg__on_offsets_answered); /* commit and fetch */
RG__HANDLER(rg__on_deadline);

#endif
