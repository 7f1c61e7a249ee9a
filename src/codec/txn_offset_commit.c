/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/txn_offset_commit.h"

#define T struct rg__txn_offset_commit_request_topic_partition
static const struct rg__field request_topic_partition_rows[] = {
	RG__FIELD(T, partition_index, "PartitionIndex", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, committed_offset, "CommittedOffset", RG__INT64, 0, RG__LAST),
	RG__FIELD(T, committed_leader_epoch, "CommittedLeaderEpoch", RG__INT32, 2, RG__LAST, .ignorable = true,
		  .fallback = -1),
	RG__FIELD(T, committed_metadata, "CommittedMetadata", RG__STRING, 0, RG__LAST, .nullable = true),
};
const struct rg__fields rg__txn_offset_commit_request_topic_partition_fields = {
	RG__FIELDS(T, "TxnOffsetCommitRequestPartition", request_topic_partition_rows)
};
#undef T

#define T struct rg__txn_offset_commit_request_topic
static const struct rg__field request_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__txn_offset_commit_request_topic_partition_fields),
};
const struct rg__fields rg__txn_offset_commit_request_topic_fields = {
	RG__FIELDS(T, "TxnOffsetCommitRequestTopic", request_topic_rows)
};
#undef T

#define T struct rg__txn_offset_commit_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, transactional_id, "TransactionalId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, producer_id, "ProducerId", RG__INT64, 0, RG__LAST),
	RG__FIELD(T, producer_epoch, "ProducerEpoch", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, generation_id, "GenerationId", RG__INT32, 3, RG__LAST, .fallback = -1),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 3, RG__LAST),
	RG__FIELD(T, group_instance_id, "GroupInstanceId", RG__STRING, 3, RG__LAST, .nullable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, RG__LAST, .fields = &rg__txn_offset_commit_request_topic_fields),
};
const struct rg__fields rg__txn_offset_commit_request_fields = {
	RG__FIELDS(T, "TxnOffsetCommitRequest", request_rows), .flexible_first = 3
};
#undef T

#define T struct rg__txn_offset_commit_response_topic_partition
static const struct rg__field response_topic_partition_rows[] = {
	RG__FIELD(T, partition_index, "PartitionIndex", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
};
const struct rg__fields rg__txn_offset_commit_response_topic_partition_fields = {
	RG__FIELDS(T, "TxnOffsetCommitResponsePartition", response_topic_partition_rows)
};
#undef T

#define T struct rg__txn_offset_commit_response_topic
static const struct rg__field response_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__txn_offset_commit_response_topic_partition_fields),
};
const struct rg__fields rg__txn_offset_commit_response_topic_fields = {
	RG__FIELDS(T, "TxnOffsetCommitResponseTopic", response_topic_rows)
};
#undef T

#define T struct rg__txn_offset_commit_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, RG__LAST, .fields = &rg__txn_offset_commit_response_topic_fields),
};
const struct rg__fields rg__txn_offset_commit_response_fields = {
	RG__FIELDS(T, "TxnOffsetCommitResponse", response_rows), .flexible_first = 3
};
#undef T
