/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_subscribe, and what becomes of a subscription when its patterns find topics. */
#include "base/error.h"
#include "consumer/internal.h"

#include <string.h>

enum { LOOK_BEFORE_JOIN_MS = 1000 };

static void say_changed(rg_consumer *consumer, void *unused)
{
	(void)unused;
	rg_member_rejoin(consumer->member, "the subscription changed");
}

/* The rest happens in the background and in poll. */
static rg_err use_topics(rg_consumer *consumer, struct rg__topics *topics, bool joining, rg_error *error)
{
	struct rg__topics before = consumer->topics;
	rg_err err = RG_OK;

	consumer->topics = *topics;
	if (consumer->seat == RG__SEAT_NONE)
		err = rg__join(consumer, error);
	else if (consumer->seat == RG__SEAT_TAKEN && !joining)
		rg__on_loop(consumer, say_changed, NULL);
	if (err) {
		consumer->topics = before;
		rg__topics_free(topics);
		return err;
	}
	rg__topics_free(&before);
	rg__fetch_topics(consumer);
	return RG_OK;
}

/* --- Patterns ----------------------------------------------------------------------------------------------------- */

static bool owns_of(const rg_consumer *consumer, const char *topic)
{
	for (size_t i = 0; i < consumer->owned.count; i++)
		if (!strcmp(consumer->owned.slots[i].at.topic, topic))
			return true;
	return false;
}

/* A leader that saw a topic first has given out its partitions already, and the group knows nothing less than this
 * member: as in Java that is no reason for another rebalance. */
static bool others_knew_it_all(const rg_consumer *consumer, const struct rg__topics *found)
{
	size_t known = 0;

	for (size_t i = 0; i < found->count; i++)
		if (rg__topics_find(&consumer->topics, rg__bytes_of(found->items[i])))
			known++;
		else if (!owns_of(consumer, found->items[i]))
			return false;
	return known == consumer->topics.count;
}

void rg__take_found(rg_consumer *consumer, bool joining)
{
	struct rg__arena arena = {0};
	struct rg__found_names names = {.arena = &arena};
	struct rg__topics topics;
	rg_error error;
	rg_err err;

	if (!consumer->patterns || rg__finder_version(consumer) == consumer->found_version)
		return;
	rg__on_loop(consumer, rg__finder_take, &names);
	if (names.items)
		err = rg__topics_resolve(&topics, &consumer->asked, names.items, names.count, &error);
	else
		err = rg__fail(&error, RG_ERR_MEMORY, "out of memory");
	rg__arena_clear(&arena);
	if (!err && consumer->seat != RG__SEAT_NONE && rg__topics_equal(&topics, &consumer->topics))
		rg__topics_free(&topics);
	else if (!err)
		err = use_topics(consumer, &topics, joining || others_knew_it_all(consumer, &topics), &error);
	if (err)
		rg__tell(consumer, &error); /* and again at the next poll */
	else
		consumer->found_version = names.version;
}

/* Before a rebalance all members look, so that a new topic needs one rebalance and not one for each of them
 * (KAFKA-7126). */
void rg__look_before_join(rg_consumer *consumer)
{
	if (!consumer->patterns || consumer->generation < 0)
		return; /* it looked just now, when it subscribed */
	consumer->found_by = rg__mono_us() + LOOK_BEFORE_JOIN_MS * INT64_C(1000);
	rg__on_loop(consumer, rg__finder_refresh, NULL);
}

bool rg__is_looking(rg_consumer *consumer)
{
	return consumer->patterns && rg__mono_us() < consumer->found_by && !rg__finder_is_fresh(consumer);
}

void rg__forget_subscription(rg_consumer *consumer)
{
	rg__on_loop(consumer, rg__finder_set, NULL);
	rg__topics_free(&consumer->asked);
	rg__topics_free(&consumer->topics);
	rg__patterns_free(consumer->patterns);
	consumer->patterns = NULL;
	consumer->found_version = 0;
	consumer->found_by = 0;
}

/* --- The call ----------------------------------------------------------------------------------------------------- */

/* With patterns the topics in use stay until it is known what the patterns find. */
static rg_err change_with(rg_consumer *consumer, struct rg__topics *asked, struct rg__patterns *patterns,
                          rg_error *error)
{
	struct rg__patterns *before = consumer->patterns;
	struct rg__topics topics;
	rg_err err;

	if (!patterns) {
		if ((err = rg__topics_resolve(&topics, asked, NULL, 0, error)))
			return err;
		if ((err = use_topics(consumer, &topics, false, error)))
			return err;
	}
	rg__on_loop(consumer, rg__finder_set, patterns);
	rg__topics_free(&consumer->asked);
	consumer->asked = *asked;
	consumer->asked.patterns = consumer->topics.patterns = consumer->patterns = patterns;
	consumer->found_version = 0;
	rg__patterns_free(before);
	return RG_OK;
}

static rg_err change(rg_consumer *consumer, const char *const *names, size_t count, rg_error *error)
{
	struct rg__patterns *patterns;
	struct rg__topics asked;
	rg_err err;

	if ((err = rg__topics_copy(&asked, names, count, error)))
		return err;
	if (rg__topics_equal(&asked, &consumer->asked)) {
		rg__topics_free(&asked);
		return RG_OK;
	}
	if (!(err = rg__patterns_new(asked.items, asked.count, &patterns, error)) &&
	    (err = change_with(consumer, &asked, patterns, error)))
		rg__patterns_free(patterns);
	if (err)
		rg__topics_free(&asked);
	return err;
}

static void set_listener(rg_consumer *consumer, const rg_listener *listener, void *user)
{
	rg_listener copy = {0};

	if (listener)
		memcpy(&copy, listener, listener->size < sizeof(copy) ? listener->size : sizeof(copy));
	consumer->listener = copy;
	consumer->listener_user = user;
}

rg_err rg_consumer_subscribe(rg_consumer *consumer, const char *const *topics, size_t count,
                             const rg_listener *listener, void *user, rg_error *error)
{
	rg_err err;

	if (consumer->inside)
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_subscribe: called inside a callback");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_subscribe: the consumer is closed");
	if (consumer->failed)
		return rg__fail(error, RG_ERR_FATAL, "rg_consumer_subscribe: the consumer has failed for good; close it");
	if (listener && listener->size < sizeof(listener->size))
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_subscribe: the listener's `size` must be sizeof(rg_listener)");
	if ((err = change(consumer, topics, count, error)))
		return err;
	set_listener(consumer, listener, user);
	atomic_store(&consumer->left_poll_at, rg__mono_us()); /* as alive as if it had polled */
	return RG_OK;
}
