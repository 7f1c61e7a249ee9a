/* SPDX-License-Identifier: Apache-2.0 */
/* regroup-plan: the group from JSON. Whatever is wrong is told with its place, such as members[2].owned.t[1]. */
#include "plan_model.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { PLACE_SIZE = 160, TOPIC_NAME_MAX = 249 /* broker: longer ones cannot be created */ };

struct reading {
	struct model *model;
	const char *name; /* of the file */
	rg_error *error;
	json_t *topics, *members, *instances; /* names seen so far, as keys */
};

/* A sentence about a place; always false. */
__attribute__((format(printf, 2, 3))) static bool wrong(struct reading *r, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return model_fail(r->error, "%s: %s", r->name, text);
}

/* Writes a place's name; too long a one is cut. */
__attribute__((format(printf, 2, 3))) static const char *place_of(char out[PLACE_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out, PLACE_SIZE, format, args);
	va_end(args);
	return out;
}

static bool known_keys(struct reading *r, const json_t *object, const char *place, const char *const *keys)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		int i = 0;

		while (keys[i] && strcmp(keys[i], key) != 0)
			i++;
		if (!keys[i])
			return wrong(r, "%s has a key \"%s\", which means nothing here", place, key);
	}
	return true;
}

/* A text or null; `required`: a text that is not empty. */
static bool read_text(struct reading *r, const json_t *value, const char *place, bool required, const char **ret)
{
	if (!required && (!value || json_is_null(value)))
		return true;
	if (!json_is_string(value) || !*json_string_value(value))
		return wrong(r, "%s must be a string that is not empty%s", place, required ? "" : ", or null");
	*ret = model_text(json_string_value(value));
	return true;
}

static bool read_number(struct reading *r, const json_t *value, const char *place, json_int_t low, json_int_t high,
                        int32_t *ret)
{
	if (!json_is_integer(value) || json_integer_value(value) < low || json_integer_value(value) > high)
		return wrong(r, "%s must be a whole number from %lld to %lld", place, (long long)low, (long long)high);
	*ret = (int32_t)json_integer_value(value);
	return true;
}

static bool is_array(struct reading *r, const json_t *value, const char *place)
{
	return json_is_array(value) || wrong(r, "%s must be an array", place);
}

static bool read_racks(struct reading *r, const json_t *value, const char *topic_place, struct topic *topic)
{
	const char *const **racks;
	int32_t *counts;
	char place[PLACE_SIZE];

	if (!value || json_is_null(value))
		return true;
	place_of(place, "%s.racks", topic_place);
	if (!is_array(r, value, place))
		return false;
	if (json_array_size(value) != (size_t)topic->partitions)
		return wrong(r, "%s has %zu entries, but the topic has %d partitions", place, json_array_size(value),
		             (int)topic->partitions);
	racks = model_alloc((size_t)topic->partitions, sizeof(*racks));
	counts = model_alloc((size_t)topic->partitions, sizeof(*counts));
	for (size_t p = 0; p < json_array_size(value); p++) {
		const json_t *list = json_array_get(value, p);

		place_of(place, "%s.racks[%zu]", topic_place, p);
		if (!is_array(r, list, place))
			return false;
		const char **names = model_alloc(json_array_size(list), sizeof(*names));

		racks[p] = names;
		counts[p] = (int32_t)json_array_size(list);
		for (size_t i = 0; i < json_array_size(list); i++) {
			place_of(place, "%s.racks[%zu][%zu]", topic_place, p, i);
			if (!read_text(r, json_array_get(list, i), place, true, &names[i]))
				return false;
		}
	}
	topic->racks = racks;
	topic->rack_counts = counts;
	return true;
}

static bool read_topics(struct reading *r, const json_t *list)
{
	static const char *const keys[] = {"name", "partitions", "racks", NULL};
	struct model *model = r->model;
	char place[PLACE_SIZE], inner[PLACE_SIZE];

	if (!is_array(r, list, "topics"))
		return false;
	model->topics = model_alloc(json_array_size(list), sizeof(*model->topics));
	for (size_t t = 0; t < json_array_size(list); t++) {
		const json_t *value = json_array_get(list, t);
		struct topic topic = {.name = NULL};

		place_of(place, "topics[%zu]", t);
		if (!json_is_object(value))
			return wrong(r, "%s must be an object", place);
		place_of(inner, "%s.name", place);
		if (!known_keys(r, value, place, keys) || !read_text(r, json_object_get(value, "name"), inner, true, &topic.name))
			return false;
		if (strlen(topic.name) > TOPIC_NAME_MAX)
			return wrong(r, "%s must be no longer than %d bytes", inner, TOPIC_NAME_MAX);
		if (json_object_get(r->topics, topic.name))
			return wrong(r, "%s.name: topic \"%s\" is there already", place, topic.name);
		json_object_set_new(r->topics, topic.name, json_true());
		place_of(inner, "%s.partitions", place);
		if (!read_number(r, json_object_get(value, "partitions"), inner, 1, 100000000, &topic.partitions))
			return false;
		if (!model_has_room(model, topic.partitions))
			return wrong(r, "%s: with these there are more than %d partitions", inner, INT32_MAX);
		if (!read_racks(r, json_object_get(value, "racks"), place, &topic))
			return false;
		model->topics[model->topic_count++] = topic;
	}
	model_sort_topics(model);
	return true;
}

static bool read_subscription(struct reading *r, const json_t *list, const char *member_place,
                              struct member *member)
{
	const char **topics = model_alloc(json_array_size(list), sizeof(*topics));
	char place[PLACE_SIZE];

	place_of(place, "%s.topics", member_place);
	if (!is_array(r, list, place))
		return false;
	member->topics = topics;
	for (size_t i = 0; i < json_array_size(list); i++) {
		place_of(place, "%s.topics[%zu]", member_place, i);
		if (!read_text(r, json_array_get(list, i), place, true, &topics[i]))
			return false;
		if (!model_topic(r->model, topics[i]))
			return wrong(r, "%s: there is no topic named \"%s\"", place, topics[i]);
		member->topic_count++;
	}
	return true;
}

static bool read_partitions(struct reading *r, const json_t *list, const char *place, const struct topic *topic,
                            struct owned *owned)
{
	int32_t *partitions = model_alloc(json_array_size(list), sizeof(*partitions));
	char inner[PLACE_SIZE];

	if (!is_array(r, list, place))
		return false;
	owned->topic = topic->name;
	owned->partitions = partitions;
	for (size_t i = 0; i < json_array_size(list); i++) {
		place_of(inner, "%s[%zu]", place, i);
		if (!read_number(r, json_array_get(list, i), inner, 0, topic->partitions - 1, &partitions[i]))
			return false;
		owned->count++;
	}
	return true;
}

static bool read_owned(struct reading *r, const json_t *value, const char *member_place, struct member *member)
{
	struct owned *owned = model_alloc(json_object_size(value), sizeof(*owned));
	char place[PLACE_SIZE];
	const char *name;
	json_t *list;

	if (!value || json_is_null(value))
		return true;
	if (!json_is_object(value))
		return wrong(r, "%s.owned must be an object", member_place);
	member->owned = owned;
	json_object_foreach((json_t *)(uintptr_t)value, name, list) {
		const struct topic *topic = model_topic(r->model, name);

		place_of(place, "%s.owned.%.80s", member_place, name);
		if (!topic)
			return wrong(r, "%s: there is no topic named \"%s\"", place, name);
		if (!read_partitions(r, list, place, topic, &owned[member->owned_count++]))
			return false;
	}
	return true;
}

/* An optional number. */
static bool read_option(struct reading *r, const json_t *object, const char *key, const char *member_place,
                        json_int_t low, json_int_t high, int32_t *ret)
{
	const json_t *value = json_object_get(object, key);
	char place[PLACE_SIZE];

	place_of(place, "%s.%s", member_place, key);
	return !value || json_is_null(value) || read_number(r, value, place, low, high, ret);
}

static bool read_member(struct reading *r, const json_t *value, const char *place, struct member *ret)
{
	static const char *const keys[] = {"id",    "instance_id", "rack", "topics", "owned", "generation",
	                                   "capacity", NULL};
	char inner[PLACE_SIZE];

	*ret = (struct member){.generation = -1};
	if (!json_is_object(value))
		return wrong(r, "%s must be an object", place);
	place_of(inner, "%s.id", place);
	if (!known_keys(r, value, place, keys) || !read_text(r, json_object_get(value, "id"), inner, true, &ret->id))
		return false;
	if (json_object_get(r->members, ret->id))
		return wrong(r, "%s: member \"%s\" is there already", inner, ret->id);
	json_object_set_new(r->members, ret->id, json_true());
	place_of(inner, "%s.instance_id", place);
	if (!read_text(r, json_object_get(value, "instance_id"), inner, false, &ret->instance_id))
		return false;
	if (ret->instance_id && json_object_get(r->instances, ret->instance_id))
		return wrong(r, "%s: member \"%s\" has \"%s\" already", inner,
		             json_string_value(json_object_get(r->instances, ret->instance_id)), ret->instance_id);
	if (ret->instance_id)
		json_object_set_new(r->instances, ret->instance_id, json_string(ret->id));
	place_of(inner, "%s.rack", place);
	return read_text(r, json_object_get(value, "rack"), inner, false, &ret->rack) &&
	       read_subscription(r, json_object_get(value, "topics"), place, ret) &&
	       read_owned(r, json_object_get(value, "owned"), place, ret) &&
	       read_option(r, value, "generation", place, -1, INT32_MAX - 1000, &ret->generation) &&
	       read_option(r, value, "capacity", place, 1, 65535, &ret->capacity);
}

static bool read_members(struct reading *r, const json_t *list)
{
	struct model *model = r->model;
	char place[PLACE_SIZE];

	if (!is_array(r, list, "members"))
		return false;
	model->members = model_alloc(json_array_size(list), sizeof(*model->members));
	for (size_t m = 0; m < json_array_size(list); m++) {
		place_of(place, "members[%zu]", m);
		if (!read_member(r, json_array_get(list, m), place, &model->members[m]))
			return false;
		if (model->members[m].generation > model->generation)
			model->generation = model->members[m].generation;
		model->member_count++;
	}
	return true;
}

bool model_read(struct model *model, FILE *file, const char *name, rg_error *error)
{
	static const char *const keys[] = {"topics", "members", NULL};
	struct reading r = {.model = model, .name = name, .error = error};
	json_error_t json_error;
	json_t *root;
	bool ok;

	errno = 0;
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
	if (ferror(file)) { /* to the parser that is the end */
		json_decref(root);
		return model_fail(error, "%s: %s", name, strerror(errno));
	}
	if (!root) /* nothing else was made yet */
		return wrong(&r, "line %d, column %d: %s", json_error.line, json_error.column, json_error.text);
	r.topics = json_object();
	r.members = json_object();
	r.instances = json_object();
	if (!json_is_object(root))
		ok = wrong(&r, "the whole must be an object with \"topics\" and \"members\"");
	else
		ok = known_keys(&r, root, "the whole", keys) && read_topics(&r, json_object_get(root, "topics")) &&
		     read_members(&r, json_object_get(root, "members"));
	json_decref(root);
	json_decref(r.topics);
	json_decref(r.members);
	json_decref(r.instances);
	return ok;
}
