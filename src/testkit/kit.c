/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/kit.h"

#include "testkit/connection.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* A kit's life and its thread. */

struct rg__kit_command {
	struct rg__kit_command *next;
	rg_err (*run)(struct rg_testkit *, void *, rg_error *);
	void *arg;
	rg_error *error;
	rg_err result;
	bool done;
};

/* The clock of the condition variable, and of uv_hrtime(). */
int64_t rg__kit_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool rg__kit_on_own_thread(const struct rg_testkit *kit)
{
	return pthread_equal(pthread_self(), kit->thread);
}

void rg__kit_changed(struct rg_testkit *kit)
{
	pthread_mutex_lock(&kit->lock);
	kit->changes++;
	pthread_cond_broadcast(&kit->changed);
	pthread_mutex_unlock(&kit->lock);
}

uint64_t rg__kit_changes(struct rg_testkit *kit)
{
	pthread_mutex_lock(&kit->lock);
	uint64_t changes = kit->changes;

	pthread_mutex_unlock(&kit->lock);
	return changes;
}

void rg__kit_wait_change(struct rg_testkit *kit, uint64_t seen, int64_t until_us)
{
	const struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};

	pthread_mutex_lock(&kit->lock);
	while (kit->changes == seen && rg__kit_now_us() < until_us)
		pthread_cond_timedwait(&kit->changed, &kit->lock, &until);
	pthread_mutex_unlock(&kit->lock);
}

rg_err rg__kit_call(struct rg_testkit *kit, rg_err (*run)(struct rg_testkit *, void *, rg_error *), void *arg,
		    rg_error *error)
{
	struct rg__kit_command command = {.run = run, .arg = arg, .error = error};
	struct rg__kit_command **end = &kit->commands;

	if (rg__kit_on_own_thread(kit))
		return rg__fail(error, RG_ERR_STATE, "not possible inside the event callback of the test kit");
	pthread_mutex_lock(&kit->lock);
	while (*end)
		end = &(*end)->next;
	*end = &command;
	uv_async_send(&kit->wake);
	while (!command.done)
		pthread_cond_wait(&kit->changed, &kit->lock);
	pthread_mutex_unlock(&kit->lock);
	return command.result;
}

static rg_err stop(struct rg_testkit *kit, void *arg, rg_error *error);

static void run_commands(uv_async_t *wake)
{
	struct rg_testkit *kit = wake->data;
	struct rg__kit_command *command;

	for (;;) {
		pthread_mutex_lock(&kit->lock);
		command = kit->commands;
		if (command)
			kit->commands = command->next;
		pthread_mutex_unlock(&kit->lock);
		if (!command)
			break;
		if (kit->broken.code && command->run != stop)
			command->result = rg__fail(command->error, kit->broken.code, "%s", kit->broken.text);
		else
			command->result = command->run(kit, command->arg, command->error);
		rg__kit_pump(kit);
		pthread_mutex_lock(&kit->lock);
		command->done = true;
		pthread_cond_broadcast(&kit->changed);
		pthread_mutex_unlock(&kit->lock);
	}
}

static void close_all(struct rg_testkit *kit)
{
	for (int32_t i = 0; i < kit->cluster.broker_count; i++)
		rg__kit_front_close(&kit->fronts[i]);
}

void rg__kit_break(struct rg_testkit *kit, const char *why)
{
	if (kit->broken.code)
		return;
	rg__fail(&kit->broken, RG_ERR_SYSTEM, "the test kit gave up: out of memory %s", why);
	close_all(kit);
}

static rg_err stop(struct rg_testkit *kit, void *arg, rg_error *error)
{
	(void)arg;
	(void)error;
	kit->stopping = true;
	close_all(kit);
	uv_close((uv_handle_t *)&kit->wake, NULL);
	uv_close((uv_handle_t *)&kit->deadline, NULL);
	return RG_OK;
}

static void *run_loop(void *arg)
{
	struct rg_testkit *kit = arg;
	sigset_t all;

	/* Signals are the application's, and one about a broken pipe must not end it. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	uv_run(&kit->loop, UV_RUN_DEFAULT);
	return NULL;
}

static bool partition_exists(void *user, struct rg__bytes topic, int32_t partition)
{
	const struct rg_testkit *kit = user;
	const struct rg__kit_topic *found = rg__kit_topic_find(&kit->cluster, topic);

	return found && partition >= 0 && partition < found->partition_count;
}

static bool coordinates(void *user, int32_t broker, struct rg__bytes group)
{
	const struct rg_testkit *kit = user;

	return rg__kit_coordinator_of(&kit->cluster, group) == broker;
}

void rg_testkit_conf_init(rg_testkit_conf *conf, size_t size)
{
	rg_testkit_conf defaults = {.size = size,
				    .broker_count = 1,
				    .partitions_max = 64,
				    .seed = 1,
				    .group_min_session_timeout_ms = 1,
				    .group_max_session_timeout_ms = 1800000,
				    .group_max_size = INT32_MAX};

	memset(conf, 0, size);
	memcpy(conf, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

static rg_err check_conf(const rg_testkit_conf *conf, rg_error *error)
{
	if (!conf->size)
		return rg__fail(error, RG_ERR_INVALID, "the settings were not filled in by rg_testkit_conf_init()");
	if (conf->broker_count < 1 || conf->broker_count > RG__KIT_BROKERS_MAX)
		return rg__fail(error, RG_ERR_INVALID, "broker_count is %d: it must be 1 to %d", (int)conf->broker_count,
				RG__KIT_BROKERS_MAX);
	if (conf->port < 0 || conf->port + conf->broker_count > 65536)
		return rg__fail(error, RG_ERR_INVALID, "port is %d: it must be 0 to %d", (int)conf->port,
				65536 - (int)conf->broker_count);
	if (conf->partitions_max < 1 || conf->partitions_max > 10000)
		return rg__fail(error, RG_ERR_INVALID, "partitions_max is %d: it must be 1 to 10000",
				(int)conf->partitions_max);
	if (conf->group_initial_rebalance_delay_ms < 0 || conf->group_min_session_timeout_ms < 0 ||
	    conf->group_max_session_timeout_ms < conf->group_min_session_timeout_ms || conf->group_max_size < 1)
		return rg__fail(error, RG_ERR_INVALID,
				"a group setting is negative, or the maximum of the session timeouts is below the minimum");
	return RG_OK;
}

static rg_err init_loop(struct rg_testkit *kit, rg_error *error)
{
	if (uv_loop_init(&kit->loop) < 0)
		return rg__fail(error, RG_ERR_SYSTEM, "no event loop could be made");
	kit->wake.data = kit->deadline.data = kit;
	if (uv_async_init(&kit->loop, &kit->wake, run_commands) < 0) {
		uv_loop_close(&kit->loop);
		return rg__fail(error, RG_ERR_SYSTEM, "no wake-up for the event loop could be made");
	}
	uv_timer_init(&kit->loop, &kit->deadline);
	return RG_OK;
}

static rg_err init_groups(struct rg_testkit *kit, rg_error *error)
{
	struct rg__kit_coordinator_conf conf;

	rg__kit_coordinator_conf_init(&conf);
	conf.seed = kit->conf.seed;
	conf.initial_delay_us = (int64_t)kit->conf.group_initial_rebalance_delay_ms * 1000;
	conf.session_min_us = (int64_t)kit->conf.group_min_session_timeout_ms * 1000;
	conf.session_max_us = (int64_t)kit->conf.group_max_session_timeout_ms * 1000;
	conf.group_size_max = kit->conf.group_max_size;
	conf.superseded_error = kit->conf.answer_superseded ? RG__KIT_NOT_COORDINATOR : RG__KIT_NEVER_ANSWERED;
	conf.partition_exists = partition_exists;
	conf.coordinates = coordinates;
	conf.user = kit;
	kit->coordinator = rg__kit_coordinator_new(&conf);
	return kit->coordinator ? RG_OK : rg__fail(error, RG_ERR_MEMORY, "out of memory");
}

static rg_err open_fronts(struct rg_testkit *kit, rg_error *error)
{
	for (int32_t i = 0; i < kit->conf.broker_count; i++) {
		struct rg__kit_broker *broker = &kit->cluster.brokers[i];
		rg_err err;

		*broker = (struct rg__kit_broker){.id = i + 1, .host = "127.0.0.1"};
		broker->port = kit->conf.port ? kit->conf.port + i : 0;
		kit->fronts[i].kit = kit;
		kit->fronts[i].broker = broker;
		kit->cluster.broker_count++;
		err = rg__kit_front_open(&kit->fronts[i], error);
		if (err)
			return err;
		rg__buf_printf(&kit->bootstrap, "%s127.0.0.1:%d", i ? "," : "", (int)broker->port);
	}
	rg__buf_append(&kit->bootstrap, "", 1);
	return kit->bootstrap.failed ? rg__fail(error, RG_ERR_MEMORY, "out of memory") : RG_OK;
}

/* All before the thread runs, so that what goes wrong can be told to the caller. */
static rg_err open_kit(struct rg_testkit *kit, rg_error *error)
{
	rg_err err = init_groups(kit, error);

	if (!err)
		err = rg__kit_sink_open(kit, error);
	if (!err)
		err = rg__kit_mock_open(kit, error);
	if (!err)
		err = rg__kit_mock_versions(kit, error);
	if (!err)
		err = rg__kit_add_topics(kit, kit->conf.topics, error);
	if (!err)
		err = open_fronts(kit, error);
	kit->conf.topics = kit->conf.events_path = NULL; /* the caller's strings */
	return err;
}

static void destroy_shared(struct rg_testkit *kit)
{
	pthread_cond_destroy(&kit->changed);
	pthread_mutex_destroy(&kit->producing);
	pthread_mutex_destroy(&kit->lock);
}

/* The thread has ended, or never ran: its loop has only closings left to do. */
static void close_kit(struct rg_testkit *kit)
{
	uv_run(&kit->loop, UV_RUN_DEFAULT);
	uv_loop_close(&kit->loop);
	rg__kit_mock_close(&kit->mock);
	rg__kit_sink_close(kit);
	rg__kit_coordinator_free(kit->coordinator);
	rg__kit_cluster_free(&kit->cluster);
	rg__kit_faults_free(&kit->faults);
	rg__buf_free(&kit->bootstrap);
	destroy_shared(kit);
	rg__free(kit);
}

static rg_err init_shared(struct rg_testkit *kit, rg_error *error)
{
	pthread_condattr_t attributes;
	rg_err err;

	pthread_mutex_init(&kit->lock, NULL);
	pthread_mutex_init(&kit->producing, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&kit->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	err = init_loop(kit, error);
	if (err)
		destroy_shared(kit);
	return err;
}

rg_err rg_testkit_new(rg_testkit **ret_kit, const rg_testkit_conf *conf, rg_error *error)
{
	struct rg_testkit *kit = rg__calloc(1, sizeof(*kit));
	rg_err err;

	if (!kit)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	rg_testkit_conf_init(&kit->conf, sizeof(kit->conf));
	memcpy(&kit->conf, conf, conf->size < sizeof(kit->conf) ? conf->size : sizeof(kit->conf));
	kit->conf.size = conf->size;
	err = check_conf(&kit->conf, error);
	if (!err)
		err = init_shared(kit, error);
	if (err) {
		rg__free(kit);
		return err;
	}
	err = open_kit(kit, error);
	if (!err && pthread_create(&kit->thread, NULL, run_loop, kit) != 0)
		err = rg__fail(error, RG_ERR_SYSTEM, "no thread could be started");
	if (err) {
		stop(kit, NULL, NULL);
		close_kit(kit);
		return err;
	}
	*ret_kit = kit;
	return RG_OK;
}

void rg_testkit_free(rg_testkit *kit)
{
	if (!kit || rg__kit_call(kit, stop, NULL, NULL) != RG_OK)
		return;
	pthread_join(kit->thread, NULL);
	close_kit(kit);
}

const char *rg_testkit_bootstrap(const rg_testkit *kit)
{
	return (const char *)kit->bootstrap.data;
}

int rg_testkit_port(const rg_testkit *kit, int32_t broker)
{
	return broker < 1 || broker > kit->cluster.broker_count ? -1 : (int)kit->cluster.brokers[broker - 1].port;
}
