/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_CONSUMER_PROTOCOL_H
#define RG__CODEC_CONSUMER_PROTOCOL_H

/* What consumers put into JoinGroup's metadata (a subscription) and SyncGroup's assignment: two bytes of version, then
 * a message that is never flexible.
 *
 * The reader's rule, as Kafka's own: fields are only ever appended, so a newer version than ours is read as our
 * newest, and whatever is left behind the fields is ignored. A negative version is refused. */

#include "codec/codec.h"

enum { RG__CONSUMER_PROTOCOL_LAST = 3 };

struct rg__consumer_protocol_subscription {
	struct rg__array topics;           /* of struct rg__bytes */
	struct rg__bytes user_data;        /* may be null */
	struct rg__array owned_partitions; /* of struct rg__consumer_protocol_topic_partition (KIP-429) */
	int32_t generation_id;             /* of owned_partitions; -1: not said (KIP-792) */
	struct rg__bytes rack_id;          /* may be null (KIP-881) */
};

struct rg__consumer_protocol_assignment {
	struct rg__array assigned_partitions; /* of struct rg__consumer_protocol_topic_partition */
	struct rg__bytes user_data;           /* may be null */
};

struct rg__consumer_protocol_topic_partition {
	struct rg__bytes topic;
	struct rg__array partitions; /* of int32_t */
};

extern const struct rg__fields rg__consumer_protocol_subscription_fields;
extern const struct rg__fields rg__consumer_protocol_assignment_fields;
extern const struct rg__fields rg__consumer_protocol_topic_partition_fields;

/* Appends version and message. Fields the version does not have are dropped. */
bool rg__subscription_encode(int version, const struct rg__consumer_protocol_subscription *subscription,
			     struct rg__buf *out, struct rg__codec_error *err);
bool rg__assignment_encode(int version, const struct rg__consumer_protocol_assignment *assignment, struct rg__buf *out,
			   struct rg__codec_error *err);

/* Views point into `in`, arrays live in the arena. *ret_version (may be NULL) is the version the bytes name, which may
 * be newer than ours. Zero bytes are refused like any other truncation: what an empty assignment means is for the
 * caller to say. Partition numbers are not judged here; a hostile member may have sent negative ones. */
bool rg__subscription_decode(struct rg__bytes in, struct rg__arena *arena,
			     struct rg__consumer_protocol_subscription *ret_subscription, int *ret_version,
			     struct rg__codec_error *err);
bool rg__assignment_decode(struct rg__bytes in, struct rg__arena *arena,
			   struct rg__consumer_protocol_assignment *ret_assignment, int *ret_version,
			   struct rg__codec_error *err);

#endif
