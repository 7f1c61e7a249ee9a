/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_TXN_OFFSET_COMMIT_H
#define RG__CODEC_TXN_OFFSET_COMMIT_H

/* Positions that become the group's when a transaction is committed. From version 3 on they say which member of which
 * generation they come from (KIP-447). What follows belongs to the transactions of KIP-890, which we do not need. */

#include "codec/field.h"

struct rg__txn_offset_commit_request {
	struct rg__bytes transactional_id;
	struct rg__bytes group_id;
	int64_t producer_id;
	int16_t producer_epoch;
	int32_t generation_id;
	struct rg__bytes member_id;
	struct rg__bytes group_instance_id;
	struct rg__array topics; /* of struct rg__txn_offset_commit_request_topic */
};

struct rg__txn_offset_commit_request_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__txn_offset_commit_request_topic_partition */
};

struct rg__txn_offset_commit_request_topic_partition {
	int32_t partition_index;
	int64_t committed_offset;
	int32_t committed_leader_epoch;
	struct rg__bytes committed_metadata;
};

struct rg__txn_offset_commit_response {
	int32_t throttle_time_ms;
	struct rg__array topics; /* of struct rg__txn_offset_commit_response_topic */
};

struct rg__txn_offset_commit_response_topic {
	struct rg__bytes name;
	struct rg__array partitions; /* of struct rg__txn_offset_commit_response_topic_partition */
};

struct rg__txn_offset_commit_response_topic_partition {
	int32_t partition_index;
	int16_t error_code;
};

extern const struct rg__fields rg__txn_offset_commit_request_fields;
extern const struct rg__fields rg__txn_offset_commit_request_topic_fields;
extern const struct rg__fields rg__txn_offset_commit_request_topic_partition_fields;
extern const struct rg__fields rg__txn_offset_commit_response_fields;
extern const struct rg__fields rg__txn_offset_commit_response_topic_fields;
extern const struct rg__fields rg__txn_offset_commit_response_topic_partition_fields;

#endif
