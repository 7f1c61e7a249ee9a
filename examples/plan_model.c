/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Everything that was allocated, newest first. */
static struct block {
	struct block *next;
	_Alignas(16) unsigned char data[];
} *blocks;

void *model_alloc(size_t count, size_t size)
{
	bool fits = !size || count <= (SIZE_MAX - sizeof(struct block)) / size;
	struct block *block = fits ? calloc(1, sizeof(*block) + count * size) : NULL;

	if (!block) {
		fputs("regroup-plan: out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	block->next = blocks;
	blocks = block;
	return block->data;
}

char *model_text(const char *text)
{
	return strcpy(model_alloc(strlen(text) + 1, 1), text);
}

void model_free_all(void)
{
	while (blocks) {
		struct block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
}

char model_visible(char c)
{
	return (unsigned char)c < ' ' || c == 127 ? '?' : c;
}

bool model_fail(rg_error *error, const char *format, ...)
{
	va_list args;

	error->code = RG_ERR_INVALID;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	for (char *at = error->text; *at; at++)
		*at = model_visible(*at);
	return false;
}

static int compare_topics(const void *a, const void *b)
{
	return strcmp(((const struct topic *)a)->name, ((const struct topic *)b)->name);
}

void model_sort_topics(struct model *model)
{
	if (model->topic_count)
		qsort(model->topics, (size_t)model->topic_count, sizeof(*model->topics), compare_topics);
}

const struct topic *model_topic(const struct model *model, const char *name)
{
	struct topic key = {.name = name};

	if (!model->topic_count)
		return NULL;
	return bsearch(&key, model->topics, (size_t)model->topic_count, sizeof(key), compare_topics);
}

bool model_has_room(const struct model *model, int32_t partitions)
{
	int64_t all = partitions;

	for (int32_t t = 0; t < model->topic_count; t++)
		all += model->topics[t].partitions;
	return all <= INT32_MAX;
}

static int32_t find_member(const struct model *model, const char *id)
{
	for (int32_t m = 0; m < model->member_count; m++)
		if (!strcmp(model->members[m].id, id))
			return m;
	return -1;
}

static bool same_topics(const struct member *a, const struct member *b)
{
	if (a->topic_count != b->topic_count)
		return false;
	for (int32_t i = 0; i < a->topic_count; i++)
		if (strcmp(a->topics[i], b->topics[i]) != 0)
			return false;
	return true;
}

/* The first of the members with the commonest subscription. */
static const struct member *typical(const struct model *model)
{
	int32_t best = 0, best_count = 0;

	for (int32_t m = 0; m < model->member_count && best_count <= model->member_count / 2; m++) {
		int32_t count = 0;

		for (int32_t k = m; k < model->member_count; k++)
			count += same_topics(&model->members[m], &model->members[k]);
		if (count > best_count) {
			best = m;
			best_count = count;
		}
	}
	return &model->members[best];
}

bool model_add_members(struct model *model, int32_t count, rg_error *error)
{
	struct member *members = model_alloc((size_t)model->member_count + (size_t)count, sizeof(*members));

	if (!model->member_count)
		return model_fail(error, "--add-member: the group has no members whose topics a new one could subscribe to");
	memcpy(members, model->members, (size_t)model->member_count * sizeof(*members));
	const struct member *like = typical(model);

	for (int32_t i = 1; i <= count; i++) {
		char id[32];

		snprintf(id, sizeof(id), "new-%d", (int)i);
		if (find_member(model, id) >= 0)
			return model_fail(error, "--add-member: the group has a member named %s already", id);
		members[model->member_count + i - 1] = (struct member){
			.id = model_text(id), .topics = like->topics, .topic_count = like->topic_count, .generation = -1};
	}
	model->members = members;
	model->member_count += count;
	return true;
}

bool model_remove_member(struct model *model, const char *id, rg_error *error)
{
	int32_t m = find_member(model, id);

	if (m < 0)
		return model_fail(error, "--remove-member: the group has no member named %s", id);
	model->member_count--;
	memmove(model->members + m, model->members + m + 1, (size_t)(model->member_count - m) * sizeof(*model->members));
	return true;
}

bool model_set_partitions(struct model *model, const char *name, int32_t partitions, rg_error *error)
{
	struct topic *topic = (struct topic *)(uintptr_t)model_topic(model, name);

	if (!topic)
		return model_fail(error, "--partitions: there is no topic named %s", name);
	if (partitions > topic->partitions && !model_has_room(model, partitions - topic->partitions))
		return model_fail(error, "--partitions: with %d of %s there are more than %d partitions", (int)partitions, name,
		                  INT32_MAX);
	if (topic->racks && partitions > topic->partitions) {
		/* Nobody knows where the new ones would be. */
		const char *const **racks = model_alloc((size_t)partitions, sizeof(*racks));
		int32_t *counts = model_alloc((size_t)partitions, sizeof(*counts));

		memcpy(racks, topic->racks, (size_t)topic->partitions * sizeof(*racks));
		memcpy(counts, topic->rack_counts, (size_t)topic->partitions * sizeof(*counts));
		topic->racks = racks;
		topic->rack_counts = counts;
	}
	topic->partitions = partitions;
	return true;
}

void model_follow(struct model *model, const rg_group *group, const rg_plan *plan)
{
	model->generation++;
	/* Members and topics of the group are those of the model in another order; counted first, then filled. */
	for (int32_t m = 0; m < model->member_count; m++) {
		struct member *member = &model->members[m];
		int32_t at = 0;

		while (strcmp(group->members[at].member_id, member->id) != 0)
			at++;
		member->owned = model_alloc((size_t)group->members[at].topic_count, sizeof(*member->owned));
		member->owned_count = 0;
		member->generation = model->generation;
		for (int32_t i = 0; i < group->members[at].topic_count; i++) {
			int32_t t = group->members[at].topics[i];
			struct owned *owned = &member->owned[member->owned_count++];

			owned->topic = group->topics[t].name;
			for (int32_t p = 0; p < group->topics[t].partition_count; p++)
				owned->count += rg_plan_owner(plan, t, p) == at;
			owned->partitions = model_alloc((size_t)owned->count, sizeof(*owned->partitions));
			owned->count = 0;
			for (int32_t p = 0; p < group->topics[t].partition_count; p++)
				if (rg_plan_owner(plan, t, p) == at)
					owned->partitions[owned->count++] = p;
		}
	}
}
