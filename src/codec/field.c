/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/field.h"

#include "codec/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t nothing[1];

bool rg__fields_flexible(const struct rg__fields *fields, int version)
{
	return version >= fields->flexible_first;
}

bool rg__field_present(const struct rg__field *field, int version)
{
	return version >= field->first && version <= field->last;
}

bool rg__field_nullable(const struct rg__field *field, int version)
{
	return field->nullable && version >= field->nullable_first;
}

size_t rg__type_size(enum rg__type type, const struct rg__fields *fields)
{
	switch (type) {
	case RG__STRUCT:
		return fields->size;
	case RG__BOOL:
		return sizeof(bool);
	case RG__INT8:
		return sizeof(int8_t);
	case RG__INT16:
		return sizeof(int16_t);
	case RG__INT32:
		return sizeof(int32_t);
	case RG__INT64:
		return sizeof(int64_t);
	case RG__UUID:
		return sizeof(struct rg__uuid);
	case RG__STRING:
	case RG__BYTES:
		return sizeof(struct rg__bytes);
	case RG__ARRAY:
		return sizeof(struct rg__array);
	}
	return 0;
}

static size_t value_min(enum rg__type type, bool compact)
{
	switch (type) {
	case RG__STRUCT:
		return 0;
	case RG__BOOL:
	case RG__INT8:
		return 1;
	case RG__INT16:
		return 2;
	case RG__INT32:
		return 4;
	case RG__INT64:
		return 8;
	case RG__UUID:
		return 16;
	case RG__STRING:
		return compact ? 1 : 2;
	case RG__BYTES:
	case RG__ARRAY:
		return compact ? 1 : 4;
	}
	return 0;
}

size_t rg__element_min(const struct rg__field *field, int version, bool flexible)
{
	if (field->element != RG__STRUCT)
		return value_min(field->element, flexible);
	size_t sum = flexible ? 1 : 0; /* the number of tagged fields */

	for (int i = 0; i < field->fields->count; i++) {
		const struct rg__field *row = &field->fields->items[i];

		if (!row->tagged && rg__field_present(row, version))
			sum += value_min(row->type, flexible && !row->plain_string);
	}
	/* An element of no bytes would let a count of any size through; no version of any table has one. */
	return sum ? sum : 1;
}

void *rg__field_at(const struct rg__field *field, void *message)
{
	return (unsigned char *)message + field->offset;
}

const void *rg__field_value(const struct rg__field *field, const void *message)
{
	return (const unsigned char *)message + field->offset;
}

void rg__field_reset(const struct rg__field *field, void *message)
{
	void *at = rg__field_at(field, message);

	switch (field->type) {
	case RG__STRUCT:
		break;
	case RG__BOOL:
		*(bool *)at = field->fallback != 0;
		break;
	case RG__INT8:
		*(int8_t *)at = (int8_t)field->fallback;
		break;
	case RG__INT16:
		*(int16_t *)at = (int16_t)field->fallback;
		break;
	case RG__INT32:
		*(int32_t *)at = (int32_t)field->fallback;
		break;
	case RG__INT64:
		*(int64_t *)at = field->fallback;
		break;
	case RG__UUID:
		*(struct rg__uuid *)at = (struct rg__uuid){{0}};
		break;
	case RG__STRING:
	case RG__BYTES:
		*(struct rg__bytes *)at = (struct rg__bytes){field->fallback == RG__NULL ? NULL : nothing, 0};
		break;
	case RG__ARRAY:
		*(struct rg__array *)at = (struct rg__array){NULL, field->fallback == RG__NULL ? -1 : 0};
		break;
	}
}

/* Null counts as the default when it is the default, and when the field has no null at all: then it is a string that a
 * zero-initialised message has never set. */
static bool null_is_default(const struct rg__field *field)
{
	return field->fallback == RG__NULL || !field->nullable;
}

bool rg__field_is_default(const struct rg__field *field, const void *message)
{
	static const struct rg__uuid zero;
	const void *value = rg__field_value(field, message);
	const struct rg__bytes *bytes = value;
	const struct rg__array *array = value;

	switch (field->type) {
	case RG__STRUCT:
		return true;
	case RG__BOOL:
		return *(const bool *)value == (field->fallback != 0);
	case RG__INT8:
		return *(const int8_t *)value == field->fallback;
	case RG__INT16:
		return *(const int16_t *)value == field->fallback;
	case RG__INT32:
		return *(const int32_t *)value == field->fallback;
	case RG__INT64:
		return *(const int64_t *)value == field->fallback;
	case RG__UUID:
		return memcmp(value, &zero, sizeof(zero)) == 0;
	case RG__STRING:
	case RG__BYTES:
		return bytes->data ? bytes->len == 0 && field->fallback != RG__NULL : null_is_default(field);
	case RG__ARRAY:
		return array->count >= 0 ? array->count == 0 && field->fallback != RG__NULL : null_is_default(field);
	}
	return true;
}

void rg__fields_init(const struct rg__fields *fields, void *message)
{
	memset(message, 0, fields->size);
	for (int i = 0; i < fields->count; i++)
		rg__field_reset(&fields->items[i], message);
}

bool rg__array_init(const struct rg__fields *element_fields, int32_t count, struct rg__arena *arena,
		    struct rg__array *ret_array)
{
	unsigned char *items = rg__arena_calloc(arena, (size_t)count, element_fields->size);

	if (!items)
		return false;
	for (int32_t i = 0; i < count; i++)
		rg__fields_init(element_fields, items + (size_t)i * element_fields->size);
	*ret_array = (struct rg__array){items, count};
	return true;
}

void rg__field_json_name(const struct rg__field *field, char *name, size_t size)
{
	snprintf(name, size, "%s", field->name);
	if (name[0] >= 'A' && name[0] <= 'Z')
		name[0] = (char)(name[0] - 'A' + 'a');
}

void rg__path_push(struct rg__path *path, const struct rg__field *field)
{
	if (path->depth < RG__DEPTH_MAX) {
		path->steps[path->depth].field = field;
		path->steps[path->depth].index = -1;
	}
	path->depth++;
}

void rg__path_pop(struct rg__path *path)
{
	path->depth--;
}

void rg__path_text(const struct rg__path *path, char *text, size_t size)
{
	char name[RG__FIELD_NAME_MAX];
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < path->depth && i < RG__DEPTH_MAX && len < size; i++) {
		rg__field_json_name(path->steps[i].field, name, sizeof(name));
		int more = snprintf(text + len, size - len, "%s%s", i ? "." : "", name);

		len += more > 0 ? (size_t)more : 0;
		if (path->steps[i].index < 0 || len >= size)
			continue;
		more = snprintf(text + len, size - len, "[%d]", (int)path->steps[i].index);
		len += more > 0 ? (size_t)more : 0;
	}
}

bool rg__codec_refuse(struct rg__codec_error *err, const char *message, int version, bool decoding, const char *format,
		      ...)
{
	va_list args;

	if (!err)
		return false;
	*err = (struct rg__codec_error){.message = message, .version = version, .decoding = decoding};
	va_start(args, format);
	vsnprintf(err->what, sizeof(err->what), format, args);
	va_end(args);
	return false;
}

void rg__codec_error_text(const struct rg__codec_error *err, char *text, size_t size)
{
	char version[16] = "", offset[32] = "";

	if (err->version >= 0)
		snprintf(version, sizeof(version), " v%d", err->version);
	if (err->decoding)
		snprintf(offset, sizeof(offset), " at byte %zu", err->offset);
	snprintf(text, size, "%s%s%s%s%s: %s", err->message, version, err->path[0] ? ", " : "", err->path, offset,
		 err->what);
}
