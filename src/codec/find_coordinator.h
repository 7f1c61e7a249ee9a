/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_FIND_COORDINATOR_H
#define RG__CODEC_FIND_COORDINATOR_H

/* Which broker coordinates a group. From version 4 on several keys at once (KIP-699): the single fields of the older
 * versions and the lists exclude each other. */

#include "codec/field.h"

struct rg__find_coordinator_request {
	struct rg__bytes key;
	int8_t key_type;
	struct rg__array coordinator_keys; /* of struct rg__bytes */
};

struct rg__find_coordinator_response {
	int32_t throttle_time_ms;
	int16_t error_code;
	struct rg__bytes error_message;
	int32_t node_id;
	struct rg__bytes host;
	int32_t port;
	struct rg__array coordinators; /* of struct rg__find_coordinator_response_coordinator */
};

struct rg__find_coordinator_response_coordinator {
	struct rg__bytes key;
	int32_t node_id;
	struct rg__bytes host;
	int32_t port;
	int16_t error_code;
	struct rg__bytes error_message;
};

extern const struct rg__fields rg__find_coordinator_request_fields;
extern const struct rg__fields rg__find_coordinator_response_fields;
extern const struct rg__fields rg__find_coordinator_response_coordinator_fields;

#endif
