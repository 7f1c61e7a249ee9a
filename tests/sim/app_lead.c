/* SPDX-License-Identifier: Apache-2.0 */
/* What a process does when it leads: topics, plan, and a look at the topics from time to time. */
#include "app_lead.h"

#include "codec/api.h"
#include "codec/metadata.h"
#include "sim.h"

#include <string.h>

static const char *const topic_names[TOPICS] = {"t0", "t1", "t2", "t3"};

void app_forget_plan(struct app *app)
{
	if (app->metadata_id && app->metadata_for_plan) {
		rg__cluster_cancel(rg__member_cluster(app->member), app->metadata_id);
		app->metadata_id = 0;
	}
	rg__leading_end(&app->leading);
	rg_member_event_free(app->assign);
	app->assign = NULL;
}

static void count_topics(struct app *app, const struct rg__topic_input *topics, int32_t count, int32_t ret_counts[TOPICS])
{
	(void)app;
	memset(ret_counts, 0, TOPICS * sizeof(*ret_counts));
	for (int32_t i = 0; i < count; i++)
		if (topics[i].name.len == 2 && topics[i].name.data[1] >= '0' && topics[i].name.data[1] < '0' + TOPICS)
			ret_counts[topics[i].name.data[1] - '0'] = topics[i].partition_count;
}

/* The topics that exist, in byte order. */
static int32_t read_topics(const struct rg__metadata_response *body, struct rg__topic_input ret_topics[TOPICS])
{
	int32_t count = 0;

	for (int t = 0; t < TOPICS; t++)
		for (int32_t i = 0; i < body->topics.count; i++) {
			const struct rg__metadata_response_topic *topic =
				&RG__ITEMS(struct rg__metadata_response_topic, body->topics)[i];

			if (!topic->error_code && rg__bytes_is(topic->name, topic_names[t])) {
				ret_topics[count++] = (struct rg__topic_input){topic->name, topic->partitions.count, NULL};
				break;
			}
		}
	return count;
}

static void plan(struct app *app, const struct rg__metadata_response *body)
{
	rg_member_event *assign = app->assign;
	const struct rg__listed_assignor *assignor = rg__strategy_find(&app->strategy, assign->protocol);
	struct rg__topic_input topics[TOPICS];
	int32_t count = read_topics(body, topics);
	struct rg__lead_result result;
	rg_error error;
	rg_err err;

	if (!assignor) {
		sim_broken(app->sim, "process %d leads with an assignor it never offered: %s", app->number, assign->protocol);
		return;
	}
	app->made_bad = false;
	err = rg__leading_plan(&app->leading, assignor, app->strategy.cooperative, topics, count, assign->generation, &result,
	                       &error);
	if (!err && app->made_bad)
		sim_broken(app->sim, "process %d: its plan is wrong, and goes out", app->number);
	if (err == RG_ERR_BAD_PLAN && app->bad_plans) {
		app->bad_plans = 0;
		rg_member_assign_failed(app->member, assign->ticket, err, error.text);
		return;
	}
	if (err) {
		sim_broken(app->sim, "process %d has no plan: %s", app->number, error.text);
		return;
	}
	count_topics(app, topics, count, app->planned);
	app->knows_plan = true;
	app->awaits_until_us = result.awaited ? app->sim->world.now_us + app->sim->settings.session_ms * INT64_C(1000) : 0;
	if (rg_member_assigned(app->member, assign->ticket, result.shares, result.count))
		sim_broken(app->sim, "process %d: its plan was refused", app->number);
}

static void metadata_done(void *user, const struct rg__response *response)
{
	struct app *app = user;
	int32_t counts[TOPICS];
	struct rg__topic_input topics[TOPICS];

	app->metadata_id = 0;
	if (response->error.code) {
		if (app->metadata_for_plan)
			rg__sim_at(&app->sim->world, &app->tick, app->sim->world.now_us + 100000); /* asks again */
		return;
	}
	if (app->metadata_for_plan) {
		plan(app, response->body);
		app_forget_plan(app);
		return;
	}
	/* A leader watches the topics of its group (KIP-814 and before). */
	count_topics(app, topics, read_topics(response->body, topics), counts);
	if (app->leads && !app->asked && (!app->knows_plan || memcmp(counts, app->planned, sizeof(counts)) != 0)) {
		app->asked = true;
		rg_member_rejoin(app->member, "topics have changed");
	}
}

void app_ask_metadata(struct app *app, bool for_plan)
{
	struct rg__metadata_request *request;
	struct rg__metadata_request_topic *topics;
	struct rg__call call = {.api_key = RG__API_METADATA, .timeout_ms = -1, .done = metadata_done, .user = app};

	if (app->metadata_id)
		rg__cluster_cancel(rg__member_cluster(app->member), app->metadata_id);
	rg__arena_clear(&app->metadata_arena);
	request = rg__arena_calloc(&app->metadata_arena, 1, sizeof(*request));
	if (!request) {
		sim_broken(app->sim, "out of memory");
		return;
	}
	rg__fields_init(&rg__metadata_request_fields, request);
	if (!rg__array_init(&rg__metadata_request_topic_fields, TOPICS, &app->metadata_arena, &request->topics)) {
		sim_broken(app->sim, "out of memory");
		return;
	}
	topics = request->topics.items;
	for (int t = 0; t < TOPICS; t++)
		topics[t].name = rg__bytes_of(topic_names[t]);
	call.body = request;
	app->metadata_for_plan = for_plan;
	if (rg__cluster_request(rg__member_cluster(app->member), &call, &app->metadata_id))
		app->metadata_id = 0;
}

void app_begin_plan(struct app *app)
{
	check_leads(app);
	app_forget_plan(app);
	app->assign = app->event;
	app->event = NULL;
	if (!rg__leading_begin(&app->leading, app->assign->members, app->assign->member_count, NULL))
		sim_broken(app->sim, "out of memory");
	app_ask_metadata(app, true);
}

/* --- An assignor that makes mistakes ------------------------------------------------------------------------------------------ */

/* Round robin; where it was told to be sloppy it gives a partition twice, or only to somebody who does not want it. */
static rg_err assign_sloppily(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	struct app *app = user;
	rg_err err;

	for (int32_t m = 0; app->bad_plans == 2 && group->topic_count && m < group->member_count; m++)
		if (!group->members[m].topic_count || group->members[m].topics[0] != 0) {
			app->made_bad = true;
			return rg_plan_give(plan, m, 0, 0);
		}
	err = rg_assignor_builtin("roundrobin")->assign(group, plan, error, NULL);
	for (int32_t m = 0; !err && app->bad_plans == 1 && group->topic_count && m < group->member_count; m++) {
		err = rg_plan_give(plan, m, 0, 0);
		app->made_bad = app->made_bad || m > 0;
	}
	return err;
}

const rg_assignor app_sloppy = {.size = sizeof(app_sloppy), .name = "sloppy", .protocols = RG_EAGER, .assign = assign_sloppily};
