/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/sim_cluster.h"

#include "base/hash.h"
#include "codec/api.h"
#include "codec/frame.h"

#include <string.h>

/* A connection as the broker has it. */
struct rg__sim_served {
	UT_hash_handle hh;
	uint64_t id;
	struct rg__sim_cluster *cluster;
	struct rg__sim_connection *connection;
	int node;
	struct rg__buf in;
	bool busy, working;
	int16_t api, version;
	int32_t correlation_id;
	bool drop_after, garbage;
	int64_t late_us;
	struct rg__buf answer; /* that is late */
	struct rg__sim_event late;
};

static void work(struct rg__sim_served *served);

static void forget(struct rg__sim_served *served)
{
	HASH_DEL(served->cluster->served, served);
	*rg__sim_connection_slot(served->connection) = NULL;
	rg__sim_event_free(served->cluster->net->world, &served->late);
	rg__buf_free(&served->in);
	rg__buf_free(&served->answer);
	rg__free(served);
}

static void end(struct rg__sim_served *served)
{
	struct rg__sim_connection *connection = served->connection;

	forget(served);
	rg__sim_hang_up(connection);
}

static struct rg__sim_served *find(struct rg__sim_cluster *cluster, uint64_t id)
{
	struct rg__sim_served *served;

	HASH_FIND(hh, cluster->served, &id, sizeof(id), served);
	return served;
}

/* --- Answers --------------------------------------------------------------------------------------------------------- */

static void next_request(struct rg__sim_served *served)
{
	served->busy = false;
	if (!served->working)
		work(served);
}

static void send_late(void *user)
{
	struct rg__sim_served *served = user;

	rg__sim_send(served->connection, served->answer.data, served->answer.len);
	rg__buf_free(&served->answer);
	next_request(served);
}

/* May end the connection. */
static void answer(struct rg__sim_served *served, int version, const void *body)
{
	const struct rg__api *api = rg__api_by_key(served->api);
	struct rg__codec_error error;
	struct rg__buf out = {0};

	if (served->drop_after) {
		end(served);
		return;
	}
	if (!body || !rg__encode_response(api, version, served->correlation_id, body, &out, &error)) {
		served->cluster->failed = true;
		rg__buf_free(&out);
		end(served);
		return;
	}
	if (served->garbage)
		for (size_t i = 8; i < out.len; i++)
			out.data[i] = (uint8_t)rg__sim_draw(served->cluster->net->world, 256);
	if (served->late_us) {
		served->answer = out;
		rg__sim_at(served->cluster->net->world, &served->late, served->cluster->net->world->now_us + served->late_us);
		return;
	}
	rg__sim_send(served->connection, out.data, out.len);
	rg__buf_free(&out);
	next_request(served);
}

static void schedule(struct rg__sim_cluster *cluster)
{
	int64_t due_us = rg__kit_coordinator_deadline(cluster->coordinator);

	if (due_us == RG__KIT_NO_DEADLINE)
		rg__sim_cancel(cluster->net->world, &cluster->due);
	else
		rg__sim_at(cluster->net->world, &cluster->due, due_us);
}

static void dispatch(struct rg__sim_cluster *cluster, struct rg__kit_outcome *outcome)
{
	for (const struct rg__kit_event *event = outcome->events; event && cluster->observer.event; event = event->next)
		cluster->observer.event(cluster->observer.user, event);
	for (const struct rg__kit_answer *one = outcome->answers; one; one = one->next) {
		struct rg__sim_served *served = find(cluster, one->connection);

		if (served && served->busy && served->correlation_id == one->correlation_id)
			answer(served, one->version, one->body);
	}
	rg__kit_outcome_clear(outcome);
	schedule(cluster);
}

static void time_passed(void *user)
{
	struct rg__sim_cluster *cluster = user;
	struct rg__kit_outcome outcome = {0};

	if (!rg__kit_coordinator_step(cluster->coordinator, cluster->net->world->now_us, NULL, &outcome))
		cluster->failed = true;
	dispatch(cluster, &outcome);
}

static void give_to_coordinator(struct rg__sim_cluster *cluster, int host, const struct rg__kit_request *request)
{
	struct rg__kit_outcome outcome = {0};
	const void *body = NULL;

	if (!rg__kit_coordinator_step(cluster->coordinator, cluster->net->world->now_us, request, &outcome))
		cluster->failed = true;
	for (const struct rg__kit_answer *one = outcome.answers; one; one = one->next)
		if (one->connection == request->connection && one->correlation_id == request->correlation_id)
			body = one->body;
	if (cluster->observer.applied)
		cluster->observer.applied(cluster->observer.user, host, request, body);
	dispatch(cluster, &outcome);
}

/* --- Requests -------------------------------------------------------------------------------------------------------- */

static bool offered(const struct rg__sim_cluster *cluster, int node, int16_t api, int16_t version)
{
	return api >= 0 && api < RG__SIM_APIS && version >= cluster->first[node][api] && version <= cluster->last[node][api];
}

/* Our own lists go into the answer in place of the cluster's. */
static void *api_versions(struct rg__sim_cluster *cluster, int node, const struct rg__kit_request *request, int16_t error,
                          struct rg__arena *arena)
{
	cluster->names.version_count = 0;
	for (int16_t api = 0; api < RG__SIM_APIS; api++)
		if (cluster->last[node][api] >= 0)
			rg__kit_versions_set(&cluster->names, api, cluster->first[node][api], cluster->last[node][api]);
	return rg__kit_on_api_versions(&cluster->names, request, error, arena);
}

static bool is_groups(int16_t api)
{
	return api != RG__API_API_VERSIONS && api != RG__API_METADATA && api != RG__API_FIND_COORDINATOR;
}

static bool hit(struct rg__sim_cluster *cluster, int16_t api, int host, struct rg__sim_fault *ret_fault)
{
	for (int i = 0; i < cluster->fault_count; i++) {
		const struct rg__sim_fault *fault = &cluster->faults[i];

		if (fault->host >= 0 && fault->host != host)
			continue;
		if (fault->api >= 0 ? fault->api != api : !is_groups(api) && api != RG__API_FIND_COORDINATOR)
			continue;
		*ret_fault = *fault;
		if (fault->times > 1) {
			cluster->faults[i].times--;
			return true;
		}
		memmove(&cluster->faults[i], &cluster->faults[i + 1],
		        (size_t)(--cluster->fault_count - i) * sizeof(*cluster->faults));
		return true;
	}
	return false;
}

static void *answer_here(struct rg__sim_served *served, const struct rg__kit_request *request, int16_t error,
                         struct rg__arena *arena)
{
	struct rg__kit_cluster *names = &served->cluster->names;

	switch (request->api) {
	case RG__API_API_VERSIONS:
		return api_versions(served->cluster, served->node, request, error, arena);
	case RG__API_METADATA:
		return rg__kit_on_metadata(names, request, error, arena);
	case RG__API_FIND_COORDINATOR:
		return rg__kit_on_find_coordinator(names, request, error, arena);
	default:
		return rg__kit_error_body(request, error, arena);
	}
}

/* May end the connection. */
static void apply(struct rg__sim_served *served, const struct rg__kit_request *request, const struct rg__sim_fault *fault,
                  struct rg__arena *arena)
{
	int16_t error = fault && fault->kind == RG__SIM_ANSWER_ERROR ? fault->error : 0;

	if (!error && is_groups(request->api))
		error = rg__kit_coordinator_check(&served->cluster->names, served->node, request);
	if (error || !is_groups(request->api)) {
		struct rg__sim_observer *observer = &served->cluster->observer;
		const void *body = answer_here(served, request, error, arena);

		if (is_groups(request->api) && observer->applied && body)
			observer->applied(observer->user, rg__sim_connection_host(served->connection), request, body);
		answer(served, request->version, body);
		return;
	}
	give_to_coordinator(served->cluster, rg__sim_connection_host(served->connection), request);
}

/* Reads one request. May end the connection. */
static void take(struct rg__sim_served *served, struct rg__bytes frame)
{
	struct rg__sim_fault fault = {0};
	struct rg__request_header header;
	struct rg__codec_error error;
	struct rg__arena arena = {0};
	const struct rg__api *api;
	bool faulty;
	void *body;

	served->cluster->requests++;
	if (!rg__decode_request_header(frame, &header, &error)) {
		end(served);
		return;
	}
	served->api = header.request_api_key;
	served->version = header.request_api_version;
	served->correlation_id = header.correlation_id;
	faulty = hit(served->cluster, served->api, rg__sim_connection_host(served->connection), &fault);
	served->drop_after = faulty && fault.kind == RG__SIM_DROP_AFTER;
	served->garbage = faulty && fault.kind == RG__SIM_GARBAGE;
	served->late_us = faulty && fault.kind == RG__SIM_LATE ? fault.late_us : 0;
	api = rg__api_by_key(served->api);
	if (!api || (faulty && fault.kind == RG__SIM_DROP_BEFORE)) {
		end(served);
		return;
	}
	if (!offered(served->cluster, served->node, served->api, served->version)) {
		if (served->api == RG__API_API_VERSIONS)
			answer(served, 0, api_versions(served->cluster, served->node, NULL, 35, &arena));
		else
			end(served);
		rg__arena_clear(&arena);
		return;
	}
	body = rg__arena_calloc(&arena, 1, api->request->size);
	if (!body || !rg__decode_request(api, served->version, frame, &arena, body, &error)) {
		end(served);
	} else {
		struct rg__kit_request request = {.connection = served->id,
		                                  .correlation_id = served->correlation_id,
		                                  .api = served->api,
		                                  .version = served->version,
		                                  .client_id = header.client_id.data ? header.client_id : rg__bytes_of(""),
		                                  .body = body};

		apply(served, &request, faulty ? &fault : NULL, &arena);
	}
	rg__arena_clear(&arena);
}

/* Takes requests until one is parked, or there are no more. */
static void work(struct rg__sim_served *served)
{
	struct rg__sim_cluster *cluster = served->cluster;
	uint64_t id = served->id;

	served->working = true;
	while (served && !served->busy) {
		struct rg__codec_error error;
		struct rg__bytes frame;
		size_t used;

		if (!rg__frame_next(rg__buf_view(&served->in), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &error)) {
			end(served);
			return;
		}
		if (!frame.data)
			break;
		/* The frame must outlive what is done with it, and new bytes may arrive meanwhile: never, here; the request is
		 * over or copied when `take` returns. */
		served->busy = true;
		take(served, frame);
		served = find(cluster, id);
		if (served)
			rg__buf_consume(&served->in, used);
	}
	if (served)
		served->working = false;
}

static void accepted(void *user, struct rg__sim_connection *connection)
{
	struct rg__sim_port_user *port = user;
	struct rg__sim_cluster *cluster = port->cluster;
	struct rg__sim_served *served = rg__calloc(1, sizeof(*served));

	if (!served || !rg__sim_event_init(cluster->net->world, &served->late, send_late, served)) {
		rg__free(served);
		cluster->failed = true;
		return;
	}
	served->id = rg__sim_connection_id(connection);
	served->cluster = cluster;
	served->connection = connection;
	served->node = port->node;
	*rg__sim_connection_slot(connection) = served;
	HASH_ADD(hh, cluster->served, id, sizeof(served->id), served);
	if (!RG__HASH_ADDED(served))
		cluster->failed = true;
}

static void received(void *user, struct rg__sim_connection *connection, const uint8_t *data, size_t len)
{
	struct rg__sim_served *served = *rg__sim_connection_slot(connection);

	(void)user;
	if (!served)
		return;
	if (!rg__buf_append(&served->in, data, len))
		served->cluster->failed = true;
	else if (!served->busy && !served->working)
		work(served);
}

static void closed(void *user, struct rg__sim_connection *connection)
{
	struct rg__sim_served *served = *rg__sim_connection_slot(connection);

	(void)user;
	if (served)
		forget(served);
}

static const struct rg__sim_port_events port_events = {accepted, received, closed};

/* --- Life ------------------------------------------------------------------------------------------------------------ */

static void offer_all(struct rg__sim_cluster *cluster, int node)
{
	memset(cluster->first[node], 0xff, sizeof(cluster->first[node]));
	memset(cluster->last[node], 0xff, sizeof(cluster->last[node]));
	for (int i = 0; i < rg__api_count; i++) {
		cluster->first[node][rg__apis[i].key] = rg__apis[i].first;
		cluster->last[node][rg__apis[i].key] = rg__apis[i].last;
	}
}

void rg__sim_widen(struct rg__sim_cluster *cluster, int node)
{
	offer_all(cluster, node);
}

void rg__sim_narrow(struct rg__sim_cluster *cluster, int node, int16_t api, int16_t last)
{
	if (last >= cluster->first[node][api] && last < cluster->last[node][api])
		cluster->last[node][api] = last;
}

static bool partition_exists(void *user, struct rg__bytes topic, int32_t partition)
{
	const struct rg__sim_cluster *cluster = user;
	const struct rg__kit_topic *found = rg__kit_topic_find(&cluster->names, topic);

	return found && partition >= 0 && partition < found->partition_count;
}

bool rg__sim_cluster_init(struct rg__sim_cluster *cluster, struct rg__sim_net *net, int brokers, uint64_t seed)
{
	memset(cluster, 0, sizeof(*cluster));
	cluster->net = net;
	rg__kit_coordinator_conf_init(&cluster->conf);
	cluster->conf.seed = seed;
	cluster->conf.initial_delay_us = 0;
	cluster->conf.session_min_us = 1000000;
	cluster->conf.partition_exists = partition_exists;
	cluster->conf.user = cluster;
	cluster->coordinator = rg__kit_coordinator_new(&cluster->conf);
	if (!cluster->coordinator || !rg__sim_event_init(net->world, &cluster->due, time_passed, cluster))
		return false;
	cluster->names.broker_count = brokers;
	for (int node = 1; node <= brokers; node++) {
		struct rg__kit_broker *broker = &cluster->names.brokers[node - 1];

		*broker = (struct rg__kit_broker){.id = node, .port = 9092, .running = true};
		broker->host[0] = 'b';
		broker->host[1] = (char)('0' + node);
		offer_all(cluster, node);
		cluster->port_users[node] = (struct rg__sim_port_user){cluster, node};
		net->ports[node] = (struct rg__sim_port){&port_events, &cluster->port_users[node], RG__SIM_PORT_OPEN};
	}
	return rg__kit_coordinator_set(&cluster->names, RG__NULL_BYTES, 1);
}

void rg__sim_cluster_free(struct rg__sim_cluster *cluster)
{
	struct rg__sim_served *served, *next;

	HASH_ITER(hh, cluster->served, served, next)
		forget(served);
	rg__kit_coordinator_free(cluster->coordinator);
	rg__kit_cluster_free(&cluster->names);
	rg__sim_event_free(cluster->net->world, &cluster->due);
}

void rg__sim_fault_add(struct rg__sim_cluster *cluster, const struct rg__sim_fault *fault)
{
	if (cluster->fault_count < RG__SIM_FAULTS_MAX)
		cluster->faults[cluster->fault_count++] = *fault;
}

void rg__sim_faults_clear(struct rg__sim_cluster *cluster)
{
	cluster->fault_count = 0;
}

void rg__sim_stop(struct rg__sim_cluster *cluster, int node, bool silent)
{
	struct rg__sim_served *served, *next;

	cluster->net->ports[node].state = silent ? RG__SIM_PORT_SILENT : RG__SIM_PORT_REFUSES;
	cluster->names.brokers[node - 1].running = false;
	HASH_ITER(hh, cluster->served, served, next)
		if (served->node == node) {
			struct rg__sim_connection *connection = served->connection;

			if (silent)
				rg__sim_stall(connection, true, true, INT64_MAX);
			else
				rg__sim_break(connection);
		}
}

void rg__sim_start(struct rg__sim_cluster *cluster, int node)
{
	cluster->net->ports[node].state = RG__SIM_PORT_OPEN;
	cluster->names.brokers[node - 1].running = true;
}

void rg__sim_move(struct rg__sim_cluster *cluster, int node, bool keep, int64_t load_us)
{
	struct rg__kit_outcome outcome = {0};

	if (!rg__kit_coordinator_set(&cluster->names, RG__NULL_BYTES, node) ||
	    !rg__kit_coordinator_move(cluster->coordinator, cluster->net->world->now_us, RG__NULL_BYTES, keep, load_us, &outcome))
		cluster->failed = true;
	dispatch(cluster, &outcome);
}

void rg__sim_inject(struct rg__sim_cluster *cluster, int16_t api, int16_t version, uint64_t connection, const void *body)
{
	struct rg__kit_request request = {.connection = connection,
	                                  .correlation_id = 1,
	                                  .client_id = rg__bytes_of("foreign"),
	                                  .api = api,
	                                  .version = version,
	                                  .body = body};

	give_to_coordinator(cluster, -1, &request);
}
