/* SPDX-License-Identifier: Apache-2.0 */
/* A member and brokers of ill will: link, codec, member and machine together on a simulated network and clock. The
 * input says, in the order of its bytes, how each request is answered and what the application does. When it ends
 * the brokers are good ones: then the member must get well again, and whatever state it is in, leave in time.
 *
 * Bytes that are not there are 0, and 0 is good: a request is answered as it should be, and time passes. */
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "fuzz.h"
#include "hostile.h"
#include "member/member.h"

enum { STEPS_MAX = 120, COMMITS_MAX = 8, HELD_MAX = 8, REQUESTS_PER_SECOND = 30 };

struct session {
	struct world world; /* first: the brokers' callbacks get it */
	rg_member *member;
	bool slow;          /* the application answers later */
	bool healed;
	/* What the application was told. */
	bool joined, preparing, failed, left, leaving;
	uint32_t owed_tickets[HELD_MAX];
	int owed_count;
	long completes;
	int commits;        /* asked and not answered */
};

/* FUZZ_TRACE=1 in the environment shows what a find is about. */
static void trace(void *user, const char *json)
{
	(void)user;
	fprintf(stderr, "%s\n", json);
}

static rg_conf *conf_of(uint8_t shape)
{
	static rg_conf *made[4];
	rg_conf **at = &made[shape & 3];

	if (*at)
		return *at;
	*at = must(rg_conf_new());
	rg_conf_set_log(*at, NULL, NULL);
	if (getenv("FUZZ_TRACE"))
		rg_conf_set_events(*at, trace, NULL);
	require(!rg_conf_set(*at, "bootstrap.servers", "10.0.0.1:9092,10.0.0.2:9092", NULL), "servers");
	require(!rg_conf_set(*at, "group.id", "g", NULL), "group");
	require(!rg_conf_set(*at, "session.timeout.ms", "6000", NULL), "session");
	require(!rg_conf_set(*at, "heartbeat.interval.ms", "2000", NULL), "heartbeat");
	require(!rg_conf_set(*at, "request.timeout.ms", "2000", NULL), "request");
	require(!rg_conf_set(*at, "max.poll.interval.ms", "10000", NULL), "poll");
	require(!rg_conf_set(*at, "receive.message.max.bytes", "100000", NULL), "frames");
	if (shape & 1)
		require(!rg_conf_set(*at, "group.instance.id", "i1", NULL), "instance");
	if (shape & 2)
		require(!rg_conf_set(*at, "group.heartbeat.budget", "0", NULL), "budget");
	return *at;
}

/* --- The application --------------------------------------------------------------------------------------------- */

static void assign(struct session *session, const rg_member_event *event)
{
	rg_member_share shares[64];
	size_t count = event->member_count < 64 ? event->member_count : 64;
	uint8_t how = take(&session->world.input);

	if (how & 1) {
		rg_member_assign_failed(session->member, event->ticket, RG_ERR_ASSIGNOR, "no");
		return;
	}
	for (size_t i = 0; i < count; i++)
		shares[i] = (rg_member_share){event->members[i].member_id, {"share", how & 2 ? 0 : 5}};
	require(rg_member_assigned(session->member, event->ticket, shares, count) == RG_OK, "a plan for everybody is taken");
}

static void answer_ask(struct session *session, uint32_t ticket)
{
	require(rg_member_prepared(session->member, ticket, NULL, 0, take(&session->world.input) & 1) == RG_OK,
		"an ask can be answered");
}

static void ask(struct session *session, const rg_member_event *event)
{
	if (session->slow && session->owed_count < HELD_MAX)
		session->owed_tickets[session->owed_count++] = event->ticket;
	else
		answer_ask(session, event->ticket);
}

static void handle(struct session *session, const rg_member_event *event)
{
	require(event->member_id && event->protocol, "an event's strings are there");
	switch (event->type) {
	case RG_MEMBER_PREPARE:
		require(!session->preparing, "prepare and complete alternate");
		session->preparing = true;
		ask(session, event);
		break;
	case RG_MEMBER_LOST:
		require(event->cause != RG_CAUSE_NONE, "a loss has a cause");
		ask(session, event);
		break;
	case RG_MEMBER_ASSIGN:
		require(session->preparing, "an assignor runs in a rebalance");
		assign(session, event);
		break;
	case RG_MEMBER_COMPLETE:
		require(session->preparing, "complete comes after prepare");
		session->preparing = false;
		session->completes++;
		break;
	case RG_MEMBER_ERROR:
		require(event->error.code && event->error.text[0], "an error has a text");
		session->failed = session->failed || event->fatal;
		if (!event->fatal)
			rg_member_retry(session->member);
		break;
	case RG_MEMBER_LEFT:
		require(session->leaving, "left comes when it was asked for");
		session->leaving = session->joined = false;
		session->left = true;
		break;
	}
}

static void pump(struct session *session)
{
	rg_member_event *event;
	int events = 0;

	while ((event = rg_member_next(session->member))) {
		require(++events < 100, "events come to an end");
		handle(session, event);
		rg_member_event_free(event);
	}
}

/* Lets the time pass as an application does that polls each half second. */
static void pass(struct session *session, int64_t span_us)
{
	struct sim *sim = &session->world.sim;
	int64_t until_us = sim->now_us + span_us;

	pump(session);
	while (sim_next_us(sim) <= until_us) {
		sim_turn(sim);
		pump(session);
	}
	sim->now_us = until_us;
}

static void join(struct session *session)
{
	rg_member_protocol protocols[] = {{"range", {"topics", 6}}, {"sticky", {NULL, 0}}};
	rg_err err = rg_member_join(session->member, protocols, 2, NULL);

	require(err == (session->joined ? RG_ERR_STATE : RG_OK), "whoever has left can join");
	if (!err) {
		session->joined = true;
		session->left = session->failed = session->preparing = false;
		session->owed_count = 0;
	}
}

static void committed(void *user, const struct rg__response *response)
{
	struct session *session = user;

	require((response->body != NULL) == (response->error.code == RG_OK), "an answer or an error");
	session->commits--;
	rg__member_offsets_answered(session->member, response->api_key == RG__API_OFFSET_COMMIT,
				    response->error.code ? response->error.code : session->world.last_error,
				    rg__member_epoch(session->member));
}

static void request_offsets(struct session *session, bool commit, int64_t timeout_ms)
{
	static struct rg__offset_commit_request commit_request;
	static struct rg__offset_fetch_request fetch_request;
	struct rg__call call = {.api_key = commit ? RG__API_OFFSET_COMMIT : RG__API_OFFSET_FETCH,
				.body = commit ? (const void *)&commit_request : &fetch_request,
				.timeout_ms = timeout_ms,
				.done = committed,
				.user = session};

	if (session->commits == COMMITS_MAX)
		return;
	rg__fields_init(&rg__offset_commit_request_fields, &commit_request);
	rg__fields_init(&rg__offset_fetch_request_fields, &fetch_request);
	require(rg__member_request(session->member, &call, NULL) == RG_OK, "offsets can be asked for");
	session->commits++;
}

static void leave(struct session *session, int timeout_ms)
{
	rg_err err = rg_member_leave(session->member, (rg_leave)(take(&session->world.input) % 3), "done", timeout_ms);

	require(err == (session->left ? RG_ERR_STATE : RG_OK), "whoever has joined can leave");
	session->leaving = !err;
	session->owed_count = 0;
	session->preparing = false;
}

static void act(struct session *session)
{
	static const int64_t spans_us[] = {1000, 100, 0, 20000, 300000, 1000000, 4000000, 12000000};
	uint8_t what = take(&session->world.input), which = what >> 4;

	switch (what & 0xf) {
	default:
		pass(session, spans_us[which & 7]);
		break;
	case 8:
		rg__member_polling(session->member, which & 1);
		break;
	case 9:
		rg_member_rejoin(session->member, which & 1 ? "wanted" : NULL);
		break;
	case 10:
		request_offsets(session, which & 1, which & 2 ? 100 : 5000);
		break;
	case 11:
		session->slow = which & 1;
		while (session->owed_count)
			answer_ask(session, session->owed_tickets[--session->owed_count]);
		break;
	case 12:
		rg__member_group_size(session->member, which & 1 ? which * 1000 : -1);
		break;
	case 13:
		if (!session->leaving)
			leave(session, which & 1 ? 0 : 3000);
		break;
	case 14:
		join(session);
		break;
	case 15:
		session->world.sim.chunk = which;
		break;
	}
	pump(session);
}

/* --- Getting well ------------------------------------------------------------------------------------------------ */

static void heal(struct session *session)
{
	const char *state;

	session->world.input.left = 0;
	session->world.healed = session->healed = true;
	session->slow = false;
	session->world.sim.chunk = 0;
	while (session->owed_count)
		answer_ask(session, session->owed_tickets[--session->owed_count]);
	for (int i = 0; i < 120; i++) {
		rg_member_poll(session->member);
		pass(session, 500000);
	}
	state = rg_member_state(session->member);
	if (session->failed)
		require(strcmp(state, "Failed") == 0 || session->left, "a fatal error is the end");
	else if (session->left)
		require(strcmp(state, "Unjoined") == 0, "who has left is out");
	else
		require(strcmp(state, "Stable") == 0, "a member gets well in a minute with good brokers");
	require(session->commits == 0, "every request of offsets has ended");
}

/* Whatever the state, and with brokers that say nothing. */
static void close_in_time(struct session *session)
{
	if (session->left)
		return;
	session->world.mute = true;
	if (!session->leaving)
		leave(session, 3000);
	pass(session, 3000001);
	require(session->left, "left comes by its deadline");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *session = must(calloc(1, sizeof(*session)));
	rg_error error = {0};

	world_begin(&session->world, (struct input){data, size});
	uint8_t shape = take(&session->world.input);
	rg_err err = rg__member_new_on(&session->world.sim.io, conf_of(shape), "consumer", shape, NULL, NULL,
				       &session->member, &error);

	require(err == RG_OK, "a member can be made");
	session->world.leads = shape & 4;
	join(session);
	for (int i = 0; i < STEPS_MAX && session->world.input.left; i++)
		act(session);
	if (!(shape & 8)) /* the rest is freed in the middle of whatever it is at */
		heal(session);
	if (!(shape & 16))
		close_in_time(session);
	require(session->world.requests <= 300 + REQUESTS_PER_SECOND * (session->world.sim.now_us / 1000000),
		"no broker makes it spin");
	rg_member_free(session->member);
	world_end(&session->world);
	free(session);
	return 0;
}
