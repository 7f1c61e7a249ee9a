/* SPDX-License-Identifier: Apache-2.0 */
/* bugs 51: when the faults are over: everybody is in, each partition has one owner, and the shares are as even as
 * promised. */
#include "sim.h"
#include "testkit/coordinator.h"

#include <string.h>

static bool members_settled(struct sim *sim, char *why, size_t size)
{
	int32_t generation = -1;

	for (int i = 0; i < sim->app_count; i++) {
		struct app *app = &sim->apps[i];

		if (!app->member || !app->joined)
			continue;
		if (app->restart || app->leaving || app->event || !rg__member_is_stable(app->member) || app->prepared) {
			snprintf(why, size, "process %d is %s", i, rg_member_state(app->member));
			return false;
		}
		if (generation >= 0 && rg__member_generation(app->member) != generation) {
			snprintf(why, size, "process %d has generation %d, another %d", i,
			         (int)rg__member_generation(app->member), (int)generation);
			return false;
		}
		generation = rg__member_generation(app->member);
		if (app->generation != generation) {
			snprintf(why, size, "process %d has not taken generation %d", i, (int)generation);
			return false;
		}
	}
	return true;
}

/* Nobody has what does not exist. */
static bool all_exist(struct sim *sim, char *why, size_t size)
{
	uint64_t exist = 0;

	for (const struct rg__kit_topic *topic = sim->cluster.names.topics; topic; topic = topic->next)
		for (int32_t p = 0; p < topic->partition_count; p++)
			exist |= app_place(topic->name.data[1] - '0', p);
	for (int i = 0; i < sim->app_count; i++)
		if (sim->apps[i].member && sim->apps[i].owned & ~exist) {
			snprintf(why, size, "process %d has a partition that does not exist", i);
			return false;
		}
	return true;
}

/* Each partition that somebody subscribes to has one owner, of those. */
static bool partitions_settled(struct sim *sim, char *why, size_t size)
{
	for (const struct rg__kit_topic *topic = sim->cluster.names.topics; topic; topic = topic->next) {
		int t = topic->name.data[1] - '0';

		for (int32_t p = 0; p < topic->partition_count; p++) {
			int owners = 0, wanted = 0;

			for (int i = 0; i < sim->app_count; i++) {
				struct app *app = &sim->apps[i];

				if (!app->member || !app->joined)
					continue;
				wanted += (app->topic_mask & 1u << t) != 0;
				owners += (app->owned & app_place(t, p)) != 0;
				if ((app->owned & app_place(t, p)) && !((app->topic_mask >> t) & 1)) {
					snprintf(why, size, "process %d has t%d-%d and does not subscribe to it", i, t, (int)p);
					return false;
				}
			}
			if (owners != (wanted > 0)) {
				snprintf(why, size, "t%d-%d has %d owners", t, (int)p, owners);
				return false;
			}
		}
	}
	return true;
}

static bool assigned_by(const struct sim *sim, const char *assignor)
{
	const struct rg__kit_group *group = rg__kit_group_find(sim->cluster.coordinator, rg__bytes_of("g"));

	return group && rg__bytes_is(group->protocol_name, assignor);
}

/* Who subscribes to the same gets the same, give or take one: of all partitions, or of each topic with range. */
static bool balanced(struct sim *sim, char *why, size_t size)
{
	bool by_topic = assigned_by(sim, "range");

	for (int a = 0; a < sim->app_count; a++)
		for (int b = 0; b < sim->app_count; b++) {
			const struct app *one = &sim->apps[a], *two = &sim->apps[b];
			int more = 0;

			if (!one->member || !two->member || !one->joined || !two->joined || one->topic_mask != two->topic_mask)
				continue;
			for (int t = 0; t < TOPICS; t++) {
				int difference = __builtin_popcountll(one->owned >> (t * PARTITIONS_MAX) & 0xffff) -
				                 __builtin_popcountll(two->owned >> (t * PARTITIONS_MAX) & 0xffff);

				more = by_topic ? (difference > more ? difference : more) : more + difference;
			}
			if (more > 1) {
				snprintf(why, size, "process %d has %d partitions more than process %d", a, more, b);
				return false;
			}
		}
	return true;
}

/* sticky and cooperative-sticky promise more: no partition can be passed on, also by way of others, from somebody to who has two
 * less. */
static bool best_balanced(struct sim *sim, char *why, size_t size)
{
	bool passes[APPS][APPS] = {{false}};
	int count = sim->app_count;

	for (int a = 0; a < count; a++)
		for (int t = 0; t < TOPICS; t++)
			for (int b = 0; b < count && (sim->apps[a].owned >> (t * PARTITIONS_MAX) & 0xffff); b++)
				passes[a][b] = passes[a][b] || (sim->apps[a].member && sim->apps[b].member && sim->apps[b].joined &&
				                                (sim->apps[b].topic_mask >> t & 1));
	for (int by = 0; by < count; by++)
		for (int a = 0; a < count; a++)
			for (int b = 0; b < count && passes[a][by]; b++)
				passes[a][b] = passes[a][b] || passes[by][b];
	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			if (passes[a][b] && __builtin_popcountll(sim->apps[a].owned) > __builtin_popcountll(sim->apps[b].owned) + 1) {
				snprintf(why, size, "process %d has more than process %d, and could pass on what makes it even", a, b);
				return false;
			}
	return true;
}

/* A topic mask that is not the same for all makes the rule above say less for round robin, which promises less then. */
static bool same_subscriptions(const struct sim *sim)
{
	unsigned mask = 0;

	for (int i = 0; i < sim->app_count; i++)
		if (sim->apps[i].member && sim->apps[i].joined) {
			if (mask && sim->apps[i].topic_mask != mask)
				return false;
			mask = sim->apps[i].topic_mask;
		}
	return true;
}

bool check_settled(struct sim *sim, char *why, size_t size)
{
	if (!members_settled(sim, why, size) || !all_exist(sim, why, size) || !partitions_settled(sim, why, size))
		return false;
	if ((assigned_by(sim, "roundrobin") || assigned_by(sim, "sloppy")) && !same_subscriptions(sim))
		return true;
	if (assigned_by(sim, "sticky") || assigned_by(sim, "cooperative-sticky"))
		return best_balanced(sim, why, size);
	return balanced(sim, why, size);
}
