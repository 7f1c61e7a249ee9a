/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_poll: everything that runs in the application's thread starts here. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"

#include <limits.h>
#include <string.h>

enum { FAILED_PAUSE_MS = 1000 };

void rg__pass_on(rg_consumer *consumer, const rg_error *error)
{
	for (unsigned i = 0; i < consumer->error_count; i++)
		if (!strcmp(consumer->errors[i].text, error->text))
			return; /* again, before anybody has taken it */
	if (consumer->error_count < RG__ERRORS_MAX)
		consumer->errors[consumer->error_count++] = *error;
	else
		consumer->errors_left_out++;
}

void rg__tell(rg_consumer *consumer, const rg_error *error)
{
	rg__log(&consumer->log, rg__told_again(&consumer->told, rg__mono_us(), error) ? RG__LOG_DEBUG : RG__LOG_ERR,
	        "CONSUMER", "%s", error->text);
	rg__pass_on(consumer, error);
}

void rg__settle(rg_consumer *consumer)
{
	for (size_t i = 0; i < consumer->returned_count; i++) {
		const struct rg__returned *returned = &consumer->returned[i];
		struct rg__slot *slot = rg__owned_find_epoch(&consumer->owned, &returned->at, returned->epoch);

		if (!slot)
			continue;
		slot->position = returned->next;
		slot->leader_epoch = returned->leader_epoch;
	}
	consumer->returned_count = 0;
}

/* --- What is due -------------------------------------------------------------------------------------------------- */

/* One thing. False: there is nothing to do now. */
static bool work_once(rg_consumer *consumer)
{
	rg_member_event *event;

	if (consumer->step != RG__STEP_NONE) {
		if ((event = rg__next_error(consumer))) {
			rg__handle_event(consumer, event);
			return true;
		}
		return rg__continue_step(consumer);
	}
	if (!(event = rg__next_event(consumer)))
		return false;
	rg__handle_event(consumer, event);
	return true;
}

bool rg__work(rg_consumer *consumer)
{
	bool news = rg__news(consumer);

	if (news && consumer->step == RG__STEP_NONE)
		rg__auto_commit_done(consumer);
	if (news || consumer->step != RG__STEP_NONE)
		while (!consumer->error_count && work_once(consumer))
			;
	/* Poll returns with the error first; what is left to do is not forgotten. */
	if (consumer->error_count && news)
		rg__news_again(consumer);
	if (consumer->async_first)
		rg__async_deliver(consumer);
	if (consumer->step == RG__STEP_NONE)
		rg__take_found(consumer, false);
	rg__start_positions(consumer);
	/* What an eager member owns is about to be given up, and has been committed: nothing may come out after that. */
	return consumer->step == RG__STEP_PREPARE && !consumer->strategy.cooperative;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void say_retry(rg_consumer *consumer, void *unused)
{
	(void)unused;
	rg__member_polling(consumer->member, true);
	rg_member_retry(consumer->member);
}

static bool take_error(rg_consumer *consumer, rg_error *ret_error)
{
	rg_error first;

	if (!consumer->error_count)
		return false;
	first = consumer->errors[0];
	consumer->error_count--;
	memmove(consumer->errors, consumer->errors + 1, consumer->error_count * sizeof(first));
	if (!consumer->error_count && consumer->errors_left_out) {
		rg__fail(&consumer->errors[consumer->error_count++], first.code, "%u more errors; the log has them",
		         consumer->errors_left_out);
		consumer->errors_left_out = 0;
	}
	if (ret_error)
		*ret_error = first;
	return true;
}

/* There may still be something to lose. True: it has told an error. */
static bool poll_failed(rg_consumer *consumer, int timeout_ms, rg_error *ret_error)
{
	int64_t pause_ms = timeout_ms < 0 || timeout_ms > FAILED_PAUSE_MS ? FAILED_PAUSE_MS : timeout_ms;
	int64_t until_us = rg__mono_us() + pause_ms * 1000;

	do {
		rg__work(consumer);
		if (take_error(consumer, ret_error))
			return true;
		if (rg__woken_up(consumer))
			return false;
		rg__sleep(consumer, until_us);
	} while (rg__mono_us() < until_us);
	rg__fail(ret_error, RG_ERR_FATAL, "the consumer has failed for good; close it");
	return true;
}

/* --- Poll --------------------------------------------------------------------------------------------------------- */

static void sooner(int64_t *until_us, bool applies, int64_t at_us)
{
	if (applies && at_us < *until_us)
		*until_us = at_us;
}

/* When poll must look again although nobody wakes it. */
static int64_t next_look(rg_consumer *consumer, int64_t until_us)
{
	sooner(&until_us, consumer->conf->settings.enable_auto_commit && consumer->owned.count, consumer->auto_commit_at);
	sooner(&until_us, true, rg__start_positions_at(consumer));
	sooner(&until_us, consumer->step == RG__STEP_AGAIN || consumer->step == RG__STEP_ANSWER, consumer->again_at);
	sooner(&until_us, consumer->step == RG__STEP_PREPARE && rg__is_looking(consumer), consumer->found_by);
	return until_us;
}

static int to_ms(int64_t us)
{
	int64_t ms = us > 0 ? (us + 999) / 1000 : 0;

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* *ret_told: it has told an error. */
static rd_kafka_message_t *poll_until(rg_consumer *consumer, int64_t until_us, rg_error *ret_error, bool *ret_told)
{
	for (;;) {
		bool held = rg__work(consumer);
		int64_t now_us = rg__mono_us();
		rd_kafka_message_t *message = NULL;

		rg__auto_commit_due(consumer, now_us);
		*ret_told = take_error(consumer, ret_error);
		if (*ret_told || rg__woken_up(consumer))
			return NULL;
		if (held)
			rg__sleep(consumer, next_look(consumer, until_us));
		else
			message = rg__fetch_poll(consumer, to_ms(next_look(consumer, until_us) - now_us));
		if (message || (now_us >= until_us && (held || !rg__any_news(consumer))))
			return message;
	}
}

/* Then a record that is here already may go out without another look around: nearly all do. */
static bool nothing_is_due(rg_consumer *consumer, int64_t now_us)
{
	return !rg__any_news(consumer) && consumer->step == RG__STEP_NONE && !consumer->starting && !consumer->async_first &&
	       !consumer->error_count && !consumer->retry && !consumer->failed && !atomic_load(&consumer->wakeup) &&
	       now_us < consumer->auto_commit_at;
}

static bool may_poll(const rg_consumer *consumer, const char *call, int timeout_ms, rg_error *ret_error)
{
	if (consumer->inside)
		rg__fail(ret_error, RG_ERR_STATE, "%s: called inside a callback", call);
	else if (consumer->closed)
		rg__fail(ret_error, RG_ERR_CLOSED, "%s: the consumer is closed", call);
	else
		return !rg__check_timeout(call, timeout_ms, ret_error);
	return false;
}

/* All of its text would be half a kilobyte to clear, for each record. */
static void no_error(rg_error *ret_error)
{
	if (!ret_error)
		return;
	ret_error->code = RG_OK;
	ret_error->text[0] = '\0';
}

static rd_kafka_message_t *poll_one(rg_consumer *consumer, int timeout_ms, rg_error *ret_error)
{
	rd_kafka_message_t *message;
	int64_t until_us, now_us = rg__mono_coarse_us();
	bool told = false;

	rg__polls_begin(&consumer->polls, &consumer->windows, now_us);
	rg__settle(consumer);
	if (nothing_is_due(consumer, now_us) && (message = rg__fetch_ready(consumer))) {
		rg__polls_end(&consumer->polls, now_us);
		atomic_store(&consumer->left_poll_at, now_us);
		no_error(ret_error);
		return message;
	}
	until_us = timeout_ms < 0 ? INT64_MAX / 2 : rg__mono_us() + timeout_ms * INT64_C(1000);
	atomic_store(&consumer->left_poll_at, 0);
	if (consumer->retry) {
		consumer->retry = false;
		rg__on_loop(consumer, say_retry, NULL);
	}
	message = NULL;
	if (!consumer->failed)
		message = poll_until(consumer, until_us, ret_error, &told);
	else
		told = poll_failed(consumer, timeout_ms, ret_error);
	/* At the end: callbacks may have used the same rg_error for calls of their own. */
	if (!told)
		no_error(ret_error);
	now_us = rg__mono_coarse_us();
	rg__polls_end(&consumer->polls, now_us);
	atomic_store(&consumer->left_poll_at, now_us);
	return message;
}

rd_kafka_message_t *rg_consumer_poll(rg_consumer *consumer, int timeout_ms, rg_error *ret_error)
{
	if (!may_poll(consumer, "rg_consumer_poll", timeout_ms, ret_error))
		return NULL;
	return poll_one(consumer, timeout_ms, ret_error);
}

/* Each record may begin a run of its own. */
static bool room_for_returned(rg_consumer *consumer, size_t count)
{
	struct rg__returned *grown;

	if (count <= consumer->returned_capacity)
		return true;
	if (!(grown = rg__realloc(consumer->returned, count * sizeof(*grown))))
		return false;
	consumer->returned = grown;
	consumer->returned_capacity = count;
	return true;
}

size_t rg_consumer_poll_batch(rg_consumer *consumer, rd_kafka_message_t **messages, size_t count, int timeout_ms,
                              rg_error *ret_error)
{
	rd_kafka_message_t *first;
	size_t got = 0;

	if (!may_poll(consumer, "rg_consumer_poll_batch", timeout_ms, ret_error))
		return 0;
	if (!messages || !count || count > RG_BATCH_MAX) {
		rg__fail(ret_error, RG_ERR_INVALID, "rg_consumer_poll_batch: room for 1 to %d messages is needed", RG_BATCH_MAX);
		return 0;
	}
	if (!room_for_returned(consumer, count)) {
		rg__fail(ret_error, RG_ERR_MEMORY, "rg_consumer_poll_batch: out of memory");
		return 0;
	}
	first = poll_one(consumer, timeout_ms, ret_error);
	if (first) {
		messages[got++] = first;
		got += rg__fetch_more(consumer, messages + 1, count - 1);
	}
	return got;
}
