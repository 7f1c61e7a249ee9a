/* SPDX-License-Identifier: Apache-2.0 */
#include "link/candidates.h"

#include "base/alloc.h"

#include <string.h>

enum { ADDRESSES_MAX = 2000 };

static struct rg__candidate *find(struct rg__candidates *candidates, const char *host, size_t host_len, uint16_t port)
{
	for (size_t i = 0; i < candidates->count; i++) {
		struct rg__candidate *at = &candidates->items[i];

		if (at->at.port == port && strlen(at->at.host) == host_len && memcmp(at->at.host, host, host_len) == 0)
			return at;
	}
	return NULL;
}

/* The one with this address, made if there is none. NULL: out of memory. */
static struct rg__candidate *find_or_add(struct rg__candidates *candidates, const char *host, size_t host_len,
                                         uint16_t port)
{
	struct rg__candidate *found = find(candidates, host, host_len, port);

	if (found)
		return found;
	if (candidates->count == candidates->capacity) {
		size_t capacity = candidates->capacity ? candidates->capacity * 2 : 8;
		struct rg__candidate *items = rg__realloc(candidates->items, capacity * sizeof(*items));

		if (!items)
			return NULL;
		candidates->items = items;
		candidates->capacity = capacity;
	}
	found = &candidates->items[candidates->count++];
	*found = (struct rg__candidate){.at.port = port, .node_id = -1};
	memcpy(found->at.host, host, host_len);
	return found;
}

rg_err rg__candidates_init(struct rg__candidates *candidates, const struct rg__endpoint *bootstrap, size_t count,
                           int64_t backoff_ms, int64_t backoff_max_ms, uint64_t seed)
{
	*candidates = (struct rg__candidates){.backoff_ms = backoff_ms, .backoff_max_ms = backoff_max_ms, .random = {seed}};
	for (size_t i = 0; i < count; i++) {
		struct rg__candidate *added =
			find_or_add(candidates, bootstrap[i].host, strlen(bootstrap[i].host), bootstrap[i].port);

		if (!added) {
			rg__candidates_clear(candidates);
			return RG_ERR_MEMORY;
		}
		added->bootstrap = true;
	}
	/* Many clients with the same list shall not all begin with the same broker. */
	for (size_t i = candidates->count; i > 1; i--) {
		size_t other = (size_t)(rg__random_next(&candidates->random) % i);
		struct rg__candidate swapped = candidates->items[i - 1];

		candidates->items[i - 1] = candidates->items[other];
		candidates->items[other] = swapped;
	}
	return RG_OK;
}

void rg__candidates_clear(struct rg__candidates *candidates)
{
	rg__free(candidates->items);
	candidates->items = NULL;
	candidates->count = candidates->capacity = 0;
}

rg_err rg__candidates_learn(struct rg__candidates *candidates, int32_t node_id, const char *host, size_t host_len,
                            int32_t port)
{
	if (node_id < 0 || host_len == 0 || host_len > RG__HOST_MAX || memchr(host, '\0', host_len) || port < 1 ||
	    port > UINT16_MAX || candidates->count >= ADDRESSES_MAX)
		return RG_ERR_INVALID;
	struct rg__candidate *learned = find_or_add(candidates, host, host_len, (uint16_t)port);

	if (!learned)
		return RG_ERR_MEMORY;
	for (size_t i = 0; i < candidates->count; i++) {
		if (candidates->items[i].node_id == node_id)
			candidates->items[i].node_id = -1;
	}
	learned->node_id = node_id;
	return RG_OK;
}

void rg__candidates_forget(struct rg__candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		candidates->items[i].node_id = -1;
}

void rg__candidates_tidy(struct rg__candidates *candidates)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		if (candidates->items[i].bootstrap || candidates->items[i].node_id >= 0)
			candidates->items[kept++] = candidates->items[i];
	}
	candidates->count = kept;
}

const struct rg__candidate *rg__candidates_node(const struct rg__candidates *candidates, int32_t node_id)
{
	for (size_t i = 0; node_id >= 0 && i < candidates->count; i++) {
		if (candidates->items[i].node_id == node_id)
			return &candidates->items[i];
	}
	return NULL;
}

/* Whether a shall be tried before b. */
static bool better(const struct rg__candidate *a, const struct rg__candidate *b)
{
	bool a_good = a->node_id >= 0 && a->failures == 0, b_good = b->node_id >= 0 && b->failures == 0;

	return a_good != b_good ? a_good : a->tried < b->tried;
}

bool rg__candidates_any_known(const struct rg__candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i].node_id >= 0)
			return true;
	return false;
}

struct rg__candidate *rg__candidates_next(struct rg__candidates *candidates, int64_t now_us, int64_t *ret_at_us)
{
	struct rg__candidate *best = NULL;
	int64_t earliest = INT64_MAX;
	bool known_only = candidates->never_again && rg__candidates_any_known(candidates);

	for (size_t i = 0; i < candidates->count; i++) {
		struct rg__candidate *at = &candidates->items[i];

		if (known_only && at->node_id < 0)
			continue;
		if (at->not_before_us > now_us) {
			if (at->not_before_us < earliest)
				earliest = at->not_before_us;
		} else if (!best || better(at, best)) {
			best = at;
		}
	}
	if (best)
		best->tried = ++candidates->tries;
	else
		*ret_at_us = earliest;
	return best;
}

void rg__candidates_failed(struct rg__candidates *candidates, const struct rg__endpoint *at, int64_t now_us)
{
	struct rg__candidate *failed = find(candidates, at->host, strlen(at->host), at->port);

	if (!failed)
		return;
	int64_t wait_ms = rg__backoff(candidates->backoff_ms, candidates->backoff_max_ms, failed->failures,
	                              &candidates->random);

	if (failed->failures < UINT32_MAX)
		failed->failures++;
	failed->not_before_us = now_us + (wait_ms < 1 ? 1 : wait_ms) * 1000;
}

void rg__candidates_worked(struct rg__candidates *candidates, const struct rg__endpoint *at)
{
	struct rg__candidate *worked = find(candidates, at->host, strlen(at->host), at->port);

	if (!worked)
		return;
	worked->failures = 0;
	worked->not_before_us = 0;
}
