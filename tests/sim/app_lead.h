/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_APP_LEAD_H
#define TESTS_SIM_APP_LEAD_H

#include "app.h"

void app_begin_plan(struct app *app);  /* takes app->event over */
void app_forget_plan(struct app *app); /* the plan that is being made */
void app_ask_metadata(struct app *app, bool for_plan);

/* An assignor that makes mistakes where app->bad_plans says so. */
extern const rg_assignor app_sloppy;

#endif
