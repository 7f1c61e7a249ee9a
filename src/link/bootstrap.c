/* SPDX-License-Identifier: Apache-2.0 */
#include "link/bootstrap.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>

/* A piece of the list. */
struct piece {
	const char *at;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct piece trim(struct piece piece)
{
	while (piece.len && is_blank(piece.at[0])) {
		piece.at++;
		piece.len--;
	}
	while (piece.len && is_blank(piece.at[piece.len - 1]))
		piece.len--;
	return piece;
}

static rg_err refuse(struct piece entry, const char *why, rg_error *error)
{
	int len = entry.len > 200 ? 200 : (int)entry.len;

	return rg__fail(error, RG_ERR_INVALID, "bootstrap.servers: \"%.*s\": %s", len, entry.at, why);
}

static bool parse_port(struct piece text, uint16_t *ret_port)
{
	unsigned port = 0;

	if (text.len == 0 || text.len > 5)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		port = port * 10 + (unsigned)(text.at[i] - '0');
	}
	if (port == 0 || port > UINT16_MAX)
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

/* Names, IPv4 and IPv6 addresses with a zone; what else there may be in a list is a mistake to be told of. */
static bool is_host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
	       c == '_' || c == ':' || c == '%' || (unsigned char)c >= 0x80;
}

static rg_err parse_entry(struct piece entry, struct rg__endpoint *ret_endpoint, rg_error *error)
{
	struct piece host = entry, port = {NULL, 0};
	const char *colon;

	ret_endpoint->port = RG__PORT_DEFAULT;
	if (entry.at[0] == '[') {
		const char *bracket = memchr(entry.at, ']', entry.len);

		if (!bracket)
			return refuse(entry, "the bracket is not closed", error);
		host = (struct piece){entry.at + 1, (size_t)(bracket - entry.at - 1)};
		port = (struct piece){bracket + 1, entry.len - host.len - 2};
		if (port.len && port.at[0] != ':')
			return refuse(entry, "only :port may follow the bracket", error);
	} else if ((colon = memchr(entry.at, ':', entry.len))) {
		host.len = (size_t)(colon - entry.at);
		port = (struct piece){colon, entry.len - host.len};
		if (memchr(colon + 1, ':', port.len - 1))
			return refuse(entry, "an IPv6 address needs brackets, as in [::1]:9092; a protocol in front is not part of it",
			              error);
	}
	if (port.len && !parse_port((struct piece){port.at + 1, port.len - 1}, &ret_endpoint->port))
		return refuse(entry, "the port must be a number from 1 to 65535", error);
	if (host.len == 0)
		return refuse(entry, "the host is missing", error);
	if (host.len > RG__HOST_MAX)
		return refuse(entry, "the host is longer than 255 bytes", error);
	for (size_t i = 0; i < host.len; i++) {
		if (!is_host_char(host.at[i]))
			return refuse(entry, "the host has a character that no host name has", error);
	}
	memcpy(ret_endpoint->host, host.at, host.len);
	ret_endpoint->host[host.len] = '\0';
	return RG_OK;
}

rg_err rg__bootstrap_parse(const char *list, struct rg__endpoint **ret_endpoints, size_t *ret_count, rg_error *error)
{
	size_t room = 1, count = 0;

	if (!list)
		return rg__fail(error, RG_ERR_INVALID, "bootstrap.servers: not set; give host:port[,host:port]");
	/* Whoever writes user:password@host has a secret in it, which must not come back in a text that is logged. */
	if (strchr(list, '@'))
		return rg__fail(error, RG_ERR_INVALID,
		                "bootstrap.servers: not accepted, with an '@' in it: host:port[,host:port], without user and password");
	for (const char *at = list; *at; at++)
		room += *at == ',';
	struct rg__endpoint *endpoints = rg__calloc(room, sizeof(*endpoints));

	if (!endpoints)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	for (const char *at = list;;) {
		size_t len = strcspn(at, ",");
		struct piece entry = trim((struct piece){at, len});
		rg_err err = entry.len ? parse_entry(entry, &endpoints[count], error) : RG_OK;

		if (err) {
			rg__free(endpoints);
			return err;
		}
		count += entry.len != 0;
		if (!at[len])
			break;
		at += len + 1;
	}
	if (!count) {
		rg__free(endpoints);
		return rg__fail(error, RG_ERR_INVALID, "bootstrap.servers: empty; give host:port[,host:port]");
	}
	*ret_endpoints = endpoints;
	*ret_count = count;
	return RG_OK;
}
