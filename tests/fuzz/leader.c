/* SPDX-License-Identifier: Apache-2.0 */
/* A leader shares partitions among members whose subscriptions are hostile bytes. Whatever they say, every
 * built-in assignor makes a plan that passes the check, and a cooperative one gives nothing away that somebody else
 * says to own.
 *
 * Input: two bytes for the cluster (how many topics and partitions), then for each member a byte of length and its
 * metadata. */
#include "assign/builtin.h"
#include "assign/validate.h"
#include "assign/view.h"
#include "codec/consumer_protocol.h"
#include "fuzz.h"

enum { MEMBERS_MAX = 12, TOPICS_MAX = 4, PARTITIONS_MAX = 8 };

static const char *const topic_names[TOPICS_MAX] = {"orders", "returns", "t", ""};

static struct rg__owned_input *owned_of(const struct rg__consumer_protocol_subscription *subscription,
					struct rg__arena *arena)
{
	const struct rg__consumer_protocol_topic_partition *from =
		RG__ITEMS(struct rg__consumer_protocol_topic_partition, subscription->owned_partitions);
	int32_t count = subscription->owned_partitions.count;
	struct rg__owned_input *owned = must(rg__arena_calloc(arena, count > 0 ? (size_t)count : 0, sizeof(*owned)));

	for (int32_t i = 0; i < count; i++) {
		owned[i].topic = from[i].topic;
		owned[i].partitions = from[i].partitions.items;
		owned[i].count = from[i].partitions.count;
	}
	return owned;
}

/* One that cannot be read subscribes to nothing. */
static void read_member(struct rg__bytes metadata, struct rg__arena *arena, struct rg__member_input *ret_member)
{
	struct rg__consumer_protocol_subscription subscription;

	ret_member->generation = -1;
	if (!rg__subscription_decode(metadata, arena, &subscription, NULL, NULL))
		return;
	ret_member->rack = subscription.rack_id;
	ret_member->topics = subscription.topics.items;
	ret_member->topic_count = subscription.topics.count;
	ret_member->owned = owned_of(&subscription, arena);
	ret_member->owned_count = subscription.owned_partitions.count;
	ret_member->generation = subscription.generation_id;
	ret_member->userdata = subscription.user_data;
}

static bool says_to_own(const rg_group_member *member, rg_group_partition what)
{
	for (int32_t i = 0; i < member->owned_count; i++)
		if (member->owned[i].topic == what.topic && member->owned[i].partition == what.partition)
			return true;
	return false;
}

/* KIP-429: who owns something goes on with it until the plan is there. Of two who say so one is wrong. */
static void check_cooperative(const rg_group *group, const struct rg_plan *plan)
{
	for (int32_t m = 0; m < group->member_count; m++)
		for (int32_t i = 0; i < group->members[m].owned_count; i++) {
			rg_group_partition what = group->members[m].owned[i];
			int32_t owner = rg_plan_owner(plan, what.topic, what.partition);

			require(owner == RG__NOBODY || owner == m || says_to_own(&group->members[owner], what),
				"a cooperative one waits until what moves has been given up");
		}
}

static void assign_all(const struct rg__view *view)
{
	for (int i = 0; rg__builtin_at(i); i++) {
		const rg_assignor *assignor = rg__builtin_at(i);
		struct rg_plan *plan = must(rg__plan_new(&view->group));
		rg_error error = {0};
		int32_t withheld = 0;
		rg_err err = assignor->assign(&view->group, plan, &error, NULL);

		require(err == RG_OK, "a built-in assignor makes a plan of whatever members say");
		err = rg__plan_validate(plan, &withheld, &error);
		if (err)
			fprintf(stderr, "%s: %s\n", assignor->name, error.text);
		require(err == RG_OK, "and its plan is a good one");
		if (assignor->protocols & RG_COOPERATIVE)
			check_cooperative(&view->group, plan);
		else
			for (int32_t flat = 0; flat < plan->partition_count; flat++)
				require(plan->owners[flat] != RG__NOBODY, "an eager one gives everything away");
		rg__plan_free(plan);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg__racks_input racks[PARTITIONS_MAX];
	struct rg__bytes rack_names[] = {rg__bytes_of("a"), rg__bytes_of("b"), RG__NULL_BYTES, rg__bytes_of("c")};
	struct rg__topic_input topics[TOPICS_MAX];
	struct rg__member_input members[MEMBERS_MAX] = {0};
	char ids[MEMBERS_MAX][8];
	uint8_t *copies[MEMBERS_MAX];
	struct input input = {data, size};
	struct rg__arena arena = {0};
	struct rg__view view = {0};
	uint8_t shape = take(&input), rack_shape = take(&input);
	int count = 0;
	rg_error error;

	for (int i = 0; i < PARTITIONS_MAX; i++)
		racks[i] = (struct rg__racks_input){rack_names + (rack_shape >> i % 3 & 1), 1 + (rack_shape >> i % 5 & 1)};
	for (int i = 0; i < TOPICS_MAX; i++)
		topics[i] = (struct rg__topic_input){rg__bytes_of(topic_names[i]), 1 + (shape >> i) % PARTITIONS_MAX,
						     rack_shape & 0x80 ? racks : NULL};
	for (; count < MEMBERS_MAX && input.left; count++) {
		uint8_t len = take(&input);
		struct rg__bytes metadata = take_bytes(&input, len);

		copies[count] = exact_copy(metadata);
		snprintf(ids[count], sizeof(ids[count]), "m%d", len & 1 ? count : MEMBERS_MAX - count);
		members[count].member_id = rg__bytes_of(ids[count]);
		if (len & 2)
			members[count].instance_id = rg__bytes_of(ids[count]);
		read_member((struct rg__bytes){copies[count], metadata.len}, &arena, &members[count]);
	}
	require(rg__view_build(&view, members, count, topics, 1 + shape % TOPICS_MAX, 5, &error) == RG_OK,
		"a view of whatever members say");
	assign_all(&view);
	rg__view_free(&view);
	rg__arena_clear(&arena);
	for (int i = 0; i < count; i++)
		free(copies[i]);
	return 0;
}
