/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/hint.h"

#include <string.h>

/* Four bytes that no userdata of Kafka's own assignors begins with, then the numbers, big-endian as all of Kafka. */
static const uint8_t mark[4] = {'r', 'g', 'n', 1};

static void put(uint32_t bits, uint8_t *to)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(bits >> (24 - 8 * i));
}

static uint32_t get(const uint8_t *from)
{
	uint32_t bits = 0;

	for (int i = 0; i < 4; i++)
		bits = bits << 8 | from[i];
	return bits;
}

static bool is_hint(struct rg__bytes bytes)
{
	return bytes.len == RG__HINT_LEN && !memcmp(bytes.data, mark, sizeof(mark));
}

uint32_t rg__hint_mix(uint32_t hash, struct rg__bytes topic)
{
	if (!hash)
		hash = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < topic.len; i++)
		hash = (hash ^ topic.data[i]) * 16777619u;
	return (hash ^ 0xff) * 16777619u; /* no name holds that byte, so it ends them */
}

uint32_t rg__hint_mix_partitions(uint32_t hash, struct rg__bytes topic, int32_t partitions)
{
	uint8_t count[4];

	put((uint32_t)partitions, count);
	return rg__hint_mix(rg__hint_mix(hash, topic), (struct rg__bytes){count, sizeof(count)});
}

void rg__hint_write(int32_t size, uint32_t topics, uint32_t partitions, uint8_t ret_bytes[RG__HINT_LEN])
{
	memcpy(ret_bytes, mark, sizeof(mark));
	put((uint32_t)size, ret_bytes + 4);
	put(topics, ret_bytes + 8);
	put(partitions, ret_bytes + 12);
}

int32_t rg__hint_read(struct rg__bytes bytes)
{
	uint32_t bits = is_hint(bytes) ? get(bytes.data + 4) : 0;

	return bits <= INT32_MAX ? (int32_t)bits : 0;
}

bool rg__hint_topics(struct rg__bytes bytes, uint32_t *ret_topics)
{
	if (!is_hint(bytes))
		return false;
	*ret_topics = get(bytes.data + 8);
	return true;
}

bool rg__hint_partitions(struct rg__bytes bytes, uint32_t *ret_partitions)
{
	if (!is_hint(bytes))
		return false;
	*ret_partitions = get(bytes.data + 12);
	return true;
}
