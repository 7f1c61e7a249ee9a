/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_SYNC_GROUP_H
#define RG__CODEC_SYNC_GROUP_H

/* The leader hands in the assignment, everybody gets his own part as the answer. */

#include "codec/field.h"

struct rg__sync_group_request {
	struct rg__bytes group_id;
	int32_t generation_id;
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__bytes protocol_type;
	struct rg__bytes protocol_name;
	struct rg__array assignments; /* of struct rg__sync_group_request_assignment */
};

struct rg__sync_group_request_assignment {
	struct rg__bytes member_id;
	struct rg__bytes assignment;
};

struct rg__sync_group_response {
	int32_t throttle_time_ms;
	int16_t error_code;
	struct rg__bytes protocol_type;
	struct rg__bytes protocol_name;
	struct rg__bytes assignment;
};

extern const struct rg__fields rg__sync_group_request_fields;
extern const struct rg__fields rg__sync_group_request_assignment_fields;
extern const struct rg__fields rg__sync_group_response_fields;

#endif
