/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/describe_groups.h"

#define T struct rg__describe_groups_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, groups, "Groups", RG__ARRAY, 0, RG__LAST, .element = RG__STRING),
	RG__FIELD(T, include_authorized_operations, "IncludeAuthorizedOperations", RG__BOOL, 3, RG__LAST),
};
const struct rg__fields rg__describe_groups_request_fields = {
	RG__FIELDS(T, "DescribeGroupsRequest", request_rows), .flexible_first = 5
};
#undef T

#define T struct rg__describe_groups_response_group_member
static const struct rg__field response_group_member_rows[] = {
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 4, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, client_id, "ClientId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, client_host, "ClientHost", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, member_metadata, "MemberMetadata", RG__BYTES, 0, RG__LAST),
	RG__FIELD(T, member_assignment, "MemberAssignment", RG__BYTES, 0, RG__LAST),
};
const struct rg__fields rg__describe_groups_response_group_member_fields = {
	RG__FIELDS(T, "DescribedGroupMember", response_group_member_rows)
};
#undef T

#define T struct rg__describe_groups_response_group
static const struct rg__field response_group_rows[] = {
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	/* KIP-1043 */
	RG__FIELD(T, error_message, "ErrorMessage", RG__STRING, 6, RG__LAST, .nullable = true, .fallback = RG__NULL),
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_state, "GroupState", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, protocol_data, "ProtocolData", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, members, "Members", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__describe_groups_response_group_member_fields),
	RG__FIELD(T, authorized_operations, "AuthorizedOperations", RG__INT32, 3, RG__LAST, .fallback = INT32_MIN),
};
const struct rg__fields rg__describe_groups_response_group_fields = {
	RG__FIELDS(T, "DescribedGroup", response_group_rows)
};
#undef T

#define T struct rg__describe_groups_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, groups, "Groups", RG__ARRAY, 0, RG__LAST, .fields = &rg__describe_groups_response_group_fields),
};
const struct rg__fields rg__describe_groups_response_fields = {
	RG__FIELDS(T, "DescribeGroupsResponse", response_rows), .flexible_first = 5
};
#undef T
