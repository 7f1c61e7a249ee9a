/* SPDX-License-Identifier: Apache-2.0 */
#include "story.h"

#include "assign/builtin.h"
#include "assign/userdata.h"
#include "assign/validate.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void *need(struct story *story, size_t count, size_t size)
{
	void *got = rg__arena_calloc(&story->arena, count, size);

	ck_assert_ptr_nonnull(got);
	return got;
}

/* How many pieces a separator cuts a text into. */
static size_t pieces(const char *text, char separator)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == separator;
	return count;
}

/* "a+b/b+c": the racks of each partition. */
static struct rg__racks_input *parse_racks(struct story *story, char *text, int32_t partitions)
{
	struct rg__racks_input *racks = need(story, (size_t)partitions, sizeof(*racks));
	char *next;

	for (int32_t p = 0; p < partitions; p++, text = next) {
		ck_assert_msg(text, "fewer racks than partitions");
		next = strchr(text, '/');
		if (next)
			*next++ = '\0';
		struct rg__bytes *names = need(story, pieces(text, '+'), sizeof(*names));

		racks[p].names = names;
		for (char *save, *name = strtok_r(text, "+", &save); name; name = strtok_r(NULL, "+", &save))
			names[racks[p].count++] = rg__bytes_of(name);
	}
	return racks;
}

static void parse_topics(struct story *story, char *text)
{
	story->topics = need(story, pieces(text, ' '), sizeof(*story->topics));
	for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct rg__topic_input *topic = &story->topics[story->topic_count++];
		char *count = strchr(word, ':'), *racks;

		ck_assert_msg(count != NULL, "no partition count in %s", word);
		*count++ = '\0';
		racks = strchr(count, ':');
		if (racks)
			*racks++ = '\0';
		topic->name = rg__bytes_of(word);
		topic->partition_count = atoi(count);
		if (racks)
			topic->racks = parse_racks(story, racks, topic->partition_count);
	}
}

/* "t1-0,2" */
static void parse_owned(struct story *story, struct rg__owned_input *owned, char *word)
{
	char *dash = strchr(word, '-');

	ck_assert_msg(dash != NULL, "no partitions in %s", word);
	*dash++ = '\0';
	int32_t *partitions = need(story, pieces(dash, ','), sizeof(*partitions));

	owned->topic = rg__bytes_of(word);
	owned->partitions = partitions;
	for (char *save, *number = strtok_r(dash, ",", &save); number; number = strtok_r(NULL, ",", &save))
		partitions[owned->count++] = atoi(number);
}

/* "c1@instance%rack#generation" */
static void parse_id(struct rg__member_input *member, char *word)
{
	char *generation = strchr(word, '#'), *rack, *instance;

	if (generation)
		*generation++ = '\0';
	rack = strchr(word, '%');
	if (rack)
		*rack++ = '\0';
	instance = strchr(word, '@');
	if (instance)
		*instance++ = '\0';
	member->member_id = rg__bytes_of(word);
	member->instance_id = rg__bytes_of(instance);
	member->rack = rg__bytes_of(rack);
	member->generation = generation ? atoi(generation) : -1;
}

static void parse_member(struct story *story, char *text)
{
	struct rg__member_input *member = &story->members[story->member_count++];
	size_t spaces = pieces(text, ' ');
	char *save, *word = strtok_r(text, " ", &save);
	struct rg__owned_input *owned = need(story, spaces, sizeof(*owned));

	ck_assert_ptr_nonnull(word);
	parse_id(member, word);
	word = strtok_r(NULL, " ", &save);
	ck_assert_msg(word != NULL, "a member without topics has -");
	if (strcmp(word, "-") != 0) {
		struct rg__bytes *topics = need(story, pieces(word, ','), sizeof(*topics));
		char *inner;

		member->topics = topics;
		for (char *name = strtok_r(word, ",", &inner); name; name = strtok_r(NULL, ",", &inner))
			topics[member->topic_count++] = rg__bytes_of(name);
	}
	word = strtok_r(NULL, " ", &save);
	if (!word)
		return;
	ck_assert_str_eq(word, "owns");
	member->owned = owned;
	while ((word = strtok_r(NULL, " ", &save)))
		parse_owned(story, &owned[member->owned_count++], word);
}

void story_begin(struct story *story, const char *text)
{
	rg_error error;

	*story = (struct story){0};
	story->members = need(story, pieces(text, '|'), sizeof(*story->members));
	char *copy = rg__arena_copy(&story->arena, text, strlen(text)), *next = strchr(copy, '|');

	if (next)
		*next++ = '\0';
	parse_topics(story, copy);
	while (next) {
		char *member = next;

		next = strchr(member, '|');
		if (next)
			*next++ = '\0';
		parse_member(story, member);
	}
	ck_assert_msg(rg__view_build(&story->view, story->members, story->member_count, story->topics, story->topic_count, 7,
	                             &error) == RG_OK, "%s", error.text);
}

const char *story_text(struct story *story)
{
	struct rg__buf buf = {0};
	const rg_group *group = &story->view.group;

	for (int32_t m = 0; m < group->member_count; m++) {
		rg__buf_printf(&buf, "%s%s", m ? " | " : "", group->members[m].member_id);
		for (int32_t i = 0; i < rg__plan_topic_count(story->plan, m); i++) {
			const int32_t *partitions;
			int32_t count, topic = rg__plan_topic(story->plan, m, i, &partitions, &count);

			rg__buf_printf(&buf, " %s", group->topics[topic].name);
			for (int32_t k = 0; k < count; k++)
				rg__buf_printf(&buf, "%c%d", k ? ',' : '-', (int)partitions[k]);
		}
	}
	const char *text = rg__arena_copy(&story->arena, buf.data, buf.len);

	ck_assert_ptr_nonnull(text);
	rg__buf_free(&buf);
	return text;
}

void story_owned_to_userdata(struct story *story)
{
	for (int32_t m = 0; m < story->view.group.member_count; m++) {
		rg_group_member *member = (rg_group_member *)(uintptr_t)&story->view.group.members[m];
		const struct rg__member_input *in = &story->members[story->view.sources[m]];
		const char **topics = need(story, (size_t)in->owned_count, sizeof(*topics));
		const int32_t **partitions = need(story, (size_t)in->owned_count, sizeof(*partitions));
		int32_t *counts = need(story, (size_t)in->owned_count, sizeof(*counts));

		for (int32_t i = 0; i < in->owned_count; i++) {
			topics[i] = (const char *)in->owned[i].topic.data;
			partitions[i] = in->owned[i].partitions;
			counts[i] = in->owned[i].count;
		}
		rg_assignment assignment = {.size = sizeof(assignment),
		                            .topics = topics,
		                            .partitions = partitions,
		                            .partition_counts = counts,
		                            .topic_count = in->owned_count,
		                            .generation = in->generation};
		int32_t len = rg__userdata_write_sticky(&assignment, NULL, 0);
		void *bytes = need(story, (size_t)len, 1);

		ck_assert_int_eq(rg__userdata_write_sticky(&assignment, bytes, len), len);
		member->userdata = (rg_bytes){bytes, (size_t)len};
		member->owned_count = 0;
	}
}

const char *story_plan(struct story *story, const rg_assignor *assignor)
{
	rg_error error = {0};

	rg__plan_free(story->plan);
	story->plan = rg__plan_new(&story->view.group);
	ck_assert_ptr_nonnull(story->plan);
	ck_assert_msg(assignor->assign(&story->view.group, story->plan, &error, NULL) == RG_OK, "%s", error.text);
	ck_assert_msg(rg__plan_validate(story->plan, &story->withheld, &error) == RG_OK, "%s", error.text);
	return story_text(story);
}

void story_end(struct story *story)
{
	rg__plan_free(story->plan);
	rg__view_free(&story->view);
	rg__arena_clear(&story->arena);
}

void story_check(const rg_assignor *assignor, const char *text, const char *want)
{
	struct story story;

	story_begin(&story, text);
	if (assignor == &rg__sticky)
		story_owned_to_userdata(&story);
	const char *got = story_plan(&story, assignor);

	ck_assert_msg(!strcmp(got, want), "%s of\n  %s\nis\n  %s\nnot\n  %s", assignor->name, text, got, want);
	story_end(&story);
}
