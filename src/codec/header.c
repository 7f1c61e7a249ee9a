/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/header.h"

#define T struct rg__request_header
static const struct rg__field request_header_rows[] = {
	RG__FIELD(T, request_api_key, "RequestApiKey", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, request_api_version, "RequestApiVersion", RG__INT16, 0, RG__LAST),
	RG__FIELD(T, correlation_id, "CorrelationId", RG__INT32, 0, RG__LAST),
	RG__FIELD(T, client_id, "ClientId", RG__STRING, 1, RG__LAST, .nullable = true, .plain_string = true),
};
const struct rg__fields rg__request_header_fields = {
	RG__FIELDS(T, "RequestHeader", request_header_rows), .flexible_first = 2
};
#undef T

#define T struct rg__response_header
static const struct rg__field response_header_rows[] = {
	RG__FIELD(T, correlation_id, "CorrelationId", RG__INT32, 0, RG__LAST),
};
const struct rg__fields rg__response_header_fields = {
	RG__FIELDS(T, "ResponseHeader", response_header_rows), .flexible_first = 1
};
#undef T
