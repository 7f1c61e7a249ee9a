/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_CLUSTER_H
#define RG__LINK_CLUSTER_H

/* Requests that any broker can answer (Metadata, FindCoordinator), over one connection to whichever broker works:
 * the known ones in turn, and the bootstrap addresses when none of those does (KIP-899). Each address has a
 * backoff of its own that grows with its failures, so a cluster that is down costs a bounded number of attempts.
 * Connects when there is something to ask, and keeps the connection. The rules of io.h hold. */

#include "link/link.h"

struct rg__cluster;

struct rg__cluster_conf {
	struct rg__link_conf link;
	const char *bootstrap; /* bootstrap.servers; copied */
	int64_t reconnect_backoff_ms, reconnect_backoff_max_ms; /* at least 1 */
	/* metadata.recovery.strategy (KIP-899, KIP-1102). True: bootstrap addresses have their turn when no known broker works,
	 * and the known ones are forgotten when none has answered for so long, or one says so. False: bootstrap addresses are
	 * for the start only. */
	bool rebootstrap;
	int64_t rebootstrap_trigger_ms;
	int64_t idle_max_ms; /* connections.max.idle.ms: a connection without requests for so long is closed; 0: never */
	uint64_t seed; /* of the order in which brokers are tried, and of the jitter */
};

/* Kafka's defaults; bootstrap and seed remain to be set. */
void rg__cluster_conf_init(struct rg__cluster_conf *ret_conf);

struct rg__cluster_events {
	/* An attempt to connect failed: "host:port: cause". For telling the user; the cluster goes on by itself. May be
	 * NULL. */
	void (*failed)(void *user, const rg_error *error);
	void (*up)(void *user, const char *broker); /* connected to "host:port". May be NULL. */
	/* A request ended, with code RG_OK or as its `done`, which comes next, will say. For telling the user; it must not call
	 * into the cluster. May be NULL. */
	void (*answered)(void *user, int16_t api_key, const rg_error *error);
};

/* RG_ERR_INVALID: the bootstrap list, with its faulty entry in the text. RG_ERR_MEMORY. conf and events must
 * outlive it. */
rg_err rg__cluster_new(struct rg__io *io, const struct rg__cluster_conf *conf, const struct rg__cluster_events *events,
                       void *user, struct rg__cluster **ret_cluster, rg_error *error);
void rg__cluster_free(struct rg__cluster *cluster); /* NULL is fine; requests are dropped without `done` */

/* As rg__link_request, in any state. Waits (up to its timeout) until a broker is reachable; a timeout's text holds
 * the last failure. When the connection breaks after the request was sent, `done` gets that error: whether to
 * repeat is the caller's decision. RG_ERR_INVALID, RG_ERR_STATE (queue full), RG_ERR_MEMORY. */
rg_err rg__cluster_request(struct rg__cluster *cluster, const struct rg__call *call, rg__request_id *ret_id);
void rg__cluster_cancel(struct rg__cluster *cluster, rg__request_id id);

/* Somebody will ask soon: connects already, with one attempt. If that fails, nobody hears of it unless something has been asked
 * by then. */
void rg__cluster_prepare(struct rg__cluster *cluster);

/* Tells of a broker; one with the same id is replaced. The brokers in Metadata answers that pass through are learned by
 * themselves, and replace all. RG_ERR_INVALID: negative id, unusable host or port. RG_ERR_MEMORY. */
rg_err rg__cluster_learn(struct rg__cluster *cluster, int32_t node_id, const char *host, int32_t port);

/* Where a known broker is; the pointer lives until the next learning. False: unknown id. */
bool rg__cluster_node(const struct rg__cluster *cluster, int32_t node_id, const char **ret_host, uint16_t *ret_port);

/* The connection in use broke its promise (say, it does not know what it should): leave it, try another broker. What is
 * outstanding on it gets RG_ERR_TRANSPORT. */
void rg__cluster_leave(struct rg__cluster *cluster);

/* "host:port" of the broker that is connected, or NULL. */
const char *rg__cluster_broker(const struct rg__cluster *cluster);

#endif
