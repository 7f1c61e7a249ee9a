/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_CONSUMER_H
#define REGROUP_CONSUMER_H

/** @file
 * A consumer: group membership by regroup, records by librdkafka.
 *
 * Unless a function says otherwise, calls for one consumer come from one thread at a time, and listener and assignor
 * run on the thread that is inside rg_consumer_poll(), rg_consumer_unsubscribe() or rg_consumer_close(). Inside a
 * listener, rg_consumer_commit(), seek, pause, resume, rejoin and the calls that only read may be used; poll,
 * subscribe, unsubscribe and close return RG_ERR_STATE.
 *
 * A `timeout_ms` is how long a call may wait: 0 not at all, -1 without end; less is RG_ERR_INVALID, everywhere. */

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

/** Makes a consumer from a copy of `conf`, and starts its background thread; it joins nothing before it subscribes
 * (it connects to a broker at once, and so does librdkafka's handle). Returns RG_OK; RG_ERR_INVALID: a property is
 * missing or two contradict each other, the text names them and what is accepted; RG_ERR_MEMORY; RG_ERR_SYSTEM;
 * RG_ERR_LIBRDKAFKA. End it with rg_consumer_close() and rg_consumer_free(). */
RG_API rg_err rg_consumer_new(rg_consumer **ret_consumer, const rg_conf *conf, rg_error *error);

/** Subscribes to topics, replacing the subscription before. A name that begins with '^' is a POSIX extended regular
 * expression (as in librdkafka; "^orders-[0-9]+$"): all topics that match are subscribed to, also those that come
 * later, and internal ones only without exclude.internal.topics. The list is copied; the listener (may be NULL) is
 * copied, `user` is handed to it. The member joins in the background; callbacks run inside poll. The same topics
 * again: nothing happens, except that the listener is replaced. RG_OK; RG_ERR_INVALID: no topics, or a bad name or
 * pattern; RG_ERR_STATE; RG_ERR_CLOSED; RG_ERR_FATAL; RG_ERR_MEMORY. */
RG_API rg_err rg_consumer_subscribe(rg_consumer *consumer, const char *const *topics, size_t count,
                                    const rg_listener *listener, void *user, rg_error *error);

/** Gives up everything and leaves the group; callbacks run inside. Waits up to `timeout_ms` for commit and leave.
 * RG_OK, also when not subscribed; RG_ERR_TIMED_OUT: out, but without the coordinator's word, at once where it is not
 * known; Kafka's number: out, but the commit was refused; RG_ERR_STATE; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_unsubscribe(rg_consumer *consumer, int timeout_ms, rg_error *error);

/** Runs what is due (callbacks, the assignor, automatic commits) and returns a record, or a message of librdkafka's
 * whose `err` is set (as rd_kafka_consumer_poll()), or NULL when there was none for `timeout_ms`. Free it with
 * rd_kafka_message_destroy(). A record counts as processed when the next call of poll, commit, unsubscribe or close
 * begins: until then its offset is not committed.
 *
 * An error of the group is no message: NULL is returned and *ret_error says what it was; in all other cases
 * ret_error->code is RG_OK. Each error comes once: the cause with Kafka's number or one of ours (RG_ERR_MAX_POLL,
 * RG_ERR_NO_OFFSET, RG_ERR_ASSIGNOR, RG_ERR_BAD_PLAN, RG_ERR_LIBRDKAFKA, …). The next poll goes on. After a fatal
 * one, see rg_consumer_failed(), later polls wait (at most 1 s) and return RG_ERR_FATAL. RG_ERR_STATE: inside a
 * callback. RG_ERR_CLOSED. ret_error may be NULL: errors then go to the log only. */
RG_API rd_kafka_message_t *rg_consumer_poll(rg_consumer *consumer, int timeout_ms, rg_error *ret_error);

/** The most messages of one rg_consumer_poll_batch(). */
enum { RG_BATCH_MAX = 1000000 };

/** As rg_consumer_poll(), but returns up to `count` (1 to RG_BATCH_MAX) records at once: waits for the first as poll
 * does and adds what has been fetched already. Callbacks run before the first record is taken, never between two, so a
 * batch has no record of a partition that was given up. Returns how many entries of `messages` are filled, 0 with or
 * without an error as poll's NULL; besides poll's errors RG_ERR_INVALID (no room, or too much) and RG_ERR_MEMORY. All
 * records of the batch count as processed when the next call of poll, commit, unsubscribe or close begins. */
RG_API size_t rg_consumer_poll_batch(rg_consumer *consumer, rd_kafka_message_t **messages, size_t count, int timeout_ms,
                                     rg_error *ret_error);

/** Makes the poll or commit that is under way, or else the next, return early: poll without a record and without an
 * error, rg_consumer_commit() with RG_ERR_WOKEN. Commits inside a callback are not disturbed. Several calls before one
 * returns count as one. Any thread, not a signal handler; safe until rg_consumer_free() begins. */
RG_API void rg_consumer_wakeup(rg_consumer *consumer);

/** 1: a fatal error has ended the membership for good (poll said which); all there is to do is to close. Else 0. */
RG_API int rg_consumer_failed(const rg_consumer *consumer);

/** Commits and waits up to `timeout_ms`. `offsets` NULL: the position of every owned partition; else the partitions
 * with the offsets (of the next record to read) listed; each entry's `err` says how it went. RG_OK;
 * RG_ERR_NOT_OWNED: a partition is not owned, nothing was sent; RG_ERR_LOST; RG_ERR_TIMED_OUT and RG_ERR_WOKEN: what
 * was sent may still be done, and the next commit waits for its answer; RG_ERR_STATE; RG_ERR_CLOSED; RG_ERR_MEMORY;
 * or Kafka's number: 27 while the group rebalances (the assignment is not lost by it), 22 and 25 when the member was
 * thrown out, and others. */
RG_API rg_err rg_consumer_commit(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, int timeout_ms,
                                 rg_error *error);

/** How an asynchronous commit went: `error->code` is RG_OK or as rg_consumer_commit() returns it; each entry of
 * `offsets` has its own `err`. Both live until the call returns. */
typedef void rg_commit_cb(rg_consumer *consumer, const rg_error *error, rd_kafka_topic_partition_list_t *offsets,
                          void *user);

/** As rg_consumer_commit(), but does not wait: `done` (may be NULL) is called once, inside a later call of poll,
 * commit, unsubscribe or close on this consumer. Commits are sent one after the other in the order in which they were
 * made, also those of rg_consumer_commit() and automatic ones: none overtakes another, and all callbacks of commits
 * made before rg_consumer_commit() have run when it returns. Errors that may pass are retried for
 * default.api.timeout.ms, but only for a second that a topic does not exist (3): the others wait in line. Inside `done`
 * the same is allowed as inside a listener. With nothing to commit `done` is called all the same. `offsets` is copied.
 * RG_OK: `done` will be called; else it will not: RG_ERR_NOT_OWNED, RG_ERR_INVALID, RG_ERR_LOST, RG_ERR_STATE (not
 * subscribed, or 10,000 commits are under way), RG_ERR_CLOSED, RG_ERR_MEMORY. */
RG_API rg_err rg_consumer_commit_async(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *offsets,
                                       rg_commit_cb *done, void *user, rg_error *error);

/** Makes a partition go on at `offset`: an absolute one, or RD_KAFKA_OFFSET_BEGINNING, _END, _TAIL(n). Does not
 * wait. An absolute `offset` is the position from now on, so that is what the next commit of positions commits; the
 * others are looked up by the next rg_consumer_poll() or rg_consumer_position() and count from then on, although no
 * record came. A record in hand does not count as processed any more. Also inside on_assigned. RG_OK;
 * RG_ERR_NOT_OWNED: the partition is not owned, or is being given up; RG_ERR_INVALID: no offset to begin at;
 * RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_seek(rg_consumer *consumer, const char *topic, int32_t partition, int64_t offset,
                               rg_error *error);

/** Stops records of partitions from coming, or lets them come again where they stopped; NULL: of all that are owned.
 * Does not wait. Membership and commits go on. A partition stays paused in a rebalance in which it is kept; given up
 * and assigned again it starts unpaused. Also inside on_assigned. RG_OK, also when they were so already;
 * RG_ERR_NOT_OWNED: one is not owned, or is being given up, nothing changed; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_pause(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions,
                                rg_error *error);
RG_API rg_err rg_consumer_resume(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions,
                                 rg_error *error);

/** Asks for a rebalance (KIP-568), now or as soon as the one under way is over. Does not wait; callbacks run inside
 * poll. `reason` (KIP-800, cut at 255 bytes, may be NULL) is for the broker's log. RG_OK; RG_ERR_STATE: not
 * subscribed; RG_ERR_FATAL; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_rejoin(rg_consumer *consumer, const char *reason, rg_error *error);

/** 1: a rebalance wants to happen and waits for poll, or is under way. For handlers that work long on one record: the
 * others of the group wait until poll is called again. Else 0. Costs next to nothing. Any thread, until
 * rg_consumer_free() begins. */
RG_API int rg_consumer_rebalance_pending(const rg_consumer *consumer);

/** What the member owns, sorted. Free with rd_kafka_topic_partition_list_destroy(). NULL: out of memory. */
RG_API rd_kafka_topic_partition_list_t *rg_consumer_assignment(rg_consumer *consumer);

/** What the member subscribes to, as names (and patterns) with the partition RD_KAFKA_PARTITION_UA, sorted; empty: it
 * does not. Free with rd_kafka_topic_partition_list_destroy(). NULL: out of memory. */
RG_API rd_kafka_topic_partition_list_t *rg_consumer_subscription(rg_consumer *consumer);

/** Asks the coordinator what the group has committed, for any partitions, owned or not, and waits up to `timeout_ms`;
 * errors that may pass are retried. Fills offset (RD_KAFKA_OFFSET_INVALID: none), metadata and,
 * where librdkafka has it, leader epoch of each entry, and its `err`. RG_OK; RG_ERR_INVALID: no list, or a partition
 * twice; RG_ERR_STATE: not subscribed, or by patterns and poll has not joined yet; RG_ERR_TIMED_OUT; RG_ERR_WOKEN;
 * RG_ERR_CLOSED; RG_ERR_MEMORY; or Kafka's number. */
RG_API rg_err rg_consumer_committed(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, int timeout_ms,
                                    rg_error *error);

/** The offset of the record that comes next of an owned partition. Waits up to `timeout_ms` (0: not at all; -1:
 * without end) when that is the committed offset, or what auto.offset.reset or a seek stands for, and not known yet;
 * not inside a listener. RG_OK; RG_ERR_NOT_OWNED; RG_ERR_TIMED_OUT; RG_ERR_NO_OFFSET: there is none
 * (auto.offset.reset none), or it is at a place that the broker did not tell within a second, and no record has
 * come; RG_ERR_LIBRDKAFKA; RG_ERR_CLOSED; or Kafka's number. */
RG_API rg_err rg_consumer_position(rg_consumer *consumer, const char *topic, int32_t partition, int64_t *ret_offset,
                                   int timeout_ms, rg_error *error);

/** How many offsets an owned partition is behind its end, as the last fetch saw that; when none has, or the partition
 * is paused, its leader is asked, which takes up to `timeout_ms`. The marks of transactions are offsets, too, and are
 * passed with the next record; so are the records of open ones, which read_committed holds back. Errors are those of
 * rg_consumer_position(). */
RG_API rg_err rg_consumer_lag(rg_consumer *consumer, const char *topic, int32_t partition, int64_t *ret_lag,
                              int timeout_ms, rg_error *error);

/** A consumer at a glance. Set `size` before the call; strings are cut to fit and NUL-terminated. */
typedef struct rg_status {
	size_t size;                    /**< sizeof(rg_status): later versions append */
	const char *state;              /**< as rg_member_state(); a constant */
	int32_t generation;             /**< -1: none, or lost */
	int is_leader;                  /**< 1: this member ran the assignor of this generation */
	int32_t owned_count;            /**< partitions */
	int rebalance_pending;          /**< as rg_consumer_rebalance_pending() */
	int32_t coordinator_id;         /**< -1: not known */
	int32_t last_rebalance_joins;   /**< how many JoinGroup requests the last rebalance needed */
	int64_t rebalance_count;        /**< that were completed */
	int64_t last_rebalance_ago_ms;  /**< since the last one was completed, -1: there was none */
	int64_t last_rebalance_took_us; /**< from its first JoinGroup to its last SyncGroup */
	char last_rebalance_reason[256]; /**< as it was sent with JoinGroup (KIP-800), "" when nothing in particular */
	char member_id[384];            /**< "": none */
	char protocol[256];             /**< the assignor the group chose */
	char coordinator[272];          /**< "host:port", "": not known */
} rg_status;

/** Fills `ret_status`. RG_OK; RG_ERR_INVALID: `size` is not set; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_status(rg_consumer *consumer, rg_status *ret_status, rg_error *error);

/** Calls `each` for every metric of the consumer: those of rg_member_metrics(), and assigned-partitions, commit-*,
 * partition-assigned-*, partition-lost-* and partition-revoked-* (how long the listener took) of Java's
 * consumer-coordinator-metrics; commit-sync-time-ns-total, committed-time-ns-total, last-poll-seconds-ago,
 * poll-idle-ratio-avg and time-between-poll-* of its consumer-metrics. Windows and units are those of
 * rg_member_metrics() where the name does not say otherwise. `each` must not call into the consumer. RG_OK;
 * RG_ERR_INVALID: no `each`; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_metrics(rg_consumer *consumer, rg_metric_cb *each, void *user, rg_error *error);

/** One of them. RG_OK; RG_ERR_INVALID: there is none of that name; RG_ERR_CLOSED. */
RG_API rg_err rg_consumer_metric(rg_consumer *consumer, const char *name, double *ret_value, rg_error *error);

/** Who this member is, for rd_kafka_send_offsets_to_transaction() (KIP-447): the group refuses the offsets of a
 * transaction when the generation is over. Take it for each transaction, between two polls, in on_revoked or in
 * on_assigned. Offsets are then the transactions' (enable.auto.commit=false). Free with
 * rd_kafka_consumer_group_metadata_destroy(). NULL: not in the group (not joined yet, lost, failed, closed), so the
 * transaction is to be aborted; or out of memory. */
RG_API rd_kafka_consumer_group_metadata_t *rg_consumer_group_metadata(rg_consumer *consumer);

/** The librdkafka handle that fetches. It belongs to the consumer. Use it for what regroup does not do (metadata,
 * watermarks). Leave its group calls alone: rd_kafka_subscribe() would seat it as another member, rd_kafka_assign()
 * takes away what regroup fetches, and rd_kafka_commit() is sent without this member's id, which the group refuses.
 * rg_consumer_close() ends its connections, rg_consumer_free() ends it. */
RG_API rd_kafka_t *rg_consumer_handle(rg_consumer *consumer);

/** How to close. */
enum { RG_CLOSE_DEFAULT = RG_LEAVE_DEFAULT, RG_CLOSE_LEAVE = RG_LEAVE_ALWAYS, RG_CLOSE_REMAIN = RG_LEAVE_NEVER };

/** Commits (if enable.auto.commit), runs the callbacks for what is given up, leaves the group as `how` says
 * (KIP-1092), and ends the background thread. Returns within `timeout_ms` in every state, plus what the callbacks
 * take. RG_OK, also the second time; RG_ERR_TIMED_OUT: closed, but commit or leave had no answer or could not be
 * sent; Kafka's number: closed, but the commit was refused; RG_ERR_STATE: inside a callback, RG_ERR_INVALID: no such
 * `how`; not closed. */
RG_API rg_err rg_consumer_close(rg_consumer *consumer, int how, int timeout_ms, rg_error *error);

/** Frees a consumer, closing it first without leaving if that was not done. NULL is ignored. */
RG_API void rg_consumer_free(rg_consumer *consumer);

#ifdef __cplusplus
}
#endif
#endif
