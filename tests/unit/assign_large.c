/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of the sizes in which Java's sticky assignor took minutes, or all memory: plans that are even, and memory in
 * proportion. How fast ours is, bench/assign.md tells. */
#include "../lib/suite.h"
#include "assign/builtin.h"
#include "assign/plan.h"
#include "base/arena.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers cost a multiple of the time and of the memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { SMALLER = 10 };
#else
enum { SMALLER = 1 };
#endif

typedef bool subscribes_fn(int32_t member, int32_t topic, int32_t members, int32_t topics);

struct large {
	struct rg__arena arena;
	rg_group group;
	rg_group_topic *topics;
	rg_group_member *members;
};

static void *need(struct large *large, size_t count, size_t size)
{
	void *got = rg__arena_calloc(&large->arena, count, size);

	ck_assert_ptr_nonnull(got);
	return got;
}

static const char *name_of(struct large *large, char kind, int32_t number)
{
	char *name = need(large, 16, 1);

	snprintf(name, 16, "%c%06d", kind, (int)number);
	return name;
}

static void build(struct large *large, int32_t topics, int32_t partitions, int32_t members, subscribes_fn *subscribes)
{
	memset(large, 0, sizeof(*large));
	large->topics = need(large, (size_t)topics, sizeof(*large->topics));
	large->members = need(large, (size_t)members, sizeof(*large->members));
	for (int32_t t = 0; t < topics; t++)
		large->topics[t] = (rg_group_topic){.name = name_of(large, 't', t), .partition_count = partitions};
	for (int32_t m = 0; m < members; m++) {
		int32_t *list = need(large, (size_t)topics, sizeof(*list)), count = 0;

		for (int32_t t = 0; t < topics; t++)
			if (!subscribes || subscribes(m, t, members, topics))
				list[count++] = t;
		large->members[m] = (rg_group_member){
			.member_id = name_of(large, 'm', m), .topics = list, .topic_count = count, .generation = -1};
	}
	large->group = (rg_group){.size = sizeof(rg_group), .members = large->members, .member_count = members,
	                          .topics = large->topics, .topic_count = topics, .generation = 2};
}

/* Kilobytes of memory, now or the most there was. */
static long memory_kb(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

static rg_plan *make_plan(const char *name, const rg_group *group)
{
	const rg_assignor *assignor = rg__builtin_find(name);
	rg_plan *plan = rg_plan_new(group);
	rg_error error = {0};

	ck_assert_ptr_nonnull(plan);
	ck_assert_msg(assignor->assign(group, plan, &error, NULL) == RG_OK, "%s", error.text);
	ck_assert_msg(rg_plan_check(plan, NULL, &error) == RG_OK, "%s", error.text);
	return plan;
}

/* What a plan gave is the members' own now. */
static void own(struct large *large, const rg_plan *plan)
{
	int32_t members = large->group.member_count, *counts = need(large, (size_t)members + 1, sizeof(*counts));
	rg_group_partition *owned;
	size_t total = 0;

	for (int32_t t = 0; t < large->group.topic_count; t++)
		total += (size_t)large->topics[t].partition_count;
	owned = need(large, total, sizeof(*owned));
	for (int32_t t = 0; t < large->group.topic_count; t++)
		for (int32_t p = 0; p < large->topics[t].partition_count; p++)
			counts[rg_plan_owner(plan, t, p) + 1]++; /* entry 0: nobody */
	for (int32_t m = 0; m < members; m++) {
		large->members[m].owned = owned;
		large->members[m].owned_count = 0;
		large->members[m].generation = 1;
		owned += counts[m + 1];
	}
	for (int32_t t = 0; t < large->group.topic_count; t++)
		for (int32_t p = 0; p < large->topics[t].partition_count; p++) {
			int32_t owner = rg_plan_owner(plan, t, p);

			if (owner >= 0)
				((rg_group_partition *)(uintptr_t)large->members[owner].owned)[large->members[owner].owned_count++] =
					(rg_group_partition){t, p};
		}
}

/* Everything is given, and nobody has two partitions more than somebody who could have one of them. How many the last
 * member has. */
static int32_t check_even(struct large *large, const rg_plan *plan)
{
	int32_t members = large->group.member_count, topics = large->group.topic_count, free_left = 0;
	int32_t *loads = need(large, (size_t)members + 1, sizeof(*loads)); /* entry 0: nobody */
	int32_t *most = need(large, (size_t)topics, sizeof(*most)), *least = need(large, (size_t)topics, sizeof(*least));

	for (int32_t t = 0; t < topics; t++)
		for (int32_t p = 0; p < large->topics[t].partition_count; p++)
			loads[rg_plan_owner(plan, t, p) + 1]++;
	free_left = loads[0];
	for (int32_t t = 0; t < topics; t++) {
		least[t] = INT32_MAX;
		for (int32_t p = 0; p < large->topics[t].partition_count; p++) {
			int32_t load = loads[rg_plan_owner(plan, t, p) + 1];

			most[t] = load > most[t] ? load : most[t];
		}
	}
	for (int32_t m = 0; m < members; m++)
		for (int32_t i = 0; i < large->members[m].topic_count; i++) {
			int32_t t = large->members[m].topics[i];

			least[t] = loads[m + 1] < least[t] ? loads[m + 1] : least[t];
		}
	ck_assert_int_eq(free_left, 0);
	for (int32_t t = 0; t < topics; t++)
		ck_assert_msg(most[t] - least[t] <= 1, "of %s somebody with %d has some, and somebody with %d has room",
		              large->topics[t].name, (int)most[t], (int)least[t]);
	return loads[members];
}

/* A newcomer's share was taken from those who had it, in the round before this plan, and given to it in this one. */
static void check_newcomer(struct large *large, const char *name, const rg_plan *before, bool alike)
{
	int32_t withheld;
	rg_plan *plan;

	ck_assert_int_eq(rg_plan_check((rg_plan *)(uintptr_t)before, &withheld, NULL), RG_OK);
	own(large, before);
	plan = make_plan(name, &large->group);
	int32_t share = check_even(large, plan);

	if (alike)
		ck_assert_int_eq(withheld, share);
	rg_plan_free(plan);
}

/* A first plan, and one more when the last member has come to those who share it already. */
static void first_and_next(const char *name, int32_t topics, int32_t partitions, int32_t members,
                           subscribes_fn *subscribes)
{
	bool sticky = strcmp(name, "cooperative-sticky") == 0;
	struct large large;
	rg_plan *plan;

	build(&large, topics, partitions / SMALLER, members / SMALLER, subscribes);
	large.group.member_count--;
	plan = make_plan(name, &large.group);
	if (sticky)
		check_even(&large, plan);
	own(&large, plan);
	rg_plan_free(plan);
	large.group.member_count++;
	plan = make_plan(name, &large.group);
	if (sticky)
		check_newcomer(&large, name, plan, !subscribes);
	rg_plan_free(plan);
	rg__arena_clear(&large.arena);
}

static bool all_but_the_last(int32_t member, int32_t topic, int32_t members, int32_t topics)
{
	(void)topics;
	return member + 1 < members || topic == 0;
}

static bool every_second_half(int32_t member, int32_t topic, int32_t members, int32_t topics)
{
	(void)members;
	return member % 2 == 0 || topic < topics / 2;
}

static bool in_five_parts(int32_t member, int32_t topic, int32_t members, int32_t topics)
{
	(void)members, (void)topics;
	return member % 5 == topic % 5;
}

/* bugs kafka 9987: a million partitions, two thousand members. */
START_TEST(a_million_partitions)
{
	first_and_next("cooperative-sticky", 500, 2000, 2000, NULL);
	first_and_next("range", 500, 2000, 2000, NULL);
}
END_TEST

/* bugs kafka 12464: as many members as one topic has partitions, and more. */
START_TEST(many_members_of_one_topic)
{
	first_and_next("cooperative-sticky", 1, 10000, 10000, NULL);
	first_and_next("cooperative-sticky", 1, 2000, 5000, NULL);
}
END_TEST

/* bugs kafka 12675: nearly all subscribe to the same, one does not; and the memory that takes. */
START_TEST(one_member_is_different)
{
	long before = memory_kb("VmRSS:"), grown;

	first_and_next("cooperative-sticky", 500, 2000, 2000, all_but_the_last);
	grown = memory_kb("VmHWM:") - before;
	ck_assert_int_lt(grown, SMALLER > 1 ? 4000000 : 200000);
}
END_TEST

/* bugs kafka 15106: subscriptions that overlap, or have nothing in common, do not make planning go round in circles. */
START_TEST(subscriptions_of_all_kinds)
{
	first_and_next("cooperative-sticky", 100, 1000, 500, every_second_half);
	first_and_next("cooperative-sticky", 100, 1000, 1000, in_five_parts);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, one_member_is_different); /* first: it looks at the most memory there was */
	tcase_add_test(tcase, a_million_partitions);
	tcase_add_test(tcase, many_members_of_one_topic);
	tcase_add_test(tcase, subscriptions_of_all_kinds);
}

int main(void)
{
	return suite_run("assign_large", fill, 120);
}
