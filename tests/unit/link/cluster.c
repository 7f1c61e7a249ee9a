/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to any broker of a cluster: which are tried, how often, and what the caller hears. */
#include "cluster_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(bad_bootstrap_list)
{
	rg_error error = {0};

	f.conf.bootstrap = "a:1,b:99999";
	ck_assert_int_eq(rg__cluster_new(&f.sim.io, &f.conf, &cluster_events, &f, &f.cluster, &error), RG_ERR_INVALID);
	ck_assert_ptr_null(f.cluster);
	ck_assert_msg(strstr(error.text, "\"b:99999\""), "%s", error.text);
}
END_TEST

START_TEST(connects_when_asked)
{
	start();
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.sim.attempts, 0); /* nobody asked */
	ck_assert_ptr_null(rg__cluster_broker(f.cluster));
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	ck_assert_str_eq(f.done[0].broker, "10.0.0.1:9092");
	ck_assert_str_eq(f.up, "10.0.0.1:9092");
	ck_assert_str_eq(rg__cluster_broker(f.cluster), "10.0.0.1:9092");
	ask(3, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 3);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

/* The broker closes what is idle: no news for anybody, and no new connection before somebody asks. */
START_TEST(idle_connection_is_closed)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092";
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_hang_up(f.brokers[attempts(0) ? 0 : 1].conn);
	sim_run_ms(&f.sim, 600000);
	ck_assert_int_eq(f.failures, 0);
	ck_assert_int_eq(f.sim.attempts, 1);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
}
END_TEST

START_TEST(bootstrap_addresses_in_turn)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092,10.0.0.3:9092";
	set_all(SIM_REFUSE);
	f.brokers[_i].server.mode = SIM_ACCEPT;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
	ck_assert_int_le(f.sim.attempts, 3);
	ck_assert_int_eq(f.failures, f.sim.attempts - 1);
}
END_TEST

/* Everything is down for a minute: each failure is told with address and cause, and the backoff bounds their number. */
START_TEST(dead_cluster_does_not_make_us_spin)
{
	int expected = 0;

	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092,10.0.0.3:9092";
	f.conf.seed = (uint64_t)_i;
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 59999);
	ck_assert_int_eq(f.done_count, 0);
	/* per address: pauses 50, 100, 200, 400, 800, 1000, 1000 … ms, at most a fifth shorter */
	for (int64_t at_ms = 0, pause_ms = 50; at_ms < 60000; at_ms += pause_ms * 8 / 10, pause_ms *= 2) {
		expected++;
		if (pause_ms > 1000)
			pause_ms = 1000;
	}
	for (int i = 0; i < BROKERS; i++) {
		ck_assert_int_le(attempts(i), expected);
		ck_assert_int_ge(attempts(i), 40); /* and it does not give up */
	}
	ck_assert_int_eq(f.failures, f.sim.attempts);
	ck_assert_uint_le(f.sim.turns, (uint64_t)f.sim.attempts * 10);
	ck_assert_msg(strstr(f.failed.text, ":9092: connection refused"), "%s", f.failed.text);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_msg(strncmp(f.done[0].error.text, "Metadata: no broker was reachable within 60000 ms; 10.0.0.", 58) == 0,
	              "%s", f.done[0].error.text);
	/* Nobody asks any more: it is quiet. */
	int before = f.sim.attempts;

	sim_run_ms(&f.sim, 60000);
	ck_assert_int_le(f.sim.attempts, before + 1);
}
END_TEST

/* A broker that shakes hands and hangs up is as good as a dead one. */
START_TEST(broker_that_hangs_up_after_the_handshake)
{
	f.brokers[0].cut = 0;
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_le(f.sim.attempts, 2 * 80); /* each time once more with ApiVersions 0 */
	ck_assert_int_eq(f.done_count, 1);
}
END_TEST

START_TEST(comes_back)
{
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 30000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 1200);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_OK);
}
END_TEST

/* Success ends the growing of pauses: the next interruption is short. */
START_TEST(pauses_are_short_again_after_success)
{
	set_all(SIM_REFUSE);
	start();
	ask(1, 60000, NULL);
	sim_run_ms(&f.sim, 30000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 1200);
	ck_assert_int_eq(f.done_count, 1);
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
	ask(2, 60000, NULL);
	sim_run_ms(&f.sim, 60);
	ck_assert_int_eq(f.done_count, 2);
}
END_TEST



START_TEST(leaves_a_broker_for_another)
{
	f.conf.bootstrap = "10.0.0.1:9092,10.0.0.2:9092";
	f.brokers[0].holds = f.brokers[1].holds = true;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	char before[64];

	snprintf(before, sizeof(before), "%s", rg__cluster_broker(f.cluster));
	rg__cluster_leave(f.cluster);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TRANSPORT);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
	ck_assert_str_ne(rg__cluster_broker(f.cluster), before);
}
END_TEST

/* What was sent when the connection broke is the caller's to repeat; what was not sent waits for the next broker. */
START_TEST(broken_while_asked)
{
	f.conf.link.in_flight_max = 1;
	f.brokers[0].holds = true;
	start();
	ask(1, 5000, NULL);
	sim_run_ms(&f.sim, 1);
	sim_hang_up(f.brokers[0].conn);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TRANSPORT);
	ck_assert_str_eq(f.done[0].error.text, "10.0.0.1:9092: connection closed by the other side");
	f.brokers[0].holds = false;
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 1000);
	ck_assert_int_eq(f.done[1].error.code, RG_OK);
}
END_TEST

START_TEST(timeout_at_its_deadline)
{
	int64_t began = f.sim.now_us;

	f.brokers[0].server.mode = SIM_SILENT;
	start();
	ask(1, 1234, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.done[0].at_us, began + 1234000);
}
END_TEST

/* The time spent on finding a broker counts. */
START_TEST(timeout_counts_through_the_connect)
{
	int64_t began = f.sim.now_us;

	set_all(SIM_REFUSE);
	f.brokers[0].holds = true;
	start();
	ask(1, 3000, NULL);
	sim_run_ms(&f.sim, 1000);
	set_all(SIM_ACCEPT);
	sim_run_ms(&f.sim, 60000);
	ck_assert_int_eq(f.done_count, 1);
	ck_assert_int_eq(f.done[0].error.code, RG_ERR_TIMED_OUT);
	ck_assert_int_eq(f.done[0].at_us, began + 3000000);
}
END_TEST

START_TEST(cancelled)
{
	rg__request_id waiting = 0, sent = 0;

	f.brokers[0].holds = true;
	start();
	ask(1, 5000, &waiting);
	rg__cluster_cancel(f.cluster, waiting);
	rg__cluster_cancel(f.cluster, waiting);
	sim_run_ms(&f.sim, 100);
	ck_assert_int_eq(f.sim.attempts, 0);
	ask(2, 5000, &sent);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.brokers[0].seen_count, 1);
	rg__cluster_cancel(f.cluster, sent);
	broker_answer(&f.brokers[0], &f.brokers[0].seen[0]);
	sim_run_ms(&f.sim, 10000);
	ck_assert_int_eq(f.done_count, 0);
	ck_assert_ptr_nonnull(rg__cluster_broker(f.cluster));
}
END_TEST

START_TEST(queue_has_an_end)
{
	struct rg__call call = {.api_key = RG__API_METADATA, .body = &f.metadata, .timeout_ms = 5000, .done = done};

	f.conf.link.queue_max = 2;
	start();
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, NULL), RG_ERR_STATE);
	call.api_key = 999;
	ck_assert_int_eq(rg__cluster_request(f.cluster, &call, NULL), RG_ERR_INVALID);
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.done_count, 2);
}
END_TEST

START_TEST(asks_again_in_done)
{
	f.asks_in_done = true;
	start();
	ask(1, 5000, NULL);
	for (int i = 0; f.done_count < 20 && i < 1000; i++)
		sim_turn(&f.sim);
	ck_assert_int_eq(f.done_count, 20);
	f.asks_in_done = false;
	sim_run_ms(&f.sim, 1);
	ck_assert_int_eq(f.sim.attempts, 1);
}
END_TEST

START_TEST(freed_in_callbacks)
{
	f.frees_in_done = _i == 0 || _i == 1;
	f.frees_in_up = _i == 2;
	f.frees_in_failed = _i == 3;
	if (_i == 1 || _i == 3)
		set_all(SIM_REFUSE);
	start();
	ask(1, 5000, NULL);
	ask(2, 5000, NULL);
	sim_run_ms(&f.sim, 60000);
	ck_assert_ptr_null(f.cluster);
	ck_assert_int_eq(f.done_count, _i < 2 ? 1 : 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link_cluster");
	TCase *tcase = tcase_create("cluster");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, bad_bootstrap_list);
	tcase_add_test(tcase, connects_when_asked);
	tcase_add_test(tcase, idle_connection_is_closed);
	tcase_add_loop_test(tcase, bootstrap_addresses_in_turn, 0, BROKERS);
	tcase_add_loop_test(tcase, dead_cluster_does_not_make_us_spin, 0, 10);
	tcase_add_test(tcase, broker_that_hangs_up_after_the_handshake);
	tcase_add_test(tcase, comes_back);
	tcase_add_test(tcase, pauses_are_short_again_after_success);
	tcase_add_test(tcase, leaves_a_broker_for_another);
	tcase_add_test(tcase, broken_while_asked);
	tcase_add_test(tcase, timeout_at_its_deadline);
	tcase_add_test(tcase, timeout_counts_through_the_connect);
	tcase_add_test(tcase, cancelled);
	tcase_add_test(tcase, queue_has_an_end);
	tcase_add_test(tcase, asks_again_in_done);
	tcase_add_loop_test(tcase, freed_in_callbacks, 0, 4);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failures = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
