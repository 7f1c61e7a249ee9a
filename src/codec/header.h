/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_HEADER_H
#define RG__CODEC_HEADER_H

/* What precedes the body of every request and response. */

#include "codec/field.h"

struct rg__request_header {
	int16_t request_api_key;
	int16_t request_api_version;
	int32_t correlation_id;
	struct rg__bytes client_id;
};

struct rg__response_header {
	int32_t correlation_id;
};

extern const struct rg__fields rg__request_header_fields;
extern const struct rg__fields rg__response_header_fields;

#endif
