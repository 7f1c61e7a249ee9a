/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_ERROR_H
#define REGROUP_ERROR_H

/** @file
 * What went wrong. Every function of regroup that can fail returns an rg_err and, where the caller passes one, fills an
 * rg_error with a sentence that names what, where and what to do. */

#include <regroup/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 0 is success. Positive values are Kafka's protocol error numbers (27 is REBALANCE_IN_PROGRESS), unchanged, so that a
 * value rg_err > 0 may be cast to rd_kafka_resp_err_t. Negative values are regroup's own, listed below. */
typedef int rg_err;

enum {
	RG_OK = 0,
	RG_ERR_MEMORY = -1001,      /**< out of memory; the call changed nothing */
	RG_ERR_INVALID = -1002,     /**< an argument or property is not acceptable; the text says which and why */
	RG_ERR_STATE = -1003,       /**< not possible in this state or on this thread; nothing changed */
	RG_ERR_TIMED_OUT = -1004,   /**< the call's own timeout, or a request's, ran out */
	RG_ERR_TRANSPORT = -1005,   /**< no connection, or it broke */
	RG_ERR_RESOLVE = -1006,     /**< a host name did not resolve */
	RG_ERR_PROTOCOL = -1007,    /**< the peer sent bytes that are not the protocol */
	RG_ERR_UNSUPPORTED = -1008, /**< the broker offers no version of a request that we speak */
	RG_ERR_FATAL = -1009,       /**< the consumer has failed for good; the cause reached poll once */
	RG_ERR_BAD_PLAN = -1010,    /**< an assignor's plan was refused; the text names the first fault */
	RG_ERR_ASSIGNOR = -1011,    /**< an assignor returned an error, or the group chose an unknown one */
	RG_ERR_LOST = -1012,        /**< ownership is gone: not possible for these partitions any more */
	RG_ERR_NOT_OWNED = -1013,   /**< a partition that this consumer does not own */
	RG_ERR_NO_OFFSET = -1014,   /**< no offset to begin at, and auto.offset.reset is none */
	RG_ERR_CLOSED = -1015,      /**< the object is closing or closed */
	RG_ERR_MAX_POLL = -1016,    /**< max.poll.interval.ms passed without a poll; the member left the group */
	RG_ERR_SYSTEM = -1017,      /**< the operating system refused something; the text has its words */
	RG_ERR_LIBRDKAFKA = -1018,  /**< librdkafka refused something; the text has its words */
	RG_ERR_WOKEN = -1019        /**< rg_consumer_wakeup() ended the call; what it was to do may or may not be done */
};

/** An error with its text. Plain data: copy it, keep it, nothing to free. */
typedef struct rg_error {
	rg_err code;
	char text[508]; /**< one sentence, NUL-terminated, never empty when code is not 0; holds no secrets */
} rg_error;

/** The name of an error, such as "REBALANCE_IN_PROGRESS" or "TIMED_OUT"; "UNKNOWN" for a number nobody has given a
 * meaning. A constant; never NULL. Any thread. */
RG_API const char *rg_err_name(rg_err err);

#ifdef __cplusplus
}
#endif
#endif
