/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_ERROR_H
#define RG__BASE_ERROR_H

#include <regroup/error.h>

/* Fills `error` (may be NULL) with a formatted sentence and returns `code`, so that a function can end with
 * `return rg__fail(error, RG_ERR_INVALID, "…", …)`. A text that is too long ends in "...";
 * it is one line, whatever the arguments bring along. */
rg_err rg__fail(rg_error *error, rg_err code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What others wrote (a broker, librdkafka) may have line ends and other control characters in it, or at its end: blanks,
 * and nothing at the end, so that no one's text makes lines of its own. */
void rg__one_line(char *text);

/* Puts a formatted text and ": " in front of an error's text (where it happened, seen from further out). */
void rg__error_prefix(rg_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
