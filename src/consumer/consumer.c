/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer's life. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"

#include <string.h>

/* Everything but the member, which close has freed, or which was never made. */
void rg__consumer_release(rg_consumer *consumer)
{
	rd_kafka_t *rk = consumer->rk;
	struct rg__unassign *unassign = consumer->unassign;
	struct rg__connections *connections = consumer->connections;
	struct rg__voice *voice = consumer->voice;

	rg__unassign_forget_consumer(unassign);
	rg__lookup_free(consumer->lookup);
	rg__fetch_close(consumer);
	rg__owned_free(&consumer->owned);
	rg__topics_free(&consumer->topics);
	rg__topics_free(&consumer->asked);
	rg__patterns_free(consumer->patterns);
	rg__strategy_free(&consumer->strategy);
	rg_conf_free(consumer->conf);
	rg__forget_generation(consumer);
	rg__free(consumer->returned);
	rg__thread_end(consumer);
	rg__free(consumer);
	if (rk) {
		rg__fetch_destroy(rk, unassign, connections, voice);
	} else {
		rg__connections_free(connections);
		rg__voice_free(voice);
	}
}

/* What must be right for a consumer beside what every member needs. */
static rg_err check(rg_consumer *consumer, rg_error *error)
{
	rg_err err = rg__conf_check_member(consumer->conf, error);

	return err ? err : rg__strategy_resolve(consumer->conf, &consumer->strategy, error);
}

static rg_err open_member(rg_consumer *consumer, rg_error *error)
{
	rg_err err = rg_member_new(&consumer->member, consumer->conf, "consumer", error);

	if (err)
		return err;
	if (!rg__committer_init(consumer) || !rg__watch_init(consumer) || !rg__finder_init(consumer) ||
	    !rg__alive_init(consumer))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	rg__cluster_prepare(rg__member_cluster(consumer->member));
	return rg__thread_start(consumer, error);
}

static rg_err open(rg_consumer *consumer, const rg_conf *conf, rg_error *error)
{
	rg_err err;

	rg__forget_generation(consumer);
	consumer->random.state = (uint64_t)rg__mono_us() | 1;
	consumer->conf = rg__conf_dup(conf);
	consumer->voice = rg__voice_new(conf->log, conf->log_user);
	consumer->connections = consumer->voice ? rg__connections_new(consumer->voice) : NULL;
	consumer->returned = rg__calloc(1, sizeof(*consumer->returned));
	consumer->returned_capacity = 1;
	if (!consumer->conf || !consumer->connections || !consumer->returned)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	consumer->windows = rg__conf_windows(consumer->conf);
	rg_conf_set_log(consumer->conf, rg__voice_write, consumer->voice);
	consumer->log = (struct rg__log){rg__voice_write, consumer->voice, RG__LOG_DEBUG};
	if ((err = check(consumer, error)))
		return err;
	/* librdkafka takes some milliseconds to begin, in which the member can connect. It has nothing to say before there is a
	 * subscription, so nobody is woken up who is not there yet. */
	if ((err = open_member(consumer, error)))
		return err;
	return rg__fetch_open(consumer, error);
}

rg_err rg_consumer_new(rg_consumer **ret_consumer, const rg_conf *conf, rg_error *error)
{
	rg_consumer *consumer;
	rg_err err;

	if (!ret_consumer || !conf)
		return rg__fail(error, RG_ERR_INVALID, "rg_consumer_new: no configuration, or no place for the consumer");
	if (!(consumer = rg__calloc(1, sizeof(*consumer))))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	rg__thread_init(consumer);
	err = open(consumer, conf, error);
	if (!err) {
		*ret_consumer = consumer;
		return RG_OK;
	}
	rg__thread_stop(consumer);
	if (consumer->member) {
		rg__committer_end(consumer);
		rg__watch_end(consumer);
		rg__finder_end(consumer);
		rg__alive_end(consumer);
		rg_member_free(consumer->member);
	}
	rg__consumer_release(consumer);
	return err;
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

rd_kafka_t *rg_consumer_handle(rg_consumer *consumer)
{
	return consumer->rk;
}

int rg_consumer_failed(const rg_consumer *consumer)
{
	return consumer->failed;
}
