/* SPDX-License-Identifier: Apache-2.0 */
/* KIP-62: a member whose application does not poll for max.poll.interval.ms gives its seat up. Poll only writes down
 * when it was left; the loop looks at that no more often than the interval may end. The time that callbacks and assignors
 * take counts as time away from poll. */
#include "consumer/internal.h"

static void look_again_in(rg_consumer *consumer, int64_t us)
{
	rg__timer_set(consumer->poll_timer, rg__now_us(rg__member_io(consumer->member)) + us);
}

static void look(void *user)
{
	rg_consumer *consumer = user;
	int64_t interval_us = consumer->conf->settings.max_poll_interval_ms * INT64_C(1000);
	int64_t left_at = atomic_load(&consumer->left_poll_at);
	int64_t away_us = left_at ? rg__mono_us() - left_at : 0;

	if (away_us < interval_us) {
		look_again_in(consumer, interval_us - away_us);
		return;
	}
	rg__member_left_poll(consumer->member, away_us);
	look_again_in(consumer, interval_us);
}

bool rg__alive_init(rg_consumer *consumer)
{
	consumer->poll_timer = rg__timer_new(rg__member_io(consumer->member), look, consumer);
	return consumer->poll_timer != NULL;
}

void rg__alive_end(rg_consumer *consumer)
{
	rg__timer_free(consumer->poll_timer);
	consumer->poll_timer = NULL;
}

/* From here on the member thinks that it is polled all the time, and hears of the opposite from `look`. */
void rg__alive_watch(rg_consumer *consumer)
{
	rg__member_polling(consumer->member, true);
	look_again_in(consumer, consumer->conf->settings.max_poll_interval_ms * INT64_C(1000));
}

/* A callback that never returns must not keep its partitions for ever, although poll has called it. */
void rg__callback_begins(rg_consumer *consumer)
{
	consumer->inside = true;
	consumer->inside_poll = atomic_load(&consumer->left_poll_at) == 0;
	atomic_store(&consumer->left_poll_at, rg__mono_us());
}

void rg__callback_ended(rg_consumer *consumer)
{
	consumer->inside = false;
	atomic_store(&consumer->left_poll_at, consumer->inside_poll ? 0 : rg__mono_us());
}
