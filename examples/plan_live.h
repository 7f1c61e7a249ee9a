/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PLAN_LIVE_H
#define EXAMPLES_PLAN_LIVE_H

#include "plan_model.h"

struct plan_live {
	const char *bootstrap, *group;
	const char **properties; /* KEY=VALUE */
	int property_count;
};

/* Reads a running group with DescribeGroups and Metadata; it is not joined. What members own is what they were assigned
 * last. `ret_protocol` is the assignor it uses. False: `error`. */
bool model_read_live(struct model *model, const struct plan_live *from, const char **ret_protocol, rg_error *error);

#endif
