/* SPDX-License-Identifier: Apache-2.0 */
/* The state tables as Markdown, for ARCHITECTURE.md. */
#include "group/machine.h"

static void cell(struct rg__buf *out, const char *name, bool *first)
{
	rg__buf_append_str(out, *first ? "" : ", ");
	rg__buf_append_str(out, name);
	*first = false;
}

bool rg__states_print(struct rg__buf *out)
{
	bool first;

	rg__buf_append_str(out, "| coordinator | may become |\n|---|---|\n");
	for (int from = 0; from < RG__COORDINATOR_STATES; from++) {
		first = true;
		rg__buf_printf(out, "| %s | ", rg__coordinator_name((enum rg__coordinator_state)from));
		for (int to = 0; to < RG__COORDINATOR_STATES; to++)
			if (rg__coordinator_may((enum rg__coordinator_state)from, (enum rg__coordinator_state)to))
				cell(out, rg__coordinator_name((enum rg__coordinator_state)to), &first);
		rg__buf_append_str(out, " |\n");
	}
	rg__buf_append_str(out, "\n| membership | may become |\n|---|---|\n");
	for (int from = 0; from < RG__MEMBERSHIP_STATES; from++) {
		first = true;
		rg__buf_printf(out, "| %s | ", rg__membership_name((enum rg__membership_state)from));
		for (int to = 0; to < RG__MEMBERSHIP_STATES; to++)
			if (rg__membership_may((enum rg__membership_state)from, (enum rg__membership_state)to))
				cell(out, rg__membership_name((enum rg__membership_state)to), &first);
		rg__buf_append_str(out, " |\n");
	}
	return !out->failed;
}
