/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold in every run. */
#include "base/alloc.h"
#include "codec/api.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/offset_commit.h"
#include "codec/sync_group.h"
#include "group/internal.h"
#include "member/member.h"
#include "probe.h"
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_PER_SECOND_MAX = 80, WATCH_US = 250000 };
/* In ten seconds. With pauses that double from 0.1 s to 1 s, give or take a fifth, sixteen look-ups fail; one that succeeds for
 * a second lets the next begin at once. A pause that does not grow makes eighty. */
enum { FINDS_MAX = 30 };

void sim_broken(struct sim *sim, const char *format, ...)
{
	va_list args;

	if (sim->broken[0])
		return;
	va_start(args, format);
	vsnprintf(sim->broken, sizeof(sim->broken), format, args);
	va_end(args);
}

static const struct rg__machine *machine_of(const struct app *app)
{
	return probe_machine(app->member);
}

/* --- Prepare, complete ------------------------------------------------------------------------------------------------- */

void check_prepare(struct app *app)
{
	if (app->prepared)
		sim_broken(app->sim, "process %d: prepare twice without complete", app->number);
	/* What it gives up here it would commit, and call its own until then. */
	if (app->owned && app->heard_22 >= 0 && app->heard_22 == app->generation)
		sim_broken(app->sim, "process %d has heard that generation %d is over, and prepares as if it were not", app->number,
		           (int)app->generation);
	app->prepared = true;
	app->prepares++;
}

/* What it is told must be what the leader of that generation planned for it. A static member may come into the share of its
 * former self. */
static bool was_planned(struct app *app, const rg_member_event *event)
{
	uint64_t bytes = check_hash((struct rg__bytes){event->assignment.data, event->assignment.len});
	uint64_t member = check_hash(rg__bytes_of(event->member_id));

	for (int formerly = 0; formerly <= app->is_static; formerly++)
		for (const struct planned *plan = app->sim->plans; plan; plan = plan->next)
			if (plan->generation == event->generation && plan->bytes == bytes && (formerly || plan->member == member)) {
				app->planned_us = plan->at_us;
				return true;
			}
	return false;
}

void check_complete(struct app *app, const rg_member_event *event)
{
	if (!app->prepared)
		sim_broken(app->sim, "process %d: complete without prepare", app->number);
	app->prepared = false;
	if (!was_planned(app, event))
		sim_broken(app->sim, "process %d: got what nobody planned for generation %d", app->number, (int)event->generation);
}

/* --- One owner ----------------------------------------------------------------------------------------------------------- */

/* Owned as far as the member says: what is lost counts as lost from the moment the member knows, not from when its
 * application looks. */
static uint64_t owns(const struct app *app)
{
	return app->member && machine_of(app)->owns ? app->owned : 0;
}

/* Where no client can know better: its JoinGroup or SyncGroup is out, and that the answer got lost it learns only by the
 * request's timeout; or the coordinator has forgotten the group since, or given its seat to a twin, and everybody learns at his
 * next heartbeat. */
static bool cannot_know(const struct app *app)
{
	return machine_of(app)->membership == RG__JOINING || machine_of(app)->membership == RG__SYNCING ||
	       (app->sim->state_lost_us && app->planned_us <= app->sim->state_lost_us) || check_lost_seat(app);
}

void check_owns(struct app *app, uint64_t added)
{
	if (!machine_of(app)->owns)
		return;
	for (int i = 0; i < app->sim->app_count; i++) {
		const struct app *other = &app->sim->apps[i];
		uint64_t both = added & owns(other);

		if (other == app || !both)
			continue;
		if (cannot_know(other) || cannot_know(app)) {
			app->sim->grey++;
			continue;
		}
		sim_broken(app->sim, "two owners: process %d (generation %d) gets t%d-%d, which process %d (generation %d, %s) has",
		           app->number, (int)app->generation, __builtin_ctzll(both) / PARTITIONS_MAX,
		           __builtin_ctzll(both) % PARTITIONS_MAX, other->number, (int)other->generation,
		           rg_member_state(other->member));
	}
}

/* --- At the coordinator ---------------------------------------------------------------------------------------------------- */

static void note_plan(struct sim *sim, const struct rg__sync_group_request *sync, const struct rg__sync_group_response *answer)
{
	const struct rg__sync_group_request_assignment *shares = sync->assignments.items;

	if (answer->error_code)
		return;
	for (int32_t i = 0; i < sync->assignments.count; i++) {
		struct planned *plan = rg__calloc(1, sizeof(*plan));

		if (!plan) {
			sim_broken(sim, "out of memory");
			return;
		}
		plan->at_us = sim->world.now_us;
		plan->generation = sync->generation_id;
		plan->member = check_hash(shares[i].member_id);
		plan->bytes = check_hash(shares[i].assignment);
		plan->next = sim->plans;
		sim->plans = plan;
	}
}

static void note_commit(struct sim *sim, int host, struct rg__bytes name, int32_t partition, int64_t offset)
{
	int place = (name.data[1] - '0') * PARTITIONS_MAX + partition;

	if (partition < 0 || partition >= PARTITIONS_MAX)
		return;
	if (offset < sim->committed[place])
		sim_broken(sim, "process %d commits offset %lld of t%d-%d, which was at %lld", host, (long long)offset,
		           place / PARTITIONS_MAX, (int)partition, (long long)sim->committed[place]);
	sim->committed[place] = offset;
	for (int i = 0; i < sim->app_count; i++) {
		const struct app *other = &sim->apps[i];

		if (i != host && (owns(other) & (UINT64_C(1) << place)) && !cannot_know(other))
			sim_broken(sim, "process %d commits t%d-%d, which process %d owns", host, place / PARTITIONS_MAX, (int)partition, i);
	}
}

static void note_commits(struct sim *sim, int host, const struct rg__offset_commit_request *commit,
                         const struct rg__offset_commit_response *answer)
{
	for (int32_t t = 0; t < commit->topics.count && t < answer->topics.count; t++) {
		const struct rg__offset_commit_request_topic *asked = &RG__ITEMS(struct rg__offset_commit_request_topic, commit->topics)[t];
		const struct rg__offset_commit_response_topic *told = &RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)[t];
		const struct rg__offset_commit_request_topic_partition *from = asked->partitions.items;
		const struct rg__offset_commit_response_topic_partition *to = told->partitions.items;

		for (int32_t p = 0; p < asked->partitions.count; p++)
			if (!to[p].error_code)
				note_commit(sim, host, asked->name, from[p].partition_index, from[p].committed_offset);
	}
}

/* The member id a request is made with; false: it has none. */
static bool id_of(const struct rg__kit_request *request, struct rg__bytes *ret_id)
{
	switch (request->api) {
	case RG__API_JOIN_GROUP:
		*ret_id = ((const struct rg__join_group_request *)request->body)->member_id;
		return true;
	case RG__API_SYNC_GROUP:
		*ret_id = ((const struct rg__sync_group_request *)request->body)->member_id;
		return true;
	case RG__API_HEARTBEAT:
		*ret_id = ((const struct rg__heartbeat_request *)request->body)->member_id;
		return true;
	default:
		return false;
	}
}

static int16_t error_of(const struct rg__kit_request *request, const void *answer)
{
	switch (request->api) {
	case RG__API_JOIN_GROUP:
		return ((const struct rg__join_group_response *)answer)->error_code;
	case RG__API_SYNC_GROUP:
		return ((const struct rg__sync_group_response *)answer)->error_code;
	case RG__API_HEARTBEAT:
		return ((const struct rg__heartbeat_response *)answer)->error_code;
	default:
		return 0;
	}
}

/* A member keeps its id until it is told that it is of no use any more, or gives the seat up itself. Static ones also drop it
 * when their session is over. */
static void check_id(struct sim *sim, struct app *app, const struct rg__kit_request *request)
{
	struct rg__bytes id;

	if (!id_of(request, &id))
		return;
	if (request->api == RG__API_JOIN_GROUP && app->known_id && check_hash(id) != app->known_id && !app->id_is_over &&
	    !app->is_static && !sim->garbage)
		sim_broken(sim, "process %d joins with another member id, and nobody told it that its own is over", app->number);
	app->known_id = id.len ? check_hash(id) : 0;
	if (request->api == RG__API_JOIN_GROUP)
		app->id_is_over = false;
}

static int32_t generation_of(const struct rg__kit_request *request)
{
	switch (request->api) {
	case RG__API_SYNC_GROUP:
		return ((const struct rg__sync_group_request *)request->body)->generation_id;
	case RG__API_HEARTBEAT:
		return ((const struct rg__heartbeat_request *)request->body)->generation_id;
	case RG__API_OFFSET_COMMIT:
		return ((const struct rg__offset_commit_request *)request->body)->generation_id_or_member_epoch;
	default:
		return INT32_MAX; /* JoinGroup: of whatever it has */
	}
}

static void note_told(struct app *app, const struct rg__kit_request *request, int16_t error)
{
	if (error == 25 || error == 69 || error == 79 || error == 82)
		app->id_is_over = true;
	if (error == 22)
		app->told_22 = generation_of(request);
}

static void note_answer(struct sim *sim, int host, const struct rg__kit_request *request, const void *answer)
{
	struct app *app = host >= 0 ? &sim->apps[host] : NULL;

	if (!app || !app->member)
		return;
	check_id(sim, app, request);
	check_seat(sim, app, request, answer);
	if (request->api == RG__API_LEAVE_GROUP && app->is_static)
		sim_broken(sim, "process %d is static and gives its seat up", host);
	if (answer && request->api == RG__API_OFFSET_COMMIT) {
		const struct rg__offset_commit_response *body = answer;
		const struct rg__offset_commit_response_topic *topic = body->topics.items;

		if (body->topics.count > 0 && topic->partitions.count > 0)
			note_told(app, request, RG__ITEMS(struct rg__offset_commit_response_topic_partition, topic->partitions)[0].error_code);
	} else if (answer) {
		note_told(app, request, error_of(request, answer));
	}
}

static void applied(void *user, int host, const struct rg__kit_request *request, const void *answer)
{
	check_coordinator_answer(user, request, answer);
	foreign_answered(user, request, answer);
	note_answer(user, host, request, answer);
	if (answer && request->api == RG__API_SYNC_GROUP)
		note_plan(user, request->body, answer);
	else if (answer && request->api == RG__API_OFFSET_COMMIT)
		note_commits(user, host, request->body, answer);
}

void check_state_lost(struct sim *sim)
{
	sim->state_lost_us = sim->world.now_us;
	memset(sim->committed, 0, sizeof(sim->committed));
}

void check_topic_gone(struct sim *sim, int topic)
{
	(void)sim;
	(void)topic; /* its offsets stay with the group, as on brokers */
}

/* --- As time passes -------------------------------------------------------------------------------------------------------- */

/* A member that has a generation and its coordinator beats in time; a heartbeat that failed may wait as long as backoff does. */
static void check_heartbeat(struct app *app)
{
	const struct rg__machine *machine = machine_of(app);
	int64_t allowed_us = machine->heartbeat_interval_us, now_us = app->sim->world.now_us;

	if (allowed_us < 1200000)
		allowed_us = 1200000;
	if ((machine->membership != RG__STABLE && machine->membership != RG__ASSIGNING && machine->membership != RG__SYNCING) ||
	    machine->coordinator != RG__COORDINATOR_KNOWN || machine->heartbeat)
		return;
	if (machine->heartbeat_at < now_us - machine->heartbeat_interval_us / 2 || machine->heartbeat_at > now_us + allowed_us)
		sim_broken(app->sim, "process %d: %s, and its next heartbeat is planned in %lld ms", app->number,
		           rg_member_state(app->member), (long long)(machine->heartbeat_at - now_us) / 1000);
}

/* The same by what is on the wire, which knows nothing of what a member has planned. A time to be silent may have been
 * among garbage. */
void check_beats(struct sim *sim)
{
	for (int i = 0; i < sim->app_count; i++) {
		struct app *app = &sim->apps[i];
		int64_t silent_us;

		if (app->member && probe_throttled(app->member, sim->world.now_us))
			app->beat_us = sim->world.now_us;
		silent_us = sim->world.now_us - app->beat_us;
		if (app->member && app->joined && silent_us > sim->settings.heartbeat_ms * INT64_C(1500))
			sim_broken(sim, "process %d has sent no heartbeat for %lld ms, and its interval is %d ms", i,
			           (long long)silent_us / 1000, sim->settings.heartbeat_ms);
	}
}

/* KIP-62: who does not poll is out, a little later at the latest. */
static void check_poll(struct app *app)
{
	const struct rg__machine *machine = machine_of(app);
	int64_t silent_us = app->sim->world.now_us - app->polled_us;

	if (silent_us > app->sim->settings.max_poll_ms * INT64_C(1000) + 500000 && app->joined && !app->leaving &&
	    machine->membership != RG__UNJOINED && machine->membership != RG__LEAVING && machine->membership != RG__FAILED)
		sim_broken(app->sim, "process %d has not polled for %lld ms and is %s", app->number, (long long)silent_us / 1000,
		           rg_member_state(app->member));
}

void check_lost(struct app *app, rg_cause cause)
{
	app->heard_22 = -1;
	if (cause == RG_CAUSE_NONE || (cause == RG_CAUSE_FATAL && !app->sim->garbage))
		sim_broken(app->sim, "process %d: lost, and nothing that costs the ownership has happened", app->number);
	if (cause == RG_CAUSE_ILLEGAL_GENERATION && (app->told_22 < 0 || app->told_22 < app->generation) && !app->sim->garbage)
		sim_broken(app->sim, "process %d: lost by a wrong generation that nobody told it of", app->number);
}

/* What goes by itself is not the application's affair; and it is over only when a broker said so. */
void check_error(struct app *app, rg_err err, bool fatal)
{
	static const rg_err silent[] = {14, 15, 16, 22, 25, 27, 79, RG_ERR_TRANSPORT, RG_ERR_TIMED_OUT};

	if (app->sim->garbage)
		return;
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (err == silent[i])
			sim_broken(app->sim, "process %d: its user hears of %s", app->number, rg_err_name(err));
	if (fatal && err == 82)
		check_fenced(app);
	else if (fatal)
		sim_broken(app->sim, "process %d: ended by %s", app->number, rg_err_name(err));
}

void check_leads(struct app *app)
{
	for (size_t i = 0; i < app->event->member_count; i++)
		if (strcmp(app->event->members[i].member_id, app->event->member_id) == 0)
			return;
	sim_broken(app->sim, "process %d leads a group that it is not in", app->number);
}

void check_home(struct sim *sim)
{
	struct rg__buf text = {0};

	if (!rg__kit_coordinator_print(sim->cluster.coordinator, rg__bytes_of("g"), &text) || !rg__buf_append(&text, "", 1))
		sim_broken(sim, "out of memory");
	else if (strstr((const char *)text.data, "regroup-"))
		sim_broken(sim, "everybody has left, and the coordinator still has %s", (const char *)text.data);
	rg__buf_free(&text);
}

static void check_leaving(struct app *app)
{
	if (app->leaving && app->sim->world.now_us > app->leave_by_us + 200000)
		sim_broken(app->sim, "process %d does not get out in time (%s)", app->number, rg_member_state(app->member));
}

void check_left(struct app *app)
{
	if (!app->leaving)
		sim_broken(app->sim, "process %d: left without having been asked to", app->number);
}

static void watch(void *user)
{
	struct sim *sim = user;

	for (int i = 0; i < sim->app_count; i++) {
		const char *check;

		if (!sim->apps[i].member)
			continue;
		check = rg__machine_check(machine_of(&sim->apps[i]));
		if (check)
			sim_broken(sim, "process %d: not so: %s", i, check);
		check_heartbeat(&sim->apps[i]);
		check_leaving(&sim->apps[i]);
		check_poll(&sim->apps[i]);
		check_twins(&sim->apps[i]);
	}
	check_coordinator(sim);
	foreign_time(sim);
	if (sim->world.now_us - sim->window_us >= 1000000) {
		for (int i = 0; i < sim->app_count; i++) {
			if (sim->requests_in_window[i] > sim->most_requests_per_second)
				sim->most_requests_per_second = sim->requests_in_window[i];
			if (sim->requests_in_window[i] > REQUESTS_PER_SECOND_MAX)
				sim_broken(sim, "process %d sent %ld requests in a second", i, sim->requests_in_window[i]);
			sim->requests_in_window[i] = 0;
		}
		sim->window_us = sim->world.now_us;
	}
	if (sim->world.now_us - sim->finds_window_us >= 10000000) {
		for (int i = 0; i < sim->app_count; i++) {
			if (sim->finds_in_window[i] > sim->most_finds)
				sim->most_finds = sim->finds_in_window[i];
			if (sim->finds_in_window[i] > FINDS_MAX)
				sim_broken(sim, "process %d looked %ld times for the coordinator in ten seconds", i, sim->finds_in_window[i]);
			sim->finds_in_window[i] = 0;
		}
		sim->finds_window_us = sim->world.now_us;
	}
	rg__sim_at(&sim->world, &sim->watch, sim->world.now_us + WATCH_US);
}

bool check_init(struct sim *sim)
{
	wire_tap(sim);
	sim->cluster.observer = (struct rg__sim_observer){applied, check_coordinator_event, sim};
	if (!rg__sim_event_init(&sim->world, &sim->watch, watch, sim))
		return false;
	rg__sim_at(&sim->world, &sim->watch, sim->world.now_us + WATCH_US);
	return true;
}

void check_free(struct sim *sim)
{
	while (sim->plans) {
		struct planned *plan = sim->plans;

		sim->plans = plan->next;
		rg__free(plan);
	}
	wire_forget(sim);
	rg__sim_event_free(&sim->world, &sim->watch);
}
