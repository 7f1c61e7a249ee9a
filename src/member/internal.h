/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_INTERNAL_H
#define RG__MEMBER_INTERNAL_H

/* What the files of the member share. Nothing outside src/member includes this. */

#include "base/trouble.h"
#include "codec/find_coordinator.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/sync_group.h"
#include "group/machine.h"
#include "member/counters.h"
#include "member/events.h"
#include "member/member.h"

#include <stdatomic.h>

/* The answers to JoinGroup and SyncGroup, kept for the events that show them; shared with events that were taken. */
struct rg__kept {
	atomic_int references;
	struct rg__message *message;
	struct rg__arena arena;
	rg_member_info *infos; /* sorted by member id, each id once */
	size_t count;
	/* As they came, for SyncGroup: those of infos in the same order, then those that no C string holds. */
	struct rg__bytes *ids;
	size_t id_count;
	const char *member_id, *protocol; /* of JoinGroup's answer; "": none */
};

/* What the application is owed: made into an rg_member_event when it is taken, so that an event cannot get lost for want
 * of memory. */
struct rg__owed {
	rg_member_event_type type;
	uint32_t ticket;
	int32_t generation;
	bool is_leader, skip_assignment, fatal;
	rg_cause cause;
	rg_error error;
	struct rg__kept *group;      /* of ASSIGN and COMPLETE */
	struct rg__kept *assignment; /* of COMPLETE */
	char *member_id;             /* of the others; NULL: "" */
	char *reason;                /* of PREPARE; NULL: "" */
};

enum { RG__OWED_MAX = 32, RG__DEFERRED_MAX = 8 };

struct rg__pending_request { /* OffsetCommit or OffsetFetch that waits for, or is at, the coordinator */
	struct rg__pending_request *prev, *next;
	struct rg_member *member;
	struct rg__call call;
	rg__request_id id, link_id; /* link_id 0: not given to a link */
	int64_t ends_at;
	struct rg__timer *timer; /* runs while it waits */
	rg_err refused;          /* why the link did not take it */
};

/* What can go wrong again and again: each group request (enum rg__request), and these. */
enum rg__trouble_kind {
	RG__TROUBLE_CONNECT = RG__REQUESTS, /* to any broker */
	RG__TROUBLE_COORDINATOR,            /* the connection to it */
	RG__TROUBLE_METADATA,
	RG__TROUBLES
};

struct rg__loop; /* the member's own libuv loop, loop.c */

struct rg_member {
	struct rg__io *io;
	struct rg__loop *loop; /* NULL: on somebody else's io */
	void (*changed)(void *user);
	void *changed_user;
	void (*woken)(void *user);
	void *woken_user;

	rg_conf *conf;
	struct rg__log log;
	struct rg__event_sink *events;
	struct rg__timer *timer;

	struct rg__machine *machine;
	struct rg__counters counters;
	struct rg__event deferred[RG__DEFERRED_MAX]; /* what actions had to say at once */
	int deferred_count;
	bool stepping;

	struct rg__cluster_conf cluster_conf;
	struct rg__cluster *cluster;
	rg__request_id find_id;
	uint32_t find_attempt;
	struct rg__find_coordinator_request find_request;
	struct rg__bytes find_key;

	/* The coordinator and the connection to it. */
	char *host;
	uint16_t port;
	int32_t node_id;
	struct rg__link *link;
	struct rg__pending_request *requests;
	rg__request_id last_request_id;

	/* What was last sent of each; valid until answered or cancelled. */
	rg__request_id join_id, sync_id, heartbeat_id, leave_id;
	uint32_t join_attempt, sync_attempt, heartbeat_attempt, leave_attempt;
	struct rg__join_group_request join_request;
	struct rg__sync_group_request sync_request;
	struct rg__heartbeat_request heartbeat_request;
	struct rg__leave_group_request leave_request;
	struct rg__leave_group_request_member leave_member;
	char *sent_member_id; /* what join, sync, heartbeat and leave point to */
	char *sent_protocol;
	char sent_reason[256], sent_leave_reason[256];
	rg_error leave_error; /* why the coordinator could not be told; code RG_OK: it was, or need not be */

	/* Given by the application. */
	char *protocol_type;
	struct rg__join_group_request_protocol *protocols;
	size_t protocol_count;
	struct rg__arena protocols_arena;
	struct rg__arena plan_arena;
	struct rg__sync_group_request_assignment *plan;
	size_t plan_count;
	uint32_t assign_ticket; /* of the ASSIGN that may still be answered */
	rg_error assign_error;

	/* From the last answers. */
	struct rg__kept *group, *assignment;
	bool skip_assignment;
	rg_error cause; /* why the answer now given to the machine is an error, in words */
	struct rg__trouble troubles[RG__TROUBLES];
	struct rg__told told;
	const struct rg__response *offsets_answer; /* while whoever asked for offsets hears of it */

	struct rg__owed owed[RG__OWED_MAX]; /* a ring */
	unsigned owed_first, owed_count;
};

/* member.c */
void rg__member_step(rg_member *member, const struct rg__event *event);
void rg__member_defer(rg_member *member, const struct rg__event *event);

/* act.c */
void rg__member_act(rg_member *member, const struct rg__actions *actions);

/* coordinator.c */
void rg__find_coordinator(rg_member *member, const struct rg__action *action);
void rg__drop_link(rg_member *member);
bool rg__fresh_link(rg_member *member);

/* join.c, sync.c, heartbeat.c, leave.c: one group request each, and what its answer becomes */
void rg__send_join_group(rg_member *member, const struct rg__action *action);
void rg__send_sync_group(rg_member *member, const struct rg__action *action);
void rg__send_heartbeat_request(rg_member *member, const struct rg__action *action);
void rg__send_leave_group(rg_member *member, const struct rg__action *action);
void rg__leave_expect(rg_member *member, rg_leave how); /* before the machine hears of it */

/* send.c: what the four have in common */
bool rg__identify(rg_member *member, struct rg__bytes *ret_group_id, struct rg__bytes *ret_member_id,
                  struct rg__bytes *ret_instance_id);
rg_err rg__send(rg_member *member, int16_t api_key, const struct rg__action *action, const void *body,
                const void *(*prepare)(void *user, int16_t version),
                void (*done)(void *user, const struct rg__response *response), rg__request_id *id);
void rg__not_sent(rg_member *member, enum rg__event_type type, enum rg__request request, uint32_t attempt, rg_err err);
rg_err rg__answer_error(rg_member *member, enum rg__request request, const struct rg__response *response, rg_err in_body);

/* explain.c */
void rg__explain(rg_member *member, enum rg__request request, rg_err err, const char *broker, struct rg__bytes message);

/* trouble.c */
void rg__trouble_after(rg_member *member, const struct rg__event *event); /* the machine has seen it */
void rg__trouble_forget(rg_member *member);
void rg__trouble_connection(rg_member *member, enum rg__trouble_kind kind, const rg_error *error);
void rg__trouble_connected(rg_member *member, const char *broker);
void rg__trouble_metadata(rg_member *member, const rg_error *error);

/* offsets.c */
void rg__requests_to_link(rg_member *member);
void rg__requests_off_link(rg_member *member);
void rg__requests_free(rg_member *member);

/* kept.c */
struct rg__kept *rg__kept_of_join(const struct rg__response *response, const struct rg__log *log);
struct rg__kept *rg__kept_of_sync(const struct rg__response *response);
struct rg__kept *rg__kept_hold(struct rg__kept *kept);
void rg__kept_release(struct rg__kept *kept); /* NULL is fine */

/* owed.c */
void rg__owe(rg_member *member, const struct rg__action *action);
void rg__owed_drop(rg_member *member, bool only_asks);

/* loop.c */
void rg__loop_free(rg_member *member);

/* trace.c: event lines */
void rg__trace(rg_member *member, const char *event);
void rg__trace_request(rg_member *member, const char *event, uint32_t attempt, const char *reason);
void rg__trace_answer(rg_member *member, const char *event, uint32_t attempt, rg_err err, int32_t generation, bool leader);
void rg__trace_error(rg_member *member, const rg_error *error);

#endif
