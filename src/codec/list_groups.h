/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_LIST_GROUPS_H
#define RG__CODEC_LIST_GROUPS_H

/* The groups that a broker coordinates, all or those in certain states (KIP-518) or of certain types (KIP-848). */

#include "codec/field.h"

struct rg__list_groups_request {
	struct rg__array states_filter; /* of struct rg__bytes */
	struct rg__array types_filter;  /* of struct rg__bytes */
};

struct rg__list_groups_response {
	int32_t throttle_time_ms;
	int16_t error_code;
	struct rg__array groups; /* of struct rg__list_groups_response_group */
};

struct rg__list_groups_response_group {
	struct rg__bytes group_id;
	struct rg__bytes protocol_type;
	struct rg__bytes group_state;
	struct rg__bytes group_type;
};

extern const struct rg__fields rg__list_groups_request_fields;
extern const struct rg__fields rg__list_groups_response_fields;
extern const struct rg__fields rg__list_groups_response_group_fields;

#endif
