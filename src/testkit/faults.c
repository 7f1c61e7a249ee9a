/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/faults.h"

#include "base/alloc.h"

#include <stddef.h>

int rg__kit_rule_add(struct rg__kit_faults *faults, enum rg__kit_fault fault, int16_t api, int32_t nth, int16_t error)
{
	struct rg__kit_rule *rule = rg__calloc(1, sizeof(*rule));
	struct rg__kit_rule **end = &faults->rules;

	if (!rule)
		return 0;
	rule->id = ++faults->last_id;
	rule->fault = fault;
	rule->api = api;
	rule->left = nth;
	rule->error = error;
	while (*end)
		end = &(*end)->next;
	*end = rule;
	return rule->id;
}

struct rg__kit_rule *rg__kit_rule_find(struct rg__kit_faults *faults, int id)
{
	struct rg__kit_rule *rule = faults->rules;

	while (rule && rule->id != id)
		rule = rule->next;
	return rule;
}

struct rg__kit_rule *rg__kit_rule_match(struct rg__kit_faults *faults, int16_t api)
{
	struct rg__kit_rule *first = NULL;

	for (struct rg__kit_rule *rule = faults->rules; rule; rule = rule->next) {
		if (rule->fired || (rule->api >= 0 && rule->api != api) || --rule->left > 0)
			continue;
		rule->fired = true;
		if (!first)
			first = rule;
	}
	return first;
}

void rg__kit_faults_free(struct rg__kit_faults *faults)
{
	while (faults->rules) {
		struct rg__kit_rule *next = faults->rules->next;

		rg__free(faults->rules);
		faults->rules = next;
	}
}
