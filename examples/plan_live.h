/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PLAN_LIVE_H
#define EXAMPLES_PLAN_LIVE_H

#include "plan_model.h"

#include <librdkafka/rdkafka.h>

struct plan_live {
	const char *bootstrap, *group;
	const char **properties; /* KEY=VALUE */
	int property_count;
	rd_kafka_conf_t *conf; /* from plan_live_configure() to model_read_live() */
};

/* Checks what was given and makes `conf` of it. False: `error`. */
bool plan_live_configure(struct plan_live *from, rg_error *error);

/* Reads a running group with DescribeGroups and Metadata; it is not joined. What members own is what they were assigned
 * last. `ret_protocol` is the assignor it uses. False: `error`. */
bool model_read_live(struct model *model, struct plan_live *from, const char **ret_protocol, rg_error *error);

#endif
