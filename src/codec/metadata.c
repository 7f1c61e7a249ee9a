/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/metadata.h"

#define T struct rg__metadata_request_topic
static const struct rg__field request_topic_rows[] = {
	RG__FIELD(T, topic_id, "TopicId", RG__UUID, 10, RG__LAST, .ignorable = true),
	RG__FIELD(T, name, "Name", RG__STRING, 0, RG__LAST, .nullable = true, .nullable_first = 10),
};
const struct rg__fields rg__metadata_request_topic_fields = {
	RG__FIELDS(T, "MetadataRequestTopic", request_topic_rows)
};
#undef T

#define T struct rg__metadata_request
static const struct rg__field request_rows[] = {
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, RG__LAST, .fields = &rg__metadata_request_topic_fields,
		  .nullable = true, .nullable_first = 1),
	RG__FIELD(T, allow_auto_topic_creation, "AllowAutoTopicCreation", RG__BOOL, 4, RG__LAST, .fallback = true),
	RG__FIELD(T, include_cluster_authorized_operations, "IncludeClusterAuthorizedOperations", RG__BOOL, 8, 10),
	RG__FIELD(T, include_topic_authorized_operations, "IncludeTopicAuthorizedOperations", RG__BOOL, 8, RG__LAST),
};
const struct rg__fields rg__metadata_request_fields = {
	RG__FIELDS(T, "MetadataRequest", request_rows), .flexible_first = 9
};
#undef T

#define T struct rg__metadata_response_topic_partition
static const struct rg__field response_topic_partition_rows[] = {
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, partition_index, "PartitionIndex", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, leader_id, "LeaderId", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, leader_epoch, "LeaderEpoch", RG__INT32, 7, RG__LAST, .ignorable = true, .fallback = -1),
	RG__FIELD(T, replica_nodes, "ReplicaNodes", RG__ARRAY, 0, RG__LAST, .element = RG__INT32),
	RG__FIELD(T, isr_nodes, "IsrNodes", RG__ARRAY, 0, RG__LAST, .element = RG__INT32),
	RG__FIELD(T, offline_replicas, "OfflineReplicas", RG__ARRAY, 5, RG__LAST, .element = RG__INT32,
		  .ignorable = true),
};
const struct rg__fields rg__metadata_response_topic_partition_fields = {
	RG__FIELDS(T, "MetadataResponsePartition", response_topic_partition_rows)
};
#undef T

#define T struct rg__metadata_response_topic
static const struct rg__field response_topic_rows[] = {
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, name, "Name", RG__STRING, 0, RG__LAST, .nullable = true, .nullable_first = 12),
	RG__FIELD(T, topic_id, "TopicId", RG__UUID, 10, RG__LAST, .ignorable = true),
	RG__FIELD(T, is_internal, "IsInternal", RG__BOOL, 1, RG__LAST, .ignorable = true),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__metadata_response_topic_partition_fields),
	RG__FIELD(T, topic_authorized_operations, "TopicAuthorizedOperations", RG__INT32, 8, RG__LAST,
		  .fallback = INT32_MIN),
};
const struct rg__fields rg__metadata_response_topic_fields = {
	RG__FIELDS(T, "MetadataResponseTopic", response_topic_rows)
};
#undef T

#define T struct rg__metadata_response_broker
static const struct rg__field response_broker_rows[] = {
	RG__FIELD(T, node_id, "NodeId", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, host, "Host", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, port, "Port", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, rack, "Rack", RG__STRING, 1, RG__LAST, .nullable = true, .ignorable = true, .fallback = RG__NULL),
};
const struct rg__fields rg__metadata_response_broker_fields = {
	RG__FIELDS(T, "MetadataResponseBroker", response_broker_rows)
};
#undef T

#define T struct rg__metadata_response
static const struct rg__field response_rows[] = {
	RG__FIELD(T, throttle_time_ms, "ThrottleTimeMs", RG__INT32, 3, RG__LAST, .ignorable = true),
	RG__FIELD(T, brokers, "Brokers", RG__ARRAY, 0, RG__LAST, .fields = &rg__metadata_response_broker_fields),
	RG__FIELD(T, cluster_id, "ClusterId", RG__STRING, 2, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
	RG__FIELD(T, controller_id, "ControllerId", RG__INT32, 1, RG__LAST, .ignorable = true, .fallback = -1),
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, RG__LAST, .fields = &rg__metadata_response_topic_fields),
	RG__FIELD(T, cluster_authorized_operations, "ClusterAuthorizedOperations", RG__INT32, 8, 10,
		  .fallback = INT32_MIN),
	RG__FIELD(T, error_code, "ErrorCode", RG__INT16, 13, RG__LAST, .ignorable = true),
};
const struct rg__fields rg__metadata_response_fields = {
	RG__FIELDS(T, "MetadataResponse", response_rows), .flexible_first = 9
};
#undef T
