/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_STAT_H
#define RG__BASE_STAT_H

/* A number that is measured again and again: since the start, and over a window that ends now. Windows are Kafka's: a few
 * samples, each for a while; one begins with the first value that finds the one before full, and is dropped when its last
 * value is older than all samples together may be. No clock: whoever measures says what time it is. */

#include <stdint.h>

enum { RG__STAT_SAMPLES_MAX = 10 };

struct rg__stat_conf {
	int64_t sample_us; /* metrics.sample.window.ms */
	int32_t samples;   /* metrics.num.samples, up to RG__STAT_SAMPLES_MAX */
};

struct rg__stat_sample {
	int64_t began_us, last_us; /* its first and last value */
	int64_t count, sum, max;
};

struct rg__stat {
	int64_t count, sum; /* since the start */
	int32_t at;         /* the sample that is being filled */
	struct rg__stat_sample samples[RG__STAT_SAMPLES_MAX + 1]; /* one more, for what began before the window */
};

void rg__stat_add(struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t value, int64_t now_us);
/* `count` values at once: `value` is one of them, and the others are 0. */
void rg__stat_add_many(struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t count, int64_t value,
                       int64_t now_us);

/* Over the window. NaN: there was no value in it. */
double rg__stat_avg(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us);
double rg__stat_max(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us);
int64_t rg__stat_sum(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us); /* 0 then */

/* Values per second. The window counts as at least all samples but one, so that the first value is no flood. */
double rg__stat_rate(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us);

#endif
