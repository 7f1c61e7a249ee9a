/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/subscription.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/consumer_protocol.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_NAME_MAX = 249, USERDATA_FIRST = 256, USERDATA_MAX = 16 * 1024 * 1024, USERDATA_TRIES = 4 };

/* --- Topics ------------------------------------------------------------------------------------------------------- */

/* broker: names longer or with other characters do not exist. */
static bool is_topic_name(const char *name)
{
	static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = name ? strlen(name) : 0;

	return len > 0 && len <= TOPIC_NAME_MAX && strspn(name, legal) == len && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names are ours already. */
static void put_in_order(struct rg__topics *topics)
{
	size_t kept = 0;

	if (topics->count < 2)
		return;
	qsort(topics->items, topics->count, sizeof(*topics->items), compare_names);
	for (size_t i = 1; i < topics->count; i++)
		if (strcmp(topics->items[kept], topics->items[i]) != 0)
			topics->items[++kept] = topics->items[i];
	topics->count = kept + 1;
}

static bool add_copy(struct rg__topics *topics, const char *name)
{
	const char *copy = rg__arena_copy(&topics->arena, name, strlen(name));

	if (copy)
		topics->items[topics->count++] = copy;
	return copy != NULL;
}

rg_err rg__topics_copy(struct rg__topics *ret_topics, const char *const *names, size_t count, rg_error *error)
{
	struct rg__topics topics = {0};
	bool fine;

	if (!names || !count)
		return rg__fail(error, RG_ERR_INVALID, "a subscription needs at least one topic");
	for (size_t i = 0; i < count; i++) {
		if (!names[i])
			return rg__fail(error, RG_ERR_INVALID, "topic %zu of the subscription is NULL", i);
		if (!rg__is_pattern(names[i]) && !is_topic_name(names[i]))
			return rg__fail(error, RG_ERR_INVALID,
			                "\"%.249s\" is no topic's name: 1 to %d letters, digits, '.', '_' and '-'", names[i],
			                TOPIC_NAME_MAX);
	}
	topics.items = rg__arena_calloc(&topics.arena, count, sizeof(*topics.items));
	fine = topics.items != NULL;
	for (size_t i = 0; fine && i < count; i++)
		fine = add_copy(&topics, names[i]);
	if (!fine) {
		rg__arena_clear(&topics.arena);
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	}
	put_in_order(&topics);
	*ret_topics = topics;
	return RG_OK;
}

rg_err rg__topics_resolve(struct rg__topics *ret_topics, const struct rg__topics *asked, const char *const *found,
                          size_t found_count, rg_error *error)
{
	struct rg__topics topics = {.patterns = asked->patterns};
	bool fine;

	topics.items = rg__arena_calloc(&topics.arena, asked->count + found_count, sizeof(*topics.items));
	fine = topics.items != NULL;
	for (size_t i = 0; fine && i < asked->count; i++)
		fine = rg__is_pattern(asked->items[i]) || add_copy(&topics, asked->items[i]);
	for (size_t i = 0; fine && i < found_count; i++)
		fine = !is_topic_name(found[i]) || add_copy(&topics, found[i]); /* brokers may say anything */
	if (!fine) {
		rg__arena_clear(&topics.arena);
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	}
	put_in_order(&topics);
	*ret_topics = topics;
	return RG_OK;
}

void rg__topics_free(struct rg__topics *topics)
{
	rg__arena_clear(&topics->arena);
	*topics = (struct rg__topics){0};
}

bool rg__topics_equal(const struct rg__topics *a, const struct rg__topics *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

const char *rg__topics_find(const struct rg__topics *topics, struct rg__bytes name)
{
	size_t low = 0, high = topics->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = rg__bytes_compare(rg__bytes_of(topics->items[middle]), name);

		if (!order)
			return topics->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* --- Bytes -------------------------------------------------------------------------------------------------------- */

bool rg__partitions_by_topic(const struct rg__partitions *partitions, struct rg__arena *arena,
                             struct rg__array *ret_topics)
{
	struct rg__consumer_protocol_topic_partition *topics;
	int32_t *numbers;
	int32_t count = 0;

	topics = rg__arena_calloc(arena, partitions->count, sizeof(*topics));
	numbers = rg__arena_calloc(arena, partitions->count, sizeof(*numbers));
	if (!topics || !numbers)
		return false;
	for (size_t i = 0; i < partitions->count; i++) {
		const struct rg__partition *at = &partitions->items[i];

		numbers[i] = at->number;
		if (!i || strcmp(at->topic, partitions->items[i - 1].topic) != 0) {
			topics[count].topic = rg__bytes_of(at->topic);
			topics[count++].partitions.items = &numbers[i];
		}
		topics[count - 1].partitions.count++;
	}
	*ret_topics = (struct rg__array){topics, count};
	return true;
}

/* Asks the assignor, again with more room while it wants more. */
static rg_err ask_userdata(const struct rg__listed_assignor *listed, const struct rg__topics *topics,
                           struct rg__arena *arena,
                           struct rg__bytes *ret_userdata, rg_error *error)
{
	const rg_assignor *assignor = listed->assignor;
	int32_t capacity = USERDATA_FIRST;

	for (int tries = 0; tries < USERDATA_TRIES; tries++) {
		uint8_t *room = rg__arena_calloc(arena, (size_t)capacity, 1);
		int32_t len;

		if (!room)
			return rg__fail(error, RG_ERR_MEMORY, "out of memory");
		len = assignor->subscription_userdata(topics->items, (int32_t)topics->count, room, capacity, listed->user);
		if (len < 0)
			return rg__fail(error, RG_ERR_ASSIGNOR, "assignor %s: subscription_userdata returned %d", assignor->name,
			                (int)len);
		if (len <= capacity) {
			*ret_userdata = len ? (struct rg__bytes){room, (size_t)len} : RG__NULL_BYTES;
			return RG_OK;
		}
		if (len > USERDATA_MAX)
			return rg__fail(error, RG_ERR_ASSIGNOR, "assignor %s: %d bytes of userdata are too many, %d are allowed",
			                assignor->name, (int)len, USERDATA_MAX);
		capacity = len;
	}
	return rg__fail(error, RG_ERR_ASSIGNOR, "assignor %s: subscription_userdata wants more room each time it is asked",
	                assignor->name);
}

rg_err rg__subscription_write(const struct rg__subscriber *subscriber, const struct rg__listed_assignor *assignor,
                              bool ask,
                              struct rg__buf *out, rg_error *error)
{
	const struct rg__topics *topics = subscriber->topics;
	struct rg__consumer_protocol_subscription subscription;
	struct rg__codec_error refused = {0};
	struct rg__arena arena = {0};
	struct rg__bytes *names = rg__arena_calloc(&arena, topics->count, sizeof(*names));
	rg_err err = names ? RG_OK : rg__fail(error, RG_ERR_MEMORY, "out of memory");

	rg__fields_init(&rg__consumer_protocol_subscription_fields, &subscription);
	for (size_t i = 0; names && i < topics->count; i++)
		names[i] = rg__bytes_of(topics->items[i]);
	subscription.topics = (struct rg__array){names, (int32_t)topics->count};
	subscription.rack_id = rg__bytes_of(subscriber->rack);
	/* KIP-792. Also where nothing is owned: a coordinator rebalances for a follower only when it says something new. */
	subscription.generation_id = subscriber->generation;
	if (!err && subscriber->owned &&
	    !rg__partitions_by_topic(subscriber->owned, &arena, &subscription.owned_partitions))
		err = rg__fail(error, RG_ERR_MEMORY, "out of memory");
	if (!err && ask && assignor->assignor->subscription_userdata)
		err = ask_userdata(assignor, topics, &arena, &subscription.user_data, error);
	if (!err && !rg__subscription_encode(RG__CONSUMER_PROTOCOL_LAST, &subscription, out, &refused)) {
		char text[RG__CODEC_TEXT_MAX];

		rg__codec_error_text(&refused, text, sizeof(text));
		err = rg__fail(error, refused.out_of_memory ? RG_ERR_MEMORY : RG_ERR_INVALID, "%s", text);
	}
	rg__arena_clear(&arena);
	return err;
}
