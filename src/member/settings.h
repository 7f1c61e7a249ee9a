/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_SETTINGS_H
#define RG__MEMBER_SETTINGS_H

/* The values of the properties that are regroup's own. conf.c has the table that fills them. */

#include "base/stat.h"

#include <regroup/assignor.h>
#include <regroup/conf.h>
#include <stdbool.h>
#include <stdint.h>

enum rg__reset { RG__RESET_LATEST, RG__RESET_EARLIEST, RG__RESET_NONE, RG__RESET_BY_DURATION };

enum rg__recovery { RG__RECOVERY_NONE, RG__RECOVERY_REBOOTSTRAP };

struct rg__settings {
	/* Connections. */
	char *bootstrap_servers; /* also librdkafka's */
	char *client_id;         /* also librdkafka's */
	int32_t request_timeout_ms;
	int32_t connect_timeout_ms; /* socket.connection.setup.timeout.ms */
	int32_t reconnect_backoff_ms, reconnect_backoff_max_ms;
	int32_t retry_backoff_ms, retry_backoff_max_ms;
	int32_t frame_limit; /* receive.message.max.bytes */
	int32_t metadata_max_age_ms;
	int32_t recovery_strategy; /* metadata.recovery.strategy, an rg__recovery */
	int32_t rebootstrap_trigger_ms;
	int32_t connections_max_idle_ms; /* also librdkafka's; 0: never */
	bool allow_auto_create_topics;
	bool exclude_internal_topics;
	/* Group. */
	char *group_id;
	char *group_instance_id; /* NULL: dynamic */
	char *client_rack;       /* NULL: none */
	char *partition_assignment_strategy;
	int32_t session_timeout_ms;
	int32_t heartbeat_interval_ms;
	int32_t heartbeat_budget; /* group.heartbeat.budget, per second for the group; 0: off */
	int32_t max_poll_interval_ms;
	int32_t member_capacity; /* group.member.capacity, for the assignor `weighted` */
	/* Offsets. */
	bool enable_auto_commit;
	int32_t auto_commit_interval_ms;
	int32_t default_api_timeout_ms;
	enum rg__reset auto_offset_reset; /* also librdkafka's */
	int64_t auto_offset_reset_ms;     /* BY_DURATION: so long ago */
	/* Metrics. */
	int32_t metrics_sample_window_ms;
	int32_t metrics_num_samples;
};

struct rg__registered_assignor {
	rg_assignor assignor;
	void *user;
};

struct rg_conf {
	struct rg__settings settings;
	struct rd_kafka_conf_s *rdkafka; /* everything else, and what both need */
	struct rg__registered_assignor *assignors;
	size_t assignor_count;
	rg_log_cb *log;
	void *log_user;
	rg_event_cb *events;
	void *events_user;
};

struct rg__stat_conf rg__conf_windows(const rg_conf *conf); /* of metrics */

/* A deep copy, or NULL: out of memory. */
rg_conf *rg__conf_dup(const rg_conf *conf);

/* What only the whole shows: group.id missing, heartbeat.interval.ms not below session.timeout.ms, … For members of any
 * protocol type; the consumer checks more. RG_OK or RG_ERR_INVALID with a text that names the properties. */
rg_err rg__conf_check_member(const rg_conf *conf, rg_error *error);

#endif
