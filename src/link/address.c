/* SPDX-License-Identifier: Apache-2.0 */
#include "link/io.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

void rg__address_text(const struct rg__address *address, char *ret_text, size_t size)
{
	const void *at = NULL;
	char text[INET6_ADDRSTRLEN];

	if (address->storage.ss_family == AF_INET)
		at = &((const struct sockaddr_in *)&address->storage)->sin_addr;
	else if (address->storage.ss_family == AF_INET6)
		at = &((const struct sockaddr_in6 *)&address->storage)->sin6_addr;
	if (!at || !inet_ntop(address->storage.ss_family, at, text, sizeof(text)))
		snprintf(text, sizeof(text), "?");
	snprintf(ret_text, size, "%s", text);
}
