/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_HEARTBEAT_H
#define RG__CODEC_HEARTBEAT_H

/* A member says that it is alive, and hears in answer that a rebalance has begun. */

#include "codec/field.h"

struct rg__heartbeat_request {
	struct rg__bytes group_id;
	int32_t generation_id;
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
};

struct rg__heartbeat_response {
	int32_t throttle_time_ms;
	int16_t error_code;
};

extern const struct rg__fields rg__heartbeat_request_fields;
extern const struct rg__fields rg__heartbeat_response_fields;

#endif
