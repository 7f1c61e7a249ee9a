/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold in every run. */
#include "base/alloc.h"
#include "codec/api.h"
#include "codec/offset_commit.h"
#include "codec/sync_group.h"
#include "group/internal.h"
#include "member/internal.h"
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { IN_FLIGHT_MAX = 256, REQUESTS_PER_SECOND_MAX = 80, WATCH_US = 250000 };

void sim_broken(struct sim *sim, const char *format, ...)
{
	va_list args;

	if (sim->broken[0])
		return;
	va_start(args, format);
	vsnprintf(sim->broken, sizeof(sim->broken), format, args);
	va_end(args);
}

static uint64_t hash(struct rg__bytes bytes)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes.len; i++)
		h = (h ^ bytes.data[i]) * UINT64_C(0x100000001b3);
	return h;
}

static const struct rg__machine *machine_of(const struct app *app)
{
	return app->member->machine;
}

/* --- Prepare, complete ------------------------------------------------------------------------------------------------- */

void check_prepare(struct app *app)
{
	if (app->prepared)
		sim_broken(app->sim, "process %d: prepare twice without complete", app->number);
	app->prepared = true;
	app->prepares++;
}

/* What it is told must be what the leader of that generation planned for it. A static member may come into the share of its
 * former self. */
static bool was_planned(struct app *app, const rg_member_event *event)
{
	uint64_t bytes = hash((struct rg__bytes){event->assignment.data, event->assignment.len});
	uint64_t member = hash(rg__bytes_of(event->member_id));

	for (const struct planned *plan = app->sim->plans; plan; plan = plan->next)
		if (plan->generation == event->generation && plan->bytes == bytes && (app->is_static || plan->member == member)) {
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
 * request's timeout; or the coordinator has forgotten the group since, and everybody learns at his next heartbeat. */
static bool cannot_know(const struct app *app)
{
	return machine_of(app)->membership == RG__JOINING || machine_of(app)->membership == RG__SYNCING ||
	       (app->sim->state_lost_us && app->planned_us <= app->sim->state_lost_us);
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
		plan->member = hash(shares[i].member_id);
		plan->bytes = hash(shares[i].assignment);
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

static void applied(void *user, int host, const struct rg__kit_request *request, const void *answer)
{
	if (answer && request->api == RG__API_SYNC_GROUP)
		note_plan(user, request->body, answer);
	else if (answer && request->api == RG__API_OFFSET_COMMIT)
		note_commits(user, host, request->body, answer);
}

static void coordinator_event(void *user, const struct rg__kit_event *event)
{
	struct sim *sim = user;
	struct rg__event_line line = {0};
	const char *text;

	if (!sim->events)
		return;
	text = rg__kit_event_line(event, sim->world.now_us, &line);
	if (text)
		fprintf(sim->events, "%s\n", text);
	rg__event_free(&line);
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

/* --- On the wire ------------------------------------------------------------------------------------------------------------- */

struct wire {
	struct wire *prev, *next;
	int host;
	int16_t in_flight[IN_FLIGHT_MAX]; /* APIs, in the order of their answers */
	unsigned first, count;
	uint8_t length[4];
	unsigned have; /* of it */
	uint32_t left; /* of the answer */
};

static void wire_opened(void *user, struct rg__sim_connection *connection)
{
	struct sim *sim = user;
	struct wire *wire = rg__calloc(1, sizeof(*wire));

	if (!wire) {
		sim_broken(sim, "out of memory");
		return;
	}
	wire->host = rg__sim_connection_host(connection);
	*rg__sim_tap_slot(connection) = wire;
	DL_APPEND(sim->wires, wire);
}

static void wire_closed(void *user, struct rg__sim_connection *connection)
{
	struct sim *sim = user;
	struct wire *wire = *rg__sim_tap_slot(connection);

	if (!wire)
		return;
	*rg__sim_tap_slot(connection) = NULL;
	DL_DELETE(sim->wires, wire);
	rg__free(wire);
}

static bool waits_for(const struct wire *wire, int16_t api)
{
	for (unsigned i = 0; i < wire->count; i++)
		if (wire->in_flight[(wire->first + i) % IN_FLIGHT_MAX] == api)
			return true;
	return false;
}

static void sent(struct sim *sim, struct wire *wire, const uint8_t *data, size_t len)
{
	int16_t api = -1;
	const struct wire *other;

	if (len >= 6)
		api = (int16_t)((unsigned)data[4] << 8 | data[5]);
	sim->requests++;
	sim->requests_in_window[wire->host]++;
	if (api == RG__API_JOIN_GROUP) {
		sim->joins++;
		DL_FOREACH(sim->wires, other)
			if (other->host == wire->host && waits_for(other, RG__API_JOIN_GROUP))
				sim_broken(sim, "process %d: two JoinGroups outstanding", wire->host);
	}
	if (wire->count == IN_FLIGHT_MAX)
		sim_broken(sim, "process %d: hundreds of requests in flight", wire->host);
	else
		wire->in_flight[(wire->first + wire->count++) % IN_FLIGHT_MAX] = api;
}

static void wire_bytes(void *user, struct rg__sim_connection *connection, bool is_sent, const uint8_t *data, size_t len)
{
	struct wire *wire = *rg__sim_tap_slot(connection);

	if (!wire)
		return;
	if (is_sent) {
		sent(user, wire, data, len);
		return;
	}
	while (len) {
		if (wire->have < 4) {
			wire->length[wire->have++] = *data++;
			len--;
			wire->left = (uint32_t)wire->length[0] << 24 | (uint32_t)wire->length[1] << 16 |
			             (uint32_t)wire->length[2] << 8 | wire->length[3];
			continue;
		}
		size_t some = len < wire->left ? len : wire->left;

		data += some;
		len -= some;
		wire->left -= (uint32_t)some;
		if (wire->left)
			continue;
		wire->have = 0;
		if (wire->count) {
			wire->first = (wire->first + 1) % IN_FLIGHT_MAX;
			wire->count--;
		}
	}
}

/* --- As time passes -------------------------------------------------------------------------------------------------------- */

/* A member that is Stable and has its coordinator beats in time; a heartbeat that failed may wait as long as backoff does. */
static void check_heartbeat(struct app *app)
{
	const struct rg__machine *machine = machine_of(app);
	int64_t allowed_us = machine->heartbeat_interval_us, now_us = app->sim->world.now_us;

	if (allowed_us < 1200000)
		allowed_us = 1200000;
	if ((machine->membership != RG__STABLE && machine->membership != RG__ASSIGNING) ||
	    machine->coordinator != RG__COORDINATOR_KNOWN || machine->heartbeat)
		return;
	if (machine->heartbeat_at < now_us - machine->heartbeat_interval_us / 2 || machine->heartbeat_at > now_us + allowed_us)
		sim_broken(app->sim, "process %d: %s, and its next heartbeat is planned in %lld ms", app->number,
		           rg_member_state(app->member), (long long)(machine->heartbeat_at - now_us) / 1000);
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
	}
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
	rg__sim_at(&sim->world, &sim->watch, sim->world.now_us + WATCH_US);
}

bool check_init(struct sim *sim)
{
	sim->net.tap = (struct rg__sim_tap){wire_opened, wire_bytes, wire_closed, sim};
	sim->cluster.observer = (struct rg__sim_observer){applied, coordinator_event, sim};
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
	while (sim->wires) {
		struct wire *wire = sim->wires;

		DL_DELETE(sim->wires, wire);
		rg__free(wire);
	}
	rg__sim_event_free(&sim->world, &sim->watch);
}

/* --- At the end -------------------------------------------------------------------------------------------------------------- */

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

/* Who subscribes to the same gets the same, give or take one: of all partitions, or of each topic with range. */
static bool balanced(struct sim *sim, char *why, size_t size)
{
	bool by_topic = strncmp(sim->settings.strategy, "range", 5) == 0;

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
	if (!members_settled(sim, why, size) || !partitions_settled(sim, why, size))
		return false;
	if (strncmp(sim->settings.strategy, "roundrobin", 10) == 0 && !same_subscriptions(sim))
		return true;
	return balanced(sim, why, size);
}
