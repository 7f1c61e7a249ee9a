/* SPDX-License-Identifier: Apache-2.0 */
/* What a member gives up and takes, as sets of partitions; then both against a slow and simple model. */
#include "consumer/ownership.h"

#include "../lib/suite.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

struct set {
	struct rg__partition items[MOST];
	struct rg__partitions all;
};

static const char *const names[] = {"a", "ab", "b", "c"};

/* "a:0,1 b:2" */
static void read_set(struct set *set, const char *text)
{
	const char *topic = NULL;

	set->all = (struct rg__partitions){set->items, 0};
	while (*text) {
		char name[8];
		int number, used = 0;

		if (sscanf(text, "%7[a-z]:%d%n", name, &number, &used) == 2) {
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				if (!strcmp(names[i], name))
					topic = names[i];
		} else {
			ck_assert_int_eq(sscanf(text, "%d%n", &number, &used), 1);
		}
		set->items[set->all.count++] = (struct rg__partition){topic, number};
		text += used;
		while (*text == ',' || *text == ' ')
			text++;
	}
}

static const char *text_of(const struct rg__partitions *set)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < set->count; i++) {
		bool same = i && !strcmp(set->items[i].topic, set->items[i - 1].topic);

		if (!same)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:", i ? " " : "", set->items[i].topic);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d", same ? "," : "", (int)set->items[i].number);
	}
	return text;
}

START_TEST(partitions_are_ordered_and_each_is_kept_once)
{
	struct set set;

	read_set(&set, "b:3,1 a:2 b:3 ab:0 a:2,0 b:1");
	ck_assert_uint_eq(rg__partitions_sort(&set.all), 3);
	ck_assert_str_eq(text_of(&set.all), "a:0,2 ab:0 b:1,3");
	ck_assert_int_eq(rg__partitions_find(&set.all, "b", 1), 3);
	ck_assert_int_eq(rg__partitions_find(&set.all, "b", 2), -1);
	ck_assert_int_eq(rg__partitions_find(&set.all, "aa", 0), -1);
	read_set(&set, "");
	ck_assert_uint_eq(rg__partitions_sort(&set.all), 0);
	ck_assert_int_eq(rg__partitions_find(&set.all, "a", 0), -1);
}
END_TEST

static void gives_up(const char *owned_text, bool cooperative, const char *const *topics, size_t count,
                     const char *text)
{
	struct set owned, given;

	read_set(&owned, owned_text);
	read_set(&given, "");
	rg__ownership_before_join(&owned.all, cooperative, topics, count, &given.all);
	ck_assert_str_eq(text_of(&given.all), text);
}

/* protocol.md 1.2: eager everything; cooperative what is no longer subscribed to (KIP-429). */
START_TEST(before_joining)
{
	static const char *const both[] = {"a", "c"};

	gives_up("a:0,1 b:2", false, both, 2, "a:0,1 b:2");
	gives_up("a:0,1 b:2 c:0", true, both, 2, "b:2");
	gives_up("ab:0 c:1", true, both, 2, "ab:0");
	gives_up("a:0", true, both, 2, "");
	gives_up("a:0 c:1", true, NULL, 0, "a:0 c:1");
	gives_up("", true, both, 2, "");
}
END_TEST

static void changes(const char *owned_text, const char *assigned_text, const char *revoked_text, const char *added_text)
{
	struct set owned, assigned, revoked, added;

	read_set(&owned, owned_text);
	read_set(&assigned, assigned_text);
	read_set(&revoked, "");
	read_set(&added, "");
	rg__ownership_after_join(&owned.all, &assigned.all, &revoked.all, &added.all);
	ck_assert_str_eq(text_of(&revoked.all), revoked_text);
	ck_assert_str_eq(text_of(&added.all), added_text);
}

/* scenarios E.97 */
START_TEST(after_joining)
{
	changes("", "a:0,1", "", "a:0,1");
	changes("a:0,1", "a:0,1", "", "");
	changes("a:0,1 b:0", "a:1,2", "a:0 b:0", "a:2");
	changes("a:0", "b:0", "a:0", "b:0");
	changes("b:0", "a:0 c:0", "b:0", "a:0 c:0");
	changes("a:0", "", "a:0", "");
	changes("a:2", "ab:2", "a:2", "ab:2");
	changes("", "", "", "");
}
END_TEST

/* Every pair of sets of five partitions: kept = both, revoked = only the old, added = only the new. */
START_TEST(every_small_case)
{
	static const struct rg__partition universe[5] = {{"a", 0}, {"a", 1}, {"ab", 0}, {"b", 0}, {"b", 7}};

	for (unsigned before = 0; before < 32; before++)
		for (unsigned after = 0; after < 32; after++) {
			struct rg__partition had[5], has[5], gone[5], come[5];
			struct rg__partitions owned = {had, 0}, assigned = {has, 0}, revoked = {gone, 0}, added = {come, 0};
			unsigned out = 0, in = 0;

			for (unsigned i = 0; i < 5; i++) {
				if (before & 1u << i)
					had[owned.count++] = universe[i];
				if (after & 1u << i)
					has[assigned.count++] = universe[i];
			}
			rg__ownership_after_join(&owned, &assigned, &revoked, &added);
			for (unsigned i = 0; i < 5; i++) {
				out |= rg__partitions_find(&revoked, universe[i].topic, universe[i].number) >= 0 ? 1u << i : 0;
				in |= rg__partitions_find(&added, universe[i].topic, universe[i].number) >= 0 ? 1u << i : 0;
			}
			ck_assert_uint_eq(out, before & ~after);
			ck_assert_uint_eq(in, after & ~before);
			ck_assert_uint_eq(revoked.count, (size_t)__builtin_popcount(before & ~after));
			ck_assert_uint_eq(added.count, (size_t)__builtin_popcount(after & ~before));
		}
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, partitions_are_ordered_and_each_is_kept_once);
	tcase_add_test(tcase, before_joining);
	tcase_add_test(tcase, after_joining);
	tcase_add_test(tcase, every_small_case);
}

int main(void)
{
	return suite_run("ownership", fill, 60);
}
