/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_OFFSET_COMMIT_H
#define RG__CODEC_OFFSET_COMMIT_H

/* Stores consumed positions with the group. Version 10 would name topics by id only: we stop at 9. */

#include "codec/field.h"

struct rg__offset_commit_request {
	struct rg__bytes group_id;
	int32_t generation_id_or_member_epoch;
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	int64_t retention_time_ms;
	struct rg__array topics; /* of struct rg__offset_commit_request_topic */
};

struct rg__offset_commit_request_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__offset_commit_request_topic_partition */
};

struct rg__offset_commit_request_topic_partition {
	int32_t partition_index;
	int64_t committed_offset;
	int32_t committed_leader_epoch;
	struct rg__bytes committed_metadata;
};

struct rg__offset_commit_response {
	int32_t throttle_time_ms;
	struct rg__array topics; /* of struct rg__offset_commit_response_topic */
};

struct rg__offset_commit_response_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__offset_commit_response_topic_partition */
};

struct rg__offset_commit_response_topic_partition {
	int32_t partition_index;
	int16_t error_code;
};

extern const struct rg__fields rg__offset_commit_request_fields;
extern const struct rg__fields rg__offset_commit_request_topic_fields;
extern const struct rg__fields rg__offset_commit_request_topic_partition_fields;
extern const struct rg__fields rg__offset_commit_response_fields;
extern const struct rg__fields rg__offset_commit_response_topic_fields;
extern const struct rg__fields rg__offset_commit_response_topic_partition_fields;

#endif
