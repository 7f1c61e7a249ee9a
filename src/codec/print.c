/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "codec/codec.h"
#include "codec/wire.h"

#include <inttypes.h>

static void print_base64(const uint8_t *data, size_t len, bool for_url, struct rg__buf *out)
{
	const char *digits = for_url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
				     : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	rg__buf_append_str(out, "\"");
	for (size_t i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)data[i] << 16 | (have > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				(have > 2 ? data[i + 2] : 0);
		char text[4];

		for (unsigned k = 0; k < 4; k++)
			text[k] = k <= have ? digits[bits >> (18 - 6 * k) & 63] : '=';
		rg__buf_append(out, text, for_url ? have + 1 : 4);
	}
	rg__buf_append_str(out, "\"");
}

static void print_fields(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out);

static void print_value(const struct rg__field *field, enum rg__type type, int version, const void *value,
			struct rg__buf *out)
{
	const struct rg__bytes *bytes = value;
	const struct rg__array *array = value;
	size_t size;

	switch (type) {
	case RG__STRUCT:
		print_fields(field->fields, version, value, out);
		break;
	case RG__BOOL:
		rg__buf_append_str(out, *(const bool *)value ? "true" : "false");
		break;
	case RG__INT8:
		rg__buf_printf(out, "%d", *(const int8_t *)value);
		break;
	case RG__INT16:
		rg__buf_printf(out, "%d", *(const int16_t *)value);
		break;
	case RG__INT32:
		rg__buf_printf(out, "%" PRId32, *(const int32_t *)value);
		break;
	case RG__INT64:
		rg__buf_printf(out, "%" PRId64, *(const int64_t *)value);
		break;
	case RG__UUID:
		print_base64(value, sizeof(struct rg__uuid), true, out);
		break;
	case RG__STRING:
	case RG__BYTES:
		if (!bytes->data)
			rg__buf_append_str(out, "null");
		else if (type == RG__STRING)
			rg__json_string(out, *bytes);
		else
			print_base64(bytes->data, bytes->len, false, out);
		break;
	case RG__ARRAY:
		if (array->count < 0) {
			rg__buf_append_str(out, "null");
			break;
		}
		size = rg__type_size(field->element, field->fields);
		rg__buf_append_str(out, "[");
		for (int32_t i = 0; i < array->count; i++) {
			rg__buf_append_str(out, i ? "," : "");
			print_value(field, field->element, version,
				    (const unsigned char *)array->items + (size_t)i * size, out);
		}
		rg__buf_append_str(out, "]");
		break;
	}
}

static void print_fields(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out)
{
	char name[RG__FIELD_NAME_MAX];
	bool first = true;

	rg__buf_append_str(out, "{");
	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];

		if (!rg__field_present(field, version) || (field->tagged && rg__field_is_default(field, message)))
			continue;
		rg__field_json_name(field, name, sizeof(name));
		rg__buf_printf(out, "%s\"%s\":", first ? "" : ",", name);
		print_value(field, field->type, version, rg__field_value(field, message), out);
		first = false;
	}
	rg__buf_append_str(out, "}");
}

bool rg__print(const struct rg__fields *fields, int version, const void *message, struct rg__buf *out)
{
	print_fields(fields, version, message, out);
	return !out->failed;
}
