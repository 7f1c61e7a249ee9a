/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/connection.h"

/* The calls of regroup/testkit.h about requests that are to go wrong. */

struct rule_arg {
	enum rg__kit_fault fault;
	int api;
	int32_t nth;
	rg_err kafka_error;
	int id;
};

static rg_err add_rule(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct rule_arg *rule = arg;

	if (rule->nth < 1)
		return rg__fail(error, RG_ERR_INVALID, "nth is %d: the next request is number 1", (int)rule->nth);
	if (rule->api < -1 || rule->api > INT16_MAX)
		return rg__fail(error, RG_ERR_INVALID, "there is no API %d", rule->api);
	if (rule->fault == RG__KIT_ANSWER_ERROR && !rg__api_by_key(rule->api))
		return rg__fail(error, RG_ERR_INVALID, "API %d is not answered here, so no error can be put into its answer",
				rule->api);
	if (rule->fault == RG__KIT_ANSWER_ERROR &&
	    (rule->kafka_error < -1 || !rule->kafka_error || rule->kafka_error > INT16_MAX))
		return rg__fail(error, RG_ERR_INVALID, "%d is no error number of Kafka's", rule->kafka_error);
	rule->id = rg__kit_rule_add(&kit->faults, rule->fault, (int16_t)rule->api, rule->nth, (int16_t)rule->kafka_error);
	return rule->id ? RG_OK : rg__fail(error, RG_ERR_MEMORY, "out of memory");
}

rg_err rg_testkit_fail_request(rg_testkit *kit, int api_key, int32_t nth, rg_err kafka_error, rg_error *error)
{
	struct rule_arg arg = {RG__KIT_ANSWER_ERROR, api_key, nth, kafka_error, 0};

	return rg__kit_call(kit, add_rule, &arg, error);
}

rg_err rg_testkit_drop_request(rg_testkit *kit, int api_key, int32_t nth, bool applied, rg_error *error)
{
	struct rule_arg arg = {applied ? RG__KIT_DROP_AFTER : RG__KIT_DROP_BEFORE, api_key, nth, 0, 0};

	return rg__kit_call(kit, add_rule, &arg, error);
}

rg_err rg_testkit_hold_request(rg_testkit *kit, int api_key, int32_t nth, bool applied, int *ret_hold, rg_error *error)
{
	struct rule_arg arg = {applied ? RG__KIT_HOLD_AFTER : RG__KIT_HOLD_BEFORE, api_key, nth, 0, 0};
	rg_err err = rg__kit_call(kit, add_rule, &arg, error);

	if (!err)
		*ret_hold = arg.id;
	return err;
}

static struct rg__kit_rule *find_hold(struct rg_testkit *kit, int id, rg_error *error)
{
	struct rg__kit_rule *rule = rg__kit_rule_find(&kit->faults, id);

	if (rule && (rule->fault == RG__KIT_HOLD_BEFORE || rule->fault == RG__KIT_HOLD_AFTER))
		return rule;
	rg__fail(error, RG_ERR_INVALID, "%d is no hold", id);
	return NULL;
}

static rg_err look(struct rg_testkit *kit, void *arg, rg_error *error)
{
	const struct rg__kit_rule *rule = find_hold(kit, *(const int *)arg, error);

	if (!rule)
		return RG_ERR_INVALID;
	return rule->fired ? RG_OK : rg__fail(error, RG_ERR_TIMED_OUT, "the request that is to be held has not come");
}

rg_err rg_testkit_wait_held(rg_testkit *kit, int hold, int timeout_ms, rg_error *error)
{
	int64_t until_us = rg__kit_now_us() + (int64_t)timeout_ms * 1000;

	for (;;) {
		uint64_t seen = rg__kit_changes(kit);
		rg_err err = rg__kit_call(kit, look, &hold, error);

		if (err != RG_ERR_TIMED_OUT || rg__kit_now_us() >= until_us)
			return err;
		rg__kit_wait_change(kit, seen, until_us);
	}
}

static rg_err release(struct rg_testkit *kit, void *arg, rg_error *error)
{
	struct rg__kit_rule *rule = find_hold(kit, *(const int *)arg, error);
	struct rg__kit_connection *connection, *next;

	if (!rule)
		return RG_ERR_INVALID;
	rule->released = true;
	HASH_ITER(hh, kit->connections, connection, next) {
		if (connection->rule != rule || !connection->held)
			continue;
		if (rule->fault == RG__KIT_HOLD_BEFORE) {
			rg__kit_request_apply(connection);
		} else {
			connection->held = false;
			rg__kit_connection_deliver(connection);
		}
		break; /* a rule holds one request; and the list may have changed */
	}
	return RG_OK;
}

rg_err rg_testkit_release(rg_testkit *kit, int hold, rg_error *error)
{
	return rg__kit_call(kit, release, &hold, error);
}
