/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_unsubscribe, rg_consumer_close, rg_consumer_free: giving everything up in every state, in bounded time. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"

#include <limits.h>

enum { MEMBER_MORE_MS = 50 };

static int left_ms(int64_t until_us)
{
	int64_t ms = (until_us - rg__mono_us()) / 1000;

	return ms < 0 ? 0 : ms < INT_MAX ? (int)ms : INT_MAX;
}

/* What the member had to say and nobody asked about: errors are logged, of the rest only a loss matters now. */
static rg_cause drain_events(rg_consumer *consumer)
{
	rg_cause cause = RG_CAUSE_NONE;
	rg_member_event *event;

	while ((event = rg__next_event(consumer))) {
		if (event->type == RG_MEMBER_LOST) {
			cause = event->cause;
		} else if (event->type == RG_MEMBER_ERROR) {
			rg__log(&consumer->log, RG__LOG_WARNING, "CONSUMER", "%s", event->error.text);
		} else if (event->type == RG_MEMBER_LEFT) {
			consumer->seat = RG__SEAT_NONE; /* it comes once: whoever drops it must know */
			consumer->left_with = event->error;
		}
		rg_member_event_free(event);
	}
	return cause;
}

static rg_err revoke_all(rg_consumer *consumer, int64_t until_us, rg_error *error)
{
	int wait_ms = left_ms(until_us);
	struct rg__partitions all = rg__owned_list(&consumer->owned);
	rg_err err = RG_OK;

	rg__mark_closing(consumer, &all);
	if (consumer->conf->settings.enable_auto_commit) {
		rg__auto_commit_drop(consumer);
		/* Some of the time is for leaving. */
		err = rg__commit_positions(consumer, true, wait_ms - wait_ms / 4, error);
		if (err)
			rg__log(&consumer->log, RG__LOG_WARNING, "COMMIT", "not all was committed at the end: %s", error->text);
	}
	rg__revoke(consumer, &all);
	return err;
}

struct way {
	int32_t generation;
	bool open;
};

static void make_way(rg_consumer *consumer, void *arg)
{
	struct way *way = arg;

	way->open = rg__member_generation(consumer->member) == way->generation && rg__member_make_way(consumer->member);
}

/* In a rebalance it is what a cooperative member keeps (KIP-429), and can commit until the new generation begins. */
static bool may_give_back(rg_consumer *consumer)
{
	struct way way = {.generation = consumer->generation};

	if (consumer->generation < 0 || consumer->failed || !consumer->owned.count)
		return false;
	if (!consumer->rebalancing)
		return true;
	rg__on_loop(consumer, make_way, &way);
	return way.open;
}

/* In a generation that still holds everything is given up in order, and committed. Otherwise others may have it already,
 * and it is lost. */
static rg_err give_up(rg_consumer *consumer, int64_t until_us, rg_error *error)
{
	rg_cause cause = drain_events(consumer);

	rg__drop_step(consumer);
	rg__drop_positions(consumer);
	if (cause == RG_CAUSE_NONE && may_give_back(consumer))
		return revoke_all(consumer, until_us, error);
	rg__lose_all(consumer, cause);
	return RG_OK;
}

struct leaving {
	int how;
	const char *reason;
	int timeout_ms;
	rg_err err;
};

static void say_leave(rg_consumer *consumer, void *arg)
{
	struct leaving *leaving = arg;

	leaving->err = rg_member_leave(consumer->member, (rg_leave)leaving->how, leaving->reason, leaving->timeout_ms);
	rg__take_events(consumer); /* where no LeaveGroup is sent it has left already, and no time is needed to hear of it */
}

/* False: no word within the time. */
static bool wait_for_left(rg_consumer *consumer, int64_t until_us)
{
	for (;;) {
		drain_events(consumer);
		if (consumer->seat == RG__SEAT_NONE || rg__mono_us() >= until_us)
			return consumer->seat == RG__SEAT_NONE;
		rg__news(consumer);
		if (!rg__any_event_waits(consumer))
			rg__sleep(consumer, until_us);
	}
}

static rg_err leave(rg_consumer *consumer, int how, const char *reason, int64_t until_us, rg_error *error)
{
	int wait_ms = left_ms(until_us);
	/* The member says RG_MEMBER_LEFT, too, when its time is up. It has a little more, so that we know the difference. */
	struct leaving leaving = {how, reason, wait_ms < INT_MAX - MEMBER_MORE_MS ? wait_ms + MEMBER_MORE_MS : INT_MAX, RG_OK};

	if (consumer->seat == RG__SEAT_TAKEN) {
		rg__on_loop(consumer, say_leave, &leaving);
		consumer->seat = leaving.err ? RG__SEAT_NONE : RG__SEAT_LEAVING;
	}
	consumer->left_with = (rg_error){0};
	if (consumer->seat == RG__SEAT_NONE || wait_for_left(consumer, until_us)) {
		if (!consumer->left_with.code)
			return RG_OK;
		return rg__fail(error, RG_ERR_TIMED_OUT, "%s, but the session timeout has to end the membership: %s", reason,
		                consumer->left_with.text);
	}
	return rg__fail(error, RG_ERR_TIMED_OUT, "%s: the coordinator did not answer LeaveGroup in time", reason);
}

static rg_err end_subscription(rg_consumer *consumer, int how, const char *reason, int timeout_ms, rg_error *error)
{
	int64_t until_us = timeout_ms < 0 ? INT64_MAX / 2 : rg__mono_us() + timeout_ms * INT64_C(1000);
	/* Not the caller's: callbacks may use that for calls of their own. */
	rg_error not_committed, not_left, *said = NULL;
	rg_err err, left;

	rg__settle(consumer);
	consumer->ending = true;
	err = give_up(consumer, until_us, &not_committed);
	consumer->ending = false;
	rg__lead_forget(consumer);
	rg__async_end(consumer, until_us - left_ms(until_us) * INT64_C(250)); /* a quarter is for leaving */
	rg__on_loop(consumer, rg__watch_nothing, NULL);
	rg__forget_subscription(consumer);
	rg__fetch_topics(consumer);
	if (consumer->closing)
		rg__fetch_end(consumer);
	left = leave(consumer, how, reason, until_us, &not_left);
	consumer->rebalancing = consumer->retry = false;
	consumer->error_count = consumer->errors_left_out = 0;
	consumer->generation = -1;
	rg__not_pending(consumer);
	if (err && (err == RG_ERR_TIMED_OUT || !left))
		said = &not_committed;
	else if (left)
		said = &not_left;
	if (said && error)
		*error = *said;
	return said ? said->code : RG_OK;
}

rg_err rg_consumer_unsubscribe(rg_consumer *consumer, int timeout_ms, rg_error *error)
{
	rg_err err;

	if (consumer->inside)
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_unsubscribe: called inside a callback");
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "rg_consumer_unsubscribe: the consumer is closed");
	if (rg__check_timeout("rg_consumer_unsubscribe", timeout_ms, error))
		return RG_ERR_INVALID;
	/* The application gives its seat up, also a static one: this is no restart of the process. */
	err = end_subscription(consumer, RG_LEAVE_ALWAYS, "unsubscribed", timeout_ms, error);
	rg__forget_generation(consumer);
	consumer->listener = (rg_listener){0};
	return err;
}

static void end_loop(rg_consumer *consumer, void *unused)
{
	(void)unused;
	rg__committer_end(consumer);
	rg__watch_end(consumer);
	rg__finder_end(consumer);
	rg__alive_end(consumer);
}

rg_err rg_consumer_close(rg_consumer *consumer, int how, int timeout_ms, rg_error *error)
{
	rg_err err;

	if (consumer->inside)
		return rg__fail(error, RG_ERR_STATE, "rg_consumer_close: called inside a callback");
	if (how != RG_CLOSE_DEFAULT && how != RG_CLOSE_LEAVE && how != RG_CLOSE_REMAIN)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_close: %d is no way to close", how);
	if (rg__check_timeout("rg_consumer_close", timeout_ms, error))
		return RG_ERR_INVALID;
	if (consumer->closed)
		return RG_OK;
	consumer->closing = true;
	err = end_subscription(consumer, how, "closed", timeout_ms, error);
	consumer->closed = true;
	rg__event_of(consumer, "closed", NULL, NULL);
	rg__thread_stop(consumer);
	rg__on_loop(consumer, end_loop, NULL);
	rg_member_free(consumer->member);
	consumer->member = NULL;
	return err;
}

void rg_consumer_free(rg_consumer *consumer)
{
	if (!consumer || consumer->inside)
		return;
	if (!consumer->closed)
		rg_consumer_close(consumer, RG_CLOSE_REMAIN, 0, NULL);
	rg__consumer_release(consumer);
}
