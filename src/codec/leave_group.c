/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/leave_group.h"

#define T struct rg__leave_group_request_member
static const struct rg__field request_member_rows[] = {
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 3, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 3, RG__LAST, .nullable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, reason, "Reason", RG__STRING, 5, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
};
const struct rg__fields rg__leave_group_request_member_fields = {
	RG__FIELDS(T, "MemberIdentity", request_member_rows)
};
#undef T

#define T struct rg__leave_group_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, 2),
	RG__FIELD(T, members, "Members", RG__ARRAY, 3, RG__LAST, .fields = &rg__leave_group_request_member_fields),
};
const struct rg__fields rg__leave_group_request_fields = {
	RG__FIELDS(T, "LeaveGroupRequest", request_rows), .flexible_first = 4
};
#undef T

#define T struct rg__leave_group_response_member
static const struct rg__field response_member_rows[] = {
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 3, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 3, RG__LAST, .nullable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 3, RG__LAST),
};
const struct rg__fields rg__leave_group_response_member_fields = {
	RG__FIELDS(T, "MemberResponse", response_member_rows)
};
#undef T

#define T struct rg__leave_group_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, members, "Members", RG__ARRAY, 3, RG__LAST, .fields = &rg__leave_group_response_member_fields),
};
const struct rg__fields rg__leave_group_response_fields = {
	RG__FIELDS(T, "LeaveGroupResponse", response_rows), .flexible_first = 4
};
#undef T
