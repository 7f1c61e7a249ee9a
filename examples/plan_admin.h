/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PLAN_ADMIN_H
#define EXAMPLES_PLAN_ADMIN_H

/* What the older calls for groups and metadata leave out: instance ids of members, racks of brokers. */

#include "plan_model.h"

#include <librdkafka/rdkafka.h>

/* Adds the instance ids to the members of the model, which are those of the group. False: `error` says why not. */
bool admin_read_instances(struct model *model, rd_kafka_t *rk, const char *group, rg_error *error);

/* By the brokers of `metadata`, their racks, NULL for one that has none; NULL altogether if no rack is known, as with
 * librdkafka before 2.3. */
const char **admin_read_racks(rd_kafka_t *rk, const struct rd_kafka_metadata *metadata);

#endif
