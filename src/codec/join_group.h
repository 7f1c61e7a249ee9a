/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_JOIN_GROUP_H
#define RG__CODEC_JOIN_GROUP_H

/* A member asks to be part of the group's next generation; the leader's answer lists all members. */

#include "codec/field.h"

struct rg__join_group_request {
	struct rg__bytes group_id;
	int32_t session_timeout_ms;
	int32_t rebalance_timeout_ms;
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__bytes protocol_type;
	struct rg__array protocols; /* of struct rg__join_group_request_protocol */
	struct rg__bytes reason;
};

struct rg__join_group_request_protocol {
	struct rg__bytes name;
	struct rg__bytes metadata;
};

struct rg__join_group_response {
	int32_t throttle_time_ms;
	int16_t error_code;
	int32_t generation_id;
	struct rg__bytes protocol_type;
	struct rg__bytes protocol_name;
	struct rg__bytes leader;
	bool skip_assignment;
	struct rg__bytes member_id;
	struct rg__array members; /* of struct rg__join_group_response_member */
};

struct rg__join_group_response_member {
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__bytes metadata;
};

extern const struct rg__fields rg__join_group_request_fields;
extern const struct rg__fields rg__join_group_request_protocol_fields;
extern const struct rg__fields rg__join_group_response_fields;
extern const struct rg__fields rg__join_group_response_member_fields;

#endif
