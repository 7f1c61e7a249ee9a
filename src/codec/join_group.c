/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/join_group.h"

#define T struct rg__join_group_request_protocol
static const struct rg__field request_protocol_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, metadata, "Metadata", RG__BYTES, 0, RG__LAST),
};
const struct rg__fields rg__join_group_request_protocol_fields = {
	RG__FIELDS(T, "JoinGroupRequestProtocol", request_protocol_rows)
};
#undef T

#define T struct rg__join_group_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, session_timeout_ms, "SessionTimeoutMs", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, rebalance_timeout_ms, "RebalanceTimeoutMs", RG__INT32, 1, RG__LAST, .ignorable = true,
		  .fallback = -1),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 5, RG__LAST, .nullable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, protocols, "Protocols", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__join_group_request_protocol_fields),
	RG__FIELD(T, reason, "Reason", RG__STRING, 8, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
};
const struct rg__fields rg__join_group_request_fields = {
	RG__FIELDS(T, "JoinGroupRequest", request_rows), .flexible_first = 6
};
#undef T

#define T struct rg__join_group_response_member
static const struct rg__field response_member_rows[] = {
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 5, RG__LAST, .nullable = true,
		  .ignorable = true, .fallback = RG__NULL),
	RG__FIELD(T, metadata, "Metadata", RG__BYTES, 0, RG__LAST),
};
const struct rg__fields rg__join_group_response_member_fields = {
	RG__FIELDS(T, "JoinGroupResponseMember", response_member_rows)
};
#undef T

#define T struct rg__join_group_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 2, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, generation_id, "GenerationId", RG__INT32, 0, RG__LAST, .fallback = -1),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 7, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, protocol_name, "ProtocolName", RG__STRING, 0, RG__LAST, .nullable = true, .nullable_first = 7),
	RG__FIELD(T, leader, "Leader", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, skip_assignment, "SkipAssignment", RG__BOOL, 9, RG__LAST),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, members, "Members", RG__ARRAY, 0, RG__LAST, .fields = &rg__join_group_response_member_fields),
};
const struct rg__fields rg__join_group_response_fields = {
	RG__FIELDS(T, "JoinGroupResponse", response_rows), .flexible_first = 6
};
#undef T
