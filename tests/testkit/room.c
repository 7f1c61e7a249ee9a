/* SPDX-License-Identifier: Apache-2.0 */
#include "room_inside.h"

#include "base/alloc.h"
#include "codec/api.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct room room;

void enter_room(void)
{
	struct rg__kit_coordinator_conf conf;

	memset(&room, 0, sizeof(room));
	rg__kit_coordinator_conf_init(&conf);
	conf.initial_delay_us = 0;
	room.coordinator = rg__kit_coordinator_new(&conf);
	ck_assert_ptr_nonnull(room.coordinator);
	room.now_us = 1000000;
}

void leave_room(void)
{
	rg__kit_coordinator_free(room.coordinator);
	room.coordinator = NULL;
	rg__buf_free(&room.seen);
}

struct rg__kit_coordinator_conf *settings(void)
{
	return rg__kit_coordinator_settings(room.coordinator);
}

struct actor *actor(const char *name)
{
	struct actor *a = &room.actors[room.actor_count++];

	ck_assert_int_le(room.actor_count, ACTORS_MAX);
	*a = (struct actor){.name = name,
			    .join_version = 9,
			    .session_ms = 10000,
			    .rebalance_ms = 60000,
			    .protocols = "range:t",
			    .protocol_type = "consumer",
			    .group = "g",
			    .generation = -1};
	return a;
}

struct actor *static_actor(const char *name, const char *instance_id)
{
	struct actor *a = actor(name);

	a->instance_id = instance_id;
	return a;
}

void show_all_events(void)
{
	room.all_events = true;
}

void show_event_names(void)
{
	room.event_names = true;
}

static void step(uint64_t connection, const char *client_id, int16_t api, int version, const void *body)
{
	struct rg__kit_request request = {.connection = connection,
					  .correlation_id = ++room.correlation_id,
					  .client_id = rg__bytes_of(client_id),
					  .api = api,
					  .version = (int16_t)version,
					  .body = body};
	struct rg__kit_outcome outcome = {0};
	bool starving = room.allocations_left > 0 || room.starved, ok;

	rg__alloc_fail_after(room.allocations_left);
	ok = rg__kit_coordinator_step(room.coordinator, room.now_us, body ? &request : NULL, &outcome);
	room.allocations_left = rg__alloc_fail_after(0);
	ck_assert(ok || starving);
	ck_assert(!ok || !room.starved);
	room.starved = !ok;
	if (ok)
		write_outcome(&outcome);
	else
		rg__kit_outcome_clear(&outcome);
}

static void step_of(const struct actor *a, int16_t api, int version, const void *body)
{
	step((uint64_t)(a - room.actors), a->name, api, version, body);
}

/* Splits "a b c" in place; returns how many. */
static int split(char *text, const char *at, char *parts[], int max)
{
	int count = 0;

	for (char *part = strtok(text, at); part && count < max; part = strtok(NULL, at))
		parts[count++] = part;
	return count;
}

void join(struct actor *a)
{
	struct rg__join_group_request request;
	struct rg__join_group_request_protocol protocols[8];
	char text[256], *parts[8];

	rg__fields_init(&rg__join_group_request_fields, &request);
	snprintf(text, sizeof(text), "%s", a->protocols);
	request.protocols = (struct rg__array){protocols, split(text, " ", parts, 8)};
	for (int i = 0; i < request.protocols.count; i++) {
		char *colon = strchr(parts[i], ':');

		*colon = '\0';
		protocols[i].name = rg__bytes_of(parts[i]);
		protocols[i].metadata = rg__bytes_of(colon + 1);
	}
	request.group_id = rg__bytes_of(a->group);
	request.session_timeout_ms = a->session_ms;
	request.rebalance_timeout_ms = a->rebalance_ms;
	request.member_id = rg__bytes_of(a->id);
	request.group_instance_id = rg__bytes_of(a->instance_id);
	request.protocol_type = rg__bytes_of(a->protocol_type);
	request.reason = rg__bytes_of(a->reason);
	step_of(a, RG__API_JOIN_GROUP, a->join_version, &request);
}

void join_twice(struct actor *a)
{
	char expected[64];

	join(a);
	snprintf(expected, sizeof(expected), "%s < JoinGroup 79\n", a->name);
	saw(expected);
	join(a);
}

/* The actor's name, or the id it had before for "name~", becomes an id. */
static const char *id_of(const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < room.actor_count; i++) {
		struct actor *a = &room.actors[i];

		if (!strcmp(a->name, name))
			return a->id;
		if (a->old_id_count && len && name[len - 1] == '~' && !strncmp(a->name, name, len - 1))
			return a->old_ids[a->old_id_count - 1];
	}
	return name;
}

static void sync_full(struct actor *a, int32_t generation, const char *type, const char *protocol, const char *plan)
{
	struct rg__sync_group_request request;
	struct rg__sync_group_request_assignment assignments[8];
	char text[256], *parts[8];

	rg__fields_init(&rg__sync_group_request_fields, &request);
	snprintf(text, sizeof(text), "%s", plan);
	request.assignments = (struct rg__array){assignments, split(text, " ", parts, 8)};
	for (int i = 0; i < request.assignments.count; i++) {
		char *equals = strchr(parts[i], '=');

		*equals = '\0';
		assignments[i].member_id = rg__bytes_of(id_of(parts[i]));
		assignments[i].assignment = rg__bytes_of(equals + 1);
	}
	request.group_id = rg__bytes_of(a->group);
	request.generation_id = generation;
	request.member_id = rg__bytes_of(a->id);
	request.group_instance_id = rg__bytes_of(a->instance_id);
	request.protocol_type = rg__bytes_of(type);
	request.protocol_name = rg__bytes_of(protocol);
	step_of(a, RG__API_SYNC_GROUP, type || protocol ? 5 : 3, &request);
}

void sync_plan(struct actor *a, const char *plan)
{
	sync_full(a, a->generation, NULL, NULL, plan);
}

void sync_with(struct actor *a, int32_t generation, const char *type, const char *protocol)
{
	sync_full(a, generation, type, protocol, "");
}

void heartbeat(struct actor *a)
{
	struct rg__heartbeat_request request = {.group_id = rg__bytes_of(a->group),
						.generation_id = a->generation,
						.member_id = rg__bytes_of(a->id),
						.group_instance_id = rg__bytes_of(a->instance_id)};

	step_of(a, RG__API_HEARTBEAT, 4, &request);
}

void leave(struct actor *a)
{
	struct rg__leave_group_request_member member = {.member_id = rg__bytes_of(a->id),
							.group_instance_id = rg__bytes_of(a->instance_id)};
	struct rg__leave_group_request request = {
		.group_id = rg__bytes_of(a->group), .member_id = rg__bytes_of(""), .members = {&member, 1}};

	step_of(a, RG__API_LEAVE_GROUP, 5, &request);
}

void leave_batch(int version, const char *entries)
{
	struct rg__leave_group_request request = {.group_id = rg__bytes_of("g"), .member_id = rg__bytes_of("")};
	struct rg__leave_group_request_member members[8];
	char text[256], *parts[8];

	snprintf(text, sizeof(text), "%s", entries);
	request.members = (struct rg__array){members, split(text, " ", parts, 8)};
	for (int i = 0; i < request.members.count; i++) {
		char *slash = strchr(parts[i], '/');

		if (slash)
			*slash = '\0';
		members[i] = (struct rg__leave_group_request_member){
			.member_id = rg__bytes_of(id_of(parts[i])), .group_instance_id = rg__bytes_of(slash ? slash + 1 : NULL)};
	}
	if (version < 3)
		request.member_id = members[0].member_id;
	step(OUTSIDER, "outside", RG__API_LEAVE_GROUP, version, &request);
}

static void commit_as(uint64_t connection, const char *name, int version, struct rg__offset_commit_request *request,
		      const char *topic, int32_t partition, int64_t offset)
{
	struct rg__offset_commit_request_topic_partition at = {.partition_index = partition,
							       .committed_offset = offset,
							       .committed_leader_epoch = 7,
							       .committed_metadata = rg__bytes_of("note")};
	struct rg__offset_commit_request_topic in = {.name = rg__bytes_of(topic), .partitions = {&at, 1}};

	request->retention_time_ms = -1;
	request->topics = (struct rg__array){&in, 1};
	step(connection, name, RG__API_OFFSET_COMMIT, version, request);
}

void commit(struct actor *a, int version, const char *topic, int32_t partition, int64_t offset)
{
	struct rg__offset_commit_request request = {.group_id = rg__bytes_of(a->group),
						    .generation_id_or_member_epoch = a->generation,
						    .member_id = rg__bytes_of(a->id),
						    .group_instance_id = rg__bytes_of(a->instance_id)};

	commit_as((uint64_t)(a - room.actors), a->name, version, &request, topic, partition, offset);
}

void commit_outside(int version, const char *group, const char *topic, int32_t partition, int64_t offset)
{
	struct rg__offset_commit_request request = {.group_id = rg__bytes_of(group),
						    .generation_id_or_member_epoch = -1,
						    .member_id = rg__bytes_of("")};

	commit_as(OUTSIDER, "outside", version, &request, topic, partition, offset);
}

void fetch(int version, const char *group, const char *topics)
{
	struct rg__offset_fetch_request request = {.group_id = rg__bytes_of(version < 8 ? group : ""),
						   .require_stable = version >= 7};
	struct rg__offset_fetch_request_topic old[8];
	struct rg__offset_fetch_request_group_topic new[8];
	struct rg__offset_fetch_request_group in = {.group_id = rg__bytes_of(group), .member_epoch = -1};
	int32_t partitions[8][8];
	char text[256], *parts[8];
	int count;

	snprintf(text, sizeof(text), "%s", topics ? topics : "");
	count = split(text, " ", parts, 8);
	for (int i = 0; i < count; i++) {
		char *at = strchr(parts[i], ':');
		struct rg__array indexes = {partitions[i], 0};

		*at = '\0';
		for (; at && indexes.count < 8; at = strchr(at + 1, ','))
			partitions[i][indexes.count++] = (int32_t)strtol(at + 1, NULL, 10);
		old[i].name = new[i].name = rg__bytes_of(parts[i]);
		old[i].partition_indexes = new[i].partition_indexes = indexes;
	}
	request.topics = version < 8 ? (struct rg__array){old, topics ? count : -1} : (struct rg__array){NULL, 0};
	in.topics = (struct rg__array){new, topics ? count : -1};
	if (version >= 8)
		request.groups = (struct rg__array){&in, 1};
	step(OUTSIDER, "outside", RG__API_OFFSET_FETCH, version, &request);
}

int64_t now_ms(void)
{
	return room.now_us / 1000;
}

int64_t next_deadline_ms(void)
{
	int64_t due_us = rg__kit_coordinator_deadline(room.coordinator);

	return due_us == RG__KIT_NO_DEADLINE ? -1 : (due_us - room.now_us) / 1000;
}

void pass_ms(int64_t ms)
{
	int64_t end_us = room.now_us + ms * 1000;

	while (!room.starved && rg__kit_coordinator_deadline(room.coordinator) <= end_us) {
		int64_t due_us = rg__kit_coordinator_deadline(room.coordinator);

		if (due_us > room.now_us)
			room.now_us = due_us;
		step(OUTSIDER, "", 0, 0, NULL);
	}
	room.now_us = end_us;
}

void jump_ms(int64_t ms)
{
	room.now_us += ms * 1000;
}

void move_coordinator(bool keep, int64_t load_ms)
{
	struct rg__kit_outcome outcome = {0};
	bool starving = room.allocations_left > 0 || room.starved, ok;

	rg__alloc_fail_after(room.allocations_left);
	ok = rg__kit_coordinator_move(room.coordinator, room.now_us, rg__bytes_of("g"), keep, load_ms * 1000, &outcome);
	room.allocations_left = rg__alloc_fail_after(0);
	ck_assert(ok || starving);
	room.starved = !ok;
	if (ok)
		write_outcome(&outcome);
	else
		rg__kit_outcome_clear(&outcome);
}

static void compare(const char *file, int line, const char *what, const char *expected)
{
	rg__buf_append(&room.seen, "", 1);
	ck_assert(!room.seen.failed);
	if (strcmp((const char *)room.seen.data, expected) != 0)
		_ck_assert_failed(file, line, what, "saw:\n%s\nexpected:\n%s", (const char *)room.seen.data, expected);
	room.seen.len = 0;
}

void saw_at(const char *file, int line, const char *expected)
{
	compare(file, line, "what happened", expected);
}

void starve(long nth)
{
	room.allocations_left = nth;
}

bool starved(void)
{
	return room.starved;
}

void forget_seen(void)
{
	room.seen.len = 0;
}

void group_is_at(const char *file, int line, const char *expected)
{
	struct rg__buf printed = {0};
	const char *at;

	saw_at(file, line, "");
	ck_assert(rg__kit_coordinator_print(room.coordinator, rg__bytes_of("g"), &printed));
	rg__buf_append(&printed, "", 1);
	/* Names for ids: "m1-8f…-…" starts with the name it was made from. */
	for (at = (const char *)printed.data; *at;) {
		bool found = false;

		for (int i = 0; i < room.actor_count && !found; i++) {
			const char *id = room.actors[i].id;

			if (id[0] && !strncmp(at, id, strlen(id))) {
				rg__buf_append_str(&room.seen, room.actors[i].name);
				at += strlen(id);
				found = true;
			}
		}
		if (!found)
			rg__buf_append(&room.seen, at++, 1);
	}
	rg__buf_free(&printed);
	compare(file, line, "the group", expected);
}

void settle(int count, struct actor *members[])
{
	char plan[256] = "";

	for (int i = 0; i < count; i++) {
		join(members[i]);
		if (!members[i]->instance_id && members[i]->join_version >= 4)
			join(members[i]);
		snprintf(plan + strlen(plan), sizeof(plan) - strlen(plan), "%s=p%d ", members[i]->name, i);
		/* Those who were here before come back for the newcomer. */
		for (int k = 0; k < i; k++)
			join(members[k]);
	}
	for (int i = 1; i < count; i++)
		sync_plan(members[i], "");
	sync_plan(members[0], plan);
	room.seen.len = 0;
}
