/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/find_coordinator.h"

#define T struct rg__find_coordinator_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, key, "Key", RG__STRING, 0, 3),
	RG__FIELD(T, key_type, "KeyType", RG__INT8, 1, RG__LAST),
	RG__FIELD(T, coordinator_keys, "CoordinatorKeys", RG__ARRAY, 4, RG__LAST, .element = RG__STRING),
};
const struct rg__fields rg__find_coordinator_request_fields = {
	RG__FIELDS(T, "FindCoordinatorRequest", request_rows), .flexible_first = 3
};
#undef T

#define T struct rg__find_coordinator_response_coordinator
static const struct rg__field response_coordinator_rows[] = {
	RG__FIELD(T, key, "Key", RG__STRING, 4, RG__LAST),
	RG__FIELD(T, node_id, "NodeId", RG__INT32, 4, RG__LAST),
	RG__FIELD(T, host, "Host", RG__STRING, 4, RG__LAST),
	RG__FIELD(T, port, "Port", RG__INT32, 4, RG__LAST),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 4, RG__LAST),
	RG__FIELD(T, error_message, "ErrorMessage", RG__STRING, 4, RG__LAST, .nullable = true, .ignorable = true),
};
const struct rg__fields rg__find_coordinator_response_coordinator_fields = {
	RG__FIELDS(T, "Coordinator", response_coordinator_rows)
};
#undef T

#define T struct rg__find_coordinator_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, 3),
	RG__FIELD(T, error_message, "ErrorMessage", RG__STRING, 1, 3, .nullable = true, .ignorable = true),
	RG__FIELD(T, node_id, "NodeId", RG__INT32, 0, 3),
	RG__FIELD(T, host, "Host", RG__STRING, 0, 3),
	RG__FIELD(T, port, "Port", RG__INT32, 0, 3),
	RG__FIELD(T, coordinators, "Coordinators", RG__ARRAY, 4, RG__LAST,
		  .fields = &rg__find_coordinator_response_coordinator_fields),
};
const struct rg__fields rg__find_coordinator_response_fields = {
	RG__FIELDS(T, "FindCoordinatorResponse", response_rows), .flexible_first = 3
};
#undef T
