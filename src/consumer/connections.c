/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/connections.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* One for each broker that leads what is fetched, and a few; those beyond are left to librdkafka. */
enum { CONNECTIONS_MAX = 256 };

struct rg__connections {
	struct rg__voice *voice;
	pthread_mutex_t lock;
	pthread_cond_t none;
	/* Under the lock. */
	int fds[CONNECTIONS_MAX]; /* those that are open: they are closed only after they are taken out */
	int count;
	bool cut;
};

struct rg__connections *rg__connections_new(struct rg__voice *voice)
{
	struct rg__connections *connections = rg__calloc(1, sizeof(*connections));

	if (!connections)
		return NULL;
	connections->voice = voice;
	pthread_mutex_init(&connections->lock, NULL);
	pthread_cond_init(&connections->none, NULL);
	return connections;
}

void rg__connections_free(struct rg__connections *connections)
{
	if (!connections)
		return;
	pthread_cond_destroy(&connections->none);
	pthread_mutex_destroy(&connections->lock);
	rg__free(connections);
}

/* --- What librdkafka calls, on its threads ------------------------------------------------------------------------ */

static int connect_socket(int fd, const struct sockaddr *address, int len, const char *broker, void *opaque)
{
	struct rg__connections *connections = opaque;
	bool cut;

	(void)broker;
	pthread_mutex_lock(&connections->lock);
	cut = connections->cut;
	if (!cut && connections->count < CONNECTIONS_MAX)
		connections->fds[connections->count++] = fd;
	pthread_mutex_unlock(&connections->lock);
	if (cut)
		return ECONNABORTED;
	/* It does not block, and if it fails librdkafka closes it. */
	return connect(fd, address, (socklen_t)len) && errno != EINPROGRESS ? errno : 0;
}

static int close_socket(int fd, void *opaque)
{
	struct rg__connections *connections = opaque;

	pthread_mutex_lock(&connections->lock);
	for (int i = 0; i < connections->count; i++)
		if (connections->fds[i] == fd) {
			connections->fds[i] = connections->fds[--connections->count];
			break;
		}
	if (!connections->count)
		pthread_cond_broadcast(&connections->none);
	pthread_mutex_unlock(&connections->lock);
	return close(fd);
}

static void write_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
	struct rg__connections *connections = rd_kafka_opaque(rk);
	bool cut;

	pthread_mutex_lock(&connections->lock);
	cut = connections->cut;
	pthread_mutex_unlock(&connections->lock);
	if (!cut)
		rg__voice_write(connections->voice, level, facility, line);
}

void rg__connections_watch(struct rg__connections *connections, rd_kafka_conf_t *conf)
{
	rd_kafka_conf_set_opaque(conf, connections);
	rd_kafka_conf_set_connect_cb(conf, connect_socket);
	rd_kafka_conf_set_closesocket_cb(conf, close_socket);
	rd_kafka_conf_set_log_cb(conf, write_log);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

void rg__connections_cut(struct rg__connections *connections)
{
	pthread_mutex_lock(&connections->lock);
	connections->cut = true;
	for (int i = 0; i < connections->count; i++)
		shutdown(connections->fds[i], SHUT_RDWR);
	pthread_mutex_unlock(&connections->lock);
}

bool rg__connections_gone(struct rg__connections *connections, int timeout_ms)
{
	struct timespec until;
	bool gone;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&connections->lock);
	while (connections->count && !err)
		err = pthread_cond_timedwait(&connections->none, &connections->lock, &until);
	gone = !connections->count;
	pthread_mutex_unlock(&connections->lock);
	return gone;
}
