/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PLAN_MODEL_H
#define EXAMPLES_PLAN_MODEL_H

/* The group that regroup-plan thinks about: read from JSON or from a running group, changed by what-ifs, and carried
 * through rounds. All of it lives until the program ends. */

#include <jansson.h>
#include <regroup/assignor.h>
#include <stdbool.h>
#include <stdio.h>

struct topic {
	const char *name;
	int32_t partitions;
	const char *const **racks; /* per partition; NULL: unknown */
	int32_t *rack_counts;
};

struct owned {
	const char *topic;
	int32_t *partitions, count;
};

struct member {
	const char *id, *instance_id, *rack;
	const char **topics;
	int32_t topic_count;
	struct owned *owned;
	int32_t owned_count;
	int32_t generation; /* of what it owns; -1: not said */
	int32_t capacity;   /* 0: not said */
};

struct model {
	struct topic *topics;
	int32_t topic_count;
	struct member *members;
	int32_t member_count;
	int32_t generation; /* the newest of any member */
};

/* Reads the JSON that the manual page describes. False: `error` names the place and what is wrong there. */
bool model_read(struct model *model, FILE *file, const char *name, rg_error *error);

/* A topic by its name once all topics are there and model_sort_topics() was called; NULL: there is none. */
void model_sort_topics(struct model *model);
const struct topic *model_topic(const struct model *model, const char *name);

/* Whether so many more partitions can be assigned: the number of all is an int32_t. */
bool model_has_room(const struct model *model, int32_t partitions);

/* The what-ifs. A new member subscribes to what most members do. False: `error` says why not. */
bool model_add_members(struct model *model, int32_t count, rg_error *error);
bool model_remove_member(struct model *model, const char *id, rg_error *error);
bool model_set_partitions(struct model *model, const char *name, int32_t partitions, rg_error *error);

/* The model as assignors see a group: sorted, without topics that nobody subscribes to and without partitions that are
 * not there; with the userdata that members would send for this assignor. NULL: only to look at who owns what, with
 * topics that are owned by somebody though nobody subscribes to them any more. */
const rg_group *model_group(struct model *model, const char *assignor);

/* Members own what a plan for `group`, which was made of this model, gave them. */
void model_follow(struct model *model, const rg_group *group, const rg_plan *plan);

/* Names are the group's, whoever made them up: in what people read none of them shall give orders to a terminal. */
char model_visible(char c);

/* A sentence that becomes the error; always false. */
bool model_fail(rg_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Zeroed memory, never NULL: the program ends when there is none. Freed by model_free_all(), all at once. */
void *model_alloc(size_t count, size_t size);
char *model_text(const char *text);
void model_free_all(void);

#endif
