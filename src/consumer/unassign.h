/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_UNASSIGN_H
#define RG__CONSUMER_UNASSIGN_H

/* Takes partitions away from librdkafka on a thread of its own. The call waits without end for librdkafka's main thread,
 * which may be busy for many seconds with thousands of partitions that do not exist; neither close nor poll has that time.
 * Nothing comes out of them meanwhile, but nothing may be assigned either: the two would overtake each other. */

#include <librdkafka/rdkafka.h>
#include <regroup/consumer.h>
#include <stdbool.h>

struct rg__unassign;

/* Takes the list over, and wakes the consumer up when done. NULL: out of memory, or no thread; the list stays the
 * caller's. */
struct rg__unassign *rg__unassign_start(rg_consumer *consumer, rd_kafka_topic_partition_list_t *list);

/* True: done, with what librdkafka had against it in *ret_refused, NULL: nothing. Belongs to the caller. */
bool rg__unassign_finished(struct rg__unassign *unassign, rd_kafka_error_t **ret_refused);

void rg__unassign_forget_consumer(struct rg__unassign *unassign); /* it is about to go; NULL is fine */
void rg__unassign_free(struct rg__unassign *unassign);            /* waits for its end; NULL is fine */

#endif
