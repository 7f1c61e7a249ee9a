/* SPDX-License-Identifier: Apache-2.0 */
/* Event scripts for the membership machine: any event, any answer to any request old or new, any time between.
 * What the observer of the group tests promises must hold after every step. */
#include "fuzz.h"
#include "group/machine.h"
#include "observer.h"

enum { KEPT = 4, STEPS_MAX = 400, ACTION_TYPES = RG__DO_SEND_LEAVE + 1 };

struct play {
	struct rg__machine *machine;
	struct observer observer;
	struct input input;
	int64_t now_us;
	uint32_t sent[ACTION_TYPES][KEPT]; /* of each kind of action the newest few, newest first */
};

static void happen(struct play *play, const struct rg__event *event)
{
	struct rg__actions actions;

	observer_event(&play->observer, play->now_us, event);
	rg__machine_step(play->machine, play->now_us, event, &actions);
	observer_actions(&play->observer, play->machine, &actions);
	require(!play->observer.broken[0], play->observer.broken);
	require(actions.count <= RG__ACTIONS_MAX, "actions are bounded");
	for (int i = 0; i < actions.count; i++) {
		uint32_t *sent = play->sent[actions.items[i].type];

		memmove(sent + 1, sent, (KEPT - 1) * sizeof(*sent));
		sent[0] = actions.items[i].attempt;
	}
}

/* Lets the time pass as a caller does who keeps the deadlines. */
static void pass(struct play *play, int64_t span_us)
{
	int64_t until_us = play->now_us + span_us, at_us;
	int at_once = 0;

	while ((at_us = rg__machine_deadline(play->machine)) <= until_us) {
		at_once = at_us <= play->now_us ? at_once + 1 : 0;
		require(at_once < 4, "the deadline moves when it is kept");
		if (at_us > play->now_us)
			play->now_us = at_us;
		happen(play, &(struct rg__event){.type = RG__EVENT_DEADLINE});
	}
	play->now_us = until_us;
}

static rg_err error_code(uint8_t byte)
{
	static const rg_err codes[] = {0, 0, 0, 0, 14, 15, 16, 22, 25, 27, 79, 30, 81, 69, 7, 3, 82, 23, 24, 26, 999, -1,
				       RG_ERR_TRANSPORT, RG_ERR_TIMED_OUT, RG_ERR_PROTOCOL, RG_ERR_MEMORY, RG_ERR_RESOLVE,
				       RG_ERR_UNSUPPORTED, RG_ERR_INVALID, RG_ERR_ASSIGNOR, RG_ERR_BAD_PLAN};

	return codes[byte % (sizeof(codes) / sizeof(*codes))];
}

/* Which kind of action an event answers; RG__DO_REPORT: none. */
static enum rg__action_type answered_by(enum rg__event_type type, bool lost)
{
	switch (type) {
	case RG__EVENT_PREPARED:
		return lost ? RG__DO_LOST : RG__DO_PREPARE;
	case RG__EVENT_ASSIGNED:
		return RG__DO_RUN_ASSIGNOR;
	case RG__EVENT_FIND_ANSWERED:
		return RG__DO_FIND_COORDINATOR;
	case RG__EVENT_JOIN_ANSWERED:
		return RG__DO_SEND_JOIN;
	case RG__EVENT_SYNC_ANSWERED:
		return RG__DO_SEND_SYNC;
	case RG__EVENT_HEARTBEAT_ANSWERED:
		return RG__DO_SEND_HEARTBEAT;
	case RG__EVENT_LEAVE_ANSWERED:
		return RG__DO_SEND_LEAVE;
	default:
		return RG__DO_REPORT;
	}
}

/* Four bytes: what, to which, how, when. */
static void one(struct play *play)
{
	static const char *const ids[] = {"m1", "m2", "", "m1"}, *const names[] = {"range", "range", "sticky", ""};
	static const char *const types[] = {"consumer", "consumer", "connect", ""};
	static const int64_t spans_us[] = {0, 0, 1, 1000, 20000, 200000, 2000000, 15000000};
	uint8_t what = take(&play->input), which = take(&play->input), how = take(&play->input),
		when = take(&play->input);
	struct rg__event event = {.type = (enum rg__event_type)(what % (RG__EVENT_DEADLINE + 1))};
	enum rg__action_type answers = answered_by(event.type, which & 0x80);

	event.attempt = answers == RG__DO_REPORT ? which : play->sent[answers][which % KEPT];
	event.err = error_code(how);
	event.reason = which & 0x40 ? NULL : "why";
	event.leave_mode = (enum rg__leave_mode)(which % 3);
	event.timeout_us = which & 0x20 ? 0 : 5000000;
	event.polling = which & 1;
	event.keeps = which & 0x10;
	event.group_size = which & 0x40 ? -(int32_t)how : how * 3;
	event.epoch = rg__machine_epoch(play->machine) - (which & 0x08 ? 1 : 0);
	event.generation = when & 0x08 ? (int32_t)when : when & 0x10 ? -1 : INT32_MAX;
	event.member_id = rg__bytes_of(ids[which >> 2 & 3]);
	event.leader = when & 0x20 ? event.member_id : rg__bytes_of("m9");
	event.protocol_name = rg__bytes_of(names[which >> 4 & 3]);
	event.protocol_type = rg__bytes_of(when & 0x40 ? types[when & 3] : NULL);
	event.skip_assignment = when & 0x80;
	happen(play, &event);
	pass(play, spans_us[when & 7]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play play = {.input = {data, size}, .now_us = 1000000};
	uint8_t shape = take(&play.input);
	struct rg__group_conf conf = {
		.group_id = "g",
		.instance_id = shape & 1 ? "i1" : NULL,
		.protocol_type = "consumer",
		.session_timeout_ms = shape & 2 ? 10000 : 1,
		.rebalance_timeout_ms = shape & 4 ? 20000 : INT32_MAX,
		.max_poll_interval_ms = shape & 8 ? 20000 : 0,
		.heartbeat_interval_ms = shape & 16 ? 3000 : 1,
		.heartbeat_budget = shape & 32 ? 50 : 0,
		.request_timeout_ms = shape & 64 ? 30000 : 1000,
		.retry_backoff_ms = 100,
		.retry_backoff_max_ms = shape & 128 ? 1000 : 50,
		.seed = shape,
	};

	/* One heartbeat each millisecond is what it would be told to send: no loop of a fuzzer's. */
	if (!(shape & 16))
		conf.heartbeat_interval_ms = 500;
	if (!(shape & 2))
		conf.session_timeout_ms = 1000;
	play.machine = must(rg__machine_new(&conf, play.now_us));
	play.observer.now_us = play.now_us;
	for (int i = 0; i < STEPS_MAX && play.input.left; i++)
		one(&play);
	rg__machine_free(play.machine);
	return 0;
}
