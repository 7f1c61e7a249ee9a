/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_WATCH_H
#define RG__CONSUMER_WATCH_H

/* Looks at topics from time to time: a leader asks for a rebalance when one of its group has grown, appeared or
 * gone; every member tells the user of subscribed topics that do not exist. All of it in the loop. */

#include "assign/view.h"
#include "member/member.h"

#include <regroup/consumer.h>

enum { RG__PARTITIONS_UNKNOWN = -1 };

struct rg__watched {
	char *name;
	bool ours;          /* this member subscribes to it */
	bool missing, told; /* does not exist; the user knows */
	int32_t partitions; /* that the last plan was made for; 0: it did not exist */
	uint32_t racks;     /* a hash of the racks of its replicas; 0 unless this member has a rack */
};

struct rg__watch {
	struct rg__watched *topics; /* by name */
	size_t count;
	bool leads;
	/* KIP-429: a plan waits for somebody to give something up and join again, which gives the next plan. Who comes back
	 * in the middle without anything, as a static member may, has nothing to give up and does not. */
	struct rg__timer *awaited;
	unsigned awaited_in_vain; /* plans in a row */
	bool changed; /* the rebalance has been asked for */
	/* KIP-814: the plan is a predecessor's, and this is the hash of what it was made for; not compared yet. */
	bool inherits;
	bool doubts; /* it differs, but a topic that was not there may have been overlooked */
	uint32_t made_for;
	struct rg__timer *timer;
	rg__request_id request;
	struct rg__arena arena; /* of the request */
	unsigned failures, rounds_missing;
};

/* What to watch from now on. */
struct rg__watch_list {
	const struct rg__bytes *names;       /* of the whole group when leading; in any order, may repeat */
	size_t count;
	const char *const *ours;             /* what this member subscribes to, in byte order */
	size_t ours_count;
	bool leads;
	bool awaits; /* the plan leaves out what somebody must give up first */
	const struct rg__topic_input *known; /* what the plan was made for; NULL: the next answer counts as that */
	int32_t known_count;
	bool inherits; /* made_for: rg__hint_mix_partitions of what the plan was made for, by a predecessor */
	uint32_t made_for;
};

bool rg__watch_init(rg_consumer *consumer); /* false: out of memory */
void rg__watch_end(rg_consumer *consumer);
void rg__watch_set(rg_consumer *consumer, void *list); /* for rg__on_loop: a struct rg__watch_list */
void rg__watch_nothing(rg_consumer *consumer, void *unused); /* for rg__on_loop */

#endif
