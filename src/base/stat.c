/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stat.h"

#include <math.h>
#include <stdbool.h>

static bool counts(const struct rg__stat_sample *sample, const struct rg__stat_conf *conf, int64_t now_us)
{
	return sample->count && now_us - sample->last_us < conf->sample_us * conf->samples;
}

/* The one to fill now. */
static struct rg__stat_sample *current(struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	struct rg__stat_sample *sample = &stat->samples[stat->at];

	if (sample->count && now_us - sample->began_us >= conf->sample_us) {
		stat->at = (stat->at + 1) % (conf->samples + 1);
		sample = &stat->samples[stat->at];
		sample->count = 0;
	}
	if (!sample->count)
		*sample = (struct rg__stat_sample){.began_us = now_us, .max = INT64_MIN};
	return sample;
}

void rg__stat_add_many(struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t count, int64_t value,
                       int64_t now_us)
{
	struct rg__stat_sample *sample = current(stat, conf, now_us);
	int64_t most = count > 1 && value < 0 ? 0 : value;

	sample->last_us = now_us;
	sample->count += count;
	sample->sum += value;
	if (most > sample->max)
		sample->max = most;
	stat->count += count;
	stat->sum += value;
}

void rg__stat_add(struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t value, int64_t now_us)
{
	rg__stat_add_many(stat, conf, 1, value, now_us);
}

/* What the samples of the window have together; the oldest one's beginning. */
static struct rg__stat_sample together(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	struct rg__stat_sample all = {.began_us = now_us, .max = INT64_MIN};

	for (int32_t i = 0; i <= conf->samples; i++) {
		const struct rg__stat_sample *sample = &stat->samples[i];

		if (!counts(sample, conf, now_us))
			continue;
		all.count += sample->count;
		all.sum += sample->sum;
		if (sample->max > all.max)
			all.max = sample->max;
		if (sample->began_us < all.began_us)
			all.began_us = sample->began_us;
	}
	return all;
}

double rg__stat_avg(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	struct rg__stat_sample all = together(stat, conf, now_us);

	return all.count ? (double)all.sum / (double)all.count : NAN;
}

double rg__stat_max(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	struct rg__stat_sample all = together(stat, conf, now_us);

	return all.count ? (double)all.max : NAN;
}

int64_t rg__stat_sum(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	return together(stat, conf, now_us).sum;
}

double rg__stat_rate(const struct rg__stat *stat, const struct rg__stat_conf *conf, int64_t now_us)
{
	struct rg__stat_sample all = together(stat, conf, now_us);
	int64_t window_us = now_us - all.began_us, full = window_us / conf->sample_us;

	if (full < conf->samples - 1)
		window_us += (conf->samples - 1 - full) * conf->sample_us;
	if (window_us < 1000)
		window_us = 1000; /* of a single sample that begins now */
	return (double)all.count * 1000000 / (double)window_us;
}
