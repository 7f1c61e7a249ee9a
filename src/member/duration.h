/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_DURATION_H
#define RG__MEMBER_DURATION_H

/* ISO 8601 durations as Java's Duration reads them: PnDTnHnMn.nS, capitals or not, at least one part; not negative. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* In milliseconds, what is less is cut off. False: it is none, or one of more than 1,000,000 days. */
bool rg__duration_read(const char *text, int64_t *ret_ms);

bool rg__duration_print(int64_t ms, struct rg__buf *out); /* "PT90S", "PT0.5S"; false: out of memory */

#endif
