/* SPDX-License-Identifier: Apache-2.0 */
/* sticky, cooperative-sticky and weighted: the scenarios, one by one. What holds for all groups is in
 * assign_optimal.c. */
#include "assign/builtin.h"
#include "assign/userdata.h"
#include "base/alloc.h"
#include "story.h"

#include <check.h>
#include <string.h>

static void both(const char *text, const char *want)
{
	story_check(&rg__sticky, text, want);
	story_check(&rg__cooperative_sticky, text, want);
}

/* scenarios H.137, H.138 */
START_TEST(members_without_topics_are_listed)
{
	both(" | c1 -", "c1");
	both("t1:2 | c1 nowhere", "c1");
	both("other:3 t1:3 | c1 t1 | c2 -", "c1 t1-0,1,2 | c2");
}
END_TEST

/* scenarios H.141, H.142: Java's plans for fresh groups. */
START_TEST(fresh_groups)
{
	both("t1:1 | c1 t1 | c2 t1", "c1 t1-0 | c2");
	both("t1:3 t2:3 | c1 t1,t2 | c2 t1,t2", "c1 t1-0,2 t2-1 | c2 t1-1 t2-0,2");
	both("t1:3 t2:2 | c1 t1 | c2 t1,t2 | c3 t1", "c1 t1-0,2 | c2 t2-0,1 | c3 t1-1");
}
END_TEST

/* scenarios H.149: what is owned stays, what is free goes to who has least. */
START_TEST(a_free_partition_goes_to_the_one_with_less)
{
	both("t1:2 t2:3 | c1#4 t1,t2 owns t1-0 t2-1 | c2#4 t1,t2 owns t1-1 t2-2", "c1 t1-0 t2-0,1 | c2 t1-1 t2-2");
}
END_TEST

/* scenarios H.150: exactly one move; cooperative needs a second round for it. */
START_TEST(a_newcomer_costs_one_move)
{
	static const char text[] = "t1:2 t2:2 | c1#4 t1,t2 owns t1-0 t2-0 | c2#4 t1,t2 owns t1-1 t2-1 | c3 t1,t2";

	story_check(&rg__sticky, text, "c1 t1-0 | c2 t1-1 t2-1 | c3 t2-0");
	story_check(&rg__cooperative_sticky, text, "c1 t1-0 | c2 t1-1 t2-1 | c3");
	story_check(&rg__cooperative_sticky,
	            "t1:2 t2:2 | c1#5 t1,t2 owns t1-0 | c2#5 t1,t2 owns t1-1 t2-1 | c3#5 t1,t2",
	            "c1 t1-0 | c2 t1-1 t2-1 | c3 t2-0");
}
END_TEST

/* scenarios H.151 */
START_TEST(a_member_comes_and_goes)
{
	story_check(&rg__sticky, "t:3 | c1#1 t owns t-0,1,2 | c2 t", "c1 t-0,1 | c2 t-2");
	story_check(&rg__cooperative_sticky, "t:3 | c1#1 t owns t-0,1,2 | c2 t", "c1 t-0,1 | c2");
	both("t:3 | c2#2 t owns t-2", "c2 t-0,1,2");
}
END_TEST

/* scenarios H.154, bugs kafka 12984: two claims with equal right: both lose it. */
START_TEST(a_partition_claimed_twice_in_one_generation)
{
	static const char text[] = "t:3 | c1#4 t owns t-0,1 | c2#4 t owns t-0,2 | c3#4 t";

	story_check(&rg__sticky, text, "c1 t-1 | c2 t-2 | c3 t-0");
	story_check(&rg__cooperative_sticky, text, "c1 t-1 | c2 t-2 | c3");
	/* Also when it would go back to one of them: the other must have let go first. */
	story_check(&rg__cooperative_sticky, "t:3 | c1#4 t owns t-0 | c2#4 t owns t-0", "c1 t-2 | c2 t-1");
	/* Three claims, one of them newer than the other two. */
	story_check(&rg__cooperative_sticky, "t:3 | c1#4 t owns t-0 | c2#4 t owns t-0 | c3#5 t owns t-0",
	            "c1 t-1 | c2 t-2 | c3 t-0");
}
END_TEST

/* scenarios H.156: an old claim that nobody contradicts is honoured; of two claims the newest wins. */
START_TEST(claims_of_older_generations)
{
	both("t:6 | c1#5 t owns t-0,1 | c2#5 t owns t-2,3 | c3#3 t owns t-4,5", "c1 t-0,1 | c2 t-2,3 | c3 t-4,5");
	both("t:6 | c1#5 t owns t-0,1 | c2#5 t owns t-2,3 | c3 t", "c1 t-0,1 | c2 t-2,3 | c3 t-4,5");
	story_check(&rg__sticky, "t:4 | c1#3 t owns t-0,1 | c2#5 t owns t-1,2", "c1 t-0,3 | c2 t-1,2");
	story_check(&rg__cooperative_sticky, "t:4 | c1#3 t owns t-0,1 | c2#5 t owns t-1,2", "c1 t-0,3 | c2 t-1,2");
	/* Members that do not say their generation are the oldest; among themselves they are equal. */
	story_check(&rg__cooperative_sticky, "t:2 | c1 t owns t-0 | c2#1 t owns t-0", "c1 t-1 | c2 t-0");
}
END_TEST

/* KIP-429: a partition that its owner no longer subscribes to is still his until he has given it up. */
START_TEST(an_owner_that_no_longer_subscribes)
{
	story_check(&rg__sticky, "t:1 u:1 | c1#2 u owns t-0 | c2#2 t", "c1 u-0 | c2 t-0");
	story_check(&rg__cooperative_sticky, "t:1 u:1 | c1#2 u owns t-0 | c2#2 t", "c1 u-0 | c2");
}
END_TEST

/* scenarios H.157 */
START_TEST(a_deleted_topic)
{
	both("t1:2 | c1#1 t1,gone owns gone-0,1,2 | c2#1 t1,gone owns gone-3 t1-0", "c1 t1-1 | c2 t1-0");
	both(" | c1#1 gone owns gone-0,1", "c1");
}
END_TEST

#define RACKS_672 "t1:6:a/b/c/a/b/c t2:7:a/b/c/a/b/c/a t3:2:b/c"

/* scenarios H.160: every partition in its member's rack; owners in other racks lose what somebody in the rack can
 * take. */
START_TEST(racks)
{
	static const char want[] = "c1 t1-0,3 t2-0,3,6 | c2 t1-1,4 t2-1,4 t3-0 | c3 t1-2,5 t2-2,5 t3-1";
	static const char owned[] = RACKS_672 " | c1%a#1 t1,t2,t3 owns t1-0,1,2,3,4 | c2%b#1 t1,t2,t3 owns t1-5 t2-0,1,2,3"
	                                      " | c3%c#1 t1,t2,t3 owns t2-4,5,6 t3-0,1";

	both(RACKS_672 " | c1%a t1,t2,t3 | c2%b t1,t2,t3 | c3%c t1,t2,t3", want);
	both(RACKS_672 " | c1%a#1 t1,t2,t3 owns t1-0,3 t2-0,3,6 | c2%b#1 t1,t2,t3 owns t1-1,4 t2-1,4 t3-0"
	               " | c3%c#1 t1,t2,t3 owns t1-2,5 t2-2,5 t3-1", want);
	story_check(&rg__sticky, owned, want);
	story_check(&rg__cooperative_sticky, owned, "c1 t1-0,3 | c2 t2-1 | c3 t2-5 t3-1");
}
END_TEST

/* scenarios H.145: racks that do not matter change nothing. */
START_TEST(racks_that_do_not_matter)
{
	static const char want[] = "c1 t1-0,3 t2-0,3,6 | c2 t1-1,4 t2-1,4 t3-0 | c3 t1-2,5 t2-2,5 t3-1";

	both("t1:6 t2:7 t3:2 | c1%a t1,t2,t3 | c2%b t1,t2,t3 | c3%c t1,t2,t3", want);
	both(RACKS_672 " | c1 t1,t2,t3 | c2 t1,t2,t3 | c3 t1,t2,t3", want);
	both(RACKS_672 " | c1%d t1,t2,t3 | c2%e t1,t2,t3 | c3%f t1,t2,t3", want);
	both(RACKS_672 " | c1 t1,t2,t3 | c2%e t1,t2,t3 | c3%f t1,t2,t3", want);
}
END_TEST

/* bugs kafka 16277, librdkafka 67: each topic is spread, also when members come and go (Java's
 * testTopicBalanceAfterReassignment). */
START_TEST(topics_stay_spread)
{
	static const char *const groups[] = {
		"t1:12 t2:12 | c1#1 t1,t2 owns t1-0,1,2,3,4,5,6,7,8,9,10,11 t2-0,1,2,3,4,5,6,7,8,9,10,11 | c2 t1,t2",
		"t1:8 t2:8 | c1#1 t1,t2 owns t1-0,1,2,3 t2-0,1,2,3 | c2#1 t1,t2 owns t1-4,5,6,7 t2-4,5,6,7 | c3 t1,t2 | c4 t1,t2",
		"t1:12 t2:12 | c3#1 t1,t2 owns t1-3,4,5 t2-3,4,5 | c4#1 t1,t2 owns t1-9,10,11 t2-9,10,11",
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct story story;

		story_begin(&story, groups[i]);
		story_owned_to_userdata(&story);
		story_plan(&story, &rg__sticky);
		for (int32_t m = 0; m < story.view.group.member_count; m++)
			for (int32_t k = 0; k < 2; k++) {
				const int32_t *partitions;
				int32_t count;

				ck_assert_int_eq(rg__plan_topic(story.plan, m, k, &partitions, &count), k);
				ck_assert_int_eq(count, story.view.group.topics[k].partition_count / story.view.group.member_count);
			}
		story_end(&story);
	}
}
END_TEST

/* Ties are broken by instance id, then member id: a restarted static member has the same place under a new id. */
START_TEST(ties_are_broken_by_instance_id)
{
	both("t:4 | x@i1 t | a t | m@i2 t", "a t-2 | m t-1 | x t-0,3");
	both("t:4 | y@i1 t | b t | n@i2 t", "b t-2 | n t-1 | y t-0,3");
}
END_TEST

/* The plan depends on who is in the group, not on the order in which anything is listed. */
START_TEST(order_does_not_matter)
{
	static const char want[] = "c1 t1-0 t2-1 | c2 t1-1,2 | c3 t2-0,2";

	both("t1:3 t2:3 | c1#1 t1,t2 owns t1-0 t2-1 | c2#1 t1 owns t1-1 | c3#1 t2,t1 owns t2-2", want);
	both("t2:3 t1:3 | c3#1 t1,t2 owns t2-2 | c1#1 t2,t1 owns t2-1 t1-0 | c2#1 t1 owns t1-1", want);
	both("t1:3 t2:3 | c2#1 t1 owns t1-1 | c3#1 t2,t1 owns t2-2 | c1#1 t2,t1 owns t1-0 t2-1", want);
}
END_TEST

/* Better balanced than Java's: kafka-clients 4.1.2 leaves this group as it is, with loads of 3, 2 and 1 ("c1 a-0,1,2 | c2
 * a-3 b-0 | c3 b-1"), as no single move helps. Two do: c1 passes a partition to c2, which passes one on to c3. */
START_TEST(chains_of_moves_are_found)
{
	story_check(&rg__sticky, "a:4 b:2 | c1#1 a owns a-0,1,2 | c2#1 a,b owns a-3 b-0 | c3#1 b owns b-1",
	            "c1 a-0,1 | c2 a-2,3 | c3 b-0,1");
}
END_TEST

static const uint8_t java_v1[] = {0, 0, 0, 2, 0, 1, 't', 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 'u', 0, 0, 0, 1,
                                  0, 0, 0, 0, 0, 0, 0, 9};

/* protocol.md §sticky: bytes of Java's assignors. */
START_TEST(userdata_is_javas)
{
	static const char *const topics[] = {"t", "u"};
	static const int32_t t[] = {1, 0}, u[] = {0}, counts[] = {2, 1};
	static const int32_t *const partitions[] = {t, u};
	rg_assignment assignment = {.size = sizeof(assignment),
	                            .topics = topics,
	                            .partitions = partitions,
	                            .partition_counts = counts,
	                            .topic_count = 2,
	                            .generation = 9};
	uint8_t buffer[64];
	void *user;

	ck_assert_int_eq(rg__userdata_write_sticky(&assignment, buffer, sizeof(buffer)), sizeof(java_v1));
	ck_assert_mem_eq(buffer, java_v1, sizeof(java_v1));
	ck_assert_int_eq(rg__userdata_write_sticky(&assignment, buffer, 3), sizeof(java_v1));

	ck_assert_int_eq(rg__builtin_open(&rg__sticky, 1, &user), RG_OK);
	ck_assert_int_eq(rg__sticky.subscription_userdata(topics, 2, buffer, sizeof(buffer), user), 0);
	rg__sticky.on_assignment(&assignment, user);
	ck_assert_int_eq(rg__sticky.subscription_userdata(topics, 2, buffer, sizeof(buffer), user), sizeof(java_v1));
	ck_assert_mem_eq(buffer, java_v1, sizeof(java_v1));
	rg__builtin_close(user);

	ck_assert_int_eq(rg__builtin_open(&rg__cooperative_sticky, 1, &user), RG_OK);
	ck_assert_int_eq(rg__cooperative_sticky.subscription_userdata(topics, 2, buffer, sizeof(buffer), user), 4);
	ck_assert_mem_eq(buffer, "\xff\xff\xff\xff", 4);
	rg__cooperative_sticky.on_assignment(&assignment, user);
	ck_assert_int_eq(rg__cooperative_sticky.subscription_userdata(topics, 2, buffer, sizeof(buffer), user), 4);
	ck_assert_mem_eq(buffer, "\0\0\0\x9", 4);
	rg__builtin_close(user);

	ck_assert_int_eq(rg__builtin_open(&rg__range, 1, &user), RG_OK);
	ck_assert_ptr_null(user);
	rg__builtin_close(user);
	ck_assert_int_eq(rg__builtin_open(&rg__weighted, 0, &user), RG_ERR_INVALID);
	ck_assert_int_eq(rg__builtin_open(&rg__weighted, 65536, &user), RG_ERR_INVALID);
}
END_TEST

static void set_userdata(struct story *story, int32_t member, const void *data, size_t len)
{
	((rg_group_member *)(uintptr_t)story->view.group.members)[member].userdata = (rg_bytes){data, len};
}

/* What foreign members send may be old (v0 has no generation), broken, or hostile: cut at every byte it never does
 * harm. */
START_TEST(foreign_userdata)
{
	struct rg__arena arena = {0};
	struct rg__names topics;
	struct rg__claim said;
	struct story story;

	story_begin(&story, "t:2 u:1 | c1 t,u | c2 t,u");
	ck_assert(rg__userdata_index_topics(&topics, &story.view.group, &arena));
	for (size_t len = 0; len <= sizeof(java_v1); len++) {
		uint8_t *exact = rg__malloc(len); /* the address sanitizer watches its end */

		memcpy(exact, java_v1, len);
		ck_assert(rg__userdata_read_sticky((rg_bytes){exact, len}, &story.view.group, &topics, &arena, &said));
		ck_assert_int_eq(said.count, len >= sizeof(java_v1) - 4 ? 3 : 0);
		ck_assert_int_eq(said.generation, len == sizeof(java_v1) ? 9 : -1);
		rg__free(exact);
	}
	ck_assert(rg__userdata_read_sticky((rg_bytes){"\x7f\xff\xff\xff", 4}, &story.view.group, &topics, &arena, &said));
	ck_assert_int_eq(said.count, 0);
	ck_assert(rg__userdata_read_sticky((rg_bytes){"\xff\xff\xff\xff\0\0\0\1", 8}, &story.view.group, &topics, &arena,
	                                   &said));
	ck_assert_int_eq(said.generation, -1);

	set_userdata(&story, 0, "\x7f\xff\xff\xff", 4);
	set_userdata(&story, 1, java_v1, sizeof(java_v1));
	ck_assert_str_eq(story_plan(&story, &rg__sticky), "c1 t-1 | c2 t-0 u-0");
	story_end(&story);
	rg__arena_clear(&arena);
}
END_TEST

/* Before KIP-792 the generation came in Java's userdata; where the subscription says one, that counts. */
START_TEST(generation_from_userdata)
{
	struct story story;

	story_begin(&story, "t:2 | c1 t owns t-0 | c2 t owns t-0");
	set_userdata(&story, 0, "\0\0\0\x3", 4);
	set_userdata(&story, 1, "\0\0\0\x2", 4);
	ck_assert_str_eq(story_plan(&story, &rg__cooperative_sticky), "c1 t-0 | c2 t-1");
	set_userdata(&story, 0, "\0\0", 2);
	ck_assert_str_eq(story_plan(&story, &rg__cooperative_sticky), "c1 t-1 | c2 t-0");
	story_end(&story);
	story_begin(&story, "t:2 | c1#1 t owns t-0 | c2 t owns t-0");
	set_userdata(&story, 0, "\0\0\0\x9", 4);
	set_userdata(&story, 1, "\0\0\0\x2", 4);
	ck_assert_str_eq(story_plan(&story, &rg__cooperative_sticky), "c1 t-1 | c2 t-0");
	story_end(&story);
}
END_TEST

START_TEST(weighted_shares_by_capacity)
{
	struct story story;

	story_begin(&story, "t:12 | c1 t | c2 t | c3 t");
	set_userdata(&story, 0, "\0\0\0\x3", 4);
	set_userdata(&story, 1, "\0\0\0\x2", 4);
	ck_assert_str_eq(story_plan(&story, &rg__weighted), "c1 t-0,2,4,6,8,10 | c2 t-1,5,7,11 | c3 t-3,9");
	set_userdata(&story, 0, "\0\0\0\0", 4); /* out of range, broken, absent: 1 */
	set_userdata(&story, 1, "\0\0\0\2\0", 5);
	ck_assert_str_eq(story_plan(&story, &rg__weighted), "c1 t-0,3,6,9 | c2 t-1,4,7,10 | c3 t-2,5,8,11");
	story_end(&story);
}
END_TEST

/* Promise 4 of the manual page, where members own something already. */
START_TEST(what_changes_hands_spreads_topics)
{
	struct story story;

	/* It goes to who has least of the topic … */
	both("t1:4 t2:4 | c1#1 t1,t2 owns t1-0,1 | c2#1 t1,t2 owns t2-0,1", "c1 t1-0,1 t2-2,3 | c2 t1-2,3 t2-0,1");
	/* … counting what it has just got … */
	both("t1:6 t2:2 | c1#1 t1,t2 owns t2-0 | c2#1 t1,t2 owns t1-0 t2-1", "c1 t1-1,3,5 t2-0 | c2 t1-0,2,4 t2-1");
	both("t1:2:a/b t2:2:b/a t3:2:b/b | c1 t1,t2,t3 | c2 t1,t2,t3 | c3%b#1 t1,t2,t3 owns t3-0,1",
	     "c1 t1-0 t2-0 | c2 t1-1 t2-1 | c3 t3-0,1");
	/* … and measured by its load: of two thirds of the load two thirds of the topic. */
	story_begin(&story, "t1:4 t2:4 | c1#1 t1,t2 owns t1-0,1 | c2#1 t1,t2 owns t1-2");
	set_userdata(&story, 0, "\0\0\0\x3", 4);
	ck_assert_str_eq(story_plan(&story, &rg__weighted), "c1 t1-0,1,3 t2-0,2,3 | c2 t1-2 t2-1");
	story_end(&story);
	/* Two that have to give up one each do not both take it from the same topic. */
	story_check(&rg__sticky, "t1:4 t2:4 | c1#1 t1,t2 owns t1-0,1 t2-0,1 | c2#1 t1,t2 owns t1-2,3 t2-2,3 | c3 t1,t2",
	            "c1 t1-0,1 t2-0 | c2 t1-2 t2-2,3 | c3 t1-3 t2-1");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assign_sticky");
	TCase *plans = tcase_create("plans"), *bytes = tcase_create("bytes");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, plans);
	tcase_add_test(plans, members_without_topics_are_listed);
	tcase_add_test(plans, fresh_groups);
	tcase_add_test(plans, a_free_partition_goes_to_the_one_with_less);
	tcase_add_test(plans, a_newcomer_costs_one_move);
	tcase_add_test(plans, a_member_comes_and_goes);
	tcase_add_test(plans, a_partition_claimed_twice_in_one_generation);
	tcase_add_test(plans, claims_of_older_generations);
	tcase_add_test(plans, an_owner_that_no_longer_subscribes);
	tcase_add_test(plans, a_deleted_topic);
	tcase_add_test(plans, racks);
	tcase_add_test(plans, racks_that_do_not_matter);
	tcase_add_test(plans, topics_stay_spread);
	tcase_add_test(plans, ties_are_broken_by_instance_id);
	tcase_add_test(plans, order_does_not_matter);
	tcase_add_test(plans, chains_of_moves_are_found);
	tcase_add_test(plans, weighted_shares_by_capacity);
	tcase_add_test(plans, what_changes_hands_spreads_topics);
	suite_add_tcase(suite, bytes);
	tcase_add_test(bytes, userdata_is_javas);
	tcase_add_test(bytes, foreign_userdata);
	tcase_add_test(bytes, generation_from_userdata);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
