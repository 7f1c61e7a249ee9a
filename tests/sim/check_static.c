/* SPDX-License-Identifier: Apache-2.0 */
/* KIP-345 as its users live it: of two processes with one group.instance.id the later one has the seat, and the other ends. */
#include "codec/api.h"
#include "codec/join_group.h"
#include "group/internal.h"
#include "probe.h"
#include "sim.h"

enum { SLACK_US = 5000000 }; /* a coordinator that is loading welcomes every heartbeat */

/* broker: whoever joins with an instance id and without a member id gets the seat. */
void check_seat(struct sim *sim, struct app *app, const struct rg__kit_request *request, const void *answer)
{
	if (request->api != RG__API_JOIN_GROUP || !app->is_static)
		return;
	if (((const struct rg__join_group_request *)request->body)->member_id.len ||
	    (answer && ((const struct rg__join_group_response *)answer)->error_code))
		return;
	sim->seats[app->instance] = app;
	app->seated_us = sim->world.now_us;
	app->seat_taken_us = 0;
	for (int i = 0; i < sim->app_count; i++) {
		struct app *other = &sim->apps[i];

		if (other != app && other->member && other->is_static && other->instance == app->instance && !other->seat_taken_us)
			other->seat_taken_us = sim->world.now_us;
	}
}

bool check_lost_seat(const struct app *app)
{
	return app->seat_taken_us != 0;
}

/* Nobody is fenced by itself, or by one whose seat it took: with that it would go to and fro between the two.
 * broker: who got its seat in the middle of a rebalance is not written down, so after a move its former self has it. */
void check_fenced(struct app *app)
{
	app->sim->fences++;
	if (app->sim->fenced_by_fault)
		return;
	if (!app->is_static)
		sim_broken(app->sim, "process %d is fenced and has no group.instance.id", app->number);
	else if (app->sim->seats[app->instance] == app && app->sim->moved_us < app->seated_us)
		sim_broken(app->sim, "process %d is fenced, and it was the last to join with its group.instance.id", app->number);
}

/* One error, and silence: nothing that was on its way wakes it again. Who was leaving already still hears that it has left. */
void check_after_end(struct app *app)
{
	rg_member_event *event = rg_member_next(app->member);

	if (event && !app->leaving)
		sim_broken(app->sim, "process %d was fenced for good, and is told something of type %d", app->number, (int)event->type);
	rg_member_event_free(event);
}

/* The older twin learns it by its next heartbeat, or by its session, which nobody prolongs. */
void check_twins(struct app *app)
{
	const struct rg__machine *machine = probe_machine(app->member);
	int64_t allowed_us = app->sim->settings.session_ms * INT64_C(4000) / 3 + SLACK_US;

	if (!app->seat_taken_us || !app->owned || machine->membership == RG__JOINING || machine->membership == RG__SYNCING)
		return;
	if (machine->owns && app->sim->world.now_us - app->seat_taken_us > allowed_us)
		sim_broken(app->sim, "process %d keeps its partitions, and its twin has its seat since %lld ms", app->number,
		           (long long)(app->sim->world.now_us - app->seat_taken_us) / 1000);
}
