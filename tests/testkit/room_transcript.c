/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api.h"
#include "codec/codec.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"
#include "room_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The actor's name for an id; a former id of his is "name~". */
static const char *name_of(struct rg__bytes id, char *space, size_t size)
{
	if (!id.data)
		return "null";
	if (!id.len)
		return "''";
	for (int i = 0; i < room.actor_count; i++) {
		if (rg__bytes_is(id, room.actors[i].id))
			return room.actors[i].name;
		for (int k = 0; k < room.actors[i].old_id_count; k++)
			if (rg__bytes_is(id, room.actors[i].old_ids[k])) {
				snprintf(space, size, "%s~", room.actors[i].name);
				return space;
			}
	}
	return "?";
}

static void learn(struct actor *a, const struct rg__join_group_response *answer)
{
	if (answer->error_code && answer->error_code != 79)
		return;
	if (!rg__bytes_is(answer->member_id, a->id) && a->id[0] && a->old_id_count < OLD_IDS_MAX)
		strcpy(a->old_ids[a->old_id_count++], a->id);
	snprintf(a->id, sizeof(a->id), "%.*s", (int)answer->member_id.len, (const char *)answer->member_id.data);
	if (!answer->error_code)
		a->generation = answer->generation_id;
}

static void write_join(const struct rg__join_group_response *answer)
{
	const struct rg__join_group_response_member *members =
		RG__ITEMS(struct rg__join_group_response_member, answer->members);
	char space[160];

	if (answer->error_code) {
		rg__buf_printf(&room.seen, "%d", answer->error_code);
		return;
	}
	rg__buf_printf(&room.seen, "gen=%d ", (int)answer->generation_id);
	if (rg__bytes_equal(answer->leader, answer->member_id)) {
		rg__buf_append_str(&room.seen, "leads [");
		for (int32_t i = 0; i < answer->members.count; i++)
			rg__buf_printf(&room.seen, "%s%s", i ? " " : "",
				       name_of(members[i].member_id, space, sizeof(space)));
		rg__buf_append_str(&room.seen, "]");
	} else {
		ck_assert_int_eq(answer->members.count, 0);
		rg__buf_printf(&room.seen, "follows %s", name_of(answer->leader, space, sizeof(space)));
	}
	rg__buf_printf(&room.seen, " %.*s%s", (int)answer->protocol_name.len, (const char *)answer->protocol_name.data,
		       answer->skip_assignment ? " skip" : "");
}

static void write_sync(struct actor *a, const struct rg__sync_group_response *answer)
{
	if (answer->error_code) {
		rg__buf_printf(&room.seen, "%d", answer->error_code);
		return;
	}
	ck_assert_ptr_nonnull(answer->assignment.data);
	snprintf(a->assignment, sizeof(a->assignment), "%.*s", (int)answer->assignment.len,
		 (const char *)answer->assignment.data);
	rg__buf_printf(&room.seen, "'%s'", a->assignment);
}

static void write_leave(int version, const struct rg__leave_group_response *answer)
{
	const struct rg__leave_group_response_member *members =
		RG__ITEMS(struct rg__leave_group_response_member, answer->members);
	char space[160];

	rg__buf_printf(&room.seen, "%d", answer->error_code);
	if (version < 3)
		ck_assert_int_eq(answer->members.count, 0);
	for (int32_t i = 0; i < answer->members.count; i++) {
		rg__buf_printf(&room.seen, " %s", name_of(members[i].member_id, space, sizeof(space)));
		if (members[i].group_instance_id.data)
			rg__buf_printf(&room.seen, "/%.*s", (int)members[i].group_instance_id.len,
				       (const char *)members[i].group_instance_id.data);
		rg__buf_printf(&room.seen, "=%d", members[i].error_code);
	}
}

static void write_commit(const struct rg__offset_commit_response *answer)
{
	const struct rg__offset_commit_response_topic *topics =
		RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics);

	for (int32_t t = 0; t < answer->topics.count; t++)
		for (int32_t p = 0; p < topics[t].partitions.count; p++) {
			const struct rg__offset_commit_response_topic_partition *partition =
				&RG__ITEMS(struct rg__offset_commit_response_topic_partition, topics[t].partitions)[p];

			rg__buf_printf(&room.seen, "%s%.*s-%d=%d", t || p ? " " : "", (int)topics[t].name.len,
				       (const char *)topics[t].name.data, (int)partition->partition_index,
				       partition->error_code);
		}
}

#define WRITE_FETCHED(topic_type, partition_type, array)                                                           \
	for (int32_t t = 0; t < (array).count; t++)                                                                 \
		for (int32_t p = 0; p < RG__ITEMS(topic_type, array)[t].partitions.count; p++) {                    \
			const topic_type *topic = &RG__ITEMS(topic_type, array)[t];                                 \
			const partition_type *at = &RG__ITEMS(partition_type, topic->partitions)[p];                \
			rg__buf_printf(&room.seen, " %.*s-%d@%" PRId64, (int)topic->name.len,                       \
				       (const char *)topic->name.data, (int)at->partition_index,                    \
				       at->committed_offset);                                                       \
			if (at->error_code)                                                                         \
				rg__buf_printf(&room.seen, "=%d", at->error_code);                                  \
		}

static void write_fetch(int version, const struct rg__offset_fetch_response *answer)
{
	const struct rg__offset_fetch_response_group *groups =
		RG__ITEMS(struct rg__offset_fetch_response_group, answer->groups);

	if (version < 8) {
		ck_assert_int_eq(answer->groups.count, 0);
		rg__buf_printf(&room.seen, "%d", answer->error_code);
		WRITE_FETCHED(struct rg__offset_fetch_response_topic, struct rg__offset_fetch_response_topic_partition,
			      answer->topics)
	}
	for (int32_t g = 0; g < answer->groups.count; g++) {
		rg__buf_printf(&room.seen, "%s%.*s=%d", g ? "; " : "", (int)groups[g].group_id.len,
			       (const char *)groups[g].group_id.data, groups[g].error_code);
		WRITE_FETCHED(struct rg__offset_fetch_response_group_topic,
			      struct rg__offset_fetch_response_group_topic_partition, groups[g].topics)
	}
}

static void write_answer(const struct rg__kit_answer *answer)
{
	const struct rg__api *api = rg__api_by_key(answer->api);
	struct actor *a = answer->connection < OUTSIDER ? &room.actors[answer->connection] : NULL;
	struct rg__buf bytes = {0};
	struct rg__codec_error error;

	/* Every answer must be one that a broker could send. */
	if (!rg__encode(api->response, answer->version, answer->body, &bytes, &error)) {
		char text[RG__CODEC_TEXT_MAX];

		rg__codec_error_text(&error, text, sizeof(text));
		ck_abort_msg("%s", text);
	}
	rg__buf_free(&bytes);
	rg__buf_printf(&room.seen, "%s < %s ", a ? a->name : "outside", api->name);
	switch (answer->api) {
	case RG__API_JOIN_GROUP:
		write_join(answer->body);
		break;
	case RG__API_SYNC_GROUP:
		write_sync(a, answer->body);
		break;
	case RG__API_HEARTBEAT:
		rg__buf_printf(&room.seen, "%d", ((const struct rg__heartbeat_response *)answer->body)->error_code);
		break;
	case RG__API_LEAVE_GROUP:
		write_leave(answer->version, answer->body);
		break;
	case RG__API_OFFSET_COMMIT:
		write_commit(answer->body);
		break;
	case RG__API_OFFSET_FETCH:
		write_fetch(answer->version, answer->body);
		break;
	default:
		ck_abort_msg("an answer to %s", api->name);
	}
	rg__buf_append_str(&room.seen, "\n");
}

static void write_event(const struct rg__kit_event *event)
{
	struct rg__event_line line = {0};
	char space[160];

	if (room.event_names) {
		rg__buf_printf(&room.seen, "%s\n", rg__kit_event_name(event->type));
		return;
	}
	if (room.all_events) {
		const char *text = rg__kit_event_line(event, 0, &line);

		rg__buf_printf(&room.seen, "%s\n", text ? text : "no memory");
		rg__event_free(&line);
		return;
	}
	if (event->type == RG__KIT_EVENT_STATE)
		rg__buf_printf(&room.seen, "%s > %s\n", rg__kit_group_state_name(event->from),
			       rg__kit_group_state_name(event->to));
	if (event->type == RG__KIT_EVENT_DELAYED_JOIN)
		rg__buf_printf(&room.seen, "delayed join %s\n", event->completed ? "completed" : "created");
	if (event->type == RG__KIT_EVENT_EXPIRED)
		rg__buf_printf(&room.seen, "%s expired: %s\n", name_of(event->member, space, sizeof(space)),
			       (const char *)event->reason.data);
}

void write_outcome(struct rg__kit_outcome *outcome)
{
	for (const struct rg__kit_answer *answer = outcome->answers; answer; answer = answer->next)
		if (answer->api == RG__API_JOIN_GROUP && answer->connection < OUTSIDER)
			learn(&room.actors[answer->connection], answer->body);
	for (const struct rg__kit_event *event = outcome->events; event; event = event->next)
		write_event(event);
	for (const struct rg__kit_answer *answer = outcome->answers; answer; answer = answer->next)
		write_answer(answer);
	rg__kit_outcome_clear(outcome);
}
