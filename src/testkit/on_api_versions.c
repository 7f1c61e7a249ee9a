/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api_versions.h"
#include "testkit/cluster.h"

/* KIP-511: a client that asks in a version we do not know gets error 35 and the ranges, in version 0. */
void *rg__kit_on_api_versions(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request,
			      int16_t error, struct rg__arena *arena)
{
	struct rg__api_versions_response *answer = rg__arena_calloc(arena, 1, sizeof(*answer));
	struct rg__api_versions_response_api_key *to;

	(void)request;
	if (!answer)
		return NULL;
	rg__fields_init(&rg__api_versions_response_fields, answer);
	answer->error_code = error;
	if (!rg__array_init(&rg__api_versions_response_api_key_fields, cluster->version_count, arena, &answer->api_keys))
		return NULL;
	to = RG__ITEMS(struct rg__api_versions_response_api_key, answer->api_keys);
	answer->api_keys.count = 0;
	for (int32_t i = 0; i < cluster->version_count; i++) {
		const struct rg__kit_versions *offered = &cluster->versions[i];

		if (offered->first < 0)
			continue;
		to->api_key = offered->api;
		to->min_version = offered->first;
		to->max_version = offered->last;
		to++;
		answer->api_keys.count++;
	}
	return answer;
}
