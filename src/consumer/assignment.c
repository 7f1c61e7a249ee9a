/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/assignment.h"

#include "base/error.h"
#include "codec/consumer_protocol.h"

#include <string.h>

static size_t count_partitions(const struct rg__array *array)
{
	const struct rg__consumer_protocol_topic_partition *topics = array->items;
	size_t count = 0;

	for (int32_t t = 0; t < array->count; t++)
		count += topics[t].partitions.count > 0 ? (size_t)topics[t].partitions.count : 0;
	return count;
}

/* A topic that a pattern matches is accepted although this member has not found it yet: the leader has. */
static const char *find_topic(const struct rg__topics *topics, struct rg__bytes name, struct rg__arena *arena)
{
	const char *topic = rg__topics_find(topics, name);

	if (!topic && rg__patterns_match_bytes(topics->patterns, name))
		topic = rg__arena_copy(arena, name.data, name.len);
	return topic;
}

static void collect(const struct rg__array *array, const struct rg__topics *topics, struct rg__arena *arena,
                    struct rg__partitions *partitions, size_t *dropped)
{
	const struct rg__consumer_protocol_topic_partition *from = array->items;

	for (int32_t t = 0; t < array->count; t++) {
		const char *topic = find_topic(topics, from[t].topic, arena);

		for (int32_t p = 0; p < from[t].partitions.count; p++) {
			int32_t number = RG__ITEMS(int32_t, from[t].partitions)[p];

			if (topic && number >= 0)
				partitions->items[partitions->count++] = (struct rg__partition){topic, number};
			else
				++*dropped;
		}
	}
}

rg_err rg__assignment_read(rg_bytes bytes, const struct rg__topics *topics, struct rg__arena *arena,
                           const struct rg__log *log, struct rg__partitions *ret_partitions, rg_bytes *ret_userdata,
                           size_t *ret_dropped, rg_error *error)
{
	struct rg__consumer_protocol_assignment assignment = {0};
	struct rg__partitions partitions = {0};
	struct rg__codec_error refused = {0};
	size_t dropped = 0;

	if (!bytes.len) {
		rg__log(log, RG__LOG_WARNING, "ASSIGNMENT", "the leader left this member out; it owns nothing");
	} else if (!rg__assignment_decode((struct rg__bytes){bytes.data, bytes.len}, arena, &assignment, NULL, &refused)) {
		char text[RG__CODEC_TEXT_MAX];

		rg__codec_error_text(&refused, text, sizeof(text));
		return rg__fail(error, refused.out_of_memory ? RG_ERR_MEMORY : RG_ERR_PROTOCOL, "the leader's assignment: %s", text);
	}
	partitions.items = rg__arena_calloc(arena, count_partitions(&assignment.assigned_partitions),
	                                    sizeof(*partitions.items));
	if (!partitions.items)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	collect(&assignment.assigned_partitions, topics, arena, &partitions, &dropped);
	dropped += rg__partitions_sort(&partitions);
	*ret_partitions = partitions;
	*ret_userdata = (rg_bytes){assignment.user_data.data, assignment.user_data.len};
	*ret_dropped = dropped;
	return RG_OK;
}

bool rg__assignment_view(const struct rg__partitions *partitions, struct rg__arena *arena,
                         rg_assignment *ret_assignment)
{
	const char **topics = rg__arena_calloc(arena, partitions->count, sizeof(*topics));
	const int32_t **lists = rg__arena_calloc(arena, partitions->count, sizeof(*lists));
	int32_t *counts = rg__arena_calloc(arena, partitions->count, sizeof(*counts));
	int32_t *numbers = rg__arena_calloc(arena, partitions->count, sizeof(*numbers));
	int32_t topic_count = 0;

	if (!topics || !lists || !counts || !numbers)
		return false;
	for (size_t i = 0; i < partitions->count; i++) {
		const struct rg__partition *at = &partitions->items[i];

		numbers[i] = at->number;
		if (!i || strcmp(at->topic, partitions->items[i - 1].topic) != 0) {
			topics[topic_count] = at->topic;
			lists[topic_count++] = &numbers[i];
		}
		counts[topic_count - 1]++;
	}
	ret_assignment->topics = topics;
	ret_assignment->partitions = lists;
	ret_assignment->partition_counts = counts;
	ret_assignment->topic_count = topic_count;
	return true;
}
