/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_CLUSTER_H
#define RG__TESTKIT_CLUSTER_H

/* What a cluster tells its clients about itself: brokers, topics, versions, and who coordinates which group. Answers
 * ApiVersions, Metadata and FindCoordinator. No I/O, clock or thread.
 *
 * Every running broker leads its share of the partitions (partition modulo their number): whoever stands behind the
 * brokers serves all of them alike. Where it was said who has a partition's replicas, the first of them that runs leads
 * it, as in a real cluster. */

#include "base/arena.h"
#include "base/bytes.h"
#include "codec/field.h"
#include "testkit/group_coordinator.h"

enum { RG__KIT_BROKERS_MAX = 16, RG__KIT_APIS_MAX = 128, RG__KIT_RACK_MAX = 255 };

struct rg__kit_broker {
	int32_t id; /* 1 … */
	char host[64];
	int32_t port;
	bool running;
	char rack[RG__KIT_RACK_MAX + 1]; /* "": none */
};

/* Who has the replicas of a partition, the preferred leader first. */
struct rg__kit_replicas {
	int32_t ids[RG__KIT_BROKERS_MAX];
	int32_t count; /* 0: nobody has said */
};

struct rg__kit_topic {
	struct rg__kit_topic *next;
	struct rg__bytes name; /* owned */
	struct rg__uuid id;    /* stays while the topic does: one that is made anew under its name gets another */
	int32_t partition_count;
	struct rg__kit_replicas *replicas; /* owned, of the first `replicas_count` partitions */
	int32_t replicas_count;
};

struct rg__kit_versions {
	int16_t api, first, last;
};

struct rg__kit_moved;

/* Zero-initialised is a cluster without brokers. */
struct rg__kit_cluster {
	struct rg__kit_broker brokers[RG__KIT_BROKERS_MAX];
	int32_t broker_count;
	struct rg__kit_topic *topics; /* in the order of their making */
	uint64_t topics_made;
	struct rg__kit_versions versions[RG__KIT_APIS_MAX]; /* offered, by api */
	int32_t version_count;
	int32_t coordinator_of_all;  /* broker id; 0: by the group's name */
	struct rg__kit_moved *moved; /* groups with a coordinator of their own */
};

void rg__kit_cluster_free(struct rg__kit_cluster *cluster); /* what it owns; not itself */

struct rg__kit_broker *rg__kit_broker_find(struct rg__kit_cluster *cluster, int32_t id); /* NULL: there is none */

bool rg__kit_is_topic_name(struct rg__bytes name); /* Kafka's rule */
struct rg__kit_topic *rg__kit_topic_find(const struct rg__kit_cluster *cluster, struct rg__bytes name);
/* NULL: out of memory. The name must not be taken. */
struct rg__kit_topic *rg__kit_topic_add(struct rg__kit_cluster *cluster, struct rg__bytes name,
					int32_t partition_count);
void rg__kit_topic_remove(struct rg__kit_cluster *cluster, struct rg__kit_topic *topic);
/* Of one partition, or all there are with -1. False: out of memory. */
bool rg__kit_topic_set_replicas(struct rg__kit_topic *topic, int32_t partition, const struct rg__kit_replicas *replicas);

/* Offers a range of versions; first -1: the API is not offered. False: too many APIs. */
bool rg__kit_versions_set(struct rg__kit_cluster *cluster, int16_t api, int16_t first, int16_t last);
bool rg__kit_versions_offered(const struct rg__kit_cluster *cluster, int16_t api, int16_t version);
void rg__kit_versions_all_ours(struct rg__kit_cluster *cluster); /* the whole ranges of the APIs we answer */

/* The broker that coordinates a group; 0: there are no brokers. */
int32_t rg__kit_coordinator_of(const struct rg__kit_cluster *cluster, struct rg__bytes group);
/* From now on it is that one; group null: of all. False: out of memory. */
bool rg__kit_coordinator_set(struct rg__kit_cluster *cluster, struct rg__bytes group, int32_t broker);

/* Whether a request can be handled here: 0, or 16 when one of its groups is coordinated elsewhere. Not a group's: 0. */
int16_t rg__kit_coordinator_check(const struct rg__kit_cluster *cluster, int32_t broker,
				  const struct rg__kit_request *request);

/* The answers' structs of codec/, in the arena; views point into the cluster. NULL: out of memory. */
void *rg__kit_on_api_versions(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request,
			      int16_t error, struct rg__arena *arena);
void *rg__kit_on_metadata(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request, int16_t error,
			  struct rg__arena *arena);
void *rg__kit_on_find_coordinator(const struct rg__kit_cluster *cluster, const struct rg__kit_request *request,
				  int16_t error, struct rg__arena *arena);

#endif
