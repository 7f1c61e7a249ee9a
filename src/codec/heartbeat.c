/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/heartbeat.h"

#define T struct rg__heartbeat_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, generation_id, "GenerationId", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 3, RG__LAST, .nullable = true,
		  .fallback = RG__NULL),
};
const struct rg__fields rg__heartbeat_request_fields = {
	RG__FIELDS(T, "HeartbeatRequest", request_rows), .flexible_first = 4
};
#undef T

#define T struct rg__heartbeat_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
};
const struct rg__fields rg__heartbeat_response_fields = {
	RG__FIELDS(T, "HeartbeatResponse", response_rows), .flexible_first = 4
};
#undef T
