/* SPDX-License-Identifier: Apache-2.0 */
#include "link/cluster.h"

#include "link/candidates.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "codec/metadata.h"

#include <string.h>
#include <utlist.h>

/* Requests wait here until a broker is connected, and only then move to its link. */

enum { REBOOTSTRAP_REQUIRED = 129 };

struct request {
	struct request *prev, *next;
	struct rg__cluster *cluster;
	rg__request_id id, link_id; /* link_id 0: waiting here */
	struct rg__call call;
	int64_t deadline_us, timeout_ms;
	rg_error error; /* of one that the link refused and that is to be answered from the loop */
};

struct rg__cluster {
	struct rg__io *io;
	const struct rg__cluster_conf *conf;
	const struct rg__cluster_events *events;
	void *user;
	struct rg__candidates candidates;
	struct rg__link *link;
	struct rg__timer *timer;
	struct rg__endpoint current; /* where the link goes */
	bool connecting, up;
	bool preparing; /* connects for nobody yet */
	int64_t connect_at_us;       /* not before; 0: now */
	struct request *requests;
	int32_t count;
	rg__request_id last_id;
	rg_error last_failure; /* for the text of timeouts */
	int64_t wanting_since_us; /* somebody waits, and no broker has answered since; 0: not so */
	int64_t idle_since_us;    /* of the connection; 0: it is used, or there is none */
	bool closing; /* it was idle for too long */
	int busy;
	bool freed;
};

void rg__cluster_conf_init(struct rg__cluster_conf *ret_conf)
{
	*ret_conf = (struct rg__cluster_conf){
		.reconnect_backoff_ms = 50,
		.reconnect_backoff_max_ms = 1000,
		.rebootstrap = true,
		.rebootstrap_trigger_ms = 300000,
		.idle_max_ms = 540000,
	};
	rg__link_conf_init(&ret_conf->link);
}

static void destroy(struct rg__cluster *cluster)
{
	rg__candidates_clear(&cluster->candidates);
	rg__free(cluster);
}

/* --- When something is due ---------------------------------------------------------------------------------------- */

static void note_idleness(struct rg__cluster *cluster)
{
	if (cluster->requests || !cluster->up || cluster->closing || !cluster->conf->idle_max_ms)
		cluster->idle_since_us = 0;
	else if (!cluster->idle_since_us)
		cluster->idle_since_us = rg__now_us(cluster->io);
	if (!cluster->requests)
		cluster->wanting_since_us = 0;
}

static void schedule(struct rg__cluster *cluster)
{
	int64_t at = INT64_MAX;
	bool waiting = false;
	struct request *request;

	if (cluster->busy)
		return; /* leave() will */
	DL_FOREACH(cluster->requests, request) {
		if (request->link_id)
			continue;
		waiting = true;
		if (request->error.code)
			at = 0;
		else if (request->deadline_us < at)
			at = request->deadline_us;
	}
	if (waiting && !cluster->connecting && !cluster->up && cluster->connect_at_us < at)
		at = cluster->connect_at_us;
	note_idleness(cluster);
	if (cluster->idle_since_us && cluster->idle_since_us + cluster->conf->idle_max_ms * 1000 < at)
		at = cluster->idle_since_us + cluster->conf->idle_max_ms * 1000;
	if (at == INT64_MAX)
		rg__timer_clear(cluster->timer);
	else
		rg__timer_set(cluster->timer, at);
}

static void enter(struct rg__cluster *cluster)
{
	cluster->busy++;
}

static void leave(struct rg__cluster *cluster)
{
	if (--cluster->busy)
		return;
	if (cluster->freed)
		destroy(cluster);
	else
		schedule(cluster);
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

/* Takes it out and runs its `done`. */
static void finish(struct request *request, const struct rg__response *response)
{
	struct rg__cluster *cluster = request->cluster;
	struct rg__call call = request->call;

	DL_DELETE(cluster->requests, request);
	cluster->count--;
	rg__free(request);
	if (cluster->events->answered)
		cluster->events->answered(cluster->user, call.api_key, &response->error);
	call.done(call.user, response);
}

/* From bootstrap.servers. */
static void start_again(struct rg__cluster *cluster)
{
	rg__candidates_forget(&cluster->candidates);
	rg__candidates_tidy(&cluster->candidates);
}

static void learn(struct rg__cluster *cluster, const struct rg__metadata_response *metadata)
{
	const struct rg__metadata_response_broker *brokers = metadata->brokers.items;

	/* KIP-1102: the broker says that it is not of the cluster any more. */
	if (metadata->error_code == REBOOTSTRAP_REQUIRED && cluster->conf->rebootstrap) {
		start_again(cluster);
		rg__link_disconnect(cluster->link, "the broker asks to start again from bootstrap.servers");
		return;
	}
	if (metadata->brokers.count <= 0)
		return;
	rg__candidates_forget(&cluster->candidates);
	for (int32_t i = 0; i < metadata->brokers.count; i++) {
		/* What cannot be used or held is left out: bootstrap addresses remain in any case. */
		if (brokers[i].host.data)
			rg__candidates_learn(&cluster->candidates, brokers[i].node_id, (const char *)brokers[i].host.data,
			                     brokers[i].host.len, brokers[i].port);
	}
	rg__candidates_tidy(&cluster->candidates);
}

static void answered(void *user, const struct rg__response *response)
{
	struct request *request = user;
	struct rg__cluster *cluster = request->cluster;

	enter(cluster);
	if (response->body) {
		cluster->wanting_since_us = 0;
		rg__candidates_worked(&cluster->candidates, &cluster->current);
		if (response->api_key == RG__API_METADATA)
			learn(cluster, response->body);
	}
	finish(request, response);
	leave(cluster);
}

static const void *prepare(void *user, int16_t version)
{
	struct request *request = user;

	return request->call.prepare(request->call.user, version);
}

/* Gives what waits to the link, which is up. */
static void pass(struct rg__cluster *cluster)
{
	int64_t now = rg__now_us(cluster->io);
	struct request *request;

	DL_FOREACH(cluster->requests, request) {
		if (request->link_id || request->error.code)
			continue;
		struct rg__call call = request->call;

		call.timeout_ms = rg__left_ms(now, request->deadline_us);
		call.prepare = call.prepare ? prepare : NULL;
		call.done = answered;
		call.user = request;
		rg_err err = rg__link_request(cluster->link, &call, &request->link_id);

		if (err)
			rg__fail(&request->error, err, "%s: the request could not be passed on (%s)", rg__link_name(cluster->link),
			         rg_err_name(err));
	}
}

/* Answers what is overdue or was refused, among the waiting. */
static void expire(struct rg__cluster *cluster, int64_t now_us)
{
	const char *why = cluster->last_failure.code ? cluster->last_failure.text : "no broker answered yet";
	rg__request_id last = cluster->last_id; /* those that `done` adds have their turn later */

	for (struct request *at = cluster->requests; !cluster->freed && at && at->id <= last;) {
		if (at->link_id || (!at->error.code && at->deadline_us > now_us)) {
			at = at->next;
			continue;
		}
		struct rg__response response = {
			.error = at->error, .api_key = at->call.api_key, .version = -1, .broker = rg__link_name(cluster->link)};

		if (!response.error.code)
			rg__fail(&response.error, RG_ERR_TIMED_OUT, "%s: no broker was reachable within %lld ms; %s",
			         rg__api_by_key(at->call.api_key)->name, (long long)at->timeout_ms, why);
		finish(at, &response);
		at = cluster->freed ? NULL : cluster->requests; /* `done` may have changed the list anywhere */
	}
}

/* --- The connection ----------------------------------------------------------------------------------------------- */

static bool has_waiting(const struct rg__cluster *cluster)
{
	struct request *request;

	DL_FOREACH(cluster->requests, request) {
		if (!request->link_id && !request->error.code)
			return true;
	}
	return false;
}

/* KIP-1102: when no known broker has answered for long, the cluster may have moved as a whole. */
static void rebootstrap_if_due(struct rg__cluster *cluster, int64_t now_us)
{
	int64_t trigger_us = cluster->conf->rebootstrap_trigger_ms * 1000;

	if (!cluster->wanting_since_us)
		cluster->wanting_since_us = now_us;
	if (!cluster->conf->rebootstrap || now_us - cluster->wanting_since_us < trigger_us)
		return;
	cluster->wanting_since_us = now_us;
	if (!rg__candidates_any_known(&cluster->candidates))
		return;
	rg__log(cluster->conf->link.log, RG__LOG_NOTICE, "CONNECT",
	        "no known broker has answered for %lld ms (metadata.recovery.rebootstrap.trigger.ms): starting again from "
	        "bootstrap.servers",
	        (long long)cluster->conf->rebootstrap_trigger_ms);
	start_again(cluster);
}

/* Connects when somebody waits and some address is due. */
static void connect_if_wanted(struct rg__cluster *cluster)
{
	int64_t now = rg__now_us(cluster->io);

	if (cluster->connecting || cluster->up || !(has_waiting(cluster) || cluster->preparing))
		return;
	rebootstrap_if_due(cluster, now);
	struct rg__candidate *next = rg__candidates_next(&cluster->candidates, now, &cluster->connect_at_us);

	if (!next)
		return;
	cluster->current = next->at;
	if (rg__link_connect(cluster->link, next->at.host, next->at.port) == RG_OK) {
		cluster->connecting = true;
		cluster->connect_at_us = 0;
	} else {
		/* No memory, or a name that cannot be one: the next address, in the next turn of the loop. */
		rg__candidates_failed(&cluster->candidates, &cluster->current, now);
		cluster->connect_at_us = 0;
	}
}

static void link_up(void *user)
{
	struct rg__cluster *cluster = user;

	enter(cluster);
	cluster->connecting = cluster->preparing = false;
	cluster->up = true;
	cluster->last_failure.code = RG_OK;
	if (cluster->events->up)
		cluster->events->up(cluster->user, rg__link_name(cluster->link));
	if (!cluster->freed)
		pass(cluster);
	leave(cluster);
}

static void link_down(void *user, const rg_error *error)
{
	struct rg__cluster *cluster = user;
	bool tell = cluster->connecting && (!cluster->preparing || has_waiting(cluster));

	enter(cluster);
	cluster->connecting = cluster->up = cluster->preparing = false;
	if (cluster->closing) { /* by us, which is no failure of the broker's */
		cluster->closing = false;
		connect_if_wanted(cluster);
		leave(cluster);
		return;
	}
	/* A broker that answered has worked, and may be asked again after the shortest pause. One that only shakes hands and
	 * hangs up has not: its pauses grow. */
	rg__candidates_failed(&cluster->candidates, &cluster->current, rg__now_us(cluster->io));
	cluster->connect_at_us = 0;
	cluster->last_failure = *error;
	if (tell && cluster->events->failed)
		cluster->events->failed(cluster->user, error);
	if (!cluster->freed)
		connect_if_wanted(cluster);
	leave(cluster);
}

static const struct rg__link_events link_events = {.up = link_up, .down = link_down};

static void close_if_idle(struct rg__cluster *cluster)
{
	int64_t idle_max_us = cluster->conf->idle_max_ms * 1000;

	if (!cluster->idle_since_us || rg__now_us(cluster->io) - cluster->idle_since_us < idle_max_us)
		return;
	cluster->closing = true;
	cluster->idle_since_us = 0;
	rg__link_disconnect(cluster->link, "idle for connections.max.idle.ms");
}

static void timer_fired(void *user)
{
	struct rg__cluster *cluster = user;

	enter(cluster);
	close_if_idle(cluster);
	expire(cluster, rg__now_us(cluster->io));
	if (!cluster->freed)
		connect_if_wanted(cluster);
	leave(cluster);
}

/* --- The owner's calls -------------------------------------------------------------------------------------------- */

rg_err rg__cluster_new(struct rg__io *io, const struct rg__cluster_conf *conf, const struct rg__cluster_events *events,
                       void *user, struct rg__cluster **ret_cluster, rg_error *error)
{
	struct rg__endpoint *endpoints = NULL;
	size_t count = 0;
	rg_err err = rg__bootstrap_parse(conf->bootstrap, &endpoints, &count, error);

	if (err)
		return err;
	struct rg__cluster *cluster = rg__calloc(1, sizeof(*cluster));

	if (cluster && rg__candidates_init(&cluster->candidates, endpoints, count, conf->reconnect_backoff_ms,
	                                   conf->reconnect_backoff_max_ms, conf->seed) == RG_OK) {
		cluster->io = io;
		cluster->conf = conf;
		cluster->events = events;
		cluster->user = user;
		cluster->candidates.never_again = !conf->rebootstrap;
		cluster->timer = rg__timer_new(io, timer_fired, cluster);
		cluster->link = rg__link_new(io, &conf->link, &link_events, cluster);
	}
	rg__free(endpoints);
	if (!cluster || !cluster->timer || !cluster->link) {
		rg__cluster_free(cluster);
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	}
	*ret_cluster = cluster;
	return RG_OK;
}

void rg__cluster_free(struct rg__cluster *cluster)
{
	struct request *request, *next;

	if (!cluster)
		return;
	cluster->freed = true;
	rg__link_free(cluster->link);
	rg__timer_free(cluster->timer);
	DL_FOREACH_SAFE(cluster->requests, request, next) {
		DL_DELETE(cluster->requests, request);
		rg__free(request);
	}
	if (!cluster->busy)
		destroy(cluster);
}

rg_err rg__cluster_request(struct rg__cluster *cluster, const struct rg__call *call, rg__request_id *ret_id)
{
	if (!rg__api_by_key(call->api_key))
		return RG_ERR_INVALID;
	if (cluster->count >= cluster->conf->link.queue_max)
		return RG_ERR_STATE;
	struct request *request = rg__calloc(1, sizeof(*request));

	if (!request)
		return RG_ERR_MEMORY;
	request->cluster = cluster;
	request->id = ++cluster->last_id;
	request->call = *call;
	request->timeout_ms = call->timeout_ms < 0 ? cluster->conf->link.request_timeout_ms : call->timeout_ms;
	request->deadline_us = rg__deadline_us(rg__now_us(cluster->io), request->timeout_ms);
	DL_APPEND(cluster->requests, request);
	cluster->count++;
	if (ret_id)
		*ret_id = request->id;
	if (rg__link_is_up(cluster->link))
		pass(cluster);
	schedule(cluster);
	return RG_OK;
}

void rg__cluster_cancel(struct rg__cluster *cluster, rg__request_id id)
{
	struct request *request;

	DL_SEARCH_SCALAR(cluster->requests, request, id, id);
	if (!request)
		return;
	if (request->link_id)
		rg__link_cancel(cluster->link, request->link_id);
	DL_DELETE(cluster->requests, request);
	cluster->count--;
	rg__free(request);
	schedule(cluster);
}

void rg__cluster_prepare(struct rg__cluster *cluster)
{
	cluster->preparing = !cluster->connecting && !cluster->up;
	connect_if_wanted(cluster);
	if (!cluster->connecting)
		cluster->preparing = false;
	schedule(cluster);
}

rg_err rg__cluster_learn(struct rg__cluster *cluster, int32_t node_id, const char *host, int32_t port)
{
	rg_err err = rg__candidates_learn(&cluster->candidates, node_id, host, strlen(host), port);

	rg__candidates_tidy(&cluster->candidates);
	return err;
}

bool rg__cluster_node(const struct rg__cluster *cluster, int32_t node_id, const char **ret_host, uint16_t *ret_port)
{
	const struct rg__candidate *node = rg__candidates_node(&cluster->candidates, node_id);

	if (!node)
		return false;
	*ret_host = node->at.host;
	*ret_port = node->at.port;
	return true;
}

void rg__cluster_leave(struct rg__cluster *cluster)
{
	rg__link_disconnect(cluster->link, "given up for another broker");
}

const char *rg__cluster_broker(const struct rg__cluster *cluster)
{
	return rg__link_is_up(cluster->link) ? rg__link_name(cluster->link) : NULL;
}
