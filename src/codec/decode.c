/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "codec/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t nothing[1];

struct decoder {
	const uint8_t *start, *at, *end; /* end is that of the innermost tagged field while inside one */
	const uint8_t *value_at;         /* where the value at work starts, for errors */
	const char *message;
	int version;
	bool flexible;
	struct rg__arena *arena;
	struct rg__path path;
	struct rg__codec_error *err;
};

static bool refuse(struct decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct decoder *d, const char *format, ...)
{
	va_list args;

	if (!d->err)
		return false;
	rg__codec_refuse(d->err, d->message, d->version, true, "%s", "");
	d->err->offset = (size_t)(d->value_at - d->start);
	rg__path_text(&d->path, d->err->path, sizeof(d->err->path));
	va_start(args, format);
	vsnprintf(d->err->what, sizeof(d->err->what), format, args);
	va_end(args);
	return false;
}

static bool refuse_memory(struct decoder *d)
{
	refuse(d, "out of memory");
	if (d->err)
		d->err->out_of_memory = true;
	return false;
}

static size_t left(const struct decoder *d)
{
	return (size_t)(d->end - d->at);
}

/* `size` (at most 8) bytes as a big-endian number. */
static bool read_uint(struct decoder *d, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (left(d) < size)
		return refuse(d, "needs %zu bytes, but only %zu are left", size, left(d));
	for (size_t i = 0; i < size; i++)
		value = value << 8 | d->at[i];
	d->at += size;
	*ret_value = value;
	return true;
}

static bool read_varint(struct decoder *d, uint32_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 5; i++) {
		if (d->at == d->end)
			return refuse(d, "ends within a number");
		uint8_t byte = *d->at++;

		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte & 0x80)
			continue;
		if (value > UINT32_MAX)
			return refuse(d, "number of more than 32 bits");
		*ret_value = (uint32_t)value;
		return true;
	}
	return refuse(d, "number of more than 5 bytes");
}

/* The length in front of a string, bytes or array: `width` bytes, or one more than it as a varint. -1 is null. */
static bool read_length(struct decoder *d, bool compact, size_t width, bool nullable, int64_t *ret_length)
{
	int64_t length;
	uint32_t compact_value = 0;
	uint64_t value = 0;

	if (compact) {
		if (!read_varint(d, &compact_value))
			return false;
		length = (int64_t)compact_value - 1;
	} else {
		if (!read_uint(d, width, &value))
			return false;
		length = width == 2 ? (int16_t)value : (int32_t)value;
	}
	if (length < -1)
		return refuse(d, "negative length %" PRId64, length);
	if (length == -1 && !nullable)
		return refuse(d, "null, which this version does not allow");
	*ret_length = length;
	return true;
}

static bool read_bytes(struct decoder *d, const struct rg__field *field, enum rg__type type, bool nullable,
		       struct rg__bytes *ret_bytes)
{
	bool compact = d->flexible && !field->plain_string;
	int64_t length = 0;

	if (!read_length(d, compact, type == RG__STRING ? 2 : 4, nullable, &length))
		return false;
	if (length < 0) {
		*ret_bytes = RG__NULL_BYTES;
		return true;
	}
	if ((uint64_t)length > left(d))
		return refuse(d, "length %" PRId64 ", but only %zu bytes are left", length, left(d));
	if (type == RG__STRING && length > RG__STRING_LEN_MAX)
		return refuse(d, "string of %" PRId64 " bytes, more than %d", length, RG__STRING_LEN_MAX);
	*ret_bytes = (struct rg__bytes){length ? d->at : nothing, (size_t)length};
	d->at += length;
	return true;
}

static bool read_array(struct decoder *d, const struct rg__field *field, struct rg__array *ret_array);
static bool read_fields(struct decoder *d, const struct rg__fields *fields, void *to);

static bool read_value(struct decoder *d, const struct rg__field *field, enum rg__type type, bool nullable, void *to)
{
	uint64_t value = 0;

	d->value_at = d->at;
	switch (type) {
	case RG__STRUCT:
		return read_fields(d, field->fields, to);
	case RG__STRING:
	case RG__BYTES:
		return read_bytes(d, field, type, nullable, to);
	case RG__ARRAY:
		return read_array(d, field, to);
	case RG__UUID:
		if (left(d) < sizeof(struct rg__uuid))
			return refuse(d, "needs 16 bytes, but only %zu are left", left(d));
		memcpy(to, d->at, sizeof(struct rg__uuid));
		d->at += sizeof(struct rg__uuid);
		return true;
	case RG__BOOL:
	case RG__INT8:
	case RG__INT16:
	case RG__INT32:
	case RG__INT64:
		break;
	}
	if (!read_uint(d, type == RG__BOOL ? 1 : rg__type_size(type, NULL), &value))
		return false;
	if (type == RG__BOOL)
		*(bool *)to = value != 0;
	else if (type == RG__INT8)
		*(int8_t *)to = (int8_t)value;
	else if (type == RG__INT16)
		*(int16_t *)to = (int16_t)value;
	else if (type == RG__INT32)
		*(int32_t *)to = (int32_t)value;
	else
		*(int64_t *)to = (int64_t)value;
	return true;
}

static bool read_array(struct decoder *d, const struct rg__field *field, struct rg__array *ret_array)
{
	size_t size = rg__type_size(field->element, field->fields);
	size_t min = rg__element_min(field, d->version, d->flexible);
	int step = d->path.depth - 1;
	int64_t count = 0;
	unsigned char *items;

	if (!read_length(d, d->flexible, 4, rg__field_nullable(field, d->version), &count))
		return false;
	if (count <= 0) {
		*ret_array = (struct rg__array){NULL, (int32_t)count};
		return true;
	}
	if (count > INT32_MAX || (uint64_t)count > left(d) / min)
		return refuse(d, "%" PRId64 " elements of at least %zu bytes, but only %zu are left", count, min,
			      left(d));
	items = rg__arena_calloc(d->arena, (size_t)count, size);
	if (!items)
		return refuse_memory(d);
	for (int32_t i = 0; i < (int32_t)count; i++) {
		if (step < RG__DEPTH_MAX)
			d->path.steps[step].index = i;
		if (!read_value(d, field, field->element, false, items + (size_t)i * size))
			return false;
	}
	*ret_array = (struct rg__array){items, (int32_t)count};
	return true;
}

static const struct rg__field *find_tag(const struct rg__fields *fields, uint32_t tag, int version)
{
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];

		if (field->tagged && field->tag == (int64_t)tag && rg__field_present(field, version))
			return field;
	}
	return NULL;
}

/* One tagged field of ours: its value must fill exactly the bytes it came with. */
static bool read_tagged(struct decoder *d, const struct rg__field *field, uint32_t size, void *to)
{
	const uint8_t *outer_end = d->end;
	bool good;

	d->end = d->at + size;
	rg__path_push(&d->path, field);
	good = read_value(d, field, field->type, rg__field_nullable(field, d->version), rg__field_at(field, to));
	if (good && d->at != d->end)
		good = refuse(d, "%zu bytes behind its value", left(d));
	if (good)
		rg__path_pop(&d->path);
	d->end = outer_end;
	return good;
}

/* KIP-482: number of fields, then tag, size and value of each. What we do not know we skip. */
static bool read_tags(struct decoder *d, const struct rg__fields *fields, void *to)
{
	uint32_t count = 0, tag = 0, size = 0;

	d->value_at = d->at;
	if (!read_varint(d, &count))
		return false;
	if (count > left(d) / 2)
		return refuse(d, "%" PRIu32 " tagged fields, but only %zu bytes are left", count, left(d));
	while (count-- > 0) {
		d->value_at = d->at;
		if (!read_varint(d, &tag) || !read_varint(d, &size))
			return false;
		if (size > left(d))
			return refuse(d, "tagged field %" PRIu32 " of %" PRIu32 " bytes, but only %zu are left", tag,
				      size, left(d));
		const struct rg__field *field = find_tag(fields, tag, d->version);

		if (field && !read_tagged(d, field, size, to))
			return false;
		if (!field)
			d->at += size;
	}
	return true;
}

static bool read_fields(struct decoder *d, const struct rg__fields *fields, void *to)
{
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];

		if (field->tagged || !rg__field_present(field, d->version)) {
			rg__field_reset(field, to);
			continue;
		}
		rg__path_push(&d->path, field);
		if (!read_value(d, field, field->type, rg__field_nullable(field, d->version), rg__field_at(field, to)))
			return false;
		rg__path_pop(&d->path);
	}
	return !d->flexible || read_tags(d, fields, to);
}

bool rg__decode_at(const struct rg__fields *fields, const char *message, int version, struct rg__bytes in, size_t from,
		   struct rg__arena *arena, void *ret_message, size_t *ret_end, struct rg__codec_error *err)
{
	_Alignas(max_align_t) unsigned char decoded[RG__MESSAGE_SIZE_MAX] = {0};
	const uint8_t *start = in.data ? in.data : nothing;
	struct decoder d = {
		.start = start,
		.at = start + from,
		.end = start + in.len,
		.value_at = start + from,
		.message = message,
		.version = version,
		.flexible = rg__fields_flexible(fields, version),
		.arena = arena,
		.err = err,
	};

	if (version < 0)
		return refuse(&d, "there are no negative versions");
	if (fields->size > sizeof(decoded))
		return refuse(&d, "its struct of %zu bytes is too large", fields->size);
	if (!read_fields(&d, fields, decoded))
		return false;
	d.value_at = d.at;
	if (!ret_end && d.at != d.end)
		return refuse(&d, "%zu bytes behind its end", left(&d));
	memcpy(ret_message, decoded, fields->size);
	if (ret_end)
		*ret_end = (size_t)(d.at - d.start);
	return true;
}

bool rg__decode(const struct rg__fields *fields, int version, struct rg__bytes in, struct rg__arena *arena,
		void *ret_message, size_t *ret_used, struct rg__codec_error *err)
{
	return rg__decode_at(fields, fields->name, version, in, 0, arena, ret_message, ret_used, err);
}
