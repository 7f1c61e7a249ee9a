/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_COORDINATOR_H
#define RG__TESTKIT_COORDINATOR_H

/* What the coordinator's own files share. Others include group_coordinator.h.
 *
 * Bytes that a struct here owns were made by rg__kit_own() and go with rg__kit_disown(). Functions that return bool say
 * false for "out of memory" only. Answers and events are appended without a result: where memory runs out they set
 * `failed`, which the step reports. */

#include "base/backoff.h"
#include "base/hash.h"
#include "codec/api.h"
#include "codec/join_group.h"
#include "testkit/group_coordinator.h"

/* Kafka's error numbers that a coordinator gives. */
enum {
	RG__KIT_UNKNOWN_SERVER_ERROR = -1,
	RG__KIT_UNKNOWN_TOPIC_OR_PARTITION = 3,
	RG__KIT_OFFSET_METADATA_TOO_LARGE = 12,
	RG__KIT_LOAD_IN_PROGRESS = 14,
	RG__KIT_ILLEGAL_GENERATION = 22,
	RG__KIT_INCONSISTENT_GROUP_PROTOCOL = 23,
	RG__KIT_INVALID_GROUP_ID = 24,
	RG__KIT_UNKNOWN_MEMBER_ID = 25,
	RG__KIT_INVALID_SESSION_TIMEOUT = 26,
	RG__KIT_REBALANCE_IN_PROGRESS = 27,
	RG__KIT_TOPIC_AUTHORIZATION_FAILED = 29,
	RG__KIT_GROUP_ID_NOT_FOUND = 69,
	RG__KIT_MEMBER_ID_REQUIRED = 79,
	RG__KIT_GROUP_MAX_SIZE_REACHED = 81,
	RG__KIT_FENCED_INSTANCE_ID = 82,
	RG__KIT_UNSTABLE_OFFSET_COMMIT = 88
};

/* Where an answer goes; `parked`: it is still owed. */
struct rg__kit_reply {
	bool parked;
	uint64_t connection;
	int32_t correlation_id;
	int16_t version;
};

/* A way of sharing partitions that a member offers, with its subscription for it. */
struct rg__kit_protocol {
	struct rg__bytes name, metadata; /* owned */
	int32_t votes; /* vote.c's own */
};

struct rg__kit_member {
	UT_hash_handle hh;
	struct rg__bytes id, instance_id, client_id; /* owned; instance_id null: dynamic */
	int64_t session_us, rebalance_us;
	struct rg__kit_protocol *protocols; /* by preference */
	int32_t protocol_count;
	struct rg__bytes assignment; /* owned, never null */
	struct rg__kit_reply join, sync;
	bool is_new;     /* has not had its first JoinGroup answer: cannot send heartbeats yet */
	bool owes_sync;  /* has its JoinGroup answer of this generation and has not sent SyncGroup */
	int64_t expires_us;
};

/* KIP-394: an id that was handed out with 79 and has not come back. The group waits for it. */
struct rg__kit_pending_id {
	UT_hash_handle hh;
	struct rg__bytes id; /* owned */
	int64_t expires_us;
};

/* The wait for everybody's JoinGroup. Made on the way into PreparingRebalance, gone with it. */
struct rg__kit_delayed_join {
	bool initial;      /* out of Empty: ends only by time, so that the first generation has company (KIP-134) */
	bool newcomer;     /* initial: somebody joined since the delay began */
	int64_t due_us;
	int64_t delay_us, remaining_us; /* initial: this round, and what more rounds may take */
};

struct rg__kit_offset {
	UT_hash_handle hh;
	int32_t partition;
	int64_t offset;
	int32_t leader_epoch;
	struct rg__bytes metadata; /* owned, never null */
};

struct rg__kit_offset_topic {
	UT_hash_handle hh;
	struct rg__bytes name; /* owned */
	struct rg__kit_offset *partitions;
};

/* What a broker has written down for a group: its last Stable or Empty generation. */
struct rg__kit_record {
	struct rg__arena arena;
	struct rg__bytes protocol_type, protocol_name, leader;
	int32_t generation;
	struct rg__kit_record_member *members;
	int32_t member_count;
};

struct rg__kit_group {
	UT_hash_handle hh;
	struct rg__bytes id; /* owned */
	enum rg__kit_group_state state;
	bool moved; /* in this step */
	int32_t generation;
	struct rg__bytes protocol_type, protocol_name, leader; /* owned; null: none */
	struct rg__kit_member *members; /* in the order of joining */
	struct rg__kit_pending_id *pending_ids;
	struct rg__kit_delayed_join *delayed_join; /* in PreparingRebalance only */
	int64_t sync_due_us; /* KAFKA-12890: who owes a SyncGroup by then is removed */
	int64_t empty_since_us;
	struct rg__kit_offset_topic *offsets;
	struct rg__kit_record *record;
};

/* A group whose coordinator is moving: what the new one will read, and when it has. */
struct rg__kit_unloaded {
	UT_hash_handle hh;
	struct rg__bytes id; /* owned */
	int64_t ready_us;
	struct rg__kit_record *record;       /* NULL: nothing is stored */
	struct rg__kit_offset_topic *offsets;
};

struct rg__kit_coordinator {
	struct rg__kit_coordinator_conf conf;
	struct rg__random random;
	struct rg__kit_group *groups;
	struct rg__kit_unloaded *unloaded;
	struct rg__kit_pending_offset *pending_offsets;
	/* During a step. */
	int64_t now_us;
	struct rg__kit_outcome *out;
	bool failed;
};

/* group.c: groups and members as things. */
bool rg__kit_own(struct rg__bytes *at, struct rg__bytes view); /* replaces what was there */
void rg__kit_disown(struct rg__bytes *at);
int64_t rg__kit_after(int64_t now_us, int64_t wait_us); /* saturates */
struct rg__kit_group *rg__kit_group_find(const struct rg__kit_coordinator *c, struct rg__bytes id);
struct rg__kit_group *rg__kit_group_new(struct rg__kit_coordinator *c, struct rg__bytes id); /* Empty, in the table */
void rg__kit_group_free(struct rg__kit_coordinator *c, struct rg__kit_group *group);
struct rg__kit_member *rg__kit_member_find(const struct rg__kit_group *group, struct rg__bytes id);
struct rg__kit_member *rg__kit_member_by_instance(const struct rg__kit_group *group, struct rg__bytes instance_id);
struct rg__kit_member *rg__kit_member_new(const struct rg__kit_request *request, struct rg__bytes id);
void rg__kit_member_free(struct rg__kit_member *member);
bool rg__kit_member_set_protocols(struct rg__kit_member *member, const struct rg__join_group_request *request);
void rg__kit_member_set_timeouts(struct rg__kit_member *member, const struct rg__kit_request *request);
bool rg__kit_group_add(struct rg__kit_group *group, struct rg__kit_member *member); /* takes it over on success */
bool rg__kit_group_remove(struct rg__kit_group *group, struct rg__kit_member *member); /* and frees it */
bool rg__kit_group_has_leader(const struct rg__kit_group *group, const struct rg__kit_member *member);
int64_t rg__kit_group_rebalance_us(const struct rg__kit_group *group); /* the largest of its members' */
bool rg__kit_group_all_joined(const struct rg__kit_group *group);
void rg__kit_member_alive(const struct rg__kit_coordinator *c, struct rg__kit_member *member); /* a session from now */

/* states.c: the one writer of group->state. */
void rg__kit_group_check(struct rg__kit_group *group);
void rg__kit_group_become(struct rg__kit_coordinator *c, struct rg__kit_group *group, enum rg__kit_group_state to,
			  const char *reason);

/* pending_id.c (KIP-394) */
struct rg__kit_pending_id *rg__kit_pending_id_find(const struct rg__kit_group *group, struct rg__bytes id);
bool rg__kit_pending_id_add(struct rg__kit_group *group, struct rg__bytes id, int64_t expires_us);
void rg__kit_pending_id_remove(struct rg__kit_group *group, struct rg__kit_pending_id *pending);
/* *ret_id is owned. */
bool rg__kit_make_member_id(struct rg__kit_coordinator *c, struct rg__bytes prefix, struct rg__bytes *ret_id);

/* vote.c: which protocol. */
bool rg__kit_member_offers(const struct rg__kit_member *member, struct rg__bytes protocol);
/* Null: it does not offer it. */
struct rg__bytes rg__kit_member_metadata(const struct rg__kit_member *member, struct rg__bytes protocol);
bool rg__kit_group_supports(const struct rg__kit_group *group, const struct rg__join_group_request *request);
bool rg__kit_member_matches(const struct rg__kit_member *member, const struct rg__join_group_request *request);
struct rg__bytes rg__kit_group_vote(struct rg__kit_group *group); /* a view; null: no members */

/* static_member.c (KIP-345) */
int16_t rg__kit_member_check(const struct rg__kit_group *group, struct rg__bytes id, struct rg__bytes instance_id,
			     struct rg__kit_member **ret_member); /* 0, 25 or 82 */
bool rg__kit_static_rejoin(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
			   struct rg__bytes new_id, const struct rg__kit_request *request);

/* rebalance.c and delayed_join.c: into PreparingRebalance and out of it. */
bool rg__kit_prepare_rebalance(struct rg__kit_coordinator *c, struct rg__kit_group *group, const char *reason);
bool rg__kit_rebalance_or_complete(struct rg__kit_coordinator *c, struct rg__kit_group *group, const char *reason);
bool rg__kit_complete_join(struct rg__kit_coordinator *c, struct rg__kit_group *group);
void rg__kit_answer_syncs(struct rg__kit_coordinator *c, struct rg__kit_group *group, int16_t error);
bool rg__kit_elect_leader(struct rg__kit_group *group, bool *ret_elected); /* among those who rejoined */
bool rg__kit_delayed_join_create(struct rg__kit_coordinator *c, struct rg__kit_group *group, bool initial);
bool rg__kit_delayed_join_try(struct rg__kit_coordinator *c, struct rg__kit_group *group); /* is everybody here? */
bool rg__kit_delayed_join_due(struct rg__kit_coordinator *c, struct rg__kit_group *group); /* time is up */
void rg__kit_delayed_join_free(struct rg__kit_group *group);

/* One per request. */
bool rg__kit_on_join(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_sync(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_heartbeat(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_leave(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_offset_commit(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_offset_fetch(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_txn_offset_commit(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_describe_groups(struct rg__kit_coordinator *c, const struct rg__kit_request *request);
bool rg__kit_on_list_groups(struct rg__kit_coordinator *c, const struct rg__kit_request *request);

/* on_offset_commit.c: whether somebody may commit for a group. *ret_member (may be NULL) is NULL where none is concerned. */
int16_t rg__kit_commit_check(const struct rg__kit_group *group, int32_t generation, struct rg__bytes member_id,
			     struct rg__bytes instance_id, bool transactional, struct rg__kit_member **ret_member);
bool rg__kit_partition_exists(const struct rg__kit_coordinator *c, struct rg__bytes topic, int32_t partition);
/* The group that offsets are committed to; whoever has no generation may make it. A missing one is `missing_error` to a
 * member of it. 0 without a group: c->failed. */
int16_t rg__kit_commit_group(struct rg__kit_coordinator *c, struct rg__bytes group_id, int32_t generation,
			     int16_t missing_error, struct rg__kit_group **ret_group);

/* pending_offsets.c: of transactions that are not over. */
bool rg__kit_pending_offset_store(struct rg__kit_coordinator *c, struct rg__bytes transactional_id,
				  struct rg__bytes group, struct rg__bytes topic, int32_t partition, int64_t offset,
				  int32_t leader_epoch, struct rg__bytes metadata);
bool rg__kit_offset_is_unstable(const struct rg__kit_coordinator *c, struct rg__bytes group, struct rg__bytes topic,
				int32_t partition);
void rg__kit_pending_offsets_forget(struct rg__kit_coordinator *c, struct rg__bytes group); /* null: of all */

/* offsets.c */
struct rg__kit_offset *rg__kit_offset_find(const struct rg__kit_group *group, struct rg__bytes topic,
					   int32_t partition);
bool rg__kit_offset_store(struct rg__kit_offset_topic **offsets, struct rg__bytes topic, int32_t partition, int64_t offset,
			  int32_t leader_epoch, struct rg__bytes metadata);
void rg__kit_offsets_free(struct rg__kit_offset_topic **topics);

/* expire.c: does the earliest thing that is due; *ret_done false: nothing was. */
bool rg__kit_expire_next(struct rg__kit_coordinator *c, bool *ret_done);

/* move.c */
bool rg__kit_record_store(struct rg__kit_group *group); /* writes down what the group is now */
void rg__kit_record_free(struct rg__kit_record *record);
struct rg__kit_unloaded *rg__kit_unloaded_find(const struct rg__kit_coordinator *c, struct rg__bytes id);
bool rg__kit_load(struct rg__kit_coordinator *c, struct rg__kit_unloaded *unloaded);
void rg__kit_unloaded_free(struct rg__kit_coordinator *c, struct rg__kit_unloaded *unloaded);

/* answer.c. A reply that is not parked is not answered; an answered one is not parked any more. */
struct rg__kit_reply rg__kit_reply_to(const struct rg__kit_request *request);
void rg__kit_park(struct rg__kit_coordinator *c, struct rg__kit_group *group, struct rg__kit_member *member,
		  const struct rg__kit_request *request); /* JoinGroup or SyncGroup; what it supersedes is answered or not */
void *rg__kit_answer(struct rg__kit_coordinator *c, struct rg__kit_reply *reply, int16_t api); /* NULL: failed is set */
struct rg__bytes rg__kit_copy(struct rg__kit_coordinator *c, struct rg__bytes view); /* into the outcome's arena */
void rg__kit_answer_error(struct rg__kit_coordinator *c, const struct rg__kit_request *request, int16_t error);
void rg__kit_answer_join_error(struct rg__kit_coordinator *c, struct rg__bytes group_id, int32_t generation,
			       struct rg__kit_reply *reply, struct rg__bytes member_id, int16_t error);
void rg__kit_answer_join(struct rg__kit_coordinator *c, const struct rg__kit_group *group,
			 struct rg__kit_reply *reply, const struct rg__kit_member *member, struct rg__bytes leader,
			 bool with_members, bool skip_assignment);
void rg__kit_answer_sync(struct rg__kit_coordinator *c, const struct rg__kit_group *group, struct rg__kit_reply *reply,
			 const struct rg__kit_member *member, struct rg__bytes member_id, int16_t error);

/* events.c. Views are copied. NULL: failed is set. */
struct rg__kit_event *rg__kit_event(struct rg__kit_coordinator *c, enum rg__kit_event_type type, struct rg__bytes group,
				    struct rg__bytes member, int32_t generation);

#endif
