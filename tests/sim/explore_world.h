/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_EXPLORE_WORLD_H
#define TESTS_SIM_EXPLORE_WORLD_H

/* A small world in which everything that can happen next is a list to choose from: the shipping machine, two or three times, and the
 * shipping coordinator, with messages between them that are structs. It is walked by explore.c, choice by choice. */

#include "../group/observer.h"
#include "group/machine.h"
#include "testkit/group_coordinator.h"

enum { MEMBERS_MAX = 3, QUEUE_MAX = 6, ID_MAX = 48, CHOICES_MAX = 200, SESSION_MS = 6000, REBALANCE_MS = 12000 };

struct explore_conf {
	int members;
	bool cooperative;
	int joins, leaves, moves, drops, errors, commits; /* how many of each may happen */
	bool prompt; /* applications answer at once, before anything else happens */
	int ticks;                               /* how often the time may jump to the next deadline; the only bound on length */
};

/* A request or an answer on its way. */
struct message {
	int16_t api;
	uint32_t attempt;
	int64_t since_us;
	rg_err err;
	int32_t generation;
	char id[ID_MAX], leader[ID_MAX];
	bool leads, skip;
	uint8_t claims;             /* JoinGroup: partitions the member says it owns */
	uint8_t shares[MEMBERS_MAX]; /* SyncGroup of a leader; [0] in its answer */
	char ids[MEMBERS_MAX][ID_MAX]; /* whose */
	uint8_t id_claims[MEMBERS_MAX];
	int count;
};

struct queue {
	struct message items[QUEUE_MAX];
	int count;
};

enum ask_kind { ASK_PREPARE, ASK_LOST, ASK_ASSIGN, ASK_COMPLETE, ASK_RETRY };

struct ask {
	enum ask_kind kind;
	uint32_t attempt;
	int32_t generation;
	uint8_t share;
};

struct peer {
	struct rg__machine *machine;
	struct observer observer;
	bool started, left;
	uint64_t connection; /* 0: none */
	int node;            /* the broker it goes to */
	bool busy;           /* the broker works on a request of it */
	struct message working; /* on that one */
	struct queue up, down;
	struct queue late; /* answers of connections that are gone: they must change nothing */
	uint32_t find; /* a look-up is under way */
	int64_t find_since_us;
	bool committing; /* an OffsetCommit is out; it is answered whenever it likes */
	uint32_t commit_epoch; /* with which it was sent */
	int64_t commit_since_us;
	struct ask asks[8];
	int ask_count;
	uint8_t owned;
	int32_t generation;
	uint8_t share; /* of the last SyncGroup answer */
	struct message joined; /* the last JoinGroup answer */
};

struct world {
	const struct explore_conf *conf;
	int64_t now_us;
	struct rg__kit_coordinator *coordinator;
	int node;
	uint64_t connections;
	struct peer peers[MEMBERS_MAX];
	int joins, leaves, moves, drops, errors, commits, ticks;
	char broken[200];
};

enum choice_kind {
	CHOOSE_UP,
	CHOOSE_DOWN,
	CHOOSE_LATE,
	CHOOSE_FIND,
	CHOOSE_APP,
	CHOOSE_JOIN,
	CHOOSE_LEAVE,
	CHOOSE_MOVE,
	CHOOSE_DROP,
	CHOOSE_COMMIT,
	CHOOSE_COMMITTED,
	CHOOSE_TICK
};

struct choice {
	enum choice_kind kind;
	int peer;
	rg_err err; /* instead of the real answer */
};

void world_begin(struct world *world, const struct explore_conf *conf);
void world_end(struct world *world);
int world_choices(const struct world *world, struct choice ret_choices[CHOICES_MAX]);
void world_do(struct world *world, const struct choice *choice);
/* The same for states that behave the same from here on. */
uint64_t world_hash(const struct world *world);
/* For its own files. */
void world_broken(struct world *world, int peer, const char *what);
void world_copy_id(char to[ID_MAX], struct rg__bytes from);
struct message *world_push(struct world *world, int peer, struct queue *queue);
struct message world_pop(struct queue *queue);
void broker_take_up(struct world *world, int at, rg_err err); /* the first request of the line; err: instead of what is so */
void broker_dispatch(struct world *world, struct rg__kit_outcome *outcome);

void world_print(const struct choice *choice, char *text, size_t size);

#endif
