/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_COMMIT_H
#define RG__CONSUMER_COMMIT_H

/* Commits, over the connection to the coordinator, with member id and generation. One at a time, in the order in
 * which they were asked for, so that no commit overtakes another. */

#include "base/backoff.h"
#include "consumer/ownership.h"
#include "member/member.h"

#include <regroup/consumer.h>

struct rg__commit_entry {
	struct rg__partition at;
	uint64_t epoch; /* of the ownership */
	int64_t offset; /* of the next record to read */
	int32_t leader_epoch; /* of the record before it, -1: not known */
	const void *metadata;
	size_t metadata_len;
	bool answered;
	rg_err err; /* once answered */
};

struct rg__commit {
	struct rg__commit *next; /* loop */
	struct rg__commit_entry *entries;
	size_t count;
	int32_t generation; /* the one the partitions belong to */
	char *member_id;
	int64_t ends_at; /* monotonic */
	bool gives_way;  /* a topic that is gone must not hold up what comes after it */
	int64_t gone_since; /* since when topics that do not exist are all that is left, 0: they are not */
	bool finished;   /* under the thread's lock */
	bool wakeable;   /* rg_consumer_wakeup() ends the wait for it */
	bool woken;      /* it has */
	rg_error last;   /* why it is tried again */
	rg_error error;  /* once finished: the whole, or the first partition's that failed */
	struct rg__arena arena;
};

struct rg__committer {
	struct rg__commit *first; /* under way */
	struct rg__commit *last;  /* when there is a first */
	struct rg__timer *timer;  /* between attempts */
	struct rg__timer *deadline; /* of the first */
	bool pausing;             /* the timer runs */
	bool going_on;
	rg__request_id request;
	const void *body; /* of it, while its commit is the first */
	bool sent;        /* it has been, at least once */
	bool orphaned;    /* its commit has ended before the answer came */
	uint32_t epoch; /* of the membership, when it was sent */
	unsigned failures;
	int64_t sent_us;
	struct rg__random random;
};

/* The application: room for `count` entries, to be filled; NULL: out of memory. Belongs to the caller. */
struct rg__commit *rg__commit_new(size_t count, int32_t generation, const char *member_id);
void rg__commit_free(struct rg__commit *commit); /* finished, or never sent */

void rg__commit_send(rg_consumer *consumer, struct rg__commit *commit, int64_t timeout_ms);
bool rg__commit_finished(rg_consumer *consumer, struct rg__commit *commit);
/* Waits for the end, at most until its time is up or it is woken, and takes it back then: it is finished when this
 * returns. */
void rg__commit_wait(rg_consumer *consumer, struct rg__commit *commit);
void rg__commit_cancel(rg_consumer *consumer, struct rg__commit *commit); /* finished with RG_ERR_TIMED_OUT or _WOKEN */

/* Loop. */
bool rg__committer_init(rg_consumer *consumer); /* false: out of memory */
void rg__committer_end(rg_consumer *consumer);

#endif
