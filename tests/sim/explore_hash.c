/* SPDX-License-Identifier: Apache-2.0 */
/* A number for a state: everything that decides what can happen from here on, times counted from now, generations from the
 * group's, member ids by whose they are. */
#include "explore_world.h"

#include "codec/api.h"
#include "group/internal.h"
#include "testkit/coordinator.h"

#include <stdio.h>
#include <string.h>

struct sum {
	uint64_t h;
	const struct world *world;
	int32_t base; /* the group's generation */
	char ids[16][ID_MAX]; /* by first appearance */
	int id_count;
};

static void add(struct sum *sum, int64_t value)
{
	sum->h = (sum->h ^ (uint64_t)value) * UINT64_C(0x9ddfea08eb382d69);
	sum->h ^= sum->h >> 32;
}

static void add_time(struct sum *sum, int64_t at_us)
{
	int64_t left = at_us == INT64_MAX ? INT64_MAX : at_us - sum->world->now_us;

	/* How long ago something was does not matter beyond the longest time there is. */
	add(sum, left < -20000000 ? -20000000 : left);
}

static void add_id(struct sum *sum, const char *id)
{
	int i;

	if (!id || !*id) {
		add(sum, -1);
		return;
	}
	for (i = 0; i < sum->id_count; i++)
		if (strcmp(sum->ids[i], id) == 0)
			break;
	if (i == sum->id_count && i < 16)
		snprintf(sum->ids[sum->id_count++], ID_MAX, "%s", id);
	add(sum, i);
}

static void add_bytes_id(struct sum *sum, struct rg__bytes id)
{
	char text[ID_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)id.len, (const char *)id.data);
	add_id(sum, text);
}

static void add_generation(struct sum *sum, int32_t generation)
{
	add(sum, generation < 0 ? INT32_MIN : generation - sum->base);
}

static void add_message(struct sum *sum, const struct message *message, uint32_t outstanding)
{
	add(sum, message->api);
	add(sum, message->attempt == outstanding);
	add(sum, message->err);
	add_time(sum, message->since_us);
	add_generation(sum, message->generation);
	add_id(sum, message->id);
	add_id(sum, message->leader);
	add(sum, message->skip * 2 + message->leads);
	add(sum, message->claims);
	for (int i = 0; i < message->count; i++) {
		add_id(sum, message->ids[i]);
		add(sum, message->shares[i] * 16 + message->id_claims[i]);
	}
	add(sum, message->shares[0]);
}

static uint32_t outstanding(const struct rg__machine *machine, int16_t api)
{
	switch (api) {
	case RG__API_JOIN_GROUP:
		return machine->join;
	case RG__API_SYNC_GROUP:
		return machine->sync;
	case RG__API_HEARTBEAT:
		return machine->heartbeat;
	default:
		return machine->leave;
	}
}

static void add_queue(struct sum *sum, const struct queue *queue, const struct rg__machine *machine)
{
	add(sum, queue->count);
	for (int i = 0; i < queue->count; i++)
		add_message(sum, &queue->items[i], outstanding(machine, queue->items[i].api));
}

static void add_machine(struct sum *sum, const struct rg__machine *machine)
{
	add(sum, machine->membership * 16 + machine->coordinator);
	add(sum, machine->wanted | machine->rejoin_wanted << 1 | machine->suspended << 2 | machine->held << 3 | machine->in_rebalance << 4 |
	                 machine->owns << 5 | machine->leave_asked << 6 | machine->abandoned << 7 | machine->leader << 8 |
	                 machine->heartbeats_on << 9 | machine->auth_reported << 10 | machine->coordinator_good << 11 |
	                 machine->session_doubtful << 12 | machine->proving << 13);
	add_id(sum, machine->member_id);
	add_generation(sum, machine->generation);
	add_generation(sum, machine->heard_generation);
	add(sum, (machine->ask != 0) | (machine->find != 0) << 1 | (machine->join != 0) << 2 | (machine->assign != 0) << 3 |
	                 (machine->sync != 0) << 4 | (machine->heartbeat != 0) << 5 | (machine->leave != 0) << 6);
	/* What is due, where it is. */
	add_time(sum, machine->coordinator == RG__COORDINATOR_UNKNOWN ? machine->find_at : 0);
	add_time(sum, machine->membership == RG__PREPARING ? machine->join_at : 0);
	add_time(sum, machine->heartbeats_on ? machine->heartbeat_at : 0);
	add_time(sum, machine->heartbeats_on || machine->membership == RG__JOINING ? machine->session_ends_at : 0);
	add_time(sum, machine->heartbeat ? machine->heartbeat_sent_at : 0);
	add_time(sum, machine->owns ? machine->calm_at : 0);
	add_time(sum, machine->generation >= 0 ? machine->sync_by : 0);
	add_time(sum, machine->leave_by);
	add_time(sum, machine->unheard_at);
	add_time(sum, machine->membership == RG__JOINING || machine->membership == RG__SYNCING ? machine->parked_at : 0);
	add(sum, machine->coordinator == RG__COORDINATOR_KNOWN && sum->world->now_us - machine->found_at >= 1000000);
	add(sum, machine->find_failures > 4 ? 4 : machine->find_failures);
	for (int request = 0; request < RG__REQUESTS; request++)
		for (int row = 0; row < RG__REACTIONS_MAX; row++)
			if (machine->repeats[request][row])
				add(sum, request * 1000 + row * 10 + (machine->repeats[request][row] > 4 ? 4 : (int)machine->repeats[request][row]));
}

static void add_peer(struct sum *sum, const struct peer *peer)
{
	add(sum, peer->started | peer->left << 1 | peer->busy << 2 | (peer->connection != 0) << 3 | (peer->find != 0) << 4);
	if (!peer->started)
		return;
	add_machine(sum, peer->machine);
	add(sum, peer->connection ? peer->node == sum->world->node : 2);
	if (peer->busy)
		add_message(sum, &peer->working, outstanding(peer->machine, peer->working.api));
	add_queue(sum, &peer->up, peer->machine);
	add_queue(sum, &peer->down, peer->machine);
	add_queue(sum, &peer->late, peer->machine);
	if (peer->find)
		add_time(sum, peer->find_since_us);
	add(sum, peer->committing);
	if (peer->committing) {
		add(sum, peer->commit_epoch == peer->machine->epoch);
		add_time(sum, peer->commit_since_us);
	}
	add(sum, peer->ask_count);
	for (int i = 0; i < peer->ask_count; i++) {
		add(sum, peer->asks[i].kind * 1000 + peer->asks[i].share);
		add(sum, peer->asks[i].attempt == (peer->asks[i].kind == ASK_ASSIGN ? peer->machine->assign : peer->machine->ask));
		add_generation(sum, peer->asks[i].generation);
	}
	add(sum, peer->owned * 256 + peer->share);
	if (peer->machine->assign) {
		add(sum, peer->joined.count);
		for (int i = 0; i < peer->joined.count; i++) {
			add_id(sum, peer->joined.ids[i]);
			add(sum, peer->joined.id_claims[i]);
		}
	}
}

static int who(const struct world *world, uint64_t connection)
{
	for (int i = 0; i < world->conf->members; i++)
		if (connection && world->peers[i].connection == connection)
			return i;
	return -1;
}

static void add_group(struct sum *sum, const struct rg__kit_group *group)
{
	add(sum, group->state);
	add_bytes_id(sum, group->leader);
	add_time(sum, group->sync_due_us);
	add(sum, group->delayed_join != NULL);
	if (group->delayed_join) {
		add(sum, group->delayed_join->initial * 2 + group->delayed_join->newcomer);
		add_time(sum, group->delayed_join->due_us);
	}
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next) {
		add_bytes_id(sum, member->id);
		add(sum, member->join.parked ? who(sum->world, member->join.connection) : -2);
		add(sum, member->sync.parked ? who(sum->world, member->sync.connection) : -2);
		add(sum, member->is_new * 2 + member->owes_sync);
		add_time(sum, member->expires_us);
		add(sum, member->assignment.len ? member->assignment.data[0] : -1);
		add(sum, member->protocol_count && member->protocols[0].metadata.len ? member->protocols[0].metadata.data[0] : -1);
	}
	for (const struct rg__kit_pending_id *pending = group->pending_ids; pending; pending = pending->hh.next) {
		add_bytes_id(sum, pending->id);
		add_time(sum, pending->expires_us);
	}
	if (group->record)
		add_generation(sum, group->record->generation);
}

uint64_t world_hash(const struct world *world)
{
	struct sum sum = {.h = UINT64_C(0xcbf29ce484222325), .world = world};
	const struct rg__kit_group *group = world->coordinator->groups;

	sum.base = group ? group->generation : 0;
	for (int i = 0; i < world->conf->members; i++)
		add_peer(&sum, &world->peers[i]);
	if (group)
		add_group(&sum, group);
	add(&sum, world->joins | world->leaves << 4 | world->moves << 8 | world->drops << 12 | world->errors << 16 | world->commits << 20);
	return sum.h;
}
