/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_poll: everything that runs in the application's thread starts here. */
#include "base/error.h"
#include "consumer/internal.h"

#include <limits.h>

enum { FAILED_PAUSE_MS = 1000 };

void rg__tell(rg_consumer *consumer, const rg_error *error)
{
	rg__log(&consumer->log, RG__LOG_ERR, "CONSUMER", "%s", error->text);
	/* One that nobody has taken yet is the older, and often the cause. */
	if (!consumer->error.code)
		consumer->error = *error;
}

void rg__settle(rg_consumer *consumer)
{
	struct rg__slot *slot;

	if (!consumer->returned)
		return;
	consumer->returned = false;
	slot = rg__owned_find_epoch(&consumer->owned, &consumer->returned_at, consumer->returned_epoch);
	if (slot)
		slot->position = consumer->returned_offset;
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
		while (!consumer->error.code && work_once(consumer))
			;
	/* Poll returns with the error first; what is left to do is not forgotten. */
	if (consumer->error.code && news)
		rg__news_again(consumer);
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
	if (!consumer->error.code)
		return false;
	if (ret_error)
		*ret_error = consumer->error;
	consumer->error = (rg_error){0};
	return true;
}

/* There may still be something to lose. */
static void poll_failed(rg_consumer *consumer, int timeout_ms, rg_error *ret_error)
{
	int64_t pause_ms = timeout_ms < 0 || timeout_ms > FAILED_PAUSE_MS ? FAILED_PAUSE_MS : timeout_ms;
	int64_t until_us = rg__mono_us() + pause_ms * 1000;

	do {
		rg__work(consumer);
		if (take_error(consumer, ret_error))
			return;
		rg__sleep(consumer, until_us);
	} while (rg__mono_us() < until_us);
	rg__fail(ret_error, RG_ERR_FATAL, "the consumer has failed for good; close it");
}

/* --- Poll --------------------------------------------------------------------------------------------------------- */

static void sooner(int64_t *until_us, bool applies, int64_t at_us)
{
	if (applies && at_us < *until_us)
		*until_us = at_us;
}

/* When poll must look again although nobody wakes it. */
static int64_t next_look(const rg_consumer *consumer, int64_t until_us)
{
	sooner(&until_us, consumer->conf->settings.enable_auto_commit && consumer->owned.count, consumer->auto_commit_at);
	sooner(&until_us, consumer->starting && !consumer->offsets_fetch, consumer->offsets_fetch_at);
	return until_us;
}

static int to_ms(int64_t us)
{
	int64_t ms = us > 0 ? (us + 999) / 1000 : 0;

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static rd_kafka_message_t *poll_until(rg_consumer *consumer, int64_t until_us, rg_error *ret_error)
{
	for (;;) {
		bool held = rg__work(consumer);
		int64_t now_us = rg__mono_us();
		rd_kafka_message_t *message = NULL;

		rg__auto_commit_due(consumer, now_us);
		if (take_error(consumer, ret_error))
			return NULL;
		if (held)
			rg__sleep(consumer, until_us);
		else
			message = rg__fetch_poll(consumer, to_ms(next_look(consumer, until_us) - now_us));
		if (message || (now_us >= until_us && (held || !rg__any_news(consumer))))
			return message;
	}
}

rd_kafka_message_t *rg_consumer_poll(rg_consumer *consumer, int timeout_ms, rg_error *ret_error)
{
	int64_t until_us = timeout_ms < 0 ? INT64_MAX / 2 : rg__mono_us() + timeout_ms * INT64_C(1000);
	rd_kafka_message_t *message = NULL;

	if (consumer->inside) {
		rg__fail(ret_error, RG_ERR_STATE, "rg_consumer_poll: called inside a callback");
		return NULL;
	}
	if (consumer->closed) {
		rg__fail(ret_error, RG_ERR_CLOSED, "rg_consumer_poll: the consumer is closed");
		return NULL;
	}
	if (ret_error)
		*ret_error = (rg_error){0};
	rg__settle(consumer);
	atomic_store(&consumer->left_poll_at, 0);
	if (consumer->retry) {
		consumer->retry = false;
		rg__on_loop(consumer, say_retry, NULL);
	}
	if (consumer->failed)
		poll_failed(consumer, timeout_ms, ret_error);
	else
		message = poll_until(consumer, until_us, ret_error);
	atomic_store(&consumer->left_poll_at, rg__mono_us());
	return message;
}
