/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_REBALANCE_H
#define EXAMPLES_REBALANCE_H

/* A listener that prints each rebalance, one line for each call, and takes its time if it is told to; and assignors
 * that do. */

#include "common.h"

/* To be subscribed with the struct app as its user. Hands every call on to app->hooks. */
extern const rg_listener rebalance_listener;

/* Puts an assignor that takes app->delay_assign_ms in the place of each built-in one that is configured. */
rg_err rebalance_slow_assignors(struct app *app, rg_error *error);

/* Sleeps, unless a signal asks for the end. */
void app_sleep(int ms);

#endif
