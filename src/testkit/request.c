/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

/* What becomes of one request: refused, hit by a fault, answered here, given to the coordinator, or passed on. */

enum { UNSUPPORTED_VERSION = 35 };

static void count(struct rg_testkit *kit, int16_t api)
{
	kit->request_total++;
	if (api >= 0 && api < RG__KIT_API_KEYS)
		kit->request_counts[api]++;
}

/* broker: a version it does not have ends the connection, but for ApiVersions, whose answer says what it has
 * (KIP-511). */
static void refuse_version(struct rg__kit_connection *connection)
{
	struct rg__arena arena = {0};
	const struct rg__api *api = rg__api_by_key(RG__API_API_VERSIONS);

	if (connection->api == RG__API_API_VERSIONS)
		rg__kit_connection_answer(connection, api, 0,
					  rg__kit_on_api_versions(&connection->kit->cluster, NULL, UNSUPPORTED_VERSION,
								  &arena));
	else
		rg__kit_connection_close(connection);
	rg__arena_clear(&arena);
}

void rg__kit_request_begin(struct rg__kit_connection *connection, struct rg__bytes frame)
{
	struct rg_testkit *kit = connection->kit;
	struct rg__request_header header;
	struct rg__codec_error error;
	struct rg__kit_rule *rule;

	if (!rg__decode_request_header(frame, &header, &error)) {
		rg__kit_connection_close(connection);
		return;
	}
	connection->api = header.request_api_key;
	connection->version = header.request_api_version;
	connection->correlation_id = header.correlation_id;
	connection->client_id = header.client_id.data ? header.client_id : rg__bytes_of("");
	count(kit, connection->api);
	rule = rg__kit_rule_match(&kit->faults, connection->api);
	connection->rule = rule;
	if (rule && rule->fault == RG__KIT_DROP_BEFORE) {
		rg__kit_connection_close(connection);
	} else if (!rg__kit_versions_offered(&kit->cluster, connection->api, connection->version)) {
		refuse_version(connection);
	} else if (rule && rule->fault == RG__KIT_HOLD_BEFORE && !rule->released) {
		connection->held = true;
	} else {
		rg__kit_request_apply(connection);
	}
	if (rule)
		rg__kit_changed(kit);
}

static void *answer_here(struct rg_testkit *kit, const struct rg__kit_request *request, int16_t error,
			 struct rg__arena *arena)
{
	switch (request->api) {
	case RG__API_API_VERSIONS:
		return rg__kit_on_api_versions(&kit->cluster, request, error, arena);
	case RG__API_METADATA:
		return rg__kit_on_metadata(&kit->cluster, request, error, arena);
	case RG__API_FIND_COORDINATOR:
		return rg__kit_on_find_coordinator(&kit->cluster, request, error, arena);
	default:
		return rg__kit_error_body(request, error, arena);
	}
}

static void give_to_coordinator(struct rg__kit_connection *connection, const struct rg__kit_request *request)
{
	struct rg_testkit *kit = connection->kit;
	struct rg__kit_outcome outcome = {0};

	if (!rg__kit_coordinator_step(kit->coordinator, rg__kit_now_us(), request, &outcome)) {
		rg__kit_outcome_clear(&outcome);
		rg__kit_connection_failed(connection, "in the coordinator");
		return;
	}
	/* Nobody hears the answer, whenever it comes. */
	if (connection->rule && connection->rule->fault == RG__KIT_DROP_AFTER)
		rg__kit_connection_close(connection);
	rg__kit_dispatch(kit, &outcome);
	rg__kit_time_passed(kit);
}

static bool is_ours(int16_t api)
{
	return api == RG__API_API_VERSIONS || api == RG__API_METADATA || api == RG__API_FIND_COORDINATOR;
}

static void apply_decoded(struct rg__kit_connection *connection, const struct rg__api *api,
			  const struct rg__kit_request *request, struct rg__arena *arena)
{
	const struct rg__kit_rule *rule = connection->rule;
	bool fails = rule && rule->fault == RG__KIT_ANSWER_ERROR;
	int16_t error = fails ? rule->error : 0;

	if (!fails && !is_ours(request->api))
		error = rg__kit_coordinator_check(&connection->kit->cluster, connection->front->broker->id, request);
	if (error || is_ours(request->api))
		rg__kit_connection_answer(connection, api, request->version,
					  answer_here(connection->kit, request, error, arena));
	else
		give_to_coordinator(connection, request);
}

void rg__kit_request_apply(struct rg__kit_connection *connection)
{
	const struct rg__api *api = rg__api_by_key(connection->api);
	struct rg__kit_request request = {.connection = connection->id,
					  .correlation_id = connection->correlation_id,
					  .client_id = connection->client_id,
					  .api = connection->api,
					  .version = connection->version,
					  .broker = connection->front->broker->id};
	struct rg__arena arena = {0};
	struct rg__codec_error error;
	void *body;

	connection->held = false;
	if (!api) {
		rg__kit_upstream_forward(connection);
		return;
	}
	body = rg__arena_calloc(&arena, 1, api->request->size);
	request.body = body;
	/* broker: what it cannot read ends the connection. */
	if (!body || !rg__decode_request(api, connection->version, connection->frame, &arena, body, &error))
		rg__kit_connection_close(connection);
	else
		apply_decoded(connection, api, &request, &arena);
	rg__arena_clear(&arena);
}

void rg__kit_dispatch(struct rg_testkit *kit, struct rg__kit_outcome *outcome)
{
	for (const struct rg__kit_event *event = outcome->events; event; event = event->next)
		rg__kit_emit(kit, event);
	for (const struct rg__kit_answer *answer = outcome->answers; answer; answer = answer->next) {
		struct rg__kit_connection *connection = NULL;

		HASH_FIND(hh, kit->connections, &answer->connection, sizeof(answer->connection), connection);
		if (connection && connection->busy && connection->correlation_id == answer->correlation_id)
			rg__kit_connection_answer(connection, rg__api_by_key(answer->api), answer->version, answer->body);
	}
	rg__kit_outcome_clear(outcome);
}

static void on_deadline(uv_timer_t *timer)
{
	struct rg_testkit *kit = timer->data;

	rg__kit_time_passed(kit);
	rg__kit_pump(kit);
}

void rg__kit_time_passed(struct rg_testkit *kit)
{
	struct rg__kit_outcome outcome = {0};
	int64_t now_us = rg__kit_now_us(), due_us;

	if (kit->broken.code || kit->stopping)
		return;
	if (rg__kit_coordinator_deadline(kit->coordinator) <= now_us) {
		if (!rg__kit_coordinator_step(kit->coordinator, now_us, NULL, &outcome)) {
			rg__kit_outcome_clear(&outcome);
			rg__kit_break(kit, "in the coordinator");
			return;
		}
		rg__kit_dispatch(kit, &outcome);
	}
	due_us = rg__kit_coordinator_deadline(kit->coordinator);
	uv_update_time(&kit->loop);
	if (due_us == RG__KIT_NO_DEADLINE)
		uv_timer_stop(&kit->deadline);
	else
		uv_timer_start(&kit->deadline, on_deadline, due_us > now_us ? (uint64_t)((due_us - now_us + 999) / 1000) : 0,
			       0);
}
