/* SPDX-License-Identifier: Apache-2.0 */
/* Which state may follow which, against a second list of the edges. */
#include "group/machine.h"
#include "../lib/suite.h"

#include <stdio.h>
#include <string.h>

static const char *const coordinator_edges = " Unknown>Finding Finding>Known Finding>Unknown Known>Unknown ";

static const char *const membership_edges =
	" Unjoined>Preparing"
	" Preparing>Joining Preparing>Leaving Preparing>Failed"
	" Joining>Preparing Joining>Assigning Joining>Syncing Joining>Leaving Joining>Failed"
	" Assigning>Preparing Assigning>Syncing Assigning>Leaving Assigning>Failed"
	" Syncing>Preparing Syncing>Stable Syncing>Leaving Syncing>Failed"
	" Stable>Preparing Stable>Leaving Stable>Failed"
	" Leaving>Unjoined"
	" Failed>Leaving ";

static bool listed(const char *edges, const char *from, const char *to)
{
	char edge[64];

	snprintf(edge, sizeof(edge), " %s>%s ", from, to);
	return strstr(edges, edge) != NULL;
}

START_TEST(the_tables_hold_these_edges_and_no_others)
{
	for (int from = 0; from < RG__COORDINATOR_STATES; from++)
		for (int to = 0; to < RG__COORDINATOR_STATES; to++) {
			enum rg__coordinator_state a = (enum rg__coordinator_state)from, b = (enum rg__coordinator_state)to;

			ck_assert_msg(rg__coordinator_may(a, b) ==
			                      listed(coordinator_edges, rg__coordinator_name(a), rg__coordinator_name(b)),
			              "%s > %s", rg__coordinator_name(a), rg__coordinator_name(b));
		}
	for (int from = 0; from < RG__MEMBERSHIP_STATES; from++)
		for (int to = 0; to < RG__MEMBERSHIP_STATES; to++) {
			enum rg__membership_state a = (enum rg__membership_state)from, b = (enum rg__membership_state)to;

			ck_assert_msg(rg__membership_may(a, b) == listed(membership_edges, rg__membership_name(a), rg__membership_name(b)),
			              "%s > %s", rg__membership_name(a), rg__membership_name(b));
		}
}
END_TEST

START_TEST(they_can_be_printed)
{
	struct rg__buf out = {0};

	ck_assert(rg__states_print(&out));
	ck_assert(rg__buf_append(&out, "", 1));
	ck_assert_ptr_nonnull(strstr((char *)out.data, "| Known | Unknown |\n"));
	ck_assert_ptr_nonnull(strstr((char *)out.data, "| Leaving | Unjoined |\n"));
	ck_assert_ptr_nonnull(strstr((char *)out.data, "| Stable | Preparing, Leaving, Failed |\n"));
	rg__buf_free(&out);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_tables_hold_these_edges_and_no_others);
	tcase_add_test(tcase, they_can_be_printed);
}

int main(void)
{
	return suite_run("states", fill, 10);
}
