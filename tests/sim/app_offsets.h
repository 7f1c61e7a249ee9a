/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_APP_OFFSETS_H
#define TESTS_SIM_APP_OFFSETS_H

#include "app.h"

/* Commits the positions of these partitions, and does not wait. */
void app_commit(struct app *app, uint64_t places);
/* Asks where to go on with these. */
void app_fetch(struct app *app, uint64_t places);
/* Forgets what is under way; after the member is gone. */
void app_offsets_free(struct app *app);

#endif
