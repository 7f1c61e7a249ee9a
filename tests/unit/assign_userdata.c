/* SPDX-License-Identifier: Apache-2.0 */
/* The userdata of Java's sticky assignors as Java itself wrote it: the fixtures of the codec, which make.sh there made with
 * kafka-clients. What is hostile about userdata is in assign_sticky.c and in the fuzz target. */
#include "assign/userdata.h"
#include "story.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 512 };

struct vector {
	int version;
	uint8_t bytes[BYTES_MAX];
	size_t len;
};

static void read_bytes(const char *digits, struct vector *ret)
{
	unsigned byte;

	ret->len = 0;
	while (sscanf(digits + 2 * ret->len, "%2x", &byte) == 1) {
		ck_assert_uint_lt(ret->len, BYTES_MAX);
		ret->bytes[ret->len++] = (uint8_t)byte;
	}
}

static int read_vectors(const char *name, struct vector *vectors, int max)
{
	char path[4096], line[4096], digits[2 * BYTES_MAX + 2];
	int count = 0;

	ck_assert_ptr_nonnull(getenv("CODEC_VECTORS"));
	snprintf(path, sizeof(path), "%s/%s.txt", getenv("CODEC_VECTORS"), name);
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		ck_assert_int_lt(count, max);
		ck_assert_int_eq(sscanf(line, "%d %*s %1025s", &vectors[count].version, digits), 2);
		read_bytes(digits, &vectors[count++]);
	}
	fclose(file);
	return count;
}

/* scenarios H.149 and after: sticky members of both versions meet in one group; the older one says no generation. */
START_TEST(sticky_of_both_versions)
{
	static const rg_group_partition owned[] = {{0, 0}, {0, 7}, {1, 3}}; /* orders, returns */
	struct vector vectors[8];
	int count = read_vectors("StickyUserData", vectors, 8), versions = 0;

	for (int i = 0; i < count; i++) {
		rg_bytes userdata = {vectors[i].bytes, vectors[i].len};
		struct rg__arena arena = {0};
		struct rg__names topics;
		struct rg__claim said;
		struct story story;

		story_begin(&story, "orders:8 returns:4 | c1 orders,returns");
		ck_assert(rg__userdata_index_topics(&topics, &story.view.group, &arena));
		ck_assert(rg__userdata_read_sticky(userdata, &story.view.group, &topics, &arena, &said));
		ck_assert_int_eq(said.count, 3);
		ck_assert_mem_eq(said.owned, owned, sizeof(owned));
		ck_assert_int_eq(said.generation, vectors[i].version ? 42 : -1);
		versions |= 1 << vectors[i].version;
		story_end(&story);
		rg__arena_clear(&arena);
	}
	ck_assert_int_eq(versions, 3);
}
END_TEST

/* What we write is what Java wrote for the same assignment, to the byte. */
START_TEST(sticky_written)
{
	static const char *const topics[] = {"returns", "orders"}; /* as Java's map had them */
	static const int32_t returns[] = {3}, orders[] = {0, 7}, counts[] = {1, 2};
	static const int32_t *const partitions[] = {returns, orders};
	rg_assignment assignment = {.size = sizeof(assignment),
	                            .topics = topics,
	                            .partitions = partitions,
	                            .partition_counts = counts,
	                            .topic_count = 2,
	                            .generation = 42};
	struct vector vectors[8];
	int count = read_vectors("StickyUserData", vectors, 8), compared = 0;
	uint8_t buffer[BYTES_MAX];

	for (int i = 0; i < count; i++) {
		if (vectors[i].version != 1)
			continue;
		ck_assert_int_eq(rg__userdata_write_sticky(&assignment, buffer, sizeof(buffer)), (int)vectors[i].len);
		ck_assert_mem_eq(buffer, vectors[i].bytes, vectors[i].len);
		compared++;
	}
	ck_assert_int_ge(compared, 1);
}
END_TEST

START_TEST(cooperative_sticky)
{
	struct vector vectors[8];
	int count = read_vectors("CooperativeStickyUserData", vectors, 8);
	uint8_t buffer[8];

	ck_assert_int_ge(count, 1);
	for (int i = 0; i < count; i++) {
		ck_assert_int_eq(rg__userdata_read_generation((rg_bytes){vectors[i].bytes, vectors[i].len}), 42);
		ck_assert_int_eq(rg__userdata_write_generation(42, buffer, sizeof(buffer)), (int)vectors[i].len);
		ck_assert_mem_eq(buffer, vectors[i].bytes, vectors[i].len);
	}
	ck_assert_int_eq(rg__userdata_read_generation((rg_bytes){"\0\0\x2a", 3}), -1);
	ck_assert_int_eq(rg__userdata_read_generation((rg_bytes){NULL, 0}), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assign_userdata");
	TCase *tcase = tcase_create("assign_userdata");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, sticky_of_both_versions);
	tcase_add_test(tcase, sticky_written);
	tcase_add_test(tcase, cooperative_sticky);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
