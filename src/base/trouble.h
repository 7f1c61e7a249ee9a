/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_TROUBLE_H
#define RG__BASE_TROUBLE_H

/* Something that fails and is tried again. Once is no news; but if nobody says a word while it goes on, the user sees a
 * program that does nothing. So he is warned when it lasts, once for each cause, and told when it is over. */

#include "base/log.h"

#include <regroup/error.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	RG__TROUBLE_AFTER_MS = 5000, /* it lasts when it is so old … */
	RG__TROUBLE_FAILURES = 3,    /* … and has failed so often */
	RG__TROUBLE_CALM_MS = 60000, /* what comes again sooner must last to be told, however loud it was the first time */
	RG__TROUBLE_CAUSES_MAX = 8   /* of one trouble; more are not told */
};

struct rg__trouble { /* all zero: none */
	unsigned failures;
	int64_t since_us, last_us; /* of the first of them, and the last that ever was */
	bool again;                /* there was another trouble shortly before */
	int told;
	uint32_t causes[RG__TROUBLE_CAUSES_MAX];
};

struct rg__failure {
	const char *facility;  /* of the log line */
	const char *what;      /* "JoinGroup for group \"g\"" */
	const rg_error *error; /* what happened, and where */
	const char *remedy;    /* "the coordinator is looked up again" */
	uint32_t cause;        /* the same for the same cause */
	bool at_once;          /* worth a word the first time: who cannot connect waits for the word, or waited already */
};

void rg__trouble_failed(struct rg__trouble *trouble, const struct rg__log *log, int64_t now_us,
                        const struct rg__failure *failure);

/* It went well, or is not tried any more (log NULL: without a word). */
void rg__trouble_over(struct rg__trouble *trouble, const struct rg__log *log, int64_t now_us, const char *facility,
                      const char *what);

/* The same error at each attempt: the application hears of each, the log, which it may not read at all, of one once a
 * minute. */
struct rg__told { /* all zero: nothing was */
	uint32_t what;
	int64_t at_us;
};

bool rg__told_again(struct rg__told *told, int64_t now_us, const rg_error *error); /* true: the log knows it already */

#endif
