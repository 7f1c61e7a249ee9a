/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_METADATA_H
#define RG__CONSUMER_METADATA_H

/* Asks any broker which partitions topics have. */

#include "assign/view.h"
#include "codec/metadata.h"
#include "member/member.h"

#include <regroup/consumer.h>

/* A Metadata request for topics, out of the arena; the names must outlive it. NULL: out of memory. */
const struct rg__metadata_request *rg__metadata_request(const struct rg__bytes *names, size_t count, bool create,
                                                        struct rg__arena *arena);

/* The topics that exist, in byte order, with the racks of their replicas where any broker has one (KIP-881).
 * Names are views into the answer. False: out of memory. */
bool rg__metadata_topics(const struct rg__metadata_response *body, struct rg__arena *arena,
                         struct rg__topic_input **ret_topics, int32_t *ret_count);

/* Metadata for the leader: asks until there is an answer, with growing pauses. Ahead of time, while nobody needs it yet: asks
 * once, and tells nobody. */
struct rg__metadata_job {
	rg_consumer *consumer;
	const struct rg__bytes *names;
	size_t count;
	struct rg__arena names_arena; /* of those that were asked for ahead of time */
	int64_t asked_us;
	bool ahead;                 /* under the thread's lock */
	struct rg__arena arena;
	rg__request_id request;     /* loop; 0: none */
	struct rg__timer *timer;    /* loop */
	unsigned failures;          /* loop */
	struct rg__message *answer; /* under the thread's lock; a struct rg__metadata_response */
};

/* The application. The names must outlive the job. NULL: out of memory. */
struct rg__metadata_job *rg__metadata_job_new(rg_consumer *consumer, const struct rg__bytes *names, size_t count);
/* The same ahead of time; `names` are copied. */
struct rg__metadata_job *rg__metadata_job_new_ahead(rg_consumer *consumer, const char *const *names, size_t count);
/* The leader needs it now. False: what it has, or will get, is not what the leader asks for, or too old. */
bool rg__metadata_job_take(struct rg__metadata_job *job, const struct rg__bytes *names, size_t count);
void rg__metadata_job_free(struct rg__metadata_job *job);
const struct rg__metadata_response *rg__metadata_job_answer(struct rg__metadata_job *job); /* NULL: not yet */

#endif
