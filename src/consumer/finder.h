/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_FINDER_H
#define RG__CONSUMER_FINDER_H

/* Finds the topics that the patterns of a subscription match: looks at all topics of the cluster from time to time, and
 * before each rebalance. Looking happens in the loop; the application takes over what was found. */

#include "base/arena.h"
#include "consumer/patterns.h"
#include "member/member.h"

#include <regroup/consumer.h>

struct rg__found {
	char *name;
	bool missing; /* it was not there when last looked: a second time, and it is gone */
};

struct rg__finder {
	const struct rg__patterns *patterns; /* the consumer's; NULL: nothing to find */
	struct rg__found *found;             /* by name */
	size_t count;
	struct rg__timer *timer;
	rg__request_id request;
	struct rg__arena arena; /* of the request */
	unsigned failures;
	bool again; /* asked for while a look was under way */
	/* Under the thread's lock. */
	unsigned version; /* of what was found; 0: it has not looked since the patterns were set */
	bool fresh;       /* it has looked since rg__finder_refresh */
};

bool rg__finder_init(rg_consumer *consumer); /* false: out of memory */
void rg__finder_end(rg_consumer *consumer);

/* For rg__on_loop. */
void rg__finder_set(rg_consumer *consumer, void *patterns); /* NULL: looks no more */
void rg__finder_refresh(rg_consumer *consumer, void *unused); /* looks now */

/* The application. */
bool rg__finder_is_fresh(rg_consumer *consumer);
unsigned rg__finder_version(rg_consumer *consumer);

/* For rg__on_loop: copies the names that were found, in order, into a struct rg__found_names. */
struct rg__found_names {
	struct rg__arena *arena;
	const char **items; /* NULL: out of memory */
	size_t count;
	unsigned version;
};
void rg__finder_take(rg_consumer *consumer, void *names);

#endif
