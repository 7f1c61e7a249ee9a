/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_OFFSET_FETCH_H
#define RG__CODEC_OFFSET_FETCH_H

/* Reads committed positions. Up to version 7 for one group (`group_id`, `topics`), from 8 on for a list of groups
 * (KIP-709); the two sets of fields exclude each other. Version 10 would name topics by id only: we stop at 9. */

#include "codec/field.h"

struct rg__offset_fetch_request {
	struct rg__bytes group_id;
	struct rg__array topics; /* of struct rg__offset_fetch_request_topic */
	struct rg__array groups; /* of struct rg__offset_fetch_request_group */
	bool require_stable;
};

struct rg__offset_fetch_request_topic {
	struct rg__bytes name;
	struct rg__array partition_indexes; /* of int32_t */
};

struct rg__offset_fetch_request_group {
	struct rg__bytes group_id;
	struct rg__bytes member_id;
	int32_t member_epoch;
	struct rg__array topics; /* of struct rg__offset_fetch_request_group_topic */
};

struct rg__offset_fetch_request_group_topic {
	struct rg__bytes name;
	struct rg__array partition_indexes; /* of int32_t */
};

struct rg__offset_fetch_response {
	int32_t throttle_time_ms;
	struct rg__array topics; /* of struct rg__offset_fetch_response_topic */
	int16_t error_code;
	struct rg__array groups; /* of struct rg__offset_fetch_response_group */
};

struct rg__offset_fetch_response_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__offset_fetch_response_topic_partition */
};

struct rg__offset_fetch_response_topic_partition {
	int32_t partition_index;
	int64_t committed_offset;
	int32_t committed_leader_epoch;
	struct rg__bytes metadata;
	int16_t error_code;
};

struct rg__offset_fetch_response_group {
	struct rg__bytes group_id;
	struct rg__array topics; /* of struct rg__offset_fetch_response_group_topic */
	int16_t error_code;
};

struct rg__offset_fetch_response_group_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__offset_fetch_response_group_topic_partition */
};

struct rg__offset_fetch_response_group_topic_partition {
	int32_t partition_index;
	int64_t committed_offset;
	int32_t committed_leader_epoch;
	struct rg__bytes metadata;
	int16_t error_code;
};

extern const struct rg__fields rg__offset_fetch_request_fields;
extern const struct rg__fields rg__offset_fetch_request_topic_fields;
extern const struct rg__fields rg__offset_fetch_request_group_fields;
extern const struct rg__fields rg__offset_fetch_request_group_topic_fields;
extern const struct rg__fields rg__offset_fetch_response_fields;
extern const struct rg__fields rg__offset_fetch_response_topic_fields;
extern const struct rg__fields rg__offset_fetch_response_topic_partition_fields;
extern const struct rg__fields rg__offset_fetch_response_group_fields;
extern const struct rg__fields rg__offset_fetch_response_group_topic_fields;
extern const struct rg__fields rg__offset_fetch_response_group_topic_partition_fields;

#endif
