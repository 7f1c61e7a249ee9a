/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_round.h"

#include <string.h>
#include <time.h>

enum { NOBODY = -1, CONTESTED = -2 };

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The newest generation owns; of two equal ones neither does. */
static void claim(const rg_group *group, int32_t *owner, int32_t *newest, int32_t member)
{
	int32_t generation = group->members[member].generation;

	if (*owner == NOBODY || generation > *newest) {
		*owner = member;
		*newest = generation;
	} else if (generation == *newest) {
		*owner = CONTESTED;
	}
}

static void look(struct round *round, const rg_group *group)
{
	int32_t **newest = model_alloc((size_t)group->topic_count, sizeof(*newest));

	*round = (struct round){.group = group};
	round->owners = model_alloc((size_t)group->topic_count, sizeof(*round->owners));
	for (int32_t t = 0; t < group->topic_count; t++) {
		int32_t count = group->topics[t].partition_count;

		round->owners[t] = model_alloc((size_t)count, sizeof(**round->owners));
		newest[t] = model_alloc((size_t)count, sizeof(**newest));
		memset(round->owners[t], NOBODY, (size_t)count * sizeof(**round->owners));
		round->partitions += count;
	}
	for (int32_t m = 0; m < group->member_count; m++)
		for (int32_t i = 0; i < group->members[m].owned_count; i++) {
			rg_group_partition at = group->members[m].owned[i];

			claim(group, &round->owners[at.topic][at.partition], &newest[at.topic][at.partition], m);
		}
	for (int32_t t = 0; t < group->topic_count; t++)
		for (int32_t p = 0; p < group->topics[t].partition_count; p++)
			if (round->owners[t][p] == CONTESTED)
				round->owners[t][p] = NOBODY;
}

void round_look(struct round *round, struct model *model)
{
	look(round, model_group(model, NULL));
}

/* Whether a member sits in none of the racks of a partition, as far as both are known. */
static bool is_mismatch(const rg_group *group, int32_t t, int32_t p, int32_t member)
{
	const rg_group_topic *topic = &group->topics[t];
	const char *rack = group->members[member].rack;

	if (!rack || !topic->racks || !topic->rack_counts[p])
		return false;
	for (int32_t i = 0; i < topic->rack_counts[p]; i++)
		if (!strcmp(topic->racks[p][i], rack))
			return false;
	return true;
}

static void measure(struct round *round)
{
	const rg_group *group = round->group;

	round->loads = model_alloc((size_t)group->member_count, sizeof(*round->loads));
	for (int32_t t = 0; t < group->topic_count; t++)
		for (int32_t p = 0; p < group->topics[t].partition_count; p++) {
			int32_t owner = round->owners[t][p], now = rg_plan_owner(round->plan, t, p);

			round->moved += owner != NOBODY && owner != now;
			if (now == NOBODY)
				continue;
			round->loads[now]++;
			round->rack_mismatches += is_mismatch(group, t, p, now);
		}
	for (int32_t m = 0; m < group->member_count; m++) {
		int64_t load = round->loads[m];

		round->load_min = m == 0 || load < round->load_min ? load : round->load_min;
		round->load_max = load > round->load_max ? load : round->load_max;
		round->load_squares += load * load;
	}
}

bool round_run(struct round *round, struct model *model, const rg_assignor *assignor, rg_error *error)
{
	int64_t start;
	rg_err err;

	look(round, model_group(model, assignor->name));
	round->plan = rg_plan_new(round->group);
	if (!round->plan)
		return model_fail(error, "out of memory");
	start = now_us();
	err = assignor->assign(round->group, round->plan, error, NULL);
	round->elapsed_us = now_us() - start;
	if (!err)
		err = rg_plan_check(round->plan, &round->withheld, error);
	if (err)
		round_end(round);
	else
		measure(round);
	return !err;
}

void round_end(struct round *round)
{
	rg_plan_free(round->plan);
	round->plan = NULL;
}
