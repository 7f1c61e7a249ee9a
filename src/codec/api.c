/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api.h"

#include "codec/api_versions.h"
#include "codec/describe_groups.h"
#include "codec/find_coordinator.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/list_groups.h"
#include "codec/metadata.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"
#include "codec/txn_offset_commit.h"
#include "codec/wire.h"

#define TABLES(name) &rg__##name##_request_fields, &rg__##name##_response_fields

const struct rg__api rg__apis[] = {
	{RG__API_METADATA, "Metadata", 0, 13, TABLES(metadata), false},
	{RG__API_OFFSET_COMMIT, "OffsetCommit", 2, 9, TABLES(offset_commit), false},
	{RG__API_OFFSET_FETCH, "OffsetFetch", 1, 9, TABLES(offset_fetch), false},
	{RG__API_FIND_COORDINATOR, "FindCoordinator", 0, 6, TABLES(find_coordinator), false},
	{RG__API_JOIN_GROUP, "JoinGroup", 0, 9, TABLES(join_group), false},
	{RG__API_HEARTBEAT, "Heartbeat", 0, 4, TABLES(heartbeat), false},
	{RG__API_LEAVE_GROUP, "LeaveGroup", 0, 5, TABLES(leave_group), false},
	{RG__API_SYNC_GROUP, "SyncGroup", 0, 5, TABLES(sync_group), false},
	{RG__API_DESCRIBE_GROUPS, "DescribeGroups", 0, 6, TABLES(describe_groups), false},
	{RG__API_LIST_GROUPS, "ListGroups", 0, 5, TABLES(list_groups), false},
	/* KIP-511: a client must be able to read the answer before it knows what the broker speaks. */
	{RG__API_API_VERSIONS, "ApiVersions", 0, 4, TABLES(api_versions), true},
	{RG__API_TXN_OFFSET_COMMIT, "TxnOffsetCommit", 0, 3, TABLES(txn_offset_commit), false},
};
const int rg__api_count = (int)(sizeof(rg__apis) / sizeof(*rg__apis));

const struct rg__api *rg__api_by_key(int key)
{
	for (int i = 0; i < rg__api_count; i++)
		if (rg__apis[i].key == key)
			return &rg__apis[i];
	return NULL;
}

bool rg__api_pick_version(const struct rg__api *api, int broker_first, int broker_last, int *ret_version)
{
	int newest = broker_last < api->last ? broker_last : api->last;

	if (newest < api->first || newest < broker_first)
		return false;
	*ret_version = newest;
	return true;
}

int rg__api_request_header_version(const struct rg__api *api, int version)
{
	return rg__fields_flexible(api->request, version) ? 2 : 1;
}

int rg__api_response_header_version(const struct rg__api *api, int version)
{
	return rg__fields_flexible(api->response, version) && !api->plain_response_header ? 1 : 0;
}
