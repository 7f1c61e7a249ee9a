/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.servers: what is accepted reads the same when it is written out again. */
#include "base/alloc.h"
#include "fuzz.h"
#include "link/bootstrap.h"

static void check(const char *text)
{
	struct rg__endpoint *endpoints = NULL, *again = NULL;
	size_t count = 0, count_again = 0;
	struct rg__buf out = {0};
	rg_error error = {0};
	rg_err err = rg__bootstrap_parse(text, &endpoints, &count, &error);

	if (err) {
		require(err == RG_ERR_INVALID && error.code == err && error.text[0], "what is refused has a reason");
		require(!endpoints && !count, "a refusal leaves the outputs alone");
		return;
	}
	require(count > 0, "an accepted list is not empty");
	for (size_t i = 0; i < count; i++) {
		const char *host = endpoints[i].host;

		require(host[0] && endpoints[i].port, "an endpoint has a host and a port");
		rg__buf_printf(&out, strchr(host, ':') ? "%s[%s]:%u" : "%s%s:%u", i ? "," : "", host,
			       (unsigned)endpoints[i].port);
	}
	require(rg__buf_append(&out, "", 1), "there is memory");
	require(rg__bootstrap_parse((const char *)out.data, &again, &count_again, &error) == RG_OK &&
			count_again == count,
		"the list reads the same when written out");
	for (size_t i = 0; i < count; i++)
		require(strcmp(endpoints[i].host, again[i].host) == 0 && endpoints[i].port == again[i].port,
			"and so does each entry");
	rg__free(endpoints);
	rg__free(again);
	rg__buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = must(malloc(size + 1));

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check(text);
	free(text);
	return 0;
}
