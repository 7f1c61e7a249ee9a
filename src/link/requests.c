/* SPDX-License-Identifier: Apache-2.0 */
#include "link/internal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <utlist.h>

/* The requests of a link: waiting until they may be sent, sent and in the order of their answers, or finished
 * without an answer and waiting for their `done` to run from the loop. */

struct rg__message *rg__response_keep(const struct rg__response *response)
{
	struct rg__response *taken = (struct rg__response *)(uintptr_t)response; /* ours: it was made in receive.c */
	struct rg__message *message = taken->message;

	taken->message = NULL;
	return message;
}

static void finish(struct rg__link *link, struct rg__request *request)
{
	struct rg__requests *requests = &link->requests;

	DL_APPEND(requests->finished, request);
	rg__link_schedule(link);
}

void rg__request_forget(struct rg__link *link, struct rg__request *request)
{
	struct rg__requests *requests = &link->requests;

	DL_DELETE(requests->sent, request);
	requests->sent_count--;
	requests->sent_bytes -= request->size;
}

/* The request is in no list; it is gone when this returns. */
void rg__request_answer(struct rg__link *link, struct rg__request *request, struct rg__response *response)
{
	struct rg__request copy = *request;

	response->api_key = copy.call.api_key;
	response->version = copy.version;
	response->broker = link->name;
	response->sent_us = copy.sent_us;
	rg__free(request);
	link->requests.count--;
	copy.call.done(copy.call.user, response);
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */

static bool window_is_full(const struct rg__link *link)
{
	const struct rg__requests *requests = &link->requests;

	return requests->sent_count >= link->conf->in_flight_max || requests->sent_bytes >= link->conf->in_flight_bytes_max;
}

/* The frame, or false with the request's error filled. */
static bool encode(struct rg__link *link, struct rg__request *request, struct rg__buf *buf)
{
	int16_t version = link->versions[request->api->key];
	struct rg__codec_error refused = {0};
	char text[RG__CODEC_TEXT_MAX];

	if (version < 0) {
		rg__link_unsupported(link, request->api, &request->error);
		rg__error_prefix(&request->error, "%s", link->name);
		return false;
	}
	const void *body = request->call.body ? request->call.body : request->call.prepare(request->call.user, version);

	request->correlation_id = rg__link_next_correlation_id(link);
	if (body && rg__encode_request(request->api, version, request->correlation_id,
	                               rg__bytes_of(link->conf->client_id), body, buf, &refused)) {
		request->version = version;
		return true;
	}
	if (!body || refused.out_of_memory) {
		rg__fail(&request->error, RG_ERR_MEMORY, "no memory for the request %s", request->api->name);
	} else {
		rg__codec_error_text(&refused, text, sizeof(text));
		rg__fail(&request->error, RG_ERR_INVALID, "%s", text);
	}
	return false;
}

static void send_next(struct rg__link *link)
{
	struct rg__requests *requests = &link->requests;
	struct rg__request *request = requests->waiting;
	struct rg__buf buf = {0};

	DL_DELETE(requests->waiting, request);
	if (!encode(link, request, &buf)) {
		rg__buf_free(&buf);
		finish(link, request);
		return;
	}
	request->size = buf.len;
	request->sent_us = rg__now_us(link->io);
	DL_APPEND(requests->sent, request);
	requests->sent_count++;
	requests->sent_bytes += request->size;
	if (!rg__stream_write(link->stream, &buf)) {
		rg__buf_free(&buf);
		rg__link_fail_later(link, RG_ERR_MEMORY, "no memory to send a request");
	}
}

void rg__requests_flush(struct rg__link *link)
{
	while (link->state == RG__LINK_UP && !link->failing && link->requests.waiting && !window_is_full(link) &&
	       rg__now_us(link->io) >= link->throttled_until_us)
		send_next(link);
}

/* --- Deadlines ---------------------------------------------------------------------------------------------------- */

int64_t rg__requests_deadline_us(const struct rg__link *link)
{
	const struct rg__requests *requests = &link->requests;
	const struct rg__request *at;
	int64_t earliest = INT64_MAX;

	DL_FOREACH(requests->waiting, at) {
		if (at->deadline_us < earliest)
			earliest = at->deadline_us;
	}
	DL_FOREACH(requests->sent, at) {
		if (at->deadline_us < earliest)
			earliest = at->deadline_us;
	}
	if (link->state == RG__LINK_UP && requests->waiting && link->throttled_until_us &&
	    link->throttled_until_us < earliest && !window_is_full(link))
		earliest = link->throttled_until_us;
	return earliest;
}

static void expire_waiting(struct rg__link *link, int64_t now_us, bool *ret_stuck)
{
	struct rg__requests *requests = &link->requests;
	bool stuck = link->state == RG__LINK_UP && window_is_full(link);
	struct rg__request *at, *next;

	DL_FOREACH_SAFE(requests->waiting, at, next) {
		if (at->deadline_us > now_us)
			continue;
		rg__fail(&at->error, RG_ERR_TIMED_OUT, "%s: %s was not sent within %lld ms (%s)", link->name, at->api->name,
		         (long long)at->timeout_ms,
		         stuck                          ? "too many unanswered requests"
		         : link->state == RG__LINK_UP   ? "the broker asked to wait"
		         : link->state == RG__LINK_IDLE ? "not connected"
		                                        : "still connecting");
		DL_DELETE(requests->waiting, at);
		finish(link, at);
		*ret_stuck = *ret_stuck || stuck;
	}
}

/* The request gets its own error in the list of the sent; rg__link_go_down then takes it from there. */
static void expire_sent(struct rg__link *link, int64_t now_us, const struct rg__request **ret_overdue)
{
	struct rg__request *at, *next;

	DL_FOREACH_SAFE(link->requests.sent, at, next) {
		if (at->deadline_us > now_us)
			continue;
		rg__fail(&at->error, RG_ERR_TIMED_OUT, "%s: no answer to %s within %lld ms", link->name, at->api->name,
		         (long long)at->timeout_ms);
		at->deadline_us = INT64_MAX;
		if (!(at->call.flags & RG__CALL_KEEP) && !*ret_overdue)
			*ret_overdue = at;
	}
}

/* Those whose connection stays: `done` now, and a ghost keeps their place. */
static void answer_kept(struct rg__link *link)
{
	uint64_t connection = link->connection;
	struct rg__request *at;

	do {
		DL_FOREACH(link->requests.sent, at) {
			if (at->error.code && !at->ghost)
				break;
		}
		if (!at)
			return;
		struct rg__response response = {.error = at->error, .api_key = at->call.api_key, .version = at->version,
		                                .broker = link->name, .sent_us = at->sent_us};

		at->ghost = true;
		link->requests.count--;
		at->call.done(at->call.user, &response);
	} while (!link->freed && link->connection == connection);
}

void rg__requests_expire(struct rg__link *link, int64_t now_us)
{
	const struct rg__request *overdue = NULL;
	bool stuck = false;
	rg_error error;

	expire_waiting(link, now_us, &stuck);
	expire_sent(link, now_us, &overdue);
	if (overdue) {
		rg__fail(&error, RG_ERR_TIMED_OUT, "no answer to %s within %lld ms", overdue->api->name,
		         (long long)overdue->timeout_ms);
		rg__link_go_down(link, &error);
	} else if (stuck) {
		rg__fail(&error, RG_ERR_TIMED_OUT, "no answer to %d requests", (int)link->requests.sent_count);
		rg__link_go_down(link, &error);
	} else {
		answer_kept(link);
	}
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */

void rg__requests_fail_all(struct rg__link *link, const rg_error *error)
{
	struct rg__requests *requests = &link->requests;
	struct rg__request *at, *next;
	rg_error theirs = *error;

	if (theirs.code == RG_ERR_TIMED_OUT)
		theirs.code = RG_ERR_TRANSPORT; /* timed out are those whose own time ran out */
	DL_CONCAT(requests->sent, requests->waiting);
	requests->waiting = NULL;
	DL_FOREACH_SAFE(requests->sent, at, next) {
		DL_DELETE(requests->sent, at);
		if (at->ghost) {
			rg__free(at);
			continue;
		}
		if (!at->error.code)
			at->error = theirs;
		DL_APPEND(requests->finished, at);
	}
	requests->sent_count = 0;
	requests->sent_bytes = 0;
}

/* Those that are there now: a `done` that asks again at once and fails again has its turn in the next turn of the
 * loop. */
void rg__requests_deliver(struct rg__link *link)
{
	struct rg__requests *requests = &link->requests;
	rg__request_id last = requests->last_id;

	while (!link->freed && requests->finished && requests->finished->id <= last) {
		struct rg__request *request = requests->finished;
		struct rg__response response = {.error = request->error};

		DL_DELETE(requests->finished, request);
		rg__request_answer(link, request, &response);
	}
}

static void free_list(struct rg__request **list)
{
	struct rg__request *at, *next;

	DL_FOREACH_SAFE(*list, at, next) {
		DL_DELETE(*list, at);
		rg__free(at);
	}
}

void rg__requests_drop(struct rg__link *link)
{
	free_list(&link->requests.waiting);
	free_list(&link->requests.sent);
	free_list(&link->requests.finished);
}

/* --- The owner's calls -------------------------------------------------------------------------------------------- */

rg_err rg__link_request(struct rg__link *link, const struct rg__call *call, rg__request_id *ret_id)
{
	struct rg__requests *requests = &link->requests;
	const struct rg__api *api = rg__api_by_key(call->api_key);

	if (!api || api->key >= RG__LINK_API_MAX)
		return RG_ERR_INVALID;
	if (link->state == RG__LINK_FALLING || link->state == RG__LINK_DOWN)
		return RG_ERR_TRANSPORT;
	if (requests->count >= link->conf->queue_max)
		return RG_ERR_STATE;
	struct rg__request *request = rg__calloc(1, sizeof(*request));

	if (!request)
		return RG_ERR_MEMORY;
	request->id = ++requests->last_id;
	request->call = *call;
	request->api = api;
	request->version = -1;
	request->timeout_ms = call->timeout_ms < 0 ? link->conf->request_timeout_ms : call->timeout_ms;
	request->deadline_us = rg__deadline_us(rg__now_us(link->io), request->timeout_ms);
	requests->count++;
	DL_APPEND(requests->waiting, request);
	if (ret_id)
		*ret_id = request->id;
	rg__requests_flush(link);
	rg__link_schedule(link);
	return RG_OK;
}

static bool cancel_in(struct rg__link *link, struct rg__request **list, rg__request_id id)
{
	struct rg__request *at;

	DL_SEARCH_SCALAR(*list, at, id, id);
	if (!at)
		return false;
	DL_DELETE(*list, at);
	rg__free(at);
	link->requests.count--;
	return true;
}

void rg__link_cancel(struct rg__link *link, rg__request_id id)
{
	struct rg__request *at;

	if (cancel_in(link, &link->requests.waiting, id) || cancel_in(link, &link->requests.finished, id)) {
		rg__link_schedule(link);
		return;
	}
	DL_SEARCH_SCALAR(link->requests.sent, at, id, id);
	if (at && !at->ghost) {
		at->ghost = true;
		link->requests.count--;
	}
}
