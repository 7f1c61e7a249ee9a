/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api.h"
#include "codec/api_versions.h"
#include "testkit/cluster.h"

enum { UNSUPPORTED_VERSION = 35, INVALID_REQUEST = 42 };

static bool is_alnum(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* KIP-511: letters, digits, and between them '-' and '.'. */
static bool is_software(struct rg__bytes name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!is_alnum(name.data[i]) && (i == 0 || i + 1 == name.len || (name.data[i] != '-' && name.data[i] != '.')))
			return false;
	return name.len > 0;
}

static bool is_valid(const struct rg__kit_request *request)
{
	const struct rg__api_versions_request *body = request->body;

	return request->version < 3 || (is_software(body->client_software_name) && is_software(body->client_software_version));
}

/* broker: with an error there is no list, but for the one range that a client needs which asks in a version we do not
 * know; it hears of it in version 0 (KIP-511). */
static bool is_told(const struct rg__kit_versions *offered, int16_t error)
{
	return offered->first >= 0 && (!error || (error == UNSUPPORTED_VERSION && offered->api == RG__API_API_VERSIONS));
}

void *rg__kit_on_api_versions(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request,
			      int16_t error, struct rg__arena *arena)
{
	struct rg__api_versions_response *answer = rg__arena_calloc(arena, 1, sizeof(*answer));
	struct rg__api_versions_response_api_key *to;

	if (!answer)
		return NULL;
	if (!error && request && !is_valid(request))
		error = INVALID_REQUEST;
	rg__fields_init(&rg__api_versions_response_fields, answer);
	answer->error_code = error;
	if (!rg__array_init(&rg__api_versions_response_api_key_fields, cluster->version_count, arena, &answer->api_keys))
		return NULL;
	to = RG__ITEMS(struct rg__api_versions_response_api_key, answer->api_keys);
	answer->api_keys.count = 0;
	for (int32_t i = 0; i < cluster->version_count; i++) {
		const struct rg__kit_versions *offered = &cluster->versions[i];

		if (!is_told(offered, error))
			continue;
		to->api_key = offered->api;
		to->min_version = offered->first;
		to->max_version = offered->last;
		to++;
		answer->api_keys.count++;
	}
	return answer;
}
