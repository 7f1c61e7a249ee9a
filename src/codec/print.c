/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "codec/wire.h"

#include <inttypes.h>
#include <string.h>

/* How many bytes the UTF-8 character at `at` has; 0: none. Overlong forms, surrogates and what is beyond U+10FFFF are
 * none. */
static size_t utf8_len(const uint8_t *at, size_t left)
{
	static const struct {
		uint8_t first, last, second_min, second_max, len;
	} forms[] = {
		{0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t len = forms[i].len;

		if (at[0] < forms[i].first || at[0] > forms[i].last)
			continue;
		if (len > left || (len > 1 && (at[1] < forms[i].second_min || at[1] > forms[i].second_max)))
			return 0;
		for (size_t k = 2; k < len; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		return len;
	}
	return 0;
}

static void print_string(struct rg__bytes string, struct rg__buf *out)
{
	rg__buf_append_str(out, "\"");
	for (size_t i = 0; i < string.len;) {
		uint8_t c = string.data[i];
		size_t len = utf8_len(string.data + i, string.len - i);

		if (!len)
			rg__buf_append_str(out, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			rg__buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			rg__buf_printf(out, "\\u%04x", c);
		else
			rg__buf_append(out, string.data + i, len);
		i += len ? len : 1;
	}
	rg__buf_append_str(out, "\"");
}

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
			print_string(*bytes, out);
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
