/* SPDX-License-Identifier: Apache-2.0 */
/* One run: faults, then peace, then everybody goes home. */
#include "run.h"

#include "base/alloc.h"
#include "codec/api.h"
#include "testkit/coordinator.h"

#include <stdlib.h>
#include <string.h>

#define FAULTS_UNTIL_US (RG__SIM_START_US + INT64_C(40000000))
enum { STEPS_MAX = 3000000 };

struct player {
	struct sim *sim;
	const struct script *script;
	int next;
	int64_t restart_us[RG__SIM_PORTS]; /* of stopped brokers */
	long steps;
};

static bool alive(struct player *player)
{
	struct sim *sim = player->sim;

	if (sim->cluster.failed)
		sim_broken(sim, "out of memory in the cluster");
	if (++player->steps > STEPS_MAX)
		sim_broken(sim, "no end of events: somebody spins");
	return !sim->broken[0];
}

static void pass(struct player *player, int64_t until_us)
{
	while (alive(player) && rg__sim_step(&player->sim->world, until_us))
		;
}

static void start_brokers(struct player *player, int64_t now_us)
{
	for (int node = 1; node <= player->sim->brokers; node++)
		if (player->restart_us[node] && player->restart_us[node] <= now_us) {
			player->restart_us[node] = 0;
			rg__sim_start(&player->sim->cluster, node);
		}
}

static int64_t next_restart_us(const struct player *player)
{
	int64_t next_us = INT64_MAX;

	for (int node = 1; node <= player->sim->brokers; node++)
		if (player->restart_us[node] && player->restart_us[node] < next_us)
			next_us = player->restart_us[node];
	return next_us;
}

static void play(struct player *player)
{
	struct sim *sim = player->sim;

	while (alive(player) && sim->world.now_us < FAULTS_UNTIL_US) {
		const struct line *line =
			player->next < player->script->count ? &player->script->lines[player->next] : NULL;
		int64_t until_us = line && line->at_us < FAULTS_UNTIL_US ? line->at_us : FAULTS_UNTIL_US;

		if (next_restart_us(player) < until_us)
			until_us = next_restart_us(player);
		pass(player, until_us);
		start_brokers(player, sim->world.now_us);
		if (!line || line->at_us > sim->world.now_us)
			continue;
		player->next++;
		script_play(sim, line);
		if (line->act == ACT_STOP)
			player->restart_us[line->a] = sim->world.now_us + line->b * INT64_C(1000);
	}
}

static void heal(struct player *player)
{
	struct sim *sim = player->sim;

	sim->healed = true;
	rg__sim_faults_clear(&sim->cluster);
	start_brokers(player, INT64_MAX);
	for (int i = 0; i < sim->app_count; i++) {
		struct app *app = &sim->apps[i];
		struct rg__sim_connection *connection = app->host.connections;

		app->gap_until_us = 0;
		app->bad_plans = 0;
		app->host.latency_us = 500;
		for (; connection; connection = rg__sim_connection_next(connection))
			if (rg__sim_stands_still(connection))
				rg__sim_break(connection);
	}
}

/* How long may it take? Whoever has gone without a word is missed after a session, or, in the middle of a rebalance, after
 * the rebalance timeout, for JoinGroup and for SyncGroup; cooperative members then need a second round, and a leader looks
 * at its topics every few seconds. */
static int64_t bound_us(const struct sim *sim)
{
	return (sim->settings.session_ms + 3 * sim->settings.max_poll_ms + 20000) * INT64_C(1000);
}

static int64_t settle(struct player *player)
{
	struct sim *sim = player->sim;
	int64_t began_us = sim->world.now_us, settled_us = 0;
	char why[200] = "";

	while (alive(player)) {
		if (!check_settled(sim, why, sizeof(why)))
			settled_us = 0;
		else if (!settled_us)
			settled_us = sim->world.now_us;
		if (settled_us && sim->world.now_us - settled_us > 2 * sim->settings.heartbeat_ms * INT64_C(1000))
			check_beats(sim);
		/* A leader looks at its topics every five seconds: it stays so. */
		if (settled_us && sim->world.now_us - settled_us > 6000000)
			return settled_us - began_us;
		if (!settled_us && sim->world.now_us - began_us > bound_us(sim))
			sim_broken(sim, "not settled %lld s after the faults: %s", (long long)bound_us(sim) / 1000000, why);
		pass(player, sim->world.now_us + 250000);
	}
	return 0;
}

/* KIP-345: a static member that is back within its session, as it was, gets its share, and nobody else notices. A leader looks at
 * the topics anew, so that one may; and somebody who is in the group and dead is about to be noticed. */
static bool nobody_else(const struct sim *sim)
{
	const struct rg__kit_group *group = rg__kit_group_find(sim->cluster.coordinator, rg__bytes_of("g"));
	int joined = 0;

	for (int i = 0; i < sim->app_count; i++)
		joined += sim->apps[i].member && sim->apps[i].joined;
	return group && group->state == RG__KIT_STABLE && (int)HASH_COUNT(group->members) == joined;
}

static void restart_calmly(struct player *player)
{
	struct sim *sim = player->sim;

	if (sim->first_edition)
		return;
	for (int i = 0; i < sim->app_count && alive(player); i++) {
		struct app *app = &sim->apps[i];
		int32_t generation = app->generation;
		unsigned mask = app->topic_mask;
		uint64_t owned = app->owned;

		if (!app->member || !app->joined || !app->is_static || app->leads || app->instance != app->number || !nobody_else(sim))
			continue;
		app_kill(app, false);
		pass(player, sim->world.now_us + 1500000);
		app_start(app, mask);
		settle(player);
		if (!sim->broken[0] && !sim->settings.strategies[0] && (app->generation != generation || app->owned != owned))
			sim_broken(sim, "process %d was away for a moment: generation %d became %d, or it has another share", i,
			           (int)generation, (int)app->generation);
		sim->calm_restarts++;
	}
}

static void go_home(struct player *player)
{
	struct sim *sim = player->sim;
	bool anybody = false, alone = nobody_else(sim); /* a dead one that has no share is not missed by then */

	for (int i = 0; i < sim->app_count; i++)
		anybody = anybody || (sim->apps[i].member && sim->apps[i].joined);
	for (int i = 0; i < sim->app_count; i++)
		app_leave(&sim->apps[i], 3000);
	pass(player, sim->world.now_us + 4000000);
	for (int i = 0; i < sim->app_count; i++)
		if (sim->apps[i].member && sim->apps[i].leaving)
			sim_broken(sim, "process %d did not get out", i);
	if (anybody && alone)
		check_home(sim);
}

static bool build(struct sim *sim)
{
	static const int16_t narrow[][2] = {{RG__API_JOIN_GROUP, 5},    {RG__API_SYNC_GROUP, 3},      {RG__API_HEARTBEAT, 3},
	                                    {RG__API_LEAVE_GROUP, 2},   {RG__API_FIND_COORDINATOR, 2}, {RG__API_OFFSET_FETCH, 7},
	                                    {RG__API_OFFSET_COMMIT, 7}, {RG__API_JOIN_GROUP, 3},      {RG__API_METADATA, 5}};

	bool any_static = false;

	rg__sim_world_init(&sim->world, sim->seed);
	if (!rg__sim_net_init(&sim->net, &sim->world) ||
	    !rg__sim_cluster_init(&sim->cluster, &sim->net, sim->brokers, sim->seed))
		return false;
	if (sim->seed % 3 == 0)
		rg__kit_coordinator_settings(sim->cluster.coordinator)->superseded_error = 16;
	if (sim->seed % 5 == 0)
		rg__kit_coordinator_settings(sim->cluster.coordinator)->initial_delay_us = 3000000;
	for (int i = 0; i < sim->app_count; i++) {
		app_init(&sim->apps[i], sim, i, rg__sim_draw(&sim->world, 4) < (sim->many_static ? 2u : 1u));
		any_static = any_static || sim->apps[i].is_static;
	}
	/* KIP-345 needs JoinGroup v5; and below v9 a static leader that comes back is told that its former self leads (KIP-814), so
	 * nobody watches the topics until the next rebalance. */
	for (int node = 1; node <= sim->brokers; node++)
		for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
			if (rg__sim_draw(&sim->world, 6) == 0 && !(any_static && narrow[i][0] == RG__API_JOIN_GROUP))
				rg__sim_narrow(&sim->cluster, node, narrow[i][0], narrow[i][1]);
	return check_init(sim);
}

static void tear_down(struct sim *sim)
{
	for (int i = 0; i < sim->app_count; i++)
		app_free(&sim->apps[i]);
	rg__sim_cluster_free(&sim->cluster);
	check_free(sim);
	rg__sim_net_free(&sim->net);
	rg__sim_world_free(&sim->world);
}

static bool first_edition;

void run_first_edition(bool on)
{
	first_edition = on;
}

void run(uint64_t seed, const struct script *script, struct script *ret_script, FILE *events, struct result *ret_result)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	struct script *own = calloc(1, sizeof(*own));
	struct player player = {.sim = sim};

	if (!sim || !own)
		abort();
	sim->seed = seed;
	sim->first_edition = first_edition;
	sim->events = events;
	script_make(own, sim, FAULTS_UNTIL_US - 1000000);
	player.script = script ? script : own;
	memset(ret_result, 0, sizeof(*ret_result));
	if (!build(sim))
		sim_broken(sim, "out of memory");
	play(&player);
	if (!sim->broken[0])
		heal(&player);
	if (!sim->broken[0])
		ret_result->settled_after_us = settle(&player);
	if (!sim->broken[0])
		restart_calmly(&player);
	if (!sim->broken[0])
		go_home(&player);
	memcpy(ret_result->broken, sim->broken, sizeof(ret_result->broken));
	for (int i = 0; i < sim->app_count; i++) {
		ret_result->completes += sim->apps[i].completes;
		ret_result->losts += sim->apps[i].losts;
	}
	ret_result->joins = sim->joins;
	ret_result->requests = sim->requests;
	ret_result->grey = sim->grey;
	ret_result->fences = sim->fences;
	ret_result->calm_restarts = sim->calm_restarts;
	ret_result->most_finds = sim->most_finds;
	ret_result->most_requests_per_second = sim->most_requests_per_second;
	ret_result->trace = sim->world.order * UINT64_C(1000003) + (uint64_t)sim->world.now_us + sim->world.random.state;
	tear_down(sim);
	if (ret_script)
		*ret_script = *own;
	free(own);
	free(sim);
}
