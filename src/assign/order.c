/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/order.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b, void *group)
{
	const rg_group_member *members = ((const rg_group *)group)->members;
	int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
	const char *x = members[i].instance_id, *y = members[k].instance_id;
	int order = 0;

	if (x && y)
		order = strcmp(x, y);
	else if (x || y)
		return x ? -1 : 1;
	/* The view is ordered by member id. Two members with one instance id is what no broker allows, but may be sent. */
	return order ? order : (i > k) - (i < k);
}

int32_t *rg__member_order(const rg_group *group)
{
	int32_t *order = rg__malloc((size_t)group->member_count * sizeof(*order));
	bool has_static = false;

	if (!order)
		return NULL;
	for (int32_t m = 0; m < group->member_count; m++) {
		order[m] = m;
		has_static = has_static || group->members[m].instance_id;
	}
	if (has_static)
		qsort_r(order, (size_t)group->member_count, sizeof(*order), compare, (void *)(uintptr_t)group);
	return order;
}
