/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_admin.h"

#include <string.h>

enum { TIMEOUT_MS = 10000 };

static rd_kafka_AdminOptions_t *options_for(rd_kafka_t *rk, rd_kafka_admin_op_t what)
{
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, what);
	char text[128];

	rd_kafka_AdminOptions_set_request_timeout(options, TIMEOUT_MS, text, sizeof(text));
	return options;
}

static struct member *find_member(struct model *model, const char *id)
{
	for (int32_t m = 0; m < model->member_count; m++)
		if (!strcmp(model->members[m].id, id))
			return &model->members[m];
	return NULL;
}

static bool take_instances(struct model *model, const rd_kafka_ConsumerGroupDescription_t *group, rg_error *error)
{
	size_t count = rd_kafka_ConsumerGroupDescription_member_count(group);
	const rd_kafka_error_t *failed = rd_kafka_ConsumerGroupDescription_error(group);

	if (failed)
		return model_fail(error, "the group's instance ids could not be read: %s", rd_kafka_error_string(failed));
	for (size_t i = 0; i < count; i++) {
		const rd_kafka_MemberDescription_t *from = rd_kafka_ConsumerGroupDescription_member(group, i);
		const char *instance_id = rd_kafka_MemberDescription_group_instance_id(from);
		struct member *member = find_member(model, rd_kafka_MemberDescription_consumer_id(from));

		if (!member)
			return model_fail(error, "the group changed while it was read: %s has come",
			                  rd_kafka_MemberDescription_consumer_id(from));
		member->instance_id = instance_id && *instance_id ? model_text(instance_id) : NULL;
	}
	return count == (size_t)model->member_count ||
	       model_fail(error, "the group changed while it was read: a member has gone");
}

bool admin_read_instances(struct model *model, rd_kafka_t *rk, const char *group, rg_error *error)
{
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_t *options = options_for(rk, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
	size_t count = 0;
	bool ok;

	rd_kafka_DescribeConsumerGroups(rk, &group, 1, options, queue);

	rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS + 1000);
	const rd_kafka_DescribeConsumerGroups_result_t *result =
		event ? rd_kafka_event_DescribeConsumerGroups_result(event) : NULL;
	const rd_kafka_ConsumerGroupDescription_t **groups =
		result ? rd_kafka_DescribeConsumerGroups_result_groups(result, &count) : NULL;

	if (count == 1)
		ok = take_instances(model, groups[0], error);
	else
		ok = model_fail(error, "the group's instance ids could not be read: %s",
		                event ? rd_kafka_event_error_string(event) : "no answer in time");
	if (event)
		rd_kafka_event_destroy(event);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return ok;
}

#if RD_KAFKA_VERSION >= 0x020300ff

static bool take_racks(const rd_kafka_Node_t *const *nodes, size_t count, const struct rd_kafka_metadata *metadata,
                       const char **racks)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		for (int b = 0; rd_kafka_Node_rack(nodes[i]) && b < metadata->broker_cnt; b++)
			if (metadata->brokers[b].id == rd_kafka_Node_id(nodes[i])) {
				racks[b] = model_text(rd_kafka_Node_rack(nodes[i]));
				any = true;
			}
	return any;
}

const char **admin_read_racks(rd_kafka_t *rk, const struct rd_kafka_metadata *metadata)
{
	const char **racks = model_alloc((size_t)metadata->broker_cnt, sizeof(*racks));
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_AdminOptions_t *options = options_for(rk, RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER);
	bool any = false;

	rd_kafka_DescribeCluster(rk, options, queue);

	rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS + 1000);
	const rd_kafka_DescribeCluster_result_t *result = event ? rd_kafka_event_DescribeCluster_result(event) : NULL;

	if (result && !rd_kafka_event_error(event)) {
		size_t count;
		const rd_kafka_Node_t **nodes = rd_kafka_DescribeCluster_result_nodes(result, &count);

		any = take_racks((const rd_kafka_Node_t *const *)nodes, count, metadata, racks);
	}
	if (event)
		rd_kafka_event_destroy(event);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return any ? racks : NULL;
}

#else

const char **admin_read_racks(rd_kafka_t *rk, const struct rd_kafka_metadata *metadata)
{
	(void)rk;
	(void)metadata;
	return NULL;
}

#endif
