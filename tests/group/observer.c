/* SPDX-License-Identifier: Apache-2.0 */
#include "observer.h"

#include <stdio.h>

static void must(struct observer *observer, bool holds, const char *what)
{
	if (!holds && !observer->broken[0])
		snprintf(observer->broken, sizeof(observer->broken), "%s", what);
}

void observer_event(struct observer *observer, int64_t now_us, const struct rg__event *event)
{
	must(observer, now_us >= observer->now_us, "the test's clock went back");
	observer->now_us = now_us;
	switch (event->type) {
	case RG__EVENT_LEAVE:
		observer->leaving = true;
		observer->open = false; /* the subscription is over, and with it its last rebalance */
		observer->ask = 0;
		observer->failed = false;
		break;
	case RG__EVENT_PREPARED:
		if (event->attempt && event->attempt == observer->ask)
			observer->ask = 0;
		break;
	case RG__EVENT_JOIN_ANSWERED:
		if (event->attempt && event->attempt == observer->join)
			observer->join = 0;
		break;
	case RG__EVENT_FIND_ANSWERED:
		if (event->attempt && event->attempt == observer->find) {
			observer->find = 0;
			observer->connected = !event->err;
		}
		break;
	default:
		break;
	}
}

static void request(struct observer *observer, const struct rg__action *action)
{
	must(observer, action->timeout_us > 0, "a request without a time limit");
	must(observer, action->attempt > observer->newest, "an attempt's number was used before");
	observer->newest = action->attempt;
	observer->requests++;
	if (action->type == RG__DO_FIND_COORDINATOR) {
		must(observer, !observer->connected, "a look-up although the coordinator is known");
		must(observer, !observer->find, "two look-ups at once");
		observer->find = action->attempt;
		return;
	}
	must(observer, observer->connected, "a request to a coordinator that is not known");
	if (action->type != RG__DO_SEND_JOIN)
		return;
	must(observer, !observer->join, "two JoinGroups outstanding");
	must(observer, !observer->ask, "JoinGroup before the newest ask was answered");
	must(observer, observer->open, "JoinGroup outside a rebalance");
	observer->join = action->attempt;
	observer->joins++;
}

static void ask(struct observer *observer, const struct rg__action *action)
{
	must(observer, action->attempt > observer->newest, "an ask's number was used before");
	observer->newest = observer->ask = action->attempt;
}

void observer_actions(struct observer *observer, const struct rg__machine *machine, const struct rg__actions *actions)
{
	const char *check = rg__machine_check(machine);

	must(observer, !check, check);
	for (int i = 0; i < actions->count; i++) {
		const struct rg__action *action = &actions->items[i];

		must(observer, !observer->failed || action->type == RG__DO_LEFT || action->type == RG__DO_SEND_LEAVE ||
		                       action->type == RG__DO_DROP_COORDINATOR,
		     "it failed for good and still does something");
		switch (action->type) {
		case RG__DO_PREPARE:
			must(observer, !observer->open, "prepare twice without complete");
			observer->open = true;
			observer->prepares++;
			ask(observer, action);
			break;
		case RG__DO_LOST:
			must(observer, action->loss != RG__LOST_NOT, "lost without a cause");
			observer->losts++;
			ask(observer, action);
			break;
		case RG__DO_COMPLETE:
			must(observer, observer->open, "complete without prepare");
			must(observer, !observer->ask, "complete before the newest ask was answered");
			observer->open = false;
			observer->completes++;
			break;
		case RG__DO_RUN_ASSIGNOR:
			must(observer, action->attempt > observer->newest, "an ask's number was used before");
			observer->newest = action->attempt;
			break;
		case RG__DO_REPORT:
			break;
		case RG__DO_FAIL:
			observer->failed = true;
			observer->find = 0; /* nobody waits for it any more */
			break;
		case RG__DO_LEFT:
			must(observer, observer->leaving, "left without having been asked to");
			observer->leaving = false;
			break;
		case RG__DO_DROP_COORDINATOR:
			must(observer, observer->connected, "dropped a coordinator that is not known");
			observer->connected = false;
			observer->join = 0;
			break;
		default:
			request(observer, action);
			break;
		}
	}
	must(observer, rg__machine_membership(machine) != RG__STABLE || !observer->open, "Stable in an open rebalance");
}
