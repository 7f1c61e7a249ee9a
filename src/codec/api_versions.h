/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_API_VERSIONS_H
#define RG__CODEC_API_VERSIONS_H

/* Which APIs a broker has, in which versions: the first request on every connection. A broker that does not know the
 * version asked for answers in version 0 with error 35 and its own range (KIP-511). */

#include "codec/field.h"

struct rg__api_versions_request {
	struct rg__bytes client_software_name;
	struct rg__bytes client_software_version;
};

struct rg__api_versions_response {
	int16_t error_code;
	struct rg__array api_keys; /* of struct rg__api_versions_response_api_key */
	int32_t throttle_time_ms;
	struct rg__array supported_features; /* of struct rg__api_versions_response_supported_feature */
	int64_t finalized_features_epoch;
	struct rg__array finalized_features; /* of struct rg__api_versions_response_finalized_feature */
	bool zk_migration_ready;
};

struct rg__api_versions_response_api_key {
	int16_t api_key;
	int16_t min_version;
	int16_t max_version;
};

struct rg__api_versions_response_supported_feature {
	struct rg__bytes name;
	int16_t min_version;
	int16_t max_version;
};

struct rg__api_versions_response_finalized_feature {
	struct rg__bytes name;
	int16_t max_version_level;
	int16_t min_version_level;
};

extern const struct rg__fields rg__api_versions_request_fields;
extern const struct rg__fields rg__api_versions_response_fields;
extern const struct rg__fields rg__api_versions_response_api_key_fields;
extern const struct rg__fields rg__api_versions_response_supported_feature_fields;
extern const struct rg__fields rg__api_versions_response_finalized_feature_fields;

#endif
