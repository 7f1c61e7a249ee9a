/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_SIM_CLUSTER_H
#define RG__TESTKIT_SIM_CLUSTER_H

/* Brokers on the simulated network, in front of one pure coordinator: what the TCP front is on sockets. A connection's
 * requests are taken one at a time, a parked JoinGroup or SyncGroup holds up what comes behind it. */

#include "testkit/cluster.h"
#include "testkit/group_coordinator.h"
#include "testkit/sim_net.h"

enum rg__sim_fault_kind {
	RG__SIM_ANSWER_ERROR,
	RG__SIM_DROP_BEFORE, /* the connection breaks and the request was never applied */
	RG__SIM_DROP_AFTER,  /* it was, and nobody hears the answer */
	RG__SIM_LATE,        /* it was, and the answer comes later */
	RG__SIM_GARBAGE,     /* the answer is something else */
	RG__SIM_FAULT_KINDS
};

/* Hits the next request that fits, once. */
struct rg__sim_fault {
	enum rg__sim_fault_kind kind;
	int16_t api;  /* -1: any of the group's and FindCoordinator */
	int host;     /* -1: any */
	int16_t error;
	int64_t late_us;
	int times; /* how many requests it hits, one after the other; 0 is 1 */
};

/* What those who check want to see. NULL functions are skipped. */
struct rg__sim_observer {
	/* A group's request that was taken up, and its answer; NULL: it is parked. */
	void (*applied)(void *user, int host, const struct rg__kit_request *request, const void *answer);
	void (*event)(void *user, const struct rg__kit_event *event);
	void *user;
};

enum { RG__SIM_FAULTS_MAX = 64, RG__SIM_APIS = 32 };

struct rg__sim_served;

struct rg__sim_cluster {
	struct rg__sim_net *net;
	struct rg__kit_cluster names;
	struct rg__kit_coordinator *coordinator;
	struct rg__kit_coordinator_conf conf;
	int16_t first[RG__SIM_PORTS][RG__SIM_APIS], last[RG__SIM_PORTS][RG__SIM_APIS]; /* offered, by node and API */
	struct rg__sim_fault faults[RG__SIM_FAULTS_MAX];
	int fault_count;
	struct rg__sim_event due;
	struct rg__sim_served *served; /* by connection id */
	struct rg__sim_observer observer;
	struct rg__sim_port_user {
		struct rg__sim_cluster *cluster;
		int node;
	} port_users[RG__SIM_PORTS];
	long requests;
	bool failed; /* memory ran out: the run means nothing */
};

/* Brokers 1 … count, all APIs in all our versions, no topics. False: out of memory. */
bool rg__sim_cluster_init(struct rg__sim_cluster *cluster, struct rg__sim_net *net, int brokers, uint64_t seed);
void rg__sim_cluster_free(struct rg__sim_cluster *cluster);

/* This broker offers the API up to `last` only. */
void rg__sim_narrow(struct rg__sim_cluster *cluster, int node, int16_t api, int16_t last);
void rg__sim_widen(struct rg__sim_cluster *cluster, int node); /* everything again */

void rg__sim_fault_add(struct rg__sim_cluster *cluster, const struct rg__sim_fault *fault); /* dropped when full */
void rg__sim_faults_clear(struct rg__sim_cluster *cluster);

/* Stops a broker: its port refuses (or says nothing), its connections break. Starts it again. */
void rg__sim_stop(struct rg__sim_cluster *cluster, int node, bool silent);
void rg__sim_start(struct rg__sim_cluster *cluster, int node);

/* The coordinator goes to another broker; see rg__kit_coordinator_move. */
void rg__sim_move(struct rg__sim_cluster *cluster, int node, bool keep, int64_t load_us);

/* A request out of nowhere: from a member that is not simulated. Its answer goes nowhere, too. */
void rg__sim_inject(struct rg__sim_cluster *cluster, int16_t api, int16_t version, uint64_t connection, const void *body);

#endif
