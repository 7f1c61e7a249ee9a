/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, for every n, through a cluster's life: connect, requests, a broken connection,
 * another one. Each request still ends once or was refused, nothing leaks (sim_end and LSan say), and once there
 * is memory again things go on. */
#include "fake_broker.h"

#include "base/alloc.h"
#include "link/cluster.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct sim sim;
	struct broker broker;
	struct rg__cluster_conf conf;
	struct rg__metadata_request metadata;
	int asked, ended, good;
} f;

static void done(void *user, const struct rg__response *response)
{
	(void)user;
	f.ended++;
	f.good += response->error.code == RG_OK;
	if (response->body)
		rg__message_free(rg__response_keep(response));
}

static void ask(struct rg__cluster *cluster)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &f.metadata, .timeout_ms = 3000, .done = done};
	rg_err err = rg__cluster_request(cluster, &call, NULL);

	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	f.asked += err == RG_OK;
}

/* False: the countdown was not used up, every allocation has had its turn. */
static bool live_with_failure(long n)
{
	static const struct rg__cluster_events events;
	struct rg__cluster *cluster = NULL;
	rg_error error = {0};

	memset(&f, 0, sizeof(f));
	sim_init(&f.sim);
	broker_init(&f.broker, &f.sim, "10.0.0.1");
	rg__fields_init(&rg__metadata_request_fields, &f.metadata);
	rg__fields_init(&rg__metadata_response_broker_fields, &f.broker.nodes[0]);
	f.broker.nodes[0].node_id = 1;
	f.broker.nodes[0].host = rg__bytes_of("10.0.0.1");
	f.broker.nodes[0].port = 9092;
	f.broker.node_count = 1;
	rg__cluster_conf_init(&f.conf);
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.9:9092";

	rg__alloc_fail_after(n);
	rg_err err = rg__cluster_new(&f.sim.io, &f.conf, &events, NULL, &cluster, &error);

	if (err) {
		ck_assert_int_eq(err, RG_ERR_MEMORY);
		sim_end(&f.sim);
		return true;
	}
	ask(cluster);
	ask(cluster);
	sim_run_ms(&f.sim, 4000);
	if (f.broker.conn && rg__cluster_broker(cluster))
		sim_hang_up(f.broker.conn);
	sim_run_ms(&f.sim, 1);
	ask(cluster);
	sim_run_ms(&f.sim, 4000);
	bool failed = rg__alloc_fail_after(0) <= 0;

	ck_assert_int_eq(f.ended, f.asked);
	ask(cluster);
	sim_run_ms(&f.sim, 4000);
	ck_assert_int_eq(f.ended, f.asked);
	ck_assert_int_ge(f.good, 1);
	if (!failed)
		ck_assert_int_eq(f.good, f.asked);
	rg__cluster_free(cluster);
	sim_end(&f.sim);
	return failed;
}

START_TEST(every_allocation_fails_once)
{
	long n = 1;

	while (live_with_failure(n))
		ck_assert_int_lt(++n, 1000);
	ck_assert_int_gt(n, 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_oom");
	TCase *tcase = tcase_create("oom");

	tcase_add_test(tcase, every_allocation_fails_once);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failures = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
