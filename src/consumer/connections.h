/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_CONNECTIONS_H
#define RG__CONSUMER_CONNECTIONS_H

/* The connections of one handle of librdkafka's, so that they can be ended before the handle is.
 *
 * Each broker thread of librdkafka whose connection breaks asks any other broker for metadata, also while the handle is
 * being destroyed; what it takes hold of may be gone by then, and librdkafka aborts the process (its issue 3608, still in
 * 2.12). Its own connection to the coordinator breaks in every destruction, so this is up to the scheduler alone. Without
 * connections nobody asks. */

#include "consumer/voice.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

struct rg__connections;

/* librdkafka's log goes to the voice, which must outlive it. NULL: out of memory. */
struct rg__connections *rg__connections_new(struct rg__voice *voice);
/* After the handle's end. */
void rg__connections_free(struct rg__connections *connections);

/* Before a handle is made of the configuration, which must be the only one with these connections. Takes its opaque
 * pointer and its callbacks for connecting, closing and logging. */
void rg__connections_watch(struct rg__connections *connections, rd_kafka_conf_t *conf);

/* Breaks all of them, refuses new ones, and keeps to itself what librdkafka logs about that. Does not wait. */
void rg__connections_cut(struct rg__connections *connections);
/* Whether all are closed within the time. */
bool rg__connections_gone(struct rg__connections *connections, int timeout_ms);

#endif
