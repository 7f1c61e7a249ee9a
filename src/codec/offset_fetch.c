/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/offset_fetch.h"

#define T struct rg__offset_fetch_request_group_topic
static const struct rg__field request_group_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 8, 9, .ignorable = true),
	RG__FIELD(T, partition_indexes, "PartitionIndexes", RG__ARRAY, 8, RG__LAST, .element = RG__INT32),
};
const struct rg__fields rg__offset_fetch_request_group_topic_fields = {
	RG__FIELDS(T, "OffsetFetchRequestTopics", request_group_topic_rows)
};
#undef T

#define T struct rg__offset_fetch_request_group
static const struct rg__field request_group_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 8, RG__LAST),
	RG__FIELD(T, member_id, "MemberId", RG__STRING, 9, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, member_epoch, "MemberEpoch", RG__INT32, 9, RG__LAST, .ignorable = true, .fallback = -1),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 8, RG__LAST,
		  .fields = &rg__offset_fetch_request_group_topic_fields, .nullable = true),
};
const struct rg__fields rg__offset_fetch_request_group_fields = {
	RG__FIELDS(T, "OffsetFetchRequestGroup", request_group_rows)
};
#undef T

#define T struct rg__offset_fetch_request_topic
static const struct rg__field request_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 0, 7),
	RG__FIELD(T, partition_indexes, "PartitionIndexes", RG__ARRAY, 0, 7, .element = RG__INT32),
};
const struct rg__fields rg__offset_fetch_request_topic_fields = {
	RG__FIELDS(T, "OffsetFetchRequestTopic", request_topic_rows)
};
#undef T

#define T struct rg__offset_fetch_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 0, 7),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, 7, .fields = &rg__offset_fetch_request_topic_fields,
		  .nullable = true, .nullable_first = 2),
	RG__FIELD(T, groups, "Groups", RG__ARRAY, 8, RG__LAST, .fields = &rg__offset_fetch_request_group_fields),
	RG__FIELD(T, require_stable, "RequireStable", RG__BOOL, 7, RG__LAST),
};
const struct rg__fields rg__offset_fetch_request_fields = {
	RG__FIELDS(T, "OffsetFetchRequest", request_rows), .flexible_first = 6
};
#undef T

#define T struct rg__offset_fetch_response_group_topic_partition
static const struct rg__field response_group_topic_partition_rows[] = {
	RG__FIELD(T, partition_index, "PartitionIndex", RG__INT32, 8, RG__LAST),
	RG__FIELD(T, committed_offset, "CommittedOffset", RG__INT64, 8, RG__LAST),
	RG__FIELD(T, committed_leader_epoch, "CommittedLeaderEpoch", RG__INT32, 8, RG__LAST, .ignorable = true,
		  .fallback = -1),
	RG__FIELD(T, metadata, "Metadata", RG__STRING, 8, RG__LAST, .nullable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 8, RG__LAST),
};
const struct rg__fields rg__offset_fetch_response_group_topic_partition_fields = {
	RG__FIELDS(T, "OffsetFetchResponsePartitions", response_group_topic_partition_rows)
};
#undef T

#define T struct rg__offset_fetch_response_group_topic
static const struct rg__field response_group_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 8, 9, .ignorable = true),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 8, RG__LAST,
		  .fields = &rg__offset_fetch_response_group_topic_partition_fields),
};
const struct rg__fields rg__offset_fetch_response_group_topic_fields = {
	RG__FIELDS(T, "OffsetFetchResponseTopics", response_group_topic_rows)
};
#undef T

#define T struct rg__offset_fetch_response_group
static const struct rg__field response_group_rows[] = {
	RG__FIELD(T, group_id, "GroupId", RG__STRING, 8, RG__LAST),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 8, RG__LAST,
		  .fields = &rg__offset_fetch_response_group_topic_fields),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 8, RG__LAST),
};
const struct rg__fields rg__offset_fetch_response_group_fields = {
	RG__FIELDS(T, "OffsetFetchResponseGroup", response_group_rows)
};
#undef T

#define T struct rg__offset_fetch_response_topic_partition
static const struct rg__field response_topic_partition_rows[] = {
	RG__FIELD(T, partition_index, "PartitionIndex", RG__INT32, 0, 7),
	RG__FIELD(T, committed_offset, "CommittedOffset", RG__INT64, 0, 7),
	RG__FIELD(T, committed_leader_epoch, "CommittedLeaderEpoch", RG__INT32, 5, 7, .ignorable = true,
		  .fallback = -1),
	RG__FIELD(T, metadata, "Metadata", RG__STRING, 0, 7, .nullable = true),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, 7),
};
const struct rg__fields rg__offset_fetch_response_topic_partition_fields = {
	RG__FIELDS(T, "OffsetFetchResponsePartition", response_topic_partition_rows)
};
#undef T

#define T struct rg__offset_fetch_response_topic
static const struct rg__field response_topic_rows[] = {
	RG__FIELD(T, name, "Name", RG__STRING, 0, 7),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, 7,
		  .fields = &rg__offset_fetch_response_topic_partition_fields),
};
const struct rg__fields rg__offset_fetch_response_topic_fields = {
	RG__FIELDS(T, "OffsetFetchResponseTopic", response_topic_rows)
};
#undef T

#define T struct rg__offset_fetch_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 3, RG__LAST, .ignorable = true),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, 7, .fields = &rg__offset_fetch_response_topic_fields),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 2, 7, .ignorable = true),
	RG__FIELD(T, groups, "Groups", RG__ARRAY, 8, RG__LAST, .fields = &rg__offset_fetch_response_group_fields),
};
const struct rg__fields rg__offset_fetch_response_fields = {
	RG__FIELDS(T, "OffsetFetchResponse", response_rows), .flexible_first = 6
};
#undef T
