/* SPDX-License-Identifier: Apache-2.0 */
/* range and roundrobin: Java's plans, vector by vector, and a file of plans that Java made for random groups. */
#include "assign/builtin.h"
#include "story.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void both(const char *text, const char *want)
{
	story_check(&rg__range, text, want);
	story_check(&rg__roundrobin, text, want);
}

/* scenarios H.137: a member without topics, or with topics that do not exist, is in the plan with nothing. */
START_TEST(members_without_topics_are_listed)
{
	both(" | c1 -", "c1");
	both("t1:2 | c1 nowhere", "c1");
	both("t1:2 | c1 nowhere | c2 t1,nowhere", "c1 | c2 t1-0,1");
}
END_TEST

/* scenarios H.138 */
START_TEST(topics_nobody_subscribes_to_are_not_assigned)
{
	both("other:3 t1:3 | c1 t1", "c1 t1-0,1,2");
}
END_TEST

/* scenarios H.139, H.140 */
START_TEST(two_members_two_topics_of_three)
{
	const char *text = "t1:3 t2:3 | c1 t1,t2 | c2 t1,t2";

	story_check(&rg__range, text, "c1 t1-0,1 t2-0,1 | c2 t1-2 t2-2");
	story_check(&rg__roundrobin, text, "c1 t1-0,2 t2-1 | c2 t1-1 t2-0,2");
}
END_TEST

/* scenarios H.141 */
START_TEST(mixed_subscriptions)
{
	both("t1:3 t2:2 | c1 t1 | c2 t1,t2 | c3 t1", "c1 t1-0 | c2 t1-1 t2-0,1 | c3 t1-2");
}
END_TEST

/* scenarios H.142 */
START_TEST(one_partition_goes_to_the_first)
{
	both("t1:1 | c1 t1 | c2 t1", "c1 t1-0 | c2");
}
END_TEST

/* scenarios H.144: static members come first, by instance id, whatever their member ids are. */
START_TEST(static_members_keep_their_place)
{
	story_check(&rg__roundrobin, "t1:3 t2:3 | c1@i1 t1,t2 | c2@i2 t1,t2 | c3@i3 t1,t2 | c4 t1,t2",
	            "c1 t1-0 t2-1 | c2 t1-1 t2-2 | c3 t1-2 | c4 t2-0");
	story_check(&rg__roundrobin, "t1:3 t2:3 | c1@i1 t1,t2 | c2@i2 t1,t2 | c3@i3 t1,t2 | c5 t1,t2",
	            "c1 t1-0 t2-1 | c2 t1-1 t2-2 | c3 t1-2 | c5 t2-0");
	story_check(&rg__roundrobin, "t1:3 t2:3 | x@i1 t1,t2 | w@i2 t1,t2 | v@i3 t1,t2 | a t1,t2",
	            "a t2-0 | v t1-2 | w t1-1 t2-2 | x t1-0 t2-1");
	story_check(&rg__range, "t1:3 | x@i1 t1 | a t1", "a t1-2 | x t1-0,1");
}
END_TEST

/* scenarios H.145: racks that are all the same, missing on either side, or foreign change nothing. */
START_TEST(racks_that_do_not_matter)
{
	static const char *const groups[] = {
		"t1:6:a+b+c/a+b+c/a+b+c/a+b+c/a+b+c/a+b+c | c1%a t1 | c2%b t1 | c3%c t1",
		"t1:6 | c1%a t1 | c2%b t1 | c3%c t1",
		"t1:6:a/b/c/a/b/c | c1 t1 | c2 t1 | c3 t1",
		"t1:6:a/b/c/a/b/c | c1%d t1 | c2%e t1 | c3%f t1",
		"t1:6:a/b/c/a/b/c | c1 t1 | c2%e t1 | c3%f t1",
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		story_check(&rg__range, groups[i], "c1 t1-0,1 | c2 t1-2,3 | c3 t1-4,5");
}
END_TEST

#define RF1_UNIFORM "t1:5:a/b/c/a/b t2:5:c/a/b/c/a t3:5:b/c/a/b/c"
#define RF2_UNIFORM "t1:5:a+b/b+c/c+a/a+b/b+c t2:5:c+a/a+b/b+c/c+a/a+b t3:5:b+c/c+a/a+b/b+c/c+a"
#define RF3_UNIFORM "t1:5:a+b/b+a/a+b/b+a/a+b t2:5:b+a/a+b/b+a/a+b/b+a t3:5:a+b/b+a/a+b/b+a/a+b"

/* How many partitions sit with a member whose rack none of their replicas is in. */
static int mismatches(const struct story *story)
{
	const rg_group *group = &story->view.group;
	int count = 0;

	for (int32_t i = 0; i < story->plan->partition_count; i++) {
		rg_group_partition at = rg__plan_at(story->plan, i);
		const char *rack = group->members[story->plan->owners[i]].rack;
		bool found = !rack;

		for (int32_t k = 0; !found && k < group->topics[at.topic].rack_counts[at.partition]; k++)
			found = !strcmp(rack, group->topics[at.topic].racks[at.partition][k]);
		count += !found;
	}
	return count;
}

/* scenarios H.147: topics of equal size stay co-partitioned, even where that costs racks. */
START_TEST(copartitioning_comes_before_racks)
{
	static const struct {
		const char *topics;
		int mismatches;
	} rows[] = {{RF1_UNIFORM, 10}, {RF2_UNIFORM, 5}, {RF3_UNIFORM, 3}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct story story;

		snprintf(text, sizeof(text), "%s | c1%%a t1,t2,t3 | c2%%b t1,t2,t3 | c3%%c t1,t2,t3", rows[i].topics);
		story_begin(&story, text);
		ck_assert_str_eq(story_plan(&story, &rg__range),
		                 "c1 t1-0,1 t2-0,1 t3-0,1 | c2 t1-2,3 t2-2,3 t3-2,3 | c3 t1-4 t2-4 t3-4");
		ck_assert_int_eq(mismatches(&story), rows[i].mismatches);
		story_end(&story);
	}
}
END_TEST

/* KIP-881: members get partitions with a replica in their rack, within the quotas of plain range. */
START_TEST(racks_are_followed_within_quotas)
{
	story_check(&rg__range,
	            "t1:6:a/b/c/a/b/c t2:7:a/b/c/a/b/c/a t3:2:b/c | c1%a t1,t2,t3 | c2%b t1,t2,t3 | c3%c t1,t2,t3",
	            "c1 t1-0,3 t2-0,3,6 | c2 t1-1,4 t2-1,4 t3-0 | c3 t1-2,5 t2-2,5 t3-1");
}
END_TEST

/* bugs kafka 14891; plans that kafka-clients' own assignors made for random groups with and without racks; three lines
 * each: assignor, group, plan. Made by tests/unit/JavaPlans.java, whose first lines say how. */
START_TEST(plans_are_javas)
{
	const char *path = getenv("ASSIGN_VECTORS");
	char *line[3] = {NULL, NULL, NULL};
	size_t size[3] = {0, 0, 0};
	int cases[2] = {0, 0};
	FILE *file;

	ck_assert_msg(path != NULL, "ASSIGN_VECTORS names the file");
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s cannot be read", path);
	while (getline(&line[0], &size[0], file) > 0) {
		for (int i = 0; i < 3; i++) {
			ck_assert(i == 0 || getline(&line[i], &size[i], file) > 0);
			line[i][strcspn(line[i], "\n")] = '\0';
		}
		const rg_assignor *assignor = rg__builtin_find(line[0]);

		ck_assert_ptr_nonnull(assignor);
		cases[assignor == &rg__range]++;
		story_check(assignor, line[1], line[2]);
	}
	ck_assert_int_ge(cases[0], 100);
	ck_assert_int_ge(cases[1], 200);
	for (int i = 0; i < 3; i++)
		free(line[i]);
	fclose(file);
}
END_TEST

START_TEST(names_are_kafkas)
{
	ck_assert_ptr_eq(rg__builtin_find("range"), &rg__range);
	ck_assert_ptr_eq(rg__builtin_find("org.apache.kafka.clients.consumer.RangeAssignor"), &rg__range);
	ck_assert_ptr_eq(rg__builtin_find("org.apache.kafka.clients.consumer.RoundRobinAssignor"), &rg__roundrobin);
	ck_assert_ptr_null(rg__builtin_find("Range"));
	ck_assert_ptr_null(rg__builtin_find(""));
	for (int i = 0; rg__builtin_at(i); i++)
		ck_assert_ptr_eq(rg__builtin_find(rg__builtin_at(i)->name), rg__builtin_at(i));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assign_classic");
	TCase *tcase = tcase_create("java");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_add_test(tcase, members_without_topics_are_listed);
	tcase_add_test(tcase, topics_nobody_subscribes_to_are_not_assigned);
	tcase_add_test(tcase, two_members_two_topics_of_three);
	tcase_add_test(tcase, mixed_subscriptions);
	tcase_add_test(tcase, one_partition_goes_to_the_first);
	tcase_add_test(tcase, static_members_keep_their_place);
	tcase_add_test(tcase, racks_that_do_not_matter);
	tcase_add_test(tcase, copartitioning_comes_before_racks);
	tcase_add_test(tcase, racks_are_followed_within_quotas);
	tcase_add_test(tcase, plans_are_javas);
	tcase_add_test(tcase, names_are_kafkas);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
