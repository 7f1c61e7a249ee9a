/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes a peer should never send, and memory that runs out: refused with a reason, nothing more. */
#include "base/alloc.h"
#include "codec/api.h"
#include "codec/join_group.h"
#include "codec/offset_fetch.h"
#include "support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_PER_BYTE = 32 /* as codec.h promises */ };

/* Check's assertions write a note each time they hold, which is most of the time in loops as long as these. */
static void require(bool holds, const struct vector *v, const char *what)
{
	if (!holds)
		ck_abort_msg("%s v%d %s: %s", v->message.name, v->version, v->kind, what);
}

/* Decodes; the message must be good or refused with its name, and never take more memory than promised. */
static bool try_decode(const struct vector *v, const uint8_t *bytes, size_t len, union decoded *ret_decoded,
		       struct rg__arena *arena)
{
	struct rg__codec_error err = {0};
	bool good = message_decode(&v->message, v->version, (struct rg__bytes){bytes, len}, arena, ret_decoded, &err);

	require(arena->size_total <= MEMORY_PER_BYTE * len + 64, v, "takes more memory than promised");
	if (good)
		return true;
	require(strcmp(err.message, v->message.name) == 0, v, "the error names another message");
	require(err.decoding && !err.out_of_memory && err.what[0] && err.offset <= len, v, "the error is not filled");
	return false;
}

/* Each cut in a block of its own size, so that ASan would see one byte too far. */
START_TEST(every_fixture_cut_at_every_byte_is_refused)
{
	size_t count, cuts = 0;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++) {
		for (size_t len = 0; len < all[i].len; len++, cuts++) {
			struct rg__arena arena = {0};
			union decoded decoded;
			uint8_t *cut = malloc(len ? len : 1);

			require(cut != NULL, &all[i], "out of memory");
			memcpy(cut, all[i].bytes, len);
			require(!try_decode(&all[i], cut, len, &decoded, &arena), &all[i], "good without its end");
			rg__arena_clear(&arena);
			free(cut);
		}
	}
	ck_assert_uint_gt(cuts, 10000);
}
END_TEST

/* What was accepted can be written again and shown. */
static void check_usable(const struct vector *v, const union decoded *decoded)
{
	struct rg__buf out = {0};

	require(message_encode(&v->message, v->version, decoded, &out, NULL), v, "cannot be encoded again");
	require(rg__print(v->message.fields, v->version, decoded->bytes, &out), v, "cannot be printed");
	rg__buf_free(&out);
}

enum { CHANGES = 5 };

static uint8_t changed(uint8_t byte, size_t change)
{
	static const uint8_t values[CHANGES - 1] = {0x00, 0x7f, 0x80, 0xff};

	return change < CHANGES - 1 ? values[change] : byte ^ 0x01;
}

/* Counts into good[1] or, when refused, good[0]. */
static void try_change(const struct vector *v, size_t at, size_t change, size_t good[2])
{
	struct rg__arena arena = {0};
	union decoded decoded;
	uint8_t kept = v->bytes[at];

	v->bytes[at] = changed(kept, change);
	bool is_good = try_decode(v, v->bytes, v->len, &decoded, &arena);

	if (is_good && change == CHANGES - 1) /* one in five, for the time it takes */
		check_usable(v, &decoded);
	good[is_good]++;
	v->bytes[at] = kept;
	rg__arena_clear(&arena);
}

START_TEST(every_fixture_with_any_byte_changed_does_no_harm)
{
	size_t count, good[2] = {0};
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at < all[i].len; at++) {
			/* Every change at every byte; of the long ones, which repeat themselves, one at every byte. */
			if (all[i].len > 800) {
				try_change(&all[i], at, at % CHANGES, good);
				continue;
			}
			for (size_t change = 0; change < CHANGES; change++)
				try_change(&all[i], at, change, good);
		}
	}
	ck_assert_uint_gt(good[0], 10000);
	ck_assert_uint_gt(good[1], 10000);
}
END_TEST

static const struct {
	const char *bytes;
	int version;
	const char *text;
} join_responses[] = {
	/* throttle, error, generation, type, name, leader, skip, member id, then members */
	{"00000000 0000 00000001 01 01 01 00 01 ffffffff0f 00", 9,
	 "JoinGroupResponse v9, members at byte 15: 4294967294 elements of at least 4 bytes, but only 1 are left"},
	{"0000 00000001 0000 0000 0000 7fffffff 00", 0,
	 "JoinGroupResponse v0, members at byte 12: 2147483647 elements of at least 6 bytes, but only 1 are left"},
	{"00000000 0000 00000001 01 01 01 00 01 02 02 61 00 f403 626364", 9,
	 "JoinGroupResponse v9, members[0].metadata at byte 19: length 499, but only 3 bytes are left"},
	{"00000000 0000 00000001 01 01 01 00 01 03 02 61 00 01 00 02 62 00 09 63 00", 9,
	 "JoinGroupResponse v9, members[1].metadata at byte 24: length 8, but only 2 bytes are left"},
	{"00000000 0000 00000001 01 01 00 00 01 01 00", 9,
	 "JoinGroupResponse v9, leader at byte 12: null, which this version does not allow"},
	{"0000 00000001 ffff 0000 0000 00000000", 6,
	 "JoinGroupResponse v6, protocolName at byte 10: null, which this version does not allow"},
	{"0000 00000001 ffff 0000 0000 00000000", 0,
	 "JoinGroupResponse v0, protocolName at byte 6: null, which this version does not allow"},
	{"0000 00000001 fffe 0000 0000 00000000", 0,
	 "JoinGroupResponse v0, protocolName at byte 6: negative length -2"},
	{"0000 00000001 0000 0000 0000 fffffffe", 0, "JoinGroupResponse v0, members at byte 12: negative length -2"},
	{"0000 00000001 0000 0000 0000 00000000 abcd", 0, "JoinGroupResponse v0 at byte 16: 2 bytes behind its end"},
	{"00000000 0000 00000001 808080808000", 9,
	 "JoinGroupResponse v9, protocolType at byte 10: number of more than 5 bytes"},
	{"00000000 0000 00000001 ffffffff1f", 9,
	 "JoinGroupResponse v9, protocolType at byte 10: number of more than 32 bits"},
	{"00000000 0000 00000001 8180", 9, "JoinGroupResponse v9, protocolType at byte 10: ends within a number"},
	{"00000000 0000 00000001 01 01 01 00 01 01 05 0000", 9,
	 "JoinGroupResponse v9 at byte 16: 5 tagged fields, but only 2 bytes are left"},
	{"00000000 0000 00000001 01 01 01 00 01 01 01 07 04 0000", 9,
	 "JoinGroupResponse v9 at byte 17: tagged field 7 of 4 bytes, but only 2 are left"},
	{"0000", -1, "JoinGroupResponse at byte 0: there are no negative versions"},
};

START_TEST(a_refusal_names_api_version_field_and_offset)
{
	struct rg__join_group_response response = {.generation_id = 77};
	struct rg__arena arena = {0};
	struct rg__codec_error err;
	char text[RG__CODEC_TEXT_MAX];
	bool good = rg__decode(&rg__join_group_response_fields, join_responses[_i].version,
			       hex(join_responses[_i].bytes), &arena, &response, NULL, &err);

	ck_assert(!good);
	rg__codec_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, join_responses[_i].text);
	ck_assert_int_eq(response.generation_id, 77); /* untouched */
	rg__arena_clear(&arena);
}
END_TEST

/* The deepest path there is. */
START_TEST(a_refusal_names_the_element_at_every_level)
{
	struct rg__offset_fetch_response response;
	struct rg__arena arena = {0};
	struct rg__codec_error err;
	/* throttle; one group "g" with topic "a" (no partitions) and topic "b" whose second partition ends too early */
	struct rg__bytes bytes = hex("00000000 02 02 67 03 02 61 01 00 02 62 03"
				     "00000000 0000000000000005 ffffffff 00 0000 00 00000001 00000000000000 05");

	ck_assert(!rg__decode(&rg__offset_fetch_response_fields, 8, bytes, &arena, &response, NULL, &err));
	ck_assert_str_eq(err.path, "groups[0].topics[1].partitions");
	bytes = hex("00000000 02 02 67 03 02 61 01 00 02 62 03"
		    "00000000 0000000000000005 ffffffff 00 0000 00 00000001 0000000000000005 ffffffff 00 0000 02 0000");
	ck_assert(!rg__decode(&rg__offset_fetch_response_fields, 8, bytes, &arena, &response, NULL, &err));
	ck_assert_str_eq(err.path, "groups[0].topics[1].partitions[1]");
	bytes = hex("00000000 02 02 67 03 02 61 01 00 02 62 02"
		    "00000000 0000000000000005 ffffffff 80808080 80 0000 00 00");
	ck_assert(!rg__decode(&rg__offset_fetch_response_fields, 8, bytes, &arena, &response, NULL, &err));
	ck_assert_str_eq(err.path, "groups[0].topics[1].partitions[0].metadata");
	rg__arena_clear(&arena);
}
END_TEST

/* A count that cannot be true costs no memory at all. */
START_TEST(a_huge_count_allocates_nothing)
{
	struct rg__join_group_response response;
	struct rg__arena arena = {0};

	ck_assert(!rg__decode(&rg__join_group_response_fields, 0, hex("0000 00000001 0000 0000 0000 7fffffff 00"),
			      &arena, &response, NULL, NULL));
	ck_assert_uint_eq(arena.size_total, 0);
	ck_assert_ptr_null(arena.blocks);
}
END_TEST

START_TEST(strings_have_kafkas_limit)
{
	static uint8_t frame[40000];
	struct rg__join_group_response response;
	struct rg__arena arena = {0};
	struct rg__codec_error err;

	/* v9: protocolType of 32,768 bytes: the varint is 32,769 */
	memset(frame, 'x', sizeof(frame));
	memset(frame, 0, 10);
	memcpy(frame + 10, "\x81\x80\x02", 3);
	ck_assert(!rg__decode(&rg__join_group_response_fields, 9, (struct rg__bytes){frame, sizeof(frame)}, &arena,
			      &response, NULL, &err));
	ck_assert_str_eq(err.what, "string of 32768 bytes, more than 32767");
}
END_TEST

static bool good_with_failing_allocation(const struct vector *v, long n)
{
	struct rg__bytes bytes = {v->bytes, v->len};
	struct rg__arena arena = {0};
	struct rg__codec_error err = {0};
	struct rg__buf out = {0};
	union decoded decoded;

	rg__alloc_fail_after(n);
	bool good = message_decode(&v->message, v->version, bytes, &arena, &decoded, &err) &&
		    message_encode(&v->message, v->version, &decoded, &out, &err) &&
		    rg__print(v->message.fields, v->version, decoded.bytes, &out);
	bool failed_one = rg__alloc_fail_after(0) == 0;

	ck_assert_msg(good != failed_one, "%s v%d, allocation %ld: %s", v->message.name, v->version, n,
		      good ? "good, although it failed" : err.what);
	ck_assert(good || err.out_of_memory || out.failed);
	rg__buf_free(&out);
	rg__arena_clear(&arena);
	return good;
}

/* The n-th allocation fails, for every n: refused as out of memory, everything given back (ASan looks). */
START_TEST(decoding_survives_every_failing_allocation)
{
	size_t count, failures = 0;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++)
		for (long n = 1; !good_with_failing_allocation(&all[i], n); n++)
			failures++;
	ck_assert_uint_gt(failures, count);
}
END_TEST

/* Noise, from a fixed seed, for every version of every message. */
START_TEST(noise_is_no_message)
{
	uint64_t state = 0x9e3779b97f4a7c15;

	for (int i = 0; i < message_count(); i++) {
		struct vector v = {.message = message_at(i)};

		for (v.version = v.message.first; v.version <= v.message.last; v.version++) {
			for (int round = 0; round < 300; round++) {
				struct rg__arena arena = {0};
				union decoded decoded;
				uint8_t bytes[96];
				size_t len = (size_t)round % sizeof(bytes);

				for (size_t k = 0; k < len; k++) {
					state ^= state << 13;
					state ^= state >> 7;
					state ^= state << 17;
					/* mostly small numbers, so that lengths are often believable */
					bytes[k] = (uint8_t)(state >> 32) & (state & 0x300 ? 0x03 : 0xff);
				}
				try_decode(&v, bytes, len, &decoded, &arena);
				rg__arena_clear(&arena);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile");
	TCase *tcase = tcase_create("hostile");

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 110);
	tcase_add_test(tcase, every_fixture_cut_at_every_byte_is_refused);
	tcase_add_test(tcase, every_fixture_with_any_byte_changed_does_no_harm);
	tcase_add_loop_test(tcase, a_refusal_names_api_version_field_and_offset, 0,
			    (int)(sizeof(join_responses) / sizeof(*join_responses)));
	tcase_add_test(tcase, a_refusal_names_the_element_at_every_level);
	tcase_add_test(tcase, a_huge_count_allocates_nothing);
	tcase_add_test(tcase, strings_have_kafkas_limit);
	tcase_add_test(tcase, decoding_survives_every_failing_allocation);
	tcase_add_test(tcase, noise_is_no_message);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
