/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/list_groups.h"

#define T struct rg__list_groups_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, states_filter, "StatesFilter", RG__ARRAY, 4, RG__LAST, .element = RG__STRING),
	RG__FIELD(T, types_filter, "TypesFilter", RG__ARRAY, 5, RG__LAST, .element = RG__STRING),
};
const struct rg__fields rg__list_groups_request_fields = {
	RG__FIELDS(T, "ListGroupsRequest", request_rows), .flexible_first = 3
};
#undef T

#define T struct rg__list_groups_response_group
static const struct rg__field response_group_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, protocol_type, "ProtocolType", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_state, "GroupState", RG__STRING, 4, RG__LAST, .ignorable = true),
	RG__FIELD(T, group_type, "GroupType", RG__STRING, 5, RG__LAST, .ignorable = true),
};
const struct rg__fields rg__list_groups_response_group_fields = {
	RG__FIELDS(T, "ListedGroup", response_group_rows)
};
#undef T

#define T struct rg__list_groups_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, groups, "Groups", RG__ARRAY, 0, RG__LAST, .fields = &rg__list_groups_response_group_fields),
};
const struct rg__fields rg__list_groups_response_fields = {
	RG__FIELDS(T, "ListGroupsResponse", response_rows), .flexible_first = 3
};
#undef T
