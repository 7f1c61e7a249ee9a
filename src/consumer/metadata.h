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

/* Metadata for the leader: asks until there is an answer, with growing pauses. */
struct rg__metadata_job {
	rg_consumer *consumer;
	const struct rg__bytes *names;
	size_t count;
	struct rg__arena arena;
	rg__request_id request;     /* loop; 0: none */
	struct rg__timer *timer;    /* loop */
	unsigned failures;          /* loop */
	struct rg__message *answer; /* under the thread's lock; a struct rg__metadata_response */
};

/* The application. The names must outlive the job. NULL: out of memory. */
struct rg__metadata_job *rg__metadata_job_new(rg_consumer *consumer, const struct rg__bytes *names, size_t count);
void rg__metadata_job_free(struct rg__metadata_job *job);
const struct rg__metadata_response *rg__metadata_job_answer(struct rg__metadata_job *job); /* NULL: not yet */

#endif
