/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

#include <string.h>

/* The calls of regroup/testkit.h that change the cluster: each is a small function that runs on the kit's thread, and
 * the call that hands it over. */

struct topic_arg {
	const char *name;
	int32_t partition_count;
};

static rg_err add_topic(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct topic_arg *topic = arg;

	return rg__kit_add_topic(kit, topic->name, topic->partition_count, error);
}

rg_err rg_testkit_add_topic(rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error)
{
	struct topic_arg arg = {name, partition_count};

	return rg__kit_call(kit, add_topic, &arg, error);
}

static struct rg__kit_topic *find_topic(struct rg_testkit *kit, const char *name, rg_error *error)
{
	struct rg__kit_topic *topic = rg__kit_topic_find(&kit->cluster, rg__bytes_of(name));

	if (!topic)
		rg__fail(error, RG_ERR_STATE, "there is no topic %s", name);
	return topic;
}

static rg_err grow_topic(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct topic_arg *wanted = arg;
	struct rg__kit_topic *topic = find_topic(kit, wanted->name, error);

	if (!topic)
		return RG_ERR_STATE;
	if (wanted->partition_count > kit->conf.partitions_max)
		return rg__fail(error, RG_ERR_INVALID, "topic %s: %d partitions: it can have up to %d", wanted->name,
				(int)wanted->partition_count, (int)kit->conf.partitions_max);
	if (wanted->partition_count < topic->partition_count)
		return rg__fail(error, RG_ERR_STATE, "topic %s has %d partitions already", wanted->name,
				(int)topic->partition_count);
	topic->partition_count = wanted->partition_count;
	return RG_OK;
}

rg_err rg_testkit_grow_topic(rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error)
{
	struct topic_arg arg = {name, partition_count};

	return rg__kit_call(kit, grow_topic, &arg, error);
}

static rg_err remove_topic(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct rg__kit_topic *topic = find_topic(kit, arg, error);

	if (!topic)
		return RG_ERR_STATE;
	rg__kit_topic_remove(&kit->cluster, topic);
	return RG_OK;
}

rg_err rg_testkit_remove_topic(rg_testkit *kit, const char *name, rg_error *error)
{
	return rg__kit_call(kit, remove_topic, (void *)(uintptr_t)name, error);
}

static struct rg__kit_front *find_front(struct rg_testkit *kit, int32_t broker, rg_error *error)
{
	if (broker >= 1 && broker <= kit->cluster.broker_count)
		return &kit->fronts[broker - 1];
	rg__fail(error, RG_ERR_INVALID, "there is no broker %d: they are 1 to %d", (int)broker,
		 (int)kit->cluster.broker_count);
	return NULL;
}

static rg_err stop_broker(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct rg__kit_front *front = find_front(kit, *(const int32_t *)arg, error);

	if (!front)
		return RG_ERR_INVALID;
	rg__kit_front_close(front);
	return RG_OK;
}

rg_err rg_testkit_stop_broker(rg_testkit *kit, int32_t broker, rg_error *error)
{
	return rg__kit_call(kit, stop_broker, &broker, error);
}

static rg_err start_broker(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct rg__kit_front *front = find_front(kit, *(const int32_t *)arg, error);

	if (!front)
		return RG_ERR_INVALID;
	return front->listener ? RG_OK : rg__kit_front_open(front, error);
}

rg_err rg_testkit_start_broker(rg_testkit *kit, int32_t broker, rg_error *error)
{
	return rg__kit_call(kit, start_broker, &broker, error);
}

struct move_arg {
	const char *group;
	int32_t broker, load_ms;
	bool keep;
};

static rg_err move(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct move_arg *to = arg;
	struct rg__kit_outcome outcome = {0};
	bool ok;

	if (!find_front(kit, to->broker, error))
		return RG_ERR_INVALID;
	if (to->load_ms < 0)
		return rg__fail(error, RG_ERR_INVALID, "load_ms is %d: it must not be negative", (int)to->load_ms);
	ok = rg__kit_coordinator_set(&kit->cluster, rg__bytes_of(to->group), to->broker) &&
	     rg__kit_coordinator_move(kit->coordinator, rg__kit_now_us(), rg__bytes_of(to->group), to->keep,
				      (int64_t)to->load_ms * 1000, &outcome);
	if (ok)
		rg__kit_dispatch(kit, &outcome);
	else
		rg__kit_break(kit, "while a coordinator moved");
	rg__kit_outcome_clear(&outcome);
	rg__kit_time_passed(kit);
	return ok ? RG_OK : rg__fail(error, RG_ERR_MEMORY, "out of memory");
}

rg_err rg_testkit_move_coordinator(rg_testkit *kit, const char *group, int32_t broker, bool keep, int32_t load_ms,
				   rg_error *error)
{
	struct move_arg arg = {group, broker, load_ms, keep};

	return rg__kit_call(kit, move, &arg, error);
}

struct coordinator_arg {
	const char *group;
	int32_t broker;
};

static rg_err coordinator(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct coordinator_arg *of = arg;

	(void)error;
	of->broker = rg__kit_coordinator_of(&kit->cluster, rg__bytes_of(of->group));
	return RG_OK;
}

int32_t rg_testkit_coordinator(rg_testkit *kit, const char *group)
{
	struct coordinator_arg arg = {group, -1};

	return rg__kit_call(kit, coordinator, &arg, NULL) ? -1 : arg.broker;
}

struct versions_arg {
	int api, first, last;
};

static rg_err set_versions(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct versions_arg *to = arg;
	const struct rg__api *api = rg__api_by_key(to->api);
	bool hide = to->first == -1 && to->last == -1;

	if (to->api < 0 || to->api > INT16_MAX || (!hide && (to->first < 0 || to->last < to->first || to->last > INT16_MAX)))
		return rg__fail(error, RG_ERR_INVALID, "API %d in versions %d to %d: no such range", to->api, to->first,
				to->last);
	if (api && !hide && (to->first < api->first || to->last > api->last))
		return rg__fail(error, RG_ERR_INVALID, "%s is spoken in versions %d to %d here, not %d to %d", api->name,
				api->first, api->last, to->first, to->last);
	if (!rg__kit_versions_set(&kit->cluster, (int16_t)to->api, (int16_t)to->first, (int16_t)to->last))
		return rg__fail(error, RG_ERR_INVALID, "too many APIs");
	return RG_OK;
}

rg_err rg_testkit_set_versions(rg_testkit *kit, int api_key, int first, int last, rg_error *error)
{
	struct versions_arg arg = {api_key, first, last};

	return rg__kit_call(kit, set_versions, &arg, error);
}

static rg_err set_group_max_size(struct rg_testkit *kit, void *arg, rg_error *error)
{
	int32_t size = *(const int32_t *)arg;

	if (size < 1)
		return rg__fail(error, RG_ERR_INVALID, "group.max.size is %d: it must be 1 or more", (int)size);
	rg__kit_coordinator_settings(kit->coordinator)->group_size_max = size;
	return RG_OK;
}

rg_err rg_testkit_set_group_max_size(rg_testkit *kit, int32_t size, rg_error *error)
{
	return rg__kit_call(kit, set_group_max_size, &size, error);
}

struct latency_arg {
	int32_t broker, latency_ms;
};

static rg_err set_latency(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct latency_arg *to = arg;
	struct rg__kit_front *front = find_front(kit, to->broker, error);

	if (!front)
		return RG_ERR_INVALID;
	if (to->latency_ms < 0)
		return rg__fail(error, RG_ERR_INVALID, "latency_ms is %d: it must not be negative", (int)to->latency_ms);
	front->latency_ms = to->latency_ms;
	return RG_OK;
}

rg_err rg_testkit_set_latency(rg_testkit *kit, int32_t broker, int32_t latency_ms, rg_error *error)
{
	struct latency_arg arg = {broker, latency_ms};

	return rg__kit_call(kit, set_latency, &arg, error);
}

struct count_arg {
	int api;
	int64_t count;
};

static rg_err request_count(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct count_arg *of = arg;

	(void)error;
	of->count = of->api < 0 ? kit->request_total : of->api < RG__KIT_API_KEYS ? kit->request_counts[of->api] : 0;
	return RG_OK;
}

int64_t rg_testkit_request_count(rg_testkit *kit, int api_key)
{
	struct count_arg arg = {api_key, 0};

	return rg__kit_call(kit, request_count, &arg, NULL) ? -1 : arg.count;
}

struct describe_arg {
	const char *group;
	struct rg__buf text;
};

static rg_err describe_group(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct describe_arg *of = arg;

	if (rg__kit_coordinator_print(kit->coordinator, rg__bytes_of(of->group), &of->text))
		return RG_OK;
	return rg__fail(error, RG_ERR_MEMORY, "out of memory");
}

rg_err rg_testkit_describe_group(rg_testkit *kit, const char *group, char *text, size_t size, rg_error *error)
{
	struct describe_arg arg = {group, {0}};
	rg_err err = rg__kit_call(kit, describe_group, &arg, error);

	if (!err && size)
		snprintf(text, size, "%.*s", (int)arg.text.len, (const char *)rg__buf_view(&arg.text).data);
	rg__buf_free(&arg.text);
	return err;
}
