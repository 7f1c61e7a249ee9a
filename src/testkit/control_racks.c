/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

#include <string.h>

/* The calls of regroup/testkit.h about where replicas are: on which brokers, and in which racks those stand. */

struct rack_arg {
	int32_t broker;
	const char *rack;
};

static rg_err no_such_broker(const struct rg_testkit *kit, int32_t broker, rg_error *error)
{
	return rg__fail(error, RG_ERR_INVALID, "there is no broker %d: they are 1 to %d", (int)broker,
			(int)kit->cluster.broker_count);
}

static rg_err set_rack(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct rack_arg *to = arg;
	struct rg__kit_broker *broker = rg__kit_broker_find(&kit->cluster, to->broker);
	const char *rack = to->rack ? to->rack : "";

	if (!broker)
		return no_such_broker(kit, to->broker, error);
	if (strlen(rack) > RG__KIT_RACK_MAX)
		return rg__fail(error, RG_ERR_INVALID, "the name of a rack has %zu bytes: it can have up to %d", strlen(rack),
				RG__KIT_RACK_MAX);
	strcpy(broker->rack, rack);
	return RG_OK;
}

rg_err rg_testkit_set_rack(rg_testkit *kit, int32_t broker, const char *rack, rg_error *error)
{
	struct rack_arg arg = {broker, rack};

	return rg__kit_call(kit, set_rack, &arg, error);
}

struct replicas_arg {
	const char *topic;
	int32_t partition;
	const int32_t *brokers;
	size_t count;
};

static rg_err read_brokers(const struct rg_testkit *kit, const struct replicas_arg *from,
			   struct rg__kit_replicas *replicas, rg_error *error)
{
	if (from->count > (size_t)kit->cluster.broker_count || (from->count && !from->brokers))
		return rg__fail(error, RG_ERR_INVALID, "%zu replicas: there can be up to %d, as there are brokers", from->count,
				(int)kit->cluster.broker_count);
	for (size_t i = 0; i < from->count; i++) {
		if (!rg__kit_broker_find((struct rg__kit_cluster *)&kit->cluster, from->brokers[i]))
			return no_such_broker(kit, from->brokers[i], error);
		for (int32_t before = 0; before < replicas->count; before++)
			if (replicas->ids[before] == from->brokers[i])
				return rg__fail(error, RG_ERR_INVALID, "broker %d is listed twice", (int)from->brokers[i]);
		replicas->ids[replicas->count++] = from->brokers[i];
	}
	return RG_OK;
}

static rg_err set_replicas(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct replicas_arg *to = arg;
	struct rg__kit_topic *topic = rg__kit_topic_find(&kit->cluster, rg__bytes_of(to->topic));
	struct rg__kit_replicas replicas = {.count = 0};
	rg_err err;

	if (!topic)
		return rg__fail(error, RG_ERR_STATE, "there is no topic %s", to->topic ? to->topic : "");
	if (to->partition < -1 || to->partition >= topic->partition_count)
		return rg__fail(error, RG_ERR_STATE, "topic %s has no partition %d: it has %d", to->topic, (int)to->partition,
				(int)topic->partition_count);
	err = read_brokers(kit, to, &replicas, error);
	if (!err && !rg__kit_topic_set_replicas(topic, to->partition, &replicas))
		err = rg__fail(error, RG_ERR_MEMORY, "out of memory");
	return err;
}

rg_err rg_testkit_set_replicas(rg_testkit *kit, const char *topic, int32_t partition, const int32_t *brokers,
			       size_t count, rg_error *error)
{
	struct replicas_arg arg = {topic, partition, brokers, count};

	return rg__kit_call(kit, set_replicas, &arg, error);
}
