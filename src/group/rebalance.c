/* SPDX-License-Identifier: Apache-2.0 */
/* The way into a rebalance, the retries inside it, and what can be sent next. */
#include "group/internal.h"

#include <string.h>

enum { REBALANCE_SLACK_MS = 5000 };

/* broker: a static member that comes back without an id gets its old share, and nobody rebalances (KIP-345). A wish for a
 * rebalance is not fulfilled by that; it takes another JoinGroup, with the id. */
bool rg__joins_silently(const struct rg__machine *machine)
{
	return machine->conf.instance_id && !machine->member_id;
}

/* Into Preparing from Unjoined or Stable. PREPARE goes out here and nowhere else, once: a member that was thrown out in
 * the middle of a rebalance is still in the same one. */
void rg__begin_rebalance(struct rg__machine *machine, struct rg__actions *actions)
{
	rg__move(machine, RG__PREPARING);
	if (machine->in_rebalance)
		return;
	if (machine->rejoin_wanted)
		rg__set_reason(machine->reason, "%s", machine->wish);
	machine->rejoin_wanted = machine->rejoin_wanted && rg__joins_silently(machine);
	machine->in_rebalance = true;
	machine->ask = rg__next_attempt(machine);

	struct rg__action *prepare = rg__act(actions, RG__DO_PREPARE);

	prepare->attempt = machine->ask;
	prepare->reason = machine->reason;
}

/* The JoinGroup or SyncGroup brought nothing, so heartbeats and the session count again, from the last proof that the
 * coordinator has us: what is still owned must not outlive the seat. If the request was parked it was kept longer; but
 * whether it ever arrived we cannot know. */
static void resume_heartbeats(struct rg__machine *machine, int64_t now_us)
{
	if (machine->generation < 0)
		return;
	if (!machine->heartbeats_on)
		machine->heartbeat_at = now_us + machine->heartbeat_interval_us;
	machine->heartbeats_on = true;
}

/* A group waits for the JoinGroups of its members as long as the rebalance timeout, and gives the seats of those away who did
 * not come; that may have begun right after the last good heartbeat was sent. It waits as long for the SyncGroups of those who
 * have joined, and a good heartbeat says nothing about that. */
int64_t rg__rejoin_by_us(const struct rg__machine *machine)
{
	if (machine->membership == RG__ASSIGNING && machine->owns)
		return machine->sync_by;
	if (machine->membership != RG__PREPARING || !machine->owns)
		return RG__FOREVER;
	int64_t join_by = machine->calm_at + machine->conf.rebalance_timeout_ms * INT64_C(1000);

	return join_by < machine->sync_by ? join_by : machine->sync_by;
}

void rg__forgive(struct rg__machine *machine, enum rg__request request, rg_err err)
{
	int rows;

	machine->repeats[request][rg__react(request, err) - rg__reactions(request, &rows)] = 0;
}

/* Back to Preparing inside the rebalance, after the pause that the reaction asks for. A reaction that goes on at once the
 * first time is slowed down when it repeats, so that no broker can make us spin. */
void rg__again(struct rg__machine *machine, int64_t now_us, enum rg__request request, const struct rg__reaction *reaction)
{
	int rows;
	unsigned *repeats = &machine->repeats[request][reaction - rg__reactions(request, &rows)];
	int64_t pause_us = 0;

	if (reaction->pause == RG__ALWAYS || (reaction->pause == RG__WHEN_REPEATED && *repeats > 0)) {
		unsigned failures = reaction->pause == RG__ALWAYS ? *repeats : *repeats - 1;

		pause_us = rg__backoff(machine->conf.retry_backoff_ms * INT64_C(1000),
		                       machine->conf.retry_backoff_max_ms * INT64_C(1000), failures, &machine->random);
	}
	++*repeats;
	machine->join_at = now_us + pause_us;
	machine->join = machine->assign = machine->sync = 0;
	if (machine->membership == RG__JOINING || machine->membership == RG__SYNCING)
		resume_heartbeats(machine, now_us);
	if (machine->membership != RG__PREPARING)
		rg__move(machine, RG__PREPARING);
}

/* The answer to the JoinGroup that is out will not come, or makes no sense. With it a generation may have begun all the
 * same, and the answer to the next JoinGroup may only repeat that one (broker: who has joined already hears the same
 * again). */
void rg__join_unheard(struct rg__machine *machine)
{
	if (machine->parked_at < machine->unheard_at)
		machine->unheard_at = machine->parked_at;
}

/* JoinGroup or SyncGroup was answered with an error: what the table says, inside the rebalance. */
void rg__refused(struct rg__machine *machine, int64_t now_us, enum rg__request request, rg_err err, struct rg__actions *actions)
{
	rg__refused_as(machine, now_us, request, err, rg__react(request, err), actions);
}

void rg__refused_as(struct rg__machine *machine, int64_t now_us, enum rg__request request, rg_err err,
                    const struct rg__reaction *reaction, struct rg__actions *actions)
{
	if (reaction->verb == RG__FAIL) {
		rg__fail_for_good(machine, request, err, actions);
		return;
	}
	if (!reaction->keep_generation)
		rg__lose(machine, rg__loss_of(err), reaction->keep_member_id, actions);
	rg__set_reason(machine->reason, "rebalance failed: %s", rg_err_name(err));
	rg__again(machine, now_us, request, reaction);
	if (reaction->drop_coordinator)
		rg__drop_coordinator(machine, now_us, actions);
	else
		machine->coordinator_good = true; /* it refused, but it was the right one to ask */
	if (reaction->verb == RG__REPORT) {
		machine->held = true;
		rg__report(machine, request, err, actions);
	}
}

/* A SyncGroup may be parked until the slowest member's is in or the rebalance timeout is over, so it waits as long as a
 * JoinGroup: giving up sooner would throw away a rebalance that a slow assignor holds up. */
static int64_t parked_timeout_us(const struct rg__machine *machine)
{
	int64_t timeout_ms = machine->conf.rebalance_timeout_ms + (int64_t)REBALANCE_SLACK_MS;

	if (timeout_ms < machine->conf.request_timeout_ms)
		timeout_ms = machine->conf.request_timeout_ms;
	return timeout_ms * 1000;
}

void rg__send_sync(struct rg__machine *machine, int64_t now_us, bool with_plan, struct rg__actions *actions)
{
	struct rg__action *sync = rg__act(actions, RG__DO_SEND_SYNC);

	rg__move(machine, RG__SYNCING);
	machine->sync = sync->attempt = rg__next_attempt(machine);
	machine->parked_at = now_us;
	sync->timeout_us = parked_timeout_us(machine);
	sync->with_plan = with_plan;
}

static void send_join(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	struct rg__action *join = rg__act(actions, RG__DO_SEND_JOIN);

	/* The broker keeps a joining member alive by itself, and answers heartbeats only after the join. */
	rg__move(machine, RG__JOINING);
	machine->heartbeats_on = false;
	machine->heartbeat = 0;
	machine->parked_at = now_us;
	machine->join = join->attempt = rg__next_attempt(machine);
	/* A client that gives up sooner than the group waits for its slowest member makes phantom members (KAFKA-7610). */
	join->timeout_us = parked_timeout_us(machine);
	join->reason = machine->reason;
}

static void send_heartbeat(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	struct rg__action *beat = rg__act(actions, RG__DO_SEND_HEARTBEAT);
	int64_t timeout_us = machine->conf.request_timeout_ms * INT64_C(1000);
	int64_t half_session_us = machine->conf.session_timeout_ms * INT64_C(500);

	machine->heartbeat = beat->attempt = rg__next_attempt(machine);
	machine->heartbeat_sent_at = now_us;
	machine->heartbeat_at = now_us + machine->heartbeat_interval_us;
	/* While a SyncGroup is parked the broker reads nothing else from this connection; else half a session is enough to
	 * know that a connection is dead, and leaves the other half to find a better one. */
	if (machine->sync)
		timeout_us = parked_timeout_us(machine);
	else if (half_session_us < timeout_us)
		timeout_us = half_session_us;
	beat->timeout_us = timeout_us;
}

static bool coordinator_needed(const struct rg__machine *machine)
{
	return machine->wanted && !machine->suspended && machine->membership != RG__FAILED &&
	       machine->membership != RG__LEAVING;
}

/* After every event: whatever the state allows by now. */
void rg__advance(struct rg__machine *machine, int64_t now_us, struct rg__actions *actions)
{
	if (machine->membership == RG__UNJOINED && machine->wanted && !machine->suspended)
		rg__begin_rebalance(machine, actions);
	if (machine->membership == RG__STABLE && machine->rejoin_wanted)
		rg__begin_rebalance(machine, actions);
	if (machine->coordinator == RG__COORDINATOR_UNKNOWN && coordinator_needed(machine) && !machine->held &&
	    now_us >= machine->find_at) {
		struct rg__action *find = rg__act(actions, RG__DO_FIND_COORDINATOR);

		rg__move_coordinator(machine, RG__COORDINATOR_FINDING);
		machine->find = find->attempt = rg__next_attempt(machine);
		find->timeout_us = machine->conf.request_timeout_ms * INT64_C(1000);
	}
	if (machine->membership == RG__PREPARING && !machine->ask && !machine->held &&
	    machine->coordinator == RG__COORDINATOR_KNOWN && now_us >= machine->join_at)
		send_join(machine, now_us, actions);
	if (machine->heartbeats_on && !machine->heartbeat && machine->coordinator == RG__COORDINATOR_KNOWN &&
	    now_us >= machine->heartbeat_at)
		send_heartbeat(machine, now_us, actions);
}

/* The coordinator keeps who waits for its SyncGroup. */
bool rg__session_counts(const struct rg__machine *machine)
{
	return machine->heartbeats_on && !machine->sync;
}

static void sooner(int64_t *deadline, bool applies, int64_t at)
{
	if (applies && at < *deadline)
		*deadline = at;
}

int64_t rg__machine_deadline(const struct rg__machine *machine)
{
	int64_t deadline = RG__FOREVER;

	sooner(&deadline, machine->coordinator == RG__COORDINATOR_UNKNOWN && coordinator_needed(machine) && !machine->held,
	       machine->find_at);
	sooner(&deadline,
	       machine->membership == RG__PREPARING && !machine->ask && !machine->held &&
	               machine->coordinator == RG__COORDINATOR_KNOWN,
	       machine->join_at);
	sooner(&deadline,
	       machine->heartbeats_on && !machine->heartbeat && machine->coordinator == RG__COORDINATOR_KNOWN,
	       machine->heartbeat_at);
	sooner(&deadline, rg__session_counts(machine), machine->session_ends_at);
	sooner(&deadline, true, rg__rejoin_by_us(machine));
	sooner(&deadline, true, machine->leave_by);
	sooner(&deadline, machine->wanted && !machine->suspended && machine->membership != RG__FAILED, machine->poll_ends_at);
	return deadline;
}

const char *rg__machine_check(const struct rg__machine *machine)
{
	enum rg__membership_state is = machine->membership;

	if ((machine->join != 0) != (is == RG__JOINING))
		return "a JoinGroup is outstanding if and only if the member is Joining";
	if ((machine->sync != 0 || machine->proving) != (is == RG__SYNCING))
		return "a SyncGroup is outstanding, or what it brought is yet to count, if and only if the member is Syncing";
	if ((machine->assign != 0) != (is == RG__ASSIGNING))
		return "the assignor is asked if and only if the member is Assigning";
	if ((machine->leave != 0) != (is == RG__LEAVING))
		return "a LeaveGroup is outstanding if and only if the member is Leaving";
	if ((machine->find != 0) != (machine->coordinator == RG__COORDINATOR_FINDING))
		return "a look-up is outstanding if and only if the coordinator is Finding";
	if (is == RG__STABLE && machine->in_rebalance)
		return "Stable is not inside a rebalance";
	if ((is == RG__JOINING || is == RG__ASSIGNING || is == RG__SYNCING) && !machine->in_rebalance)
		return "Joining, Assigning and Syncing are inside a rebalance";
	if ((is == RG__ASSIGNING || is == RG__SYNCING || is == RG__STABLE) && (machine->generation < 0 || !machine->member_id))
		return "Assigning, Syncing and Stable have a generation and a member id";
	if (is == RG__ASSIGNING && !machine->leader)
		return "only the leader is Assigning";
	if ((is == RG__JOINING || is == RG__SYNCING) && machine->coordinator != RG__COORDINATOR_KNOWN)
		return "Joining and Syncing have a coordinator";
	if (machine->heartbeats_on && machine->generation < 0)
		return "heartbeats need a generation";
	if (machine->heartbeats_on && (is == RG__JOINING || is == RG__UNJOINED || is == RG__LEAVING || is == RG__FAILED))
		return "no heartbeats while Joining, Unjoined, Leaving or Failed";
	return NULL;
}
