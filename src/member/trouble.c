/* SPDX-License-Identifier: Apache-2.0 */
/* What is retried for long is told: every answer passes here after the machine has seen it. */
#include "member/internal.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#define FACILITY "RETRY"

static const enum rg__request request_of[] = {
	[RG__EVENT_FIND_ANSWERED] = RG__REQUEST_FIND_COORDINATOR, [RG__EVENT_JOIN_ANSWERED] = RG__REQUEST_JOIN_GROUP,
	[RG__EVENT_SYNC_ANSWERED] = RG__REQUEST_SYNC_GROUP,       [RG__EVENT_HEARTBEAT_ANSWERED] = RG__REQUEST_HEARTBEAT,
	[RG__EVENT_COMMIT_ANSWERED] = RG__REQUEST_OFFSET_COMMIT,  [RG__EVENT_FETCH_ANSWERED] = RG__REQUEST_OFFSET_FETCH,
	[RG__EVENT_ASSIGNED] = RG__REQUEST_SYNC_GROUP,
};

/* A plan that failed for want of memory counts as a SyncGroup that did; one that was made is not yet sent. */
static bool is_answer(const struct rg__event *event)
{
	enum rg__event_type type = event->type;

	if (type == RG__EVENT_ASSIGNED)
		return event->err != RG_OK;
	return type == RG__EVENT_FIND_ANSWERED || type == RG__EVENT_JOIN_ANSWERED || type == RG__EVENT_SYNC_ANSWERED ||
	       type == RG__EVENT_HEARTBEAT_ANSWERED || type == RG__EVENT_COMMIT_ANSWERED || type == RG__EVENT_FETCH_ANSWERED;
}

static bool is_of_offsets(enum rg__request request)
{
	return request == RG__REQUEST_OFFSET_COMMIT || request == RG__REQUEST_OFFSET_FETCH;
}

static const char *remedy(enum rg__request request, const struct rg__reaction *reaction)
{
	if (request == RG__REQUEST_FIND_COORDINATOR)
		return reaction->code == 14 ? "the broker is asked again" : "the brokers are asked in turn";
	if (reaction->drop_coordinator)
		return "the coordinator is looked up again";
	if (reaction->verb == RG__REJOIN || request == RG__REQUEST_JOIN_GROUP || request == RG__REQUEST_SYNC_GROUP)
		return "the member joins again";
	return "it is sent again";
}

static const char *label_of(const rg_member *member, enum rg__request request, char *text, size_t size)
{
	snprintf(text, size, "%s for group \"%.200s\"", rg__request_label(request), member->conf->settings.group_id);
	return text;
}

/* Whether it counts as a failure that is retried. What the application is told in another way (REPORT, FAIL, CALLER) does
 * not, nor does a heartbeat that says that the group rebalances. */
static bool is_retried(enum rg__request request, const struct rg__reaction *reaction)
{
	if (is_of_offsets(request))
		return reaction->verb == RG__RETRY;
	if (request == RG__REQUEST_HEARTBEAT && reaction->verb == RG__REJOIN)
		return !reaction->keep_generation;
	return reaction->verb == RG__RETRY || reaction->verb == RG__REJOIN;
}

/* A good answer that the machine makes nothing of. */
static bool is_nonsense(const rg_member *member, enum rg__request request)
{
	return (request == RG__REQUEST_JOIN_GROUP || request == RG__REQUEST_SYNC_GROUP) &&
	       rg__machine_membership(member->machine) == RG__PREPARING;
}

static bool is_behind_parked(const rg_member *member, enum rg__request request, rg_err err)
{
	return is_of_offsets(request) && err == RG_ERR_TIMED_OUT && rg__machine_expects_silence(member->machine);
}

void rg__trouble_after(rg_member *member, const struct rg__event *event)
{
	struct rg__trouble *trouble;
	enum rg__request request;
	rg_err err = event->err;
	char label[256];

	if (!is_answer(event))
		return;
	request = request_of[event->type];
	trouble = &member->troubles[request];
	if (!err && is_nonsense(member, request))
		err = RG_ERR_PROTOCOL;
	const struct rg__reaction *reaction = rg__react(request, err);

	if (!err) {
		rg__trouble_over(trouble, &member->log, rg__now_us(member->io), FACILITY,
		                 label_of(member, request, label, sizeof(label)));
		return;
	}
	if (!is_retried(request, reaction) || is_behind_parked(member, request, err))
		return;
	if (member->cause.code != err)
		rg__explain(member, request, err, member->link ? rg__link_name(member->link) : NULL, RG__NULL_BYTES);
	rg__trouble_failed(trouble, &member->log, rg__now_us(member->io),
	                   &(struct rg__failure){.facility = FACILITY,
	                                         .what = label_of(member, request, label, sizeof(label)),
	                                         .error = &member->cause,
	                                         .remedy = remedy(request, reaction),
	                                         .cause = (uint32_t)err,
	                                         /* Also that the coordinator was not found in time, which is told already. */
	                                         .at_once = err == RG_ERR_TIMED_OUT && !is_of_offsets(request)});
}

/* No membership, no trouble. */
void rg__trouble_forget(rg_member *member)
{
	for (int i = 0; i < RG__REQUESTS; i++)
		if (!is_of_offsets((enum rg__request)i))
			rg__trouble_over(&member->troubles[i], NULL, 0, NULL, NULL);
}

/* A connection that could not be made, or broke: whose, and what happened, is in the text. That the coordinator's works
 * again is said by what was asked on it, if that was in trouble; what breaks after a long calm is another trouble. */
void rg__trouble_connection(rg_member *member, enum rg__trouble_kind kind, const rg_error *error)
{
	bool coordinator = kind == RG__TROUBLE_COORDINATOR;
	struct rg__trouble *trouble = &member->troubles[kind];
	int64_t now_us = rg__now_us(member->io);

	if (coordinator && now_us - trouble->last_us >= RG__TROUBLE_CALM_MS * INT64_C(1000))
		rg__trouble_over(trouble, NULL, 0, NULL, NULL);
	rg__trouble_failed(trouble, &member->log, now_us,
	                   &(struct rg__failure){.facility = coordinator ? "COORDINATOR" : "CONNECT",
	                                         .what = coordinator ? "coordinator" : NULL,
	                                         .error = error,
	                                         .remedy = coordinator ? "it is looked up again" : "the brokers are tried in turn",
	                                         .cause = rg__hash(error->text, strlen(error->text)),
	                                         .at_once = true});
}

void rg__trouble_connected(rg_member *member, const char *broker)
{
	char label[320];

	snprintf(label, sizeof(label), "the connection (now to %s)", broker);
	rg__trouble_over(&member->troubles[RG__TROUBLE_CONNECT], &member->log, rg__now_us(member->io), "CONNECT", label);
}

/* Whoever asks for Metadata asks again: the watch over topics, the search for patterns, the leader. */
void rg__trouble_metadata(rg_member *member, const rg_error *error)
{
	struct rg__trouble *trouble = &member->troubles[RG__TROUBLE_METADATA];
	int64_t now_us = rg__now_us(member->io);

	if (!error->code)
		rg__trouble_over(trouble, &member->log, now_us, FACILITY, "Metadata");
	else
		rg__trouble_failed(trouble, &member->log, now_us,
		                   &(struct rg__failure){.facility = FACILITY,
		                                         .what = "Metadata",
		                                         .error = error,
		                                         .remedy = "the brokers are asked in turn",
		                                         .cause = (uint32_t)error->code,
		                                         .at_once = error->code == RG_ERR_TIMED_OUT});
}
