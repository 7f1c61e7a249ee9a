/* SPDX-License-Identifier: Apache-2.0 */
/* What the wire shows: each request and answer of each connection, from the outside. */
#include "base/alloc.h"
#include "codec/api.h"
#include "probe.h"
#include "sim.h"

#include <utlist.h>

enum { IN_FLIGHT_MAX = 256 };

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
