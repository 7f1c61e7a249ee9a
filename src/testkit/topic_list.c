/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/kit.h"

#include <stdlib.h>
#include <string.h>

rg_err rg__kit_add_topic(struct rg_testkit *kit, const char *name, int32_t partition_count, rg_error *error)
{
	rg_err err;

	if (!rg__kit_is_topic_name(rg__bytes_of(name)))
		return rg__fail(error, RG_ERR_INVALID, "'%.260s' is no name for a topic: 1 to 249 letters, digits, '.', '_', '-'",
				name ? name : "");
	if (partition_count < 1 || partition_count > kit->conf.partitions_max)
		return rg__fail(error, RG_ERR_INVALID, "topic %s: %d partitions: it must be 1 to %d", name,
				(int)partition_count, (int)kit->conf.partitions_max);
	if (rg__kit_topic_find(&kit->cluster, rg__bytes_of(name)))
		return rg__fail(error, RG_ERR_STATE, "topic %s exists", name);
	err = rg__kit_mock_add_topic(kit, name, error);
	if (err)
		return err;
	if (!rg__kit_topic_add(&kit->cluster, rg__bytes_of(name), partition_count))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	return RG_OK;
}

static rg_err add_entry(struct rg_testkit *kit, char *entry, rg_error *error)
{
	char *colon = strrchr(entry, ':'), *end;
	long count;

	if (!colon)
		return rg__fail(error, RG_ERR_INVALID, "topic '%.260s': it must be name:partitions", entry);
	*colon = '\0';
	count = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || count < 0 || count > INT32_MAX)
		return rg__fail(error, RG_ERR_INVALID, "topic %.260s: '%.40s' is no number of partitions", entry, colon + 1);
	return rg__kit_add_topic(kit, entry, (int32_t)count, error);
}

rg_err rg__kit_add_topics(struct rg_testkit *kit, const char *list, rg_error *error)
{
	char *copy = rg__strdup(list), *rest = copy;
	rg_err err = RG_OK;

	if (list && !copy)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	while (!err && rest && *rest) {
		char *entry = strsep(&rest, ",");

		err = add_entry(kit, entry, error);
	}
	rg__free(copy);
	return err;
}
