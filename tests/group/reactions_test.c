/* SPDX-License-Identifier: Apache-2.0 */
/* The reaction table against a second one, written from what brokers mean by their codes and what the design decided, and
 * then the machine against that second table: each API, each code, also those nobody has heard of. */
#include "group/machine.h"
#include "../lib/suite.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

enum { NO_SUCH_CODE = 20000 };

/* What the membership suffers from an answer. */
enum effect {
	FINE,
	AGAIN,       /* the same once more */
	ANEW,        /* JoinGroup */
	THEIRS,      /* whoever committed or fetched is told, and nobody else */
	TELL,        /* the application is told and may try again */
	OVER         /* the application is told, and that is the end */
};

struct line {
	rg_err code; /* NO_SUCH_CODE: every other */
	enum effect effect;
	const char *costs; /* g: generation, m: member id, c: coordinator */
	const char *pause; /* now; soon: at once the first time, later when it repeats; later */
};

#define CONNECTION                                                                                                         \
	{RG_ERR_TRANSPORT, AGAIN, "c", "soon"}, {RG_ERR_TIMED_OUT, AGAIN, "c", "soon"}, {RG_ERR_RESOLVE, AGAIN, "c", "later"}, \
		{RG_ERR_PROTOCOL, AGAIN, "c", "later"}, {RG_ERR_MEMORY, AGAIN, "", "later"}

static const struct line find_coordinator[] = {
	{0, FINE, "", "now"},
	{24, OVER, "", "now"},     /* the group id will not get better */
	{30, TELL, "", "later"},   /* scenarios A.27 */
	{33, TELL, "", "later"},   /* scenarios A.28: who cannot authenticate is told, and not by the hundredth try */
	{58, TELL, "", "later"},
	{35, OVER, "", "now"},
	{RG_ERR_UNSUPPORTED, OVER, "", "now"},
	{NO_SUCH_CODE, AGAIN, "", "later"}, /* 14, 15 and the network: scenarios A.2, A.3 */
};

static const struct line join_group[] = {
	{0, FINE, "", "now"},
	{14, AGAIN, "", "later"},  /* scenarios A.20, bugs 4 */
	{15, AGAIN, "c", "soon"},  /* scenarios A.22 */
	{16, AGAIN, "c", "soon"},
	{22, ANEW, "g", "soon"},   /* design: ILLEGAL_GENERATION keeps the member id, everywhere */
	{25, ANEW, "gm", "soon"},
	{27, ANEW, "", "soon"},    /* scenarios A.17 */
	{79, ANEW, "", "soon"},    /* scenarios A.7 */
	{23, OVER, "", "now"},     /* scenarios A.24 */
	{24, OVER, "", "now"},     /* scenarios A.25 */
	{26, OVER, "", "now"},     /* scenarios A.26 */
	{35, OVER, "", "now"},
	{42, OVER, "", "now"},
	{82, OVER, "", "now"},     /* scenarios A.9 */
	{RG_ERR_UNSUPPORTED, OVER, "", "now"},
	{30, TELL, "", "later"},   /* scenarios A.27 */
	{81, TELL, "", "later"},   /* scenarios A.23 */
	CONNECTION,                /* scenarios A.18, KAFKA-13214 */
	{NO_SUCH_CODE, TELL, "", "later"},
};

static const struct line sync_group[] = {
	{0, FINE, "", "now"},
	{14, AGAIN, "", "later"},  /* design: retried, other than in Java */
	{15, AGAIN, "c", "soon"},
	{16, AGAIN, "c", "soon"},
	{22, ANEW, "g", "soon"},   /* scenarios A.15 */
	{25, ANEW, "gm", "soon"},  /* scenarios A.14 */
	{27, ANEW, "", "soon"},    /* scenarios A.16 */
	{23, OVER, "", "now"},
	{24, OVER, "", "now"},
	{26, OVER, "", "now"},
	{35, OVER, "", "now"},
	{82, OVER, "gm", "now"},   /* scenarios A.10 */
	{RG_ERR_UNSUPPORTED, OVER, "", "now"},
	{30, TELL, "", "later"},
	CONNECTION,
	{NO_SUCH_CODE, TELL, "", "later"}, /* scenarios A.29 */
};

static const struct line heartbeat[] = {
	{0, FINE, "", "now"},
	{14, AGAIN, "", "later"},
	{15, AGAIN, "c", "soon"},  /* scenarios C.60 */
	{16, AGAIN, "c", "soon"},
	{22, ANEW, "g", "soon"},   /* scenarios C.57 */
	{25, ANEW, "gm", "soon"},  /* scenarios C.58 */
	{27, ANEW, "", "soon"},
	{82, OVER, "gm", "now"},   /* scenarios C.59 */
	{RG_ERR_UNSUPPORTED, OVER, "", "now"},
	{30, TELL, "", "later"},   /* design: reaches the user */
	CONNECTION,
	{NO_SUCH_CODE, AGAIN, "", "later"}, /* scenarios C.63 */
};

static const struct line leave_group[] = {
	{NO_SUCH_CODE, FINE, "gm", "now"}, /* scenarios D.72 */
};

static const struct line offset_commit[] = {
	{0, FINE, "", "now"},
	{3, AGAIN, "", "later"},   /* scenarios F.110 */
	{7, AGAIN, "c", "later"},  /* scenarios F.112; bugs librdkafka 39 */
	{14, AGAIN, "", "later"},
	{15, AGAIN, "c", "soon"},
	{16, AGAIN, "c", "soon"},
	{22, ANEW, "g", "now"},    /* scenarios F.104 */
	{25, ANEW, "gm", "now"},   /* scenarios F.105 */
	{69, ANEW, "gm", "now"},   /* design: as 25 */
	{27, ANEW, "", "now"},     /* scenarios F.103 */
	{82, OVER, "gm", "now"},
	CONNECTION,
	{NO_SUCH_CODE, THEIRS, "", "now"}, /* 12, 28, 29, 30 and the rest: scenarios F.111 */
};

static const struct line offset_fetch[] = {
	{0, FINE, "", "now"},
	{7, AGAIN, "", "later"},   /* bugs kafka 17279: what is retriable is retried */
	{14, AGAIN, "", "later"},
	{15, AGAIN, "c", "soon"},
	{16, AGAIN, "c", "soon"},
	{88, AGAIN, "", "later"},  /* scenarios F.119, bugs 60 */
	CONNECTION,
	{NO_SUCH_CODE, THEIRS, "", "now"},
};

#define TABLE(lines) {lines, sizeof(lines) / sizeof((lines)[0])}

static const struct {
	const struct line *lines;
	size_t count;
} tables[RG__REQUESTS] = {
	[RG__REQUEST_FIND_COORDINATOR] = TABLE(find_coordinator), [RG__REQUEST_JOIN_GROUP] = TABLE(join_group),
	[RG__REQUEST_SYNC_GROUP] = TABLE(sync_group),             [RG__REQUEST_HEARTBEAT] = TABLE(heartbeat),
	[RG__REQUEST_LEAVE_GROUP] = TABLE(leave_group),           [RG__REQUEST_OFFSET_COMMIT] = TABLE(offset_commit),
	[RG__REQUEST_OFFSET_FETCH] = TABLE(offset_fetch),
};

static const struct line *expected(int request, rg_err code)
{
	size_t last = tables[request].count - 1;

	for (size_t i = 0; i < last; i++)
		if (tables[request].lines[i].code == code)
			return &tables[request].lines[i];
	return &tables[request].lines[last];
}

/* Every code Kafka has given a meaning, many that it has not, and every one of ours. */
#define EACH_CODE(code)                                                                                                    \
	(rg_err code = RG_ERR_LIBRDKAFKA - 3; code <= INT16_MAX - 1;                                                       \
	 code = code == RG_ERR_MEMORY + 1 ? -3 : code == 140 ? 998 : code == 1000 ? INT16_MAX - 2 : code + 1)

static enum effect effect_of(enum rg__verb verb)
{
	static const enum effect effects[] = {
		[RG__GO_ON] = FINE, [RG__RETRY] = AGAIN, [RG__REJOIN] = ANEW,
		[RG__CALLER] = THEIRS, [RG__REPORT] = TELL, [RG__FAIL] = OVER,
	};

	return effects[verb];
}

START_TEST(both_tables_say_the_same)
{
	static const char *const pauses[] = {[RG__AT_ONCE] = "now", [RG__WHEN_REPEATED] = "soon", [RG__ALWAYS] = "later"};

	for (int request = 0; request < RG__REQUESTS; request++)
		for EACH_CODE(code) {
			const struct rg__reaction *is = rg__react((enum rg__request)request, code);
			const struct line *want = expected(request, code);
			char costs[4];

			snprintf(costs, sizeof(costs), "%s%s%s", is->keep_generation ? "" : "g", is->keep_member_id ? "" : "m",
			         is->drop_coordinator ? "c" : "");
			ck_assert_msg(effect_of(is->verb) == want->effect && strcmp(costs, want->costs) == 0 &&
			                      strcmp(pauses[is->pause], want->pause) == 0,
			              "%s %d (%s): %s, costs '%s', pause %s; it should cost '%s', pause %s",
			              rg__request_label((enum rg__request)request), code, rg_err_name(code), rg__verb_label(is->verb),
			              costs, pauses[is->pause], want->costs, want->pause);
		}
}
END_TEST

START_TEST(every_table_ends_in_its_default)
{
	for (int request = 0; request < RG__REQUESTS; request++) {
		int count;
		const struct rg__reaction *rows = rg__reactions((enum rg__request)request, &count);

		ck_assert_int_gt(count, 0);
		ck_assert_int_eq(rows[count - 1].code, RG__ANY_CODE);
		for (int i = 0; i < count; i++) {
			for (int j = 0; j < i; j++)
				ck_assert_int_ne(rows[i].code, rows[j].code);
			/* A member without generation has no use for its coordinator's idea of it. */
			ck_assert_msg(rows[i].keep_member_id || !rows[i].keep_generation, "a generation without a member id");
		}
	}
}
END_TEST

/* --- The machine against the second table --------------------------------------------------------------------------- */

struct scene {
	struct rg__machine *machine;
	struct rg__actions actions;
	int64_t now_us;
	uint32_t newest[RG__DO_SEND_LEAVE + 1];
	char did[400];
};

static void happen(struct scene *scene, struct rg__event event)
{
	if (event.type == RG__EVENT_COMMIT_ANSWERED || event.type == RG__EVENT_FETCH_ANSWERED)
		event.epoch = rg__machine_epoch(scene->machine);
	rg__machine_step(scene->machine, scene->now_us, &event, &scene->actions);
	scene->did[0] = '\0';
	trace_print(&scene->actions, scene->did, sizeof(scene->did));
	for (int i = 0; i < scene->actions.count; i++)
		scene->newest[scene->actions.items[i].type] = scene->actions.items[i].attempt;
}

static const char me[] = "m1";

static struct rg__event join_good(const struct scene *scene)
{
	return (struct rg__event){.type = RG__EVENT_JOIN_ANSWERED, .attempt = scene->newest[RG__DO_SEND_JOIN],
	                          .member_id = rg__bytes_of(me), .leader = rg__bytes_of("m0"), .generation = 5};
}

/* To where the request is outstanding. A member that joins has a generation already, which it may lose. */
static void set(struct scene *scene, enum rg__request request)
{
	struct rg__group_conf conf;

	trace_conf(&conf);
	memset(scene, 0, sizeof(*scene));
	scene->now_us = 1000000;
	scene->machine = rg__machine_new(&conf, scene->now_us);
	ck_assert_ptr_nonnull(scene->machine);
	happen(scene, (struct rg__event){.type = RG__EVENT_START});
	happen(scene, (struct rg__event){.type = RG__EVENT_PREPARED, .attempt = scene->newest[RG__DO_PREPARE]});
	if (request == RG__REQUEST_FIND_COORDINATOR)
		return;
	happen(scene, (struct rg__event){.type = RG__EVENT_FIND_ANSWERED, .attempt = scene->newest[RG__DO_FIND_COORDINATOR]});
	happen(scene, join_good(scene));
	if (request == RG__REQUEST_SYNC_GROUP)
		return;
	happen(scene, (struct rg__event){.type = RG__EVENT_SYNC_ANSWERED, .attempt = scene->newest[RG__DO_SEND_SYNC]});
	ck_assert_int_eq(rg__machine_membership(scene->machine), RG__STABLE);
	if (request == RG__REQUEST_LEAVE_GROUP) {
		happen(scene, (struct rg__event){.type = RG__EVENT_LEAVE});
	} else if (request == RG__REQUEST_JOIN_GROUP) {
		happen(scene, (struct rg__event){.type = RG__EVENT_REJOIN});
		happen(scene, (struct rg__event){.type = RG__EVENT_PREPARED, .attempt = scene->newest[RG__DO_PREPARE]});
		ck_assert_int_eq(rg__machine_membership(scene->machine), RG__JOINING);
	}
}

static void answer(struct scene *scene, enum rg__request request, rg_err code)
{
	static const struct {
		enum rg__event_type event;
		enum rg__action_type action;
	} kinds[RG__REQUESTS] = {
		[RG__REQUEST_FIND_COORDINATOR] = {RG__EVENT_FIND_ANSWERED, RG__DO_FIND_COORDINATOR},
		[RG__REQUEST_JOIN_GROUP] = {RG__EVENT_JOIN_ANSWERED, RG__DO_SEND_JOIN},
		[RG__REQUEST_SYNC_GROUP] = {RG__EVENT_SYNC_ANSWERED, RG__DO_SEND_SYNC},
		[RG__REQUEST_HEARTBEAT] = {RG__EVENT_HEARTBEAT_ANSWERED, RG__DO_SEND_HEARTBEAT},
		[RG__REQUEST_LEAVE_GROUP] = {RG__EVENT_LEAVE_ANSWERED, RG__DO_SEND_LEAVE},
		[RG__REQUEST_OFFSET_COMMIT] = {RG__EVENT_COMMIT_ANSWERED, RG__DO_PREPARE},
		[RG__REQUEST_OFFSET_FETCH] = {RG__EVENT_FETCH_ANSWERED, RG__DO_PREPARE},
	};
	struct rg__event event = {.type = kinds[request].event, .attempt = scene->newest[kinds[request].action], .err = code};

	if (request == RG__REQUEST_JOIN_GROUP && code == 0)
		event = join_good(scene);
	if (code == 79)
		event.member_id = rg__bytes_of(me);
	happen(scene, event);
}

static bool did(const struct scene *scene, const char *what)
{
	return strstr(scene->did, what) != NULL;
}

static void check_effect(struct scene *scene, enum rg__request request, rg_err code, const struct line *want)
{
	const struct rg__machine *machine = scene->machine;
	enum rg__membership_state is = rg__machine_membership(machine);
	bool joining = request == RG__REQUEST_JOIN_GROUP || request == RG__REQUEST_SYNC_GROUP;

#define OUGHT(condition)                                                                                                   \
	ck_assert_msg(condition, "%s answered %d (%s): not " #condition "; it did %s and is %s",                              \
	              rg__request_label(request), code, rg_err_name(code), scene->did, rg__membership_name(is))
	OUGHT((want->effect == OVER) == did(scene, "FAIL("));
	OUGHT((want->effect == OVER) == (is == RG__FAILED));
	OUGHT((want->effect == TELL) == did(scene, "REPORT("));
	OUGHT((strchr(want->costs, 'c') != NULL) == did(scene, "DROP"));
	if (want->effect != FINE && !(joining && want->effect == AGAIN))
		OUGHT((want->effect == ANEW) == (did(scene, "PREPARE") || did(scene, "JOIN")));
	if (want->effect != OVER && request != RG__REQUEST_FIND_COORDINATOR) {
		OUGHT((strchr(want->costs, 'g') != NULL) == (rg__machine_generation(machine) == -1));
		OUGHT((strchr(want->costs, 'm') != NULL) == (rg__machine_member_id(machine)[0] == '\0'));
	}
	if (joining && want->effect != OVER && want->effect != FINE)
		OUGHT(is == RG__PREPARING || (is == RG__JOINING && strcmp(want->pause, "later") != 0));
	if (!joining && (want->effect == AGAIN || want->effect == THEIRS || want->effect == TELL) &&
	    request != RG__REQUEST_FIND_COORDINATOR)
		OUGHT(is == RG__STABLE);
}

START_TEST(the_machine_does_what_the_table_says)
{
	for (int request = 0; request < RG__REQUESTS; request++)
		for EACH_CODE(code) {
			struct scene scene;

			if (request == RG__REQUEST_LEAVE_GROUP && code == 0)
				continue; /* the good end has stories of its own */
			set(&scene, (enum rg__request)request);
			answer(&scene, (enum rg__request)request, code);
			check_effect(&scene, (enum rg__request)request, code, expected(request, code));
			rg__machine_free(scene.machine);
		}
}
END_TEST

START_TEST(everything_has_a_name)
{
	for (int request = 0; request < RG__REQUESTS; request++)
		ck_assert_int_gt((int)strlen(rg__request_label((enum rg__request)request)), 4);
	for (int verb = RG__GO_ON; verb <= RG__FAIL; verb++)
		ck_assert_int_gt((int)strlen(rg__verb_label((enum rg__verb)verb)), 3);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, both_tables_say_the_same);
	tcase_add_test(tcase, every_table_ends_in_its_default);
	tcase_add_test(tcase, the_machine_does_what_the_table_says);
	tcase_add_test(tcase, everything_has_a_name);
}

int main(void)
{
	return suite_run("reactions", fill, 60);
}
