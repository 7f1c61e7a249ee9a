/* SPDX-License-Identifier: Apache-2.0 */
/* Properties: what is accepted, what is refused and with which words, and what reaches librdkafka. */
#include "base/alloc.h"
#include "member/properties.h"
#include "member/settings.h"

#include <check.h>
#include <librdkafka/rdkafka.h>
#include <regroup/conf.h>
#include <stdlib.h>
#include <string.h>

static rg_conf *conf;

static void set_up(void)
{
	conf = rg_conf_new();
	ck_assert_ptr_nonnull(conf);
}

static void tear_down(void)
{
	rg_conf_free(conf);
}

static const char *get(const char *name)
{
	static char value[512];

	ck_assert_msg(rg_conf_get(conf, name, value, sizeof(value), NULL) == RG_OK, "%s cannot be read", name);
	return value;
}

static const char *rdkafka_has(const char *name)
{
	static char value[512];
	size_t size = sizeof(value);

	ck_assert_int_eq(rd_kafka_conf_get(conf->rdkafka, name, value, &size), RD_KAFKA_CONF_OK);
	return value;
}

static void accepts(const char *name, const char *value)
{
	rg_error error = {0};

	ck_assert_msg(rg_conf_set(conf, name, value, &error) == RG_OK, "%s", error.text);
}

static void refuses(const char *name, const char *value, const char *text)
{
	rg_error error = {0};

	ck_assert_int_eq(rg_conf_set(conf, name, value, &error), RG_ERR_INVALID);
	ck_assert_int_eq(error.code, RG_ERR_INVALID);
	ck_assert_str_eq(error.text, text);
}

START_TEST(defaults_are_kafkas)
{
	ck_assert_str_eq(get("session.timeout.ms"), "45000");
	ck_assert_str_eq(get("heartbeat.interval.ms"), "3000");
	ck_assert_str_eq(get("max.poll.interval.ms"), "300000");
	ck_assert_str_eq(get("auto.offset.reset"), "latest");
	ck_assert_str_eq(get("enable.auto.commit"), "true");
	ck_assert_str_eq(get("group.id"), "");
	ck_assert_str_eq(get("metadata.max.age.ms"), "300000");
	/* What both have is the same in both, also where librdkafka's default is another. */
	ck_assert_str_eq(rdkafka_has("metadata.max.age.ms"), "300000");
	ck_assert_str_eq(rdkafka_has("reconnect.backoff.max.ms"), "1000");
	ck_assert_str_eq(rdkafka_has("client.id"), get("client.id"));
}
END_TEST

/* facts/protocol 4: what Kafka's consumer has for a group, and what became of it here: its default, "" for none, or NULL
 * where the property is refused. None is unknown. */
static const struct {
	const char *name, *fallback;
} kafkas[] = {
	{"group.id", ""},
	{"group.instance.id", ""},
	{"group.protocol", "classic"},
	{"group.remote.assignor", NULL},
	{"session.timeout.ms", "45000"},
	{"heartbeat.interval.ms", "3000"},
	{"max.poll.interval.ms", "300000"},
	{"partition.assignment.strategy", "range,cooperative-sticky"},
	{"client.rack", ""},
	{"client.id", "regroup"}, /* Kafka's is made up */
	{"auto.offset.reset", "latest"},
	{"enable.auto.commit", "true"},
	{"auto.commit.interval.ms", "5000"},
	{"retry.backoff.ms", "100"},
	{"retry.backoff.max.ms", "1000"},
	{"reconnect.backoff.ms", "50"},
	{"reconnect.backoff.max.ms", "1000"},
	{"request.timeout.ms", "30000"},
	{"default.api.timeout.ms", "60000"},
	{"metadata.max.age.ms", "300000"},
	{"metadata.recovery.strategy", "rebootstrap"},
	{"metadata.recovery.rebootstrap.trigger.ms", "300000"},
	{"allow.auto.create.topics", "true"},
	{"exclude.internal.topics", "true"},
	{"isolation.level", "read_committed"}, /* librdkafka's; Kafka's is read_uncommitted */
	{"connections.max.idle.ms", "540000"},
	{"socket.connection.setup.timeout.ms", "10000"},
	{"socket.connection.setup.timeout.max.ms", NULL},
	{"client.dns.lookup", "use_all_dns_ips"},
	{"internal.throw.on.fetch.stable.offset.unsupported", "false"},
	{"security.protocol", "PLAINTEXT"},
	{"metrics.sample.window.ms", "30000"},
	{"metrics.num.samples", "2"},
};

START_TEST(every_group_property_of_kafkas_is_known)
{
	for (size_t i = 0; i < sizeof(kafkas) / sizeof(kafkas[0]); i++) {
		rg_error error = {0};

		if (kafkas[i].fallback) {
			ck_assert_str_eq(get(kafkas[i].name), kafkas[i].fallback);
			if (*kafkas[i].fallback)
				accepts(kafkas[i].name, kafkas[i].fallback);
			continue;
		}
		ck_assert_int_eq(rg_conf_set(conf, kafkas[i].name, "1", &error), RG_ERR_INVALID);
		ck_assert_msg(strstr(error.text, ": not accepted: "), "%s", error.text);
	}
}
END_TEST

/* Spelled in capitals or not, as in Kafka. What librdkafka does not know (before 2.11) it is not asked for. */
START_TEST(choices)
{
	size_t size = 0;

	accepts("metadata.recovery.strategy", "NONE");
	ck_assert_str_eq(get("metadata.recovery.strategy"), "none");
	ck_assert_int_eq(conf->settings.recovery_strategy, RG__RECOVERY_NONE);
	refuses("metadata.recovery.strategy", "again",
	        "metadata.recovery.strategy: \"again\" is not accepted: none or rebootstrap");
	ck_assert_int_eq(conf->settings.recovery_strategy, RG__RECOVERY_NONE);
	if (rd_kafka_conf_get(conf->rdkafka, "metadata.recovery.strategy", NULL, &size) == RD_KAFKA_CONF_OK)
		ck_assert_str_eq(rdkafka_has("metadata.recovery.strategy"), "none");
	accepts("connections.max.idle.ms", "0");
	ck_assert_str_eq(rdkafka_has("connections.max.idle.ms"), "0");
}
END_TEST

/* Every row of the table can be written and read back; numbers hold at both ends of their range, and not beyond. */
START_TEST(every_property_keeps_its_range)
{
	for (size_t i = 0; i < rg__property_count; i++) {
		const struct rg__property *property = &rg__properties[i];
		char value[32];
		rg_error error;

		if (property->type != RG__PROPERTY_INT)
			continue;
		snprintf(value, sizeof(value), "%d", (int)property->min);
		accepts(property->name, value);
		ck_assert_str_eq(get(property->name), value);
		snprintf(value, sizeof(value), "%d", (int)property->max);
		accepts(property->name, value);
		ck_assert_str_eq(get(property->name), value);
		if (property->both)
			ck_assert_str_eq(rdkafka_has(property->name), value);
		snprintf(value, sizeof(value), "%lld", (long long)property->min - 1);
		ck_assert_int_eq(rg_conf_set(conf, property->name, value, &error), RG_ERR_INVALID);
		ck_assert_ptr_eq(strstr(error.text, property->name), error.text);
		snprintf(value, sizeof(value), "%lld", (long long)property->max + 1);
		ck_assert_int_eq(rg_conf_set(conf, property->name, value, &error), RG_ERR_INVALID);
		snprintf(value, sizeof(value), "%d", (int)property->max);
		ck_assert_str_eq(get(property->name), value);
	}
}
END_TEST

START_TEST(refusals_name_property_value_and_what_is_accepted)
{
	refuses("session.timeout.ms", "soon",
	        "session.timeout.ms: \"soon\" is not accepted: a whole number from 1 to 2147483647");
	refuses("session.timeout.ms", "", "session.timeout.ms: \"\" is not accepted: a whole number from 1 to 2147483647");
	refuses("session.timeout.ms", "10s",
	        "session.timeout.ms: \"10s\" is not accepted: a whole number from 1 to 2147483647");
	refuses("enable.auto.commit", "yes", "enable.auto.commit: \"yes\" is not accepted: true or false");
	refuses("auto.offset.reset", "by_duration:1d",
	        "auto.offset.reset: \"by_duration:1d\" is not accepted: latest, earliest, none, or by_duration: with a "
	        "duration like P7DT12H");
	refuses("group.id", "", "group.id: \"\" is not accepted: it must not be empty");
	refuses("group.instance.id", "a b",
	        "group.instance.id: \"a b\" is not accepted: letters, digits, '.', '_' and '-', and neither \".\" nor \"..\"");
	refuses("partition.assignment.strategy", "range,,x",
	        "partition.assignment.strategy: \"range,,x\" is not accepted: names of assignors, separated by commas");
	refuses("no.such.thing", "1", "no.such.thing: there is no such property");
	refuses("bootstrap.servers", "broker:http",
	        "bootstrap.servers: \"broker:http\": the port must be a number from 1 to 65535");
	refuses("security.protocol", "SSL",
	        "security.protocol: \"SSL\" is not accepted: PLAINTEXT, "
	        "since the group's own connections speak neither TLS nor SASL");
	refuses("group.protocol", "consumer",
	        "group.protocol: \"consumer\" is not accepted: classic, since KIP-848 groups are not supported");
	refuses("enable.auto.offset.store", "true",
	        "enable.auto.offset.store: not accepted: regroup commits the positions of the records it has returned");
	refuses("client.id", NULL, "client.id: no value");
	/* librdkafka's. It does not say itself what it would accept, or not always. */
	refuses("fetch.min.bytes", "many", "fetch.min.bytes: \"many\" is not accepted: a number from 1 to 100000000");
	refuses("fetch.min.bytes", "0", "fetch.min.bytes: \"0\" is not accepted: a number from 1 to 100000000");
	refuses("isolation.level", "all", "isolation.level: \"all\" is not accepted: read_uncommitted, read_committed");
}
END_TEST

START_TEST(a_refused_value_changes_nothing)
{
	rg_error error;

	accepts("bootstrap.servers", "a:1");
	ck_assert_int_eq(rg_conf_set(conf, "bootstrap.servers", "a:b:c:", &error), RG_ERR_INVALID);
	ck_assert_str_eq(get("bootstrap.servers"), "a:1");
	ck_assert_str_eq(rdkafka_has("bootstrap.servers"), "a:1");
	ck_assert_int_eq(rg_conf_set(conf, "fetch.min.bytes", "many", &error), RG_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(error.text, "fetch.min.bytes"));
	ck_assert_str_eq(get("fetch.min.bytes"), "1");
	/* librdkafka takes the flags in front of one that it does not know. */
	accepts("debug", "topic");
	ck_assert_int_eq(rg_conf_set(conf, "debug", "broker,nonsense", &error), RG_ERR_INVALID);
	ck_assert_str_eq(get("debug"), "topic");
}
END_TEST

/* KIP-1106; the texts are those that Java's Duration.parse takes and refuses, but for negative ones, which Kafka
 * refuses. */
START_TEST(durations)
{
	static const struct {
		const char *text;
		int64_t ms;
		const char *back;
	} good[] = {
		{"P1D", 86400000, "PT86400S"},     {"PT1H", 3600000, "PT3600S"},      {"PT90M", 5400000, "PT5400S"},
		{"PT0.5S", 500, "PT0.5S"},         {"P2DT3H4M5.678S", 183845678, "PT183845.678S"},
		{"pt1h30m", 5400000, "PT5400S"},   {"PT0S", 0, "PT0S"},               {"P0D", 0, "PT0S"},
		{"PT1.0019S", 1001, "PT1.001S"},   {"PT1.S", 1000, "PT1S"},           {"PT1,5S", 1500, "PT1.5S"},
		{"P1000000D", INT64_C(86400000000000), "PT86400000000S"},             {"PT1M0.050S", 60050, "PT60.05S"},
	};
	static const char *const bad[] = {
		"",     "P",      "PT",      "P1",     "1D",    "P1DT",   "PT1",      "PT1D",  "P1H",     "P1M",
		"P1Y",  "P1W",    "PT1M1H",  "PT1S1M", "P-1D",  "-P1D",   "P1D ",     " P1D",  "PT1H1H",  "P1.5D",
		"PTS",  "PT.5S",  "P1000001D", "PT99999999999999999999S", "P1DT1",    "P1D1D", "PT1.5M",  "PT1HT1M",
	};
	char value[96], back[96];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(value, sizeof(value), "by_duration:%s", good[i].text);
		snprintf(back, sizeof(back), "by_duration:%s", good[i].back);
		accepts("auto.offset.reset", value);
		ck_assert_int_eq(conf->settings.auto_offset_reset, RG__RESET_BY_DURATION);
		ck_assert_msg(conf->settings.auto_offset_reset_ms == good[i].ms, "%s", value);
		ck_assert_str_eq(get("auto.offset.reset"), back);
		accepts("auto.offset.reset", back); /* what is given back is understood */
		ck_assert_str_eq(rdkafka_has("auto.offset.reset"), "error");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rg_error error = {0};

		snprintf(value, sizeof(value), "by_duration:%s", bad[i]);
		ck_assert_msg(rg_conf_set(conf, "auto.offset.reset", value, &error) == RG_ERR_INVALID, "%s", value);
	}
	ck_assert_int_eq(conf->settings.auto_offset_reset_ms, 60050); /* refused ones change nothing */
}
END_TEST

START_TEST(properties_go_where_they_belong)
{
	accepts("metadata.broker.list", "one:9092,two"); /* librdkafka's name */
	ck_assert_str_eq(get("bootstrap.servers"), "one:9092,two");
	ck_assert_str_eq(rdkafka_has("bootstrap.servers"), "one:9092,two");
	accepts("session.timeout.ms", "7000");
	ck_assert_int_eq(conf->settings.session_timeout_ms, 7000);
	ck_assert_str_eq(rdkafka_has("session.timeout.ms"), "45000"); /* regroup's alone */
	accepts("auto.offset.reset", "none");
	ck_assert_int_eq(conf->settings.auto_offset_reset, RG__RESET_NONE);
	ck_assert_str_eq(rdkafka_has("auto.offset.reset"), "error");
	accepts("auto.offset.reset", "smallest");
	ck_assert_str_eq(get("auto.offset.reset"), "earliest");
	accepts("fetch.min.bytes", "17");
	ck_assert_str_eq(get("fetch.min.bytes"), "17");
	accepts("client.rack", "r1");
	accepts("client.rack", "");
	ck_assert_ptr_null(conf->settings.client_rack);
	accepts("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RoundRobinAssignor, range");
}
END_TEST

START_TEST(secrets_are_not_given_back)
{
	static const char *const names[] = {"sasl.password", "ssl.key.password", "ssl.key.pem", "sasl.oauthbearer.config",
	                                    "sasl.oauthbearer.client.secret", "sasl.jaas.config", "sasl.passwrod"};
	char value[64];
	rg_error error = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_int_eq(rg_conf_set(conf, names[i], "you:hunter2@there", &error), RG_ERR_INVALID);
		ck_assert_msg(!strstr(error.text, "hunter2"), "%s", error.text);
		ck_assert_int_eq(rg_conf_get(conf, names[i], value, sizeof(value), NULL), RG_ERR_INVALID);
	}
	/* Not a secret by its name. */
	ck_assert_int_eq(rg_conf_set(conf, "bootstrap.servers", "you:hunter2@there:9092", &error), RG_ERR_INVALID);
	ck_assert_msg(!strstr(error.text, "hunter2"), "%s", error.text);
	ck_assert_int_eq(rg_conf_set(conf, "debug", "http://you:hunter2@there", &error), RG_ERR_INVALID);
	ck_assert_msg(!strstr(error.text, "hunter2"), "%s", error.text);
}
END_TEST

/* "Nothing is accepted that has no effect": librdkafka's own list says which of its properties are a producer's, which are
 * callbacks, and which belong to encryption. */
START_TEST(what_librdkafka_could_not_do_for_a_consumer_is_refused)
{
	char line[4096], name[128], whose[8];
	FILE *list = tmpfile();
	int producers = 0, callbacks = 0;
	rg_error error;

	ck_assert_ptr_nonnull(list);
	rd_kafka_conf_properties_show(list);
	rewind(list);
	while (fgets(line, sizeof(line), list)) {
		bool producer, callback;

		if (sscanf(line, "%127[a-zA-Z0-9._] | %7[CP*] |", name, whose) != 2 || !strcmp(name, "Property"))
			continue;
		producer = !strcmp(whose, "P") && !rg__property_find(name);
		callback = strlen(name) > 3 && !strcmp(name + strlen(name) - 3, "_cb");
		producers += producer;
		callbacks += callback;
		if (!producer && !callback && strncmp(name, "ssl", 3) != 0 && strncmp(name, "sasl", 4) != 0)
			continue;
		ck_assert_msg(rg__property_refused(name), "%s is accepted", name);
		ck_assert_int_eq(rg_conf_set(conf, name, "1", &error), RG_ERR_INVALID);
	}
	fclose(list);
	ck_assert_int_gt(producers, 20);
	ck_assert_int_gt(callbacks, 10);
	refuses("statistics.interval.ms", "10",
	        "statistics.interval.ms: not accepted: nobody would get librdkafka's statistics; see rg_consumer_status() and "
	        "rg_consumer_metrics()");
	refuses("linger.ms", "5", "linger.ms: not accepted: it is a property of producers");
	refuses("sasl.username", "me", "sasl.username: not accepted: the group's own connections speak neither TLS nor SASL");
	/* What only resembles them is. */
	accepts("fetch.min.bytes", "2");
	accepts("message.max.bytes", "2000000");
	accepts("socket.keepalive.enable", "true");
	accepts("isolation.level", "read_uncommitted");
}
END_TEST

/* librdkafka's texts may end their line. */
START_TEST(refusals_are_one_line)
{
	rg_error error;

	ck_assert_int_eq(rg_conf_set(conf, "fetch.wait.max.ms", "-5", &error), RG_ERR_INVALID);
	ck_assert_msg(!strchr(error.text, '\n') && strstr(error.text, "-5"), "%s", error.text);
	ck_assert_int_eq(rg_conf_set(conf, "no\nsuch", "1", &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "no such: there is no such property");
}
END_TEST

START_TEST(get_tells_the_room_it_needs)
{
	char value[4] = "abc";
	size_t needs = 0;

	ck_assert_int_eq(rg_conf_get(conf, "session.timeout.ms", value, sizeof(value), &needs), RG_ERR_INVALID);
	ck_assert_uint_eq(needs, sizeof("45000"));
	ck_assert_str_eq(value, "abc");
	ck_assert_int_eq(rg_conf_get(conf, "no.such.thing", value, sizeof(value), NULL), RG_ERR_INVALID);
}
END_TEST

static rg_err assign_nothing(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	(void)group, (void)plan, (void)error, (void)user;
	return RG_OK;
}

START_TEST(assignors_are_checked_when_they_are_added)
{
	rg_assignor assignor = {.size = sizeof(assignor), .name = "mine", .protocols = RG_EAGER, .assign = assign_nothing};
	rg_error error;

	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_OK);
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "assignor \"mine\": the name is taken");
	/* In the place of a built-in, which it may well call. */
	assignor.name = "range";
	ck_assert_ptr_nonnull(rg_assignor_builtin("range"));
	ck_assert_ptr_null(rg_assignor_builtin("nonesuch"));
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_OK);
	assignor.name = "a,b";
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	assignor.name = "";
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	assignor.name = "other";
	assignor.protocols = 4;
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	assignor.protocols = RG_COOPERATIVE;
	assignor.assign = NULL;
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "assignor \"other\": there is no `assign`");
	assignor.size = 3;
	ck_assert_int_eq(rg_conf_add_assignor(conf, &assignor, NULL, &error), RG_ERR_INVALID);
	ck_assert_uint_eq(conf->assignor_count, 2);
}
END_TEST

START_TEST(the_whole_is_checked_for_members)
{
	rg_error error;

	ck_assert_int_eq(rg__conf_check_member(conf, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "bootstrap.servers: missing: host:port of at least one broker");
	accepts("bootstrap.servers", "a");
	ck_assert_int_eq(rg__conf_check_member(conf, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "group.id: missing: the name of the group");
	accepts("group.id", "g");
	ck_assert_int_eq(rg__conf_check_member(conf, &error), RG_OK);
	accepts("heartbeat.interval.ms", "45000");
	ck_assert_int_eq(rg__conf_check_member(conf, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text,
	                 "heartbeat.interval.ms: 45000 is not accepted: less than session.timeout.ms, which is 45000");
}
END_TEST

START_TEST(a_copy_stands_alone)
{
	rg_conf *copy;

	accepts("group.id", "g");
	accepts("fetch.min.bytes", "9");
	copy = rg__conf_dup(conf);
	ck_assert_ptr_nonnull(copy);
	accepts("group.id", "other");
	accepts("fetch.min.bytes", "10");
	ck_assert_str_eq(copy->settings.group_id, "g");
	rg_conf_free(conf);
	conf = copy;
	ck_assert_str_eq(get("fetch.min.bytes"), "9");
}
END_TEST

/* Whichever allocation fails, the call says so, nothing is half set and nothing leaks. */
START_TEST(memory_may_run_out_anywhere)
{
	accepts("bootstrap.servers", "a:1");
	for (long n = 1;; n++) {
		rg_error error = {0};
		rg_conf *copy;
		rg_err err;

		rg__alloc_fail_after(n);
		err = rg_conf_set(conf, "bootstrap.servers", "b:2", &error);
		copy = err ? NULL : rg__conf_dup(conf);
		if (!copy) {
			ck_assert_int_le(rg__alloc_fail_after(0), 0);
			if (err) {
				ck_assert_int_eq(err, RG_ERR_MEMORY);
				ck_assert_str_eq(get("bootstrap.servers"), "a:1");
				ck_assert_str_eq(rdkafka_has("bootstrap.servers"), "a:1");
			}
			continue;
		}
		ck_assert_int_gt(rg__alloc_fail_after(0), 0);
		ck_assert_int_gt(n, 3);
		rg_conf_free(copy);
		break;
	}
	for (long n = 1;; n++) {
		rg_conf *fresh;

		rg__alloc_fail_after(n);
		fresh = rg_conf_new();
		if (rg__alloc_fail_after(0) > 0) {
			rg_conf_free(fresh);
			break;
		}
		ck_assert_ptr_null(fresh);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conf");
	TCase *tcase = tcase_create("conf");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, defaults_are_kafkas);
	tcase_add_test(tcase, every_group_property_of_kafkas_is_known);
	tcase_add_test(tcase, choices);
	tcase_add_test(tcase, every_property_keeps_its_range);
	tcase_add_test(tcase, refusals_name_property_value_and_what_is_accepted);
	tcase_add_test(tcase, a_refused_value_changes_nothing);
	tcase_add_test(tcase, durations);
	tcase_add_test(tcase, properties_go_where_they_belong);
	tcase_add_test(tcase, secrets_are_not_given_back);
	tcase_add_test(tcase, what_librdkafka_could_not_do_for_a_consumer_is_refused);
	tcase_add_test(tcase, refusals_are_one_line);
	tcase_add_test(tcase, get_tells_the_room_it_needs);
	tcase_add_test(tcase, assignors_are_checked_when_they_are_added);
	tcase_add_test(tcase, the_whole_is_checked_for_members);
	tcase_add_test(tcase, a_copy_stands_alone);
	tcase_add_test(tcase, memory_may_run_out_anywhere);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
