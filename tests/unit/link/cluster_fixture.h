/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LINK_CLUSTER_FIXTURE_H
#define TESTS_UNIT_LINK_CLUSTER_FIXTURE_H

/* A cluster of three fake brokers, of which the first is the bootstrap list, and what its user heard. */

#include "fake_broker.h"

#include "link/cluster.h"

enum { BROKERS = 3, DONE_MAX = 64 };

struct cluster_fixture {
	struct sim sim;
	struct broker brokers[BROKERS]; /* 10.0.0.1 … 10.0.0.3 */
	struct rg__cluster_conf conf;
	struct rg__cluster *cluster;
	struct rg__metadata_request metadata;
	int ups, failures;
	char up[64];
	rg_error failed;
	struct {
		uintptr_t tag;
		rg_error error;
		int64_t at_us;
		char broker[64];
	} done[DONE_MAX];
	int done_count;
	bool frees_in_done, frees_in_failed, frees_in_up, asks_in_done;
};

extern struct cluster_fixture f;
extern const struct rg__cluster_events cluster_events;

/* Around each test: f.conf is there to be changed, start() makes the cluster from it. */
void begin(void);
void start(void);
void end(void);

/* A request, whose `done` puts its tag into f.done. */
void done(void *tag, const struct rg__response *response);
void ask(uintptr_t tag, int64_t timeout_ms, rg__request_id *ret_id);

void set_all(enum sim_mode mode);
int attempts(int i); /* to connect to that broker */

void name_nodes(struct broker *broker, int first, int count); /* in its Metadata answers: the brokers from `first` on */

#endif
