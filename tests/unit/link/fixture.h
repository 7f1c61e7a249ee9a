/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LINK_FIXTURE_H
#define TESTS_UNIT_LINK_FIXTURE_H

/* One link to one simulated broker at 10.0.0.1:9092, and a record of all it says. */

#include "fake_broker.h"

#include "codec/heartbeat.h"
#include "link/link.h"

enum { FIXTURE_DONE_MAX = 256 };

struct fixture_done {
	uintptr_t tag; /* which request */
	rg_error error;
	int16_t version;
	bool body;
	int64_t at_us;
	int downs; /* how many `down` there had been before */
};

struct fixture {
	struct sim sim;
	struct broker broker;
	struct rg__link_conf conf;
	struct rg__link *link;
	struct rg__heartbeat_request heartbeat;
	int ups, downs;
	rg_error down;
	int64_t down_at_us;
	struct fixture_done done[FIXTURE_DONE_MAX];
	int done_count;
	/* What a callback does: */
	bool frees_in_up, frees_in_down, frees_in_done;
	int reconnects_in_down; /* this often */
	bool asks_in_done;
	int refused; /* asked in done, without success */
};

void fixture_begin(struct fixture *f);
void fixture_link(struct fixture *f); /* with the fixture's conf, which may be changed before */
void fixture_connect(struct fixture *f);
void fixture_end(struct fixture *f);

/* A heartbeat with that tag; its outcome is found by fixture_find (NULL: none yet). */
rg_err fixture_ask(struct fixture *f, uintptr_t tag, int64_t timeout_ms, unsigned flags, rg__request_id *ret_id);
const struct fixture_done *fixture_find(const struct fixture *f, uintptr_t tag);

#endif
