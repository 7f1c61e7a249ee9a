/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_METRICS_H
#define RG__MEMBER_METRICS_H

/* Numbers under the names that Java has for them. A list of metrics is a table over a struct of stats, with one reader. */

#include "base/stat.h"
#include "member/counters.h"

#include <regroup/member.h>
#include <stddef.h>

enum rg__metric_kind {
	RG__METRIC_AVG, /* over the window, milliseconds */
	RG__METRIC_MAX,
	RG__METRIC_RATE,     /* of values, per second */
	RG__METRIC_PER_HOUR,
	RG__METRIC_TOTAL,    /* of values, since the start */
	RG__METRIC_SUM       /* since the start, milliseconds */
};

struct rg__metric {
	const char *name;
	enum rg__metric_kind kind;
	size_t at; /* of the struct rg__stat */
};

/* Who hears of them. With a name, only of that one. */
struct rg__metric_walk {
	rg_metric_cb *each;
	void *user;
	const char *only;
};

void rg__metric_tell(const struct rg__metric_walk *walk, const char *name, double value);
void rg__metrics_tell(const struct rg__metric_walk *walk, const struct rg__metric *metrics, size_t count,
                      const void *stats, const struct rg__stat_conf *windows, int64_t now_us);
double rg__metric_seconds_ago(int64_t at_us, int64_t now_us); /* -1: at_us is 0, never */

/* Those of the membership, and those of commits, which whoever commits counts in. */
void rg__counters_tell(const struct rg__metric_walk *walk, const struct rg__counters *counters, int64_t now_us);
void rg__counters_tell_commits(const struct rg__metric_walk *walk, const struct rg__counters *counters, int64_t now_us);

#endif
