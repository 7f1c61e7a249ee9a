/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/ownership.h"

#include <stdlib.h>
#include <string.h>

int rg__partition_compare(const struct rg__partition *a, const struct rg__partition *b)
{
	int order = strcmp(a->topic, b->topic);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_any(const void *a, const void *b)
{
	return rg__partition_compare(a, b);
}

size_t rg__partitions_sort(struct rg__partitions *partitions)
{
	size_t kept = 0, before = partitions->count;

	if (before < 2)
		return 0;
	qsort(partitions->items, before, sizeof(*partitions->items), compare_any);
	for (size_t i = 1; i < before; i++)
		if (rg__partition_compare(&partitions->items[kept], &partitions->items[i]) != 0)
			partitions->items[++kept] = partitions->items[i];
	partitions->count = kept + 1;
	return before - partitions->count;
}

void *rg__partition_find(const void *things, size_t count, size_t size, struct rg__bytes topic, int32_t number)
{
	const char *first = things;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rg__partition *at = (const void *)(first + middle * size);
		int order = rg__bytes_compare(rg__bytes_of(at->topic), topic);

		if (!order)
			order = (at->number > number) - (at->number < number);
		if (!order)
			return (void *)(uintptr_t)at; /* as bsearch does */
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

ptrdiff_t rg__partitions_find(const struct rg__partitions *partitions, const char *topic, int32_t number)
{
	const struct rg__partition *at = rg__partition_find(partitions->items, partitions->count, sizeof(*partitions->items),
							    rg__bytes_of(topic), number);

	return at ? at - partitions->items : -1;
}

void rg__ownership_before_join(const struct rg__partitions *owned, bool cooperative, const char *const *topics,
                               size_t topic_count, struct rg__partitions *ret_given_up)
{
	size_t topic = 0;

	ret_given_up->count = 0;
	for (size_t i = 0; i < owned->count; i++) {
		const struct rg__partition *at = &owned->items[i];

		while (topic < topic_count && strcmp(topics[topic], at->topic) < 0)
			topic++;
		if (!cooperative || topic == topic_count || strcmp(topics[topic], at->topic) != 0)
			ret_given_up->items[ret_given_up->count++] = *at;
	}
}

void rg__ownership_after_join(const struct rg__partitions *owned, const struct rg__partitions *assigned,
                              struct rg__partitions *ret_revoked, struct rg__partitions *ret_added)
{
	size_t had = 0, has = 0;

	ret_revoked->count = ret_added->count = 0;
	while (had < owned->count || has < assigned->count) {
		int order = had == owned->count      ? 1
		            : has == assigned->count ? -1
		                                     : rg__partition_compare(&owned->items[had], &assigned->items[has]);

		if (order < 0)
			ret_revoked->items[ret_revoked->count++] = owned->items[had];
		else if (order > 0)
			ret_added->items[ret_added->count++] = assigned->items[has];
		had += order <= 0;
		has += order >= 0;
	}
}
