/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are shared between the member and the events it gave away, which may be freed on any thread. */
#include "base/alloc.h"
#include "member/internal.h"

#include <stdlib.h>
#include <string.h>

static int by_member_id(const void *a, const void *b)
{
	const struct rg__join_group_response_member *const *left = a, *const *right = b;

	return rg__bytes_compare((*left)->member_id, (*right)->member_id);
}

/* NULL for null. */
static const char *text_of(struct rg__arena *arena, struct rg__bytes view, bool *ok)
{
	const char *copy = view.data ? rg__arena_copy(arena, view.data, view.len) : NULL;

	if (view.data && !copy)
		*ok = false;
	return copy;
}

static bool is_text(struct rg__bytes id)
{
	return !memchr(id.data, '\0', id.len);
}

static void show(rg_member_info *info, struct rg__arena *arena, const struct rg__join_group_response_member *from, bool *ok)
{
	info->member_id = text_of(arena, from->member_id, ok);
	info->instance_id = text_of(arena, from->group_instance_id, ok);
	info->metadata = (rg_bytes){from->metadata.data, from->metadata.len};
}

/* Sorted, and each id once: a broker that lists a member twice (franz-go 1348) must not make two of it. A member
 * whose id has a NUL byte (a hostile client.id becomes part of it) would share its name with others: it is not
 * shown, and stays in the plan with nothing. */
static bool list_members(struct rg__kept *kept, const struct rg__join_group_response *body, const struct rg__log *log)
{
	size_t count = body->members.count > 0 ? (size_t)body->members.count : 0;
	const struct rg__join_group_response_member *members = body->members.items;
	const struct rg__join_group_response_member **order = rg__arena_calloc(&kept->arena, count, sizeof(void *));
	size_t unique = 0;
	bool ok = order;

	kept->infos = rg__arena_calloc(&kept->arena, count, sizeof(*kept->infos));
	kept->ids = rg__arena_calloc(&kept->arena, count, sizeof(*kept->ids));
	if (!order || !kept->infos || !kept->ids)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = &members[i];
	qsort(order, count, sizeof(void *), by_member_id);
	for (size_t i = 0; i < count; i++)
		if (!unique || !rg__bytes_equal(order[i]->member_id, order[unique - 1]->member_id))
			order[unique++] = order[i];
	if (unique < count)
		rg__log(log, RG__LOG_WARNING, "JOIN", "the group lists %zu members twice; once is enough", count - unique);
	for (size_t i = 0; ok && i < unique; i++)
		if (is_text(order[i]->member_id)) {
			show(&kept->infos[kept->count], &kept->arena, order[i], &ok);
			kept->ids[kept->count++] = order[i]->member_id;
		}
	kept->id_count = kept->count;
	for (size_t i = 0; i < unique; i++)
		if (!is_text(order[i]->member_id))
			kept->ids[kept->id_count++] = order[i]->member_id;
	if (kept->id_count > kept->count)
		rg__log(log, RG__LOG_WARNING, "JOIN", "the group has %zu members with a NUL byte in their ids; they get nothing",
		        kept->id_count - kept->count);
	return ok;
}

static struct rg__kept *keep(const struct rg__response *response)
{
	struct rg__kept *kept = rg__calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	atomic_init(&kept->references, 1);
	kept->message = rg__response_keep(response);
	return kept;
}

/* Here, where the answer can still be refused for want of memory: an event could only go without. */
static bool keep_names(struct rg__kept *kept, const struct rg__join_group_response *body)
{
	kept->member_id = rg__arena_copy(&kept->arena, body->member_id.data, body->member_id.len);
	kept->protocol = rg__arena_copy(&kept->arena, body->protocol_name.data, body->protocol_name.len);
	return kept->member_id && kept->protocol;
}

struct rg__kept *rg__kept_of_join(const struct rg__response *response, const struct rg__log *log)
{
	struct rg__kept *kept = keep(response);

	if (kept && (!keep_names(kept, response->body) || !list_members(kept, response->body, log))) {
		rg__kept_release(kept);
		return NULL;
	}
	return kept;
}

struct rg__kept *rg__kept_of_sync(const struct rg__response *response)
{
	return keep(response);
}

struct rg__kept *rg__kept_hold(struct rg__kept *kept)
{
	if (kept)
		atomic_fetch_add(&kept->references, 1);
	return kept;
}

void rg__kept_release(struct rg__kept *kept)
{
	if (!kept || atomic_fetch_sub(&kept->references, 1) != 1)
		return;
	rg__message_free(kept->message);
	rg__arena_clear(&kept->arena);
	rg__free(kept);
}
