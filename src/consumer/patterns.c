/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/patterns.h"

#include "base/alloc.h"
#include "base/error.h"

#include <regex.h>
#include <string.h>

enum { NAME_MAX_BYTES = 249 }; /* broker: of a topic's name */

struct rg__patterns {
	size_t count;
	regex_t items[];
};

bool rg__is_pattern(const char *name)
{
	return name && name[0] == '^';
}

rg_err rg__patterns_new(const char *const *names, size_t count, struct rg__patterns **ret_patterns, rg_error *error)
{
	struct rg__patterns *patterns;
	size_t needed = 0;

	for (size_t i = 0; i < count; i++)
		needed += rg__is_pattern(names[i]);
	if (!needed) {
		*ret_patterns = NULL;
		return RG_OK;
	}
	if (!(patterns = rg__malloc(sizeof(*patterns) + needed * sizeof(patterns->items[0]))))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	patterns->count = 0;
	for (size_t i = 0; i < count; i++) {
		char words[128];
		int refused;

		if (!rg__is_pattern(names[i]))
			continue;
		if (!(refused = regcomp(&patterns->items[patterns->count], names[i], REG_EXTENDED | REG_NOSUB))) {
			patterns->count++;
			continue;
		}
		regerror(refused, &patterns->items[patterns->count], words, sizeof(words));
		rg__patterns_free(patterns);
		if (refused == REG_ESPACE)
			return rg__fail(error, RG_ERR_MEMORY, "out of memory");
		return rg__fail(error, RG_ERR_INVALID, "\"%.249s\" is no regular expression: %s", names[i], words);
	}
	*ret_patterns = patterns;
	return RG_OK;
}

void rg__patterns_free(struct rg__patterns *patterns)
{
	if (!patterns)
		return;
	for (size_t i = 0; i < patterns->count; i++)
		regfree(&patterns->items[i]);
	rg__free(patterns);
}

bool rg__patterns_match(const struct rg__patterns *patterns, const char *name)
{
	for (size_t i = 0; patterns && i < patterns->count; i++)
		if (!regexec(&patterns->items[i], name, 0, NULL, 0))
			return true;
	return false;
}

bool rg__patterns_match_bytes(const struct rg__patterns *patterns, struct rg__bytes name)
{
	char text[NAME_MAX_BYTES + 1];

	if (!patterns || !name.len || name.len > NAME_MAX_BYTES || memchr(name.data, '\0', name.len))
		return false;
	memcpy(text, name.data, name.len);
	text[name.len] = '\0';
	return rg__patterns_match(patterns, text);
}
