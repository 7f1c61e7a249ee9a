/* SPDX-License-Identifier: Apache-2.0 */
#include "base/trouble.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static bool is_news(const struct rg__trouble *trouble, int64_t now_us, bool at_once)
{
	if (trouble->told || (at_once && !trouble->again))
		return true;
	return trouble->failures >= RG__TROUBLE_FAILURES && now_us - trouble->since_us >= RG__TROUBLE_AFTER_MS * INT64_C(1000);
}

/* True: it is a new cause, and from now on a known one. */
static bool remember(struct rg__trouble *trouble, uint32_t cause)
{
	for (int i = 0; i < trouble->told; i++)
		if (trouble->causes[i] == cause)
			return false;
	if (trouble->told == RG__TROUBLE_CAUSES_MAX)
		return false;
	trouble->causes[trouble->told++] = cause;
	return true;
}

static void duration(char *text, size_t size, int64_t us)
{
	int64_t ms = us / 1000;

	snprintf(text, size, ms < 10000 ? "%.1f s" : "%.0f s", (double)ms / 1000);
}

void rg__trouble_failed(struct rg__trouble *trouble, const struct rg__log *log, int64_t now_us,
                        const struct rg__failure *failure)
{
	const char *text = failure->error->text;
	char often[64] = "", lasted[32];
	bool names_it;

	if (!trouble->failures++) {
		trouble->since_us = now_us;
		trouble->again = trouble->last_us && now_us - trouble->last_us < RG__TROUBLE_CALM_MS * INT64_C(1000);
	}
	trouble->last_us = now_us;
	if (!is_news(trouble, now_us, failure->at_once) || !remember(trouble, failure->cause))
		return;
	duration(lasted, sizeof(lasted), now_us - trouble->since_us);
	if (trouble->failures > 1)
		snprintf(often, sizeof(often), " (failure %u in %s)", trouble->failures, lasted);
	names_it = !failure->what || !strncmp(text, failure->what, strlen(failure->what));
	rg__log(log, RG__LOG_WARNING, failure->facility, "%s%s%s%s; %s", names_it ? "" : failure->what, names_it ? "" : ": ",
	        text, often, failure->remedy);
}

void rg__trouble_over(struct rg__trouble *trouble, const struct rg__log *log, int64_t now_us, const char *facility,
                      const char *what)
{
	char lasted[32];

	if (trouble->told && log) {
		duration(lasted, sizeof(lasted), now_us - trouble->since_us);
		rg__log(log, RG__LOG_NOTICE, facility, "%s works again, after %u failure%s in %s", what, trouble->failures,
		        trouble->failures == 1 ? "" : "s", lasted);
	}
	*trouble = (struct rg__trouble){.last_us = trouble->last_us};
}

bool rg__told_again(struct rg__told *told, int64_t now_us, const rg_error *error)
{
	uint32_t what = rg__hash(error->text, strlen(error->text));

	if (told->at_us && told->what == what && now_us - told->at_us < RG__TROUBLE_CALM_MS * INT64_C(1000))
		return true;
	*told = (struct rg__told){what, now_us};
	return false;
}
