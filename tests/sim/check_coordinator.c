/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator of the testkit against the rules of brokers, told from outside: by its events and answers, and by who sits in
 * the group. What the members of a run prove about themselves they prove against this. */
#include "codec/api.h"
#include "codec/heartbeat.h"
#include "codec/offset_commit.h"
#include "sim.h"
#include "testkit/coordinator.h"

#include <string.h>

enum { SLACK_US = 300000 };

uint64_t check_hash(struct rg__bytes bytes)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes.len; i++)
		h = (h ^ bytes.data[i]) * UINT64_C(0x100000001b3);
	return h;
}

static const struct rg__kit_group *the_group(const struct sim *sim)
{
	if (rg__kit_unloaded_find(sim->cluster.coordinator, rg__bytes_of("g")))
		return NULL;
	return rg__kit_group_find(sim->cluster.coordinator, rg__bytes_of("g"));
}

/* --- Generations ------------------------------------------------------------------------------------------------------------ */

static bool has(const uint64_t *hashes, int count, struct rg__bytes id)
{
	uint64_t h = check_hash(id);

	for (int i = 0; i < count; i++)
		if (hashes[i] == h)
			return true;
	return false;
}

/* A crowd that does not fit is not looked at. */
static void note(struct begun *begun, uint64_t *hashes, int *count, struct rg__bytes id)
{
	if (has(hashes, *count, id))
		return;
	if (*count == SEATS_MAX)
		begun->generation = -1;
	else
		hashes[(*count)++] = check_hash(id);
}

static void note_state(struct sim *sim, const struct rg__kit_event *event)
{
	if (event->to == RG__KIT_EMPTY)
		sim->last_generation = -1;
	if (event->to == RG__KIT_EMPTY || event->to == RG__KIT_DEAD)
		sim->begun.generation = -1;
	if (event->to == RG__KIT_PREPARING_REBALANCE)
		sim->begun.prepared_us = sim->world.now_us;
	if (event->to != RG__KIT_AWAITING_SYNC)
		return;
	if (event->generation <= sim->last_generation)
		sim_broken(sim, "the coordinator begins generation %d after generation %d", (int)event->generation,
		           (int)sim->last_generation);
	sim->last_generation = event->generation;
	sim->begun = (struct begun){.generation = event->generation, .at_us = sim->world.now_us};
}

void check_coordinator_event(void *user, const struct rg__kit_event *event)
{
	struct sim *sim = user;
	struct begun *begun = &sim->begun;
	struct rg__event_line line = {0};
	const char *text;

	if (event->type == RG__KIT_EVENT_STATE)
		note_state(sim, event);
	if (event->type == RG__KIT_EVENT_JOIN_ANSWERED && !event->error && event->generation == begun->generation)
		note(begun, begun->joined, &begun->joined_count, event->member);
	if (event->type == RG__KIT_EVENT_SYNC_RECEIVED && event->generation == begun->generation)
		note(begun, begun->synced, &begun->synced_count, event->member);
	foreign_heard(sim, event);
	if (!sim->events)
		return;
	text = rg__kit_event_line(event, sim->world.now_us, &line);
	if (text)
		fprintf(sim->events, "%s\n", text);
	rg__event_free(&line);
}

/* broker: who is in a generation has joined it, but for static members, which may be away; and who has not asked for the plan
 * within the rebalance timeout is out (KAFKA-12890). */
void check_coordinator(struct sim *sim)
{
	const struct rg__kit_group *group = the_group(sim);
	const struct begun *begun = &sim->begun;
	int64_t sync_due_us = begun->at_us + sim->settings.max_poll_ms * INT64_C(1000);
	bool settled, late;

	if (!group || begun->generation < 0 || group->generation != begun->generation)
		return;
	settled = group->state == RG__KIT_AWAITING_SYNC || group->state == RG__KIT_STABLE;
	late = sim->world.now_us > sync_due_us + SLACK_US &&
	       (settled || (group->state == RG__KIT_PREPARING_REBALANCE && begun->prepared_us >= sync_due_us));
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		if (member->instance_id.data || member->is_new)
			continue;
		if (settled && !has(begun->joined, begun->joined_count, member->id))
			sim_broken(sim, "the coordinator keeps %s in generation %d, which it did not join", (const char *)member->id.data,
			           (int)begun->generation);
		if (late && !has(begun->synced, begun->synced_count, member->id))
			sim_broken(sim, "the coordinator keeps %s, which did not ask for the plan of generation %d in time",
			           (const char *)member->id.data, (int)begun->generation);
	}
}

/* --- Answers ------------------------------------------------------------------------------------------------------------------ */

static bool commits_something(const struct rg__offset_commit_response *answer)
{
	for (int32_t t = 0; t < answer->topics.count; t++) {
		const struct rg__offset_commit_response_topic *topic =
			&RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)[t];

		for (int32_t p = 0; p < topic->partitions.count; p++)
			if (!RG__ITEMS(struct rg__offset_commit_response_topic_partition, topic->partitions)[p].error_code)
				return true;
	}
	return false;
}

/* broker: an old generation neither beats nor commits (22). While a group is being loaded every heartbeat is welcome. */
void check_coordinator_answer(struct sim *sim, const struct rg__kit_request *request, const void *answer)
{
	const struct rg__kit_group *group = the_group(sim);

	if (!answer || !group)
		return;
	if (request->api == RG__API_HEARTBEAT) {
		const struct rg__heartbeat_request *beat = request->body;

		if (!((const struct rg__heartbeat_response *)answer)->error_code && beat->generation_id != group->generation)
			sim_broken(sim, "the coordinator of generation %d takes a heartbeat of generation %d", (int)group->generation,
			           (int)beat->generation_id);
	} else if (request->api == RG__API_OFFSET_COMMIT) {
		const struct rg__offset_commit_request *commit = request->body;

		if (commit->generation_id_or_member_epoch >= 0 && commit->generation_id_or_member_epoch != group->generation &&
		    commits_something(answer))
			sim_broken(sim, "the coordinator of generation %d takes a commit of generation %d", (int)group->generation,
			           (int)commit->generation_id_or_member_epoch);
	}
}
