/* SPDX-License-Identifier: Apache-2.0 */
/* What the wire shows: each request and answer of each connection, from the outside. */
#include "base/alloc.h"
#include "codec/api.h"
#include "group/internal.h"
#include "probe.h"
#include "sim.h"

#include <utlist.h>

enum { IN_FLIGHT_MAX = 256 };

struct wire {
	struct wire *prev, *next;
	int host;
	struct flying {
		int16_t api, version;
		int32_t generation; /* of the member when it was sent */
	} in_flight[IN_FLIGHT_MAX]; /* in the order of their answers */
	unsigned first, count;
	uint8_t length[4];
	unsigned have; /* of it */
	uint32_t left; /* of the answer */
	uint8_t head[16];   /* what it begins with */
	unsigned head_len;
	unsigned elsewhere; /* how often in a row it has been said here that another broker coordinates the group */
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
		if (wire->in_flight[(wire->first + i) % IN_FLIGHT_MAX].api == api)
			return true;
	return false;
}

/* Where the error number of an answer is, behind the correlation id: version 1 or 2 put the throttle time before it, flexible
 * ones a tag section into the header. */
static const struct {
	int16_t api, throttle_since, flexible_since;
} forms[] = {{RG__API_JOIN_GROUP, 2, 6}, {RG__API_SYNC_GROUP, 1, 4}, {RG__API_HEARTBEAT, 1, 4}};

static int form_of(int16_t api)
{
	for (int i = 0; i < 3; i++)
		if (forms[i].api == api)
			return i;
	return -1;
}

/* A heartbeat's 22 that the member is waiting for: it must not go on as if it had not heard it. */
static void heard_22(struct sim *sim, const struct wire *wire, const struct flying *request)
{
	struct app *app = &sim->apps[wire->host];
	const struct rg__machine *machine = app->member ? probe_machine(app->member) : NULL;
	int beats = 0;

	for (unsigned i = 0; i < wire->count; i++)
		beats += wire->in_flight[(wire->first + i) % IN_FLIGHT_MAX].api == RG__API_HEARTBEAT;
	if (machine && beats == 1 && machine->heartbeat && machine->membership == RG__STABLE &&
	    machine->generation == request->generation && !sim->garbage)
		app->heard_22 = request->generation;
}

static void answered(struct sim *sim, struct wire *wire, const struct flying *request)
{
	int form = form_of(request->api);
	unsigned at = 4;

	if (form < 0)
		return;
	at += (request->version >= forms[form].flexible_since) + 4u * (request->version >= forms[form].throttle_since);
	if (at + 2 > wire->head_len)
		return;
	if (request->api == RG__API_HEARTBEAT && !wire->head[at] && wire->head[at + 1] == 22)
		heard_22(sim, wire, request);
	if (!wire->head[at] && (wire->head[at + 1] == 15 || wire->head[at + 1] == 16))
		wire->elsewhere++;
	else
		wire->elsewhere = 0;
}

static void check_sent(struct sim *sim, const struct wire *wire, int16_t api)
{
	const struct app *app = &sim->apps[wire->host];

	if (api == RG__API_FIND_COORDINATOR)
		sim->finds_in_window[wire->host]++;
	if (form_of(api) < 0 || !app->member)
		return;
	/* One answer may be to a heartbeat that is of no interest any more. */
	if (wire->elsewhere >= 2 && !sim->garbage)
		sim_broken(sim, "process %d asks a broker that has said twice that it does not coordinate the group", wire->host);
	if (probe_machine(app->member)->membership == RG__FAILED)
		sim_broken(sim, "process %d has ended by an error and goes on", wire->host);
}

static void sent(struct sim *sim, struct wire *wire, const uint8_t *data, size_t len)
{
	int16_t api = -1, version = -1;
	int32_t generation = sim->apps[wire->host].member ? probe_machine(sim->apps[wire->host].member)->generation : -1;
	const struct wire *other;

	if (len >= 8) {
		api = (int16_t)((unsigned)data[4] << 8 | data[5]);
		version = (int16_t)((unsigned)data[6] << 8 | data[7]);
	}
	check_sent(sim, wire, api);
	if (api == RG__API_HEARTBEAT)
		sim->apps[wire->host].beat_us = sim->world.now_us;
	sim->requests++;
	sim->requests_in_window[wire->host]++;
	if (api == RG__API_JOIN_GROUP) {
		const struct app *app = &sim->apps[wire->host];

		sim->joins++;
		if (app->member && (app->doing == APP_PREPARING || app->doing == APP_LOSING ||
		                    probe_owes(app->member, RG_MEMBER_PREPARE) || probe_owes(app->member, RG_MEMBER_LOST)))
			sim_broken(sim, "process %d joins before its application is done with what comes before", wire->host);
		DL_FOREACH(sim->wires, other)
			if (other->host == wire->host && waits_for(other, RG__API_JOIN_GROUP))
				sim_broken(sim, "process %d: two JoinGroups outstanding", wire->host);
	}
	if (wire->count == IN_FLIGHT_MAX)
		sim_broken(sim, "process %d: hundreds of requests in flight", wire->host);
	else
		wire->in_flight[(wire->first + wire->count++) % IN_FLIGHT_MAX] = (struct flying){api, version, generation};
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
			wire->head_len = 0;
			continue;
		}
		size_t some = len < wire->left ? len : wire->left;

		for (size_t i = 0; i < some && wire->head_len < sizeof(wire->head); i++)
			wire->head[wire->head_len++] = data[i];
		data += some;
		len -= some;
		wire->left -= (uint32_t)some;
		if (wire->left)
			continue;
		wire->have = 0;
		if (wire->count) {
			answered(user, wire, &wire->in_flight[wire->first]);
			wire->first = (wire->first + 1) % IN_FLIGHT_MAX;
			wire->count--;
		}
	}
}

void wire_tap(struct sim *sim)
{
	sim->net.tap = (struct rg__sim_tap){wire_opened, wire_bytes, wire_closed, sim};
}

void wire_forget(struct sim *sim)
{
	while (sim->wires) {
		struct wire *wire = sim->wires;

		DL_DELETE(sim->wires, wire);
		rg__free(wire);
	}
}
