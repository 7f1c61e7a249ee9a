/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/voice.h"

#include "base/alloc.h"

#include <pthread.h>

struct rg__voice {
	pthread_mutex_t lock;
	rg_log_cb *write;
	void *user;
};

struct rg__voice *rg__voice_new(rg_log_cb *write, void *user)
{
	struct rg__voice *voice = rg__malloc(sizeof(*voice));

	if (!voice)
		return NULL;
	voice->write = write;
	voice->user = user;
	pthread_mutex_init(&voice->lock, NULL);
	return voice;
}

void rg__voice_free(struct rg__voice *voice)
{
	if (!voice)
		return;
	pthread_mutex_destroy(&voice->lock);
	rg__free(voice);
}

void rg__voice_mute(struct rg__voice *voice)
{
	pthread_mutex_lock(&voice->lock);
	voice->write = NULL;
	pthread_mutex_unlock(&voice->lock);
}

void rg__voice_write(void *user, int level, const char *facility, const char *line)
{
	struct rg__voice *voice = user;

	pthread_mutex_lock(&voice->lock);
	if (voice->write)
		voice->write(voice->user, level, facility, line);
	pthread_mutex_unlock(&voice->lock);
}
