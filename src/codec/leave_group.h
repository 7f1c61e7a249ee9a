/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_LEAVE_GROUP_H
#define RG__CODEC_LEAVE_GROUP_H

/* One member leaves, or from version 3 on a list of them (KIP-345); then `member_id` is not used. */

#include "codec/field.h"

struct rg__leave_group_request {
	struct rg__bytes group_id;
	struct rg__bytes member_id;
	struct rg__array members; /* of struct rg__leave_group_request_member */
};

struct rg__leave_group_request_member {
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__bytes reason;
};

struct rg__leave_group_response {
	int32_t throttle_time_ms;
	int16_t error_code;
	struct rg__array members; /* of struct rg__leave_group_response_member */
};

struct rg__leave_group_response_member {
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	int16_t error_code;
};

extern const struct rg__fields rg__leave_group_request_fields;
extern const struct rg__fields rg__leave_group_request_member_fields;
extern const struct rg__fields rg__leave_group_response_fields;
extern const struct rg__fields rg__leave_group_response_member_fields;

#endif
