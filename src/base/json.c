/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

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

bool rg__json_string(struct rg__buf *buf, struct rg__bytes text)
{
	rg__buf_append_str(buf, "\"");
	for (size_t i = 0; i < text.len;) {
		uint8_t c = text.data[i];
		size_t len = utf8_len(text.data + i, text.len - i);

		if (!len)
			rg__buf_append_str(buf, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			rg__buf_printf(buf, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			rg__buf_printf(buf, "\\u%04x", c);
		else
			rg__buf_append(buf, text.data + i, len);
		i += len ? len : 1;
	}
	return rg__buf_append_str(buf, "\"");
}
