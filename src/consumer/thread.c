/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/thread.h"

#include "base/error.h"
#include "consumer/internal.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

struct rg__order {
	struct rg__order *next;
	void (*run)(rg_consumer *consumer, void *arg);
	void *arg;
	bool done;
};

int64_t rg__mono_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t rg__mono_coarse_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --- In the background -------------------------------------------------------------------------------------------- */

static void run_orders(void *user)
{
	rg_consumer *consumer = user;
	struct rg__thread *thread = &consumer->thread;

	pthread_mutex_lock(&thread->lock);
	while (thread->orders) {
		struct rg__order *order = thread->orders;

		thread->orders = order->next;
		pthread_mutex_unlock(&thread->lock);
		order->run(consumer, order->arg);
		pthread_mutex_lock(&thread->lock);
		order->done = true; /* the order is gone as soon as the lock is */
		pthread_cond_broadcast(&thread->told);
	}
	pthread_mutex_unlock(&thread->lock);
}

/* An application that does not poll must not make the memory grow: of the errors it has not seen the oldest goes. Asks
 * are few, since the member does not ask again before it is answered. */
static void make_room(struct rg__thread *thread)
{
	unsigned at = 0;

	while (at < thread->count - 1) {
		const rg_member_event *event = thread->events[(thread->first + at) % RG__NEWS_MAX];

		if (event->type == RG_MEMBER_ERROR && !event->fatal)
			break;
		at++;
	}
	rg_member_event_free(thread->events[(thread->first + at) % RG__NEWS_MAX]);
	for (; at < thread->count - 1; at++)
		thread->events[(thread->first + at) % RG__NEWS_MAX] = thread->events[(thread->first + at + 1) % RG__NEWS_MAX];
	thread->count--;
}

void rg__take_events(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	rg_member_event *event;
	bool any = false;

	while ((event = rg_member_next(consumer->member))) {
		bool wants_poll = event->type == RG_MEMBER_PREPARE || event->type == RG_MEMBER_LOST;

		pthread_mutex_lock(&thread->lock);
		if (thread->count == RG__NEWS_MAX)
			make_room(thread);
		thread->events[(thread->first + thread->count++) % RG__NEWS_MAX] = event;
		pthread_mutex_unlock(&thread->lock);
		if (wants_poll)
			atomic_store(&consumer->pending, true); /* after the event can be seen: rg__not_pending() looks for it */
		any = true;
	}
	if (any)
		rg__wake(consumer);
}

static bool must_stop(struct rg__thread *thread)
{
	bool stop;

	pthread_mutex_lock(&thread->lock);
	stop = thread->stop;
	pthread_mutex_unlock(&thread->lock);
	return stop;
}

static void *run(void *user)
{
	rg_consumer *consumer = user;

	while (!must_stop(&consumer->thread)) {
		rg_member_wait(consumer->member, INT_MAX);
		rg__take_events(consumer);
	}
	run_orders(consumer); /* whoever waits for one must not wait for ever */
	return NULL;
}

void rg__wake(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;

	pthread_mutex_lock(&thread->lock);
	thread->woken = true;
	atomic_store(&thread->news, true);
	pthread_cond_broadcast(&thread->told);
	pthread_mutex_unlock(&thread->lock);
	/* The queue remembers a yield that comes before the wait. */
	rd_kafka_queue_yield(consumer->queue);
}

/* --- The application ---------------------------------------------------------------------------------------------- */

void rg__thread_init(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->told, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void rg__thread_end(rg_consumer *consumer)
{
	pthread_cond_destroy(&consumer->thread.told);
	pthread_mutex_destroy(&consumer->thread.lock);
}

rg_err rg__thread_start(rg_consumer *consumer, rg_error *error)
{
	struct rg__thread *thread = &consumer->thread;
	sigset_t all, before;
	int err;

	rg__member_on_woken(consumer->member, run_orders, consumer);
	/* Signals are the application's: none shall be handled on a thread that it does not know. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread->id, NULL, run, consumer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return rg__fail(error, RG_ERR_SYSTEM, "no background thread: %s", strerror(err));
	thread->running = true;
	return RG_OK;
}

void rg__thread_stop(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	rg_member_event *event;

	if (!thread->running)
		return;
	pthread_mutex_lock(&thread->lock);
	thread->stop = true;
	pthread_mutex_unlock(&thread->lock);
	rg_member_wakeup(consumer->member);
	pthread_join(thread->id, NULL);
	while ((event = rg__next_event(consumer)))
		rg_member_event_free(event);
	thread->running = false;
}

void rg__on_loop(rg_consumer *consumer, void (*run_it)(rg_consumer *consumer, void *arg), void *arg)
{
	struct rg__thread *thread = &consumer->thread;
	struct rg__order order = {.run = run_it, .arg = arg}, **last;

	if (!thread->running) {
		run_it(consumer, arg);
		return;
	}
	pthread_mutex_lock(&thread->lock);
	for (last = &thread->orders; *last; last = &(*last)->next)
		;
	*last = &order;
	pthread_mutex_unlock(&thread->lock);
	rg_member_wakeup(consumer->member);
	pthread_mutex_lock(&thread->lock);
	while (!order.done)
		pthread_cond_wait(&thread->told, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
}

void rg__sleep(rg_consumer *consumer, int64_t until_us)
{
	struct rg__thread *thread = &consumer->thread;
	struct timespec until = {.tv_sec = (time_t)(until_us / 1000000), .tv_nsec = (long)(until_us % 1000000) * 1000};
	int err = 0;

	pthread_mutex_lock(&thread->lock);
	while (!thread->woken && !err)
		err = pthread_cond_timedwait(&thread->told, &thread->lock, &until);
	pthread_mutex_unlock(&thread->lock);
}

bool rg__news(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;

	if (!atomic_load(&thread->news))
		return false;
	pthread_mutex_lock(&thread->lock);
	thread->woken = false;
	atomic_store(&thread->news, false);
	pthread_mutex_unlock(&thread->lock);
	return true;
}

bool rg__any_news(rg_consumer *consumer)
{
	return atomic_load(&consumer->thread.news);
}

void rg__news_again(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;

	pthread_mutex_lock(&thread->lock);
	thread->woken = true;
	atomic_store(&thread->news, true);
	pthread_mutex_unlock(&thread->lock);
}

rg_member_event *rg__next_event(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	rg_member_event *event = NULL;

	pthread_mutex_lock(&thread->lock);
	if (thread->count) {
		event = thread->events[thread->first];
		thread->first = (thread->first + 1) % RG__NEWS_MAX;
		thread->count--;
	}
	pthread_mutex_unlock(&thread->lock);
	return event;
}

rg_member_event *rg__next_error(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	bool is_error;

	pthread_mutex_lock(&thread->lock);
	is_error = thread->count && thread->events[thread->first]->type == RG_MEMBER_ERROR;
	pthread_mutex_unlock(&thread->lock);
	return is_error ? rg__next_event(consumer) : NULL;
}

bool rg__event_waits(rg_consumer *consumer, rg_member_event_type type)
{
	struct rg__thread *thread = &consumer->thread;
	bool waits = false;

	pthread_mutex_lock(&thread->lock);
	for (unsigned i = 0; i < thread->count && !waits; i++)
		waits = thread->events[(thread->first + i) % RG__NEWS_MAX]->type == type;
	pthread_mutex_unlock(&thread->lock);
	return waits;
}

bool rg__any_event_waits(rg_consumer *consumer)
{
	struct rg__thread *thread = &consumer->thread;
	bool any;

	pthread_mutex_lock(&thread->lock);
	any = thread->count > 0;
	pthread_mutex_unlock(&thread->lock);
	return any;
}
