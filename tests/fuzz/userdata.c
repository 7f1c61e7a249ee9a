/* SPDX-License-Identifier: Apache-2.0 */
/* The userdata of the sticky assignors and of weighted, as the leader reads it: whatever it holds, what comes out are
 * partitions of the group, sorted, each once. The first byte chooses which. */
#include "assign/userdata.h"
#include "fuzz.h"

enum { ROOM = 1 << 16 };

static const rg_group_topic topics[] = {
	{.name = "orders", .partition_count = 8},
	{.name = "returns", .partition_count = 4},
	{.name = "t", .partition_count = 1},
};
enum { TOPICS = sizeof(topics) / sizeof(*topics) };
static const rg_group group = {.size = sizeof(group), .topics = topics, .topic_count = TOPICS, .generation = 7};

static void look_at(const struct rg__claim *claim)
{
	for (int32_t i = 0; i < claim->count; i++) {
		rg_group_partition at = claim->owned[i], before = i ? claim->owned[i - 1] : (rg_group_partition){-1, 0};

		require(at.topic >= 0 && at.topic < TOPICS, "a topic of the group");
		require(at.partition >= 0 && at.partition < topics[at.topic].partition_count, "a partition of the topic");
		require(before.topic < at.topic || (before.topic == at.topic && before.partition < at.partition),
		        "ascending, each once");
	}
}

/* The claim as an assignment of the group's topics, in the form in which it would be written again. */
static int32_t write(const struct rg__claim *claim, uint8_t *buffer)
{
	const char *names[TOPICS];
	int32_t numbers[TOPICS][8], counts[TOPICS] = {0};
	const int32_t *partitions[TOPICS];
	rg_assignment assignment = {.size = sizeof(assignment),
	                            .topics = names,
	                            .partitions = partitions,
	                            .partition_counts = counts,
	                            .topic_count = TOPICS,
	                            .generation = claim->generation};

	for (int32_t t = 0; t < TOPICS; t++) {
		names[t] = topics[t].name;
		partitions[t] = numbers[t];
	}
	for (int32_t i = 0; i < claim->count; i++)
		numbers[claim->owned[i].topic][counts[claim->owned[i].topic]++] = claim->owned[i].partition;
	return rg__userdata_write_sticky(&assignment, buffer, ROOM);
}

static void try_sticky(rg_bytes in)
{
	static uint8_t buffer[ROOM];
	struct rg__arena arena = {0};
	struct rg__names names;
	struct rg__claim claim, again;

	require(rg__userdata_index_topics(&names, &group, &arena), "the machine has memory");
	require(rg__userdata_read_sticky(in, &group, &names, &arena, &claim), "the machine has memory");
	look_at(&claim);
	int32_t len = write(&claim, buffer);

	require(len > 0 && len <= ROOM, "what was read can be written");
	require(rg__userdata_read_sticky((rg_bytes){buffer, (size_t)len}, &group, &names, &arena, &again),
	        "the machine has memory");
	require(again.generation == claim.generation && again.count == claim.count &&
	                (!claim.count || !memcmp(again.owned, claim.owned, (size_t)claim.count * sizeof(*claim.owned))),
	        "and is read as the same");
	rg__arena_clear(&arena);
}

static void try_numbers(rg_bytes in)
{
	int32_t generation = rg__userdata_read_generation(in), capacity = rg__userdata_read_capacity(in);
	uint8_t buffer[4];

	require(capacity >= 1, "everybody can carry something");
	require(rg__userdata_write_generation(generation, buffer, sizeof(buffer)) == sizeof(buffer), "four bytes");
	require(rg__userdata_read_generation((rg_bytes){buffer, sizeof(buffer)}) == generation, "and is read as the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	bool numbers = take(&input) & 1;
	uint8_t *copy = exact_copy((struct rg__bytes){input.at, input.left});

	if (numbers)
		try_numbers((rg_bytes){copy, input.left});
	else
		try_sticky((rg_bytes){copy, input.left});
	free(copy);
	return 0;
}
