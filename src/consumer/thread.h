/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_THREAD_H
#define RG__CONSUMER_THREAD_H

/* The background thread that runs the member, and the two ways between it and the application. */

#include <pthread.h>
#include <regroup/consumer.h>
#include <stdatomic.h>
#include <stdbool.h>

struct rg__order; /* something for the loop to run */

enum { RG__NEWS_MAX = 64 };

struct rg__thread {
	pthread_t id;
	bool running;
	pthread_mutex_t lock;
	pthread_cond_t told; /* the application waits for it */
	struct rg__order *orders;
	bool stop;
	bool woken;       /* something may have changed since the application looked */
	atomic_bool news; /* the same, readable without the lock */
	/* Events of the member, in order. */
	rg_member_event *events[RG__NEWS_MAX];
	unsigned first, count;
};

/* The lock is there for as long as the consumer is: whoever may call from any thread may do so after close, too. */
void rg__thread_init(rg_consumer *consumer);
void rg__thread_end(rg_consumer *consumer);

/* RG_OK or RG_ERR_SYSTEM. */
rg_err rg__thread_start(rg_consumer *consumer, rg_error *error);
void rg__thread_stop(rg_consumer *consumer); /* waits for its end; frees events that nobody took */

/* Runs `run` in the loop and waits until it has been run. When the thread does not run (any more), runs it here. */
void rg__on_loop(rg_consumer *consumer, void (*run)(rg_consumer *consumer, void *arg), void *arg);

/* Loop: what the member has to say, for the application to take. It comes by itself after each turn. */
void rg__take_events(rg_consumer *consumer);

/* Loop: the application shall look, also when it waits for records. */
void rg__wake(rg_consumer *consumer);

/* The application: waits until it is woken, at most until `until_us` (monotonic). */
void rg__sleep(rg_consumer *consumer, int64_t until_us);

/* The application: whether it was woken since the last time it asked. */
bool rg__news(rg_consumer *consumer);
bool rg__any_news(rg_consumer *consumer);   /* the same, without taking note of it */
void rg__news_again(rg_consumer *consumer); /* it has not done all there was to do */

/* The application: takes the oldest event, or NULL; looks for one of a type among those that were not taken. */
rg_member_event *rg__next_event(rg_consumer *consumer);
bool rg__event_waits(rg_consumer *consumer, rg_member_event_type type);
bool rg__any_event_waits(rg_consumer *consumer);
rg_member_event *rg__next_error(rg_consumer *consumer); /* the oldest event, if it is an error */

#endif
