/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/userdata.h"

#include "assign/levels.h"

#include <stdlib.h>
#include <string.h>

/* What is left to read; big-endian, as everything in Kafka. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool failed;
};

static uint32_t read_number(struct reader *r, size_t size)
{
	uint32_t value = 0;

	if (r->failed || r->left < size) {
		r->failed = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value = value << 8 | r->at[i];
	r->at += size;
	r->left -= size;
	return value;
}

/* A length of things of at least `size` bytes each: negative or longer than what is left is broken. */
static int32_t read_length(struct reader *r, size_t width, size_t size)
{
	uint32_t raw = read_number(r, width);
	int32_t length = width == 2 ? (int16_t)raw : (int32_t)raw;

	if (length < 0 || (size_t)length > r->left / size)
		r->failed = true;
	return r->failed ? 0 : length;
}

static int compare_partitions(const void *a, const void *b)
{
	const rg_group_partition *x = a, *y = b;

	if (x->topic != y->topic)
		return x->topic < y->topic ? -1 : 1;
	return (x->partition > y->partition) - (x->partition < y->partition);
}

bool rg__userdata_index_topics(struct rg__names *topics, const rg_group *group, struct rg__arena *arena)
{
	if (!rg__names_init(topics, arena, group->topic_count))
		return false;
	for (int32_t t = 0; t < group->topic_count; t++)
		if (!rg__names_add(topics, rg__bytes_of(group->topics[t].name), t))
			return false;
	return true;
}

/* Where a topic's name and partitions begin; the reader goes on behind them. */
struct entry {
	struct rg__bytes topic;
	const uint8_t *partitions;
	int32_t count;
};

static bool read_entry(struct reader *r, struct entry *ret)
{
	int32_t length = read_length(r, 2, 1);

	if (r->failed)
		return false;
	ret->topic = (struct rg__bytes){r->at, (size_t)length};
	r->at += length;
	r->left -= (size_t)length;
	ret->count = read_length(r, 4, 4);
	if (r->failed)
		return false;
	ret->partitions = r->at;
	r->at += 4 * (size_t)ret->count;
	r->left -= 4 * (size_t)ret->count;
	return true;
}

/* Looks up a topic; mostly it is the one behind the last. */
static int32_t find_topic(const rg_group *group, const struct rg__names *topics, int32_t last, struct rg__bytes name)
{
	if (last + 1 < group->topic_count && rg__bytes_is(name, group->topics[last + 1].name))
		return last + 1;
	return rg__names_find(topics, name);
}

/* Sorts partitions, if they are not sorted already, and drops repetitions; how many are left. */
static int32_t sort_owned(rg_group_partition *owned, int32_t count)
{
	int32_t unique = 0;

	for (int32_t i = 1; i < count; i++)
		if (compare_partitions(&owned[i - 1], &owned[i]) > 0) {
			qsort(owned, (size_t)count, sizeof(*owned), compare_partitions);
			break;
		}
	for (int32_t i = 0; i < count; i++)
		if (!unique || compare_partitions(&owned[unique - 1], &owned[i]))
			owned[unique++] = owned[i];
	return unique;
}

/* All entries, `count` of them, known to be well-formed; the partitions that exist are written to `owned`. */
static int32_t take_entries(struct reader r, int32_t count, const rg_group *group, const struct rg__names *topics,
                            rg_group_partition *owned)
{
	int32_t topic = RG__NO_NAME, kept = 0;
	struct entry entry;

	for (int32_t i = 0; i < count && read_entry(&r, &entry); i++) {
		struct reader partitions = {entry.partitions, 4 * (size_t)entry.count, false};

		topic = find_topic(group, topics, topic, entry.topic);
		for (int32_t k = 0; k < entry.count && topic != RG__NO_NAME; k++) {
			int32_t partition = (int32_t)read_number(&partitions, 4);

			if (partition >= 0 && partition < group->topics[topic].partition_count)
				owned[kept++] = (rg_group_partition){topic, partition};
		}
	}
	return kept;
}

bool rg__userdata_read_sticky(rg_bytes userdata, const rg_group *group, const struct rg__names *topics,
                              struct rg__arena *arena, struct rg__claim *ret)
{
	struct reader r = {userdata.data, userdata.len, false}, entries;
	int32_t count = read_length(&r, 4, 6);
	size_t partitions = 0;
	struct entry entry;

	*ret = (struct rg__claim){.generation = -1};
	entries = r;
	for (int32_t i = 0; i < count && read_entry(&r, &entry); i++)
		partitions += (size_t)entry.count;
	if (r.failed)
		return true;
	if (r.left >= 4)
		ret->generation = (int32_t)read_number(&r, 4);
	rg_group_partition *owned = rg__arena_calloc(arena, partitions, sizeof(*owned));

	if (!owned)
		return false;
	ret->count = sort_owned(owned, take_entries(entries, count, group, topics, owned));
	ret->owned = owned;
	return true;
}

int32_t rg__userdata_read_generation(rg_bytes userdata)
{
	struct reader r = {userdata.data, userdata.len, false};
	int32_t generation = (int32_t)read_number(&r, 4);

	return r.failed ? -1 : generation;
}

int32_t rg__userdata_read_capacity(rg_bytes userdata)
{
	struct reader r = {userdata.data, userdata.len, false};
	int32_t capacity = (int32_t)read_number(&r, 4);

	return r.failed || r.left || capacity < 1 || capacity > RG__WEIGHT_MAX ? 1 : capacity;
}

/* Writes what fits and counts everything. */
struct writer {
	uint8_t *buffer;
	int32_t capacity;
	int64_t length;
};

static void write_bytes(struct writer *w, const void *data, size_t size)
{
	if (w->length + (int64_t)size <= w->capacity)
		memcpy(w->buffer + w->length, data, size);
	w->length += (int64_t)size;
}

static void write_number(struct writer *w, size_t size, int32_t value)
{
	uint8_t bytes[4];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((uint32_t)value >> (8 * (size - 1 - i)));
	write_bytes(w, bytes, size);
}

int32_t rg__userdata_write_sticky(const rg_assignment *assignment, void *buffer, int32_t capacity)
{
	struct writer w = {buffer, capacity, 0};

	write_number(&w, 4, assignment->topic_count);
	for (int32_t i = 0; i < assignment->topic_count; i++) {
		size_t len = strlen(assignment->topics[i]);

		write_number(&w, 2, (int32_t)len);
		write_bytes(&w, assignment->topics[i], len);
		write_number(&w, 4, assignment->partition_counts[i]);
		for (int32_t k = 0; k < assignment->partition_counts[i]; k++)
			write_number(&w, 4, assignment->partitions[i][k]);
	}
	write_number(&w, 4, assignment->generation);
	return w.length > INT32_MAX ? -1 : (int32_t)w.length;
}

int32_t rg__userdata_write_generation(int32_t generation, void *buffer, int32_t capacity)
{
	struct writer w = {buffer, capacity, 0};

	write_number(&w, 4, generation);
	return (int32_t)w.length;
}
