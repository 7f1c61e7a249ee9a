/* SPDX-License-Identifier: Apache-2.0 */
/* The two stories of a rebalance, with consumers on the embedded cluster: what each listener hears, and what the
 * coordinator does meanwhile. tests/broker/stories.py tells them on a real Kafka. */
#include "crew.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct actor a, b, c;

static void start(void)
{
	crew_cluster("t:6", 2);
}

/* range, and what happens while a leader is at its plan. */
struct planner {
	int plans;
	void (*meanwhile)(int plan);
};

static rg_err plan(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	struct planner *planner = user;

	planner->plans++;
	if (planner->meanwhile)
		planner->meanwhile(planner->plans);
	return rg_assignor_builtin("range")->assign(group, plan, error, NULL);
}

static void open_planning(struct actor *actor, const char *name, struct planner *planner)
{
	rg_assignor assignor = {.size = sizeof(assignor), .name = "mine", .protocols = RG_EAGER, .assign = plan};
	rg_conf *conf = crew_conf(NULL);
	rg_error error = {0};

	OK(rg_conf_add_assignor(conf, &assignor, planner, &error));
	OK(rg_conf_set(conf, "partition.assignment.strategy", "mine", &error));
	crew_open(actor, name, conf);
}

static void coordinator_said(const char *pattern)
{
	rg_error error = {0};

	OK(rg_testkit_wait(kit, pattern, WITHIN_MS, &error));
}

static const char *group_now(void)
{
	static char text[512];
	rg_error error = {0};

	OK(rg_testkit_describe_group(kit, "g", text, sizeof(text), &error));
	return text;
}

/* --- Not yet stable ----------------------------------------------------------------------------------------------- */

static char leader[256];

/* "leader=m1-… " */
static void leader_of(const char *group, char *text)
{
	const char *at = strstr(group, "leader=");

	ck_assert_msg(at != NULL, "%s", group);
	snprintf(text, sizeof(leader), "%.*s", (int)strcspn(at, " "), at);
}

/* a has the answer to its JoinGroup, and its SyncGroup is not sent before this returns. */
static void b_comes(void)
{
	rg_error error = {0};

	leader_of(group_now(), leader);
	crew_subscribe(&b, "t");
	while (rg_testkit_wait(kit, "*\"from\":\"AwaitingSync\",\"to\":\"PreparingRebalance\"*", 5, &error))
		crew_turn((struct actor *[]){&b, NULL});
	ck_assert_int_eq(rg_testkit_request_count(kit, 14), 0);
}

/* The second round: b's SyncGroup is there, and waits for a's. */
static void b_waits(void)
{
	rg_error error = {0};

	coordinator_said("*\"event\":\"sync_answered\"*\"error\":\"REBALANCE_IN_PROGRESS\"*");
	coordinator_said("*\"event\":\"delayed_join\"*\"phase\":\"completed\"*");
	coordinator_said("*\"from\":\"PreparingRebalance\",\"to\":\"AwaitingSync\"*");
	while (rg_testkit_wait(kit, "*\"event\":\"sync_received\"*", 5, &error))
		crew_turn((struct actor *[]){&b, NULL});
	crew_poll_for(100, (struct actor *[]){&b, NULL});
	ck_assert_str_eq(b.seen, "prepare");
	ck_assert_msg(strstr(group_now(), "AwaitingSync") && strstr(group_now(), "+sync"), "%s", group_now());
}

static void while_a_plans(int plan)
{
	if (plan == 1)
		b_comes();
	else
		b_waits();
}

/* scenarios A.16, J.165: the leader's SyncGroup comes too late, since somebody has joined. */
START_TEST(not_yet_stable)
{
	struct planner leads = {.meanwhile = while_a_plans}, follows = {0};
	char still[sizeof(leader)];

	open_planning(&a, "a", &leads);
	open_planning(&b, "b", &follows);
	crew_subscribe(&a, "t");
	crew_until(a.owned == 3 && b.owned == 3, &a, &b);
	coordinator_said("*\"from\":\"AwaitingSync\",\"to\":\"Stable\"*");
	ck_assert(!strncmp(a.seen, "prepare, complete, assigned t:", 30) && !strchr(a.seen + 30, 'p'));
	ck_assert(!strncmp(b.seen, "prepare, complete, assigned t:", 30) && !strchr(b.seen + 30, 'p'));
	ck_assert_int_eq(leads.plans, 2);
	ck_assert_int_eq(follows.plans, 0);
	ck_assert_int_eq(rg_testkit_request_count(kit, 11), 5); /* two for each because of KIP-394, and a's again */
	ck_assert_int_eq(rg_testkit_request_count(kit, 14), 3);
	leader_of(group_now(), still);
	ck_assert_str_eq(still, leader); /* it joined again as who it was */
	ck_assert_msg(strstr(group_now(), "Stable gen=2 "), "%s", group_now());
	ck_assert_str_eq(a.errors, "");
	ck_assert_str_eq(b.errors, "");
}
END_TEST

/* --- Stable ------------------------------------------------------------------------------------------------------- */

static void one_rebalance(const struct actor *actor)
{
	ck_assert_msg(!strncmp(actor->seen, "prepare, revoked t:", 19), "%s", actor->seen);
	ck_assert_msg(count_of(actor, "prepare") == 1 && count_of(actor, "revoked") == 1, "%s", actor->seen);
	ck_assert_msg(count_of(actor, "complete") == 1 && count_of(actor, "assigned") == 1, "%s", actor->seen);
	ck_assert(alternates(actor));
	ck_assert_int_ge(atomic_load(&actor->calls), 1); /* that is how it learnt it */
	ck_assert_int_eq(actor->violations, 0);
	ck_assert_str_eq(actor->errors, "");
}

/* bugs 8: a third member joins; the others learn it by heartbeat, and prepare and complete once. */
START_TEST(a_third_member_joins_a_stable_group)
{
	crew_join(&a, "a", "t");
	crew_until(a.owned == 6, &a);
	crew_join(&b, "b", "t");
	crew_until(a.owned == 3 && b.owned == 3, &a, &b);
	ck_assert_msg(strstr(group_now(), "Stable gen=2 "), "%s", group_now());
	a.seen[0] = b.seen[0] = '\0';
	atomic_store(&a.calls, 0);
	atomic_store(&b.calls, 0);
	crew_join(&c, "c", "t");
	crew_until(a.owned == 2 && b.owned == 2 && c.owned == 2, &a, &b, &c);
	crew_poll_for(300, (struct actor *[]){&a, &b, &c, NULL});
	one_rebalance(&a);
	one_rebalance(&b);
	ck_assert(!strncmp(c.seen, "prepare, complete, assigned t:", 30) && !strchr(c.seen + 30, 'p'));
	ck_assert_msg(strstr(group_now(), "Stable gen=3 "), "%s", group_now());
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, not_yet_stable);
	tcase_add_test(tcase, a_third_member_joins_a_stable_group);
}

int main(void)
{
	return run_suite("consumer_stories", fill, start, crew_end);
}
