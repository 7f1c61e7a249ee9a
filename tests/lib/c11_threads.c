/* SPDX-License-Identifier: Apache-2.0 */
/* C11 threads on top of POSIX threads, preloaded under ThreadSanitizer. librdkafka uses glibc's C11 threads, which
 * the sanitizer does not know: a thread started by them crashes in it, and what their locks order looks like a race.
 * glibc's own are the same objects under other names, and so are these. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t), "the same objects");

static int result(int error)
{
	return error == 0 ? thrd_success : error == EBUSY ? thrd_busy : error == ETIMEDOUT ? thrd_timedout :
	       error == ENOMEM ? thrd_nomem : thrd_error;
}

static pthread_mutex_t *mutex(mtx_t *mtx)
{
	return (pthread_mutex_t *)(void *)mtx;
}

static pthread_cond_t *condition(cnd_t *cnd)
{
	return (pthread_cond_t *)(void *)cnd;
}

struct start {
	thrd_start_t run;
	void *arg;
};

static void *run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)start.run(start.arg);
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct start *copy = malloc(sizeof(*copy));
	int error;

	if (!copy)
		return thrd_nomem;
	*copy = (struct start){start, arg};
	error = pthread_create(thread, NULL, run, copy);
	if (error)
		free(copy);
	return result(error);
}

int thrd_join(thrd_t thread, int *ret_result)
{
	void *value = NULL;
	int error = pthread_join(thread, &value);

	if (!error && ret_result)
		*ret_result = (int)(intptr_t)value;
	return result(error);
}

int mtx_init(mtx_t *mtx, int type)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	error = pthread_mutex_init(mutex(mtx), &attributes);
	pthread_mutexattr_destroy(&attributes);
	return result(error);
}

void mtx_destroy(mtx_t *mtx)
{
	pthread_mutex_destroy(mutex(mtx));
}

int mtx_lock(mtx_t *mtx)
{
	return result(pthread_mutex_lock(mutex(mtx)));
}

int mtx_trylock(mtx_t *mtx)
{
	return result(pthread_mutex_trylock(mutex(mtx)));
}

int mtx_unlock(mtx_t *mtx)
{
	return result(pthread_mutex_unlock(mutex(mtx)));
}

int cnd_init(cnd_t *cnd)
{
	return result(pthread_cond_init(condition(cnd), NULL));
}

void cnd_destroy(cnd_t *cnd)
{
	pthread_cond_destroy(condition(cnd));
}

int cnd_signal(cnd_t *cnd)
{
	return result(pthread_cond_signal(condition(cnd)));
}

int cnd_broadcast(cnd_t *cnd)
{
	return result(pthread_cond_broadcast(condition(cnd)));
}

int cnd_wait(cnd_t *cnd, mtx_t *mtx)
{
	return result(pthread_cond_wait(condition(cnd), mutex(mtx)));
}

int cnd_timedwait(cnd_t *restrict cnd, mtx_t *restrict mtx, const struct timespec *restrict until)
{
	return result(pthread_cond_timedwait(condition(cnd), mutex(mtx), until));
}
