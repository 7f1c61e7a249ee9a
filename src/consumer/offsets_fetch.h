/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_OFFSETS_FETCH_H
#define RG__CONSUMER_OFFSETS_FETCH_H

/* Asks the group where to begin: one OffsetFetch, one answer. Whether to ask again is decided by who asked. */

#include "consumer/ownership.h"
#include "member/member.h"

#include <regroup/consumer.h>

struct rg__offsets_fetch_entry {
	struct rg__partition at;
	uint64_t epoch;
	int64_t offset; /* RG__NO_OFFSET: the group has none */
	int32_t leader_epoch; /* as it was committed, -1: not known */
	struct rg__bytes metadata; /* the same, out of the arena */
	rg_err err;
};

struct rg__offsets_fetch {
	rg_consumer *consumer;
	struct rg__offsets_fetch_entry *entries; /* in order */
	size_t count;
	bool wants_metadata;
	struct rg__arena arena;
	rg__request_id request; /* loop; 0: none */
	uint32_t epoch;
	bool finished; /* under the thread's lock */
	rg_error error; /* of the whole; entries are not filled then */
};

/* The application. NULL: out of memory. */
struct rg__offsets_fetch *rg__offsets_fetch_new(rg_consumer *consumer, size_t count);
void rg__offsets_fetch_free(struct rg__offsets_fetch *fetch); /* cancels it */
void rg__offsets_fetch_send(struct rg__offsets_fetch *fetch);
bool rg__offsets_fetch_finished(struct rg__offsets_fetch *fetch);

#endif
