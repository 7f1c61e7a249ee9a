/* SPDX-License-Identifier: Apache-2.0 */
/* Error texts, error names, log lines. */
#include "base/error.h"

#include "../../lib/suite.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

START_TEST(an_error_has_its_sentence)
{
	rg_error error = {0};

	ck_assert_int_eq(rg__fail(&error, RG_ERR_INVALID, "session.timeout.ms: %d is below %d", 3, 6), RG_ERR_INVALID);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "session.timeout.ms: 3 is below 6");
	rg__error_prefix(&error, "%s:%d", "broker", 9092);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "broker:9092: session.timeout.ms: 3 is below 6");
	/* Nobody needs to take it. */
	ck_assert_int_eq(rg__fail(NULL, 27, "x"), 27);
	rg__error_prefix(NULL, "x");
}
END_TEST

START_TEST(a_long_text_is_cut_visibly)
{
	rg_error error;
	char words[1000];

	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	rg__fail(&error, 1, "%s", words);
	ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
	ck_assert_str_eq(error.text + strlen(error.text) - 4, "w...");
	rg__error_prefix(&error, "%s", words);
	ck_assert_str_eq(error.text + strlen(error.text) - 4, "w...");
	ck_assert_int_eq(error.code, 1);
}
END_TEST

START_TEST(every_code_has_a_name)
{
	/* protocol.md's list, and all of ours */
	static const struct {
		rg_err code;
		const char *name;
	} names[] = {
		{0, "NONE"}, {3, "UNKNOWN_TOPIC_OR_PARTITION"}, {7, "REQUEST_TIMED_OUT"}, {12, "OFFSET_METADATA_TOO_LARGE"},
		{14, "COORDINATOR_LOAD_IN_PROGRESS"}, {15, "COORDINATOR_NOT_AVAILABLE"}, {16, "NOT_COORDINATOR"},
		{22, "ILLEGAL_GENERATION"}, {23, "INCONSISTENT_GROUP_PROTOCOL"}, {24, "INVALID_GROUP_ID"}, {25, "UNKNOWN_MEMBER_ID"},
		{26, "INVALID_SESSION_TIMEOUT"}, {27, "REBALANCE_IN_PROGRESS"}, {28, "INVALID_COMMIT_OFFSET_SIZE"},
		{29, "TOPIC_AUTHORIZATION_FAILED"}, {30, "GROUP_AUTHORIZATION_FAILED"}, {35, "UNSUPPORTED_VERSION"},
		{42, "INVALID_REQUEST"}, {69, "GROUP_ID_NOT_FOUND"}, {79, "MEMBER_ID_REQUIRED"}, {81, "GROUP_MAX_SIZE_REACHED"},
		{82, "FENCED_INSTANCE_ID"}, {88, "UNSTABLE_OFFSET_COMMIT"}, {100, "UNKNOWN_TOPIC_ID"}, {110, "FENCED_MEMBER_EPOCH"},
		{111, "UNRELEASED_INSTANCE_ID"}, {112, "UNSUPPORTED_ASSIGNOR"}, {113, "STALE_MEMBER_EPOCH"},
		{-1, "UNKNOWN_SERVER_ERROR"}, {12345, "UNKNOWN"}, {-999, "UNKNOWN"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_str_eq(rg_err_name(names[i].code), names[i].name);
	for (rg_err err = RG_ERR_MEMORY; err >= RG_ERR_WOKEN; err--)
		ck_assert_str_ne(rg_err_name(err), "UNKNOWN");
	/* Any of Kafka's may come in an answer. */
	for (rg_err err = -1; err <= 97; err++)
		ck_assert_msg(strcmp(rg_err_name(err), "UNKNOWN") != 0, "%d", (int)err);
}
END_TEST

struct sink {
	int lines, level;
	char line[2000];
};

static void take(void *user, int level, const char *facility, const char *line)
{
	struct sink *sink = user;

	sink->lines++;
	sink->level = level;
	snprintf(sink->line, sizeof(sink->line), "%s %s", facility, line);
}

START_TEST(log_lines_above_the_level_are_dropped)
{
	struct sink sink = {0};
	struct rg__log log = {take, &sink, RG__LOG_INFO};
	char words[3000];

	rg__log(&log, RG__LOG_DEBUG, "LINK", "no");
	ck_assert_int_eq(sink.lines, 0);
	rg__log(&log, RG__LOG_INFO, "LINK", "up: %d", 7);
	ck_assert_str_eq(sink.line, "LINK up: 7");
	ck_assert_int_eq(sink.level, RG__LOG_INFO);
	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	rg__log(&log, RG__LOG_ERR, "LINK", "%s", words);
	ck_assert_uint_gt(strlen(sink.line), 1000);
	ck_assert_int_eq(sink.lines, 2);
	rg__log(NULL, RG__LOG_ERR, "LINK", "x");
	log.write = NULL;
	rg__log(&log, RG__LOG_ERR, "LINK", "x");
}
END_TEST

static void keep_line(void *user, int level, const char *facility, const char *line)
{
	(void)level;
	(void)facility;
	snprintf(user, 64, "%s", line);
}

/* A broker's message, or a sentence of librdkafka's with a line end, must not become lines of its own in somebody's log. */
START_TEST(what_others_wrote_stays_one_line)
{
	char line[64];
	struct rg__log log = {keep_line, line, RG__LOG_DEBUG};
	rg_error error;

	rg__fail(&error, RG_ERR_INVALID, "out of range -1..100\n");
	ck_assert_str_eq(error.text, "out of range -1..100");
	rg__fail(&error, 1, "%s", "no\r\n%3 FATAL: all is lost\x1b[1m\t ");
	ck_assert_str_eq(error.text, "no  %3 FATAL: all is lost [1m");
	rg__fail(&error, 1, "%s", "gr\xc3\xbc\xc3\x9f");
	ck_assert_str_eq(error.text, "gr\xc3\xbc\xc3\x9f");
	rg__log(&log, RG__LOG_ERR, "LINK", "a\nb%s", "\n\n");
	ck_assert_str_eq(line, "a b");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, an_error_has_its_sentence);
	tcase_add_test(tcase, a_long_text_is_cut_visibly);
	tcase_add_test(tcase, every_code_has_a_name);
	tcase_add_test(tcase, what_others_wrote_stays_one_line);
	tcase_add_test(tcase, log_lines_above_the_level_are_dropped);
}

int main(void)
{
	return suite_run("base_error", fill, 10);
}
