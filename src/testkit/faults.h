/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_FAULTS_H
#define RG__TESTKIT_FAULTS_H

/* What is to go wrong, and when: "the n-th request of an API from now on". Rules are looked at in the order they were
 * made; each counts the requests of its API for itself and fires once; where several fire on one request the first
 * wins. */

#include <stdbool.h>
#include <stdint.h>

enum rg__kit_fault {
	RG__KIT_NO_FAULT,
	RG__KIT_ANSWER_ERROR, /* not applied */
	RG__KIT_DROP_BEFORE,  /* the connection breaks, the request was never applied */
	RG__KIT_DROP_AFTER,   /* it was applied, but nobody hears */
	RG__KIT_HOLD_BEFORE,  /* it waits to be applied until it is released */
	RG__KIT_HOLD_AFTER    /* it is applied, and the answer waits */
};

struct rg__kit_rule {
	struct rg__kit_rule *next;
	int id; /* 1 … */
	enum rg__kit_fault fault;
	int16_t api;  /* -1: any */
	int32_t left; /* fires when it reaches 0 */
	int16_t error;
	bool fired;
	bool released; /* of a hold: also before it fires, which makes it let through */
};

/* Zero-initialised is none. */
struct rg__kit_faults {
	struct rg__kit_rule *rules;
	int last_id;
};

/* The id of the new rule; 0: out of memory. */
int rg__kit_rule_add(struct rg__kit_faults *faults, enum rg__kit_fault fault, int16_t api, int32_t nth, int16_t error);
struct rg__kit_rule *rg__kit_rule_find(struct rg__kit_faults *faults, int id);
struct rg__kit_rule *rg__kit_rule_match(struct rg__kit_faults *faults, int16_t api); /* counts; NULL: none fires */
void rg__kit_faults_free(struct rg__kit_faults *faults);

#endif
