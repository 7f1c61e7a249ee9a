/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PLAN_ROUND_H
#define EXAMPLES_PLAN_ROUND_H

/* One run of an assignor on the model, and what came of it. */

#include "plan_model.h"

struct round {
	const rg_group *group;
	int32_t **owners; /* by topic and partition: who owned it before, -1 for nobody */
	rg_plan *plan;
	int32_t partitions, withheld, moved, rack_mismatches;
	int32_t *loads; /* by member */
	int64_t load_min, load_max, load_squares;
	int64_t elapsed_us; /* of the assignor alone */
};

/* Who owned what before a what-if, without running anything. */
void round_look(struct round *round, struct model *model);

/* Runs the assignor. False: `error`. */
bool round_run(struct round *round, struct model *model, const rg_assignor *assignor, rg_error *error);
void round_end(struct round *round);

/* As JSON, and as a table for people. */
json_t *round_json(const struct round *round, const rg_assignor *assignor);
void round_print(const struct round *round, const struct model *model, const rg_assignor *assignor);

/* What changes hands between the owners in `before` and the plan of `after`. */
json_t *moves_json(const struct round *before, const struct round *after);
void moves_print(const struct round *before, const struct round *after);

#endif
