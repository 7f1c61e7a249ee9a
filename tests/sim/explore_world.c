/* SPDX-License-Identifier: Apache-2.0 */
#include "explore_world.h"

#include "base/alloc.h"
#include "codec/api.h"
#include "group/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEARTBEAT_MS = 2000, PARTITIONS = 2 };
/* Nothing is on its way for longer: what comes later than that may be older than the seat, and no client can know. */
#define AGE_MAX_US (SESSION_MS * INT64_C(1000) / 3)

void world_broken(struct world *world, int peer, const char *what)
{
	if (!world->broken[0])
		snprintf(world->broken, sizeof(world->broken), "member %d: %s", peer, what);
}

void world_copy_id(char to[ID_MAX], struct rg__bytes from)
{
	snprintf(to, ID_MAX, "%.*s", (int)from.len, (const char *)from.data);
}

struct message *world_push(struct world *world, int peer, struct queue *queue)
{
	struct message *message;

	if (queue->count == QUEUE_MAX) {
		world_broken(world, peer, "half a dozen messages on one line");
		queue->count = 0;
	}
	message = &queue->items[queue->count++];
	memset(message, 0, sizeof(*message));
	message->since_us = world->now_us;
	return message;
}

struct message world_pop(struct queue *queue)
{
	struct message first = queue->items[0];

	memmove(queue->items, queue->items + 1, (size_t)--queue->count * sizeof(first));
	return first;
}

/* --- What the machine asks for ---------------------------------------------------------------------------------------- */

static void step(struct world *world, int at, struct rg__event *event);

/* What had been answered may still come, as if the link below were not to be trusted with cancelling. */
static void hang_up(struct peer *peer)
{
	for (int i = 0; i < peer->down.count && peer->late.count < 2; i++)
		if (peer->down.items[i].api != RG__API_LEAVE_GROUP)
			peer->late.items[peer->late.count++] = peer->down.items[i];
	peer->connection = 0;
	peer->busy = false;
	peer->up.count = peer->down.count = 0;
}

static void ask(struct world *world, int at, enum ask_kind kind, uint32_t attempt)
{
	struct peer *peer = &world->peers[at];

	if (peer->ask_count == 8) {
		world_broken(world, at, "the application is asked eight things at once");
		return;
	}
	peer->asks[peer->ask_count++] = (struct ask){kind, attempt, rg__machine_generation(peer->machine), peer->share};
}

static void send(struct world *world, int at, int16_t api, const struct rg__action *action)
{
	struct peer *peer = &world->peers[at];
	struct message *message;

	if (!peer->connection) {
		world_broken(world, at, "a request without a connection");
		return;
	}
	/* A connection of its own for what must not wait behind a parked request. */
	if (action->beside_join) {
		hang_up(peer);
		peer->connection = ++world->connections;
	}
	message = world_push(world, at, &peer->up);
	message->api = api;
	message->attempt = action->attempt;
	message->generation = rg__machine_generation(peer->machine);
	world_copy_id(message->id, rg__bytes_of(rg__machine_member_id(peer->machine)));
	message->claims = peer->owned;
	if (api == RG__API_SYNC_GROUP && action->with_plan) {
		memcpy(message->ids, peer->joined.ids, sizeof(message->ids));
		memcpy(message->shares, peer->joined.shares, sizeof(message->shares));
		message->count = peer->joined.count;
	}
}

static void act(struct world *world, int at, const struct rg__action *action)
{
	struct peer *peer = &world->peers[at];

	switch (action->type) {
	case RG__DO_PREPARE:
		ask(world, at, ASK_PREPARE, action->attempt);
		break;
	case RG__DO_LOST:
		ask(world, at, ASK_LOST, action->attempt);
		break;
	case RG__DO_RUN_ASSIGNOR:
		ask(world, at, ASK_ASSIGN, action->attempt);
		break;
	case RG__DO_COMPLETE:
		ask(world, at, ASK_COMPLETE, 0);
		break;
	case RG__DO_REPORT:
		ask(world, at, ASK_RETRY, 0);
		break;
	case RG__DO_FAIL:
		break;
	case RG__DO_LEFT:
		peer->left = true;
		peer->ask_count = 0;
		break;
	case RG__DO_FIND_COORDINATOR:
		peer->find = action->attempt;
		peer->find_since_us = world->now_us;
		break;
	case RG__DO_DROP_COORDINATOR:
		hang_up(peer);
		break;
	case RG__DO_SEND_JOIN:
		send(world, at, RG__API_JOIN_GROUP, action);
		break;
	case RG__DO_SEND_SYNC:
		send(world, at, RG__API_SYNC_GROUP, action);
		break;
	case RG__DO_SEND_HEARTBEAT:
		send(world, at, RG__API_HEARTBEAT, action);
		break;
	case RG__DO_SEND_LEAVE:
		send(world, at, RG__API_LEAVE_GROUP, action);
		break;
	}
}

static void step(struct world *world, int at, struct rg__event *event)
{
	struct peer *peer = &world->peers[at];
	struct rg__actions actions;

	peer->machine->random.state = 1; /* jitter would make states differ that are the same */
	observer_event(&peer->observer, world->now_us, event);
	rg__machine_step(peer->machine, world->now_us, event, &actions);
	observer_actions(&peer->observer, peer->machine, &actions);
	if (peer->observer.broken[0])
		world_broken(world, at, peer->observer.broken);
	for (int i = 0; i < actions.count; i++)
		act(world, at, &actions.items[i]);
}

/* --- The application --------------------------------------------------------------------------------------------------------- */

static bool still_owns(const struct peer *peer)
{
	return peer->started && peer->machine->owns;
}

static void take(struct world *world, int at, uint8_t added)
{
	struct peer *peer = &world->peers[at];

	for (int other = 0; other < world->conf->members; other++) {
		struct peer *rival = &world->peers[other];
		enum rg__membership_state is = rg__machine_membership(rival->machine);

		/* While its JoinGroup or SyncGroup is out it cannot know that the answer was lost. */
		if (other != at && still_owns(rival) && still_owns(peer) && (rival->owned & added) && is != RG__JOINING && is != RG__SYNCING)
			world_broken(world, at, "gets a partition that somebody owns");
	}
	peer->owned |= added;
}

/* Partition p to the p-th member, in the order of their ids; a cooperative group waits until it is free. */
static void make_plan(struct world *world, struct message *joined)
{
	memset(joined->shares, 0, sizeof(joined->shares));
	for (int p = 0; p < PARTITIONS && joined->count; p++) {
		int to = 0, rank[MEMBERS_MAX];
		bool taken = false;

		for (int i = 0; i < joined->count; i++) {
			rank[i] = 0;
			for (int j = 0; j < joined->count; j++)
				rank[i] += strcmp(joined->ids[j], joined->ids[i]) < 0;
			if (rank[i] == p % joined->count)
				to = i;
		}
		for (int i = 0; i < joined->count; i++)
			taken = taken || (i != to && (joined->id_claims[i] & 1 << p));
		if (!taken || !world->conf->cooperative)
			joined->shares[to] |= (uint8_t)(1 << p);
	}
}

static void answer_ask(struct world *world, int at)
{
	struct peer *peer = &world->peers[at];
	struct ask first = peer->asks[0];
	struct rg__event event = {.attempt = first.attempt};
	uint8_t revoked;

	memmove(peer->asks, peer->asks + 1, (size_t)--peer->ask_count * sizeof(first));
	switch (first.kind) {
	case ASK_PREPARE:
	case ASK_LOST:
		if (first.kind == ASK_LOST || !world->conf->cooperative)
			peer->owned = 0;
		event.type = RG__EVENT_PREPARED;
		event.keeps = peer->owned != 0;
		step(world, at, &event);
		break;
	case ASK_ASSIGN:
		make_plan(world, &peer->joined);
		event.type = RG__EVENT_ASSIGNED;
		step(world, at, &event);
		break;
	case ASK_COMPLETE:
		revoked = peer->owned & (uint8_t)~first.share;
		peer->owned &= first.share;
		peer->generation = first.generation;
		take(world, at, first.share & (uint8_t)~peer->owned);
		event.type = RG__EVENT_REJOIN;
		if (revoked)
			step(world, at, &event);
		break;
	case ASK_RETRY:
		event.type = RG__EVENT_RETRY;
		step(world, at, &event);
		break;
	}
}

/* --- Choices -------------------------------------------------------------------------------------------------------------------- */

static void answered(struct world *world, int at, struct queue *queue)
{
	struct peer *peer = &world->peers[at];
	struct message message = world_pop(queue);
	uint32_t awaited = message.api == RG__API_JOIN_GROUP   ? peer->machine->join
	                   : message.api == RG__API_SYNC_GROUP ? peer->machine->sync
	                   : message.api == RG__API_HEARTBEAT  ? peer->machine->heartbeat
	                                                       : peer->machine->leave;
	enum rg__membership_state was = peer->machine->membership;
	uint32_t epoch = peer->machine->epoch, newest = peer->machine->last_attempt;
	bool superseded = message.attempt != awaited;
	struct rg__event event = {.attempt = message.attempt, .err = message.err};

	switch (message.api) {
	case RG__API_JOIN_GROUP:
		event.type = RG__EVENT_JOIN_ANSWERED;
		event.generation = message.generation;
		event.member_id = rg__bytes_of(message.id);
		event.leader = rg__bytes_of(message.leader);
		event.protocol_name = rg__bytes_of("p");
		event.skip_assignment = message.skip;
		if (!message.err && !superseded)
			peer->joined = message;
		break;
	case RG__API_SYNC_GROUP:
		event.type = RG__EVENT_SYNC_ANSWERED;
		if (!superseded)
			peer->share = message.shares[0];
		break;
	case RG__API_HEARTBEAT:
		event.type = RG__EVENT_HEARTBEAT_ANSWERED;
		break;
	default:
		event.type = RG__EVENT_LEAVE_ANSWERED;
		break;
	}
	step(world, at, &event);
	if (superseded && (peer->machine->membership != was || peer->machine->epoch != epoch || peer->machine->last_attempt != newest))
		world_broken(world, at, "an answer to a superseded request changes something");
}

static int64_t next_us(const struct world *world)
{
	int64_t at_us = rg__kit_coordinator_deadline(world->coordinator);

	for (int i = 0; i < world->conf->members; i++)
		if (world->peers[i].started && rg__machine_deadline(world->peers[i].machine) < at_us)
			at_us = rg__machine_deadline(world->peers[i].machine);
	return at_us < world->now_us ? world->now_us : at_us;
}

static bool too_old(const struct queue *queue, int64_t at_us)
{
	return queue->count && at_us - queue->items[0].since_us > AGE_MAX_US;
}

static bool may_tick(const struct world *world)
{
	int64_t at_us = next_us(world);

	if (at_us == INT64_MAX || world->ticks >= world->conf->ticks)
		return false;
	for (int i = 0; i < world->conf->members; i++) {
		const struct peer *peer = &world->peers[i];

		if ((!peer->busy && too_old(&peer->up, at_us)) || too_old(&peer->down, at_us) || too_old(&peer->late, at_us) ||
		    (peer->find && at_us - peer->find_since_us > AGE_MAX_US) ||
		    (peer->committing && at_us - peer->commit_since_us > AGE_MAX_US) || (peer->ask_count && at_us > world->now_us + AGE_MAX_US))
			return false;
	}
	return true;
}

static void tick(struct world *world)
{
	struct rg__kit_outcome outcome = {0};

	world->now_us = next_us(world);
	world->ticks++;
	if (rg__kit_coordinator_deadline(world->coordinator) <= world->now_us) {
		if (!rg__kit_coordinator_step(world->coordinator, world->now_us, NULL, &outcome))
			abort();
		broker_dispatch(world, &outcome);
	}
	for (int i = 0; i < world->conf->members; i++)
		for (int n = 0; world->peers[i].started && rg__machine_deadline(world->peers[i].machine) <= world->now_us; n++) {
			step(world, i, &(struct rg__event){.type = RG__EVENT_DEADLINE});
			if (n > 4) {
				world_broken(world, i, "its deadline does not move");
				break;
			}
		}
}

static void add(struct choice choices[CHOICES_MAX], int *count, enum choice_kind kind, int peer, rg_err err)
{
	if (*count == CHOICES_MAX)
		abort(); /* what is left out would be taken for done */
	choices[(*count)++] = (struct choice){kind, peer, err};
}

enum { SOME_OTHER_CODE = 56 };

/* One for each row of the reaction table, and one that has no row. */
static void add_errors(enum rg__request request, enum choice_kind kind, int at, struct choice choices[CHOICES_MAX], int *count)
{
	int rows;
	const struct rg__reaction *row = rg__reactions(request, &rows);

	for (int i = 0; i < rows; i++)
		if (row[i].code != RG_OK)
			add(choices, count, kind, at, row[i].code == RG__ANY_CODE ? SOME_OTHER_CODE : row[i].code);
}

static enum rg__request request_of(int16_t api)
{
	switch (api) {
	case RG__API_JOIN_GROUP:
		return RG__REQUEST_JOIN_GROUP;
	case RG__API_SYNC_GROUP:
		return RG__REQUEST_SYNC_GROUP;
	case RG__API_HEARTBEAT:
		return RG__REQUEST_HEARTBEAT;
	default:
		return RG__REQUEST_LEAVE_GROUP;
	}
}

static void add_wrong(const struct peer *peer, int at, struct choice choices[CHOICES_MAX], int *count)
{
	if (peer->up.count && !peer->busy)
		add_errors(request_of(peer->up.items[0].api), CHOOSE_UP, at, choices, count);
	if (peer->find)
		add_errors(RG__REQUEST_FIND_COORDINATOR, CHOOSE_FIND, at, choices, count);
	if (peer->committing)
		add_errors(RG__REQUEST_OFFSET_COMMIT, CHOOSE_COMMITTED, at, choices, count);
}

static bool may_commit(const struct world *world, const struct peer *peer)
{
	return world->commits < world->conf->commits && !peer->committing && peer->owned && peer->connection && peer->machine->owns &&
	       (rg__machine_membership(peer->machine) == RG__STABLE || rg__machine_membership(peer->machine) == RG__PREPARING);
}

int world_choices(const struct world *world, struct choice choices[CHOICES_MAX])
{
	const struct explore_conf *conf = world->conf;
	int count = 0;

	if (world->broken[0])
		return 0;
	for (int i = 0; conf->prompt && i < conf->members; i++)
		if (world->peers[i].ask_count) {
			add(choices, &count, CHOOSE_APP, i, 0);
			return count;
		}
	for (int i = 0; i < conf->members; i++) {
		const struct peer *peer = &world->peers[i];

		if (!peer->started) {
			if (world->joins < conf->joins)
				add(choices, &count, CHOOSE_JOIN, i, 0);
			continue;
		}
		if (peer->down.count)
			add(choices, &count, CHOOSE_DOWN, i, 0);
		if (peer->late.count)
			add(choices, &count, CHOOSE_LATE, i, 0);
		if (peer->up.count && !peer->busy)
			add(choices, &count, CHOOSE_UP, i, 0);
		if (peer->find)
			add(choices, &count, CHOOSE_FIND, i, 0);
		if (peer->ask_count)
			add(choices, &count, CHOOSE_APP, i, 0);
		if (may_commit(world, peer))
			add(choices, &count, CHOOSE_COMMIT, i, 0);
		if (peer->committing)
			add(choices, &count, CHOOSE_COMMITTED, i, 0);
		if (world->errors < conf->errors)
			add_wrong(peer, i, choices, &count);
		if (peer->connection && world->drops < conf->drops)
			add(choices, &count, CHOOSE_DROP, i, 0);
		if (i > 0 && !peer->left && world->leaves < conf->leaves && rg__machine_membership(peer->machine) != RG__LEAVING)
			add(choices, &count, CHOOSE_LEAVE, i, 0);
	}
	if (world->moves < conf->moves)
		add(choices, &count, CHOOSE_MOVE, 0, 0);
	if (may_tick(world))
		add(choices, &count, CHOOSE_TICK, 0, 0);
	return count;
}

static void find_answered(struct world *world, int at, rg_err err)
{
	struct peer *peer = &world->peers[at];
	struct rg__event event = {.type = RG__EVENT_FIND_ANSWERED, .attempt = peer->find, .err = err};

	peer->find = 0;
	if (!err) {
		hang_up(peer);
		peer->connection = ++world->connections;
		peer->node = world->node;
	}
	step(world, at, &event);
}

/* KAFKA-9823, librdkafka 4059: what was sent as somebody else, and whatever is answered inside a rebalance, costs nothing. A broker
 * that is the wrong one is left all the same. */
static void committed(struct world *world, int at, rg_err err)
{
	struct peer *peer = &world->peers[at];
	struct rg__machine *machine = peer->machine;
	struct rg__event event = {.type = RG__EVENT_COMMIT_ANSWERED, .err = err, .epoch = peer->commit_epoch};
	enum rg__membership_state was = machine->membership;
	bool void_now = peer->commit_epoch != machine->epoch || was != RG__STABLE;
	uint32_t epoch = machine->epoch, newest = machine->last_attempt;

	peer->committing = false;
	step(world, at, &event);
	if (void_now && !rg__react(RG__REQUEST_OFFSET_COMMIT, err)->drop_coordinator &&
	    (machine->membership != was || machine->epoch != epoch || machine->last_attempt != newest))
		world_broken(world, at, "the answer to a commit that is over changes something");
}

static void move(struct world *world)
{
	struct rg__kit_outcome outcome = {0};

	world->moves++;
	world->node = 3 - world->node;
	if (!rg__kit_coordinator_move(world->coordinator, world->now_us, RG__NULL_BYTES, true, 0, &outcome))
		abort();
	broker_dispatch(world, &outcome);
}

void world_do(struct world *world, const struct choice *choice)
{
	struct peer *peer = &world->peers[choice->peer];

	world->errors += choice->err != 0;
	switch (choice->kind) {
	case CHOOSE_UP:
		broker_take_up(world, choice->peer, choice->err);
		break;
	case CHOOSE_DOWN:
		answered(world, choice->peer, &peer->down);
		break;
	case CHOOSE_LATE:
		answered(world, choice->peer, &peer->late);
		break;
	case CHOOSE_FIND:
		find_answered(world, choice->peer, choice->err);
		break;
	case CHOOSE_APP:
		answer_ask(world, choice->peer);
		break;
	case CHOOSE_JOIN:
		world->joins++;
		peer->started = true;
		step(world, choice->peer, &(struct rg__event){.type = RG__EVENT_START});
		break;
	case CHOOSE_LEAVE:
		world->leaves++;
		peer->owned = 0;
		peer->ask_count = 0;
		step(world, choice->peer, &(struct rg__event){.type = RG__EVENT_LEAVE});
		break;
	case CHOOSE_MOVE:
		move(world);
		break;
	case CHOOSE_DROP:
		world->drops++;
		hang_up(peer);
		step(world, choice->peer, &(struct rg__event){.type = RG__EVENT_COORDINATOR_DOWN});
		break;
	case CHOOSE_COMMIT:
		world->commits++;
		peer->committing = true;
		peer->commit_epoch = rg__machine_epoch(peer->machine);
		peer->commit_since_us = world->now_us;
		break;
	case CHOOSE_COMMITTED:
		committed(world, choice->peer, choice->err);
		break;
	case CHOOSE_TICK:
		tick(world);
		break;
	}
}

void world_begin(struct world *world, const struct explore_conf *conf)
{
	struct rg__group_conf group = {
		.group_id = "g",
		.protocol_type = "consumer",
		.session_timeout_ms = SESSION_MS,
		.rebalance_timeout_ms = REBALANCE_MS,
		.heartbeat_interval_ms = HEARTBEAT_MS,
		.request_timeout_ms = 30000,
		.retry_backoff_ms = 100,
		.retry_backoff_max_ms = 1000,
		.seed = 1,
	};
	struct rg__kit_coordinator_conf kit;

	memset(world, 0, sizeof(*world));
	world->conf = conf;
	world->now_us = 1000000;
	world->node = 1;
	rg__kit_coordinator_conf_init(&kit);
	kit.initial_delay_us = 0;
	kit.session_min_us = 1000;
	world->coordinator = rg__kit_coordinator_new(&kit);
	for (int i = 0; i < conf->members; i++) {
		world->peers[i].machine = rg__machine_new(&group, world->now_us);
		if (!world->peers[i].machine || !world->coordinator)
			abort();
	}
	world->joins = -1; /* the first one does not count */
	world_do(world, &(struct choice){CHOOSE_JOIN, 0, 0});
}

void world_end(struct world *world)
{
	for (int i = 0; i < world->conf->members; i++)
		rg__machine_free(world->peers[i].machine);
	rg__kit_coordinator_free(world->coordinator);
}

void world_print(const struct choice *choice, char *text, size_t size)
{
	static const char *const names[] = {"a request of member %d is taken up", "an answer reaches member %d", "an answer of an old connection reaches member %d",
	                                    "the look-up of member %d is answered", "the application of member %d answers",
	                                    "member %d starts", "member %d leaves", "the coordinator moves", "the connection of member %d breaks",
	                                    "member %d commits", "the commit of member %d is answered",
	                                    "time passes"};
	int used = snprintf(text, size, names[choice->kind], choice->peer);

	if (choice->err && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, ", with error %d", choice->err);
}
