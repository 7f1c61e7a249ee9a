/* SPDX-License-Identifier: Apache-2.0 */
/* Events in no sensible order, and brokers of ill will. What the observer promises must hold in every one of these
 * sequences; each edge that is taken is checked by the machine itself (an illegal one ends the test), and nothing may spin. */
#include "base/backoff.h"
#include "group/machine.h"
#include "observer.h"
#include "../lib/suite.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

enum { KEPT = 16 };

struct play {
	struct rg__machine *machine;
	struct observer observer;
	struct rg__random random;
	int64_t now_us;
	uint32_t sent[RG__DO_SEND_LEAVE + 1][KEPT]; /* of each kind of action the newest few, oldest first */
	long steps;
	char last[400];
};

static uint32_t draw(struct play *play, uint32_t below)
{
	return (uint32_t)(rg__random_next(&play->random) >> 33) % below;
}

static bool happen(struct play *play, const struct rg__event *event)
{
	struct rg__actions actions;

	observer_event(&play->observer, play->now_us, event);
	rg__machine_step(play->machine, play->now_us, event, &actions);
	observer_actions(&play->observer, play->machine, &actions);
	play->steps++;
	play->last[0] = '\0';
	trace_print(&actions, play->last, sizeof(play->last));
	for (int i = 0; i < actions.count; i++) {
		uint32_t *sent = play->sent[actions.items[i].type];

		memmove(sent, sent + 1, (KEPT - 1) * sizeof(*sent));
		sent[KEPT - 1] = actions.items[i].attempt;
	}
	ck_assert_msg(!play->observer.broken[0], "%s after event %d at step %ld, which did %s", play->observer.broken,
	              (int)event->type, play->steps, play->last);
	return actions.count > 0;
}

/* Lets the time pass as a caller does who keeps the deadlines. */
static void pass(struct play *play, int64_t span_us)
{
	int64_t until_us = play->now_us + span_us, at_us;
	int at_once = 0;

	while ((at_us = rg__machine_deadline(play->machine)) <= until_us) {
		at_once = at_us <= play->now_us ? at_once + 1 : 0;
		ck_assert_msg(at_once < 4, "the deadline does not move at step %ld (%s)", play->steps, play->last);
		if (at_us > play->now_us)
			play->now_us = at_us;
		happen(play, &(struct rg__event){.type = RG__EVENT_DEADLINE});
	}
	play->now_us = until_us;
}

static void begin(struct play *play, uint64_t seed)
{
	struct rg__group_conf conf;

	memset(play, 0, sizeof(*play));
	play->random.state = seed * 2654435761u + 1;
	play->now_us = play->observer.now_us = 1000000;
	trace_conf(&conf);
	conf.seed = seed;
	conf.heartbeat_budget = draw(play, 2) ? 50 : 0;
	conf.max_poll_interval_ms = draw(play, 3) ? 20000 : 0;
	conf.rebalance_timeout_ms = 20000;
	conf.request_timeout_ms = draw(play, 2) ? 3000 : 30000;
	conf.instance_id = draw(play, 3) ? NULL : "i1";
	play->machine = rg__machine_new(&conf, play->now_us);
	ck_assert_ptr_nonnull(play->machine);
}

/* --- Random scripts --------------------------------------------------------------------------------------------------- */

static rg_err some_error(struct play *play)
{
	static const rg_err codes[] = {14, 15, 16, 22, 25, 27, 79, 30, 81, 69, 7, 3, 82, 23, 999, RG_ERR_TRANSPORT, RG_ERR_TIMED_OUT,
	                               RG_ERR_PROTOCOL, RG_ERR_MEMORY};
	uint32_t which = draw(play, sizeof(codes) / sizeof(codes[0]));

	/* Fatal ones end the play for a while, so they are rare. */
	if ((codes[which] == 82 || codes[which] == 23) && draw(play, 10))
		return 27;
	return codes[which];
}

static void answer(struct play *play, enum rg__event_type type, enum rg__action_type action)
{
	static const char *const names[] = {"m1", "m2", "range", "consumer", ""};
	struct rg__event event = {.type = type};
	const uint32_t *sent = play->sent[action];

	/* Mostly to what was asked last, sometimes to something older. */
	event.attempt = sent[draw(play, 5) ? KEPT - 1 : draw(play, KEPT)];
	event.err = draw(play, 3) ? RG_OK : some_error(play);
	event.keeps = draw(play, 2);
	event.generation = draw(play, 50) ? (int32_t)draw(play, 1000) : -1;
	event.member_id = rg__bytes_of(draw(play, 30) ? names[draw(play, 2)] : "");
	event.leader = draw(play, 2) ? event.member_id : rg__bytes_of("m9");
	event.protocol_type = draw(play, 40) ? rg__bytes_of("consumer") : rg__bytes_of(names[draw(play, 5)]);
	event.protocol_name = draw(play, 40) ? rg__bytes_of("range") : rg__bytes_of(names[draw(play, 5)]);
	event.skip_assignment = draw(play, 5) == 0;
	happen(play, &event);
}

static void anything(struct play *play)
{
	static const struct {
		unsigned weight;
		enum rg__event_type event;
		enum rg__action_type answers; /* RG__DO_REPORT: nothing */
	} events[] = {
		{3, RG__EVENT_START, RG__DO_REPORT},        {2, RG__EVENT_REJOIN, RG__DO_REPORT},
		{1, RG__EVENT_LEAVE, RG__DO_REPORT},        {4, RG__EVENT_POLL, RG__DO_REPORT},
		{6, RG__EVENT_RETRY, RG__DO_REPORT},        {2, RG__EVENT_GROUP_SIZE, RG__DO_REPORT},
		{2, RG__EVENT_COORDINATOR_DOWN, RG__DO_REPORT}, {2, RG__EVENT_COMMIT_ANSWERED, RG__DO_REPORT},
		{1, RG__EVENT_FETCH_ANSWERED, RG__DO_REPORT}, {2, RG__EVENT_DEADLINE, RG__DO_REPORT},
		{12, RG__EVENT_PREPARED, RG__DO_PREPARE},   {6, RG__EVENT_PREPARED, RG__DO_LOST},
		{8, RG__EVENT_ASSIGNED, RG__DO_RUN_ASSIGNOR}, {10, RG__EVENT_FIND_ANSWERED, RG__DO_FIND_COORDINATOR},
		{14, RG__EVENT_JOIN_ANSWERED, RG__DO_SEND_JOIN}, {12, RG__EVENT_SYNC_ANSWERED, RG__DO_SEND_SYNC},
		{8, RG__EVENT_HEARTBEAT_ANSWERED, RG__DO_SEND_HEARTBEAT}, {3, RG__EVENT_LEAVE_ANSWERED, RG__DO_SEND_LEAVE},
	};
	uint32_t total = 0, which;
	size_t i = 0;

	for (size_t j = 0; j < sizeof(events) / sizeof(events[0]); j++)
		total += events[j].weight;
	for (which = draw(play, total); which >= events[i].weight; i++)
		which -= events[i].weight;
	if (events[i].answers != RG__DO_REPORT) {
		answer(play, events[i].event, events[i].answers);
		return;
	}
	struct rg__event event = {.type = events[i].event, .reason = "why"};

	event.err = some_error(play);
	event.polling = draw(play, 2);
	event.leave_mode = (enum rg__leave_mode)draw(play, 3);
	event.group_size = (int32_t)draw(play, 400) - 10;
	event.epoch = rg__machine_epoch(play->machine) - (draw(play, 3) ? 0 : 1);
	happen(play, &event);
}

START_TEST(any_events_in_any_order)
{
	static const int64_t spans_us[] = {0, 0, 0, 1000, 20000, 200000, 2000000, 15000000};
	long prepares = 0, completes = 0, losts = 0, joins = 0, steps = 0;

	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct play play;

		begin(&play, seed);
		while (play.steps < 5000) {
			anything(&play);
			pass(&play, spans_us[draw(&play, draw(&play, 4) ? 5 : 8)]);
		}
		prepares += play.observer.prepares;
		completes += play.observer.completes;
		losts += play.observer.losts;
		joins += play.observer.joins;
		steps += play.steps;
		rg__machine_free(play.machine);
	}
	printf("%ld steps: %ld prepares, %ld completes, %ld losts, %ld JoinGroups\n", steps, prepares, completes, losts, joins);
	/* It got somewhere, or it has shown nothing. */
	ck_assert_int_ge(steps, 500000);
	ck_assert_int_gt(completes, 1000);
	ck_assert_int_gt(losts, 200);
	ck_assert_int_gt(joins, completes);
}
END_TEST

/* --- Brokers of ill will ------------------------------------------------------------------------------------------------ */

/* Answers everything within a millisecond, the chosen request always with the chosen code (0: good, and then the
 * connection breaks), everything else well. The application answers at once and asks to go on whenever it is told of an error. */
struct villain {
	enum rg__request request;
	rg_err code;
	bool heartbeats_too; /* fine heartbeats in between, which forgive what was before */
};

static rg_err verdict(const struct villain *villain, enum rg__request request)
{
	return villain->request == request ? villain->code : RG_OK;
}

/* Answers what the step asked for. False: there was nothing to answer. */
static bool serve(struct play *play, const struct villain *villain, uint32_t served[RG__DO_SEND_LEAVE + 1])
{
	static const struct {
		enum rg__action_type action;
		enum rg__event_type event;
		enum rg__request request;
	} kinds[] = {
		{RG__DO_PREPARE, RG__EVENT_PREPARED, RG__REQUESTS},
		{RG__DO_LOST, RG__EVENT_PREPARED, RG__REQUESTS},
		{RG__DO_RUN_ASSIGNOR, RG__EVENT_ASSIGNED, RG__REQUESTS},
		{RG__DO_FIND_COORDINATOR, RG__EVENT_FIND_ANSWERED, RG__REQUEST_FIND_COORDINATOR},
		{RG__DO_SEND_JOIN, RG__EVENT_JOIN_ANSWERED, RG__REQUEST_JOIN_GROUP},
		{RG__DO_SEND_SYNC, RG__EVENT_SYNC_ANSWERED, RG__REQUEST_SYNC_GROUP},
		{RG__DO_SEND_HEARTBEAT, RG__EVENT_HEARTBEAT_ANSWERED, RG__REQUEST_HEARTBEAT},
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint32_t attempt = play->sent[kinds[i].action][KEPT - 1];
		struct rg__event event = {.type = kinds[i].event, .attempt = attempt, .keeps = true, .generation = 1};

		if (attempt == served[kinds[i].action])
			continue;
		served[kinds[i].action] = attempt;
		any = true;
		event.member_id = event.leader = rg__bytes_of("m1");
		event.err = verdict(villain, kinds[i].request);
		happen(play, &event);
		if (villain->request == kinds[i].request && !villain->code)
			happen(play, &(struct rg__event){.type = RG__EVENT_COORDINATOR_DOWN});
	}
	return any;
}

static long requests_of(const struct villain *villain, uint64_t seed)
{
	uint32_t served[RG__DO_SEND_LEAVE + 1] = {0};
	struct play play;
	long requests;

	begin(&play, seed);
	happen(&play, &(struct rg__event){.type = RG__EVENT_START});
	happen(&play, &(struct rg__event){.type = RG__EVENT_POLL, .polling = true});
	while (play.now_us < INT64_C(21000000)) {
		happen(&play, &(struct rg__event){.type = RG__EVENT_RETRY});
		serve(&play, villain, served);
		pass(&play, 5000);
	}
	requests = play.observer.requests;
	rg__machine_free(play.machine);
	return requests;
}

START_TEST(no_broker_makes_us_spin)
{
	/* Design §3: what is retried at once backs off when it repeats. bugs librdkafka 4 (#3396); bugs kafka 14729, 12639.
	 * With a budget a heartbeat each 100 ms is what a member of a small group sends anyway, and no fault may
	 * cost much more than that. */
	static const rg_err codes[] = {0, 14, 15, 16, 22, 25, 27, 79, 30, 81, 69, 999, -1, RG_ERR_TRANSPORT, RG_ERR_TIMED_OUT,
	                               RG_ERR_PROTOCOL, RG_ERR_RESOLVE, RG_ERR_MEMORY};
	static const enum rg__request requests[] = {RG__REQUEST_FIND_COORDINATOR, RG__REQUEST_JOIN_GROUP, RG__REQUEST_SYNC_GROUP,
	                                            RG__REQUEST_HEARTBEAT};
	const long most = 20 * 10 + 100;
	long worst = 0;
	char which[100] = "";

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		for (size_t j = 0; j < sizeof(codes) / sizeof(codes[0]); j++)
			for (uint64_t seed = 1; seed <= 2; seed++) {
				struct villain villain = {.request = requests[i], .code = codes[j]};
				long count = requests_of(&villain, seed);

				ck_assert_msg(count <= most, "%s answered %d (%s): %ld requests in 20 seconds",
				              rg__request_label(requests[i]), codes[j], rg_err_name(codes[j]), count);
				if (count > worst) {
					worst = count;
					snprintf(which, sizeof(which), "%s answered %s", rg__request_label(requests[i]),
					         codes[j] ? rg_err_name(codes[j]) : "and the connection closed");
				}
			}
	printf("at most %ld requests in 20 seconds (%s)\n", worst, which);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, any_events_in_any_order);
	tcase_add_test(tcase, no_broker_makes_us_spin);
}

int main(void)
{
	return suite_run("random", fill, 300);
}
