/* SPDX-License-Identifier: Apache-2.0 */
/* What the member's events mean for the application: a rebalance as the listener sees it. */
#include "base/alloc.h"
#include "base/backoff.h"
#include "base/error.h"
#include "consumer/assignment.h"
#include "consumer/hint.h"
#include "consumer/internal.h"

#include <string.h>

static void out_of_memory(rg_consumer *consumer, const char *what)
{
	rg_error error;

	rg__fail(&error, RG_ERR_MEMORY, "out of memory: %s", what);
	rg__tell(consumer, &error);
}

void rg__forget_generation(rg_consumer *consumer)
{
	rg_member_event_free(consumer->completed);
	consumer->completed = NULL;
	consumer->member_id = consumer->protocol = "";
	consumer->generation = -1;
	consumer->is_leader = false;
}

static void set_generation(rg_consumer *consumer, rg_member_event *event)
{
	rg__forget_generation(consumer);
	consumer->completed = event;
	consumer->member_id = event->member_id;
	consumer->protocol = event->protocol;
	consumer->generation = event->generation;
	consumer->is_leader = event->is_leader;
}

/* --- Giving up ---------------------------------------------------------------------------------------------------- */

void rg__mark_closing(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	for (size_t i = 0; i < partitions->count; i++) {
		struct rg__slot *slot =
			rg__owned_find(&consumer->owned, partitions->items[i].topic, partitions->items[i].number);

		if (slot)
			slot->closing = true;
	}
}

/* Nothing more comes out of them from here on; they are the member's until the callback has returned. */
void rg__revoke(rg_consumer *consumer, const struct rg__partitions *partitions)
{
	rg__mark_closing(consumer, partitions);
	rg__fetch_stop(consumer, partitions);
	rg__call_revoked(consumer, partitions);
	rg__owned_remove(&consumer->owned, partitions);
}

void rg__lose_all(rg_consumer *consumer, rg_cause cause)
{
	struct rg__partitions all = rg__owned_list(&consumer->owned);

	rg__auto_commit_drop(consumer);
	if (all.count) {
		rg__fetch_stop(consumer, &all);
		rg__owned_remove(&consumer->owned, &all);
		rg__call_lost(consumer, &all, cause);
	}
	consumer->generation = -1;
	consumer->is_leader = false;
}

/* --- The step under way ------------------------------------------------------------------------------------------- */

void rg__drop_step(rg_consumer *consumer)
{
	if (consumer->step == RG__STEP_LEAD)
		rg__lead_drop(consumer);
	if (consumer->event != consumer->completed)
		rg_member_event_free(consumer->event);
	consumer->event = NULL;
	consumer->step = RG__STEP_NONE;
	consumer->again_failures = 0;
	consumer->given_up = consumer->assigned = consumer->revoked = consumer->added = (struct rg__partitions){0};
	rg__arena_clear(&consumer->step_arena);
}

static struct rg__partitions room_for(rg_consumer *consumer, size_t count)
{
	return (struct rg__partitions){rg__arena_calloc(&consumer->step_arena, count, sizeof(struct rg__partition)), 0};
}

/* What failed just now is likely to fail again at once, and poll would do nothing else. */
static void pause_before(rg_consumer *consumer, enum rg__step step)
{
	const struct rg__settings *settings = &consumer->conf->settings;

	consumer->step = step;
	consumer->again_at = rg__mono_us() + rg__backoff(settings->retry_backoff_ms * INT64_C(1000),
	                                                 settings->retry_backoff_max_ms * INT64_C(1000),
	                                                 consumer->again_failures++, &consumer->random);
}

/* Nothing of the event was dealt with yet: it is once more, after a pause. */
static void again_later(rg_consumer *consumer, const char *what)
{
	out_of_memory(consumer, what);
	rg__arena_clear(&consumer->step_arena);
	pause_before(consumer, RG__STEP_AGAIN);
}

/* --- RG_MEMBER_PREPARE, RG_MEMBER_LOST ---------------------------------------------------------------------------- */

/* Without an answer the member waits, so a failure is told, and the answer tried again after a pause. */
static void answer(rg_consumer *consumer)
{
	rg_error error;

	if (rg__answer_ask(consumer, consumer->event->ticket, &error)) {
		pause_before(consumer, RG__STEP_ANSWER);
		rg__tell(consumer, &error);
		return;
	}
	rg__drop_step(consumer);
	rg__lead_expect(consumer);
}

static void finish_prepare(rg_consumer *consumer)
{
	rg__take_found(consumer, true);
	rg__call_join_prepare(consumer);
	if (rg__event_waits(consumer, RG_MEMBER_LOST)) {
		rg__drop_step(consumer); /* what would be given up is gone already, and that will be answered */
		return;
	}
	if (consumer->given_up.count)
		rg__revoke(consumer, &consumer->given_up);
	answer(consumer);
}

/* How long the commit before a rebalance may take: the group waits for this member no longer than max.poll.interval.ms,
 * and the callbacks need some of that. */
static int64_t commit_time_ms(const rg_consumer *consumer)
{
	const struct rg__settings *settings = &consumer->conf->settings;
	int64_t half_ms = settings->max_poll_interval_ms / 2;

	return half_ms < settings->default_api_timeout_ms ? half_ms : settings->default_api_timeout_ms;
}

static void prepare(rg_consumer *consumer)
{
	struct rg__partitions owned = rg__owned_list(&consumer->owned);

	consumer->given_up = room_for(consumer, owned.count);
	if (!consumer->given_up.items) {
		again_later(consumer, "what is to be given up could not be listed");
		return;
	}
	consumer->step = RG__STEP_PREPARE;
	rg__look_before_join(consumer);
	rg__ownership_before_join(&owned, consumer->strategy.cooperative, consumer->topics.items, consumer->topics.count,
	                          &consumer->given_up);
	/* Between this commit and the revocation no record may come out: it would be read twice. */
	rg__mark_closing(consumer, &consumer->given_up);
	/* What a cooperative member keeps is committed, too: behind the JoinGroup nothing can be for as long as the rebalance
	 * takes, and it may end with this member going. */
	rg__auto_commit_before(consumer, NULL, commit_time_ms(consumer));
	if (rg__auto_commit_done(consumer) && !rg__is_looking(consumer))
		finish_prepare(consumer);
}

/* --- RG_MEMBER_COMPLETE ------------------------------------------------------------------------------------------- */

static void tell_assignor(rg_consumer *consumer, const struct rg__listed_assignor *assignor)
{
	rg_assignment *assignment = &consumer->assignment_view;

	if (!assignor || !assignor->assignor->on_assignment)
		return;
	assignment->size = sizeof(*assignment);
	assignment->userdata = consumer->assignment_userdata;
	assignment->generation = consumer->generation;
	assignment->member_id = consumer->member_id;
	rg__callback_begins(consumer);
	assignor->assignor->on_assignment(assignment, assignor->user);
	rg__callback_ended(consumer);
}

struct completion {
	int32_t group_size;
	const char *rejoin; /* NULL: no */
	struct rg__watch_list watch;
	bool watch_changes;
};

static void say_completion(rg_consumer *consumer, void *arg)
{
	struct completion *completion = arg;

	rg__member_group_size(consumer->member, completion->group_size);
	if (completion->watch_changes)
		rg__watch_set(consumer, &completion->watch);
	if (completion->rejoin)
		rg_member_rejoin(consumer->member, completion->rejoin);
}

/* A leader's watch was set with its plan, unless it kept its predecessor's (KIP-814): then it has to find out itself
 * which topics the group has, or their growth would go unnoticed. */
static void choose_watch(rg_consumer *consumer, struct rg__leading *leading, struct rg__bytes userdata,
                         struct completion *completion)
{
	const rg_member_event *event = consumer->event;

	completion->watch.ours = consumer->topics.items;
	completion->watch.ours_count = consumer->topics.count;
	completion->watch_changes = !event->is_leader || event->skip_assignment;
	if (!event->is_leader || !event->skip_assignment)
		return;
	completion->watch.leads = true;
	completion->watch.inherits = rg__hint_partitions(userdata, &completion->watch.made_for);
	if (rg__leading_begin(leading, event->members, event->member_count, &consumer->log)) {
		completion->watch.names = leading->topics;
		completion->watch.count = (size_t)leading->topic_count;
	}
}

static void take_added(rg_consumer *consumer)
{
	rg__owned_add(&consumer->owned, &consumer->added);
	rg__fetch_owned_topics(consumer);
	rg__call_assigned(consumer, &consumer->added);
	consumer->starting = true;
	consumer->offsets_fetch_at = 0;
}

/* KIP-345: a static member that was restarted gets what its predecessor had, whatever it subscribes to now, and nobody is
 * told that this has changed. What the leader took it to be is in the hint; where there is none, a topic that is not
 * subscribed to gives it away. */
static bool is_of_another_subscription(const rg_consumer *consumer, size_t dropped)
{
	uint32_t ours = 0, theirs;

	for (size_t i = 0; i < consumer->topics.count; i++)
		ours = rg__hint_mix(ours, rg__bytes_of(consumer->topics.items[i]));
	if (rg__hint_topics((struct rg__bytes){consumer->assignment_userdata.data, consumer->assignment_userdata.len}, &theirs))
		return ours != theirs;
	return dropped > 0;
}

/* `stale`: the plan was made for what this member's predecessor wanted. */
static void finish_complete(rg_consumer *consumer, bool stale)
{
	const struct rg__listed_assignor *assignor = rg__strategy_find(&consumer->strategy, consumer->event->protocol);
	struct completion completion = {0};
	struct rg__leading leading = {0};
	rg_bytes userdata = consumer->assignment_userdata;
	struct rg__bytes hint = RG__NULL_BYTES;

	if (consumer->revoked.count) {
		rg__revoke(consumer, &consumer->revoked);
		completion.rejoin = "gave up partitions that the new assignment takes away"; /* KIP-429: now others may get them */
	}
	if (stale)
		completion.rejoin = "subscribes to other topics than the plan was made for";
	if (assignor && assignor->builtin) {
		hint = (struct rg__bytes){userdata.data, userdata.len};
		completion.group_size = rg__hint_read(hint);
		consumer->assignment_userdata = (rg_bytes){0};
	}
	tell_assignor(consumer, assignor);
	take_added(consumer);
	choose_watch(consumer, &leading, hint, &completion);
	rg__on_loop(consumer, say_completion, &completion);
	rg__leading_end(&leading);
	rg__drop_step(consumer);
	rg__not_pending(consumer);
}

/* The names in an assignment become the consumer's own: the subscription may change before the step is over. */
static bool keep_names(rg_consumer *consumer)
{
	for (size_t i = 0; i < consumer->assigned.count; i++) {
		struct rg__partition *at = &consumer->assigned.items[i];

		at->topic = i && !strcmp(at->topic, consumer->assigned.items[i - 1].topic)
		                    ? consumer->assigned.items[i - 1].topic
		                    : rg__owned_topic(&consumer->owned, at->topic, strlen(at->topic));
		if (!at->topic)
			return false;
	}
	return true;
}

/* All that needs memory, so that what follows is not left half done. `ret_dropped`: how much of it is not for this
 * member. False: out of memory. */
static bool read_assignment(rg_consumer *consumer, size_t *ret_dropped)
{
	rg_error error;
	size_t dropped = 0;
	struct rg__partitions owned = rg__owned_list(&consumer->owned);
	rg_err err;

	err = rg__assignment_read(consumer->event->assignment, &consumer->topics, &consumer->step_arena, &consumer->log,
	                          &consumer->assigned, &consumer->assignment_userdata, &dropped, &error);
	if (err == RG_ERR_MEMORY)
		return false;
	consumer->revoked = room_for(consumer, owned.count);
	consumer->added = room_for(consumer, consumer->assigned.count);
	if (!keep_names(consumer) || !consumer->revoked.items || !consumer->added.items ||
	    !rg__assignment_view(&consumer->assigned, &consumer->step_arena, &consumer->assignment_view) ||
	    !rg__owned_reserve(&consumer->owned, consumer->assigned.count))
		return false;
	if (err)
		rg__tell(consumer, &error);
	if (dropped)
		rg__log(&consumer->log, RG__LOG_NOTICE, "ASSIGNMENT",
		        "%zu partitions of the assignment are not subscribed to, or named twice; they are left alone", dropped);
	owned = rg__owned_list(&consumer->owned);
	rg__ownership_after_join(&owned, &consumer->assigned, &consumer->revoked, &consumer->added);
	*ret_dropped = dropped;
	return true;
}

static void complete(rg_consumer *consumer)
{
	/* After the first answer it is this member itself that the leader knows. */
	bool inherits = consumer->conf->settings.group_instance_id && consumer->generation < 0;
	size_t dropped;

	rg__lead_forget(consumer);
	consumer->assigned.count = 0;
	if (!read_assignment(consumer, &dropped)) {
		again_later(consumer, "the assignment could not be taken over");
		return;
	}
	set_generation(consumer, consumer->event);
	consumer->auto_commit_at = rg__mono_us() + consumer->conf->settings.auto_commit_interval_ms * INT64_C(1000);
	rg__call_join_complete(consumer);
	rg__mark_closing(consumer, &consumer->revoked);
	if (consumer->revoked.count && rg__auto_commit_before(consumer, &consumer->revoked, commit_time_ms(consumer))) {
		consumer->step = RG__STEP_REVOKE;
		return;
	}
	finish_complete(consumer, inherits && is_of_another_subscription(consumer, dropped));
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* An error does not wait for the step under way, which may be waiting for what the error is about. */
static void handle_error(rg_consumer *consumer, rg_member_event *event)
{
	rg__pass_on(consumer, &event->error); /* the member has logged it */
	consumer->failed |= event->fatal != 0;
	consumer->retry |= !event->fatal;
	if (event->fatal)
		rg__not_pending(consumer);
	rg_member_event_free(event);
}

static void handle_left(rg_consumer *consumer)
{
	rg_error error;

	rg__drop_step(consumer);
	consumer->seat = RG__SEAT_NONE;
	/* With patterns it joins when they have been looked for. */
	if (consumer->asked.count && (!consumer->patterns || consumer->found_version) && rg__join(consumer, &error))
		rg__tell(consumer, &error);
}

static void handle(rg_consumer *consumer)
{
	switch (consumer->event->type) {
	case RG_MEMBER_PREPARE:
		prepare(consumer);
		return;
	case RG_MEMBER_LOST:
		rg__lose_all(consumer, consumer->event->cause);
		answer(consumer);
		return;
	case RG_MEMBER_ASSIGN:
		consumer->step = RG__STEP_LEAD;
		rg__lead_start(consumer);
		return;
	case RG_MEMBER_COMPLETE:
		complete(consumer);
		return;
	case RG_MEMBER_LEFT:
		handle_left(consumer);
		return;
	case RG_MEMBER_ERROR:
		break;
	}
}

void rg__handle_event(rg_consumer *consumer, rg_member_event *event)
{
	if (event->type == RG_MEMBER_ERROR) {
		handle_error(consumer, event);
		return;
	}
	consumer->event = event;
	handle(consumer);
}

/* A generation that is lost before it could be taken over began all the same. */
static void again(rg_consumer *consumer, bool lost)
{
	consumer->step = RG__STEP_NONE;
	if (!lost) {
		handle(consumer);
		return;
	}
	if (consumer->event->type == RG_MEMBER_COMPLETE) {
		set_generation(consumer, consumer->event);
		rg__call_join_complete(consumer);
	}
	rg__drop_step(consumer);
}

bool rg__continue_step(rg_consumer *consumer)
{
	bool lost = rg__event_waits(consumer, RG_MEMBER_LOST);

	if ((consumer->step == RG__STEP_AGAIN || consumer->step == RG__STEP_ANSWER) && !lost &&
	    rg__mono_us() < consumer->again_at)
		return false;
	switch (consumer->step) {
	case RG__STEP_NONE:
		break;
	case RG__STEP_AGAIN:
		again(consumer, lost);
		break;
	case RG__STEP_ANSWER:
		if (lost)
			rg__drop_step(consumer); /* the loss asks anew */
		else
			answer(consumer);
		break;
	case RG__STEP_LEAD:
		return rg__lead_continue(consumer);
	case RG__STEP_PREPARE:
		/* When it is lost meanwhile nobody waits for the commit any more. */
		if (!lost && (!rg__auto_commit_done(consumer) || rg__is_looking(consumer)))
			return false;
		rg__auto_commit_drop(consumer);
		finish_prepare(consumer);
		break;
	case RG__STEP_REVOKE:
		if (lost) {
			rg__drop_step(consumer); /* also what was added never became this member's */
			break;
		}
		if (!rg__auto_commit_done(consumer))
			return false;
		finish_complete(consumer, false);
		break;
	}
	return true;
}
