/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a member, its step, and the calls of the application that become events of the machine. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/api.h"
#include "member/internal.h"

#include <assert.h>
#include <string.h>

/* Feeds the machine and does what it asks for. Requests that cannot even be queued, and the like, are deferred events:
 * they are fed when the actions of the step before are done, never in the middle. */
void rg__member_step(rg_member *member, const struct rg__event *event)
{
	struct rg__actions actions;
	unsigned owed = member->owed_count;

	if (member->stepping) {
		rg__member_defer(member, event);
		return;
	}
	member->stepping = true;
	rg__machine_step(member->machine, rg__now_us(member->io), event, &actions);
	rg__trouble_after(member, event);
	rg__member_act(member, &actions);
	while (member->deferred_count) {
		struct rg__event next = member->deferred[0];

		memmove(member->deferred, member->deferred + 1, (size_t)--member->deferred_count * sizeof(next));
		rg__machine_step(member->machine, rg__now_us(member->io), &next, &actions);
		rg__trouble_after(member, &next);
		rg__member_act(member, &actions);
	}
	member->stepping = false;
	int64_t deadline = rg__machine_deadline(member->machine);

	if (deadline == INT64_MAX)
		rg__timer_clear(member->timer);
	else
		rg__timer_set(member->timer, deadline);
	if (member->owed_count > owed && member->changed)
		member->changed(member->changed_user);
}

void rg__member_defer(rg_member *member, const struct rg__event *event)
{
	/* One for each request that a step can ask for is the most there can be. */
	assert(member->deferred_count < RG__DEFERRED_MAX);
	member->deferred[member->deferred_count++] = *event;
}

static void timer_fired(void *user)
{
	rg__member_step(user, &(struct rg__event){.type = RG__EVENT_DEADLINE});
}

static void cluster_failed(void *user, const rg_error *error)
{
	rg_member *member = user;

	rg__trouble_connection(member, RG__TROUBLE_CONNECT, error);
	rg__trace_error(member, error);
}

static void cluster_up(void *user, const char *broker)
{
	rg__trouble_connected(user, broker);
}

static void cluster_answered(void *user, int16_t api_key, const rg_error *error)
{
	if (api_key == RG__API_METADATA)
		rg__trouble_metadata(user, error);
}

static const struct rg__cluster_events cluster_events = {cluster_failed, cluster_up, cluster_answered};

/* Without these there is no group membership: a broker that lacks one is too old, and the error says so. */
static const int16_t needed_apis[] = {RG__API_METADATA,      RG__API_OFFSET_COMMIT, RG__API_OFFSET_FETCH,
                                      RG__API_FIND_COORDINATOR, RG__API_JOIN_GROUP,    RG__API_HEARTBEAT,
                                      RG__API_LEAVE_GROUP,   RG__API_SYNC_GROUP};

static void configure_links(rg_member *member, uint64_t seed)
{
	const struct rg__settings *settings = &member->conf->settings;
	struct rg__cluster_conf *conf = &member->cluster_conf;

	rg__cluster_conf_init(conf);
	conf->link.client_id = settings->client_id;
	conf->link.software_version = REGROUP_VERSION; /* KIP-511 */
	conf->link.apis = needed_apis;
	conf->link.api_count = sizeof(needed_apis) / sizeof(*needed_apis);
	conf->link.connect_timeout_ms = settings->connect_timeout_ms;
	conf->link.request_timeout_ms = settings->request_timeout_ms;
	conf->link.frame_limit = settings->frame_limit;
	conf->link.log = &member->log;
	conf->bootstrap = settings->bootstrap_servers;
	conf->reconnect_backoff_ms = settings->reconnect_backoff_ms;
	conf->reconnect_backoff_max_ms = settings->reconnect_backoff_max_ms;
	conf->rebootstrap = settings->recovery_strategy == RG__RECOVERY_REBOOTSTRAP;
	conf->rebootstrap_trigger_ms = settings->rebootstrap_trigger_ms;
	conf->idle_max_ms = settings->connections_max_idle_ms;
	conf->seed = seed;
}

static struct rg__machine *make_machine(const rg_member *member, uint64_t seed)
{
	const struct rg__settings *settings = &member->conf->settings;
	struct rg__group_conf conf = {
		.group_id = settings->group_id,
		.instance_id = settings->group_instance_id,
		.protocol_type = member->protocol_type,
		.session_timeout_ms = settings->session_timeout_ms,
		/* KIP-62: a member that takes longer to give up its work than to poll again is as good as gone. */
		.rebalance_timeout_ms = settings->max_poll_interval_ms,
		.max_poll_interval_ms = settings->max_poll_interval_ms,
		.heartbeat_interval_ms = settings->heartbeat_interval_ms,
		.heartbeat_budget = settings->heartbeat_budget,
		.request_timeout_ms = settings->request_timeout_ms,
		.retry_backoff_ms = settings->retry_backoff_ms,
		.retry_backoff_max_ms = settings->retry_backoff_max_ms,
		.seed = seed,
	};

	return rg__machine_new(&conf, rg__now_us(member->io));
}

static rg_err build(rg_member *member, uint64_t seed, rg_error *error)
{
	rg_err err;

	member->counters.windows = rg__conf_windows(member->conf);
	member->timer = rg__timer_new(member->io, timer_fired, member);
	member->events = rg__event_sink_new(member->conf->events, member->conf->events_user, member->io);
	member->machine = make_machine(member, seed);
	if (!member->timer || !member->events || !member->machine)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	configure_links(member, seed ^ 0x5bd1e995);
	err = rg__cluster_new(member->io, &member->cluster_conf, &cluster_events, member, &member->cluster, error);
	return err;
}

rg_err rg__member_new_on(struct rg__io *io, const rg_conf *conf, const char *protocol_type, uint64_t seed,
                         void (*changed)(void *user), void *user, rg_member **ret_member, rg_error *error)
{
	rg_err err = rg__conf_check_member(conf, error);
	rg_member *member;

	if (err)
		return err;
	if (!protocol_type || !*protocol_type || strlen(protocol_type) > INT16_MAX)
		return rg__fail(error, RG_ERR_INVALID, "the protocol type must have 1 to 32767 bytes");
	member = rg__calloc(1, sizeof(*member));
	if (!member)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	member->io = io;
	member->changed = changed;
	member->changed_user = user;
	member->conf = rg__conf_dup(conf);
	member->protocol_type = rg__strdup(protocol_type);
	if (!member->conf || !member->protocol_type) {
		err = rg__fail(error, RG_ERR_MEMORY, "out of memory");
	} else {
		member->log = (struct rg__log){conf->log, conf->log_user, RG__LOG_DEBUG};
		err = build(member, seed, error);
	}
	if (err) {
		rg_member_free(member);
		return err;
	}
	*ret_member = member;
	return RG_OK;
}

void rg_member_free(rg_member *member)
{
	if (!member)
		return;
	rg__requests_free(member);
	rg__link_free(member->link);
	rg__cluster_free(member->cluster);
	rg__timer_free(member->timer);
	rg__machine_free(member->machine);
	rg__owed_drop(member, false);
	rg__kept_release(member->group);
	rg__kept_release(member->assignment);
	rg__arena_clear(&member->protocols_arena);
	rg__arena_clear(&member->plan_arena);
	rg__event_sink_free(member->events);
	rg__free(member->host);
	rg__free(member->protocol_type);
	rg__free(member->sent_member_id);
	rg__free(member->sent_protocol);
	rg_conf_free(member->conf);
	if (member->loop)
		rg__loop_free(member);
	rg__free(member);
}

/* --- What the application says ------------------------------------------------------------------------------------ */

/* The protocols that the next JoinGroup carries. The old ones stay when memory runs out. */
static rg_err store_protocols(rg_member *member, const rg_member_protocol *protocols, size_t count, rg_error *error)
{
	struct rg__arena arena = {0};
	struct rg__join_group_request_protocol *copies;

	if (!count || count > 1000)
		return rg__fail(error, RG_ERR_INVALID, "a member offers 1 to 1000 protocols, not %zu", count);
	copies = rg__arena_calloc(&arena, count, sizeof(*copies));
	for (size_t i = 0; copies && i < count; i++) {
		const rg_member_protocol *from = &protocols[i];
		const char *name = from->name ? rg__arena_copy(&arena, from->name, strlen(from->name)) : NULL;
		const char *metadata = rg__arena_copy(&arena, from->metadata.data, from->metadata.len);

		if (!from->name || !*from->name || strlen(from->name) > INT16_MAX || from->metadata.len > INT32_MAX) {
			rg__arena_clear(&arena);
			return rg__fail(error, RG_ERR_INVALID, "protocol %zu needs a name of 1 to 32767 bytes", i);
		}
		if (!name || !metadata) {
			copies = NULL;
			break;
		}
		copies[i].name = rg__bytes_of(name);
		copies[i].metadata = (struct rg__bytes){(const uint8_t *)metadata, from->metadata.len};
	}
	if (!copies) {
		rg__arena_clear(&arena);
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	}
	/* A JoinGroup that was queued but not written would read the old ones: it is sent after this, or was written. */
	rg__arena_clear(&member->protocols_arena);
	member->protocols_arena = arena;
	member->protocols = copies;
	member->protocol_count = count;
	return RG_OK;
}

rg_err rg_member_join(rg_member *member, const rg_member_protocol *protocols, size_t count, rg_error *error)
{
	enum rg__membership_state is = rg__machine_membership(member->machine);
	rg_err err;

	if (is != RG__UNJOINED)
		return rg__fail(error, RG_ERR_STATE, "this member is %s already", rg__membership_name(is));
	if (rg__machine_wanted(member->machine))
		return rg__fail(error, RG_ERR_STATE, "this member has joined already: it comes back when it is polled");
	err = store_protocols(member, protocols, count, error);
	if (err)
		return err;
	rg__trace(member, "start");
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_START});
	return RG_OK;
}

rg_err rg_member_rejoin(rg_member *member, const char *reason)
{
	if (!rg__machine_wanted(member->machine) || rg__machine_membership(member->machine) == RG__FAILED)
		return RG_ERR_STATE;
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_REJOIN,
	                                            .reason = reason ? reason : "rebalance enforced by user"});
	return RG_OK;
}

rg_err rg_member_leave(rg_member *member, rg_leave how, const char *reason, int timeout_ms)
{
	static const enum rg__leave_mode modes[] = {
		[RG_LEAVE_DEFAULT] = RG__LEAVE_DEFAULT, [RG_LEAVE_ALWAYS] = RG__LEAVE_ALWAYS, [RG_LEAVE_NEVER] = RG__LEAVE_NEVER};

	if ((unsigned)how >= sizeof(modes) / sizeof(modes[0]) || timeout_ms < -1)
		return RG_ERR_INVALID;
	if (rg__machine_membership(member->machine) == RG__UNJOINED && !rg__machine_wanted(member->machine))
		return RG_ERR_STATE;
	rg__owed_drop(member, true);
	rg__trouble_forget(member);
	rg__leave_expect(member, how);
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_LEAVE,
	                                            .reason = reason,
	                                            .leave_mode = modes[how],
	                                            /* To the machine 0 means the request's own. */
	                                            .timeout_us = timeout_ms < 0 ? 0
	                                                          : timeout_ms   ? timeout_ms * INT64_C(1000)
	                                                                         : 1});
	return RG_OK;
}

void rg_member_poll(rg_member *member)
{
	rg__member_polling(member, false);
}

void rg__member_polling(rg_member *member, bool polling)
{
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_POLL, .polling = polling});
}

void rg__member_left_poll(rg_member *member, int64_t ago_us)
{
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_POLL, .ago_us = ago_us});
}

void rg_member_retry(rg_member *member)
{
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_RETRY});
}

rg_err rg_member_prepared(rg_member *member, uint32_t ticket, const rg_member_protocol *protocols, size_t count, int keeps)
{
	if (protocols) {
		rg_err err = store_protocols(member, protocols, count, NULL);

		if (err)
			return err;
	}
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_PREPARED, .attempt = ticket, .keeps = keeps != 0});
	return RG_OK;
}

const char *rg_member_state(const rg_member *member)
{
	return rg__membership_name(rg__machine_membership(member->machine));
}

void rg__member_group_size(rg_member *member, int32_t size)
{
	rg__member_step(member, &(struct rg__event){.type = RG__EVENT_GROUP_SIZE, .group_size = size});
}

void rg__member_offsets_answered(rg_member *member, bool commit, rg_err err, uint32_t epoch)
{
	enum rg__request request = commit ? RG__REQUEST_OFFSET_COMMIT : RG__REQUEST_OFFSET_FETCH;
	const struct rg__response *answer = member->offsets_answer;

	if (err && answer && answer->error.code)
		member->cause = answer->error;
	else if (err)
		rg__explain(member, request, err, answer ? answer->broker : NULL, RG__NULL_BYTES);
	rg__member_step(member, &(struct rg__event){.type = commit ? RG__EVENT_COMMIT_ANSWERED : RG__EVENT_FETCH_ANSWERED,
	                                            .err = err,
	                                            .epoch = epoch});
}

/* --- What the rest of the library asks ---------------------------------------------------------------------------- */

void rg__member_on_changed(rg_member *member, void (*changed)(void *user), void *user)
{
	member->changed = changed;
	member->changed_user = user;
}

void rg__member_on_woken(rg_member *member, void (*woken)(void *user), void *user)
{
	member->woken = woken;
	member->woken_user = user;
}

struct rg__io *rg__member_io(rg_member *member)
{
	return member->io;
}

struct rg__cluster *rg__member_cluster(rg_member *member)
{
	return member->cluster;
}

struct rg__event_sink *rg__member_events(rg_member *member)
{
	return member->events;
}

uint32_t rg__member_epoch(const rg_member *member)
{
	return rg__machine_epoch(member->machine);
}

int32_t rg__member_generation(const rg_member *member)
{
	return rg__machine_generation(member->machine);
}

const char *rg__member_member_id(const rg_member *member)
{
	return rg__machine_member_id(member->machine);
}

bool rg__member_is_stable(const rg_member *member)
{
	return rg__machine_membership(member->machine) == RG__STABLE;
}
