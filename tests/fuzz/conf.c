/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration as an application builds it from a file nobody checked: lines of name=value. What was accepted
 * can be read back and set again; what was refused left the old value. Then the whole is copied and made into a
 * member's. */
#include "base/alloc.h"
#include "fuzz.h"
#include "member/properties.h"

enum { LINES_MAX = 24, VALUE_MAX = 4096 };

/* Loads libraries, which is not what is tried here. */
static bool is_left_out(const char *name)
{
	return strncmp(name, "plugin.", 7) == 0;
}

static void set(rg_conf *conf, const char *name, const char *value)
{
	char before[VALUE_MAX], after[VALUE_MAX], again[VALUE_MAX];
	rg_err known = rg_conf_get(conf, name, before, sizeof(before), NULL);
	rg_error error = {0};
	rg_err err = rg_conf_set(conf, name, value, &error);

	require(err == RG_OK || (err == RG_ERR_INVALID && error.code == err && error.text[0]), "a refusal has a reason");
	if (known != RG_OK) /* unknown, secret, or too long for this */
		return;
	rg_err readable = rg_conf_get(conf, name, after, sizeof(after), NULL);

	if (err && (readable != RG_OK || strcmp(before, after) != 0)) {
		fprintf(stderr, "%s: \"%s\", after \"%s\" was refused: \"%s\"\n", name, before, value, after);
		require(false, "a refused value leaves the old one");
	}
	if (err || readable != RG_OK || !rg__property_find(name))
		return;
	require(!after[0] || rg_conf_set(conf, name, after, NULL) == RG_OK, "what is read can be set");
	require(rg_conf_get(conf, name, again, sizeof(again), NULL) == RG_OK && strcmp(after, again) == 0,
		"and is read as the same");
}

static void silent(void *user, int level, const char *facility, const char *line)
{
	(void)user;
	(void)level;
	(void)facility;
	(void)line;
}

static void set_lines(rg_conf *conf, char *text)
{
	int lines = 0;

	for (char *line; (line = strsep(&text, "\n")) && lines < LINES_MAX; lines++) {
		char *name = strsep(&line, "=");

		if (!is_left_out(name))
			set(conf, name, line ? line : "");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rg_conf *conf = must(rg_conf_new());
	char *text = must(malloc(size + 1));
	rg_error error = {0};

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	rg_conf_set_log(conf, silent, NULL);
	set_lines(conf, text);
	rg_conf *copy = must(rg__conf_dup(conf));

	if (rg__conf_check_member(copy, &error))
		require(error.code == RG_ERR_INVALID && error.text[0], "a refused configuration has a reason");
	rg_conf_free(copy);
	rg_conf_free(conf);
	free(text);
	return 0;
}
