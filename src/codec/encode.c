/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "codec/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct encoder {
	struct rg__buf *out;
	const char *message;
	int version;
	bool flexible;
	struct rg__path path;
	struct rg__codec_error *err;
};

static bool refuse(struct encoder *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct encoder *e, const char *format, ...)
{
	va_list args;

	if (!e->err)
		return false;
	rg__codec_refuse(e->err, e->message, e->version, false, "%s", "");
	rg__path_text(&e->path, e->err->path, sizeof(e->err->path));
	va_start(args, format);
	vsnprintf(e->err->what, sizeof(e->err->what), format, args);
	va_end(args);
	return false;
}

static bool refuse_memory(struct encoder *e)
{
	refuse(e, "out of memory");
	if (e->err)
		e->err->out_of_memory = true;
	return false;
}

static bool write_raw(struct encoder *e, const void *data, size_t len)
{
	return rg__buf_append(e->out, data, len) || refuse_memory(e);
}

static bool write_int(struct encoder *e, size_t size, int64_t value)
{
	uint64_t bits = (uint64_t)value;
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(bits >> 8 * (size - 1 - i));
	return write_raw(e, bytes, size);
}

static bool write_varint(struct encoder *e, uint32_t value)
{
	uint8_t bytes[5];
	size_t len = 0;

	while (value > 0x7f) {
		bytes[len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[len++] = (uint8_t)value;
	return write_raw(e, bytes, len);
}

/* -1 is null. */
static bool write_length(struct encoder *e, bool compact, size_t width, int64_t length, bool nullable)
{
	if (length < 0 && !nullable)
		return refuse(e, "null, which this version does not allow");
	return compact ? write_varint(e, (uint32_t)(length + 1)) : write_int(e, width, length);
}

static bool write_bytes(struct encoder *e, const struct rg__field *field, enum rg__type type, bool nullable,
			const struct rg__bytes *bytes)
{
	int64_t limit = type == RG__STRING ? RG__STRING_LEN_MAX : INT32_MAX;
	bool compact = e->flexible && !field->plain_string;

	if (!bytes->data)
		return write_length(e, compact, type == RG__STRING ? 2 : 4, -1, nullable);
	if (bytes->len > (uint64_t)limit)
		return refuse(e, "%zu bytes, more than %" PRId64, bytes->len, limit);
	return write_length(e, compact, type == RG__STRING ? 2 : 4, (int64_t)bytes->len, nullable) &&
	       write_raw(e, bytes->data, bytes->len);
}

static bool write_array(struct encoder *e, const struct rg__field *field, const struct rg__array *array);
static bool write_fields(struct encoder *e, const struct rg__fields *fields, const void *message);

static bool write_value(struct encoder *e, const struct rg__field *field, enum rg__type type, bool nullable,
			const void *value)
{
	switch (type) {
	case RG__STRUCT:
		return write_fields(e, field->fields, value);
	case RG__BOOL:
		return write_int(e, 1, *(const bool *)value);
	case RG__INT8:
		return write_int(e, 1, *(const int8_t *)value);
	case RG__INT16:
		return write_int(e, 2, *(const int16_t *)value);
	case RG__INT32:
		return write_int(e, 4, *(const int32_t *)value);
	case RG__INT64:
		return write_int(e, 8, *(const int64_t *)value);
	case RG__UUID:
		return write_raw(e, value, sizeof(struct rg__uuid));
	case RG__STRING:
	case RG__BYTES:
		return write_bytes(e, field, type, nullable, value);
	case RG__ARRAY:
		return write_array(e, field, value);
	}
	return false;
}

static bool write_array(struct encoder *e, const struct rg__field *field, const struct rg__array *array)
{
	size_t size = rg__type_size(field->element, field->fields);
	const unsigned char *items = array->items;
	int step = e->path.depth - 1;

	if (array->count < -1 || (array->count > 0 && !items))
		return refuse(e, "array of %" PRId32 " elements without any", array->count);
	if (!write_length(e, e->flexible, 4, array->count, rg__field_nullable(field, e->version)))
		return false;
	for (int32_t i = 0; i < array->count; i++) {
		if (step < RG__DEPTH_MAX)
			e->path.steps[step].index = i;
		if (!write_value(e, field, field->element, false, items + (size_t)i * size))
			return false;
	}
	return true;
}

/* The size goes in front of the value, so the value is written aside first. */
static bool write_tagged(struct encoder *e, const struct rg__field *field, const void *message)
{
	struct rg__buf value = {0}, *out = e->out;
	bool good;

	e->out = &value;
	good = write_value(e, field, field->type, rg__field_nullable(field, e->version),
			   rg__field_value(field, message));
	e->out = out;
	if (good && value.len > INT32_MAX)
		good = refuse(e, "tagged field of %zu bytes", value.len);
	good = good && write_varint(e, (uint32_t)field->tag) && write_varint(e, (uint32_t)value.len) &&
	       write_raw(e, value.data, value.len);
	rg__buf_free(&value);
	return good;
}

/* Only tagged fields that hold a value travel; the tables list them by ascending tag, as KIP-482 wants them written. */
static bool write_tags(struct encoder *e, const struct rg__fields *fields, const void *message)
{
	uint32_t count = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < fields->count; i++) {
			const struct rg__field *field = &fields->items[i];

			if (!field->tagged || !rg__field_present(field, e->version) ||
			    rg__field_is_default(field, message))
				continue;
			if (pass == 0) {
				count++;
				continue;
			}
			rg__path_push(&e->path, field);
			if (!write_tagged(e, field, message))
				return false;
			rg__path_pop(&e->path);
		}
		if (pass == 0 && !write_varint(e, count))
			return false;
	}
	return true;
}

static bool write_fields(struct encoder *e, const struct rg__fields *fields, const void *message)
{
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];
		bool present = rg__field_present(field, e->version);

		if (present && field->tagged)
			continue;
		rg__path_push(&e->path, field);
		if (!present && !field->ignorable && !rg__field_is_default(field, message))
			return refuse(e, "set, but this version does not have it");
		if (present && !write_value(e, field, field->type, rg__field_nullable(field, e->version),
					    rg__field_value(field, message)))
			return false;
		rg__path_pop(&e->path);
	}
	return !e->flexible || write_tags(e, fields, message);
}

bool rg__encode(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out,
		struct rg__codec_error *err)
{
	struct encoder e = {
		.out = out,
		.message = fields->name,
		.version = version,
		.flexible = rg__fields_flexible(fields, version),
		.err = err,
	};
	size_t len = out->len;

	if (version < 0)
		return refuse(&e, "there are no negative versions");
	if (write_fields(&e, fields, message))
		return true;
	out->len = len;
	return false;
}
