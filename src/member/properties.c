/* SPDX-License-Identifier: Apache-2.0 */
#include "member/properties.h"

#include "assign/builtin.h"
#include "base/alloc.h"
#include "base/error.h"
#include "link/bootstrap.h"
#include "member/duration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { STRING_MAX = INT16_MAX }; /* broker: a string's length on the wire */

/* --- Rules of single strings -------------------------------------------------------------------------------------- */

static rg_err check_servers(const char *value, rg_error *error)
{
	struct rg__endpoint *endpoints;
	size_t count;
	rg_err err = rg__bootstrap_parse(value, &endpoints, &count, error);

	if (!err)
		rg__free(endpoints);
	return err;
}

/* broker: an instance id obeys the rules of topic names, since it becomes part of a member id (KIP-345). */
static rg_err check_instance_id(const char *value, rg_error *error)
{
	static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (value[strspn(value, legal)] || !strcmp(value, ".") || !strcmp(value, ".."))
		return rg__fail(error, RG_ERR_INVALID,
		                "group.instance.id: \"%s\" is not accepted: letters, digits, '.', '_' and '-', and neither "
		                "\".\" nor \"..\"",
		                value);
	return RG_OK;
}

/* Whether the names mean anything is for the consumer to say: assignors may be registered later. */
static rg_err check_strategy(const char *value, rg_error *error)
{
	static const char blanks[] = " \t\r\n";

	for (const char *at = value;; at++) {
		size_t len = strcspn(at, ",");

		if (strspn(at, blanks) >= len)
			return rg__fail(error, RG_ERR_INVALID,
			                "partition.assignment.strategy: \"%s\" is not accepted: names of assignors, separated by "
			                "commas",
			                value);
		at += len;
		if (!*at)
			return RG_OK;
	}
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct rg__settings, field)
#define OURS false
#define BOTH true

#define STRING(name, whose, min, max, fallback, field, check) \
	{name, RG__PROPERTY_STRING, whose, false, min, max, fallback, AT(field), check, NULL, NULL}
#define INT(name, whose, min, max, fallback, field) \
	{name, RG__PROPERTY_INT, whose, false, min, max, fallback, AT(field), NULL, NULL, NULL}
#define BOOL(name, whose, fallback, field) {name, RG__PROPERTY_BOOL, whose, false, 0, 1, fallback, AT(field), NULL, NULL, NULL}
/* What only newer versions of librdkafka have, too. */
#define NEWER_CHOICE(name, choices, fallback, field) \
	{name, RG__PROPERTY_CHOICE, OURS, true, 0, 0, fallback, AT(field), NULL, NULL, choices}
#define NEWER_INT(name, min, max, fallback, field) \
	{name, RG__PROPERTY_INT, OURS, true, min, max, fallback, AT(field), NULL, NULL, NULL}
#define FIXED(name, value, note) {name, RG__PROPERTY_FIXED, OURS, false, 0, 0, value, 0, NULL, note, NULL}

static const char *const recoveries[] = {"none", "rebootstrap", NULL}; /* enum rg__recovery */

static const char no_tls[] = "the group's own connections speak neither TLS nor SASL";

/* Defaults are Kafka's, also where librdkafka's differ. Ranges of what both have are inside librdkafka's. */
const struct rg__property rg__properties[] = {
	STRING("bootstrap.servers", BOTH, 1, INT32_MAX, NULL, bootstrap_servers, check_servers),
	STRING("client.id", BOTH, 0, STRING_MAX, "regroup", client_id, NULL),
	INT("request.timeout.ms", OURS, 1, INT32_MAX, "30000", request_timeout_ms),
	INT("socket.connection.setup.timeout.ms", BOTH, 1000, INT32_MAX, "10000", connect_timeout_ms),
	INT("reconnect.backoff.ms", BOTH, 1, 3600000, "50", reconnect_backoff_ms),
	INT("reconnect.backoff.max.ms", BOTH, 1, 3600000, "1000", reconnect_backoff_max_ms),
	INT("retry.backoff.ms", OURS, 1, 300000, "100", retry_backoff_ms),
	INT("retry.backoff.max.ms", OURS, 1, 300000, "1000", retry_backoff_max_ms),
	/* librdkafka: 512 above fetch.max.bytes, which is no less than message.max.bytes, and that is 1000 at least. */
	INT("receive.message.max.bytes", BOTH, 1512, INT32_MAX, "104857600", frame_limit),
	INT("metadata.max.age.ms", BOTH, 1, 86400000, "300000", metadata_max_age_ms),
	NEWER_CHOICE("metadata.recovery.strategy", recoveries, "rebootstrap", recovery_strategy),
	NEWER_INT("metadata.recovery.rebootstrap.trigger.ms", 0, INT32_MAX, "300000", rebootstrap_trigger_ms),
	INT("connections.max.idle.ms", BOTH, 0, INT32_MAX, "540000", connections_max_idle_ms),
	BOOL("allow.auto.create.topics", BOTH, "true", allow_auto_create_topics),
	BOOL("exclude.internal.topics", OURS, "true", exclude_internal_topics),
	STRING("group.id", BOTH, 1, STRING_MAX, NULL, group_id, NULL),
	STRING("group.instance.id", OURS, 1, 249, NULL, group_instance_id, check_instance_id),
	STRING("client.rack", BOTH, 0, STRING_MAX, NULL, client_rack, NULL),
	STRING("partition.assignment.strategy", OURS, 1, INT32_MAX, NULL, partition_assignment_strategy, check_strategy),
	INT("session.timeout.ms", OURS, 1, INT32_MAX, "45000", session_timeout_ms),
	INT("heartbeat.interval.ms", OURS, 1, INT32_MAX, "3000", heartbeat_interval_ms),
	INT("group.heartbeat.budget", OURS, 0, 1000000, "50", heartbeat_budget),
	INT("group.member.capacity", OURS, 1, RG__CAPACITY_MAX, "1", member_capacity),
	INT("max.poll.interval.ms", OURS, 1, INT32_MAX, "300000", max_poll_interval_ms),
	BOOL("enable.auto.commit", OURS, "true", enable_auto_commit),
	INT("auto.commit.interval.ms", OURS, 1, INT32_MAX, "5000", auto_commit_interval_ms),
	INT("default.api.timeout.ms", OURS, 1, INT32_MAX, "60000", default_api_timeout_ms),
	{"auto.offset.reset", RG__PROPERTY_RESET, BOTH, false, 0, 0, "latest", AT(auto_offset_reset), NULL, NULL, NULL},
	INT("metrics.sample.window.ms", OURS, 1, 86400000, "30000", metrics_sample_window_ms),
	INT("metrics.num.samples", OURS, 1, RG__STAT_SAMPLES_MAX, "2", metrics_num_samples),
	/* A connection that is meant to be encrypted must never be opened in the clear. */
	FIXED("security.protocol", "PLAINTEXT", no_tls),
	FIXED("client.dns.lookup", "use_all_dns_ips", "all addresses of a name are tried, and names are taken as they are"),
	FIXED("internal.throw.on.fetch.stable.offset.unsupported", "false",
	      "brokers that cannot tell stable offsets are asked for what they have"),
	FIXED("group.protocol", "classic", "KIP-848 groups are not supported"),
};
const size_t rg__property_count = sizeof(rg__properties) / sizeof(rg__properties[0]);

static const struct {
	const char *alias, *name;
} aliases[] = {
	{"metadata.broker.list", "bootstrap.servers"},
};

static const struct {
	const char *name, *rdkafka;
	enum rg__reset reset;
} resets[] = {
	/* The first spelling of a value is Kafka's. */
	{"latest", "latest", RG__RESET_LATEST},       {"earliest", "earliest", RG__RESET_EARLIEST},
	{"none", "error", RG__RESET_NONE},            {"largest", "latest", RG__RESET_LATEST},
	{"end", "latest", RG__RESET_LATEST},          {"smallest", "earliest", RG__RESET_EARLIEST},
	{"beginning", "earliest", RG__RESET_EARLIEST}, {"error", "error", RG__RESET_NONE},
};
enum { RESETS = sizeof(resets) / sizeof(resets[0]) };

static const char by_duration[] = "by_duration:"; /* KIP-1106 */

static const char producers[] = "it is a property of producers";

/* librdkafka's that would have no effect, or another than they say. A '*' stands for the rest, or for what is in front. */
static const struct {
	const char *name, *why;
} refused[] = {
	{"enable.auto.offset.store", "regroup commits the positions of the records it has returned"},
	{"auto.commit.enable", "the name is enable.auto.commit"},
	{"offset.store.method", "offsets are stored with the group"},
	{"offset.store.path", "offsets are stored with the group"},
	{"offset.store.sync.interval.ms", "offsets are stored with the group"},
	{"group.protocol.type", "a consumer's is \"consumer\""},
	{"group.remote.assignor", "KIP-848 groups are not supported"},
	{"socket.connection.setup.timeout.max.ms", "each attempt may take socket.connection.setup.timeout.ms, also after failures"},
	{"coordinator.query.interval.ms", "regroup looks the coordinator up when it needs it"},
	{"*_cb", "librdkafka's callbacks are regroup's own; there are the listener, rg_conf_set_log() and what poll returns"},
	{"opaque", "callbacks get the pointer that is given with them"},
	{"default_topic_conf", "properties of topics are set like all others"},
	{"interceptors", "librdkafka sets it itself, for plugin.library.paths"},
	{"statistics.interval.ms", "nobody would get librdkafka's statistics; see rg_consumer_status() and rg_consumer_metrics()"},
	{"enabled_events", "librdkafka's events come out of poll, as messages with an error"},
	{"log.queue", "log lines go to rg_conf_set_log()"},
	{"consume.callback.max.messages", "there is no such callback: see rg_consumer_poll_batch()"},
	{"test.mock.*", "the group would not find librdkafka's own cluster; regroup-testkit has one"},
	{"ssl.*", no_tls},
	{"ssl_*", no_tls},
	{"enable.ssl.*", no_tls},
	{"sasl.*", no_tls},
	{"enable.sasl.*", no_tls},
	{"acks", producers},
	{"batch.num.messages", producers},
	{"batch.size", producers},
	{"compression.*", producers},
	{"delivery.*", producers},
	{"enable.gapless.guarantee", producers},
	{"enable.idempotence", producers},
	{"linger.ms", producers},
	{"message.send.max.retries", producers},
	{"message.timeout.ms", producers},
	{"msg_order_cmp", producers},
	{"partitioner", producers},
	{"produce.offset.report", producers},
	{"queue.buffering.*", producers},
	{"queuing.strategy", producers},
	{"request.required.acks", producers},
	{"retries", producers},
	{"sticky.partitioning.linger.ms", producers},
	{"transaction.timeout.ms", producers},
	{"transactional.id", producers},
};

static bool fits(const char *pattern, const char *name)
{
	size_t len = strlen(name), fixed = strlen(pattern) - 1;

	if (pattern[0] == '*')
		return len > fixed && !strcmp(name + len - fixed, pattern + 1);
	if (pattern[fixed] == '*')
		return !strncmp(name, pattern, fixed);
	return !strcmp(name, pattern);
}

/* Properties that hold a secret: all whose names say so, and these. */
static const char *const secrets[] = {"ssl.key.pem", "sasl.oauthbearer.config", "ssl_key"};

/* --- Functions ---------------------------------------------------------------------------------------------------- */

bool rg__property_has_secret(const char *value)
{
	const char *colon = strchr(value, ':');

	return colon && strchr(colon, '@');
}

const struct rg__property *rg__property_find(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(name, aliases[i].alias))
			name = aliases[i].name;
	for (size_t i = 0; i < rg__property_count; i++)
		if (!strcmp(name, rg__properties[i].name))
			return &rg__properties[i];
	return NULL;
}

const char *rg__property_default(const struct rg__property *property)
{
	if (property->at == AT(partition_assignment_strategy))
		return rg__builtin_find("cooperative-sticky") ? "range,cooperative-sticky" : "range"; /* Java's since 3.0 */
	return property->fallback;
}

const char *rg__property_refused(const char *name)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (fits(refused[i].name, name))
			return refused[i].why;
	return NULL;
}

bool rg__property_is_secret(const char *name)
{
	if (strstr(name, "password") || strstr(name, "secret") || strstr(name, "jaas"))
		return true;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (!strcmp(name, secrets[i]))
			return true;
	return false;
}

static void *place(const struct rg__property *property, struct rg__settings *settings)
{
	return (char *)settings + property->at;
}

static const void *const_place(const struct rg__property *property, const struct rg__settings *settings)
{
	return (const char *)settings + property->at;
}

static rg_err set_string(const struct rg__property *property, struct rg__settings *settings, const char *value,
                         rg_error *error)
{
	char **at = place(property, settings);
	size_t len = strlen(value);
	char *copy = NULL;
	rg_err err;

	if (len < (size_t)property->min)
		return rg__fail(error, RG_ERR_INVALID, "%s: \"\" is not accepted: it must not be empty", property->name);
	if (len > (size_t)property->max)
		return rg__fail(error, RG_ERR_INVALID, "%s: a value of %zu bytes is not accepted: at most %d", property->name,
		                len, (int)property->max);
	if (property->check && (err = property->check(value, error)))
		return err;
	if (len && !(copy = rg__strdup(value)))
		return rg__fail(error, RG_ERR_MEMORY, "%s: out of memory", property->name);
	rg__free(*at);
	*at = copy;
	return RG_OK;
}

static rg_err set_int(const struct rg__property *property, struct rg__settings *settings, const char *value,
                      rg_error *error)
{
	int32_t *at = place(property, settings);
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (end == value || *end || errno || number < property->min || number > property->max)
		return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: a whole number from %d to %d", property->name,
		                value, (int)property->min, (int)property->max);
	*at = (int32_t)number;
	return RG_OK;
}

static rg_err set_bool(const struct rg__property *property, struct rg__settings *settings, const char *value,
                       rg_error *error)
{
	bool *at = place(property, settings);

	if (!strcasecmp(value, "true"))
		*at = true;
	else if (!strcasecmp(value, "false"))
		*at = false;
	else
		return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: true or false", property->name, value);
	return RG_OK;
}

static rg_err set_choice(const struct rg__property *property, struct rg__settings *settings, const char *value,
                         rg_error *error)
{
	int32_t *at = place(property, settings);
	char all[128] = "";
	size_t len = 0;

	for (int32_t i = 0; property->choices[i]; i++)
		if (!strcasecmp(value, property->choices[i])) {
			*at = i;
			return RG_OK;
		}
	for (int32_t i = 0; property->choices[i] && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? " or " : "", property->choices[i]);
	return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: %s", property->name, value, all);
}

static rg_err set_reset(const struct rg__property *property, struct rg__settings *settings, const char *value,
                        rg_error *error)
{
	enum rg__reset *at = place(property, settings);

	for (int i = 0; i < RESETS; i++)
		if (!strcmp(value, resets[i].name)) {
			*at = resets[i].reset;
			return RG_OK;
		}
	if (!strncmp(value, by_duration, strlen(by_duration)) &&
	    rg__duration_read(value + strlen(by_duration), &settings->auto_offset_reset_ms)) {
		*at = RG__RESET_BY_DURATION;
		return RG_OK;
	}
	return rg__fail(error, RG_ERR_INVALID,
	                "%s: \"%s\" is not accepted: latest, earliest, none, or by_duration: with a duration like P7DT12H",
	                property->name, value);
}

rg_err rg__property_set(const struct rg__property *property, struct rg__settings *settings, const char *value,
                        rg_error *error)
{
	switch (property->type) {
	case RG__PROPERTY_STRING:
		return set_string(property, settings, value, error);
	case RG__PROPERTY_INT:
		return set_int(property, settings, value, error);
	case RG__PROPERTY_BOOL:
		return set_bool(property, settings, value, error);
	case RG__PROPERTY_CHOICE:
		return set_choice(property, settings, value, error);
	case RG__PROPERTY_RESET:
		return set_reset(property, settings, value, error);
	case RG__PROPERTY_FIXED:
		break;
	}
	if (strcasecmp(value, property->fallback) != 0)
		return rg__fail(error, RG_ERR_INVALID, "%s: \"%s\" is not accepted: %s, since %s", property->name, value,
		                property->fallback, property->note);
	return RG_OK;
}

static const char *reset_name(enum rg__reset reset)
{
	for (int i = 0; i < RESETS; i++)
		if (resets[i].reset == reset)
			return resets[i].name;
	return "";
}

bool rg__property_print(const struct rg__property *property, const struct rg__settings *settings, struct rg__buf *out)
{
	const void *at = const_place(property, settings);

	switch (property->type) {
	case RG__PROPERTY_STRING: {
		const char *text = *(char *const *)at;

		return rg__buf_append_str(out, text ? text : "");
	}
	case RG__PROPERTY_INT:
		return rg__buf_printf(out, "%d", (int)*(const int32_t *)at);
	case RG__PROPERTY_BOOL:
		return rg__buf_append_str(out, *(const bool *)at ? "true" : "false");
	case RG__PROPERTY_CHOICE:
		return rg__buf_append_str(out, property->choices[*(const int32_t *)at]);
	case RG__PROPERTY_RESET:
		if (*(const enum rg__reset *)at == RG__RESET_BY_DURATION)
			return rg__buf_append_str(out, by_duration) && rg__duration_print(settings->auto_offset_reset_ms, out);
		return rg__buf_append_str(out, reset_name(*(const enum rg__reset *)at));
	case RG__PROPERTY_FIXED:
		break;
	}
	return rg__buf_append_str(out, property->fallback);
}

const char *rg__property_rdkafka_value(const struct rg__property *property, const char *value)
{
	if (property->type == RG__PROPERTY_BOOL)
		return !strcasecmp(value, "true") ? "true" : "false";
	if (property->type == RG__PROPERTY_CHOICE)
		for (int32_t i = 0; property->choices[i]; i++)
			if (!strcasecmp(value, property->choices[i]))
				return property->choices[i];
	if (property->type == RG__PROPERTY_RESET && !strncmp(value, by_duration, strlen(by_duration)))
		return "error"; /* librdkafka does not know it: what it cannot find, it tells */
	if (property->type == RG__PROPERTY_RESET)
		for (int i = 0; i < RESETS; i++)
			if (!strcmp(value, resets[i].name))
				return resets[i].rdkafka;
	return value;
}
