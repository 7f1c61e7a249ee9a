/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_DESCRIBE_GROUPS_H
#define RG__CODEC_DESCRIBE_GROUPS_H

/* What a coordinator knows of groups: their states and members. For who looks on from outside. */

#include "codec/field.h"

struct rg__describe_groups_request {
	struct rg__array groups; /* of struct rg__bytes */
	bool include_authorized_operations;
};

struct rg__describe_groups_response {
	int32_t throttle_time_ms;
	struct rg__array groups; /* of struct rg__describe_groups_response_group */
};

struct rg__describe_groups_response_group {
	int16_t error_code;
	struct rg__bytes error_message;
	struct rg__bytes group_id;
	struct rg__bytes group_state;
	struct rg__bytes protocol_type;
	struct rg__bytes protocol_data;
	struct rg__array members; /* of struct rg__describe_groups_response_group_member */
	int32_t authorized_operations;
};

struct rg__describe_groups_response_group_member {
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__bytes client_id;
	struct rg__bytes client_host;
	struct rg__bytes member_metadata;
	struct rg__bytes member_assignment;
};

extern const struct rg__fields rg__describe_groups_request_fields;
extern const struct rg__fields rg__describe_groups_response_fields;
extern const struct rg__fields rg__describe_groups_response_group_fields;
extern const struct rg__fields rg__describe_groups_response_group_member_fields;

#endif
