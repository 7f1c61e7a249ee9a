/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the coordinator through any broker, and keeps one connection to it. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "member/internal.h"

#include <stdio.h>
#include <string.h>

/* What the answer says of our group, whichever shape its version has (KIP-699). */
struct found {
	rg_err err;
	struct rg__bytes message, host;
	int32_t node_id, port;
};

static struct found read_answer(const struct rg__find_coordinator_response *body, int16_t version)
{
	if (version < 4)
		return (struct found){body->error_code, body->error_message, body->host, body->node_id, body->port};
	if (body->coordinators.count != 1)
		return (struct found){RG_ERR_PROTOCOL, rg__bytes_of("not one coordinator for one group"), RG__NULL_BYTES, -1, 0};
	const struct rg__find_coordinator_response_coordinator *one = body->coordinators.items;

	return (struct found){one->error_code, one->error_message, one->host, one->node_id, one->port};
}

static void answer_find(rg_member *member, rg_err err)
{
	rg__member_step(member, &(struct rg__event){
					.type = RG__EVENT_FIND_ANSWERED, .attempt = member->find_attempt, .err = err});
}

static void trace_coordinator(rg_member *member)
{
	struct rg__event_line line = {0};

	if (!rg__event_wanted(member->events))
		return;
	rg__event_begin(&line, rg__event_now_us(member->events), "client", rg__machine_member_id(member->machine),
	                rg__machine_generation(member->machine), "coordinator");
	rg__event_str(&line, "host", member->host);
	rg__event_int(&line, "port", member->port);
	rg__event_int(&line, "node", member->node_id);
	rg__event_emit(member->events, &line);
}

static void found(void *user, const struct rg__response *response)
{
	rg_member *member = user;
	struct found found;
	rg_err err;

	member->find_id = 0;
	if (response->error.code) {
		member->cause = response->error;
		answer_find(member, response->error.code);
		return;
	}
	found = read_answer(response->body, response->version);
	if (!found.err && (found.node_id < 0 || !found.host.len || memchr(found.host.data, '\0', found.host.len) ||
	                   found.port < 1 || found.port > 65535)) {
		found.err = RG_ERR_PROTOCOL;
		found.message = rg__bytes_of("the coordinator's address makes no sense");
	}
	if (found.err) {
		rg__explain(member, RG__REQUEST_FIND_COORDINATOR, found.err, response->broker, found.message);
		/* This broker may be the only one that does not know: ask another. */
		if (rg__react(RG__REQUEST_FIND_COORDINATOR, found.err)->verb == RG__RETRY && found.err != 14)
			rg__cluster_leave(member->cluster);
		answer_find(member, found.err);
		return;
	}
	err = rg__bytes_store(found.host, &member->host) ? RG_OK : RG_ERR_MEMORY;
	member->port = (uint16_t)found.port;
	member->node_id = found.node_id;
	if (!err && !rg__fresh_link(member))
		err = RG_ERR_MEMORY;
	if (err) {
		rg__fail(&member->cause, err, "out of memory");
	} else {
		rg__cluster_learn(member->cluster, found.node_id, member->host, found.port);
		trace_coordinator(member);
	}
	answer_find(member, err);
	if (!err)
		rg__requests_to_link(member);
}

static const void *prepare_find(void *user, int16_t version)
{
	rg_member *member = user;

	memset(&member->find_request, 0, sizeof(member->find_request));
	member->find_key = rg__bytes_of(member->conf->settings.group_id);
	if (version < 4)
		member->find_request.key = member->find_key;
	else
		member->find_request.coordinator_keys = (struct rg__array){&member->find_key, 1};
	if (version >= 4)
		member->find_request.key = rg__bytes_of("");
	return &member->find_request;
}

void rg__find_coordinator(rg_member *member, const struct rg__action *action)
{
	struct rg__call call = {.api_key = RG__API_FIND_COORDINATOR,
	                        .prepare = prepare_find,
	                        .timeout_ms = action->timeout_us / 1000,
	                        .done = found,
	                        .user = member};
	rg_err err;

	member->find_attempt = action->attempt;
	if (member->find_id)
		rg__cluster_cancel(member->cluster, member->find_id);
	err = rg__cluster_request(member->cluster, &call, &member->find_id);
	if (err) {
		member->find_id = 0;
		rg__explain(member, RG__REQUEST_FIND_COORDINATOR, err, NULL, RG__NULL_BYTES);
		rg__member_defer(member, &(struct rg__event){
						 .type = RG__EVENT_FIND_ANSWERED, .attempt = action->attempt, .err = err});
	}
}

static void link_down(void *user, const rg_error *error)
{
	rg_member *member = user;

	member->cause = *error;
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_COORDINATOR_DOWN, .err = error->code});
}

/* Told before what is outstanding is answered: that may be the end of the link. */
static void link_breaks(void *user, const rg_error *error)
{
	rg_member *member = user;

	rg__trouble_connection(member, RG__TROUBLE_COORDINATOR, error);
	rg__trace_error(member, error);
}

static const struct rg__link_events link_events = {.down = link_down, .breaks = link_breaks};

/* A new connection to the coordinator we know, instead of the one there was. */
bool rg__fresh_link(rg_member *member)
{
	rg__drop_link(member);
	member->link = rg__link_new(member->io, &member->cluster_conf.link, &link_events, member);
	if (!member->link)
		return false;
	if (rg__link_connect(member->link, member->host, member->port) == RG_OK)
		return true;
	rg__drop_link(member);
	return false;
}

void rg__drop_link(rg_member *member)
{
	rg__requests_off_link(member);
	rg__link_free(member->link);
	member->link = NULL;
	member->join_id = member->sync_id = member->heartbeat_id = member->leave_id = 0;
}

int32_t rg__member_coordinator(const rg_member *member, char *text, size_t size)
{
	snprintf(text, size, "%s", "");
	if (!member->host || rg__machine_coordinator(member->machine) != RG__COORDINATOR_KNOWN)
		return -1;
	snprintf(text, size, strchr(member->host, ':') ? "[%s]:%u" : "%s:%u", member->host, (unsigned)member->port);
	return member->node_id;
}

const struct rg__counters *rg__member_counters(const rg_member *member)
{
	return &member->counters;
}
