/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_LOOKUP_H
#define RG__CONSUMER_LOOKUP_H

/* Which offset partitions had at a time, or where they begin or end. librdkafka knows how to ask, but waits, so
 * it does that on a thread of its own; poll goes on meanwhile. At most one at a time. The application's thread only. */

#include "consumer/ownership.h"

#include <regroup/consumer.h>

struct rg__lookup;

struct rg__lookup_question {
	struct rg__partition at;
	uint64_t epoch;  /* of the ownership that asks */
	int64_t time_ms; /* or RD_KAFKA_OFFSET_BEGINNING, RD_KAFKA_OFFSET_END */
};

/* The questions are copied. NULL: out of memory, or no thread. */
struct rg__lookup *rg__lookup_start(rg_consumer *consumer, const struct rg__lookup_question *questions, size_t count,
                                    int timeout_ms);
bool rg__lookup_finished(struct rg__lookup *lookup);
void rg__lookup_free(struct rg__lookup *lookup); /* waits for its end, which is never far away; NULL is fine */

/* Of the i-th partition once finished; RG_OK or the error. Behind the last record of all: RD_KAFKA_OFFSET_END. */
rg_err rg__lookup_result(const struct rg__lookup *lookup, size_t i, struct rg__partition *ret_at, uint64_t *ret_epoch,
                         int64_t *ret_offset);
size_t rg__lookup_count(const struct rg__lookup *lookup);

#endif
