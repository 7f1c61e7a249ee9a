/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_STORY_H
#define TESTS_UNIT_STORY_H

/* Groups and plans as one line of text, so that a test of an assignor reads like the scenario it proves.
 *
 * A group: topics, then members, between bars.
 *     "t1:3 t2:2:a+b/b+c | c1 t1,t2 | c2@i2%a#5 t1 owns t1-0,2 t2-1"
 * t1 has 3 partitions, t2 has 2, one with replicas in racks a and b, one in b and c; c2 has instance id i2, rack a,
 * and what it owns is of generation 5. A member without topics has "-".
 *
 * A plan: "c1 t1-1 t2-0,1 | c2 t1-0,2", members in order of their ids. */

#include "assign/plan.h"
#include "assign/view.h"
#include "base/arena.h"

struct story {
	struct rg__arena arena;
	struct rg__topic_input *topics;
	int32_t topic_count;
	struct rg__member_input *members;
	int32_t member_count;
	struct rg__view view;
	struct rg_plan *plan;
	int32_t withheld;
};

/* Tells a story: parses it and builds its view. A story that does not parse fails the test. */
void story_begin(struct story *story, const char *text);

/* What members own, as the userdata that Java's sticky assignor reads; needed before story_plan() with rg__sticky. */
void story_owned_to_userdata(struct story *story);

/* Runs an assignor and validates its plan, both of which must succeed; the plan as text, valid until story_end(). */
const char *story_plan(struct story *story, const rg_assignor *assignor);

/* The story's plan as text. */
const char *story_text(struct story *story);
void story_end(struct story *story);

/* The whole of it: the plan of `assignor` for `text` must be `want`. What members own is given in the assignor's
 * way. */
void story_check(const rg_assignor *assignor, const char *text, const char *want);

#endif
