/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_MEMBER_H
#define REGROUP_MEMBER_H

/** @file
 * A seat in a group of any protocol type: what a consumer is built on, and what leader election or work sharing need.
 * Bytes in, bytes out; what they mean is yours.
 *
 * A member has no thread. It lives in your event loop: watch rg_member_fd(), wake up after rg_member_timeout_ms(), call
 * rg_member_dispatch(), then take events with rg_member_next() until there is none, and answer those that ask. All calls
 * for one member come from one thread, except rg_member_wakeup(). */

#include <regroup/conf.h>
#include <regroup/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A seat. */
typedef struct rg_member rg_member;

/** Makes a member; it does nothing before rg_member_join(). Uses the properties bootstrap.servers, group.id and the
 * group and connection properties of `conf`, which is copied. `protocol_type` is what all members of a group have in
 * common ("consumer", "connect", your own). Returns RG_OK, RG_ERR_INVALID (a property; the text names it),
 * RG_ERR_MEMORY or RG_ERR_SYSTEM. Free with rg_member_free(). */
RG_API rg_err rg_member_new(rg_member **ret_member, const rg_conf *conf, const char *protocol_type, rg_error *error);

/** Frees a member at once. It does not leave the group: to give the seat up, call rg_member_leave() first and wait for
 * RG_MEMBER_LEFT. Events taken before stay valid. NULL is ignored. */
RG_API void rg_member_free(rg_member *member);

/** A descriptor that becomes readable when rg_member_dispatch() has something to do. It belongs to the member. */
RG_API int rg_member_fd(const rg_member *member);

/** After how many milliseconds rg_member_dispatch() has something to do although the descriptor is silent: 0 now, -1
 * never. */
RG_API int rg_member_timeout_ms(const rg_member *member);

/** Does what is due, without waiting: network, timers. Changes what rg_member_next() returns. */
RG_API void rg_member_dispatch(rg_member *member);

/** As rg_member_dispatch(), but waits up to `timeout_ms` for something to do; for programs without a loop of their own
 * (-1: however long it takes; less than that is 0). Returns also when rg_member_wakeup() is called. */
RG_API void rg_member_wait(rg_member *member, int timeout_ms);

/** Makes rg_member_fd() readable, or rg_member_wait() return. Any thread; safe until rg_member_free() begins. */
RG_API void rg_member_wakeup(rg_member *member);

/** One protocol a member offers, best first; the coordinator chooses one that all members offer. */
typedef struct rg_member_protocol {
	const char *name;
	rg_bytes metadata; /**< what the leader sees of this member */
} rg_member_protocol;

/** Wants to be a member, with these protocols (copied). RG_MEMBER_PREPARE comes next. RG_OK; RG_ERR_INVALID: no
 * protocol, or a bad one; RG_ERR_STATE: joined already, or leaving; RG_ERR_MEMORY. */
RG_API rg_err rg_member_join(rg_member *member, const rg_member_protocol *protocols, size_t count, rg_error *error);

/** Asks the group for a rebalance (KIP-568), now or as soon as the one under way is over; `reason` (KIP-800, cut at
 * 255 bytes, may be NULL) is for the broker's log. For a member that does not lead a coordinator does so only when
 * it finds the metadata changed, which come with the answer to RG_MEMBER_PREPARE. RG_OK; RG_ERR_STATE: not joined,
 * or failed. */
RG_API rg_err rg_member_rejoin(rg_member *member, const char *reason);

/** How to leave (KIP-1092). */
typedef enum rg_leave {
	RG_LEAVE_DEFAULT, /**< give the seat up, unless the member is static (group.instance.id) */
	RG_LEAVE_ALWAYS,  /**< give the seat up, also a static one */
	RG_LEAVE_NEVER    /**< keep the seat until the session times out */
} rg_leave;

/** Wants to be no member any more. RG_MEMBER_LEFT comes after at most `timeout_ms` (-1: request.timeout.ms). What
 * was asked and not answered is forgotten. RG_OK; RG_ERR_STATE: not joined; RG_ERR_INVALID: no such `how`, or less
 * than -1. */
RG_API rg_err rg_member_leave(rg_member *member, rg_leave how, const char *reason, int timeout_ms);

/** Says that the application is alive: without this call max.poll.interval.ms ends the membership (KIP-62), with
 * RG_MEMBER_LOST; the next call brings it back. rg_member_dispatch() does not count. */
RG_API void rg_member_poll(rg_member *member);

/** Why ownership ended without your doing. */
typedef enum rg_cause {
	RG_CAUSE_NONE,
	RG_CAUSE_UNKNOWN_MEMBER,     /**< the coordinator does not know this member any more */
	RG_CAUSE_ILLEGAL_GENERATION, /**< the group went on without it */
	RG_CAUSE_FENCED,             /**< another member took over its group.instance.id (KIP-345) */
	RG_CAUSE_SESSION_TIMEOUT,    /**< no heartbeat was answered for session.timeout.ms */
	RG_CAUSE_MAX_POLL,           /**< max.poll.interval.ms passed without a poll (KIP-62) */
	RG_CAUSE_FATAL               /**< another fatal error; it is reported too */
} rg_cause;

/** The name of a cause, such as "SESSION_TIMEOUT". A constant; never NULL. Any thread. */
RG_API const char *rg_cause_name(rg_cause cause);

typedef enum rg_member_event_type {
	RG_MEMBER_PREPARE,  /**< a rebalance begins: give up what you hold, then rg_member_prepared() */
	RG_MEMBER_LOST,     /**< what you hold is yours no more (`cause`): let go of it, then rg_member_prepared() */
	RG_MEMBER_ASSIGN,   /**< you lead: share the work among `members`, then rg_member_assigned() */
	RG_MEMBER_COMPLETE, /**< the rebalance is over: `assignment` is yours in this generation */
	RG_MEMBER_ERROR,    /**< something the application should know; `fatal`: the member has failed for good. When it is
	                     * not, the member goes on after rg_member_retry() */
	RG_MEMBER_LEFT      /**< the answer to rg_member_leave() */
} rg_member_event_type;

/** One member of the group, as its leader sees it. */
typedef struct rg_member_info {
	const char *member_id;
	const char *instance_id; /**< or NULL */
	rg_bytes metadata;       /**< of the chosen protocol; hostile until checked */
} rg_member_info;

/** What happened. Which fields are set depends on the type; the rest is 0. */
typedef struct rg_member_event {
	rg_member_event_type type;
	uint32_t ticket;       /**< PREPARE, LOST, ASSIGN: give it back with the answer */
	int32_t generation;    /**< ASSIGN, COMPLETE; -1 when there is none. No fencing token: it restarts when a group empties */
	const char *member_id; /**< "" when there is none */
	const char *protocol;  /**< ASSIGN, COMPLETE: the chosen one */
	int is_leader;         /**< COMPLETE */
	int skip_assignment;   /**< COMPLETE: this leader kept the plan of its predecessor (KIP-814) */
	rg_bytes assignment;   /**< COMPLETE; len 0 means that the leader gave nothing */
	const rg_member_info *members; /**< ASSIGN, and COMPLETE of a leader */
	size_t member_count;
	rg_cause cause;        /**< LOST */
	rg_error error;        /**< ERROR; LEFT: why the coordinator could not be told, RG_OK: it was, or need not be */
	int fatal;             /**< ERROR */
	const char *reason;    /**< PREPARE: why, "" when not known */
} rg_member_event;

/** Takes the oldest event, or NULL. It belongs to the caller until rg_member_event_free(), whatever becomes of the
 * member. */
RG_API rg_member_event *rg_member_next(rg_member *member);

/** Frees an event with all it points to. NULL is ignored. Any thread. */
RG_API void rg_member_event_free(rg_member_event *event);

/** Answers RG_MEMBER_PREPARE or RG_MEMBER_LOST. `protocols` (copied) replace what was given before; NULL keeps that.
 * `keeps`: something is still held, as cooperative protocols do (KIP-429). An outdated ticket is ignored. RG_OK,
 * RG_ERR_INVALID, RG_ERR_MEMORY. */
RG_API rg_err rg_member_prepared(rg_member *member, uint32_t ticket, const rg_member_protocol *protocols, size_t count,
                                 int keeps);

/** One member's share. */
typedef struct rg_member_share {
	const char *member_id;
	rg_bytes assignment;
} rg_member_share;

/** Answers RG_MEMBER_ASSIGN. Members that are not listed get an empty share. Copied. An outdated ticket is ignored.
 * RG_OK; RG_ERR_INVALID: an unknown member id, or one twice (nothing is sent; answer again); RG_ERR_MEMORY. */
RG_API rg_err rg_member_assigned(rg_member *member, uint32_t ticket, const rg_member_share *shares, size_t count);

/** Answers RG_MEMBER_ASSIGN when there is no plan: `code` is RG_ERR_ASSIGNOR or RG_ERR_BAD_PLAN and comes back with
 * `text` as RG_MEMBER_ERROR; the rebalance is tried again after a pause, once rg_member_retry() was called. With
 * RG_ERR_MEMORY it is tried again after a pause, and nobody is told. */
RG_API void rg_member_assign_failed(rg_member *member, uint32_t ticket, rg_err code, const char *text);

/** After an RG_MEMBER_ERROR that is not fatal: go on. */
RG_API void rg_member_retry(rg_member *member);

/** What the member is now: "Unjoined", "Preparing", "Joining", "Assigning", "Syncing", "Stable", "Leaving" or
 * "Failed". */
RG_API const char *rg_member_state(const rg_member *member);

/** Gets one number. `name` is a constant. */
typedef void rg_metric_cb(const char *name, double value, void *user);

/** Calls `each` for every metric of the membership, with the name Java has for it in consumer-coordinator-metrics:
 * join-*, sync-*, heartbeat-*, rebalance-*, failed-rebalance-*, last-*. Totals count from the start. Averages and
 * maxima, in milliseconds, and rates are those of a window that ends now, of metrics.num.samples times
 * metrics.sample.window.ms; an average or maximum of nothing is NaN, as Java's. What never happened is -1 seconds
 * ago. `each` must not call into the member. RG_OK; RG_ERR_INVALID: no `each`. */
RG_API rg_err rg_member_metrics(const rg_member *member, rg_metric_cb *each, void *user);

#ifdef __cplusplus
}
#endif
#endif
