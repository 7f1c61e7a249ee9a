/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__GROUP_REACTIONS_H
#define RG__GROUP_REACTIONS_H

#include <regroup/error.h>
#include <stdbool.h>

/* What an answer to a group request means for the member: one table, API x code. */

enum rg__request {
	RG__REQUEST_FIND_COORDINATOR,
	RG__REQUEST_JOIN_GROUP,
	RG__REQUEST_SYNC_GROUP,
	RG__REQUEST_HEARTBEAT,
	RG__REQUEST_LEAVE_GROUP,
	RG__REQUEST_OFFSET_COMMIT,
	RG__REQUEST_OFFSET_FETCH,
	RG__REQUESTS
};

enum rg__verb {
	RG__GO_ON,  /* success */
	RG__RETRY,  /* the same again, after the pause */
	RG__REJOIN, /* send JoinGroup (again) */
	RG__CALLER, /* the caller of the request gets the error; the membership goes on */
	RG__REPORT, /* the application gets the error at its next poll; asking again (polling) tries again */
	RG__FAIL    /* the application gets the error once; the member has failed for good */
};

enum rg__pause {
	RG__AT_ONCE,          /* none */
	RG__WHEN_REPEATED,    /* none the first time within a rebalance, then exponential backoff */
	RG__ALWAYS            /* exponential backoff from the first time on (KIP-580) */
};

struct rg__reaction {
	rg_err code;
	enum rg__verb verb;
	bool keep_generation;
	bool keep_member_id;
	bool drop_coordinator; /* look it up again */
	enum rg__pause pause;
};

/* The row for this answer; the API's default row (its code is RG__ANY_CODE) where the code has none. Never NULL. */
enum { RG__ANY_CODE = 32767 };
const struct rg__reaction *rg__react(enum rg__request request, rg_err code);

/* The rows of an API, for the test that walks them and for printing. */
const struct rg__reaction *rg__reactions(enum rg__request request, int *ret_count);
const char *rg__request_label(enum rg__request request);
const char *rg__verb_label(enum rg__verb verb);

#endif
