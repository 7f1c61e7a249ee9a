/* SPDX-License-Identifier: Apache-2.0 */
/* OffsetCommit and OffsetFetch: they wait until the coordinator is known, and move with it. */
#include "base/alloc.h"
#include "base/error.h"
#include "member/internal.h"

#include <utlist.h>

static void finish(struct rg__pending_request *pending, const struct rg__response *response)
{
	struct rg__call call = pending->call;
	rg_member *member = pending->member;

	DL_DELETE(member->requests, pending);
	rg__timer_free(pending->timer);
	rg__free(pending);
	member->offsets_answer = response;
	call.done(call.user, response);
	member->offsets_answer = NULL;
}

static void finish_with(struct rg__pending_request *pending, rg_err err, const char *text)
{
	struct rg__response response = {.api_key = pending->call.api_key, .version = -1, .broker = ""};

	rg__fail(&response.error, err, "%s", text);
	finish(pending, &response);
}

static void expired(void *user)
{
	struct rg__pending_request *pending = user;

	if (pending->link_id)
		return;
	if (pending->refused) {
		finish_with(pending, pending->refused, "the request could not be queued");
		return;
	}
	finish_with(pending, RG_ERR_TIMED_OUT, "the group's coordinator was not found in time");
}

static void link_done(void *user, const struct rg__response *response)
{
	finish(user, response);
}

static const void *link_prepare(void *user, int16_t version)
{
	struct rg__pending_request *pending = user;

	return pending->call.prepare(pending->call.user, version);
}

static void to_link(struct rg__pending_request *pending)
{
	rg_member *member = pending->member;
	struct rg__call call = pending->call;
	rg_err err;

	call.timeout_ms = rg__left_ms(rg__now_us(member->io), pending->ends_at);
	/* broker: what comes behind a parked JoinGroup or SyncGroup is not even read, and ending the connection would end
	 * that. What silence means at other times the machine decides. */
	call.flags |= RG__CALL_KEEP;
	call.done = link_done;
	call.prepare = pending->call.prepare ? link_prepare : NULL;
	call.user = pending;
	err = rg__link_request(member->link, &call, &pending->link_id);
	if (!err) {
		rg__timer_clear(pending->timer);
		return;
	}
	/* A link that is down is about to be replaced; anything else will not get better, and is said from the loop. */
	pending->link_id = 0;
	if (err != RG_ERR_TRANSPORT) {
		pending->refused = err;
		rg__timer_set(pending->timer, rg__now_us(member->io));
	}
}

void rg__requests_to_link(rg_member *member)
{
	struct rg__pending_request *pending;

	if (!member->link)
		return;
	DL_FOREACH(member->requests, pending)
		if (!pending->link_id && !pending->refused)
			to_link(pending);
}

/* The connection goes; what was on it waits for the next one. Offsets can be sent twice. */
void rg__requests_off_link(rg_member *member)
{
	struct rg__pending_request *pending;

	DL_FOREACH(member->requests, pending) {
		if (!pending->link_id)
			continue;
		rg__link_cancel(member->link, pending->link_id);
		pending->link_id = 0;
		rg__timer_set(pending->timer, pending->ends_at);
	}
}

rg_err rg__member_request(rg_member *member, const struct rg__call *call, rg__request_id *ret_id)
{
	int64_t timeout_ms = call->timeout_ms < 0 ? member->conf->settings.request_timeout_ms : call->timeout_ms;
	struct rg__pending_request *pending = rg__calloc(1, sizeof(*pending));

	if (!pending)
		return RG_ERR_MEMORY;
	pending->timer = rg__timer_new(member->io, expired, pending);
	if (!pending->timer) {
		rg__free(pending);
		return RG_ERR_MEMORY;
	}
	pending->member = member;
	pending->call = *call;
	pending->id = ++member->last_request_id;
	pending->ends_at = rg__deadline_us(rg__now_us(member->io), timeout_ms);
	rg__timer_set(pending->timer, pending->ends_at);
	DL_APPEND(member->requests, pending);
	if (ret_id)
		*ret_id = pending->id;
	if (member->link)
		to_link(pending);
	return RG_OK;
}

static void forget(struct rg__pending_request *pending)
{
	if (pending->link_id)
		rg__link_cancel(pending->member->link, pending->link_id);
	DL_DELETE(pending->member->requests, pending);
	rg__timer_free(pending->timer);
	rg__free(pending);
}

void rg__member_cancel(rg_member *member, rg__request_id id)
{
	struct rg__pending_request *pending;

	DL_FOREACH(member->requests, pending)
		if (pending->id == id) {
			forget(pending);
			return;
		}
}

void rg__requests_free(rg_member *member)
{
	while (member->requests)
		forget(member->requests);
}
