/* SPDX-License-Identifier: Apache-2.0 */
/* What the interpreter takes for granted about the tables, walked over every version of every message. */
#include "codec/api.h"
#include "codec/wire.h"
#include "support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_PER_BYTE = 32 };

struct walk {
	const struct message *message;
	int depth, depth_max;
	int structs;
};

static void walk_fields(struct walk *walk, const struct rg__fields *fields)
{
	int last_tag = -1;

	walk->structs++;
	walk->depth++;
	if (walk->depth > walk->depth_max)
		walk->depth_max = walk->depth;
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];
		size_t size = rg__type_size(field->type, field->fields);

		ck_assert_msg(field->type != RG__STRUCT, "%s.%s: structs are elements only", fields->name, field->name);
		ck_assert_msg(field->first <= field->last, "%s.%s: never there", fields->name, field->name);
		ck_assert_msg(field->offset + size <= fields->size, "%s.%s: outside", fields->name, field->name);
		ck_assert_uint_lt(strlen(field->name), RG__FIELD_NAME_MAX);
		for (int k = 0; k < i; k++) {
			const struct rg__field *other = &fields->items[k];
			size_t other_size = rg__type_size(other->type, other->fields);

			ck_assert_msg(field->offset >= other->offset + other_size ||
					      other->offset >= field->offset + size,
				      "%s: %s and %s share bytes", fields->name, field->name, other->name);
		}
		if (field->tagged) {
			/* KIP-482: written by ascending tag, and only where there is a tagged section. */
			ck_assert_int_gt(field->tag, last_tag);
			ck_assert_int_ge(field->first, walk->message->fields->flexible_first);
			last_tag = field->tag;
		}
		if (field->type == RG__ARRAY)
			ck_assert_int_ne(field->element, RG__ARRAY);
		if (field->type == RG__ARRAY && field->element == RG__STRUCT)
			walk_fields(walk, field->fields);
	}
	walk->depth--;
}

START_TEST(rows_are_sound)
{
	for (int i = 0; i < message_count(); i++) {
		struct message message = message_at(i);
		struct walk walk = {.message = &message};

		walk_fields(&walk, message.fields);
		ck_assert_int_le(walk.depth_max, RG__DEPTH_MAX);
		ck_assert_uint_le(message.fields->size, RG__MESSAGE_SIZE_MAX);
		ck_assert_uint_le(message.fields->size, MESSAGE_SIZE_MAX);
	}
}
END_TEST

/* The bound codec.h promises for memory comes from here: what an element takes in memory against what it must at least
 * take in the frame. An element of no bytes would make any count acceptable. */
static void check_ratio(const struct message *message, const struct rg__fields *fields, int version)
{
	bool flexible = rg__fields_flexible(message->fields, version);

	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];

		if (field->type != RG__ARRAY || !rg__field_present(field, version))
			continue;
		size_t min = rg__element_min(field, version, flexible);

		ck_assert_msg(rg__type_size(field->element, field->fields) <= MEMORY_PER_BYTE * min,
			      "%s v%d, %s: an element of %zu bytes takes too much memory", message->name, version,
			      field->name, min);
		if (field->element != RG__STRUCT)
			continue;
		bool any = flexible;

		for (int k = 0; k < field->fields->count; k++)
			any |= !field->fields->items[k].tagged && rg__field_present(&field->fields->items[k], version);
		ck_assert_msg(any, "%s v%d: an element of %s has no bytes", message->name, version, field->name);
		check_ratio(message, field->fields, version);
	}
}

START_TEST(elements_take_bytes)
{
	for (int i = 0; i < message_count(); i++) {
		struct message message = message_at(i);

		for (int version = message.first; version <= message.last; version++)
			check_ratio(&message, message.fields, version);
	}
}
END_TEST

START_TEST(apis_are_found_by_key)
{
	for (int i = 0; i < rg__api_count; i++) {
		ck_assert_ptr_eq(rg__api_by_key(rg__apis[i].key), &rg__apis[i]);
		ck_assert_int_le(rg__apis[i].first, rg__apis[i].last);
		ck_assert(i == 0 || rg__apis[i - 1].key < rg__apis[i].key);
	}
	ck_assert_ptr_null(rg__api_by_key(0));
	ck_assert_ptr_null(rg__api_by_key(-1));
	ck_assert_ptr_null(rg__api_by_key(70000));
}
END_TEST

/* scenarios J.179: never guess a version, the broker says which it has. */
START_TEST(the_newest_common_version_is_picked)
{
	const struct rg__api *api = rg__api_by_key(RG__API_OFFSET_COMMIT); /* we: 2 to 9 */
	static const struct {
		int first, last, expected; /* -1: none */
	} brokers[] = {
		{2, 10, 9}, {0, 9, 9}, {0, 5, 5}, {2, 2, 2}, {9, 9, 9}, {9, 12, 9},
		{0, 1, -1}, {10, 12, -1}, {-1, -1, -1}, {5, 4, -1}, {9, 3, -1},
	};

	for (size_t i = 0; i < sizeof(brokers) / sizeof(*brokers); i++) {
		int version = -1;
		bool found = rg__api_pick_version(api, brokers[i].first, brokers[i].last, &version);

		ck_assert_msg(version == brokers[i].expected && found == (version >= 0), "broker %d to %d: %d",
			      brokers[i].first, brokers[i].last, version);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *tcase = tcase_create("tables");

	suite_add_tcase(suite, tcase);
	tcase_add_test(tcase, rows_are_sound);
	tcase_add_test(tcase, elements_take_bytes);
	tcase_add_test(tcase, apis_are_found_by_key);
	tcase_add_test(tcase, the_newest_common_version_is_picked);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
