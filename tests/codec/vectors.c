/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes and values as Kafka's own classes have them: the fixtures in vectors/ were written by kafka-clients. */
#include "base/alloc.h"
#include "codec/api.h"
#include "support.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rg__bytes view(const struct vector *vector)
{
	return (struct rg__bytes){vector->bytes, vector->len};
}

static bool has_vector(const struct message *message, int version, const char *kind)
{
	size_t count;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++)
		if (all[i].message.fields == message->fields && all[i].version == version &&
		    strcmp(all[i].kind, kind) == 0)
			return true;
	return false;
}

/* Without this the tests below could pass by having nothing to look at. */
START_TEST(every_version_of_every_message_has_its_fixtures)
{
	int looked_at = 0;

	for (int i = 0; i < message_count(); i++) {
		struct message message = message_at(i);

		for (int version = message.first; version <= message.last; version++, looked_at++) {
			ck_assert_msg(has_vector(&message, version, "filled"), "%s v%d: no filled fixture",
				      message.name, version);
			ck_assert_msg(has_vector(&message, version, "empty"),
				      "%s v%d: no empty fixture", message.name, version);
		}
	}
	ck_assert_int_gt(looked_at, 2 * rg__api_count);
}
END_TEST

/* scenarios I.161 for the consumer protocol's messages, and the same for all others. */
START_TEST(decoded_values_are_kafkas)
{
	size_t count;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++) {
		const struct vector *v = &all[i];
		struct rg__arena arena = {0};
		struct rg__codec_error err;
		struct rg__buf text = {0};
		union decoded decoded;
		json_error_t where;

		ck_assert_msg(message_decode(&v->message, v->version, view(v), &arena, &decoded, &err),
			      "%s v%d %s: refused %s: %s", v->message.name, v->version, v->kind, err.path, err.what);
		ck_assert(rg__print(v->message.fields, v->version, decoded.bytes, &text));

		json_t *ours = json_loadb((const char *)text.data, text.len, 0, &where);

		ck_assert_msg(ours != NULL, "%s v%d %s: not JSON: %s in %.*s", v->message.name, v->version, v->kind,
			      where.text, (int)text.len, (const char *)text.data);
		json_t *kafkas = json_loads(v->json, 0, &where);

		ck_assert_ptr_nonnull(kafkas);
		ck_assert_msg(json_equal(ours, kafkas), "%s v%d %s:\nours   %.*s\nKafka's %s", v->message.name,
			      v->version, v->kind, (int)text.len, (const char *)text.data, v->json);
		json_decref(ours);
		json_decref(kafkas);
		rg__buf_free(&text);
		rg__arena_clear(&arena);
	}
}
END_TEST

START_TEST(encoding_again_gives_the_same_bytes)
{
	size_t count;
	const struct vector *all = vectors(&count);

	for (size_t i = 0; i < count; i++) {
		const struct vector *v = &all[i];
		struct rg__arena arena = {0};
		struct rg__codec_error err;
		struct rg__buf again = {0};
		union decoded decoded;

		ck_assert(message_decode(&v->message, v->version, view(v), &arena, &decoded, &err));
		ck_assert_msg(message_encode(&v->message, v->version, &decoded, &again, &err), "%s v%d %s: %s: %s",
			      v->message.name, v->version, v->kind, err.path, err.what);
		ck_assert_msg(rg__bytes_equal(rg__buf_view(&again), view(v)), "%s v%d %s: other bytes", v->message.name,
			      v->version, v->kind);
		rg__buf_free(&again);
		rg__arena_clear(&arena);
	}
}
END_TEST

/* The defaults of our tables, without decoding anything. */
START_TEST(an_initialised_message_is_kafkas_empty_one)
{
	size_t count;
	const struct vector *all = vectors(&count);
	int compared = 0;

	for (size_t i = 0; i < count; i++) {
		const struct vector *v = &all[i];
		struct rg__codec_error err;
		struct rg__buf out = {0};
		union decoded message;

		if (strcmp(v->kind, "empty") != 0)
			continue;
		rg__fields_init(v->message.fields, message.bytes);
		ck_assert_msg(message_encode(&v->message, v->version, &message, &out, &err), "%s v%d: %s: %s",
			      v->message.name, v->version, err.path, err.what);
		ck_assert_msg(rg__bytes_equal(rg__buf_view(&out), view(v)), "%s v%d: other defaults", v->message.name,
			      v->version);
		rg__buf_free(&out);
		compared++;
	}
	ck_assert_int_gt(compared, 0);
}
END_TEST

START_TEST(headers_have_the_versions_kafka_gives_them)
{
	char line[256];
	int key, version, request, response, compared = 0;
	FILE *file = fopen(VECTORS_DIR "/headers.txt", "r");

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%d %d %d %d", &key, &version, &request, &response) != 4)
			continue;
		const struct rg__api *api = rg__api_by_key(key);

		ck_assert_ptr_nonnull(api);
		ck_assert_msg(rg__api_request_header_version(api, version) == request, "%s v%d", api->name, version);
		ck_assert_msg(rg__api_response_header_version(api, version) == response, "%s v%d", api->name, version);
		compared++;
	}
	fclose(file);
	int expected = 0;

	for (int i = 0; i < rg__api_count; i++)
		expected += rg__apis[i].last - rg__apis[i].first + 1;
	ck_assert_int_eq(compared, expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vectors");
	TCase *tcase = tcase_create("kafka");

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_version_of_every_message_has_its_fixtures);
	tcase_add_test(tcase, decoded_values_are_kafkas);
	tcase_add_test(tcase, encoding_again_gives_the_same_bytes);
	tcase_add_test(tcase, an_initialised_message_is_kafkas_empty_one);
	tcase_add_test(tcase, headers_have_the_versions_kafka_gives_them);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
