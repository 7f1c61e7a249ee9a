/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_ROOM_H
#define TESTS_TESTKIT_ROOM_H

/* A coordinator in a room with some members, and a clock that only the test moves. What the coordinator does is
 * written down line by line with the members' names for their ids; a test does things and then says what it saw:
 *
 *     join(m1);
 *     saw("m1 < JoinGroup 79\n");
 *
 * Lines: "Empty > PreparingRebalance", "delayed join created", "m1 expired: session timeout", then the answers of the
 * step: "m1 < JoinGroup gen=1 leads [m1 m2] range", "m2 < JoinGroup gen=1 follows m1 range", "m1 < SyncGroup 'p0'",
 * "m1 < Heartbeat 27". */

#include "testkit/group_coordinator.h"

#include <check.h>

enum { OLD_IDS_MAX = 8 };

struct actor {
	const char *name;
	const char *instance_id; /* NULL: dynamic */
	int join_version;
	int session_ms, rebalance_ms;
	const char *protocols; /* "range:topics roundrobin:topics" */
	const char *protocol_type;
	const char *group;
	const char *reason;
	/* What it knows from its answers. */
	char id[128];
	char old_ids[OLD_IDS_MAX][128];
	int old_id_count;
	int32_t generation;
	char assignment[128];
};

/* A fresh room; the settings are Kafka's defaults but for no initial delay. Closed with leave_room(), which every test
 * calls as its last line (a checked fixture does it). */
void enter_room(void);
void leave_room(void);
struct rg__kit_coordinator_conf *settings(void);

struct actor *actor(const char *name); /* session 10 s, rebalance timeout 60 s, "range:t", JoinGroup v9 */
struct actor *static_actor(const char *name, const char *instance_id);

/* Requests. Each is one step at the present time. */
void join(struct actor *a);
void join_twice(struct actor *a);                   /* the two steps of KIP-394; says nothing about the 79 */
void sync_plan(struct actor *a, const char *plan);  /* v3; "m1=p0 m2=p1"; "": none */
void sync_with(struct actor *a, int32_t generation, const char *type, const char *protocol); /* v5; NULL, NULL: v3 */
void heartbeat(struct actor *a);
void leave(struct actor *a);
/* Entries are "member", "member/instance" or "/instance". */
void leave_batch(int version, const char *entries);
void commit(struct actor *a, int version, const char *topic, int32_t partition, int64_t offset);
void commit_outside(int version, const char *group, const char *topic, int32_t partition, int64_t offset);
void fetch(int version, const char *group, const char *topics); /* "t:0,1 u:0"; NULL: all */

/* Time passes; what is due on the way happens at its own time. */
void pass_ms(int64_t ms);
void jump_ms(int64_t ms); /* as if nobody had looked at the deadlines meanwhile */
int64_t now_ms(void);
int64_t next_deadline_ms(void); /* from now; -1: none */

void move_coordinator(bool keep, int64_t load_ms);

/* Compares what was written down since the last call, and forgets it. */
void saw_at(const char *file, int line, const char *expected);
#define saw(expected) saw_at(__FILE__, __LINE__, expected)
void forget_seen(void);
/* The group as rg__kit_coordinator_print has it, with names for ids. */
void group_is_at(const char *file, int line, const char *expected);
#define group_is(expected) group_is_at(__FILE__, __LINE__, expected)
void show_all_events(void); /* from now on also join_received and the like, as JSON without their time … */
void show_event_names(void); /* … or their names alone */

/* The n-th allocation of the coordinator's own steps fails from now on; 0: none. A step that fails must fail for
 * ever, which is checked; the members hear nothing more. True once one has failed. */
void starve(long nth);
bool starved(void);

/* A group of that many members m1 … in Stable, each with its part "p0" …; nothing of it stays to be seen. */
void settle(int count, struct actor *members[]);

#endif
