/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_CONSUMER_H
#define REGROUP_CONSUMER_H

/** @file
 * A consumer: group membership by regroup, records by librdkafka.
 *
 * Unless a function says otherwise, calls for one consumer come from one thread at a time, and listener and assignor
 * run on the thread that is inside rg_consumer_poll(), rg_consumer_unsubscribe() or rg_consumer_close(). Inside a
 * listener, rg_consumer_commit() and the calls that only read may be used; poll, subscribe, unsubscribe and close
 * return RG_ERR_STATE. */

#include <librdkafka/rdkafka.h>
#include <regroup/conf.h>
#include <regroup/error.h>
#include <regroup/member.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A consumer. */
typedef struct rg_consumer rg_consumer;

/** Which generation a callback speaks of. Valid during the call. */
typedef struct rg_generation {
	int32_t id;               /**< -1: none yet, or lost */
	const char *member_id;    /**< "" when there is none */
	const char *protocol;     /**< the assignor the group chose, "" when there is none */
	int is_leader;            /**< 1: this member ran, or runs, the assignor */
	const char *reason;       /**< on_join_prepare: why, "" when not known */
} rg_generation;

/** What the application wants to know about rebalances. All functions are optional. For one subscription
 * on_join_prepare and on_join_complete alternate strictly, however often JoinGroup has to be sent in between. The
 * order inside a rebalance: on_join_prepare; on_revoked (what is given up) or on_lost (what is gone already);
 * on_join_complete; on_revoked (cooperative: what the new assignment takes away); on_assigned (what is new, also
 * when nothing is). on_lost may also come outside. */
typedef struct rg_listener {
	size_t size; /**< sizeof(rg_listener): lets later versions append */
	/** A rebalance begins. Called once before the first JoinGroup. */
	void (*on_join_prepare)(rg_consumer *consumer, const rg_generation *generation, void *user);
	/** These partitions are given up. Nobody else has them before this returns, no record of them comes afterwards, and
	 * rg_consumer_commit() still works for them. */
	void (*on_revoked)(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user);
	/** These partitions are gone: others may have them already, and commits for them are refused. */
	void (*on_lost)(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause, void *user);
	/** The rebalance is over. Called once after the SyncGroup that succeeded. */
	void (*on_join_complete)(rg_consumer *consumer, const rg_generation *generation, void *user);
	/** These partitions are new. An offset set in an entry (absolute, or RD_KAFKA_OFFSET_BEGINNING, _END, _TAIL(n)) is
	 * where fetching starts; entries left at RD_KAFKA_OFFSET_INVALID start at the committed offset, or where
	 * auto.offset.reset says. */
	void (*on_assigned)(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user);
} rg_listener;

/** Makes a consumer from a copy of `conf`, and starts its background thread; it contacts nobody before it
 * subscribes. Returns RG_OK; RG_ERR_INVALID: a property is missing or two contradict each other, the text names them
 * and what is accepted; RG_ERR_MEMORY; RG_ERR_SYSTEM; RG_ERR_LIBRDKAFKA. End it with rg_consumer_close() and
 * rg_consumer_free(). */
RG_API rg_err rg_consumer_new(rg_consumer **ret_consumer, const rg_conf *conf, rg_error *error);

/** Subscribes to topics, replacing the subscription before. The list is copied; the listener (may be NULL) is
 * copied, `user` is handed to it. The member joins in the background; callbacks run inside poll. The same topics
 * again: nothing happens, except that the listener is replaced. RG_OK; RG_ERR_INVALID: no topics, or a bad name;
 * RG_ERR_STATE; RG_ERR_CLOSED; RG_ERR_FATAL; RG_ERR_MEMORY. */
RG_API rg_err rg_consumer_subscribe(rg_consumer *consumer, const char *const *topics, size_t count,
                                    const rg_listener *listener, void *user, rg_error *error);

/** Gives up everything and leaves the group; callbacks run inside. Waits up to `timeout_ms` for commit and leave.
 * RG_OK, also when not subscribed; RG_ERR_TIMED_OUT: out, but without the coordinator's word; RG_ERR_STATE;
 * RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_unsubscribe(rg_consumer *consumer, int timeout_ms, rg_error *error);

/** Runs what is due (callbacks, the assignor, automatic commits) and returns a record, or a message of librdkafka's
 * whose `err` is set (as rd_kafka_consumer_poll()), or NULL when there was none for `timeout_ms` (0: does not wait;
 * -1: waits without end). Free it with rd_kafka_message_destroy(). A record counts as processed when the next call
 * of poll, commit, unsubscribe or close begins: until then its offset is not committed.
 *
 * An error of the group is no message: NULL is returned and *ret_error says what it was; in all other cases
 * ret_error->code is RG_OK. Each error comes once: the cause with Kafka's number or one of ours (RG_ERR_MAX_POLL,
 * RG_ERR_NO_OFFSET, RG_ERR_ASSIGNOR, RG_ERR_BAD_PLAN, RG_ERR_LIBRDKAFKA, …). The next poll goes on. After a fatal
 * one, see rg_consumer_failed(), later polls wait (at most 1 s) and return RG_ERR_FATAL. RG_ERR_STATE: inside a
 * callback. RG_ERR_CLOSED. ret_error may be NULL: errors then go to the log only. */
RG_API rd_kafka_message_t *rg_consumer_poll(rg_consumer *consumer, int timeout_ms, rg_error *ret_error);

/** 1: a fatal error has ended the membership for good (poll said which); all there is to do is to close. Else 0. */
RG_API int rg_consumer_failed(const rg_consumer *consumer);

/** Commits and waits up to `timeout_ms`. `offsets` NULL: the position of every owned partition; else the partitions
 * with the offsets (of the next record to read) listed; each entry's `err` says how it went. RG_OK;
 * RG_ERR_NOT_OWNED: a partition is not owned, nothing was sent; RG_ERR_LOST; RG_ERR_TIMED_OUT; RG_ERR_STATE;
 * RG_ERR_CLOSED; RG_ERR_MEMORY; or Kafka's number: 27 while the group rebalances (the assignment is not lost by it),
 * 22 and 25 when the member was thrown out, and others. */
RG_API rg_err rg_consumer_commit(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, int timeout_ms,
                                 rg_error *error);

/** What the member owns, sorted. Free with rd_kafka_topic_partition_list_destroy(). NULL: out of memory. */
RG_API rd_kafka_topic_partition_list_t *rg_consumer_assignment(rg_consumer *consumer);

/** The librdkafka handle that fetches. It belongs to the consumer. Use it for what regroup does not do (metadata,
 * statistics, watermarks); its group calls are refused or have no effect. */
RG_API rd_kafka_t *rg_consumer_handle(rg_consumer *consumer);

/** How to close. */
enum { RG_CLOSE_DEFAULT = RG_LEAVE_DEFAULT, RG_CLOSE_LEAVE = RG_LEAVE_ALWAYS, RG_CLOSE_REMAIN = RG_LEAVE_NEVER };

/** Commits (if enable.auto.commit), runs the callbacks for what is given up, leaves the group as `how` says
 * (KIP-1092), and ends the background thread. Returns within `timeout_ms` in every state, plus what the callbacks
 * take. RG_OK, also the second time; RG_ERR_TIMED_OUT: closed, but commit or leave had no answer; RG_ERR_STATE:
 * inside a callback, not closed. */
RG_API rg_err rg_consumer_close(rg_consumer *consumer, int how, int timeout_ms, rg_error *error);

/** Frees a consumer, closing it first without leaving if that was not done. NULL is ignored. */
RG_API void rg_consumer_free(rg_consumer *consumer);

#ifdef __cplusplus
}
#endif
#endif
