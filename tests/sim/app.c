/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a process and what its one thread does with the member's events. */
#include "app.h"

#include "app_lead.h"
#include "app_offsets.h"
#include "base/alloc.h"
#include "codec/api.h"
#include "consumer/hint.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static const char *const topic_names[TOPICS] = {"t0", "t1", "t2", "t3"};

enum { TICK_US = 500000, LOOK_US = 5000000 };

uint64_t app_place(int topic, int32_t partition)
{
	return UINT64_C(1) << (topic * PARTITIONS_MAX + partition);
}

static int64_t now_us(const struct app *app)
{
	return app->sim->world.now_us;
}

static void out_of_memory(struct app *app)
{
	sim_broken(app->sim, "out of memory");
}

bool app_runs(const struct app *app)
{
	return app->member != NULL;
}

/* --- Partitions as the library has them ------------------------------------------------------------------------------ */

static void list_places(uint64_t places, struct rg__partition items[PLACES], struct rg__partitions *ret_partitions)
{
	ret_partitions->items = items;
	ret_partitions->count = 0;
	for (int place = 0; place < PLACES; place++)
		if (places & (UINT64_C(1) << place))
			items[ret_partitions->count++] =
				(struct rg__partition){topic_names[place / PARTITIONS_MAX], place % PARTITIONS_MAX};
}

static uint64_t places_of(const struct rg__partitions *partitions)
{
	uint64_t places = 0;

	for (size_t i = 0; i < partitions->count; i++)
		if (partitions->items[i].number < PARTITIONS_MAX)
			places |= app_place(partitions->items[i].topic[1] - '0', partitions->items[i].number);
	return places;
}

/* --- What it says to its member --------------------------------------------------------------------------------------- */

/* The protocols with the subscription as it is now. */
static size_t write_protocols(struct app *app, struct rg__buf bufs[8], rg_member_protocol protocols[8])
{
	struct rg__partition items[PLACES];
	struct rg__partitions owned;
	struct rg__subscriber subscriber = {.topics = &app->topics, .owned = &owned, .generation = app->generation};

	list_places(app->owned, items, &owned);
	if (!app->strategy.cooperative)
		subscriber.owned = NULL;
	for (size_t i = 0; i < app->strategy.count; i++) {
		if (rg__subscription_write(&subscriber, &app->strategy.items[i], true, &bufs[i], NULL))
			out_of_memory(app);
		protocols[i].name = app->strategy.items[i].assignor->name;
		protocols[i].metadata = (rg_bytes){bufs[i].data, bufs[i].len};
	}
	return app->strategy.count;
}

static void free_bufs(struct rg__buf bufs[8])
{
	for (int i = 0; i < 8; i++)
		rg__buf_free(&bufs[i]);
}

static void prepared(struct app *app, uint32_t ticket)
{
	struct rg__buf bufs[8] = {0};
	rg_member_protocol protocols[8];
	size_t count = write_protocols(app, bufs, protocols);

	if (rg_member_prepared(app->member, ticket, protocols, count, app->owned != 0))
		out_of_memory(app);
	free_bufs(bufs);
}

static void join(struct app *app)
{
	struct rg__buf bufs[8] = {0};
	rg_member_protocol protocols[8];
	size_t count = write_protocols(app, bufs, protocols);
	rg_error error;

	if (rg_member_join(app->member, protocols, count, &error))
		sim_broken(app->sim, "process %d cannot join: %s", app->number, error.text);
	free_bufs(bufs);
	app->joined = true;
	app->polled_us = now_us(app);
}

static void let_go(struct app *app, uint64_t places)
{
	app->owned &= ~places;
	app->positioned &= app->owned;
}

/* --- Completing ---------------------------------------------------------------------------------------------------------- */

/* Reads what it got. The strings of the result are those of app->topics. */
static uint64_t read_assignment(struct app *app, const rg_member_event *event)
{
	struct rg__partitions assigned = {0};
	rg_bytes userdata = {0};
	size_t dropped;
	rg_error error;

	rg__arena_clear(&app->assignment_arena);
	if (rg__assignment_read(event->assignment, &app->topics, &app->assignment_arena, NULL, &assigned, &userdata, &dropped, &error))
		sim_broken(app->sim, "process %d cannot read its assignment: %s", app->number, error.text);
	rg__member_group_size(app->member, rg__hint_read((struct rg__bytes){userdata.data, userdata.len}));
	return places_of(&assigned);
}

static void begin_complete(struct app *app)
{
	struct rg__partition owned_items[PLACES], assigned_items[PLACES], revoked_items[PLACES], added_items[PLACES];
	struct rg__partitions owned, assigned, revoked = {revoked_items, 0}, added = {added_items, 0};

	check_complete(app, app->event);
	list_places(app->owned, owned_items, &owned);
	list_places(read_assignment(app, app->event), assigned_items, &assigned);
	rg__ownership_after_join(&owned, &assigned, &revoked, &added);
	app->revoking = places_of(&revoked);
	/* KIP-814: a leader that comes into the plan of its former self does not know what that was made for. */
	app->leads = app->event->is_leader;
	app->knows_plan = app->knows_plan && !app->event->skip_assignment;
	app->asked = false;
	app_commit(app, app->revoking);
}

static void end_complete(struct app *app)
{
	uint64_t assigned = read_assignment(app, app->event), added = assigned & ~app->owned;

	let_go(app, app->revoking);
	if (app->revoking)
		rg_member_rejoin(app->member, "need to revoke partitions and re-join"); /* KIP-429 */
	/* Who has been told that it lost everything while it was revoking does not take anything of that generation. */
	app->generation = app->event->generation;
	check_owns(app, added);
	app->owned |= added;
	app->completes++;
	app_fetch(app, app->owned & ~app->positioned);
}

/* --- Its thread ------------------------------------------------------------------------------------------------------------ */

static void begin_prepare(struct app *app)
{
	struct rg__partition items[PLACES], given_items[PLACES];
	struct rg__partitions owned, given_up = {given_items, 0};

	check_prepare(app);
	list_places(app->owned, items, &owned);
	rg__ownership_before_join(&owned, app->strategy.cooperative, app->topics.items, app->topics.count, &given_up);
	app->revoking = places_of(&given_up);
	app_commit(app, app->revoking);
}

/* How long the callback takes that begins now. */
static int64_t takes_us(struct app *app, int64_t *slow_us)
{
	int64_t us = *slow_us;

	*slow_us = 0;
	return app->sim->healed ? 0 : us;
}

static void begin(struct app *app)
{
	int64_t us = 0;

	switch (app->event->type) {
	case RG_MEMBER_PREPARE:
		app->doing = APP_PREPARING;
		begin_prepare(app);
		us = takes_us(app, &app->slow_listener_us);
		break;
	case RG_MEMBER_LOST:
		app->doing = APP_LOSING;
		app->losts++;
		check_lost(app, app->event->cause);
		app->generation = -1;
		let_go(app, app->owned);
		us = takes_us(app, &app->slow_listener_us);
		break;
	case RG_MEMBER_ASSIGN:
		app->doing = APP_ASSIGNING;
		us = takes_us(app, &app->slow_assignor_us);
		break;
	case RG_MEMBER_COMPLETE:
		app->doing = APP_COMPLETING;
		begin_complete(app);
		us = takes_us(app, &app->slow_listener_us);
		break;
	case RG_MEMBER_ERROR:
		app->errors++;
		check_error(app, app->event->error.code, app->event->fatal);
		if (app->event->fatal) {
			app->restart = true;
			if (app->event->error.code == 82 && app->seat_taken_us)
				app->fenced_until_us = now_us(app) + 3000000;
		}
		else {
			rg_member_retry(app->member);
		}
		break;
	case RG_MEMBER_LEFT:
		check_left(app);
		app->leaving = app->joined = false;
		break;
	}
	app->busy_until_us = now_us(app) + us;
}

static void finish(struct app *app)
{
	enum app_doing doing = app->doing;

	app->busy_until_us = 0;
	app->doing = APP_IDLE;
	if (doing == APP_PREPARING) {
		let_go(app, app->revoking);
		prepared(app, app->event->ticket);
	} else if (doing == APP_LOSING) {
		prepared(app, app->event->ticket);
	} else if (doing == APP_ASSIGNING) {
		app_begin_plan(app);
	} else if (doing == APP_COMPLETING) {
		end_complete(app);
	}
	rg_member_event_free(app->event);
	app->event = NULL;
}

static void act(void *user)
{
	struct app *app = user;

	while (app->member && !app->restart) {
		if (app->busy_until_us > now_us(app)) {
			rg__sim_at(&app->sim->world, &app->act, app->busy_until_us);
			return;
		}
		if (app->event) {
			finish(app);
			continue;
		}
		if (app->gap_until_us > now_us(app) && !app->leaving)
			return; /* the next tick will look */
		app->event = rg_member_next(app->member);
		if (!app->event)
			return;
		begin(app);
	}
}

static void changed(void *user)
{
	struct app *app = user;

	if (!app->act.place)
		rg__sim_at(&app->sim->world, &app->act, now_us(app));
}

static void work(struct app *app)
{
	rg_member_poll(app->member);
	if (now_us(app) - app->polled_us >= app->sim->settings.max_poll_ms * INT64_C(1000))
		app->id_is_over = true; /* KIP-62: it was out */
	app->polled_us = now_us(app);
	for (int place = 0; place < PLACES; place++)
		if (app->positioned & (UINT64_C(1) << place))
			app->position[place] += 1 + place % 3;
	if (now_us(app) >= app->next_commit_us) {
		app->next_commit_us = now_us(app) + 2000000;
		app_commit(app, app->owned);
		app_fetch(app, app->owned & ~app->positioned);
	}
	/* As the consumer's watch does: whoever was to give it up has come back without it. */
	if (app->leads && app->awaits_until_us && now_us(app) >= app->awaits_until_us) {
		app->awaits_until_us = 0;
		rg_member_rejoin(app->member, "partitions that were to be given up belong to nobody");
	}
	if (app->assign && !app->metadata_id) {
		app_ask_metadata(app, true);
	} else if (!app->assign && app->leads && now_us(app) >= app->next_look_us) {
		app->next_look_us = now_us(app) + LOOK_US;
		app_ask_metadata(app, false);
	}
}

static void end_process(struct app *app);

static void tick(void *user)
{
	struct app *app = user;

	if (app->restart && app->fenced_until_us > now_us(app)) {
		rg__sim_at(&app->sim->world, &app->tick, app->fenced_until_us);
		return;
	}
	if (app->restart) {
		unsigned mask = app->topic_mask;
		bool fenced = app->fenced_until_us != 0;

		if (fenced)
			check_after_end(app);
		end_process(app);
		if (!fenced)
			app_start(app, mask);
		return;
	}
	if (!app->member)
		return;
	rg__sim_at(&app->sim->world, &app->tick, now_us(app) + TICK_US);
	if (app->gap_until_us > now_us(app) || app->busy_until_us)
		return;
	if (app->joined && !app->leaving)
		work(app);
	changed(app);
}

/* --- Life ------------------------------------------------------------------------------------------------------------------ */

static void emit(void *user, const char *json)
{
	struct sim *sim = user;

	fprintf(sim->events, "%s\n", json);
}

static void set(struct app *app, const char *name, const char *value)
{
	rg_error error;

	if (rg_conf_set(app->conf, name, value, &error))
		sim_broken(app->sim, "%s", error.text);
}

static void set_number(struct app *app, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	set(app, name, text);
}

/* A number of this life of the process, always the same for the same seed. */
static uint32_t hash_life(const struct app *app)
{
	struct rg__random random = {.state = app->sim->seed * 64 + (uint64_t)app->number * 8 + (uint64_t)app->lives};

	rg__random_next(&random);
	return (uint32_t)(rg__random_next(&random) >> 33);
}

static void configure(struct app *app)
{
	const struct app_settings *settings = &app->sim->settings;
	char instance[16];

	snprintf(instance, sizeof(instance), "i%d", app->instance);
	set(app, "group.id", "g");
	set(app, "bootstrap.servers", settings->bootstrap);
	set(app, "partition.assignment.strategy",
	    settings->strategies[0] ? settings->strategies[hash_life(app) % 2] : settings->strategy);
	set_number(app, "session.timeout.ms", settings->session_ms);
	set_number(app, "heartbeat.interval.ms", settings->heartbeat_ms);
	set_number(app, "max.poll.interval.ms", settings->max_poll_ms);
	set_number(app, "request.timeout.ms", settings->request_ms);
	set_number(app, "socket.connection.setup.timeout.ms", 2000);
	set_number(app, "group.heartbeat.budget", settings->budget);
	if (app->is_static)
		set(app, "group.instance.id", instance);
	rg_conf_set_log(app->conf, NULL, NULL);
	if (rg_conf_add_assignor(app->conf, &app_sloppy, app, NULL))
		out_of_memory(app);
	if (app->sim->events)
		rg_conf_set_events(app->conf, emit, app->sim);
}

static void take_topics(struct app *app, unsigned topic_mask)
{
	const char *names[TOPICS];
	size_t count = 0;

	/* KAFKA-13435: a static member that comes back with another subscription gets its old share, and the coordinator starts
	 * no rebalance. Nobody can notice, so it does not happen here. */
	if (app->is_static)
		topic_mask = 3;
	for (int t = 0; t < TOPICS; t++)
		if (topic_mask & (1u << t))
			names[count++] = topic_names[t];
	rg__topics_free(&app->topics);
	app->topic_mask = topic_mask;
	if (rg__topics_copy(&app->topics, names, count, NULL))
		out_of_memory(app);
}

void app_init(struct app *app, struct sim *sim, int number, bool is_static)
{
	memset(app, 0, sizeof(*app));
	app->sim = sim;
	app->number = number;
	app->is_static = app->born_static = is_static;
	app->instance = number;
	rg__sim_host_init(&app->host, &sim->net, number);
	if (!rg__sim_event_init(&sim->world, &app->act, act, app) || !rg__sim_event_init(&sim->world, &app->tick, tick, app))
		out_of_memory(app);
}

void app_start(struct app *app, unsigned topic_mask)
{
	struct sim *sim = app->sim;
	rg_error error;

	if (app->member)
		return;
	app->conf = rg_conf_new();
	if (!app->conf) {
		out_of_memory(app);
		return;
	}
	configure(app);
	if (rg__strategy_resolve(app->conf, &app->strategy, &error) ||
	    rg__member_new_on(&app->host.io, app->conf, "consumer",
	                      sim->seed * 1000 + (uint64_t)app->number * 100 + (uint64_t)app->lives++, changed, app, &app->member,
	                      &error)) {
		sim_broken(sim, "process %d cannot be made: %s", app->number, error.text);
		return;
	}
	app->generation = -1;
	app->prepared = false;
	app->known_id = 0;
	app->told_22 = app->heard_22 = -1;
	app->made_bad = false;
	app->polled_us = now_us(app);
	app->seat_taken_us = 0;
	sim->finds_in_window[app->number] = 0; /* it knows nothing of how often its former self has looked */
	take_topics(app, topic_mask);
	join(app);
	rg__sim_at(&sim->world, &app->tick, now_us(app) + TICK_US);
}

void app_start_twin(struct app *app, const struct app *of)
{
	if (app->member || !of->member || !of->is_static)
		return;
	app->is_static = true;
	app->instance = of->instance;
	app_start(app, of->topic_mask);
}

static void end_process(struct app *app)
{
	app_forget_plan(app);
	rg_member_free(app->member);
	app->member = NULL;
	app_offsets_free(app);
	rg_member_event_free(app->event);
	app->event = NULL;
	rg__strategy_free(&app->strategy);
	rg_conf_free(app->conf);
	app->conf = NULL;
	rg__topics_free(&app->topics);
	rg__arena_clear(&app->metadata_arena);
	rg__arena_clear(&app->assignment_arena);
	app->metadata_id = 0;
	app->owned = app->positioned = 0;
	app->joined = app->leaving = app->restart = app->leads = app->knows_plan = app->asked = false;
	app->is_static = app->born_static;
	app->instance = app->number;
	app->fenced_until_us = app->seat_taken_us = 0;
	app->doing = APP_IDLE;
	app->busy_until_us = app->gap_until_us = app->slow_listener_us = app->slow_assignor_us = 0;
	rg__sim_cancel(&app->sim->world, &app->act);
	rg__sim_cancel(&app->sim->world, &app->tick);
}

void app_kill(struct app *app, bool machine_too)
{
	struct rg__sim_connection *connection = app->host.connections;

	if (!app->member)
		return;
	for (; connection && machine_too; connection = rg__sim_connection_next(connection))
		rg__sim_stall(connection, true, true, INT64_MAX);
	end_process(app);
}

void app_free(struct app *app)
{
	if (app->member)
		end_process(app);
	rg__sim_event_free(&app->sim->world, &app->act);
	rg__sim_event_free(&app->sim->world, &app->tick);
	rg__sim_host_free(&app->host);
}

void app_leave(struct app *app, int timeout_ms)
{
	if (!app->member || !app->joined || app->leaving || app->restart)
		return;
	/* Whatever callback it is in comes to its end first: leaving is called from outside of them. */
	if (app->event && app->event->type != RG_MEMBER_LEFT) {
		rg_member_event_free(app->event);
		app->event = NULL;
		app->doing = APP_IDLE;
		app->busy_until_us = 0;
		rg__sim_cancel(&app->sim->world, &app->act);
	}
	app_forget_plan(app);
	app_commit(app, app->owned);
	let_go(app, app->owned);
	app->prepared = false;
	app->leaving = true;
	app->id_is_over = true;
	app->leads = false;
	app->gap_until_us = 0;
	app->leave_by_us = now_us(app) + timeout_ms * INT64_C(1000);
	if (rg_member_leave(app->member, RG_LEAVE_DEFAULT, "leaving", timeout_ms))
		sim_broken(app->sim, "process %d cannot leave", app->number);
}

void app_subscribe(struct app *app, unsigned topic_mask)
{
	if (!app->member || app->restart)
		return;
	if (!app->joined && !app->leaving) {
		take_topics(app, topic_mask);
		join(app);
		return;
	}
	/* Not in the middle of a callback, whose strings are those of the old subscription. */
	if (!app->joined || app->leaving || app->event || app->topic_mask == topic_mask)
		return;
	take_topics(app, topic_mask);
	rg_member_rejoin(app->member, "subscription changed");
}

void app_rejoin(struct app *app)
{
	if (app->member && app->joined && !app->leaving)
		rg_member_rejoin(app->member, "because");
}
