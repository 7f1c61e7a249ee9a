/* SPDX-License-Identifier: Apache-2.0 */
/* What the leader does around an assignor: the view it shows, the plan it gets back, and what it refuses to send. */
#include "assign/builtin.h"
#include "assign/plan.h"
#include "assign/validate.h"
#include "base/alloc.h"
#include "story.h"

#include <check.h>
#include <string.h>

/* Members come in the coordinator's order, topics in the members': the view has both sorted, whatever the input's
 * order. */
START_TEST(view_is_sorted)
{
	struct story story;

	story_begin(&story, "b:2 a:1 c:3 | m2 c,a | m1 b,c");
	const rg_group *group = &story.view.group;

	ck_assert_int_eq(group->topic_count, 3);
	ck_assert_str_eq(group->topics[0].name, "a");
	ck_assert_str_eq(group->topics[2].name, "c");
	ck_assert_str_eq(group->members[0].member_id, "m1");
	ck_assert_int_eq(story.view.sources[0], 1);
	ck_assert_int_eq(group->members[1].topic_count, 2);
	ck_assert_int_eq(group->members[1].topics[0], 0);
	ck_assert_int_eq(group->members[1].topics[1], 2);
	story_end(&story);
}
END_TEST

/* bugs 11: a group that lists a member twice. The first is taken. */
START_TEST(a_member_listed_twice_counts_once)
{
	struct story story;

	story_begin(&story, "t:4 | m1 t | m2 t | m1 t | m1 -");
	ck_assert_int_eq(story.view.group.member_count, 2);
	ck_assert_int_eq(story.view.dropped_members, 2);
	ck_assert_int_eq(story.view.sources[0], 0);
	ck_assert_str_eq(story_plan(&story, &rg__range), "m1 t-0,1 | m2 t-2,3");
	story_end(&story);
}
END_TEST

/* scenarios H.157, bugs 29: claims are checked before an assignor sees them. */
START_TEST(claims_that_make_no_sense_are_dropped)
{
	static const rg_group_partition want[] = {{0, 0}, {0, 2}, {1, 1}};
	struct story story;

	story_begin(&story, "t:3 u:2 | m1 t,t,gone,u owns u-1 t-2,0,2,3,2147483647,-1 gone-0,1 t-0 | m2 u");
	const rg_group_member *member = &story.view.group.members[0];

	ck_assert_int_eq(member->topic_count, 2);
	ck_assert_int_eq(member->owned_count, 3);
	ck_assert_mem_eq(member->owned, want, sizeof(want));
	ck_assert_int_eq(story.view.dropped_claims, 7);
	story_end(&story);
}
END_TEST

/* A topic that has no partitions (yet) is one that does not exist. KIP-881: an empty rack is none. */
START_TEST(nothing_is_nothing)
{
	static const struct rg__bytes topics[] = {{(const uint8_t *)"t", 1}, {NULL, 0}, {(const uint8_t *)"", 0}};
	static const struct rg__member_input member = {.member_id = {(const uint8_t *)"m\0x", 3},
	                                               .rack = {(const uint8_t *)"", 0},
	                                               .topics = topics,
	                                               .topic_count = 3};
	static const struct rg__topic_input topic = {.name = {(const uint8_t *)"t", 1}, .partition_count = 0};
	struct rg__view view;

	ck_assert_int_eq(rg__view_build(&view, &member, 1, &topic, 1, 1, NULL), RG_OK);
	ck_assert_int_eq(view.group.topic_count, 0);
	ck_assert_int_eq(view.group.members[0].topic_count, 0);
	ck_assert_ptr_null(view.group.members[0].rack);
	ck_assert_str_eq(view.group.members[0].member_id, "m");
	rg__view_free(&view);
	ck_assert_int_eq(rg__view_build(&view, NULL, 0, NULL, 0, 1, NULL), RG_OK);
	rg__view_free(&view);
}
END_TEST

START_TEST(too_many_partitions_are_refused)
{
	struct story story;
	struct rg__view view;
	rg_error error;

	story_begin(&story, "t:1 u:1 | m1 t,u");
	story.topics[0].partition_count = story.topics[1].partition_count = INT32_MAX;
	ck_assert_int_eq(rg__view_build(&view, story.members, 1, story.topics, 2, 1, &error), RG_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(error.text, "4294967294 partitions"));
	rg__view_free(&view);
	story_end(&story);
}
END_TEST

static void plan_story(struct story *story)
{
	story_begin(story, "t:4 u:2 | m1 t,u | m2 t");
	story->plan = rg__plan_new(&story->view.group);
	ck_assert_ptr_nonnull(story->plan);
}

START_TEST(a_plan_is_read_by_member)
{
	struct story story;
	int32_t withheld = -1;

	plan_story(&story);
	ck_assert_int_eq(rg_plan_give_range(story.plan, 0, 0, 2, 2), RG_OK);
	ck_assert_int_eq(rg_plan_give(story.plan, 0, 1, 1), RG_OK);
	ck_assert_int_eq(rg_plan_give(story.plan, 1, 0, 0), RG_OK);
	ck_assert_int_eq(rg_plan_give_range(story.plan, 1, 0, 4, 0), RG_OK);
	ck_assert_int_eq(rg__plan_validate(story.plan, &withheld, NULL), RG_OK);
	ck_assert_int_eq(withheld, 2);
	ck_assert_str_eq(story_text(&story), "m1 t-2,3 u-1 | m2 t-0");
	ck_assert_int_eq(rg__plan_partition_count(story.plan, 0), 3);
	ck_assert_int_eq(rg__plan_at(story.plan, 3).topic, 0);
	ck_assert_int_eq(rg__plan_at(story.plan, 4).topic, 1);
	ck_assert_int_eq(rg__plan_at(story.plan, 5).partition, 1);
	story_end(&story);
}
END_TEST

START_TEST(userdata_is_copied)
{
	struct story story;
	char data[] = "abc";

	plan_story(&story);
	ck_assert_ptr_null(rg__plan_userdata(story.plan, 1).data);
	ck_assert_int_eq(rg_plan_set_userdata(story.plan, 1, data, 3), RG_OK);
	data[0] = 'x';
	ck_assert(rg__bytes_is(rg__plan_userdata(story.plan, 1), "abc"));
	ck_assert_ptr_null(rg__plan_userdata(story.plan, 0).data);
	ck_assert_int_eq(rg_plan_set_userdata(story.plan, 1, NULL, 0), RG_OK);
	ck_assert(rg__bytes_is(rg__plan_userdata(story.plan, 1), ""));
	ck_assert_int_eq(rg_plan_set_userdata(story.plan, 2, data, 3), RG_ERR_INVALID);
	ck_assert_int_eq(rg_plan_set_userdata(story.plan, -1, data, 3), RG_ERR_INVALID);
	ck_assert_int_eq(rg_plan_set_userdata(story.plan, 0, NULL, 3), RG_ERR_INVALID);
	story_end(&story);
}
END_TEST

static void check_refused(struct story *story, const char *want)
{
	rg_error error = {0};

	ck_assert_int_eq(rg__plan_validate(story->plan, NULL, &error), RG_ERR_BAD_PLAN);
	ck_assert_int_eq(error.code, RG_ERR_BAD_PLAN);
	ck_assert_str_eq(error.text, want);
	story_end(story);
}

/* A bad plan is a clear error that names the first fault; an assignor that does not look at results does not hide
 * it. */
START_TEST(bad_plans_are_refused_by_name)
{
	static const struct {
		int32_t member, topic, first, count;
		const char *want;
	} rows[] = {
		{2, 0, 0, 1, "the plan gives a partition to member 2: counted from 0, the group has no more than 2"},
		{-1, 0, 0, 1, "the plan gives a partition to member -1: counted from 0, the group has no more than 2"},
		{0, 2, 0, 1, "the plan gives member m1 a partition of topic 2: counted from 0, the group has no more than 2"},
		{0, 1, 2, 1, "the plan gives member m1 a range of u outside its partitions: 1 from 2 on, of 2"},
		{0, 1, -1, 1, "the plan gives member m1 a range of u outside its partitions: 1 from -1 on, of 2"},
		{0, 1, 1, INT32_MAX, "the plan gives member m1 a range of u outside its partitions: 2147483647 from 1 on, of 2"},
		{0, 1, 1, -1, "the plan gives member m1 a range of u outside its partitions: -1 from 1 on, of 2"},
	};
	struct story story;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plan_story(&story);
		ck_assert_int_eq(rg_plan_give_range(story.plan, rows[i].member, rows[i].topic, rows[i].first, rows[i].count),
		                 RG_ERR_INVALID);
		check_refused(&story, rows[i].want);
	}
	plan_story(&story);
	ck_assert_int_eq(rg_plan_give_range(story.plan, 0, 0, 1, 3), RG_OK);
	ck_assert_int_eq(rg_plan_give(story.plan, 1, 0, 2), RG_OK);
	check_refused(&story, "the plan gives t-2 twice: to member m1 and to member m2");
	plan_story(&story);
	ck_assert_int_eq(rg_plan_give_range(story.plan, 1, 1, 1, 1), RG_OK);
	check_refused(&story, "the plan gives u-1 to member m2, which does not subscribe to u");
}
END_TEST

/* The public functions, with which anybody can test an assignor without a group. */
START_TEST(an_assignor_is_tried_without_a_group)
{
	struct story story;
	int32_t withheld = -1;
	rg_error error = {0};

	story_begin(&story, "t:3 | m1 t | m2 t");
	rg_plan *plan = rg_plan_new(&story.view.group);

	ck_assert_int_eq(rg_plan_owner(plan, 0, 0), -1);
	ck_assert_int_eq(rg_assignor_builtin("range")->assign(&story.view.group, plan, &error, NULL), RG_OK);
	ck_assert_int_eq(rg_plan_check(plan, &withheld, &error), RG_OK);
	ck_assert_int_eq(withheld, 0);
	ck_assert_int_eq(rg_plan_owner(plan, 0, 1), 0);
	ck_assert_int_eq(rg_plan_owner(plan, 0, 2), 1);
	ck_assert_int_eq(rg_plan_owner(plan, 0, 3), -1);
	ck_assert_int_eq(rg_plan_owner(plan, 0, -1), -1);
	ck_assert_int_eq(rg_plan_owner(plan, 1, 0), -1);
	ck_assert_ptr_null(rg_plan_userdata(plan, 0).data);
	ck_assert_ptr_null(rg_plan_userdata(plan, 2).data);
	ck_assert_int_eq(rg_plan_set_userdata(plan, 0, "ab", 2), RG_OK);
	ck_assert_uint_eq(rg_plan_userdata(plan, 0).len, 2);
	ck_assert_int_eq(rg_plan_give(plan, 1, 0, 0), RG_OK);
	ck_assert_int_eq(rg_plan_check(plan, NULL, NULL), RG_ERR_BAD_PLAN);
	rg_plan_free(plan);
	rg_plan_free(NULL);
	story_end(&story);
}
END_TEST

/* Every allocation fails once, for every assignor: an error each time, nothing lost (the sanitizers look), then
 * success. */
START_TEST(running_out_of_memory)
{
	static const char text[] = "t:4:a/b/a/b u:4:a/a/b/b v:1:a | m1%a t,u owns t-1,0 u-2 | m2%b u,t owns t-3 | m3@i t,v";
	struct story story;

	story_begin(&story, text);
	for (int i = 0; rg__builtin_at(i); i++) {
		rg_err err = RG_ERR_MEMORY;
		long n;

		for (n = 1; err && n < 1000; n++) {
			struct rg__view view = {0};
			struct rg_plan *plan = NULL;
			rg_error error = {0};

			rg__alloc_fail_after(n);
			err = rg__view_build(&view, story.members, story.member_count, story.topics, story.topic_count, 1, &error);
			if (!err && !(plan = rg__plan_new(&view.group)))
				err = RG_ERR_MEMORY;
			if (!err)
				err = rg__builtin_at(i)->assign(&view.group, plan, &error, NULL);
			if (!err)
				err = rg_plan_set_userdata(plan, 0, "x", 1);
			if (!err)
				err = rg__plan_validate(plan, NULL, &error);
			rg__alloc_fail_after(0);
			ck_assert_msg(!err || err == RG_ERR_MEMORY, "%d: %s", err, error.text);
			rg__plan_free(plan);
			rg__view_free(&view);
		}
		ck_assert_int_eq(err, RG_OK);
		ck_assert_int_gt(n, 10);
	}
	story_end(&story);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assign_plan");
	TCase *view = tcase_create("view"), *plan = tcase_create("plan");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, view);
	tcase_add_test(view, view_is_sorted);
	tcase_add_test(view, a_member_listed_twice_counts_once);
	tcase_add_test(view, claims_that_make_no_sense_are_dropped);
	tcase_add_test(view, nothing_is_nothing);
	tcase_add_test(view, too_many_partitions_are_refused);
	suite_add_tcase(suite, plan);
	tcase_add_test(plan, a_plan_is_read_by_member);
	tcase_add_test(plan, userdata_is_copied);
	tcase_add_test(plan, bad_plans_are_refused_by_name);
	tcase_add_test(plan, an_assignor_is_tried_without_a_group);
	tcase_add_test(plan, running_out_of_memory);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
