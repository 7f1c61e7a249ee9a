/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api_versions.h"

#define T struct rg__api_versions_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, client_software_name, "ClientSoftwareName", RG__STRING, 3, RG__LAST, .ignorable = true),
	RG__FIELD(T, client_software_version, "ClientSoftwareVersion", RG__STRING, 3, RG__LAST, .ignorable = true),
};
const struct rg__fields rg__api_versions_request_fields = {
	RG__FIELDS(T, "ApiVersionsRequest", request_rows), .flexible_first = 3
};
#undef T

#define T struct rg__api_versions_response_finalized_feature
static const struct rg__field response_finalized_feature_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 3, RG__LAST),
	RG__FIELD(T, max_version_level, "MaxVersionLevel", RG__INT16, 3, RG__LAST),
	RG__FIELD(T, min_version_level, "MinVersionLevel", RG__INT16, 3, RG__LAST),
};
const struct rg__fields rg__api_versions_response_finalized_feature_fields = {
	RG__FIELDS(T, "FinalizedFeatureKey", response_finalized_feature_rows)
};
#undef T

#define T struct rg__api_versions_response_supported_feature
static const struct rg__field response_supported_feature_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 3, RG__LAST),
	RG__FIELD(T, min_version, "MinVersion", RG__INT16, 3, RG__LAST),
	RG__FIELD(T, max_version, "MaxVersion", RG__INT16, 3, RG__LAST),
};
const struct rg__fields rg__api_versions_response_supported_feature_fields = {
	RG__FIELDS(T, "SupportedFeatureKey", response_supported_feature_rows)
};
#undef T

#define T struct rg__api_versions_response_api_key
static const struct rg__field response_api_key_rows[] = {
	RG__FIELD(T, api_key, "ApiKey", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, min_version, "MinVersion", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, max_version, "MaxVersion", RG__INT16, 0, RG__LAST),
};
const struct rg__fields rg__api_versions_response_api_key_fields = {
	RG__FIELDS(T, "ApiVersion", response_api_key_rows)
};
#undef T

#define T struct rg__api_versions_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, api_keys, "ApiKeys", RG__ARRAY, 0, RG__LAST, .fields = &rg__api_versions_response_api_key_fields),
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, supported_features, "SupportedFeatures", RG__ARRAY, 3, RG__LAST,
		  .fields = &rg__api_versions_response_supported_feature_fields, .ignorable = true, .tagged = true),
	RG__FIELD(T, finalized_features_epoch, "FinalizedFeaturesEpoch", RG__INT64, 3, RG__LAST, .ignorable = true,
		  .tagged = true, .tag = 1, .fallback = -1),
	RG__FIELD(T, finalized_features, "FinalizedFeatures", RG__ARRAY, 3, RG__LAST,
		  .fields = &rg__api_versions_response_finalized_feature_fields, .ignorable = true,
		  .tagged = true, .tag = 2),
	RG__FIELD(T, zk_migration_ready, "ZkMigrationReady", RG__BOOL, 3, RG__LAST, .ignorable = true,
		  .tagged = true, .tag = 3),
};
const struct rg__fields rg__api_versions_response_fields = {
	RG__FIELDS(T, "ApiVersionsResponse", response_rows), .flexible_first = 3
};
#undef T
