/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

#include <inttypes.h>

struct rg__kit_pending_id *rg__kit_pending_id_find(const struct rg__kit_group *group, struct rg__bytes id)
{
	struct rg__kit_pending_id *found = NULL;

	if (id.data)
		HASH_FIND(hh, group->pending_ids, id.data, (unsigned)id.len, found);
	return found;
}

bool rg__kit_pending_id_add(struct rg__kit_group *group, struct rg__bytes id, int64_t expires_us)
{
	struct rg__kit_pending_id *pending = rg__calloc(1, sizeof(*pending));

	if (!pending)
		return false;
	pending->expires_us = expires_us;
	if (!rg__kit_own(&pending->id, id)) {
		rg__free(pending);
		return false;
	}
	HASH_ADD_KEYPTR(hh, group->pending_ids, pending->id.data, (unsigned)pending->id.len, pending);
	if (!RG__HASH_ADDED(pending)) {
		rg__kit_disown(&pending->id);
		rg__free(pending);
		return false;
	}
	return true;
}

void rg__kit_pending_id_remove(struct rg__kit_group *group, struct rg__kit_pending_id *pending)
{
	HASH_DEL(group->pending_ids, pending);
	rg__kit_disown(&pending->id);
	rg__free(pending);
}

/* "client-6e4f7a3b-…", as brokers make them from a random UUID; ours comes from the seed, so that a run can be
 * repeated. */
bool rg__kit_make_member_id(struct rg__kit_coordinator *c, struct rg__bytes prefix, struct rg__bytes *ret_id)
{
	uint64_t high = rg__random_next(&c->random), low = rg__random_next(&c->random);
	struct rg__buf text = {0};
	bool ok;

	rg__buf_append(&text, prefix.data, prefix.len);
	rg__buf_printf(&text, "-%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32,
		       high >> 16 & 0xffff, high & 0xfff, (low >> 48 & 0x3fff) | 0x8000, low & 0xffffffffffff);
	ok = !text.failed && rg__kit_own(ret_id, rg__buf_view(&text));
	rg__buf_free(&text);
	return ok;
}
