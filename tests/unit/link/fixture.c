/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <check.h>

/* Callbacks have no room for two users: there is one fixture at a time. */
static struct fixture *current;

static void release(struct fixture *f)
{
	rg__link_free(f->link);
	f->link = NULL;
}

static void up(void *user)
{
	struct fixture *f = user;

	ck_assert(f->sim.dispatching);
	f->ups++;
	if (f->frees_in_up)
		release(f);
}

static void down(void *user, const rg_error *error)
{
	struct fixture *f = user;

	ck_assert(f->sim.dispatching);
	f->downs++;
	f->down = *error;
	f->down_at_us = f->sim.now_us;
	if (f->frees_in_down)
		release(f);
	else if (f->reconnects_in_down-- > 0)
		fixture_connect(f);
}

static void done(void *user, const struct rg__response *response)
{
	struct fixture *f = current;

	ck_assert(f->sim.dispatching);
	ck_assert_int_lt(f->done_count, FIXTURE_DONE_MAX);
	ck_assert_ptr_null(fixture_find(f, (uintptr_t)user)); /* each request ends once */
	ck_assert((response->body != NULL) == (response->error.code == RG_OK));
	ck_assert((response->error.text[0] != '\0') == (response->error.code != RG_OK));
	f->done[f->done_count++] = (struct fixture_done){
		(uintptr_t)user, response->error, response->version, response->body, f->sim.now_us, f->downs};
	if (f->frees_in_done)
		release(f);
	else if (f->asks_in_done)
		f->refused += fixture_ask(f, (uintptr_t)user + 1000, -1, 0, NULL) == RG_ERR_TRANSPORT;
}

void fixture_begin(struct fixture *f)
{
	*f = (struct fixture){0};
	current = f;
	sim_init(&f->sim);
	broker_init(&f->broker, &f->sim, "10.0.0.1");
	rg__link_conf_init(&f->conf);
	f->conf.client_id = "test";
	rg__fields_init(&rg__heartbeat_request_fields, &f->heartbeat);
	f->heartbeat.group_id = rg__bytes_of("g");
	f->heartbeat.member_id = rg__bytes_of("m");
}

void fixture_link(struct fixture *f)
{
	static const struct rg__link_events events = {.up = up, .down = down};

	f->link = rg__link_new(&f->sim.io, &f->conf, &events, f);
}

void fixture_connect(struct fixture *f)
{
	if (!f->link)
		fixture_link(f);
	ck_assert_ptr_nonnull(f->link);
	ck_assert_int_eq(rg__link_connect(f->link, "10.0.0.1", 9092), RG_OK);
}

void fixture_end(struct fixture *f)
{
	rg__link_free(f->link);
	sim_end(&f->sim);
}

rg_err fixture_ask(struct fixture *f, uintptr_t tag, int64_t timeout_ms, unsigned flags, rg__request_id *ret_id)
{
	struct rg__call call = {
		.api_key = RG__API_HEARTBEAT,
		.flags = flags,
		.body = &f->heartbeat,
		.timeout_ms = timeout_ms,
		.done = done,
		.user = (void *)tag,
	};
	bool dispatching = f->sim.dispatching;
	rg_err err;

	f->sim.dispatching = false; /* a callback from inside the call would be noticed */
	err = rg__link_request(f->link, &call, ret_id);
	f->sim.dispatching = dispatching;
	return err;
}

const struct fixture_done *fixture_find(const struct fixture *f, uintptr_t tag)
{
	for (int i = 0; i < f->done_count; i++) {
		if (f->done[i].tag == tag)
			return &f->done[i];
	}
	return NULL;
}
