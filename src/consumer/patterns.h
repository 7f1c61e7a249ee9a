/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_PATTERNS_H
#define RG__CONSUMER_PATTERNS_H

/* Names in a subscription that begin with '^' are POSIX extended regular expressions, as in librdkafka. */

#include "base/bytes.h"

#include <regroup/error.h>
#include <stdbool.h>
#include <stddef.h>

struct rg__patterns; /* does not change once it is made: any thread may read it */

bool rg__is_pattern(const char *name); /* NULL is none */

/* From those of the names that are patterns; NULL when none is. RG_OK; RG_ERR_INVALID: the text has the words of the
 * system's regular expressions; RG_ERR_MEMORY. */
rg_err rg__patterns_new(const char *const *names, size_t count, struct rg__patterns **ret_patterns, rg_error *error);
void rg__patterns_free(struct rg__patterns *patterns);

/* NULL patterns match nothing. */
bool rg__patterns_match(const struct rg__patterns *patterns, const char *name);
bool rg__patterns_match_bytes(const struct rg__patterns *patterns, struct rg__bytes name);

#endif
