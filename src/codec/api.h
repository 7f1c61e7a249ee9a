/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_API_H
#define RG__CODEC_API_H

/* The APIs we speak, with their versions and tables. */

#include "codec/field.h"

enum {
	RG__API_METADATA = 3,
	RG__API_OFFSET_COMMIT = 8,
	RG__API_OFFSET_FETCH = 9,
	RG__API_FIND_COORDINATOR = 10,
	RG__API_JOIN_GROUP = 11,
	RG__API_HEARTBEAT = 12,
	RG__API_LEAVE_GROUP = 13,
	RG__API_SYNC_GROUP = 14,
	RG__API_DESCRIBE_GROUPS = 15,
	RG__API_LIST_GROUPS = 16,
	RG__API_API_VERSIONS = 18,
	RG__API_TXN_OFFSET_COMMIT = 28
};

struct rg__api {
	int16_t key;
	const char *name;     /* "JoinGroup" */
	int16_t first, last;  /* versions we speak */
	const struct rg__fields *request, *response;
	bool plain_response_header; /* responses have header version 0 even when flexible: ApiVersions (KIP-511) */
};

/* All of them, by key; rg__api_count is how many. */
extern const struct rg__api rg__apis[];
extern const int rg__api_count;

const struct rg__api *rg__api_by_key(int key); /* NULL: not one of ours */

/* The newest version that both we and a broker that offers broker_first … broker_last speak. False: there is none. */
bool rg__api_pick_version(const struct rg__api *api, int broker_first, int broker_last, int *ret_version);

/* The header versions that go with a version of an API. */
int rg__api_request_header_version(const struct rg__api *api, int version);
int rg__api_response_header_version(const struct rg__api *api, int version);

#endif
