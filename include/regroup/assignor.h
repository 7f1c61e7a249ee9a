/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_ASSIGNOR_H
#define REGROUP_ASSIGNOR_H

/** @file
 * Who gets which partition. An assignor is a name and up to three functions; the group's leader runs `assign`
 * of the one the coordinator chose. range, roundrobin, sticky, cooperative-sticky and weighted are built in; register your own with
 * rg_conf_add_assignor().
 *
 * The group is shown as a dense view: members, topics and partitions are indexes from 0, so an assignor needs no
 * maps and no Kafka types. The view belongs to regroup and lives until the call returns. */

#include <regroup/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A view of bytes that belong to regroup. data may be NULL (Kafka's null); len is in bytes. */
typedef struct rg_bytes {
	const void *data;
	size_t len;
} rg_bytes;

/** One topic that at least one member subscribes to and that exists. */
typedef struct rg_group_topic {
	const char *name;        /**< NUL-terminated */
	int32_t partition_count; /**< at least 1 */
	/** For each partition the racks of its replicas, or NULL when unknown (KIP-881). racks[p] has rack_counts[p]
	 * names. */
	const char *const *const *racks;
	const int32_t *rack_counts;
} rg_group_topic;

/** A partition as indexes into the view. */
typedef struct rg_group_partition {
	int32_t topic;     /**< index into rg_group.topics */
	int32_t partition; /**< 0 … partition_count-1 */
} rg_group_partition;

/** One member of the group. */
typedef struct rg_group_member {
	const char *member_id;   /**< NUL-terminated, unique in the group */
	const char *instance_id; /**< group.instance.id (KIP-345), or NULL */
	const char *rack;        /**< client.rack (KIP-881), or NULL */
	/** Topics it subscribes to: ascending indexes into rg_group.topics, each once. Topics that do not exist are left
	 * out. */
	const int32_t *topics;
	int32_t topic_count;
	/** What it says it owns (KIP-429): only existing partitions of existing topics, each once, ascending; other
	 * claims are dropped before the assignor sees them. A member may claim what it no longer subscribes to. */
	const rg_group_partition *owned;
	int32_t owned_count;
	int32_t generation; /**< the generation of `owned` (KIP-792), -1 when the member did not say */
	rg_bytes userdata;  /**< what its `subscription_userdata` wrote; hostile until checked */
} rg_group_member;

/** The whole group, as the leader sees it. Members are ordered by member id, topics by name (byte order). */
typedef struct rg_group {
	size_t size; /**< sizeof(rg_group) of the library: later versions append */
	const rg_group_member *members;
	int32_t member_count;
	const rg_group_topic *topics;
	int32_t topic_count;
	int32_t generation; /**< the generation that is being assigned */
} rg_group;

/** The answer, filled by `assign` through the functions below. Every member is in it from the start, with nothing. */
typedef struct rg_plan rg_plan;

/** Gives a partition to a member. RG_OK, or RG_ERR_INVALID: an index is out of range; nothing given, and the plan as a
 * whole is a bad one from then on. That each partition is given once and only to members that subscribe to its topic is
 * checked after `assign` returned. */
RG_API rg_err rg_plan_give(rg_plan *plan, int32_t member, int32_t topic, int32_t partition);

/** Gives `count` partitions first, first+1, … of one topic: as rg_plan_give() for each, and cheaper. */
RG_API rg_err rg_plan_give_range(rg_plan *plan, int32_t member, int32_t topic, int32_t first, int32_t count);

/** Attaches bytes to a member's assignment, copied; its `on_assignment` gets them. RG_OK, RG_ERR_INVALID or
 * RG_ERR_MEMORY. */
RG_API rg_err rg_plan_set_userdata(rg_plan *plan, int32_t member, const void *data, size_t len);

/** An empty plan for a group of your own making, to try an assignor or to test one without a group: run its `assign`
 * on it, then look. `group` must be as regroup makes it: members by member id, topics by name, all lists ascending;
 * it must outlive the plan. NULL: out of memory, or there are more than INT32_MAX partitions. Free with
 * rg_plan_free(). Any thread. */
RG_API rg_plan *rg_plan_new(const rg_group *group);

/** Frees a plan of rg_plan_new(), never one that `assign` was given. NULL is fine. */
RG_API void rg_plan_free(rg_plan *plan);

/** What regroup does before it sends a plan: each partition at most once, only to members that subscribe to its
 * topic, no index out of range. RG_OK, and how many partitions nobody got in `ret_withheld` (may be NULL);
 * RG_ERR_BAD_PLAN with the first fault by name in `error` (may be NULL); RG_ERR_MEMORY. */
RG_API rg_err rg_plan_check(rg_plan *plan, int32_t *ret_withheld, rg_error *error);

/** The member that a partition was given to; -1: nobody, or an index is out of range. */
RG_API int32_t rg_plan_owner(const rg_plan *plan, int32_t topic, int32_t partition);

/** The bytes attached to a member; data NULL: none. Valid until others are attached or the plan is freed. */
RG_API rg_bytes rg_plan_userdata(const rg_plan *plan, int32_t member);

/** How a member gives up what it owns (KIP-429). Eager: everything, before it joins. Cooperative: only what the new
 * plan takes away, after it. */
enum { RG_EAGER = 1, RG_COOPERATIVE = 2 };

/** What a member got. */
typedef struct rg_assignment {
	size_t size; /**< sizeof(rg_assignment) of the library: later versions append */
	const char *const *topics; /**< topic_count names; partitions[i] has partition_counts[i] numbers, ascending */
	const int32_t *const *partitions;
	const int32_t *partition_counts;
	int32_t topic_count;
	rg_bytes userdata;
	int32_t generation;
	const char *member_id;
} rg_assignment;

/** An assignor. All functions run on the thread that is inside rg_consumer_poll() (or close, unsubscribe);
 * heartbeats go on meanwhile. They must not call into the consumer, except to read: `assign` may ask for the group's
 * offsets (rg_consumer_committed(), rg_consumer_handle()) as long as that fits into max.poll.interval.ms. */
typedef struct rg_assignor {
	size_t size;      /**< sizeof(rg_assignor): lets later versions append */
	const char *name; /**< as in partition.assignment.strategy and on the wire; 1 to 255 bytes */
	unsigned protocols; /**< RG_EAGER, RG_COOPERATIVE, or both */

	/** Before every join: writes what the leader's `assign` shall see as this member's userdata. `topics` are the
	 * subscribed names. Returns a length in bytes of at most `capacity` written to `buffer`; 0 for none; a length above
	 * `capacity`, up to 16 MiB, makes regroup call again with that much room; negative is an error: this member's poll
	 * returns RG_ERR_ASSIGNOR, and after a pause it is called again. Optional. */
	int32_t (*subscription_userdata)(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
	                                 void *user);

	/** The leader only: shares the partitions. Returns RG_OK, or any other number, with a sentence in `error`: then no
	 * plan is sent, the leader's poll returns RG_ERR_ASSIGNOR with that sentence, and its next poll joins again after a
	 * pause. RG_ERR_MEMORY is no error for poll: the member tries again by itself. Required. */
	rg_err (*assign)(const rg_group *group, rg_plan *plan, rg_error *error, void *user);

	/** Every member, every round, also for an empty assignment: what this member got, before on_assigned. Optional. */
	void (*on_assignment)(const rg_assignment *assignment, void *user);
} rg_assignor;

/** The built-in assignor with this name (or the name of Java's class), to run its `assign`, which ignores `user`, or to
 * wrap that: an assignor of your own with the same name and protocols takes its place. Its other functions need what
 * regroup keeps for them; do not call them. A constant; NULL: there is none. Any thread. */
RG_API const rg_assignor *rg_assignor_builtin(const char *name);

#ifdef __cplusplus
}
#endif
#endif
