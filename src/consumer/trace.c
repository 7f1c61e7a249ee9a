/* SPDX-License-Identifier: Apache-2.0 */
/* The consumer's lines in the event stream. */
#include "consumer/internal.h"

#include <string.h>

static bool begin(rg_consumer *consumer, struct rg__event_line *line, const char *event)
{
	struct rg__event_sink *sink = rg__member_events(consumer->member);

	if (!rg__event_wanted(sink))
		return false;
	rg__event_begin(line, rg__event_now_us(sink), "client", consumer->member_id, consumer->generation, event);
	return true;
}

static void add_partitions(struct rg__event_line *line, const struct rg__partitions *partitions)
{
	rg__event_partitions_begin(line, "partitions");
	for (size_t i = 0; i < partitions->count; i++) {
		const struct rg__partition *at = &partitions->items[i];

		rg__event_partition(line, at->topic, at->number, i == 0,
		                    i == 0 || strcmp(at->topic, partitions->items[i - 1].topic) != 0);
	}
	rg__event_partitions_end(line, partitions->count > 0);
}

void rg__event_of(rg_consumer *consumer, const char *event, const struct rg__partitions *partitions, const char *reason)
{
	struct rg__event_line line = {0};

	if (!begin(consumer, &line, event))
		return;
	if (partitions)
		add_partitions(&line, partitions);
	else if (!strcmp(event, "complete"))
		rg__event_bool(&line, "leader", consumer->is_leader);
	if (reason)
		rg__event_str(&line, "reason", reason);
	rg__event_emit(rg__member_events(consumer->member), &line);
}

void rg__event_of_assign(rg_consumer *consumer, int64_t duration_us, size_t members,
                         const struct rg__lead_result *result)
{
	struct rg__event_sink *sink = rg__member_events(consumer->member);
	const rg_member_event *event = consumer->event;
	struct rg__event_line line = {0};

	if (!rg__event_wanted(sink))
		return;
	rg__event_begin(&line, rg__event_now_us(sink), "client", event->member_id, event->generation, "assign");
	rg__event_str(&line, "protocol", event->protocol);
	rg__event_int(&line, "duration_us", duration_us);
	rg__event_int(&line, "members", (int64_t)members);
	rg__event_int(&line, "topics", result->topics);
	rg__event_int(&line, "partition_count", result->partitions);
	rg__event_int(&line, "withheld", result->withheld);
	rg__event_emit(rg__member_events(consumer->member), &line);
}
