/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_JSON_H
#define RG__BASE_JSON_H

#include "base/bytes.h"

/* Appends a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. False: out of memory. */
bool rg__json_string(struct rg__buf *buf, struct rg__bytes text);

#endif
