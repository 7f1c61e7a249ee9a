/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_THROUGHPUT_H
#define BENCH_THROUGHPUT_H

/* One process that reads a topic to its end as the only member of a group. throughput.c counts and measures; each
 * client brings these functions. */

#include <stdbool.h>

enum { BATCH_MAX = 500 };

/* Joins. `batch`: take() is going to use the call that returns many records. */
void throughput_open(const char *bootstrap, const char *group, const char *topic, bool batch);

/* One call of the API, with a timeout of a second; frees what it brings. Returns how many records that was; ends the
 * program if one of them is an error. */
long throughput_take(void);

void throughput_close(void);

_Noreturn void throughput_refuse(const char *what);

#endif
