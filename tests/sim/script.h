/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_SCRIPT_H
#define TESTS_SIM_SCRIPT_H

/* What goes wrong in a run, and when: a list of lines that a seed makes, that can be printed, cut down and played. */

#include "sim.h"

enum act {
	ACT_START,      /* process a with topics b */
	ACT_LEAVE,      /* process a */
	ACT_KILL,       /* process a; b: its machine, too */
	ACT_SUBSCRIBE,  /* process a to topics b */
	ACT_REJOIN,     /* process a wants a rebalance */
	ACT_SLOW_LISTENER, /* process a: its next callback takes b ms */
	ACT_SLOW_ASSIGNOR, /* process a: likewise */
	ACT_GAP,        /* process a does not poll for b ms */
	ACT_FAULT,      /* the next e requests of API a of process b (-1: any): kind c, error or ms d */
	ACT_BREAK,      /* the connections of process a */
	ACT_STALL,      /* the connections of process a: directions b, for c ms (-1: for ever) */
	ACT_LATENCY,    /* process a: b microseconds */
	ACT_STOP,       /* broker a for b ms; c: silently */
	ACT_MOVE,       /* the coordinator to broker a; b: state kept; loading takes c ms */
	ACT_GROW,       /* topic a gets b partitions, and exists if it did not */
	ACT_DELETE,     /* topic a */
	ACT_SLOPPY,     /* process a: its next plan is wrong in the way b, if the group is sloppy */
	ACT_FOREIGN,    /* somebody else joins with hostile bytes of kind a */
	ACT_TWIN,       /* process b begins with the group.instance.id of process a */
	ACT_SLEEPWALK,  /* somebody else joins with bytes of kind a, beats and never joins again; b: 1 syncs, 2 static, 4 commits */
	ACT_UPGRADE,    /* broker a starts anew and offers API b (-1: all) up to version c */
	ACTS
};

struct line {
	int64_t at_us;
	enum act act;
	int a, b, c, d, e;
};

enum { LINES_MAX = 96 };

struct script {
	int count;
	struct line lines[LINES_MAX];
};

/* What the seed says: the settings of the run, and the lines until `until_us`. */
void script_make(struct script *script, struct sim *sim, int64_t until_us);
void script_play(struct sim *sim, const struct line *line);
void script_print(const struct line *line, FILE *out);

#endif
