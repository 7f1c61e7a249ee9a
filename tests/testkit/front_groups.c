/* SPDX-License-Identifier: Apache-2.0 */
/* Those who look on: DescribeGroups and ListGroups, by hand in every version and as librdkafka asks. */
#include "base/alloc.h"
#include "client.h"
#include "codec/describe_groups.h"
#include "codec/list_groups.h"
#include "codec/offset_commit.h"
#include "codec/txn_offset_commit.h"
#include "suite.h"
#include "testkit/group_coordinator.h"

#include <librdkafka/rdkafka.h>
#include <regroup/testkit.h>
#include <string.h>

typedef struct rg__describe_groups_response_group described_group;
typedef struct rg__describe_groups_response_group_member described_member;
typedef struct rg__list_groups_response_group listed_group;

enum { DESCRIBE_LAST = 6, LIST_LAST = 5 };

static rg_testkit *kit;

static void start(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:3";
	conf.broker_count = 2;
	ck_assert_msg(!rg_testkit_new(&kit, &conf, &error), "%s", error.text);
}

static void end(void)
{
	rg_testkit_free(kit);
	kit = NULL;
}

static void coordinate(const char *group, int32_t broker)
{
	ck_assert(!rg_testkit_move_coordinator(kit, group, broker, true, 0, NULL));
}

/* A group of one, which is Stable. */
static void seat_settled(struct seat *seat, const char *group, int32_t broker)
{
	coordinate(group, broker);
	seat_open(seat, rg_testkit_port(kit, broker));
	seat_join(seat, group);
	seat_sync(seat, group, "share");
	ck_assert_int_eq(seat->error, 0);
}

static const described_group *describe(struct client *client, int version, const char *group)
{
	struct rg__bytes name = rg__bytes_of(group);
	struct rg__describe_groups_request request;
	const struct rg__describe_groups_response *answer;

	rg__fields_init(&rg__describe_groups_request_fields, &request);
	request.groups = (struct rg__array){&name, 1};
	answer = client_ask(client, RG__API_DESCRIBE_GROUPS, version, &request);
	ck_assert_int_eq(answer->groups.count, 1);
	ck_assert(rg__bytes_equal(RG__ITEMS(described_group, answer->groups)->group_id, name));
	return RG__ITEMS(described_group, answer->groups);
}

static const struct rg__list_groups_response *list(struct client *client, int version, const char *state,
						   const char *type)
{
	struct rg__bytes states[] = {rg__bytes_of(state)}, types[] = {rg__bytes_of(type)};
	struct rg__list_groups_request request;

	rg__fields_init(&rg__list_groups_request_fields, &request);
	if (state)
		request.states_filter = (struct rg__array){states, 1};
	if (type)
		request.types_filter = (struct rg__array){types, 1};
	return client_ask(client, RG__API_LIST_GROUPS, version, &request);
}

/* bugs 75: in a rebalance there are members without a subscription or a share to show, and that is no error. */
START_TEST(a_group_is_described_as_it_is)
{
	const described_group *group;
	const described_member *member;
	struct client client;
	struct seat one, two;

	seat_settled(&one, "g", 1);
	client_open(&client, rg_testkit_port(kit, 1));
	for (int version = 0; version <= DESCRIBE_LAST; version++) {
		group = describe(&client, version, "g");
		ck_assert_int_eq(group->error_code, 0);
		ck_assert(rg__bytes_is(group->group_state, "Stable"));
		ck_assert(rg__bytes_is(group->protocol_type, "consumer"));
		ck_assert(rg__bytes_is(group->protocol_data, "range"));
		ck_assert_int_eq(group->members.count, 1);
		ck_assert_int_eq(group->authorized_operations, INT32_MIN);
		member = RG__ITEMS(described_member, group->members);
		ck_assert(rg__bytes_is(member->member_id, one.id));
		ck_assert_ptr_null(member->group_instance_id.data);
		ck_assert(rg__bytes_is(member->client_host, "/127.0.0.1"));
		ck_assert(rg__bytes_is(member->member_metadata, "t"));
		ck_assert(rg__bytes_is(member->member_assignment, "share"));
	}
	seat_open(&two, rg_testkit_port(kit, 1));
	seat_hear_join(&two, seat_send_join(&two, "g"));
	ck_assert_int_eq(two.error, 79);
	seat_send_join(&two, "g");
	ck_assert(!rg_testkit_wait(kit, "*\"state\"*\"PreparingRebalance\"*", 5000, NULL));
	ck_assert(!rg_testkit_wait(kit, "*\"state\"*\"to\":\"PreparingRebalance\"*", 5000, NULL));
	for (int version = 0; version <= DESCRIBE_LAST; version++) {
		group = describe(&client, version, "g");
		ck_assert_int_eq(group->error_code, 0);
		ck_assert(rg__bytes_is(group->group_state, "PreparingRebalance"));
		ck_assert(rg__bytes_is(group->protocol_data, ""));
		ck_assert_int_eq(group->members.count, 2);
		member = RG__ITEMS(described_member, group->members);
		for (int i = 0; i < 2; i++)
			ck_assert(rg__bytes_is(member[i].member_metadata, ""));
		ck_assert(rg__bytes_is(member[1].member_assignment, ""));
	}
	client_close(&client);
	seat_close(&two);
	seat_close(&one);
}
END_TEST

/* A group nobody knows, one of another broker, one that is being read. */
START_TEST(what_cannot_be_described)
{
	const described_group *group;
	struct client client;
	struct seat seat;

	seat_settled(&seat, "g", 2);
	coordinate("nobodys", 1);
	client_open(&client, rg_testkit_port(kit, 1));
	for (int version = 0; version <= DESCRIBE_LAST; version++) {
		group = describe(&client, version, "nobodys");
		ck_assert(rg__bytes_is(group->group_state, "Dead"));
		ck_assert_int_eq(group->error_code, version < 6 ? 0 : 69); /* KIP-1043 */
		ck_assert_int_eq(group->members.count, 0);
		if (version >= 6)
			ck_assert(rg__bytes_is(group->error_message, "Group nobodys not found."));
		ck_assert_int_eq(describe(&client, version, "g")->error_code, 16);
	}
	ck_assert(!rg_testkit_move_coordinator(kit, "g", 1, true, 60000, NULL));
	ck_assert_int_eq(describe(&client, 5, "g")->error_code, 14);
	ck_assert_int_eq(list(&client, 5, NULL, NULL)->error_code, 14);
	ck_assert(!rg_testkit_fail_request(kit, RG__API_DESCRIBE_GROUPS, 1, 30, NULL));
	ck_assert_int_eq(describe(&client, 5, "nobodys")->error_code, 30);
	ck_assert(!rg_testkit_fail_request(kit, RG__API_LIST_GROUPS, 1, 31, NULL));
	ck_assert_int_eq(list(&client, 5, NULL, NULL)->error_code, 31);
	client_close(&client);
	seat_close(&seat);
}
END_TEST

START_TEST(a_broker_lists_the_groups_it_coordinates)
{
	const struct rg__list_groups_response *answer;
	const listed_group *group;
	struct client client;
	struct seat one, two;

	seat_settled(&one, "g", 1);
	seat_settled(&two, "h", 2);
	client_open(&client, rg_testkit_port(kit, 2));
	for (int version = 0; version <= LIST_LAST; version++) {
		answer = list(&client, version, NULL, NULL);
		ck_assert_int_eq(answer->error_code, 0);
		ck_assert_int_eq(answer->groups.count, 1);
		group = RG__ITEMS(listed_group, answer->groups);
		ck_assert(rg__bytes_is(group->group_id, "h"));
		ck_assert(rg__bytes_is(group->protocol_type, "consumer"));
		ck_assert(rg__bytes_is(group->group_state, version < 4 ? "" : "Stable"));
		ck_assert(rg__bytes_is(group->group_type, version < 5 ? "" : "classic"));
	}
	/* KIP-518, KIP-848 */
	ck_assert_int_eq(list(&client, 4, "stable", NULL)->groups.count, 1);
	ck_assert_int_eq(list(&client, 4, "Empty", NULL)->groups.count, 0);
	ck_assert_int_eq(list(&client, 4, "nonsense", NULL)->groups.count, 0);
	ck_assert_int_eq(list(&client, 5, NULL, "classic")->groups.count, 1);
	ck_assert_int_eq(list(&client, 5, NULL, "consumer")->groups.count, 0);
	client_close(&client);
	seat_close(&two);
	seat_close(&one);
}
END_TEST

/* It asks every broker, and finds each group once. */
START_TEST(librdkafka_finds_each_group_once)
{
	const struct rd_kafka_group_list *found;
	char text[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct seat one, two;
	rd_kafka_t *rk;

	seat_settled(&one, "g", 1);
	seat_settled(&two, "h", 2);
	rd_kafka_conf_set(conf, "bootstrap.servers", rg_testkit_bootstrap(kit), text, sizeof(text));
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	ck_assert_msg(rk != NULL, "%s", text);
	ck_assert_int_eq(rd_kafka_list_groups(rk, NULL, &found, 20000), RD_KAFKA_RESP_ERR_NO_ERROR);
	ck_assert_int_eq(found->group_cnt, 2);
	ck_assert_str_ne(found->groups[0].group, found->groups[1].group);
	for (int i = 0; i < 2; i++) {
		const struct rd_kafka_group_info *group = &found->groups[i];
		const struct seat *seat = strcmp(group->group, "g") ? &two : &one;

		ck_assert_str_eq(group->state, "Stable");
		ck_assert_int_eq(group->member_cnt, 1);
		ck_assert_str_eq(group->members[0].member_id, seat->id);
		ck_assert_int_eq(group->members[0].member_assignment_size, 5);
	}
	rd_kafka_group_list_destroy(found);
	rd_kafka_destroy(rk);
	seat_close(&two);
	seat_close(&one);
}
END_TEST

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static bool step(struct rg__kit_coordinator *c, int api, int version, const void *body, struct rg__kit_outcome *outcome)
{
	struct rg__kit_request request = {.api = (int16_t)api, .version = (int16_t)version, .body = body};

	return rg__kit_coordinator_step(c, 0, &request, outcome);
}

/* One group with an offset and without members, described together with one that is not there; and another offset of a
 * transaction, which is committed. */
static bool look_on(struct rg__kit_coordinator *c)
{
	struct rg__offset_commit_request_topic_partition partition = {.committed_offset = 1};
	struct rg__offset_commit_request_topic topic = {.name = rg__bytes_of("t"), .partitions = {&partition, 1}};
	struct rg__bytes groups[] = {rg__bytes_of("g"), rg__bytes_of("nobodys")};
	struct rg__describe_groups_request describe_request;
	struct rg__list_groups_request list_request;
	struct rg__txn_offset_commit_request_topic_partition later = {.committed_offset = 2};
	struct rg__txn_offset_commit_request_topic later_topic = {.name = rg__bytes_of("t"), .partitions = {&later, 1}};
	struct rg__txn_offset_commit_request transaction;
	struct rg__offset_commit_request commit;
	struct rg__kit_outcome outcome = {0};
	bool ok;

	rg__fields_init(&rg__offset_commit_request_fields, &commit);
	commit.group_id = rg__bytes_of("g");
	commit.generation_id_or_member_epoch = -1;
	commit.topics = (struct rg__array){&topic, 1};
	rg__fields_init(&rg__txn_offset_commit_request_fields, &transaction);
	transaction.transactional_id = rg__bytes_of("x");
	transaction.group_id = rg__bytes_of("h");
	transaction.topics = (struct rg__array){&later_topic, 1};
	rg__fields_init(&rg__describe_groups_request_fields, &describe_request);
	describe_request.groups = (struct rg__array){groups, 2};
	rg__fields_init(&rg__list_groups_request_fields, &list_request);
	ok = step(c, RG__API_OFFSET_COMMIT, 8, &commit, &outcome) &&
	     step(c, RG__API_TXN_OFFSET_COMMIT, 0, &transaction, &outcome) &&
	     rg__kit_coordinator_end_transaction(c, rg__bytes_of("x"), true) &&
	     step(c, RG__API_DESCRIBE_GROUPS, DESCRIBE_LAST, &describe_request, &outcome) &&
	     step(c, RG__API_LIST_GROUPS, LIST_LAST, &list_request, &outcome);
	rg__kit_outcome_clear(&outcome);
	return ok;
}

/* The n-th allocation fails: the step says so, and nothing leaks. */
START_TEST(looking_on_without_memory)
{
	bool ok = false;
	long n;

	for (n = 1; !ok; n++) {
		struct rg__kit_coordinator_conf conf;
		struct rg__kit_coordinator *c;

		ck_assert_int_lt(n, 1000);
		rg__kit_coordinator_conf_init(&conf);
		c = rg__kit_coordinator_new(&conf);
		ck_assert_ptr_nonnull(c);
		rg__alloc_fail_after(n);
		ok = look_on(c);
		rg__alloc_fail_after(0);
		rg__kit_coordinator_free(c);
	}
	ck_assert_int_gt(n, 5);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, a_group_is_described_as_it_is);
	tcase_add_test(tcase, what_cannot_be_described);
	tcase_add_test(tcase, a_broker_lists_the_groups_it_coordinates);
	tcase_add_test(tcase, looking_on_without_memory);
	tcase_add_test(tcase, librdkafka_finds_each_group_once);
}

int main(void)
{
	return run_suite("front_groups", fill, start, end);
}
