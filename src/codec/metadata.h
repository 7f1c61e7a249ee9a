/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_METADATA_H
#define RG__CODEC_METADATA_H

/* The brokers and topics of a cluster. A null topic list asks for all topics from version 1 on; in version 0 that is an
 * empty one. */

#include "codec/field.h"

struct rg__metadata_request {
	struct rg__array topics; /* of struct rg__metadata_request_topic */
	bool allow_auto_topic_creation;
	bool include_cluster_authorized_operations;
	bool include_topic_authorized_operations;
};

struct rg__metadata_request_topic {
	struct rg__uuid topic_id;
	struct rg__bytes name;
};

struct rg__metadata_response {
	int32_t throttle_time_ms;
	struct rg__array brokers; /* of struct rg__metadata_response_broker */
	struct rg__bytes cluster_id;
	int32_t controller_id;
	struct rg__array topics; /* of struct rg__metadata_response_topic */
	int32_t cluster_authorized_operations;
	int16_t error_code;
};

struct rg__metadata_response_broker {
	int32_t node_id;
	struct rg__bytes host;
	int32_t port;
	struct rg__bytes rack;
};

struct rg__metadata_response_topic {
	int16_t error_code;
	struct rg__bytes name;
	struct rg__uuid topic_id;
	bool is_internal;
	struct rg__array partitions; /* of struct rg__metadata_response_topic_partition */
	int32_t topic_authorized_operations;
};

struct rg__metadata_response_topic_partition {
	int16_t error_code;
	int32_t partition_index;
	int32_t leader_id;
	int32_t leader_epoch;
	struct rg__array replica_nodes; /* of int32_t */
	struct rg__array isr_nodes; /* of int32_t */
	struct rg__array offline_replicas; /* of int32_t */
};

extern const struct rg__fields rg__metadata_request_fields;
extern const struct rg__fields rg__metadata_request_topic_fields;
extern const struct rg__fields rg__metadata_response_fields;
extern const struct rg__fields rg__metadata_response_broker_fields;
extern const struct rg__fields rg__metadata_response_topic_fields;
extern const struct rg__fields rg__metadata_response_topic_partition_fields;

#endif
