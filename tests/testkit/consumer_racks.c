/* SPDX-License-Identifier: Apache-2.0 */
/* Racks: the cluster that has them, and consumers to which they matter (KIP-881). */
#include "client.h"
#include "codec/metadata.h"
#include "crew.h"
#include "suite.h"

#include <string.h>

static struct actor a, b;

static void start(void)
{
	crew_cluster("t:4", 4);
}

/* Brokers 1 and 3 stand in the east, 2 and 4 in the west. */
static void build_racks(void)
{
	rg_error error = {0};

	for (int32_t broker = 1; broker <= 4; broker++)
		OK(rg_testkit_set_rack(kit, broker, broker == 1 || broker == 3 ? "east" : "west", &error));
}

static void put(int32_t partition, int32_t broker)
{
	rg_error error = {0};

	OK(rg_testkit_set_replicas(kit, "t", partition, &broker, 1, &error));
}

/* --- What the cluster says ---------------------------------------------------------------------------------------- */

static bool same_numbers(struct rg__array array, const int32_t *numbers, int32_t count)
{
	return array.count == count && !memcmp(array.items, numbers, (size_t)count * sizeof(*numbers));
}

/* Of partition 1 of "t". */
static const struct rg__metadata_response_topic_partition *ask(struct client *client, int version)
{
	struct rg__metadata_request_topic wanted = {.name = rg__bytes_of("t")};
	struct rg__metadata_request request;
	const struct rg__metadata_response *answer;
	const struct rg__metadata_response_broker *brokers;

	rg__fields_init(&rg__metadata_request_fields, &request);
	request.topics = (struct rg__array){&wanted, 1};
	answer = client_ask(client, RG__API_METADATA, version, &request);
	brokers = RG__ITEMS(struct rg__metadata_response_broker, answer->brokers);
	if (version)
		ck_assert(rg__bytes_is(brokers[0].rack, "east") && !brokers[answer->brokers.count - 1].rack.data);
	return &RG__ITEMS(struct rg__metadata_response_topic_partition,
	                  RG__ITEMS(struct rg__metadata_response_topic, answer->topics)[0].partitions)[1];
}

START_TEST(the_cluster_tells_racks_and_replicas_in_every_version)
{
	static const int32_t replicas[] = {3, 1, 2}, in_sync[] = {1, 2}, offline[] = {3};
	const struct rg__metadata_response_topic_partition *partition;
	struct client client;
	rg_error error = {0};

	OK(rg_testkit_set_rack(kit, 1, "east", &error));
	OK(rg_testkit_set_rack(kit, 4, "west", &error));
	OK(rg_testkit_set_rack(kit, 4, NULL, &error));
	OK(rg_testkit_set_replicas(kit, "t", 1, replicas, 3, &error));
	client_open(&client, rg_testkit_port(kit, 4));
	for (int version = 0; version <= 13; version++) {
		partition = ask(&client, version);
		ck_assert_int_eq(partition->leader_id, 3);
		ck_assert(same_numbers(partition->replica_nodes, replicas, 3));
		ck_assert(same_numbers(partition->isr_nodes, replicas, 3));
	}
	OK(rg_testkit_stop_broker(kit, 3, &error));
	partition = ask(&client, 5);
	ck_assert_int_eq(partition->leader_id, 1);
	ck_assert(same_numbers(partition->isr_nodes, in_sync, 2));
	ck_assert(same_numbers(partition->offline_replicas, offline, 1));
	OK(rg_testkit_set_replicas(kit, "t", -1, offline, 1, &error)); /* only the one that is stopped has it */
	partition = ask(&client, 5);
	ck_assert_int_eq(partition->leader_id, -1);
	ck_assert_int_eq(partition->error_code, 5);
	OK(rg_testkit_set_replicas(kit, "t", -1, NULL, 0, &error));
	ck_assert_int_eq(ask(&client, 5)->leader_id, 2);
	client_close(&client);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	static const int32_t twice[] = {1, 2, 1}, unknown[] = {5};
	char name[300];
	rg_error error = {0};

	memset(name, 'x', sizeof(name));
	name[256] = '\0';
	ck_assert_int_eq(rg_testkit_set_rack(kit, 1, name, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "the name of a rack has 256 bytes: it can have up to 255");
	ck_assert_int_eq(rg_testkit_set_rack(kit, 5, "east", &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "there is no broker 5: they are 1 to 4");
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "t", 0, twice, 3, &error), RG_ERR_INVALID);
	ck_assert_str_eq(error.text, "broker 1 is listed twice");
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "t", 0, unknown, 1, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "t", 0, NULL, 1, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "t", 0, twice, 5, &error), RG_ERR_INVALID);
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "t", 4, twice, 1, &error), RG_ERR_STATE);
	ck_assert_str_eq(error.text, "topic t has no partition 4: it has 4");
	ck_assert_int_eq(rg_testkit_set_replicas(kit, "u", 0, twice, 1, &error), RG_ERR_STATE);
	ck_assert_int_eq(rg_testkit_set_replicas(kit, NULL, 0, twice, 1, &error), RG_ERR_STATE);
}
END_TEST

/* --- What consumers make of it ------------------------------------------------------------------------------------ */

static void open_in(struct actor *actor, const char *name, const char *rack)
{
	crew_open(actor, name, rack ? crew_conf("metadata.max.age.ms", "50", "client.rack", rack, NULL)
	                            : crew_conf("metadata.max.age.ms", "50", NULL));
	crew_subscribe(actor, "t");
}

/* Long enough for the leader to have looked some times more. */
static void let_it_look(struct actor *const *actors)
{
	int64_t enough = rg_testkit_request_count(kit, RG__API_METADATA) + 10, ends = now_ms() + WITHIN_MS;

	while (rg_testkit_request_count(kit, RG__API_METADATA) < enough && now_ms() < ends)
		crew_turn(actors);
	ck_assert_int_ge(rg_testkit_request_count(kit, RG__API_METADATA), enough);
}

/* scenarios E.95, bugs kafka 14867: replicas that moved to other racks make one rebalance, and the partitions follow
 * them. */
START_TEST(partitions_follow_their_replicas)
{
	build_racks();
	for (int32_t p = 0; p < 4; p++)
		put(p, p < 2 ? 1 : 2);
	open_in(&a, "a", "east");
	open_in(&b, "b", "west");
	crew_until(a.owned == 2 && b.owned == 2, &a, &b);
	ck_assert(a.owns[0] && a.owns[1] && b.owns[2] && b.owns[3]);
	let_it_look((struct actor *[]){&a, &b, NULL});
	a.seen[0] = b.seen[0] = '\0';
	for (int32_t p = 0; p < 4; p++)
		put(p, p < 2 ? 4 : 3);
	crew_until(a.owns[2] && a.owns[3] && b.owns[0] && b.owns[1], &a, &b);
	let_it_look((struct actor *[]){&a, &b, NULL});
	/* Four changes one after the other, which the leader may see in two looks. */
	ck_assert_int_le(count_of(&a, "prepare"), 3);
	ck_assert(alternates(&a) && alternates(&b));
	ck_assert_int_eq(a.owned, 2);
	ck_assert_int_eq(b.owned, 2);
}
END_TEST

/* The same: a broker that is carried to another rack is news, too, and says why. */
START_TEST(a_broker_that_is_carried_away_is_one_rebalance)
{
	rg_status status = {.size = sizeof(status)};
	rg_error error = {0};

	build_racks();
	open_in(&a, "a", "east");
	crew_until(a.owned == 4, &a);
	let_it_look((struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 1);
	OK(rg_testkit_set_rack(kit, 1, "north", &error));
	crew_until(count_of(&a, "assigned") == 2, &a);
	let_it_look((struct actor *[]){&a, NULL});
	ck_assert_int_eq(count_of(&a, "prepare"), 2);
	OK(rg_consumer_status(a.consumer, &status, &error));
	ck_assert_str_eq(status.last_rebalance_reason, "topic t: its replicas moved to other racks");
}
END_TEST

/* scenarios E.95: other brokers of the same racks change nothing … */
START_TEST(other_replicas_in_the_same_racks_bother_nobody)
{
	static const int32_t before[] = {1, 2}, after[] = {4, 3};
	rg_error error = {0};

	build_racks();
	OK(rg_testkit_set_replicas(kit, "t", -1, before, 2, &error));
	open_in(&a, "a", "east");
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_set_replicas(kit, "t", -1, after, 2, &error));
	let_it_look((struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
}
END_TEST

/* … and to members that stand in no rack, all racks are alike. */
START_TEST(without_a_rack_of_its_own_nobody_is_bothered)
{
	rg_error error = {0};

	build_racks();
	open_in(&a, "a", NULL);
	crew_until(a.owned == 4, &a);
	OK(rg_testkit_set_rack(kit, 1, "north", &error));
	put(2, 4);
	let_it_look((struct actor *[]){&a, NULL});
	ck_assert_str_eq(a.seen, "prepare, complete, assigned t:0,1,2,3");
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, the_cluster_tells_racks_and_replicas_in_every_version);
	tcase_add_test(tcase, what_cannot_be_is_refused);
	tcase_add_test(tcase, partitions_follow_their_replicas);
	tcase_add_test(tcase, a_broker_that_is_carried_away_is_one_rebalance);
	tcase_add_test(tcase, other_replicas_in_the_same_racks_bother_nobody);
	tcase_add_test(tcase, without_a_rack_of_its_own_nobody_is_bothered);
}

int main(void)
{
	return run_suite("consumer_racks", fill, start, crew_end);
}
