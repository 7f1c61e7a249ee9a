/* SPDX-License-Identifier: Apache-2.0 */
/* Which brokers a cluster knows, when it goes back to bootstrap.servers, and how long it keeps a connection. */
#include "cluster_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Metadata names brokers that the list did not: they are tried when the first goes away, before the list is again. */
START_TEST(learns_from_metadata)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 1, 2); /* 2 and 3 */
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 3, &host, &port));
	ck_assert_str_eq(host, "10.0.0.3");
	ck_assert_uint_eq(port, 9092);
	ck_assert(!rg__cluster_node(f.cluster, 1, &host, &port));
	sim_hang_up(f.brokers[0].conn);
	f.brokers[1].server.mode = SIM_REFUSE;
	sim_run_ms(&f.sim, 1);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.3:9092");
	ck_assert_int_eq(attempts(0), 1);
	/* This one named no brokers at all, which says nothing. */
	ck_assert(rg__cluster_node(f.cluster, 3, &host, &port));
	/* KIP-899: none of the known works any more. */
	f.brokers[2].server.mode = SIM_REFUSE;
	sim_hang_up(f.brokers[2].conn);
	sim_run_ms(&f.sim, 1);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_str_eq(f.done[2].broker, "10.0.0.1:9092");
}
END_TEST

START_TEST(hostile_metadata)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 0, 3);
	f.brokers[0].nodes[0].host = rg__bytes_of("");
	f.brokers[0].nodes[1].port = -1;
	f.brokers[0].nodes[2].node_id = -7;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	for (int32_t id = -10; id < 10; id++)
		ck_assert(!rg__cluster_node(f.cluster, id, &host, &port));
	sim_hang_up(f.brokers[0].conn);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done[f.done_count - 1].error.code, RG_OK); /* the bootstrap address is still there */
}
END_TEST

/* KIP-1102 */
START_TEST(broker_asks_to_rebootstrap)
{
	const char *host = NULL;
	uint16_t port = 0;

	name_nodes(&f.brokers[0], 0, 3);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	f.brokers[0].metadata_error = 129;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(!rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
}
END_TEST

/* KIP-1102: without rebootstrap that is no reason to forget anybody. */
START_TEST(broker_asks_to_rebootstrap_in_vain)
{
	const char *host = NULL;
	uint16_t port = 0;

	f.conf.rebootstrap = false;
	name_nodes(&f.brokers[0], 0, 3);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	f.brokers[0].metadata_error = 129;
	f.brokers[0].node_count = 0;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
}
END_TEST

/* The first broker is for the start only, and knows of the two others. */
static void learn_of_two(void)
{
	name_nodes(&f.brokers[0], 1, 2);
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	f.brokers[1].server.mode = f.brokers[2].server.mode = SIM_REFUSE;
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
}

/* KIP-899: metadata.recovery.strategy=none. */
START_TEST(bootstrap_is_for_the_start_only)
{
	const char *host = NULL;
	uint16_t port = 0;

	f.conf.rebootstrap = false;
	f.conf.rebootstrap_trigger_ms = 1000;
	learn_of_two();
	ask(2, 600000, NULL);
	sim_run_ms(&f.sim, 599000);
	ck_assert_int_eq(attempts(0), 1);
	ck_assert_int_ge(attempts(1), 500);
	ck_assert_int_ge(attempts(2), 500);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	f.brokers[2].server.mode = SIM_ACCEPT;
	sim_run_ms(&f.sim, 1000 * 2);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.3:9092");
}
END_TEST

/* KIP-1102: metadata.recovery.rebootstrap.trigger.ms; before that moment the known ones are tried, too, after it not. */
START_TEST(known_brokers_are_forgotten)
{
	const char *host = NULL;
	uint16_t port = 0;
	int before;

	f.conf.rebootstrap_trigger_ms = 20000;
	learn_of_two();
	f.brokers[0].server.mode = SIM_REFUSE;
	sim_run_ms(&f.sim, 100000); /* nobody asks: that is no time without an answer */
	ask(2, 60000, NULL);
	sim_run_ms(&f.sim, 19900);
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port));
	before = attempts(1);
	ck_assert_int_ge(before, 10);
	sim_run_ms(&f.sim, 2000);
	ck_assert(!rg__cluster_node(f.cluster, 2, &host, &port));
	ck_assert_int_le(attempts(1), before + 2);
	before = attempts(1);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(attempts(1), before);
	f.brokers[0].server.mode = SIM_ACCEPT;
	sim_run_ms(&f.sim, 2000);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_str_eq(f.done[1].broker, "10.0.0.1:9092");
	ck_assert(rg__cluster_node(f.cluster, 2, &host, &port)); /* learned anew */
}
END_TEST

/* connections.max.idle.ms: closed by us, to the millisecond; no failure of anybody, and no pause for who asks next. */
START_TEST(an_idle_connection_is_closed_by_us)
{
	f.conf.idle_max_ms = 5000;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_run_ms(&f.sim, 4000);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 4990);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	sim_run_ms(&f.sim, 20);
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
	ck_assert_int_eq(f.done_count, 2);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 1);
	ck_assert_int_eq(f.failures, 0);
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_int_eq(f.sim.attempts, 2);
	/* A request that the broker thinks about for long is no idleness. */
	f.brokers[0].holds = true;
	ask(4, 20000, NULL);
	sim_run_ms(&f.sim, 15000);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	ck_assert_int_eq(f.sim.attempts, 2);
}
END_TEST

/* Connected before anybody asks, so that the first answer takes one round trip. */
START_TEST(prepared)
{
	start();
	rg__cluster_prepare(f.cluster);
	sim_run_ms(&f.sim, 1);
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
	rg__cluster_prepare(f.cluster); /* changes nothing */
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

/* One attempt, of which nobody hears; who asks then does, and gets the next one's answer. */
START_TEST(prepared_in_vain)
{
	f.brokers[0].server.mode = SIM_REFUSE;
	start();
	rg__cluster_prepare(f.cluster);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 1);
	ck_assert_int_eq(f.failures, 0);
	f.brokers[0].server.mode = SIM_ACCEPT;
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
}
END_TEST

START_TEST(asked_while_it_prepares)
{
	f.brokers[0].server.mode = SIM_REFUSE;
	start();
	rg__cluster_prepare(f.cluster);
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.failures, 1);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_gt(f.failures, 2);
}
END_TEST

START_TEST(idle_for_ever)
{
	f.conf.idle_max_ms = 0;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 10000000);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_recovery");
	TCase *tcase = tcase_create("recovery");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, learns_from_metadata);
	tcase_add_test(tcase, hostile_metadata);
	tcase_add_test(tcase, broker_asks_to_rebootstrap);
	tcase_add_test(tcase, broker_asks_to_rebootstrap_in_vain);
	tcase_add_test(tcase, bootstrap_is_for_the_start_only);
	tcase_add_test(tcase, known_brokers_are_forgotten);
	tcase_add_test(tcase, an_idle_connection_is_closed_by_us);
	tcase_add_test(tcase, prepared);
	tcase_add_test(tcase, prepared_in_vain);
	tcase_add_test(tcase, asked_while_it_prepares);
	tcase_add_test(tcase, idle_for_ever);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failures = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
