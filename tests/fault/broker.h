/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_BROKER_H
#define TESTS_FAULT_BROKER_H

/* The testkit's coordinator behind two brokers on the simulated network of the link's tests, with a fault at one
 * byte of what goes over the lines, and a rival: another member that lives inside. Memory never runs out for any
 * of it. */

#include "sim_io.h"
#include "testkit/group_coordinator.h"

enum { PEERS_MAX = 64, API_KEYS = 32 };

enum broker_cut { CUT_CLOSES, CUT_STALLS /* the line is still there and silent for ever */ };

struct broker_line { /* all connections together */
	uint64_t bytes;  /* so far */
	uint64_t cut_at; /* after so many; UINT64_MAX: never. Happens once. */
};

struct rival {
	bool joins;     /* it has joined and wants to stay */
	struct rg__bytes client_id; /* becomes part of its id */
	struct rg__bytes id;        /* in id_room */
	uint8_t id_room[128];
	int32_t generation; /* -1: no part of one */
	bool leads, stable;
	size_t assignment_len;
	int64_t beats_at_us;
};

struct broker {
	struct sim *sim;
	struct sim_server servers[2]; /* b1 at 10.0.0.1, and at 10.0.0.2 b2, which has the group */
	struct rg__kit_coordinator *coordinator;
	struct rg__timer *timer;
	struct peer {
		uint64_t id; /* 0: free */
		struct sim_conn *conn;
		bool stalled;
	} peers[PEERS_MAX];
	uint64_t last_peer;
	int32_t rival_correlation_id;
	struct broker_line up, down;
	enum broker_cut cut;
	struct refusal { /* an error instead of an answer; what is refused is not applied */
		int16_t api, error;
		int left;  /* so many times from now on; -1: always */
		int64_t times; /* it was said */
	} refusal;
	struct rival rival;
	int64_t requests;
	int64_t requests_of[API_KEYS]; /* by API key */
};

void broker_begin(struct broker *broker, struct sim *sim);
void broker_end(struct broker *broker);

void broker_rival_joins(struct broker *broker);
void broker_rival_joins_as(struct broker *broker, struct rg__bytes client_id);
void broker_rival_leaves(struct broker *broker);

#endif
