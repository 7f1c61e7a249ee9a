/* SPDX-License-Identifier: Apache-2.0 */
#include "member/duration.h"

#include <string.h>

static const int64_t most_ms = INT64_C(1000000) * 24 * 3600 * 1000;

static const struct part {
	char letter; /* a small one, in the order in which they must come */
	bool of_day; /* behind the T */
	int64_t ms;
} parts[] = {
	{'d', false, 24 * 3600 * 1000},
	{'h', true, 3600 * 1000},
	{'m', true, 60 * 1000},
	{'s', true, 1000},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits, at most what fits. False: there are none, or too many. */
static bool read_number(const char **at, int64_t *ret_number)
{
	int64_t number = 0;

	if (!is_digit(**at))
		return false;
	for (; is_digit(**at); ++*at) {
		number = number * 10 + (**at - '0');
		if (number > most_ms)
			return false;
	}
	*ret_number = number;
	return true;
}

/* Behind the point, of a second. */
static int64_t read_fraction_ms(const char **at)
{
	int64_t ms = 0, unit = 100;

	for (; is_digit(**at); ++*at, unit /= 10)
		ms += unit * (**at - '0');
	return ms;
}

/* One number with its letter, which must come behind those before. */
static bool read_part(const char **at, bool of_day, int *next, int64_t *total_ms)
{
	int64_t number, fraction_ms = 0;
	bool fraction = false;

	if (!read_number(at, &number))
		return false;
	if (**at == '.' || **at == ',') {
		fraction = true;
		++*at;
		fraction_ms = read_fraction_ms(at);
	}
	for (int i = *next; i < PARTS; i++) {
		if (small(**at) != parts[i].letter || parts[i].of_day != of_day || (fraction && parts[i].letter != 's'))
			continue;
		if (number > most_ms / parts[i].ms)
			return false;
		++*at;
		*next = i + 1;
		*total_ms += number * parts[i].ms + fraction_ms;
		return *total_ms <= most_ms;
	}
	return false;
}

bool rg__duration_read(const char *text, int64_t *ret_ms)
{
	const char *at = text;
	int64_t total_ms = 0;
	int next = 0;

	if (small(*at++) != 'p' || !*at)
		return false;
	if (small(*at) != 't' && !read_part(&at, false, &next, &total_ms))
		return false;
	if (small(*at) == 't') {
		at++;
		do {
			if (!read_part(&at, true, &next, &total_ms))
				return false;
		} while (*at);
	}
	if (*at)
		return false;
	*ret_ms = total_ms;
	return true;
}

bool rg__duration_print(int64_t ms, struct rg__buf *out)
{
	char fraction[8] = "";

	if (ms % 1000) {
		size_t len = 4;

		fraction[0] = '.';
		fraction[1] = (char)('0' + ms % 1000 / 100);
		fraction[2] = (char)('0' + ms % 100 / 10);
		fraction[3] = (char)('0' + ms % 10);
		while (fraction[len - 1] == '0')
			fraction[--len] = '\0';
	}
	return rg__buf_printf(out, "PT%lld%sS", (long long)(ms / 1000), fraction);
}
