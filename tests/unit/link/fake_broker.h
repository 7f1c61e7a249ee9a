/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LINK_FAKE_BROKER_H
#define TESTS_UNIT_LINK_FAKE_BROKER_H

/* A broker on the simulated network that a test can make old, silent, wrong or slow. */

#include "sim_io.h"

#include "codec/frame.h"
#include "codec/metadata.h"

struct broker_range {
	int16_t key, first, last;
};

struct broker_seen {
	int16_t api_key, version;
	int32_t correlation_id;
	struct sim_conn *conn;
	int64_t at_us;
};

enum { BROKER_SEEN_MAX = 512, BROKER_NODES_MAX = 4 };

struct broker {
	struct sim_server server;
	struct sim *sim;
	struct broker_range ranges[16];
	int range_count;
	int16_t api_versions_last;     /* the newest ApiVersions it knows; asked for more it answers 35 */
	bool empty_on_35;              /* as brokers before KIP-511: without its range */
	bool hangs_up_on_unknown;      /* instead of 35 */
	bool hangs_up_on_hello;        /* on ApiVersions of whatever version */
	bool mute;                     /* ApiVersions is not answered either */
	const char *says;              /* sent instead of any answer */
	size_t says_len;               /* 0: strlen */
	size_t cut;                    /* hangs up when this many bytes of its answers were sent; SIZE_MAX: never */
	size_t sent;
	bool holds;                    /* other requests are answered by broker_answer only */
	int32_t throttle_ms;           /* in every answer to these */
	int32_t correlation_skew;      /* added to correlation ids of these */
	struct rg__metadata_response_broker nodes[BROKER_NODES_MAX]; /* in Metadata answers */
	int32_t node_count;
	int16_t metadata_error;
	struct broker_seen seen[BROKER_SEEN_MAX]; /* requests but for ApiVersions */
	int seen_count;
	int hellos;                    /* ApiVersions seen */
	int16_t last_hello_version;
	struct sim_conn *conn;         /* the newest */
};

/* A broker at address:9092 with all our versions. */
void broker_init(struct broker *broker, struct sim *sim, const char *address);
void broker_answer(struct broker *broker, const struct broker_seen *request);
void broker_range(struct broker *broker, int16_t key, int16_t first, int16_t last);

#endif
