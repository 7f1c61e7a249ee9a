/* SPDX-License-Identifier: Apache-2.0 */
#include "seat.h"

#include "base/alloc.h"
#include "codec/api.h"
#include "codec/metadata.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { TICK_US = 100000, COMMIT_TIMEOUT_MS = 5000 };

const rg_member_protocol seat_protocols[2] = {{"range", {"topics", 6}}, {"sticky", {"others", 6}}};

static void set(rg_conf *conf, const char *name, const char *value)
{
	rg_error error = {0};

	ck_assert_msg(rg_conf_set(conf, name, value, &error) == RG_OK, "%s", error.text);
}

rg_conf *seat_conf(const char *instance_id)
{
	rg_conf *conf = rg_conf_new();

	ck_assert_ptr_nonnull(conf);
	rg_conf_set_log(conf, NULL, NULL);
	set(conf, "bootstrap.servers", "10.0.0.1:9092");
	set(conf, "group.id", "g");
	set(conf, "session.timeout.ms", "10000");
	set(conf, "request.timeout.ms", "3000");
	set(conf, "max.poll.interval.ms", "10000");
	if (instance_id)
		set(conf, "group.instance.id", instance_id);
	return conf;
}

/* --- The application --------------------------------------------------------------------------------------------- */

static rg_err assign(struct seat *seat, const rg_member_event *event)
{
	rg_member_share shares[8];

	ck_assert_uint_le(event->member_count, 8);
	for (size_t i = 0; i < event->member_count; i++)
		shares[i] = (rg_member_share){event->members[i].member_id, {"share", 5}};
	return rg_member_assigned(seat->member, event->ticket, shares, event->member_count);
}

/* RG_OK: the event is dealt with. */
static rg_err answer(struct seat *seat, const rg_member_event *event)
{
	if (event->type == RG_MEMBER_ASSIGN)
		return assign(seat, event);
	return rg_member_prepared(seat->member, event->ticket, seat_protocols, 2, 0);
}

static void complete(struct seat *seat, const rg_member_event *event)
{
	ck_assert(seat->preparing);
	seat->preparing = false;
	seat->completes++;
	ck_assert_int_ge(event->generation, 0);
	snprintf(seat->assignment, sizeof(seat->assignment), "%.*s", (int)event->assignment.len,
	         (const char *)event->assignment.data);
}

static void hear_error(struct seat *seat, const rg_member_event *event)
{
	ck_assert_int_ne(event->error.code, RG_OK);
	ck_assert_uint_gt(strlen(event->error.text), 0);
	ck_assert_int_lt(seat->error_count, ERRORS_MAX);
	seat->errors[seat->error_count++] = event->error;
	seat->failed = seat->failed || event->fatal;
	if (!event->fatal)
		rg_member_retry(seat->member);
}

static void hear(struct seat *seat, const rg_member_event *event)
{
	switch (event->type) {
	case RG_MEMBER_PREPARE:
		ck_assert(!seat->preparing);
		seat->preparing = true;
		seat->prepares++;
		break;
	case RG_MEMBER_LOST:
		ck_assert_int_ne(event->cause, RG_CAUSE_NONE);
		seat->losts++;
		break;
	case RG_MEMBER_ASSIGN:
		ck_assert(seat->preparing);
		break;
	case RG_MEMBER_COMPLETE:
		complete(seat, event);
		break;
	case RG_MEMBER_ERROR:
		hear_error(seat, event);
		break;
	case RG_MEMBER_LEFT:
		ck_assert(seat->leaving);
		seat->leaving = false;
		seat->left = true;
		break;
	}
}

static bool is_ask(const rg_member_event *event)
{
	return event->type == RG_MEMBER_PREPARE || event->type == RG_MEMBER_LOST || event->type == RG_MEMBER_ASSIGN;
}

static void forget_owed(struct seat *seat)
{
	rg_member_event_free(seat->owed);
	seat->owed = NULL;
}

static void answer_owed(struct seat *seat)
{
	rg_err err = answer(seat, seat->owed);

	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	if (!err)
		forget_owed(seat);
}

static void pump(struct seat *seat)
{
	rg_member_event *event;

	if (!seat->member)
		return;
	if (seat->owed)
		answer_owed(seat);
	while (!seat->owed && (event = rg_member_next(seat->member))) {
		hear(seat, event);
		if (is_ask(event)) {
			seat->owed = event;
			answer_owed(seat);
		} else {
			rg_member_event_free(event);
		}
	}
}

/* --- Time -------------------------------------------------------------------------------------------------------- */

static void run_short_of_memory(struct seat *seat)
{
	if (seat->sim.now_us < seat->short_until_us)
		rg__alloc_fail_after(1);
	else if (seat->short_until_us)
		rg__alloc_fail_after(0);
}

static void tick(struct seat *seat)
{
	int64_t until_us = seat->sim.now_us + TICK_US;

	run_short_of_memory(seat);
	if (seat->member)
		rg_member_poll(seat->member);
	pump(seat);
	while (sim_next_us(&seat->sim) <= until_us) {
		run_short_of_memory(seat);
		sim_turn(&seat->sim);
		pump(seat);
	}
	sim_run_to(&seat->sim, until_us);
	run_short_of_memory(seat);
}

void seat_until(struct seat *seat, bool (*holds)(const struct seat *seat), int64_t timeout_ms, const char *what)
{
	int64_t until_us = seat->sim.now_us + timeout_ms * 1000;

	while (!holds(seat)) {
		ck_assert_msg(seat->sim.now_us < until_us, "%s: not within %lld ms; the member is %s, last error: %s", what,
		              (long long)timeout_ms, rg_member_state(seat->member),
		              seat->error_count ? seat->errors[seat->error_count - 1].text : "none");
		tick(seat);
	}
}

void seat_pass(struct seat *seat, int64_t ms)
{
	int64_t until_us = seat->sim.now_us + ms * 1000;

	while (seat->sim.now_us < until_us)
		tick(seat);
}

bool seat_is_stable(const struct seat *seat)
{
	return !seat->preparing && seat->completes && rg__member_is_stable(seat->member);
}

bool seat_is_answered(const struct seat *seat)
{
	return seat->requests == seat->answered;
}

bool seat_has_left(const struct seat *seat)
{
	return seat->left;
}

/* --- Calls ------------------------------------------------------------------------------------------------------- */

void seat_begin(struct seat *seat, rg_conf *conf)
{
	*seat = (struct seat){.conf = conf};
	sim_init(&seat->sim);
	broker_begin(&seat->broker, &seat->sim);
}

rg_err seat_make(struct seat *seat)
{
	rg_error error = {0};
	rg_err err = rg__member_new_on(&seat->sim.io, seat->conf, "consumer", 7, NULL, NULL, &seat->member, &error);

	ck_assert_int_eq(error.code, err);
	ck_assert((error.text[0] != '\0') == (err != RG_OK));
	return err;
}

rg_err seat_join(struct seat *seat)
{
	rg_error error = {0};
	rg_err err = rg_member_join(seat->member, seat_protocols, 2, &error);

	ck_assert_int_eq(error.code, err);
	ck_assert((error.text[0] != '\0') == (err != RG_OK));
	if (!err)
		seat->left = false;
	return err;
}

static void hear_offsets(struct seat *seat, const struct rg__response *response, bool commit, rg_err err)
{
	ck_assert((response->body != NULL) == (response->error.code == RG_OK));
	ck_assert((response->error.text[0] != '\0') == (response->error.code != RG_OK));
	seat->last_commit = response->error.code ? response->error.code : err;
	seat->answered++;
	rg__member_offsets_answered(seat->member, commit, seat->last_commit, seat->epoch);
}

static void committed(void *user, const struct rg__response *response)
{
	const struct rg__offset_commit_response *body = response->body;
	const struct rg__offset_commit_response_topic *topic = body ? body->topics.items : NULL;
	const struct rg__offset_commit_response_topic_partition *partition = topic ? topic->partitions.items : NULL;

	hear_offsets(user, response, true, partition ? partition->error_code : 0);
}

static void fetched(void *user, const struct rg__response *response)
{
	const struct rg__offset_fetch_response *body = response->body;
	const struct rg__offset_fetch_response_group *group = body ? body->groups.items : NULL;
	const struct rg__offset_fetch_response_group_topic *topic = group ? group->topics.items : NULL;
	const struct rg__offset_fetch_response_group_topic_partition *partition = topic ? topic->partitions.items : NULL;

	hear_offsets(user, response, false,
	             group && group->error_code ? group->error_code : partition ? partition->error_code : 0);
}

void seat_commit(struct seat *seat)
{
	static struct rg__offset_commit_request_topic_partition partition;
	static struct rg__offset_commit_request_topic topic;
	static struct rg__offset_commit_request request;
	static char member_id[128];
	struct rg__call call = {.api_key = RG__API_OFFSET_COMMIT,
	                        .body = &request,
	                        .timeout_ms = COMMIT_TIMEOUT_MS,
	                        .done = committed,
	                        .user = seat};

	rg__fields_init(&rg__offset_commit_request_topic_partition_fields, &partition);
	rg__fields_init(&rg__offset_commit_request_fields, &request);
	partition.committed_offset = 5;
	topic = (struct rg__offset_commit_request_topic){rg__bytes_of("t"), {&partition, 1}};
	snprintf(member_id, sizeof(member_id), "%s", rg__member_member_id(seat->member));
	request.group_id = rg__bytes_of("g");
	request.member_id = rg__bytes_of(member_id);
	request.generation_id_or_member_epoch = rg__member_generation(seat->member);
	request.group_instance_id = rg__bytes_of(seat->instance_id);
	request.topics = (struct rg__array){&topic, 1};
	seat->epoch = rg__member_epoch(seat->member);
	rg_err err = rg__member_request(seat->member, &call, NULL);

	ck_assert(err == RG_OK || err == RG_ERR_MEMORY);
	seat->last_commit = err;
	seat->requests += err == RG_OK;
}

void seat_fetch(struct seat *seat)
{
	static int32_t partition;
	static struct rg__offset_fetch_request_group_topic topic;
	static struct rg__offset_fetch_request_group group;
	static struct rg__offset_fetch_request request;
	struct rg__call call = {.api_key = RG__API_OFFSET_FETCH,
	                        .body = &request,
	                        .timeout_ms = COMMIT_TIMEOUT_MS,
	                        .done = fetched,
	                        .user = seat};

	topic = (struct rg__offset_fetch_request_group_topic){rg__bytes_of("t"), {&partition, 1}};
	rg__fields_init(&rg__offset_fetch_request_group_fields, &group);
	group.group_id = rg__bytes_of("g");
	group.topics = (struct rg__array){&topic, 1};
	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.groups = (struct rg__array){&group, 1};
	seat->epoch = rg__member_epoch(seat->member);
	ck_assert_int_eq(rg__member_request(seat->member, &call, NULL), RG_OK);
	seat->requests++;
}

static void heard_metadata(void *user, const struct rg__response *response)
{
	const struct rg__metadata_response *body = response->body;
	struct seat *seat = user;

	ck_assert((body != NULL) == (response->error.code == RG_OK));
	seat->last_commit = body ? body->error_code : response->error.code;
	ck_assert(seat->last_commit || body->brokers.count == 2);
	seat->answered++;
}

void seat_ask_metadata(struct seat *seat)
{
	static struct rg__metadata_request request;
	struct rg__call call = {.api_key = RG__API_METADATA,
	                        .body = &request,
	                        .timeout_ms = COMMIT_TIMEOUT_MS,
	                        .done = heard_metadata,
	                        .user = seat};

	rg__fields_init(&rg__metadata_request_fields, &request);
	ck_assert_int_eq(rg__cluster_request(rg__member_cluster(seat->member), &call, NULL), RG_OK);
	seat->requests++;
}

void seat_leave(struct seat *seat, int timeout_ms)
{
	/* What was asked before is forgotten. */
	forget_owed(seat);
	seat->preparing = false;
	seat->leaving = true;
	ck_assert_int_eq(rg_member_leave(seat->member, RG_LEAVE_ALWAYS, "done", timeout_ms), RG_OK);
}

void seat_end(struct seat *seat)
{
	forget_owed(seat);
	rg_member_free(seat->member);
	broker_end(&seat->broker);
	sim_end(&seat->sim);
}
