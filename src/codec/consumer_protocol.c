/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/consumer_protocol.h"

#include "codec/wire.h"

#define T struct rg__consumer_protocol_topic_partition
static const struct rg__field topic_partition_rows[] = {
	RG__FIELD(T, topic, "Topic", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, RG__LAST, .element = RG__INT32),
};
const struct rg__fields rg__consumer_protocol_topic_partition_fields = {
	RG__FIELDS(T, "TopicPartition", topic_partition_rows)
};
#undef T

#define T struct rg__consumer_protocol_subscription
static const struct rg__field subscription_rows[] = {
	RG__FIELD(T, topics, "Topics", RG__ARRAY, 0, RG__LAST, .element = RG__STRING),
	RG__FIELD(T, user_data, "UserData", RG__BYTES, 0, RG__LAST, .nullable = true, .fallback = RG__NULL),
	RG__FIELD(T, owned_partitions, "OwnedPartitions", RG__ARRAY, 1, RG__LAST,
		  .fields = &rg__consumer_protocol_topic_partition_fields, .ignorable = true),
	RG__FIELD(T, generation_id, "GenerationId", RG__INT32, 2, RG__LAST, .ignorable = true, .fallback = -1),
	RG__FIELD(T, rack_id, "RackId", RG__STRING, 3, RG__LAST, .nullable = true, .ignorable = true,
		  .fallback = RG__NULL),
};
const struct rg__fields rg__consumer_protocol_subscription_fields = {
	RG__FIELDS(T, "ConsumerProtocolSubscription", subscription_rows), .flexible_first = RG__NEVER
};
#undef T

#define T struct rg__consumer_protocol_assignment
static const struct rg__field assignment_rows[] = {
	RG__FIELD(T, assigned_partitions, "AssignedPartitions", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__consumer_protocol_topic_partition_fields),
	RG__FIELD(T, user_data, "UserData", RG__BYTES, 0, RG__LAST, .nullable = true, .fallback = RG__NULL),
};
const struct rg__fields rg__consumer_protocol_assignment_fields = {
	RG__FIELDS(T, "ConsumerProtocolAssignment", assignment_rows), .flexible_first = RG__NEVER
};
#undef T

/* The two bytes in front, as a message of one field. */
struct prefix {
	int16_t version;
};

static const struct rg__field prefix_rows[] = {
	RG__FIELD(struct prefix, version, "Version", RG__INT16, 0, RG__LAST),
};
static const struct rg__fields prefix_fields = {
	RG__FIELDS(struct prefix, "Version", prefix_rows), .flexible_first = RG__NEVER
};

static bool encode(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out,
		   struct rg__codec_error *err)
{
	struct prefix prefix = {(int16_t)version};
	size_t start = out->len;

	if (version < 0 || version > RG__CONSUMER_PROTOCOL_LAST)
		return rg__codec_refuse(err, fields->name, version, false, "only versions 0 to %d are spoken here",
					RG__CONSUMER_PROTOCOL_LAST);
	if (rg__encode(&prefix_fields, 0, &prefix, out, err) && rg__encode(fields, version, message, out, err))
		return true;
	out->len = start;
	return false;
}

static bool decode(const struct rg__fields *fields, struct rg__bytes in, struct rg__arena *arena, void *ret_message,
		   int *ret_version, struct rg__codec_error *err)
{
	struct prefix prefix;
	size_t at, end;
	int version;

	if (!rg__decode_at(&prefix_fields, fields->name, 0, in, 0, arena, &prefix, &at, err)) {
		if (err)
			err->version = -1;
		return false;
	}
	if (prefix.version < 0)
		return rg__codec_refuse(err, fields->name, -1, true, "negative version %d", prefix.version);
	version = prefix.version < RG__CONSUMER_PROTOCOL_LAST ? prefix.version : RG__CONSUMER_PROTOCOL_LAST;
	if (!rg__decode_at(fields, fields->name, version, in, at, arena, ret_message, &end, err))
		return false;
	if (ret_version)
		*ret_version = prefix.version;
	return true;
}

bool rg__subscription_encode(int version, const struct rg__consumer_protocol_subscription *subscription,
			     struct rg__buf *out, struct rg__codec_error *err)
{
	return encode(&rg__consumer_protocol_subscription_fields, version, subscription, out, err);
}

bool rg__assignment_encode(int version, const struct rg__consumer_protocol_assignment *assignment, struct rg__buf *out,
			   struct rg__codec_error *err)
{
	return encode(&rg__consumer_protocol_assignment_fields, version, assignment, out, err);
}

bool rg__subscription_decode(struct rg__bytes in, struct rg__arena *arena,
			     struct rg__consumer_protocol_subscription *ret_subscription, int *ret_version,
			     struct rg__codec_error *err)
{
	return decode(&rg__consumer_protocol_subscription_fields, in, arena, ret_subscription, ret_version, err);
}

bool rg__assignment_decode(struct rg__bytes in, struct rg__arena *arena,
			   struct rg__consumer_protocol_assignment *ret_assignment, int *ret_version,
			   struct rg__codec_error *err)
{
	return decode(&rg__consumer_protocol_assignment_fields, in, arena, ret_assignment, ret_version, err);
}
