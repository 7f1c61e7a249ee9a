/* SPDX-License-Identifier: Apache-2.0 */
/* The leader's part of a rebalance: Metadata of the group's topics, the assignor, and the shares for the group. */
#include "base/error.h"
#include "consumer/internal.h"

/* --- Said in the loop --------------------------------------------------------------------------------------------- */

struct refusal {
	uint32_t ticket;
	const rg_error *error;
};

static void say_refusal(rg_consumer *consumer, void *arg)
{
	const struct refusal *refusal = arg;

	rg_member_assign_failed(consumer->member, refusal->ticket, refusal->error->code, refusal->error->text);
}

struct plan {
	uint32_t ticket;
	const struct rg__lead_result *result;
	struct rg__watch_list watch;
	rg_err err;
};

static void say_plan(rg_consumer *consumer, void *arg)
{
	struct plan *plan = arg;

	plan->err = rg_member_assigned(consumer->member, plan->ticket, plan->result->shares, plan->result->count);
	if (!plan->err)
		rg__watch_set(consumer, &plan->watch);
}

/* --- The application's side --------------------------------------------------------------------------------------- */

void rg__lead_drop(rg_consumer *consumer)
{
	rg__metadata_job_free(consumer->metadata);
	consumer->metadata = NULL;
	rg__leading_end(&consumer->leading);
}

static void end(rg_consumer *consumer)
{
	rg__lead_drop(consumer);
	rg__drop_step(consumer);
}

static void refuse(rg_consumer *consumer, const rg_error *error)
{
	rg_error said = *error;
	struct refusal refusal = {consumer->event->ticket, &said};

	if (said.code == RG_ERR_MEMORY)
		rg__tell(consumer, &said); /* the member says nothing of it, and tries again */
	else if (said.code != RG_ERR_BAD_PLAN)
		said.code = RG_ERR_ASSIGNOR;
	rg__on_loop(consumer, say_refusal, &refusal);
	end(consumer);
}

static void say(rg_consumer *consumer, const struct rg__lead_result *result, const struct rg__topic_input *topics,
                int32_t count)
{
	struct rg__leading *leading = &consumer->leading;
	struct plan plan = {
		.ticket = consumer->event->ticket,
		.result = result,
		.watch = {.names = leading->topics,
	                  .count = (size_t)leading->topic_count,
	                  .ours = consumer->topics.items,
	                  .ours_count = consumer->topics.count,
	                  .leads = true,
	                  .awaits = result->awaited > 0,
	                  .known = topics,
	                  .known_count = count},
	};
	rg_error error;

	rg__on_loop(consumer, say_plan, &plan);
	if (!plan.err) {
		end(consumer);
		return;
	}
	rg__fail(&error, plan.err == RG_ERR_MEMORY ? RG_ERR_MEMORY : RG_ERR_ASSIGNOR, "the shares could not be sent: %s",
	         rg_err_name(plan.err));
	refuse(consumer, &error);
}

/* `body` NULL: nobody subscribes to anything, so there is nothing to know. */
static void run(rg_consumer *consumer, const struct rg__metadata_response *body)
{
	const char *protocol = consumer->event->protocol;
	const struct rg__listed_assignor *assignor = rg__strategy_find(&consumer->strategy, protocol);
	struct rg__leading *leading = &consumer->leading;
	struct rg__topic_input none = {.partition_count = 0}, *topics = &none;
	struct rg__lead_result result;
	int64_t began_us = rg__mono_us();
	rg_error error;
	int32_t count = 0;
	rg_err err;

	if (!assignor)
		err = rg__fail(&error, RG_ERR_ASSIGNOR, "the group chose the assignor \"%s\", which this member did not offer", protocol);
	else if (body && !rg__metadata_topics(body, &leading->arena, &topics, &count))
		err = rg__fail(&error, RG_ERR_MEMORY, "out of memory");
	else {
		rg__callback_begins(consumer);
		/* Whatever this member is itself: in the middle of a migration others may be cooperative already (KIP-429). */
		err = rg__leading_plan(leading, assignor, assignor->assignor->protocols & RG_COOPERATIVE, topics, count,
		                       consumer->event->generation, &result, &error);
		rg__callback_ended(consumer);
	}
	if (err) {
		refuse(consumer, &error);
		return;
	}
	rg__event_of_assign(consumer, rg__mono_us() - began_us, result.count, &result);
	say(consumer, &result, topics, count);
}

/* Who is new may be alone, and in a hurry: then the topics of the group are its own, and Metadata takes no time of its start.
 * In later rebalances the plan is made for what is so after everybody has joined: topics that change have a part in many of
 * them. */
void rg__lead_expect(rg_consumer *consumer)
{
	rg__lead_forget(consumer);
	if (consumer->topics.count && consumer->generation < 0)
		consumer->ahead_of_lead =
			rg__metadata_job_new_ahead(consumer, consumer->topics.items, consumer->topics.count);
}

void rg__lead_forget(rg_consumer *consumer)
{
	rg__metadata_job_free(consumer->ahead_of_lead);
	consumer->ahead_of_lead = NULL;
}

static struct rg__metadata_job *ask(rg_consumer *consumer)
{
	struct rg__leading *leading = &consumer->leading;
	struct rg__metadata_job *ahead = consumer->ahead_of_lead;

	if (ahead && rg__metadata_job_take(ahead, leading->topics, (size_t)leading->topic_count)) {
		consumer->ahead_of_lead = NULL;
		return ahead;
	}
	rg__lead_forget(consumer);
	return rg__metadata_job_new(consumer, leading->topics, (size_t)leading->topic_count);
}

void rg__lead_start(rg_consumer *consumer)
{
	struct rg__leading *leading = &consumer->leading;
	rg_error error;

	if (!rg__leading_begin(leading, consumer->event->members, consumer->event->member_count, &consumer->log)) {
		rg__fail(&error, RG_ERR_MEMORY, "out of memory for the group that this member leads");
		refuse(consumer, &error);
		return;
	}
	if (!leading->topic_count) {
		run(consumer, NULL);
		return;
	}
	consumer->metadata = ask(consumer);
	if (!consumer->metadata) {
		rg__fail(&error, RG_ERR_MEMORY, "out of memory for the group that this member leads");
		refuse(consumer, &error);
	}
}

bool rg__lead_continue(rg_consumer *consumer)
{
	const struct rg__metadata_response *body = rg__metadata_job_answer(consumer->metadata);

	if (body) {
		run(consumer, body);
		return true;
	}
	if (!rg__any_event_waits(consumer))
		return false;
	/* Whatever it is, the group has gone on without the plan. */
	end(consumer);
	return true;
}
