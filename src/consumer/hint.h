/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_HINT_H
#define RG__CONSUMER_HINT_H

/* The group's size, which a leader tells all members in the userdata of their assignments, so that each can work out
 * how often to beat. Only with assignors of the library's: the userdata of others is theirs. Members of other makes
 * ignore it. */

#include "base/bytes.h"

enum { RG__HINT_LEN = 8 };

void rg__hint_write(int32_t size, uint8_t ret_bytes[RG__HINT_LEN]);
int32_t rg__hint_read(struct rg__bytes bytes); /* 0: no hint */

#endif
