/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include "codec/api.h"

#include <stdlib.h>
#include <string.h>

/* --- Making ------------------------------------------------------------------------------------------------------------- */

static uint32_t draw(struct rg__random *random, uint32_t below)
{
	return (uint32_t)(rg__random_next(random) >> 33) % below;
}

static int pick(struct rg__random *random, const int *from, size_t count)
{
	return from[draw(random, (uint32_t)count)];
}
#define PICK(random, ...) pick(random, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static unsigned some_topics(struct rg__random *random)
{
	return draw(random, 3) ? 3u : 1u + draw(random, 15);
}

static void make_settings(struct sim *sim, struct rg__random *random)
{
	static const char *const strategies[] = {"range",  "roundrobin", "sticky", "cooperative-sticky", "cooperative-sticky",
	                                         "sticky,range", "sloppy"};
	static const char *const bootstraps[] = {"", "b1:9092", "b1:9092,b2:9092", "b1:9092,b2:9092,b3:9092"};

	sim->brokers = 1 + (int)draw(random, 3);
	sim->app_count = 1 + (int)draw(random, draw(random, 4) ? 4 : APPS);
	sim->settings = (struct app_settings){
		.strategy = strategies[draw(random, 7)],
		.bootstrap = bootstraps[sim->brokers],
		.session_ms = PICK(random, 6000, 6000, 10000),
		.heartbeat_ms = PICK(random, 1000, 1500, 2000),
		.max_poll_ms = PICK(random, 12000, 20000, 30000),
		.request_ms = PICK(random, 3000, 6000),
		.budget = PICK(random, 0, 0, 2, 20),
	};
}

static bool starts(struct rg__random *random)
{
	return draw(random, 4) != 0;
}

/* Which API, and which of its errors a broker may give that can pass. */
static void make_fault(struct rg__random *random, struct line *line, int apps)
{
	static const int16_t apis[] = {RG__API_FIND_COORDINATOR, RG__API_JOIN_GROUP, RG__API_JOIN_GROUP, RG__API_SYNC_GROUP,
	                               RG__API_SYNC_GROUP,       RG__API_HEARTBEAT,  RG__API_HEARTBEAT,  RG__API_LEAVE_GROUP,
	                               RG__API_OFFSET_COMMIT,    RG__API_OFFSET_FETCH, RG__API_METADATA};

	line->act = ACT_FAULT;
	line->a = apis[draw(random, sizeof(apis) / sizeof(apis[0]))];
	line->b = draw(random, 3) ? -1 : (int)draw(random, (uint32_t)apps);
	line->c = PICK(random, RG__SIM_ANSWER_ERROR, RG__SIM_ANSWER_ERROR, RG__SIM_ANSWER_ERROR, RG__SIM_DROP_BEFORE,
	               RG__SIM_DROP_AFTER, RG__SIM_DROP_AFTER, RG__SIM_LATE, RG__SIM_GARBAGE);
	switch (line->a) {
	case RG__API_FIND_COORDINATOR:
		line->d = PICK(random, 14, 15, 15, 30, -1);
		break;
	case RG__API_JOIN_GROUP:
		line->d = PICK(random, 14, 15, 16, 25, 27, 22, 30, 81, -1);
		break;
	case RG__API_SYNC_GROUP:
		line->d = PICK(random, 14, 15, 16, 25, 27, 22, 30, -1);
		break;
	case RG__API_HEARTBEAT:
		line->d = PICK(random, 14, 15, 16, 25, 27, 22, 30, 82, -1);
		break;
	case RG__API_OFFSET_COMMIT:
		line->d = PICK(random, 3, 7, 14, 15, 16, 22, 25, 27, 69, 12, -1);
		break;
	default:
		line->d = PICK(random, 14, 15, 16, -1);
		break;
	}
	line->e = line->c == RG__SIM_ANSWER_ERROR ? PICK(random, 1, 1, 1, 2, 5, 200) : 1;
	if (line->a == RG__API_HEARTBEAT && line->d == 27)
		line->e = 1; /* a coordinator that says so has seen the heartbeat, which a fault keeps from it */
	/* The answer to a JoinGroup or SyncGroup that comes later than a third of a session may be older than the seat. */
	if (line->c == RG__SIM_LATE)
		line->d = PICK(random, 100, 700, 1900);
}

static void make_line(struct rg__random *random, struct line *line, const struct sim *sim)
{
	static const int acts[] = {ACT_START, ACT_START, ACT_LEAVE, ACT_KILL, ACT_SUBSCRIBE, ACT_REJOIN, ACT_SLOW_LISTENER,
	                           ACT_SLOW_LISTENER, ACT_SLOW_ASSIGNOR, ACT_GAP, ACT_FAULT, ACT_FAULT, ACT_FAULT, ACT_FAULT,
	                           ACT_FAULT, ACT_FAULT, ACT_FAULT, ACT_BREAK, ACT_BREAK, ACT_STALL, ACT_STALL, ACT_LATENCY,
	                           ACT_STOP, ACT_MOVE, ACT_MOVE, ACT_GROW, ACT_DELETE, ACT_FOREIGN, ACT_SLOPPY, ACT_SLOPPY};
	int app = (int)draw(random, (uint32_t)sim->app_count);

	line->act = (enum act)acts[draw(random, sizeof(acts) / sizeof(acts[0]))];
	line->a = app;
	switch (line->act) {
	case ACT_START:
	case ACT_SUBSCRIBE:
		line->b = (int)some_topics(random);
		break;
	case ACT_KILL:
		line->b = (int)draw(random, 2);
		break;
	case ACT_SLOW_LISTENER:
	case ACT_SLOW_ASSIGNOR:
		line->b = PICK(random, 50, 800, 3000, 9000, 25000);
		break;
	case ACT_GAP:
		line->b = PICK(random, 2000, 8000, 35000);
		break;
	case ACT_FAULT:
		make_fault(random, line, sim->app_count);
		break;
	case ACT_STALL:
		line->b = 1 + (int)draw(random, 3);
		line->c = PICK(random, 300, 1500, 1900, -1);
		break;
	case ACT_LATENCY:
		line->b = PICK(random, 100, 5000, 100000, 400000);
		break;
	case ACT_STOP:
		line->a = 1 + (int)draw(random, (uint32_t)sim->brokers);
		line->b = PICK(random, 200, 3000, 12000);
		line->c = (int)draw(random, 2);
		break;
	case ACT_MOVE:
		line->a = 1 + (int)draw(random, (uint32_t)sim->brokers);
		line->b = draw(random, 5) != 0;
		line->c = PICK(random, 0, 50, 2000);
		break;
	case ACT_GROW:
		line->a = (int)draw(random, TOPICS);
		line->b = 1 + (int)draw(random, 8);
		break;
	case ACT_DELETE:
		line->a = (int)draw(random, TOPICS);
		break;
	case ACT_SLOPPY:
		line->b = 1 + (int)draw(random, 2);
		break;
	case ACT_FOREIGN:
		line->a = (int)draw(random, 5);
		break;
	default:
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct line *one = a, *two = b;

	return (one->at_us > two->at_us) - (one->at_us < two->at_us);
}

/* --- What the second edition makes besides --------------------------------------------------------------------------------------- */

/* Members with lists of both kinds, on the way from an eager assignor to a cooperative one (KIP-429): whoever lists an eager
 * one, too, gives everything up before each join. */
static void make_mix(struct sim *sim, struct rg__random *random)
{
	static const char *const from[] = {"range", "cooperative-sticky"};

	if (draw(random, 4))
		return;
	sim->settings.strategy = "cooperative-sticky,range";
	sim->settings.strategies[0] = from[draw(random, 2)];
	sim->settings.strategies[1] = sim->settings.strategy;
}

static struct line *append(struct script *script, enum act act, int64_t at_us)
{
	static struct line surplus;
	struct line *line = script->count < LINES_MAX ? &script->lines[script->count++] : &surplus;

	*line = (struct line){.at_us = at_us, .act = act};
	return line;
}

/* A restart: quick, within the session, or when the seat is long given away. */
static void make_restart(struct script *script, struct rg__random *random, int app, int64_t at_us)
{
	int64_t away_us = PICK(random, 300, 2000, 4500, 9000, 14000) * INT64_C(1000);
	struct line *line = append(script, ACT_KILL, at_us);

	line->a = app;
	line->b = (int)draw(random, 2);
	line = append(script, ACT_START, at_us + away_us);
	line->a = app;
	line->b = (int)some_topics(random);
}

/* A topic that vanishes and returns, not with the same partitions. */
static void make_return(struct script *script, struct rg__random *random, int64_t at_us)
{
	int topic = (int)draw(random, 2);
	struct line *line = append(script, ACT_DELETE, at_us);

	line->a = topic;
	line = append(script, ACT_GROW, at_us + PICK(random, 100, 2000, 7000, 12000) * INT64_C(1000));
	line->a = topic;
	line->b = 1 + (int)draw(random, 8);
}

static void make_upgrade(struct line *line, struct rg__random *random, const struct sim *sim)
{
	static const int16_t offers[][2] = {{-1, 0},
	                                    {-1, 0},
	                                    {RG__API_JOIN_GROUP, 5},
	                                    {RG__API_JOIN_GROUP, 3},
	                                    {RG__API_SYNC_GROUP, 3},
	                                    {RG__API_HEARTBEAT, 3},
	                                    {RG__API_OFFSET_FETCH, 7},
	                                    {RG__API_OFFSET_COMMIT, 7},
	                                    {RG__API_FIND_COORDINATOR, 2}};
	const int16_t *offer = offers[draw(random, sizeof(offers) / sizeof(offers[0]))];

	line->a = 1 + (int)draw(random, (uint32_t)sim->brokers);
	line->b = offer[0];
	line->c = offer[1];
}

/* What the first edition leaves out: the handshake, and what passes by itself at the offsets. */
static void make_rare_fault(struct line *line, struct rg__random *random, int apps)
{
	static const int16_t rare[][3] = {{RG__API_OFFSET_FETCH, RG__SIM_ANSWER_ERROR, 88},   {RG__API_OFFSET_FETCH, RG__SIM_ANSWER_ERROR, 7},
	                                  {RG__API_OFFSET_COMMIT, RG__SIM_ANSWER_ERROR, 28},  {RG__API_FIND_COORDINATOR, RG__SIM_ANSWER_ERROR, 16},
	                                  {RG__API_LEAVE_GROUP, RG__SIM_ANSWER_ERROR, 25},    {RG__API_METADATA, RG__SIM_ANSWER_ERROR, 5},
	                                  {RG__API_API_VERSIONS, RG__SIM_ANSWER_ERROR, -1},   {RG__API_API_VERSIONS, RG__SIM_DROP_BEFORE, 0},
	                                  {RG__API_API_VERSIONS, RG__SIM_DROP_AFTER, 0},      {RG__API_API_VERSIONS, RG__SIM_LATE, 1900},
	                                  {RG__API_FIND_COORDINATOR, RG__SIM_LATE, 1900}};
	const int16_t *fault = rare[draw(random, sizeof(rare) / sizeof(rare[0]))];

	line->a = fault[0];
	line->b = draw(random, 3) ? -1 : (int)draw(random, (uint32_t)apps);
	line->c = fault[1];
	line->d = fault[2];
	line->e = PICK(random, 1, 3, 40);
}

/* A member that joins and never gets its plan, and loses touch just when the group has had enough of it. */
static void make_starved(struct script *script, struct rg__random *random, const struct sim *sim, uint32_t span_ms)
{
	int app = (int)draw(random, (uint32_t)sim->app_count);
	int64_t at_us = RG__SIM_START_US + (int64_t)draw(random, span_ms / 2) * 1000;
	struct line *line = append(script, ACT_FAULT, at_us);

	line->a = RG__API_SYNC_GROUP;
	line->b = app;
	line->c = RG__SIM_ANSWER_ERROR;
	line->d = PICK(random, 14, 16);
	line->e = 200;
	for (int i = 0; i < sim->app_count; i++)
		append(script, ACT_REJOIN, at_us + 100000)->a = i;
	line = append(script, ACT_STALL, at_us + (sim->settings.max_poll_ms - 800 + (int)draw(random, 1600)) * INT64_C(1000));
	line->a = app;
	line->b = 2;
	line->c = -1;
}

static void make_more(struct script *script, struct sim *sim, uint32_t span_ms)
{
	struct rg__random random = {.state = (sim->seed + 78) * UINT64_C(0xd1342543de82ef95)};
	int more;

	rg__random_next(&random);
	sim->many_static = draw(&random, 3) == 0;
	make_mix(sim, &random);
	more = (int)draw(&random, 9);
	for (int i = 0; i < more; i++) {
		int64_t at_us = RG__SIM_START_US + (int64_t)draw(&random, span_ms) * 1000;
		int app = (int)draw(&random, (uint32_t)sim->app_count);
		struct line *line;

		switch (draw(&random, 7)) {
		case 0:
		case 1:
			make_restart(script, &random, app, at_us);
			break;
		case 2:
			make_return(script, &random, at_us);
			break;
		case 3:
			line = append(script, ACT_TWIN, at_us);
			line->a = app;
			line->b = (int)draw(&random, (uint32_t)sim->app_count);
			break;
		case 4:
			line = append(script, ACT_SLEEPWALK, at_us);
			line->a = (int)draw(&random, 5);
			line->b = (int)draw(&random, 8);
			break;
		case 5:
			make_rare_fault(append(script, ACT_FAULT, at_us), &random, sim->app_count);
			break;
		default:
			make_upgrade(append(script, ACT_UPGRADE, at_us), &random, sim);
			break;
		}
	}
	if (draw(&random, 4) == 0)
		make_starved(script, &random, sim, span_ms);
	/* broker: of each member it writes down only what it says for the chosen assignor. A new one that has not got that in its list
	 * is refused after a move (23) until the others have joined again, and no client can mend that. */
	for (int i = 0; i < script->count; i++)
		if (script->lines[i].act == ACT_MOVE && sim->settings.strategies[0] && strcmp(sim->settings.strategies[0], "range") == 0)
			script->lines[i].b = 0;
}

void script_make(struct script *script, struct sim *sim, int64_t until_us)
{
	struct rg__random random = {.state = (sim->seed + 77) * UINT64_C(0xd1342543de82ef95)};
	uint32_t span_ms = (uint32_t)((until_us - RG__SIM_START_US) / 1000);
	int wrong;

	rg__random_next(&random);
	make_settings(sim, &random);
	memset(script, 0, sizeof(*script));
	for (int t = 0; t < 2; t++)
		script->lines[script->count++] = (struct line){RG__SIM_START_US, ACT_GROW, t, 1 + (int)draw(&random, 7), 0, 0, 0};
	for (int i = 0; i < sim->app_count; i++)
		if (i == 0 || starts(&random))
			script->lines[script->count++] =
				(struct line){RG__SIM_START_US + (int64_t)draw(&random, draw(&random, 2) ? 10 : 8000) * 1000, ACT_START, i,
			                      (int)some_topics(&random), 0, 0, 0};
	wrong = 3 + (int)draw(&random, 28);
	while (wrong-- && script->count < LINES_MAX) {
		struct line *line = &script->lines[script->count++];

		make_line(&random, line, sim);
		line->at_us = RG__SIM_START_US + (int64_t)draw(&random, span_ms) * 1000;
	}
	if (!sim->first_edition)
		make_more(script, sim, span_ms);
	qsort(script->lines, (size_t)script->count, sizeof(script->lines[0]), by_time);
}

/* --- Playing --------------------------------------------------------------------------------------------------------------- */

static void grow(struct sim *sim, int t, int32_t partitions)
{
	char name[8];
	struct rg__kit_topic *topic;

	snprintf(name, sizeof(name), "t%d", t);
	topic = rg__kit_topic_find(&sim->cluster.names, rg__bytes_of(name));
	if (!topic && !rg__kit_topic_add(&sim->cluster.names, rg__bytes_of(name), partitions))
		sim_broken(sim, "out of memory");
	else if (topic && partitions > topic->partition_count)
		topic->partition_count = partitions;
}

static void drop_topic(struct sim *sim, int t)
{
	char name[8];
	struct rg__kit_topic *topic;

	snprintf(name, sizeof(name), "t%d", t);
	topic = rg__kit_topic_find(&sim->cluster.names, rg__bytes_of(name));
	if (topic)
		rg__kit_topic_remove(&sim->cluster.names, topic);
	check_topic_gone(sim, t);
}

/* A broker that comes back as another version of itself. KIP-345 needs JoinGroup version 5. */
static void upgrade(struct sim *sim, int node, int16_t api, int16_t last)
{
	for (int i = 0; i < sim->app_count && api == RG__API_JOIN_GROUP; i++)
		if (sim->apps[i].born_static)
			return;
	rg__sim_stop(&sim->cluster, node, false);
	if (api < 0)
		rg__sim_widen(&sim->cluster, node);
	else
		rg__sim_narrow(&sim->cluster, node, api, last);
	rg__sim_start(&sim->cluster, node);
}

static void stall(struct sim *sim, const struct line *line)
{
	struct rg__sim_connection *connection = sim->apps[line->a].host.connections;

	for (; connection; connection = rg__sim_connection_next(connection))
		rg__sim_stall(connection, line->b & 1, line->b & 2,
		              line->c < 0 ? INT64_MAX : sim->world.now_us + line->c * INT64_C(1000));
}

static void break_all(struct app *app)
{
	struct rg__sim_connection *connection = app->host.connections;

	for (; connection; connection = rg__sim_connection_next(connection))
		rg__sim_break(connection);
}

void script_play(struct sim *sim, const struct line *line)
{
	struct app *app = line->a >= 0 && line->a < APPS ? &sim->apps[line->a] : NULL;

	switch (line->act) {
	case ACT_START:
		if (app->member)
			app_subscribe(app, (unsigned)line->b);
		else
			app_start(app, (unsigned)line->b);
		break;
	case ACT_LEAVE:
		app_leave(app, 3000);
		break;
	case ACT_KILL:
		app_kill(app, line->b);
		break;
	case ACT_SUBSCRIBE:
		app_subscribe(app, (unsigned)line->b);
		break;
	case ACT_REJOIN:
		app_rejoin(app);
		break;
	case ACT_SLOW_LISTENER:
		app->slow_listener_us = line->b * INT64_C(1000);
		break;
	case ACT_SLOW_ASSIGNOR:
		app->slow_assignor_us = line->b * INT64_C(1000);
		break;
	case ACT_GAP:
		app->gap_until_us = sim->world.now_us + line->b * INT64_C(1000);
		break;
	case ACT_FAULT:
		sim->garbage = sim->garbage || line->c == RG__SIM_GARBAGE;
		sim->fenced_by_fault = sim->fenced_by_fault || (line->c == RG__SIM_ANSWER_ERROR && line->d == 82);
		rg__sim_fault_add(&sim->cluster, &(struct rg__sim_fault){.kind = (enum rg__sim_fault_kind)line->c,
		                                                         .api = (int16_t)line->a,
		                                                         .host = line->b,
		                                                         .error = (int16_t)line->d,
		                                                         .late_us = line->d * INT64_C(1000),
		                                                         .times = line->e});
		break;
	case ACT_BREAK:
		break_all(app);
		break;
	case ACT_STALL:
		stall(sim, line);
		break;
	case ACT_LATENCY:
		app->host.latency_us = line->b;
		app->host.piece_max = line->b == 100 ? 0 : 7;
		break;
	case ACT_STOP:
		rg__sim_stop(&sim->cluster, line->a, line->c);
		break;
	case ACT_MOVE:
		sim->last_generation = sim->begun.generation = -1;
		sim->moved_us = line->b ? sim->world.now_us : sim->moved_us;
		if (!line->b)
			check_state_lost(sim);
		rg__sim_move(&sim->cluster, line->a, line->b, line->c * INT64_C(1000));
		break;
	case ACT_GROW:
		grow(sim, line->a, line->b);
		break;
	case ACT_DELETE:
		drop_topic(sim, line->a);
		break;
	case ACT_SLOPPY:
		app->bad_plans = line->b;
		break;
	case ACT_FOREIGN:
		foreign_join(sim, line->a);
		break;
	case ACT_TWIN:
		app_start_twin(&sim->apps[line->b], app);
		break;
	case ACT_SLEEPWALK:
		foreign_sleepwalk(sim, line->a, (unsigned)line->b);
		break;
	case ACT_UPGRADE:
		upgrade(sim, line->a, (int16_t)line->b, (int16_t)line->c);
		break;
	case ACTS:
		break;
	}
}

void script_print(const struct line *line, FILE *out)
{
	static const char *const names[ACTS] = {
		[ACT_START] = "start process, topics",
		[ACT_LEAVE] = "leave: process",
		[ACT_KILL] = "kill process, with its machine",
		[ACT_SUBSCRIBE] = "subscribe: process, topics",
		[ACT_REJOIN] = "rejoin: process",
		[ACT_SLOW_LISTENER] = "slow listener: process, ms",
		[ACT_SLOW_ASSIGNOR] = "slow assignor: process, ms",
		[ACT_GAP] = "no poll: process, ms",
		[ACT_FAULT] = "fault: api, process, kind, error or ms, requests",
		[ACT_BREAK] = "break the connections of process",
		[ACT_STALL] = "stall the connections of process, directions, ms",
		[ACT_LATENCY] = "latency: process, us",
		[ACT_STOP] = "stop broker, ms, silently",
		[ACT_MOVE] = "move the coordinator to broker, state kept, loading ms",
		[ACT_GROW] = "topic, partitions",
		[ACT_DELETE] = "delete topic",
		[ACT_SLOPPY] = "sloppy plan: process, way",
		[ACT_FOREIGN] = "a foreign member with bytes of kind",
		[ACT_TWIN] = "twin of process: process",
		[ACT_SLEEPWALK] = "a foreign member that never joins again, with bytes of kind, ways",
		[ACT_UPGRADE] = "restart broker, with API, up to version",
	};
	static const int arguments[ACTS] = {
		[ACT_START] = 2, [ACT_LEAVE] = 1, [ACT_KILL] = 2, [ACT_SUBSCRIBE] = 2, [ACT_REJOIN] = 1, [ACT_SLOW_LISTENER] = 2,
		[ACT_SLOW_ASSIGNOR] = 2, [ACT_GAP] = 2, [ACT_FAULT] = 5, [ACT_BREAK] = 1, [ACT_STALL] = 3, [ACT_LATENCY] = 2,
		[ACT_STOP] = 3, [ACT_MOVE] = 3, [ACT_GROW] = 2, [ACT_DELETE] = 1, [ACT_SLOPPY] = 2, [ACT_FOREIGN] = 1,
		[ACT_TWIN] = 2, [ACT_SLEEPWALK] = 2, [ACT_UPGRADE] = 3,
	};
	const int values[] = {line->a, line->b, line->c, line->d, line->e};

	fprintf(out, "%9.3f s  %s", (double)line->at_us / 1e6, names[line->act]);
	for (int i = 0; i < arguments[line->act]; i++)
		fprintf(out, "%s%d", i ? ", " : " ", values[i]);
	fprintf(out, "\n");
}
