/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/unassign.h"

#include "base/alloc.h"
#include "consumer/internal.h"

#include <pthread.h>
#include <signal.h>

struct rg__unassign {
	rd_kafka_t *rk;
	rd_kafka_topic_partition_list_t *list;
	pthread_t thread;
	pthread_mutex_t lock;
	/* Under the lock. */
	rg_consumer *consumer; /* to be woken up; NULL: it is gone */
	rd_kafka_error_t *refused;
	bool finished;
};

static void *run(void *user)
{
	struct rg__unassign *unassign = user;
	rd_kafka_error_t *refused = rd_kafka_incremental_unassign(unassign->rk, unassign->list);

	pthread_mutex_lock(&unassign->lock);
	unassign->refused = refused;
	unassign->finished = true;
	if (unassign->consumer)
		rg__wake(unassign->consumer);
	pthread_mutex_unlock(&unassign->lock);
	return NULL;
}

/* Signals are the application's. */
static int start_thread(struct rg__unassign *unassign)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&unassign->thread, NULL, run, unassign);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

struct rg__unassign *rg__unassign_start(rg_consumer *consumer, rd_kafka_topic_partition_list_t *list)
{
	struct rg__unassign *unassign = rg__calloc(1, sizeof(*unassign));

	if (!unassign)
		return NULL;
	pthread_mutex_init(&unassign->lock, NULL);
	unassign->rk = consumer->rk;
	unassign->consumer = consumer;
	unassign->list = list;
	if (!start_thread(unassign))
		return unassign;
	pthread_mutex_destroy(&unassign->lock);
	rg__free(unassign);
	return NULL;
}

bool rg__unassign_finished(struct rg__unassign *unassign, rd_kafka_error_t **ret_refused)
{
	bool finished;

	pthread_mutex_lock(&unassign->lock);
	finished = unassign->finished;
	if (finished) {
		*ret_refused = unassign->refused;
		unassign->refused = NULL;
	}
	pthread_mutex_unlock(&unassign->lock);
	return finished;
}

void rg__unassign_forget_consumer(struct rg__unassign *unassign)
{
	if (!unassign)
		return;
	pthread_mutex_lock(&unassign->lock);
	unassign->consumer = NULL;
	pthread_mutex_unlock(&unassign->lock);
}

void rg__unassign_free(struct rg__unassign *unassign)
{
	if (!unassign)
		return;
	pthread_join(unassign->thread, NULL);
	if (unassign->refused)
		rd_kafka_error_destroy(unassign->refused);
	rd_kafka_topic_partition_list_destroy(unassign->list);
	pthread_mutex_destroy(&unassign->lock);
	rg__free(unassign);
}
