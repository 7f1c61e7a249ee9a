/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration: regroup's own settings, librdkafka's beside them, assignors and callbacks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "member/properties.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

static void log_to_stderr(void *user, int level, const char *facility, const char *line)
{
	(void)user;
	if (level <= RG__LOG_NOTICE)
		fprintf(stderr, "%%%d regroup %s: %s\n", level, facility, line);
}

static char **string_at(struct rg__settings *settings, const struct rg__property *property)
{
	return (char **)(void *)((char *)settings + property->at);
}

static void free_strings(struct rg__settings *settings)
{
	for (size_t i = 0; i < rg__property_count; i++)
		if (rg__properties[i].type == RG__PROPERTY_STRING)
			rg__free(*string_at(settings, &rg__properties[i]));
}

void rg_conf_free(rg_conf *conf)
{
	if (!conf)
		return;
	free_strings(&conf->settings);
	if (conf->rdkafka)
		rd_kafka_conf_destroy(conf->rdkafka);
	rg__free(conf->assignors);
	rg__free(conf);
}

/* What librdkafka accepts, as its list of properties has it: "1 .. 100000000", "any, v4, v6". Empty where it does not
 * say, or there is no memory to ask. */
static void find_range(const char *name, char *text, size_t size)
{
	enum { LIST_MAX = 512 * 1024 };
	char *list = rg__malloc(LIST_MAX), *rest = NULL;
	FILE *file = list ? fmemopen(list, LIST_MAX, "w") : NULL;
	size_t len = strlen(name);

	text[0] = '\0';
	if (file) {
		rd_kafka_conf_properties_show(file);
		if (fclose(file))
			list[0] = '\0';
	}
	/* name | who has it | range | default | … */
	for (char *line = file ? strtok_r(list, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
		char *range = strncmp(line, name, len) || line[len] != ' ' ? NULL : strchr(line, '|');

		range = range ? strchr(range + 1, '|') : NULL;
		if (!range)
			continue;
		range += 1 + strspn(range + 1, " ");
		snprintf(text, size, "%.*s", (int)strcspn(range, "|"), range);
		for (len = strlen(text); len && text[len - 1] == ' ';)
			text[--len] = '\0';
		break;
	}
	rg__free(list);
}

/* librdkafka's words where they say more than that the value is none of those. */
static rg_err refuse_rdkafka(const char *name, const char *value, const char *words, rg_error *error)
{
	char range[300] = "", *dots;

	if (rg__property_is_secret(name) || rg__property_has_secret(value))
		return rg__fail(error, RG_ERR_INVALID, "%s: the value is not accepted", name);
	if (!strncmp(words, "Invalid value", 13) || strstr(words, "outside allowed range"))
		find_range(name, range, sizeof(range));
	if ((dots = strstr(range, " .. ")))
		return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: a number from %.*s to %s", name, value,
		                (int)(dots - range), range, dots + 4);
	return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: %s", name, value, range[0] ? range : words);
}

/* A property that both have, or librdkafka alone. Its words become ours, without the value where that is a secret.
 * Set on a copy: of a list of flags librdkafka takes what stands before the one it does not know, so that "debug" set
 * to "topic,nonsense" is refused and yet "topic". */
static rg_err set_rdkafka(rg_conf *conf, const char *name, const char *value, rg_error *error)
{
	rd_kafka_conf_t *copy = rd_kafka_conf_dup(conf->rdkafka), *other = copy;
	char text[256] = "";
	rd_kafka_conf_res_t result = rd_kafka_conf_set(copy, name, value, text, sizeof(text));

	if (result == RD_KAFKA_CONF_OK) {
		other = conf->rdkafka;
		conf->rdkafka = copy;
	}
	rd_kafka_conf_destroy(other);
	switch (result) {
	case RD_KAFKA_CONF_OK:
		return RG_OK;
	case RD_KAFKA_CONF_UNKNOWN:
		return rg__fail(error, RG_ERR_INVALID, "%s: there is no such property", name);
	case RD_KAFKA_CONF_INVALID:
		break;
	}
	return refuse_rdkafka(name, value, text, error);
}

/* Nothing may be left half done: the value is read into a probe, then librdkafka is asked, and only what cannot fail
 * comes after that. */
static rg_err set_both(rg_conf *conf, const struct rg__property *property, const char *value, rg_error *error)
{
	struct rg__settings probe = {0};
	rg_err err = rg__property_set(property, &probe, value, error);

	if (!err)
		err = set_rdkafka(conf, property->name, rg__property_rdkafka_value(property, value), error);
	if (!err && property->type == RG__PROPERTY_STRING) {
		char **at = string_at(&conf->settings, property), **probed = string_at(&probe, property), *old = *at;

		*at = *probed;
		*probed = old;
	} else if (!err) {
		rg__property_set(property, &conf->settings, value, NULL);
	}
	free_strings(&probe);
	return err;
}

static bool rdkafka_knows(const rg_conf *conf, const char *name)
{
	size_t size = 0;

	return rd_kafka_conf_get(conf->rdkafka, name, NULL, &size) == RD_KAFKA_CONF_OK;
}

static rg_err set_ours(rg_conf *conf, const struct rg__property *property, const char *value, rg_error *error)
{
	bool both = property->both || (property->newer && rdkafka_knows(conf, property->name));

	return both ? set_both(conf, property, value, error)
	                      : rg__property_set(property, &conf->settings, value, error);
}

rg_conf *rg_conf_new(void)
{
	rg_conf *conf = rg__calloc(1, sizeof(*conf));

	if (!conf)
		return NULL;
	conf->log = log_to_stderr;
	conf->rdkafka = rd_kafka_conf_new();
	for (size_t i = 0; i < rg__property_count; i++) {
		const char *fallback = rg__property_default(&rg__properties[i]);

		if (fallback && set_ours(conf, &rg__properties[i], fallback, NULL)) {
			rg_conf_free(conf);
			return NULL;
		}
	}
	return conf;
}

/* Every string of `settings`, which are somebody else's, becomes a copy,
or NULL. False: some that should not are NULL. */
static bool own_strings(struct rg__settings *settings)
{
	bool all = true;

	for (size_t i = 0; i < rg__property_count; i++) {
		char **at;

		if (rg__properties[i].type != RG__PROPERTY_STRING)
			continue;
		at = string_at(settings, &rg__properties[i]);
		if (*at && !(*at = rg__strdup(*at)))
			all = false;
	}
	return all;
}

rg_conf *rg__conf_dup(const rg_conf *conf)
{
	rg_conf *copy = rg__malloc(sizeof(*copy));
	bool all;

	if (!copy)
		return NULL;
	*copy = *conf;
	all = own_strings(&copy->settings);
	copy->rdkafka = rd_kafka_conf_dup(conf->rdkafka);
	copy->assignors = NULL;
	if (conf->assignor_count) {
		size_t size = conf->assignor_count * sizeof(*copy->assignors);

		copy->assignors = rg__malloc(size);
		if (copy->assignors)
			memcpy(copy->assignors, conf->assignors, size);
		else
			all = false;
	}
	if (!all) {
		rg_conf_free(copy);
		return NULL;
	}
	return copy;
}

rg_err rg_conf_set(rg_conf *conf, const char *name, const char *value, rg_error *error)
{
	const struct rg__property *property;
	const char *why;

	if (!conf || !name || !*name)
		return rg__fail(error, RG_ERR_INVALID, "rg_conf_set: no configuration, or no name");
	if (!value)
		return rg__fail(error, RG_ERR_INVALID, "%s: no value", name);
	if ((property = rg__property_find(name)))
		return set_ours(conf, property, value, error);
	if ((why = rg__property_refused(name)))
		return rg__fail(error, RG_ERR_INVALID, "%s: not accepted: %s", name, why);
	return set_rdkafka(conf, name, value, error);
}

static rg_err give(const char *text, char *value, size_t size, size_t *ret_size)
{
	size_t needs = strlen(text) + 1;

	if (ret_size)
		*ret_size = needs;
	if (!value || size < needs)
		return RG_ERR_INVALID;
	memcpy(value, text, needs);
	return RG_OK;
}

static rg_err get_rdkafka(const rg_conf *conf, const char *name, char *value, size_t size, size_t *ret_size)
{
	size_t needs = 0;
	char *text;
	rg_err err;

	if (rd_kafka_conf_get(conf->rdkafka, name, NULL, &needs) != RD_KAFKA_CONF_OK)
		return RG_ERR_INVALID;
	if (!(text = rg__calloc(1, needs + 1)))
		return RG_ERR_MEMORY;
	rd_kafka_conf_get(conf->rdkafka, name, text, &needs);
	err = give(text, value, size, ret_size);
	rg__free(text);
	return err;
}

rg_err rg_conf_get(const rg_conf *conf, const char *name, char *value, size_t size, size_t *ret_size)
{
	const struct rg__property *property;
	struct rg__buf text = {0};
	rg_err err;

	if (!conf || !name || rg__property_is_secret(name) || rg__property_refused(name))
		return RG_ERR_INVALID;
	if (!(property = rg__property_find(name)))
		return get_rdkafka(conf, name, value, size, ret_size);
	if (rg__property_print(property, &conf->settings, &text) && rg__buf_append(&text, "", 1))
		err = give((const char *)text.data, value, size, ret_size);
	else
		err = RG_ERR_MEMORY;
	rg__buf_free(&text);
	return err;
}

static bool is_taken(const rg_conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->assignor_count; i++)
		if (!strcmp(conf->assignors[i].assignor.name, name))
			return true;
	return false; /* a built-in may be replaced */
}

rg_err rg_conf_add_assignor(rg_conf *conf, const rg_assignor *assignor, void *user, rg_error *error)
{
	enum { SIZE_MIN = offsetof(rg_assignor, assign) + sizeof(assignor->assign) };
	struct rg__registered_assignor added = {.user = user}, *grown;

	if (!conf || !assignor || assignor->size < SIZE_MIN)
		return rg__fail(error, RG_ERR_INVALID, "rg_conf_add_assignor: `size` must be sizeof(rg_assignor)");
	memcpy(&added.assignor, assignor, assignor->size < sizeof(*assignor) ? assignor->size : sizeof(*assignor));
	added.assignor.size = sizeof(*assignor);
	if (!assignor->name || !*assignor->name || strlen(assignor->name) > 255)
		return rg__fail(error, RG_ERR_INVALID, "rg_conf_add_assignor: a name of 1 to 255 bytes is needed");
	if (strpbrk(assignor->name, ", \t\r\n"))
		return rg__fail(error, RG_ERR_INVALID,
		                "assignor \"%s\": a name with a comma or a blank cannot be listed in partition.assignment.strategy",
		                assignor->name);
	if (is_taken(conf, assignor->name))
		return rg__fail(error, RG_ERR_INVALID, "assignor \"%s\": the name is taken", assignor->name);
	if (!assignor->assign)
		return rg__fail(error, RG_ERR_INVALID, "assignor \"%s\": there is no `assign`", assignor->name);
	if (!assignor->protocols || assignor->protocols & ~(unsigned)(RG_EAGER | RG_COOPERATIVE))
		return rg__fail(error, RG_ERR_INVALID, "assignor \"%s\": `protocols` must be RG_EAGER, RG_COOPERATIVE or both",
		                assignor->name);
	grown = rg__realloc(conf->assignors, (conf->assignor_count + 1) * sizeof(*grown));
	if (!grown)
		return rg__fail(error, RG_ERR_MEMORY, "assignor \"%s\": out of memory", assignor->name);
	conf->assignors = grown;
	conf->assignors[conf->assignor_count++] = added;
	return RG_OK;
}

void rg_conf_set_log(rg_conf *conf, rg_log_cb *write, void *user)
{
	conf->log = write;
	conf->log_user = user;
}

void rg_conf_set_events(rg_conf *conf, rg_event_cb *write, void *user)
{
	conf->events = write;
	conf->events_user = user;
}

struct rg__stat_conf rg__conf_windows(const rg_conf *conf)
{
	return (struct rg__stat_conf){.sample_us = conf->settings.metrics_sample_window_ms * INT64_C(1000),
	                              .samples = conf->settings.metrics_num_samples};
}

rg_err rg__conf_check_member(const rg_conf *conf, rg_error *error)
{
	const struct rg__settings *is = &conf->settings;

	if (!is->bootstrap_servers)
		return rg__fail(error, RG_ERR_INVALID, "bootstrap.servers: missing: host:port of at least one broker");
	if (!is->group_id)
		return rg__fail(error, RG_ERR_INVALID, "group.id: missing: the name of the group");
	if (is->heartbeat_interval_ms >= is->session_timeout_ms)
		return rg__fail(error, RG_ERR_INVALID,
		                "heartbeat.interval.ms: %d is not accepted: less than session.timeout.ms, which is %d",
		                (int)is->heartbeat_interval_ms, (int)is->session_timeout_ms);
	/* librdkafka refuses it too, and calls it by another name. */
	if (is->reconnect_backoff_ms > is->reconnect_backoff_max_ms)
		return rg__fail(error, RG_ERR_INVALID,
		                "reconnect.backoff.ms: %d is not accepted: at most reconnect.backoff.max.ms, which is %d",
		                (int)is->reconnect_backoff_ms, (int)is->reconnect_backoff_max_ms);
	return RG_OK;
}
