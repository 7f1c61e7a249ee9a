/* SPDX-License-Identifier: Apache-2.0 */
/* Members of somebody else's making: with bytes that mean nothing, or with half of what a member should do. */
#include "codec/api.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/offset_commit.h"
#include "codec/sync_group.h"
#include "sim.h"

#include <string.h>

#define CONNECTION_OF_SLEEPWALKERS (UINT64_C(1) << 61)
enum { BEAT_US = 1000000, SEND_VERSION_STATIC = 5 };

static void join(struct sim *sim, int kind, uint64_t connection, const char *instance_id)
{
	static const struct rg__bytes bytes[] = {
		{(const uint8_t *)"", 0},
		{(const uint8_t *)"\x00\x03\x7f\xff\xff\xff", 6},
		{(const uint8_t *)"\x00\x63\x00\x00\x00\x01\x00\x02t0\xff\xff\xff\xff\x00\x00\x00\x00tail", 22},
		{(const uint8_t *)"\x00\x01\x00\x00\x00\x01\x00\x02t0\xff\xff\xff\xff\x00\x00\x00\x01\x00\x02t0\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x00", 34},
		{(const uint8_t *)"\x80\x00", 2},
	};
	struct rg__join_group_request_protocol protocols[2];
	struct rg__join_group_request request;
	char names[2][32];
	int count = 0;

	rg__fields_init(&rg__join_group_request_fields, &request);
	for (const char *at = sim->settings.strategy; at && count < 2; count++) {
		size_t len = strcspn(at, ",");

		snprintf(names[count], sizeof(names[count]), "%.*s", (int)len, at);
		protocols[count] = (struct rg__join_group_request_protocol){rg__bytes_of(names[count]), bytes[kind]};
		at = at[len] ? at + len + 1 : NULL;
	}
	request.group_id = rg__bytes_of("g");
	request.session_timeout_ms = sim->settings.session_ms;
	request.rebalance_timeout_ms = sim->settings.max_poll_ms;
	request.protocol_type = rg__bytes_of("consumer");
	request.protocols = (struct rg__array){protocols, count};
	if (instance_id)
		request.group_instance_id = rg__bytes_of(instance_id);
	/* Version 2 needs no second step. */
	rg__sim_inject(&sim->cluster, RG__API_JOIN_GROUP, instance_id ? SEND_VERSION_STATIC : 2, connection, &request);
}

/* It never sends anything else. */
void foreign_join(struct sim *sim, int kind)
{
	join(sim, kind, UINT64_C(1) << 60 | sim->world.order, NULL);
}

/* --- Sleepwalkers --------------------------------------------------------------------------------------------------------------- */

void foreign_sleepwalk(struct sim *sim, int kind, unsigned how)
{
	struct sleepwalker *walker = &sim->sleepwalker;

	if (walker->walks)
		return;
	*walker = (struct sleepwalker){.walks = true, .syncs = how & 1, .is_static = how & 2, .commits = how & 4};
	join(sim, kind, CONNECTION_OF_SLEEPWALKERS, walker->is_static ? "z" : NULL);
}

/* Its answers go nowhere; what they said the coordinator's events tell. */
void foreign_heard(struct sim *sim, const struct rg__kit_event *event)
{
	struct sleepwalker *walker = &sim->sleepwalker;
	const char *prefix = walker->is_static ? "z-" : "foreign-";

	if (event->type != RG__KIT_EVENT_JOIN_ANSWERED || !walker->walks || walker->id[0] || !event->member.data ||
	    strncmp((const char *)event->member.data, prefix, strlen(prefix)) != 0)
		return;
	if (event->error) {
		walker->walks = false;
		return;
	}
	snprintf(walker->id, sizeof(walker->id), "%s", (const char *)event->member.data);
	walker->generation = event->generation;
	walker->leads = event->leader;
	walker->owes_sync = walker->syncs && !walker->leads;
}

static struct rg__bytes instance_of(const struct sleepwalker *walker)
{
	return walker->is_static ? rg__bytes_of("z") : RG__NULL_BYTES;
}

static void sync(struct sim *sim, const struct sleepwalker *walker)
{
	struct rg__sync_group_request request;

	rg__fields_init(&rg__sync_group_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id = walker->generation;
	request.member_id = rg__bytes_of(walker->id);
	request.group_instance_id = instance_of(walker);
	rg__sim_inject(&sim->cluster, RG__API_SYNC_GROUP, 3, CONNECTION_OF_SLEEPWALKERS, &request);
}

static void beat(struct sim *sim, const struct sleepwalker *walker)
{
	struct rg__heartbeat_request request;

	rg__fields_init(&rg__heartbeat_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id = walker->generation;
	request.member_id = rg__bytes_of(walker->id);
	request.group_instance_id = instance_of(walker);
	rg__sim_inject(&sim->cluster, RG__API_HEARTBEAT, 3, CONNECTION_OF_SLEEPWALKERS, &request);
}

/* With the generation before its own: nobody may take it. */
static void commit_stale(struct sim *sim, const struct sleepwalker *walker)
{
	struct rg__offset_commit_request_topic_partition partition = {.committed_offset = 1, .committed_leader_epoch = -1};
	struct rg__offset_commit_request_topic topic = {.name = rg__bytes_of("t0"), .partitions = {&partition, 1}};
	struct rg__offset_commit_request request;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	request.group_id = rg__bytes_of("g");
	request.generation_id_or_member_epoch = walker->generation - 1;
	request.member_id = rg__bytes_of(walker->id);
	request.group_instance_id = instance_of(walker);
	request.topics = (struct rg__array){&topic, 1};
	rg__sim_inject(&sim->cluster, RG__API_OFFSET_COMMIT, 7, CONNECTION_OF_SLEEPWALKERS, &request);
}

void foreign_answered(struct sim *sim, const struct rg__kit_request *request, const void *answer)
{
	int16_t error;

	if (!answer || request->api != RG__API_HEARTBEAT || request->connection != CONNECTION_OF_SLEEPWALKERS)
		return;
	error = ((const struct rg__heartbeat_response *)answer)->error_code;
	/* 27 it does not understand. */
	if (error && error != 27)
		sim->sleepwalker.walks = false;
}

void foreign_time(struct sim *sim)
{
	struct sleepwalker *walker = &sim->sleepwalker;

	if (sim->healed)
		walker->walks = false;
	if (!walker->walks || !walker->id[0] || sim->world.now_us < walker->next_beat_us)
		return;
	walker->next_beat_us = sim->world.now_us + BEAT_US;
	if (walker->owes_sync)
		sync(sim, walker);
	walker->owes_sync = false;
	if (walker->commits && walker->generation > 0)
		commit_stale(sim, walker);
	beat(sim, walker);
}
