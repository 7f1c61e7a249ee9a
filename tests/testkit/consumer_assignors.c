/* SPDX-License-Identifier: Apache-2.0 */
/* Assignors of the application's own, good and bad ones, and leaders among members that say strange things. */
#include "codec/join_group.h"
#include "client.h"
#include "crew.h"
#include "suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:6", 1);
}

/* --- By weight: userdata is a digit, and says how many shares a member gets ------------------------------------- */

struct weight {
	char digit;
	int plans, assignments;
	char last[128];
	void (*before)(const rg_group *group, rg_plan *plan);
	rg_err err;
};

static int32_t weight_userdata(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
                               void *user)
{
	struct weight *weight = user;

	(void)topics;
	(void)topic_count;
	if (capacity < 1000)
		return 1000; /* to be asked again with more room */
	memset(buffer, weight->digit, 1000);
	return 1000;
}

static rg_err weight_assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	struct weight *weight = user;
	int32_t next = 0;

	weight->plans++;
	if (weight->before)
		weight->before(group, plan);
	if (weight->err) {
		snprintf(error->text, sizeof(error->text), "no idea");
		return weight->err;
	}
	if (weight->before)
		return RG_OK;
	for (int32_t m = 0; m < group->member_count; m++) {
		int32_t share = ((const char *)group->members[m].userdata.data)[999] - '0';

		ck_assert_uint_eq(group->members[m].userdata.len, 1000);
		rg_plan_give_range(plan, m, 0, next, share);
		next += share;
		rg_plan_set_userdata(plan, m, "you", 3);
	}
	return RG_OK;
}

static void weight_assigned(const rg_assignment *assignment, void *user)
{
	struct weight *weight = user;

	weight->assignments++;
	snprintf(weight->last, sizeof(weight->last), "%d topics, %d partitions, %.*s, generation %s", assignment->topic_count,
	         assignment->topic_count ? assignment->partition_counts[0] : 0, (int)assignment->userdata.len,
	         assignment->userdata.len ? (const char *)assignment->userdata.data : "",
	         assignment->generation > 0 && assignment->member_id[0] ? "yes" : "no");
}

static void open_weighted(struct actor *actor, const char *name, struct weight *weight, unsigned protocols)
{
	rg_assignor assignor = {sizeof(assignor), "by-weight", protocols, weight_userdata, weight_assign, weight_assigned};
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, weight, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "by-weight", &error));
	crew_open(actor, name, conf);
	crew_subscribe(actor, "t");
}

START_TEST(an_assignor_of_ones_own)
{
	struct weight two = {.digit = '2'}, four = {.digit = '4'};

	open_weighted(&a, "a", &two, RG_EAGER);
	crew_until(a.owned == 2, &a);
	open_weighted(&b, "b", &four, RG_EAGER);
	crew_until(a.owned == 2 && b.owned == 4, &a, &b);
	ck_assert_int_eq(two.plans + four.plans, 2); /* only the leader's runs */
	ck_assert_int_eq(two.assignments, 2);
	ck_assert_str_eq(two.last, "1 topics, 2 partitions, you, generation yes");
	ck_assert_str_eq(four.last, "1 topics, 4 partitions, you, generation yes");
}
END_TEST

/* --- Bad ones -------------------------------------------------------------------------------------------------- */

static void give_twice(const rg_group *group, rg_plan *plan)
{
	for (int32_t m = 0; m < group->member_count; m++)
		rg_plan_give(plan, m, 0, 3);
	rg_plan_give(plan, 0, 0, 3);
}

static void recover(struct weight *weight, const char *text)
{
	crew_until(a.error.code, &a);
	ck_assert_str_eq(a.error.text, text);
	weight->before = NULL;
	weight->err = RG_OK;
	crew_until(a.owned == 2, &a); /* tried again, in the same rebalance */
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
}

START_TEST(a_bad_plan_is_told_and_made_again)
{
	struct weight weight = {.digit = '2', .before = give_twice};
	rg_error error = {0};
	char text[256];

	open_weighted(&a, "a", &weight, RG_EAGER);
	crew_until(a.error.code, &a);
	ck_assert_int_eq(a.error.code, RG_ERR_BAD_PLAN);
	ck_assert_ptr_nonnull(strstr(a.error.text, "assignor by-weight: "));
	OK(rg_testkit_describe_group(kit, "g", text, sizeof(text), &error));
	ck_assert_ptr_null(strstr(text, "Stable")); /* nothing was sent */
	weight.before = NULL;
	crew_until(a.owned == 2, &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1");
}
END_TEST

START_TEST(an_error_of_the_assignor_is_told_and_tried_again)
{
	struct weight weight = {.digit = '2', .err = RG_ERR_INVALID};

	open_weighted(&a, "a", &weight, RG_EAGER);
	recover(&weight, "assignor by-weight: no idea (INVALID)");
}
END_TEST

/* scenarios E.85: a cooperative assignor must not move what its owner still holds. */
static void move_all_to_the_second(const rg_group *group, rg_plan *plan)
{
	rg_plan_give_range(plan, group->member_count - 1, 0, 0, 6);
}

START_TEST(a_cooperative_plan_that_moves_what_is_held)
{
	struct weight one = {.digit = '6', .before = move_all_to_the_second}, two = one;

	open_weighted(&a, "a", &one, RG_COOPERATIVE);
	crew_until(a.owned == 6, &a);
	open_weighted(&b, "b", &two, RG_COOPERATIVE);
	crew_until(a.error.code || b.error.code || b.owned == 6, &a, &b);
	/* Ids are random: the second may be the owner. Then nothing moves. */
	if (a.error.code || b.error.code) {
		const rg_error *error = a.error.code ? &a.error : &b.error;

		ck_assert_int_eq(error->code, RG_ERR_BAD_PLAN);
		ck_assert_ptr_nonnull(strstr(error->text, "leaves it out until its owner has given it up"));
		ck_assert_int_eq(a.owned, 6);
	}
}
END_TEST

static char favourite;

static void give_all_to_the_favourite(const rg_group *group, rg_plan *plan)
{
	for (int32_t m = 0; m < group->member_count; m++)
		if (((const char *)group->members[m].userdata.data)[0] == favourite)
			rg_plan_give_range(plan, m, 0, 0, 6);
}

/* KIP-429: the same in the middle of a migration, when the leader is eager itself. What it gives up in each round says
 * nothing about the others. */
START_TEST(an_eager_leader_that_moves_what_a_cooperative_member_holds)
{
	struct weight one = {.digit = '1', .before = give_all_to_the_favourite};
	struct weight two = {.digit = '2', .before = give_all_to_the_favourite};
	rg_assignor assignor = {sizeof(assignor), "by-weight", RG_EAGER | RG_COOPERATIVE, weight_userdata, weight_assign,
	                        weight_assigned};
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, &one, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "by-weight,range", &error));
	favourite = '1';
	crew_open(&a, "a", conf);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 6, &a);
	favourite = '2';
	open_weighted(&b, "b", &two, RG_COOPERATIVE);
	crew_until(b.owned == 6, &a, &b);
	crew_until(count_of(&a, "complete") == count_of(&b, "complete") + 1, &a, &b);
	favourite = '1';
	OK(rg_consumer_rejoin(a.consumer, "to take it all", &error));
	crew_until(a.error.code, &a, &b);
	ck_assert_int_eq(a.error.code, RG_ERR_BAD_PLAN);
	ck_assert_int_eq(b.owned, 6);
	ck_assert_int_eq(a.owned, 0);
	favourite = '2';
	crew_until(count_of(&a, "prepare") == count_of(&a, "complete") && b.owned == 6, &a, &b);
	ck_assert(!seen(&b, "revoked"));
}
END_TEST

/* scenarios C.67; bugs 42; librdkafka 69: three sessions long, and the leader keeps its seat. */
static void sleep_long(const rg_group *group, rg_plan *plan)
{
	struct timespec time = {.tv_sec = 0, .tv_nsec = 900000000};

	nanosleep(&time, NULL);
	rg_plan_give_range(plan, 0, 0, 0, group->topics[0].partition_count);
}

START_TEST(a_slow_assignor_does_not_stop_the_heartbeats)
{
	struct weight weight = {.digit = '6', .before = sleep_long};
	rg_assignor assignor = {sizeof(assignor), "by-weight", RG_EAGER, weight_userdata, weight_assign, weight_assigned};
	rg_conf *conf = crew_conf("session.timeout.ms", "300", NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, &weight, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "by-weight", &error));
	crew_open(&a, "a", conf);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 6, &a);
	ck_assert_int_ge(atomic_load(&a.beats), 5);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3,4,5");
	ck_assert_int_eq(weight.plans, 1);
}
END_TEST

/* --- Strange members ----------------------------------------------------------------------------------------- */

static void send_garbage_join(struct client *client, const char *member_id, const char *metadata, size_t len)
{
	struct rg__join_group_request request;
	struct rg__join_group_request_protocol protocol;

	rg__fields_init(&rg__join_group_request_fields, &request);
	rg__fields_init(&rg__join_group_request_protocol_fields, &protocol);
	request.group_id = rg__bytes_of("g");
	request.session_timeout_ms = request.rebalance_timeout_ms = 10000;
	request.member_id = rg__bytes_of(member_id);
	request.protocol_type = rg__bytes_of("consumer");
	protocol.name = rg__bytes_of("range");
	protocol.metadata = (struct rg__bytes){(const uint8_t *)metadata, len};
	request.protocols = (struct rg__array){&protocol, 1};
	client_send(client, RG__API_JOIN_GROUP, 5, &request);
}

/* bugs librdkafka 10: it gets nothing and is logged, the others get all. */
START_TEST(a_member_whose_subscription_is_garbage)
{
	static const char *const garbage[] = {"", "\0", "\0\3\0\0\0\7", "\377\377\377\377\377", "no subscription at all"};
	static const size_t lengths[] = {0, 1, 6, 5, 22};
	const struct rg__join_group_response *answer;
	struct client client;
	char id[128];

	crew_join(&a, "a", "t");
	crew_until(a.owned == 6, &a);
	client_open(&client, rg_testkit_port(kit, 1));
	send_garbage_join(&client, "", "", 0);
	answer = client_hear(&client, RG__API_JOIN_GROUP, 5, client.correlation_id);
	ck_assert_int_eq(answer->error_code, 79);
	snprintf(id, sizeof(id), "%.*s", (int)answer->member_id.len, (const char *)answer->member_id.data);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		int rounds = count_of(&a, "assigned t:0,1,2,3,4,5"), warnings = atomic_load(&a.warnings);

		send_garbage_join(&client, id, garbage[i], lengths[i]);
		crew_until(count_of(&a, "assigned t:0,1,2,3,4,5") == rounds + 1, &a);
		ck_assert_int_gt(atomic_load(&a.warnings), warnings);
		ck_assert(warned(&a, "gets nothing, its subscription cannot be read"));
		ck_assert(warned(&a, id));
		answer = client_hear(&client, RG__API_JOIN_GROUP, 5, client.correlation_id);
		ck_assert_int_eq(answer->error_code, 0);
	}
	ck_assert_str_eq(a.errors, "");
	client_close(&client);
}
END_TEST

/* A leader that sends rubbish, or leaves this member out. */
START_TEST(a_leader_of_another_make)
{
	struct seat seat;
	int32_t correlation;

	seat_open(&seat, rg_testkit_port(kit, 1));
	seat_join(&seat, "g");
	seat_sync(&seat, "g", "");
	ck_assert(seat.leads);
	crew_join(&a, "a", "t");
	while (seat_heartbeat(&seat, "g"), seat.error != 27)
		crew_turn((struct actor *[]){&a, NULL});
	correlation = seat_send_join(&seat, "g");
	seat_hear_join(&seat, correlation);
	ck_assert(seat.leads);
	seat_sync(&seat, "g", ""); /* for itself only: the broker gives a zero bytes */
	crew_until(seen(&a, "complete"), &a);
	ck_assert_str_eq(a.seen, "prepare, complete, assigned");
	ck_assert(warned_exactly(&a, "ASSIGNMENT: the leader left this member out; it owns nothing"));
	seat_close(&seat);
}
END_TEST

/* --- Errors that come again ---------------------------------------------------------------------------------------- */

static int words_of(const char *errors)
{
	int count = errors[0] != '\0';

	for (const char *at = errors; (at = strstr(at, "; ")); at++)
		count++;
	return count;
}

static int32_t no_userdata(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity, void *user)
{
	(void)topics;
	(void)topic_count;
	(void)buffer;
	(void)capacity;
	return *(int *)user ? -1 : 0;
}

/* It is asked again after a pause that grows to a tenth of a second here; in between poll waits as long as it was told to. */
START_TEST(userdata_that_fails_is_asked_for_after_a_pause)
{
	int fails = 0;
	rg_assignor assignor = {sizeof(assignor), "by-weight", RG_EAGER, no_userdata, weight_assign, NULL};
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, &fails, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "by-weight", &error));
	crew_open(&a, "a", conf);
	crew_subscribe(&a, "t"); /* this asks without userdata */
	fails = 1;
	crew_until(a.error.code, &a);
	ck_assert_int_eq(a.error.code, RG_ERR_ASSIGNOR);
	crew_poll_for(1000, (struct actor *[]){&a, NULL});
	ck_assert_int_ge(words_of(a.errors), 3);
	ck_assert_int_le(words_of(a.errors), 60);
	ck_assert_int_eq(atomic_load(&a.own_warnings), 1); /* the log hears of it once a minute */
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
}
END_TEST

START_TEST(a_plan_that_fails_is_logged_once)
{
	struct weight weight = {.digit = '6', .err = RG_ERR_INVALID};

	open_weighted(&a, "a", &weight, RG_EAGER);
	crew_until(words_of(a.errors) >= 3, &a);
	ck_assert_int_eq(a.error.code, RG_ERR_ASSIGNOR);
	ck_assert_int_eq(atomic_load(&a.own_warnings), 1);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, userdata_that_fails_is_asked_for_after_a_pause);
	tcase_add_test(tcase, a_plan_that_fails_is_logged_once);
	tcase_add_test(tcase, an_assignor_of_ones_own);
	tcase_add_test(tcase, a_bad_plan_is_told_and_made_again);
	tcase_add_test(tcase, an_error_of_the_assignor_is_told_and_tried_again);
	tcase_add_test(tcase, a_cooperative_plan_that_moves_what_is_held);
	tcase_add_test(tcase, an_eager_leader_that_moves_what_a_cooperative_member_holds);
	tcase_add_test(tcase, a_slow_assignor_does_not_stop_the_heartbeats);
	tcase_add_test(tcase, a_member_whose_subscription_is_garbage);
	tcase_add_test(tcase, a_leader_of_another_make);
}

int main(void)
{
	return run_suite("consumer_assignors", fill, start, crew_end);
}
