/* SPDX-License-Identifier: Apache-2.0 */
#include "member/events.h"

#include "base/alloc.h"

#include <pthread.h>

struct rg__event_sink {
	rg_event_cb *write;
	void *user;
	struct rg__io *io;
	pthread_mutex_t lock;
};

struct rg__event_sink *rg__event_sink_new(rg_event_cb *write, void *user, struct rg__io *io)
{
	struct rg__event_sink *sink = rg__calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->write = write;
	sink->user = user;
	sink->io = io;
	pthread_mutex_init(&sink->lock, NULL);
	return sink;
}

void rg__event_sink_free(struct rg__event_sink *sink)
{
	if (!sink)
		return;
	pthread_mutex_destroy(&sink->lock);
	rg__free(sink);
}

bool rg__event_wanted(const struct rg__event_sink *sink)
{
	return sink && sink->write;
}

int64_t rg__event_now_us(const struct rg__event_sink *sink)
{
	return rg__unix_us(sink->io);
}

void rg__event_emit(struct rg__event_sink *sink, struct rg__event_line *line)
{
	const char *text = rg__event_end(line);

	if (text && rg__event_wanted(sink)) {
		pthread_mutex_lock(&sink->lock);
		sink->write(sink->user, text);
		pthread_mutex_unlock(&sink->lock);
	}
	rg__event_free(line);
}
