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

static int32_t find_topic(const rg_group *group, struct rg__bytes name)
{
	int32_t low = 0, high = group->topic_count;

	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		int order = rg__bytes_compare(rg__bytes_of(group->topics[middle].name), name);

		if (!order)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static int compare_partitions(const void *a, const void *b)
{
	const rg_group_partition *x = a, *y = b;

	if (x->topic != y->topic)
		return x->topic < y->topic ? -1 : 1;
	return (x->partition > y->partition) - (x->partition < y->partition);
}

/* One topic's partitions, those that exist, appended to `owned`; NULL only counts. */
static int32_t read_topic(struct reader *r, const rg_group *group, rg_group_partition *owned)
{
	int32_t length = read_length(r, 2, 1), count, topic, kept = 0;
	struct rg__bytes name = {r->at, (size_t)length};

	if (r->failed)
		return 0;
	r->at += length;
	r->left -= (size_t)length;
	topic = find_topic(group, name);
	count = read_length(r, 4, 4);
	for (int32_t i = 0; i < count; i++) {
		int32_t partition = (int32_t)read_number(r, 4);

		if (topic < 0 || partition < 0 || partition >= group->topics[topic].partition_count)
			continue;
		if (owned)
			owned[kept] = (rg_group_partition){topic, partition};
		kept++;
	}
	return kept;
}

static int32_t read_topics(struct reader *r, const rg_group *group, rg_group_partition *owned)
{
	int32_t topics = read_length(r, 4, 6), kept = 0;

	for (int32_t i = 0; i < topics && !r->failed; i++)
		kept += read_topic(r, group, owned ? owned + kept : NULL);
	return kept;
}

bool rg__userdata_read_sticky(rg_bytes userdata, const rg_group *group, struct rg__arena *arena, struct rg__claim *ret)
{
	struct reader r = {userdata.data, userdata.len, false}, again = r;
	int32_t count = read_topics(&r, group, NULL), unique = 0;

	*ret = (struct rg__claim){.generation = -1};
	if (r.failed)
		return true;
	if (r.left >= 4)
		ret->generation = (int32_t)read_number(&r, 4);
	rg_group_partition *owned = rg__arena_calloc(arena, (size_t)count, sizeof(*owned));

	if (!owned)
		return false;
	read_topics(&again, group, owned);
	qsort(owned, (size_t)count, sizeof(*owned), compare_partitions);
	for (int32_t i = 0; i < count; i++)
		if (!unique || compare_partitions(&owned[unique - 1], &owned[i]))
			owned[unique++] = owned[i];
	ret->owned = owned;
	ret->count = unique;
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
