/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include "group/machine.h"
#include "observer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 600, SENT_MAX = 200 };

/* Everything that has a number, by the word its answer begins with. */
enum kind { ASK, ASSIGN, FIND, JOIN, SYNC, BEAT, LEAVE, KINDS };

struct trace {
	struct rg__machine *machine;
	struct observer observer;
	int64_t now_us;
	uint32_t sent[KINDS][SENT_MAX];
	int sent_count[KINDS];
	int64_t timeout_us;
	uint32_t old_epoch, epoch;
	char reason[300];
	char done[TEXT_MAX]; /* the actions of this line */
	const char *line;
};

void trace_conf(struct rg__group_conf *ret_conf)
{
	*ret_conf = (struct rg__group_conf){
		.group_id = "g",
		.protocol_type = "consumer",
		.session_timeout_ms = 10000,
		.rebalance_timeout_ms = 60000,
		.heartbeat_interval_ms = 3000,
		.request_timeout_ms = 30000,
		.retry_backoff_ms = 100,
		.retry_backoff_max_ms = 1000,
		.seed = 7,
	};
}

/* --- Reading a line ------------------------------------------------------------------------------------------------- */

/* The next word of *at (in place); a quoted part may hold spaces. NULL at the end. */
static char *word(char **at)
{
	char *start = *at, *p;
	bool quoted = false;

	while (*start == ' ')
		start++;
	if (!*start)
		return NULL;
	for (p = start; *p && (quoted || *p != ' '); p++)
		if (*p == '\'')
			quoted = !quoted;
	*at = *p ? p + 1 : p;
	*p = '\0';
	return start;
}

/* What stands behind "key=" in a word, without quotes; NULL when the word is another. */
static char *value(char *w, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(w, key, len) != 0 || w[len] != '=')
		return NULL;
	w += len + 1;
	if (*w == '\'') {
		w++;
		w[strcspn(w, "'")] = '\0';
	}
	return w;
}

static int64_t time_us(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (strcmp(end, "ms") == 0)
		return number * INT64_C(1000);
	ck_assert_msg(strcmp(end, "s") == 0, "a time is 100ms or 3s: %s", text);
	return number * INT64_C(1000000);
}

static bool code(const char *text, rg_err *ret_err)
{
	char *end;

	if (strcmp(text, "ok") == 0) {
		*ret_err = RG_OK;
		return true;
	}
	long number = strtol(text, &end, 10);
	if (end != text && !*end) {
		*ret_err = (rg_err)number;
		return true;
	}
	for (rg_err err = RG_ERR_MEMORY; err > RG_ERR_MEMORY - 30; err--)
		if (strcmp(rg_err_name(err), text) == 0) {
			*ret_err = err;
			return true;
		}
	return false;
}

/* --- Actions as text -------------------------------------------------------------------------------------------------- */

static const char *loss_name(enum rg__loss loss)
{
	static const char *const names[] = {"not",     "unknown-member", "illegal-generation", "fenced",
	                                    "session", "max-poll",       "fatal"};

	return names[loss];
}

static void print_error(char *text, size_t size, const char *label, const struct rg__action *action)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", action->err);
	snprintf(text, size, "%s(%s:%s)", label, rg__request_label(action->request),
	         action->err <= RG_ERR_MEMORY ? rg_err_name(action->err) : number);
}

static void print_action(const struct rg__action *action, char *text, size_t size)
{
	static const char *const plain[] = {
		[RG__DO_PREPARE] = "PREPARE",     [RG__DO_RUN_ASSIGNOR] = "ASSIGN",    [RG__DO_COMPLETE] = "COMPLETE",
		[RG__DO_LEFT] = "LEFT",           [RG__DO_FIND_COORDINATOR] = "FIND",  [RG__DO_DROP_COORDINATOR] = "DROP",
		[RG__DO_SEND_JOIN] = "JOIN",      [RG__DO_SEND_SYNC] = "SYNC",         [RG__DO_SEND_HEARTBEAT] = "BEAT",
		[RG__DO_SEND_LEAVE] = "LEAVE",
	};

	switch (action->type) {
	case RG__DO_LOST:
		snprintf(text, size, "LOST(%s)", loss_name(action->loss));
		break;
	case RG__DO_REPORT:
		print_error(text, size, "REPORT", action);
		break;
	case RG__DO_FAIL:
		print_error(text, size, "FAIL", action);
		break;
	default:
		snprintf(text, size, "%s%s%s", plain[action->type], action->with_plan ? "+plan" : "",
		         action->beside_join ? "+beside" : "");
		break;
	}
}

void trace_print(const struct rg__actions *actions, char *text, unsigned long size)
{
	size_t len = strlen(text);

	for (int i = 0; i < actions->count; i++) {
		if (len && len < size - 1)
			text[len++] = ' ';
		print_action(&actions->items[i], text + len, size - len);
		len += strlen(text + len);
	}
}

static void remember(struct trace *trace, const struct rg__action *action)
{
	static const int kinds[] = {
		[RG__DO_PREPARE] = ASK + 1,       [RG__DO_LOST] = ASK + 1,       [RG__DO_RUN_ASSIGNOR] = ASSIGN + 1,
		[RG__DO_FIND_COORDINATOR] = FIND + 1, [RG__DO_SEND_JOIN] = JOIN + 1, [RG__DO_SEND_SYNC] = SYNC + 1,
		[RG__DO_SEND_HEARTBEAT] = BEAT + 1, [RG__DO_SEND_LEAVE] = LEAVE + 1,
	};
	int kind = kinds[action->type] - 1;

	if (action->timeout_us)
		trace->timeout_us = action->timeout_us;
	if (action->reason)
		snprintf(trace->reason, sizeof(trace->reason), "%s", action->reason);
	if (kind < 0)
		return;
	ck_assert_int_lt(trace->sent_count[kind], SENT_MAX);
	trace->sent[kind][trace->sent_count[kind]++] = action->attempt;
}

static void step(struct trace *trace, const struct rg__event *event)
{
	struct rg__actions actions;

	observer_event(&trace->observer, trace->now_us, event);
	rg__machine_step(trace->machine, trace->now_us, event, &actions);
	observer_actions(&trace->observer, trace->machine, &actions);
	ck_assert_msg(!trace->observer.broken[0], "%s\n    at: %s", trace->observer.broken, trace->line);
	for (int i = 0; i < actions.count; i++)
		remember(trace, &actions.items[i]);
	trace_print(&actions, trace->done, sizeof(trace->done));
	if (rg__machine_epoch(trace->machine) != trace->epoch) {
		trace->old_epoch = trace->epoch;
		trace->epoch = rg__machine_epoch(trace->machine);
	}
}

static void pass_time(struct trace *trace, int64_t span_us)
{
	int64_t until_us = trace->now_us + span_us, at_us;
	int at_once = 0;

	while ((at_us = rg__machine_deadline(trace->machine)) <= until_us) {
		/* A deadline that stays in the past would make its caller spin. */
		at_once = at_us <= trace->now_us ? at_once + 1 : 0;
		ck_assert_msg(at_once < 4, "the deadline does not move\n    at: %s", trace->line);
		if (at_us > trace->now_us)
			trace->now_us = at_us;
		step(trace, &(struct rg__event){.type = RG__EVENT_DEADLINE});
	}
	trace->now_us = until_us;
}

/* --- Events ----------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum rg__event_type type;
	int kind; /* what it answers; -1: nothing */
} events[] = {
	{"start", RG__EVENT_START, -1},          {"rejoin", RG__EVENT_REJOIN, -1},
	{"leave", RG__EVENT_LEAVE, -1},          {"poll", RG__EVENT_POLL, -1},
	{"unpoll", RG__EVENT_POLL, -1},          {"retry", RG__EVENT_RETRY, -1},
	{"size", RG__EVENT_GROUP_SIZE, -1},      {"down", RG__EVENT_COORDINATOR_DOWN, -1},
	{"prepared", RG__EVENT_PREPARED, ASK},   {"assigned", RG__EVENT_ASSIGNED, ASSIGN},
	{"found", RG__EVENT_FIND_ANSWERED, FIND}, {"join", RG__EVENT_JOIN_ANSWERED, JOIN},
	{"sync", RG__EVENT_SYNC_ANSWERED, SYNC}, {"beat", RG__EVENT_HEARTBEAT_ANSWERED, BEAT},
	{"leave-answer", RG__EVENT_LEAVE_ANSWERED, LEAVE}, {"commit", RG__EVENT_COMMIT_ANSWERED, -1},
	{"fetch", RG__EVENT_FETCH_ANSWERED, -1}, {"wait", RG__EVENT_DEADLINE, -1},
};

static void read_option(struct trace *trace, struct rg__event *event, char *w)
{
	char *v;

	if ((v = value(w, "id")))
		event->member_id = rg__bytes_of(v);
	else if ((v = value(w, "gen")))
		event->generation = atoi(v);
	else if ((v = value(w, "leader")))
		event->leader = rg__bytes_of(v);
	else if ((v = value(w, "type")))
		event->protocol_type = rg__bytes_of(v);
	else if ((v = value(w, "protocol")))
		event->protocol_name = rg__bytes_of(v);
	else if ((v = value(w, "reason")))
		event->reason = v;
	else if ((v = value(w, "timeout")))
		event->timeout_us = time_us(v);
	else if ((v = value(w, "mode")))
		event->leave_mode = strcmp(v, "never") == 0 ? RG__LEAVE_NEVER : RG__LEAVE_ALWAYS;
	else if (strcmp(w, "leader") == 0)
		event->leader = event->member_id;
	else if (strcmp(w, "skip") == 0)
		event->skip_assignment = true;
	else if (strcmp(w, "keeps") == 0)
		event->keeps = true;
	else if (strcmp(w, "old") == 0)
		event->epoch = trace->old_epoch;
	else if (event->type == RG__EVENT_GROUP_SIZE)
		event->group_size = atoi(w);
	else
		ck_assert_msg(code(w, &event->err), "unknown word %s\n    at: %s", w, trace->line);
}

static void happen(struct trace *trace, char *text)
{
	char *name = word(&text), *number, *w;
	struct rg__event event = {0};
	size_t i;

	ck_assert_msg(name, "no event\n    at: %s", trace->line);
	if (strcmp(name, "wait") == 0) {
		pass_time(trace, time_us(word(&text)));
		return;
	}
	number = strchr(name, '#');
	if (number)
		*number++ = '\0';
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, name) == 0)
			break;
	ck_assert_msg(i < sizeof(events) / sizeof(events[0]), "unknown event %s\n    at: %s", name, trace->line);
	event.type = events[i].type;
	event.polling = strcmp(name, "poll") == 0;
	event.epoch = rg__machine_epoch(trace->machine);
	if (events[i].kind >= 0) {
		int count = trace->sent_count[events[i].kind], which = number ? atoi(number) : count;

		ck_assert_msg(which >= 1 && which <= count, "nothing to answer\n    at: %s", trace->line);
		event.attempt = trace->sent[events[i].kind][which - 1];
	}
	while ((w = word(&text)))
		read_option(trace, &event, w);
	step(trace, &event);
}

/* --- What is so ------------------------------------------------------------------------------------------------------- */

static void check_word(const struct trace *trace, char *w)
{
	const struct rg__machine *machine = trace->machine;
	char *v;

#define SAME(want, is) ck_assert_msg(strcmp(want, is) == 0, "it is %s, not %s\n    at: %s", is, want, trace->line)
#define SAME_NUMBER(want, is)                                                                                              \
	ck_assert_msg((want) == (is), "it is %lld, not %lld\n    at: %s", (long long)(is), (long long)(want), trace->line)
#define IS(condition) ck_assert_msg(condition, "it is not %s\n    at: %s", w, trace->line)

	if ((v = value(w, "id"))) {
		SAME(v, rg__machine_member_id(machine));
	} else if ((v = value(w, "gen"))) {
		SAME_NUMBER(atoi(v), rg__machine_generation(machine));
	} else if ((v = value(w, "protocol"))) {
		SAME(v, rg__machine_protocol(machine));
	} else if ((v = value(w, "interval"))) {
		SAME_NUMBER(time_us(v), rg__machine_heartbeat_interval_us(machine));
	} else if ((v = value(w, "timeout"))) {
		SAME_NUMBER(time_us(v), trace->timeout_us);
	} else if ((v = value(w, "reason"))) {
		SAME(v, trace->reason);
	} else if (strcmp(w, "leader") == 0) {
		IS(rg__machine_is_leader(machine));
	} else if (strcmp(w, "follower") == 0) {
		IS(!rg__machine_is_leader(machine));
	} else if (strcmp(w, "rebalancing") == 0) {
		IS(rg__machine_rebalancing(machine));
	} else if (strcmp(w, "settled") == 0) {
		IS(!rg__machine_rebalancing(machine));
	} else if (strcmp(w, "Unknown") == 0 || strcmp(w, "Finding") == 0 || strcmp(w, "Known") == 0) {
		SAME(w, rg__coordinator_name(rg__machine_coordinator(machine)));
	} else {
		SAME(w, rg__membership_name(rg__machine_membership(machine)));
	}
}

/* Words with one space between them. */
static void tidy(char *text)
{
	char *to = text, *from = text, *w;

	while ((w = word(&from))) {
		size_t len = strlen(w);

		if (to != text)
			*to++ = ' ';
		memmove(to, w, len);
		to += len;
	}
	*to = '\0';
}

static void run_line(struct trace *trace, const char *line)
{
	char copy[TEXT_MAX], nothing[1] = "", *actions, *state, *w;

	trace->line = line;
	trace->done[0] = '\0';
	ck_assert_msg(strlen(line) < sizeof(copy), "line too long: %s", line);
	memcpy(copy, line, strlen(line) + 1);
	actions = strchr(copy, '>');
	ck_assert_msg(actions, "no > in %s", line);
	*actions++ = '\0';
	state = strchr(actions, '|');
	if (state)
		*state++ = '\0';
	else
		state = nothing;
	happen(trace, copy);
	tidy(actions);
	ck_assert_msg(strcmp(trace->done[0] ? trace->done : "-", actions) == 0, "it did: %s\n    at: %s",
	              trace->done[0] ? trace->done : "-", line);
	while ((w = word(&state)))
		check_word(trace, w);
}

static void read_conf(struct rg__group_conf *conf, char *text)
{
	char *w, *v;

	while ((w = word(&text))) {
		if ((v = value(w, "session")))
			conf->session_timeout_ms = (int32_t)(time_us(v) / 1000);
		else if ((v = value(w, "rebalance")))
			conf->rebalance_timeout_ms = (int32_t)(time_us(v) / 1000);
		else if ((v = value(w, "poll")))
			conf->max_poll_interval_ms = (int32_t)(time_us(v) / 1000);
		else if ((v = value(w, "heartbeat")))
			conf->heartbeat_interval_ms = (int32_t)(time_us(v) / 1000);
		else if ((v = value(w, "request")))
			conf->request_timeout_ms = (int32_t)(time_us(v) / 1000);
		else if ((v = value(w, "budget")))
			conf->heartbeat_budget = atoi(v);
		else if ((v = value(w, "instance")))
			conf->instance_id = v;
		else
			ck_abort_msg("unknown setting %s", w);
	}
}

void trace_run(const char *const *lines)
{
	struct rg__group_conf conf;
	char first[TEXT_MAX];
	struct trace *trace = calloc(1, sizeof(*trace));

	ck_assert_ptr_nonnull(trace);
	trace_conf(&conf);
	if (strncmp(*lines, "conf ", 5) == 0) {
		snprintf(first, sizeof(first), "%s", *lines++ + 5);
		read_conf(&conf, first);
	}
	trace->now_us = trace->observer.now_us = 1000000;
	trace->machine = rg__machine_new(&conf, trace->now_us);
	ck_assert_ptr_nonnull(trace->machine);
	trace->epoch = rg__machine_epoch(trace->machine);
	for (; *lines; lines++)
		run_line(trace, *lines);
	rg__machine_free(trace->machine);
	free(trace);
}
