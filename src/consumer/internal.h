/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_INTERNAL_H
#define RG__CONSUMER_INTERNAL_H

/* What the files of the consumer share. Nothing outside src/consumer includes this.
 *
 * Two threads: the application's, which runs everything the application can notice (callbacks, assignor, records), and
 * one in the background, which alone touches the member, its io, and what is marked "loop" here. The application hands
 * work over with rg__on_loop(), which waits until the loop has run it: the loop never waits for anything but its next
 * event, so that is a matter of microseconds, and what is handed over can live on the caller's stack. What the loop has to
 * say comes as events of the member and as finished jobs, and wakes the application up. */

#include "base/log.h"
#include "base/trouble.h"
#include "consumer/ahead.h"
#include "consumer/commit.h"
#include "consumer/connections.h"
#include "consumer/finder.h"
#include "consumer/leader.h"
#include "consumer/lookup.h"
#include "consumer/metadata.h"
#include "consumer/offsets_fetch.h"
#include "consumer/owned.h"
#include "consumer/polls.h"
#include "consumer/strategy.h"
#include "consumer/subscription.h"
#include "consumer/thread.h"
#include "consumer/unassign.h"
#include "consumer/voice.h"
#include "consumer/watch.h"
#include "member/events.h"
#include "member/member.h"

#include <librdkafka/rdkafka.h>
#include <regroup/consumer.h>
#include <stdatomic.h>

/* Whether the member has a seat. */
enum rg__seat { RG__SEAT_NONE, RG__SEAT_TAKEN, RG__SEAT_LEAVING };

/* What an event of the member waits for before it can be dealt with to its end. */
enum rg__step {
	RG__STEP_NONE,
	RG__STEP_AGAIN,   /* memory to begin with: after a pause */
	RG__STEP_PREPARE, /* the commit before what is owned is given up */
	RG__STEP_ANSWER,  /* PREPARE is dealt with, but its answer could not be made: again after a pause */
	RG__STEP_LEAD,    /* Metadata of all topics of the group */
	RG__STEP_REVOKE   /* COMPLETE: the commit before the new assignment takes something away (KIP-429) */
};

enum { RG__ERRORS_MAX = 16 };

struct rg__returned {
	struct rg__partition at;
	uint64_t epoch;
	int64_t next; /* behind the last of the run */
	int32_t leader_epoch; /* of it */
};

struct rg_consumer {
	rg_conf *conf;
	struct rg__voice *voice;
	struct rg__connections *connections;
	struct rg__log log;
	struct rg__strategy strategy;
	struct rg__thread thread;
	rg_member *member; /* loop */

	rd_kafka_t *rk;
	rd_kafka_queue_t *queue; /* its consumer queue, to wake poll up */
	rd_kafka_topic_t **handles; /* of topics whose leaders librdkafka shall know early */
	size_t handle_count;
	struct rg__unassign *unassign; /* under way: nothing is assigned meanwhile */
	struct rg__ahead ahead;

	/* What the application wants. */
	struct rg__topics asked;  /* names and patterns; none: not subscribed */
	struct rg__patterns *patterns; /* of these; NULL: none */
	unsigned found_version;   /* of the finder's, that is in `topics`; 0: it has not looked yet */
	int64_t found_by;         /* a rebalance waits no longer for the finder */
	struct rg__topics topics; /* that are subscribed to now */
	rg_listener listener;
	void *listener_user;
	bool closing; /* inside close: no subscription follows */
	bool closed;
	bool ending; /* inside close or unsubscribe: librdkafka is not waited for */

	/* What is so. */
	enum rg__seat seat;
	rg_error left_with; /* what RG_MEMBER_LEFT said of the coordinator */
	bool rebalancing;  /* on_join_prepare was called, on_join_complete not yet */
	int32_t generation; /* the last one completed, -1: none or lost */
	rg_member_event *completed; /* that told of it: what it points to needs no copy that could fail */
	const char *member_id, *protocol; /* of it, "": none */
	bool is_leader;
	struct rg__owned owned;

	/* The event that is being dealt with. */
	enum rg__step step;
	rg_member_event *event;
	struct rg__leading leading;
	struct rg__metadata_job *metadata;
	struct rg__metadata_job *ahead_of_lead; /* asked for while JoinGroup is under way, should this member lead */
	int64_t again_at; /* AGAIN, ANSWER: not before */
	unsigned again_failures;
	struct rg__arena step_arena; /* what follows lives in it */
	struct rg__partitions given_up; /* PREPARE */
	struct rg__partitions assigned, revoked, added; /* COMPLETE */
	rg_bytes assignment_userdata;
	rg_assignment assignment_view; /* as the assignor will see it */

	/* Offsets. */
	struct rg__commit *auto_commit; /* under way */
	int64_t auto_commit_at;
	struct rg__offsets_fetch *offsets_fetch; /* under way */
	struct rg__lookup *lookup;             /* under way */
	struct rg__trouble lookup_trouble;
	bool starting; /* some partitions do not fetch yet */
	bool asks_later; /* for some of them, at offsets_fetch_at */
	int64_t offsets_fetch_at; /* not before */
	unsigned offsets_fetch_failures;
	rg_err offsets_fetch_told; /* which error was reported already */

	/* The records that poll returned last, one entry for each run of one partition's. */
	struct rg__returned *returned;
	size_t returned_count, returned_capacity;

	struct rg__random random; /* of the pauses between attempts */

	/* Errors on their way to poll, in order. */
	rg_error errors[RG__ERRORS_MAX];
	unsigned error_count;
	unsigned errors_left_out; /* behind the last of them, for want of room */
	struct rg__told told;
	bool failed; /* for good */
	bool retry;  /* the member waits for rg_member_retry */

	/* Metrics. */
	struct rg__stat_conf windows;
	struct rg__stat revoked_took, assigned_took, lost_took; /* the listener */
	struct rg__polls polls;
	int64_t commit_waited_us, committed_waited_us;

	bool inside;  /* a callback or an assignor */
	bool inside_poll; /* and was called from poll */
	bool in_lost; /* on_lost */
	bool wakeable; /* a commit that rg_consumer_wakeup() may end */

	/* Asynchronous commits whose callback has not run, in the order in which they were made. */
	struct rg__async *async_first, *async_last;
	size_t async_count;
	bool delivering; /* one of the callbacks runs */

	atomic_llong left_poll_at; /* 0: inside poll (KIP-62) */
	atomic_bool pending;       /* a rebalance wants poll, or is under way */
	atomic_bool wakeup;        /* rg_consumer_wakeup() was called, and has ended nothing yet */

	/* Loop. */
	struct rg__timer *poll_timer;
	struct rg__committer committer;
	struct rg__watch watch;
	struct rg__finder finder;
};

/* RG_OK; RG_ERR_INVALID: less than -1, which Kafka's clients refuse and which is more likely a sum gone wrong than "for
 * ever". */
rg_err rg__check_timeout(const char *call, int timeout_ms, rg_error *error);

int64_t rg__mono_us(void);
int64_t rg__mono_coarse_us(void); /* some milliseconds late, and much cheaper */

/* consumer.c */
void rg__consumer_release(rg_consumer *consumer);

/* poll.c */
bool rg__work(rg_consumer *consumer);   /* deals with what is due; true: poll must not return records now */
void rg__settle(rg_consumer *consumer); /* the records returned last count as processed */
void rg__tell(rg_consumer *consumer, const rg_error *error); /* an error for poll, and for the log */
void rg__pass_on(rg_consumer *consumer, const rg_error *error); /* one that is in the log already */

/* rebalance.c */
void rg__handle_event(rg_consumer *consumer, rg_member_event *event); /* takes it over */
bool rg__continue_step(rg_consumer *consumer); /* false: it still waits */
void rg__drop_step(rg_consumer *consumer);
void rg__lose_all(rg_consumer *consumer, rg_cause cause);
void rg__revoke(rg_consumer *consumer, const struct rg__partitions *partitions);
void rg__mark_closing(rg_consumer *consumer, const struct rg__partitions *partitions);
void rg__forget_generation(rg_consumer *consumer);

/* subscribe.c */
/* What was found becomes the subscription; `joining`: which the group is about to be told. */
void rg__take_found(rg_consumer *consumer, bool joining);
void rg__look_before_join(rg_consumer *consumer);
bool rg__is_looking(rg_consumer *consumer);
void rg__forget_subscription(rg_consumer *consumer);

/* join.c */
rg_err rg__join(rg_consumer *consumer, rg_error *error);
rg_err rg__answer_ask(rg_consumer *consumer, uint32_t ticket, rg_error *error);

/* listener.c */
void rg__call_join_prepare(rg_consumer *consumer);
void rg__call_join_complete(rg_consumer *consumer);
void rg__call_revoked(rg_consumer *consumer, const struct rg__partitions *partitions);
void rg__call_lost(rg_consumer *consumer, const struct rg__partitions *partitions, rg_cause cause);
void rg__call_assigned(rg_consumer *consumer, const struct rg__partitions *partitions);

/* fetch.c */
rg_err rg__fetch_open(rg_consumer *consumer, rg_error *error);
void rg__fetch_end(rg_consumer *consumer); /* nothing is fetched any more, for good */
void rg__fetch_close(rg_consumer *consumer);
/* Takes them over; `unassign` may be NULL. */
void rg__fetch_destroy(rd_kafka_t *rk, struct rg__unassign *unassign, struct rg__connections *connections,
                       struct rg__voice *voice);
void rg__fetch_topics(rg_consumer *consumer); /* the subscription has changed */
void rg__fetch_owned_topics(rg_consumer *consumer); /* what is owned has changed */
void rg__fetch_start(rg_consumer *consumer);
void rg__fetch_stop(rg_consumer *consumer, const struct rg__partitions *partitions);
rd_kafka_message_t *rg__fetch_ready(rg_consumer *consumer); /* one that was fetched already, or NULL */
rd_kafka_message_t *rg__fetch_poll(rg_consumer *consumer, int timeout_ms);
size_t rg__fetch_more(rg_consumer *consumer, rd_kafka_message_t **messages, size_t count); /* what is there already */

/* control.c */
bool rg__woken_up(rg_consumer *consumer); /* rg_consumer_wakeup() ends the call that asks this, and no other */
void rg__not_pending(rg_consumer *consumer); /* the rebalance is over, unless the next one waits already */

/* lead.c: the leader's part of a rebalance */
void rg__lead_start(rg_consumer *consumer);
bool rg__lead_continue(rg_consumer *consumer); /* false: it still waits */
void rg__lead_expect(rg_consumer *consumer);   /* JoinGroup is on its way */
void rg__lead_forget(rg_consumer *consumer);   /* what was asked for then */
void rg__lead_drop(rg_consumer *consumer);

/* position.c */
void rg__start_positions(rg_consumer *consumer); /* asks for offsets, and begins where there is one */
int64_t rg__start_positions_at(const rg_consumer *consumer);
void rg__drop_positions(rg_consumer *consumer);
/* librdkafka found no record at `offset`, where a partition was to go on: `why`. */
void rg__reset_offset(rg_consumer *consumer, struct rg__slot *slot, int64_t offset, const char *why);

/* auto_commit.c */
void rg__auto_commit_due(rg_consumer *consumer, int64_t now_us);
/* Commits what was processed of these partitions, NULL: of all. False: there is nothing to commit, or nobody to commit it to. */
bool rg__auto_commit_before(rg_consumer *consumer, const struct rg__partitions *partitions, int64_t timeout_ms);
bool rg__auto_commit_done(rg_consumer *consumer); /* true: none is under way (any more) */
void rg__auto_commit_drop(rg_consumer *consumer);
void rg__note_committed(rg_consumer *consumer, const struct rg__commit *commit);

/* commit_api.c */
rd_kafka_resp_err_t rg__kafka_error(rg_err err); /* for the `err` of an entry */
/* What was processed; `due` leaves out what the group has already. */
rg_err rg__commit_positions(rg_consumer *consumer, bool due, int64_t timeout_ms, rg_error *error);
/* Checks a list and fills the commit with it, in order. The metadata stays the list's. */
rg_err rg__commit_fill(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, struct rg__commit *commit,
                       rg_error *error);
void rg__commit_results(rd_kafka_topic_partition_list_t *offsets, const struct rg__commit *commit);
struct rg__commit_entry rg__commit_entry_of(const struct rg__slot *slot); /* its position */
rg_err rg__may_commit(rg_consumer *consumer, const char *call, rg_error *error);

/* commit_async.c */
void rg__async_deliver(rg_consumer *consumer); /* runs the callbacks that are due */
void rg__async_wait(rg_consumer *consumer, int64_t until_us); /* for all of them */
void rg__async_end(rg_consumer *consumer, int64_t until_us); /* the same; those that are late end with an error */

/* alive.c: max.poll.interval.ms (KIP-62) */
bool rg__alive_init(rg_consumer *consumer); /* false: out of memory */
void rg__alive_end(rg_consumer *consumer);
void rg__alive_watch(rg_consumer *consumer); /* loop: from now on */
/* Around the application's code that we call: it is away from poll for as long as that takes. */
void rg__callback_begins(rg_consumer *consumer);
void rg__callback_ended(rg_consumer *consumer);

/* trace.c */
void rg__event_of(rg_consumer *consumer, const char *event, const struct rg__partitions *partitions, const char *reason);
void rg__event_of_assign(rg_consumer *consumer, int64_t duration_us, size_t members,
                         const struct rg__lead_result *result);

#endif
