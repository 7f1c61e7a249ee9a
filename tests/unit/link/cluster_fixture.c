/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster_fixture.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct cluster_fixture f;

static void release(void)
{
	rg__cluster_free(f.cluster);
	f.cluster = NULL;
}

static void up(void *user, const char *broker)
{
	ck_assert_ptr_eq(user, &f);
	ck_assert(f.sim.dispatching);
	f.ups++;
	snprintf(f.up, sizeof(f.up), "%s", broker);
	if (f.frees_in_up)
		release();
}

static void failed(void *user, const rg_error *error)
{
	ck_assert_ptr_eq(user, &f);
	ck_assert(f.sim.dispatching);
	f.failures++;
	f.failed = *error;
	if (f.frees_in_failed)
		release();
}

void done(void *user, const struct rg__response *response)
{
	ck_assert(f.sim.dispatching);
	ck_assert_int_lt(f.done_count, DONE_MAX);
	f.done[f.done_count].tag = (uintptr_t)user;
	f.done[f.done_count].error = response->error;
	f.done[f.done_count].at_us = f.sim.now_us;
	snprintf(f.done[f.done_count].broker, sizeof(f.done[0].broker), "%s", response->broker);
	f.done_count++;
	if (f.frees_in_done)
		release();
	else if (f.asks_in_done)
		ask((uintptr_t)user + 1, 5000, NULL);
}

void ask(uintptr_t tag, int64_t timeout_ms, rg__request_id *ret_id)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &f.metadata, .timeout_ms = timeout_ms, .done = done,
	                        .user = (void *)tag};
	bool dispatching = f.sim.dispatching;

	f.sim.dispatching = false;
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, ret_id), RG_OK);
	f.sim.dispatching = dispatching;
}

const struct rg__cluster_events cluster_events = {.failed = failed, .up = up};

void begin(void)
{
	static const char *const addresses[BROKERS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

	memset(&f, 0, sizeof(f));
	sim_init(&f.sim);
	for (int i = 0; i < BROKERS; i++)
		broker_init(&f.brokers[i], &f.sim, addresses[i]);
	rg__fields_init(&rg__metadata_request_fields, &f.metadata);
	rg__cluster_conf_init(&f.conf);
	f.conf.bootstrap = "10.0.0.1:9092";
	f.conf.seed = 5;
}

void start(void)
{
	rg_error error = {0};

	ck_assert_int_eq(rg__cluster_new(&f.sim.io, &f.conf, &cluster_events, &f, &f.cluster, &error), RG_OK);
}

void end(void)
{
	release();
	sim_end(&f.sim);
}

void set_all(enum sim_mode mode)
{
	for (int i = 0; i < BROKERS; i++)
		f.brokers[i].server.mode = mode;
}

int attempts(int i)
{
	return f.brokers[i].server.attempts;
}

void name_nodes(struct broker *broker, int first, int count)
{
	static const char *const hosts[BROKERS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

	broker->node_count = count;
	for (int i = 0; i < count; i++) {
		rg__fields_init(&rg__metadata_response_broker_fields, &broker->nodes[i]);
		broker->nodes[i].node_id = first + i + 1;
		broker->nodes[i].host = rg__bytes_of(hosts[first + i]);
		broker->nodes[i].port = 9092;
	}
}
