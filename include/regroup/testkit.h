/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_TESTKIT_H
#define REGROUP_TESTKIT_H

/** @file
 * An embedded Kafka cluster for tests of consumer groups: brokers on loopback ports that any client can talk to,
 * whose group coordinator behaves as Kafka 4's does for classic groups, and which can be told to misbehave on the
 * n-th request. Its own library, libregroup-testkit (pkg-config regroup-testkit): not for production.
 *
 * Brokers have the ids 1, 2, …; all of them serve all partitions. Group requests, among them DescribeGroups, ListGroups
 * and TxnOffsetCommit, ApiVersions, Metadata and FindCoordinator are answered here; every other request is passed on
 * unchanged to one mock broker of librdkafka, which keeps the records (per partition about 5 MiB or 100,000 batches, the
 * oldest go first) and knows only what that mock knows: no topic administration, no TLS and no SASL, and of transactions
 * their course, but not which records they cover. Offsets of a transaction become the group's when it is committed
 * (KIP-447).
 *
 * A kit runs on a thread of its own. All calls are for any thread, but not for the event callback, where they return
 * RG_ERR_STATE; each returns when it is done. Besides what a call lists, each may return RG_ERR_INVALID (an argument;
 * the text says which and why), RG_ERR_STATE (inside the callback), RG_ERR_MEMORY, or RG_ERR_SYSTEM when the kit's
 * thread gave up earlier (the text says why). `error` may be NULL everywhere. API keys are Kafka's: 11 is JoinGroup. */

#include <regroup/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A cluster. */
typedef struct rg_testkit rg_testkit;

/** How a cluster is to be. Fill it with rg_testkit_conf_init() first. Strings are copied. */
typedef struct rg_testkit_conf {
	size_t size; /**< set by rg_testkit_conf_init(): lets later versions append */
	const char *topics;   /**< "orders:6,clicks:3", a name and how many partitions it has; NULL: none. Default NULL */
	int32_t broker_count; /**< 1 to 16. Default 1 */
	int32_t port;         /**< of broker 1 on 127.0.0.1, broker 2 has the next one, …; 0: free ones. Default 0 */
	int32_t partitions_max; /**< up to which a topic can grow later. Default 64 */
	uint64_t seed;        /**< of the member ids. Default 1 */
	/** As the brokers' settings of these names, in milliseconds; defaults are theirs except where said. */
	int32_t group_initial_rebalance_delay_ms; /**< default 0 (Kafka: 3000) */
	int32_t group_min_session_timeout_ms;     /**< default 1 (Kafka: 6000) */
	int32_t group_max_session_timeout_ms;
	int32_t group_max_size;
	/** What a JoinGroup or SyncGroup hears that is still waiting when the same member sends another: false: nothing,
	 * ever, as Kafka 4.1 does; true: 16, as later brokers do (KAFKA-20938). Default false */
	bool answer_superseded;
	/** Where event lines go, "-" for standard output, flushed at each line. Default NULL: nowhere */
	const char *events_path;
	/** Gets each event line (JSON, no line end; it lives until the call returns), on the kit's thread. Default NULL */
	void (*on_event)(const char *line, void *user);
	void *user;
} rg_testkit_conf;

/** Fills in the defaults. `size` is sizeof(rg_testkit_conf). */
RG_API void rg_testkit_conf_init(rg_testkit_conf *conf, size_t size);

/** Starts a cluster; it is ready when the call returns. RG_OK; RG_ERR_SYSTEM: a port, file or thread could not be had;
 * RG_ERR_LIBRDKAFKA: the mock broker could not. Free with rg_testkit_free(). */
RG_API rg_err rg_testkit_new(rg_testkit **ret_kit, const rg_testkit_conf *conf, rg_error *error);

/** Ends a cluster and all its connections. No event comes after it returned. Takes up to a second, as long as
 * librdkafka needs to end its mock broker. Not from the event callback. NULL is ignored. */
RG_API void rg_testkit_free(rg_testkit *kit);

/** "127.0.0.1:40001,127.0.0.1:40002": all brokers, also those that are stopped. Lives as long as the kit. */
RG_API const char *rg_testkit_bootstrap(const rg_testkit *kit);

/** The port of a broker; -1 when there is no such broker. */
RG_API int rg_testkit_port(const rg_testkit *kit, int32_t broker);

/* Topics */

/** Makes a topic of 1 to partitions_max partitions. RG_ERR_STATE: it exists. A name that was used before and removed
 * finds its old records. */
RG_API rg_err rg_testkit_add_topic(rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error);

/** Gives a topic more partitions. RG_ERR_STATE: there is no such topic, or it has more already. */
RG_API rg_err rg_testkit_grow_topic(rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error);

/** Takes a topic out of the metadata and refuses commits for it (3). RG_ERR_STATE: there is no such topic. */
RG_API rg_err rg_testkit_remove_topic(rg_testkit *kit, const char *name, rg_error *error);

/** Writes `count` records without keys, whose values are `prefix` and a number counted from `first`, to one partition,
 * or to all in turn with partition -1. Returns when they are stored. RG_ERR_STATE: there is no such topic or
 * partition; RG_ERR_LIBRDKAFKA; RG_ERR_TIMED_OUT after a minute. */
RG_API rg_err rg_testkit_produce(rg_testkit *kit, const char *topic, int32_t partition, const char *prefix,
                                 int64_t first, int64_t count, rg_error *error);

/** Says which brokers have the replicas of a partition, or of all a topic has with partition -1; without it each has
 * one, at its leader. The first that runs leads, and with none there is no leader (5); brokers serve everything all the
 * same. The list is copied; an empty one takes it back. RG_ERR_STATE: there is no such topic or partition. */
RG_API rg_err rg_testkit_set_replicas(rg_testkit *kit, const char *topic, int32_t partition, const int32_t *brokers,
                                      size_t count, rg_error *error);

/* Brokers and coordinators */

/** Puts a broker into a rack (up to 255 bytes), which Metadata tells (KIP-881); NULL or "": into none, as at the
 * start. */
RG_API rg_err rg_testkit_set_rack(rg_testkit *kit, int32_t broker, const char *rack, rg_error *error);

/** Closes a broker's port and its connections; the others take over its partitions. Groups it coordinates have none
 * until it is back or they are moved: FindCoordinator says 15. */
RG_API rg_err rg_testkit_stop_broker(rg_testkit *kit, int32_t broker, rg_error *error);

/** Opens the port again. RG_ERR_SYSTEM: somebody else took it. */
RG_API rg_err rg_testkit_start_broker(rg_testkit *kit, int32_t broker, rg_error *error);

/** Makes a broker the coordinator of a group, or of all with `group` NULL. Requests that wait hear 16. For `load_ms`
 * the new one reads (14; heartbeats go well). It then knows what the old one had stored, which is the last generation
 * that was Stable or Empty and the offsets; with `keep` false it knows nothing. */
RG_API rg_err rg_testkit_move_coordinator(rg_testkit *kit, const char *group, int32_t broker, bool keep,
                                          int32_t load_ms, rg_error *error);

/** The broker that coordinates a group; -1 on error. */
RG_API int32_t rg_testkit_coordinator(rg_testkit *kit, const char *group);

/** Offers an API in these versions only; both -1: not at all. Clients that are connected know what they asked before. A
 * request in a version that is not offered ends its connection, as brokers do. */
RG_API rg_err rg_testkit_set_versions(rg_testkit *kit, int api_key, int first, int last, rg_error *error);

/** Changes group.max.size. */
RG_API rg_err rg_testkit_set_group_max_size(rg_testkit *kit, int32_t size, rg_error *error);

/* Faults. Each call is about one request: the `nth` one of the API from now on, 1 being the next, over all brokers and
 * connections. `api_key` -1 counts requests of every API. */

/** That request is answered with an error and not applied. Only APIs answered here. */
RG_API rg_err rg_testkit_fail_request(rg_testkit *kit, int api_key, int32_t nth, rg_err kafka_error, rg_error *error);

/** The connection breaks at that request: before it is applied, or when it has been (`applied`). */
RG_API rg_err rg_testkit_drop_request(rg_testkit *kit, int api_key, int32_t nth, bool applied, rg_error *error);

/** That request waits: before it is applied, or its answer does (`applied`). Later requests of the same connection
 * wait behind it. *ret_hold (not NULL) is for the two calls below. */
RG_API rg_err rg_testkit_hold_request(rg_testkit *kit, int api_key, int32_t nth, bool applied, int *ret_hold,
                                      rg_error *error);

/** Returns when the request is here and waits (a hold after it was applied: when it is here). RG_ERR_TIMED_OUT. */
RG_API rg_err rg_testkit_wait_held(rg_testkit *kit, int hold, int timeout_ms, rg_error *error);

/** Lets it go on; also before it came, so that it will not be held. */
RG_API rg_err rg_testkit_release(rg_testkit *kit, int hold, rg_error *error);

/** Every answer of a broker takes this much longer, from now on. */
RG_API rg_err rg_testkit_set_latency(rg_testkit *kit, int32_t broker, int32_t latency_ms, rg_error *error);

/** How many requests of an API (-1: of all) have come in since the start; -1 on error. */
RG_API int64_t rg_testkit_request_count(rg_testkit *kit, int api_key);

/* What happens */

/** Waits for an event whose line matches a shell pattern (fnmatch(3)), such as
 * "*\"event\":\"state\"*\"to\":\"Stable\"*". Looks at the lines after the one the call before found, so that calls in
 * a row expect things in a row; lines nobody looked at are kept, the last 65,536. RG_ERR_TIMED_OUT: the text holds
 * the last line there was. For one thread at a time. */
RG_API rg_err rg_testkit_wait(rg_testkit *kit, const char *pattern, int timeout_ms, rg_error *error);

/** Writes the state of a group as text, such as "Stable gen=3 leader=m1-… protocol=range members=[m1-… m2-…]", "absent"
 * where there is none; cut at `size`, NUL-terminated. */
RG_API rg_err rg_testkit_describe_group(rg_testkit *kit, const char *group, char *text, size_t size, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
