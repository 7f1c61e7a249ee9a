/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_AHEAD_H
#define RG__CONSUMER_AHEAD_H

/* Records that were taken out of librdkafka's queue in one go, since each visit there costs more than a record, and have not
 * been handed out yet. They are not the application's: what is given up meanwhile is dropped. The application's thread only. */

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

enum { RG__AHEAD_MAX = 256 };

struct rg__ahead {
	rd_kafka_message_t *messages[RG__AHEAD_MAX];
	size_t next, count;
};

/* Whatever the queue holds, without waiting. There must be none left of the last time. */
void rg__ahead_fill(struct rg__ahead *ahead, rd_kafka_queue_t *queue);
rd_kafka_message_t *rg__ahead_take(struct rg__ahead *ahead); /* NULL: none */
/* Those of one partition; `topic` NULL: all. */
void rg__ahead_drop(struct rg__ahead *ahead, const char *topic, int32_t partition);

#endif
