/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/sync_group.h"

#define T struct rg__sync_group_request_assignment
static const struct rg__field request_assignment_rows[] = {
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, assignment, "Assignment", RG__BYTES, 0, RG__LAST),
};
const struct rg__fields rg__sync_group_request_assignment_fields = {
	RG__FIELDS(T, "SyncGroupRequestAssignment", request_assignment_rows)
};
#undef T

#define T struct rg__sync_group_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, generation_id, "GenerationId", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 3, RG__LAST, .nullable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 5, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, protocol_name, "ProtocolName", RG__STRING, 5, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, assignments, "Assignments", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__sync_group_request_assignment_fields),
};
const struct rg__fields rg__sync_group_request_fields = {
	RG__FIELDS(T, "SyncGroupRequest", request_rows), .flexible_first = 4
};
#undef T

#define T struct rg__sync_group_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 5, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, protocol_name, "ProtocolName", RG__STRING, 5, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, assignment, "Assignment", RG__BYTES, 0, RG__LAST),
};
const struct rg__fields rg__sync_group_response_fields = {
	RG__FIELDS(T, "SyncGroupResponse", response_rows), .flexible_first = 4
};
#undef T
