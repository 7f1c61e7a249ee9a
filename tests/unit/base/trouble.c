/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of something that fails again and again: enough to know, and not a line for each failure. */
#include "base/error.h"
#include "base/trouble.h"
#include "../../lib/suite.h"

#include <stdio.h>
#include <string.h>

enum { SECOND = 1000000 };

static struct rg__trouble trouble;
static char said[4096];
static int64_t now;

static void write_line(void *user, int level, const char *facility, const char *line)
{
	size_t len = strlen(said);

	(void)user;
	snprintf(said + len, sizeof(said) - len, "%d %s: %s\n", level, facility, line);
}

static const struct rg__log heard = {write_line, NULL, RG__LOG_INFO};

static void setup(void)
{
	trouble = (struct rg__trouble){0};
	now = 100 * SECOND;
	said[0] = '\0';
}

static void fails(const char *text, rg_err code, bool at_once)
{
	rg_error error;

	rg__fail(&error, code, "%s", text);
	rg__trouble_failed(&trouble, &heard, now,
	                   &(struct rg__failure){"TEST", "Knock", &error, "it knocks again", (uint32_t)code, at_once});
}

static void works(void)
{
	rg__trouble_over(&trouble, &heard, now, "TEST", "Knock");
}

START_TEST(what_passes_quickly_is_not_told)
{
	for (int i = 0; i < 40; i++, now += SECOND / 10)
		fails("closed", 16, false);
	works();
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(what_lasts_is_told_once_and_its_end_too)
{
	for (int i = 0; i < 600; i++, now += SECOND)
		fails("closed", 16, false);
	works();
	works();
	ck_assert_str_eq(said, "4 TEST: Knock: closed (failure 6 in 5.0 s); it knocks again\n"
	                       "5 TEST: Knock works again, after 600 failures in 600 s\n");
}
END_TEST

/* Two failures far apart are two, not something that lasts. */
START_TEST(few_failures_are_not_told_however_old)
{
	fails("closed", 16, false);
	now += 100 * SECOND;
	fails("closed", 16, false);
	ck_assert_str_eq(said, "");
	fails("closed", 16, false);
	ck_assert_str_eq(said, "4 TEST: Knock: closed (failure 3 in 100 s); it knocks again\n");
}
END_TEST

START_TEST(another_cause_is_told_at_once_and_only_once)
{
	for (int i = 0; i < 10; i++, now += SECOND)
		fails("closed", 16, false);
	said[0] = '\0';
	for (int i = 0; i < 10; i++) {
		fails("Knock at b1: nobody", 15, false);
		fails("closed", 16, false);
	}
	ck_assert_str_eq(said, "4 TEST: Knock at b1: nobody (failure 11 in 10 s); it knocks again\n");
}
END_TEST

/* A broker that makes up a new error each time does not fill the log. */
START_TEST(the_causes_told_of_one_trouble_are_few)
{
	int lines = 0;

	for (rg_err code = 1; code < 200; code++, now += SECOND)
		fails("closed", code, true);
	for (const char *at = said; (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_int_eq(lines, RG__TROUBLE_CAUSES_MAX);
}
END_TEST

START_TEST(what_is_told_at_once_is_not_when_it_comes_and_goes)
{
	for (int i = 0; i < 1000; i++, now += SECOND) {
		fails("refused", -5, true);
		works();
	}
	ck_assert_str_eq(said, "4 TEST: Knock: refused; it knocks again\n"
	                       "5 TEST: Knock works again, after 1 failure in 0.0 s\n");
	said[0] = '\0';
	now += RG__TROUBLE_CALM_MS * 1000;
	fails("refused", -5, true);
	ck_assert_str_eq(said, "4 TEST: Knock: refused; it knocks again\n");
}
END_TEST

START_TEST(what_is_given_up_ends_without_a_word)
{
	fails("refused", -5, true);
	said[0] = '\0';
	rg__trouble_over(&trouble, NULL, now, NULL, NULL);
	works();
	ck_assert_str_eq(said, "");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, what_passes_quickly_is_not_told);
	tcase_add_test(tcase, what_lasts_is_told_once_and_its_end_too);
	tcase_add_test(tcase, few_failures_are_not_told_however_old);
	tcase_add_test(tcase, another_cause_is_told_at_once_and_only_once);
	tcase_add_test(tcase, the_causes_told_of_one_trouble_are_few);
	tcase_add_test(tcase, what_is_told_at_once_is_not_when_it_comes_and_goes);
	tcase_add_test(tcase, what_is_given_up_ends_without_a_word);
}

int main(void)
{
	return suite_run("base_trouble", fill, 10);
}
