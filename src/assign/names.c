/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/names.h"

#include <string.h>

/* Every bit of the one word reaches every bit of the other: a bare multiplication moves bits upwards only. */
static uint64_t mixed(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 32;
}

/* Eight bytes at a step: subscriptions of thousands of topics are looked up by their bytes, too. The seed is where the
 * table happens to lie, so that a member cannot make up names that all fall on one place. */
static uint32_t hash_of(const struct rg__names *names, struct rg__bytes name)
{
	uint64_t hash = names->seed ^ name.len, word;
	size_t i = 0;

	for (; i + sizeof(word) <= name.len; i += sizeof(word)) {
		memcpy(&word, name.data + i, sizeof(word));
		hash = mixed(hash ^ word);
	}
	if (i < name.len) {
		word = 0;
		memcpy(&word, name.data + i, name.len - i);
		hash = mixed(hash ^ word);
	}
	return (uint32_t)mixed(hash);
}

bool rg__names_init(struct rg__names *names, struct rg__arena *arena, int32_t count)
{
	size_t size = 8;

	while (size < 2 * (size_t)count)
		size *= 2;
	names->places = rg__arena_calloc(arena, size, sizeof(*names->places));
	names->mask = size - 1;
	names->seed = mixed((uint64_t)(uintptr_t)names->places);
	names->count = 0;
	names->arena = arena;
	return names->places != NULL;
}

/* The place of a name, or the free place where it would go. */
static struct rg__name *place_of(const struct rg__names *names, struct rg__bytes name, uint32_t hash)
{
	for (size_t at = hash;; at++) {
		struct rg__name *place = &names->places[at & names->mask];

		if (!place->number || (place->hash == hash && rg__bytes_equal(place->name, name)))
			return place;
	}
}

static bool grow(struct rg__names *names)
{
	struct rg__names larger;

	if (!rg__names_init(&larger, names->arena, (int32_t)names->count * 2))
		return false;
	for (size_t i = 0; i <= names->mask; i++)
		if (names->places[i].number)
			*place_of(&larger, names->places[i].name, names->places[i].hash) = names->places[i];
	larger.count = names->count;
	larger.seed = names->seed; /* the hashes stay */
	*names = larger;
	return true;
}

bool rg__names_add(struct rg__names *names, struct rg__bytes name, int32_t number)
{
	uint32_t hash = hash_of(names, name);

	if (place_of(names, name, hash)->number)
		return true;
	if (2 * names->count > names->mask && !grow(names))
		return false;
	*place_of(names, name, hash) = (struct rg__name){name, number + 1, hash};
	names->count++;
	return true;
}

int32_t rg__names_find(const struct rg__names *names, struct rg__bytes name)
{
	return place_of(names, name, hash_of(names, name))->number - 1;
}
