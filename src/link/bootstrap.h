/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_BOOTSTRAP_H
#define RG__LINK_BOOTSTRAP_H

#include <regroup/error.h>
#include <stddef.h>
#include <stdint.h>

enum { RG__HOST_MAX = 255, RG__PORT_DEFAULT = 9092 };

struct rg__endpoint {
	char host[RG__HOST_MAX + 1]; /* without brackets */
	uint16_t port;
};

/* Reads "host:port,host2,[::1]:9092": entries separated by commas, blanks around them and empty ones ignored, port
 * 9092 where none is given (as librdkafka). RG_ERR_INVALID names the entry and what is wrong with it;
 * RG_ERR_MEMORY. The array is freed with rg__free. */
rg_err rg__bootstrap_parse(const char *list, struct rg__endpoint **ret_endpoints, size_t *ret_count, rg_error *error);

#endif
