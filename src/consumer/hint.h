/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_HINT_H
#define RG__CONSUMER_HINT_H

/* What a leader tells each member in the userdata of its assignment: the group's size, so that it can work out how often
 * to beat; which topics the leader took it to subscribe to, so that it sees when it was given the assignment of a
 * predecessor that wanted others (KIP-345); and which partitions there were, so that a leader that has taken its
 * predecessor's plan over sees when it was made for others (KIP-814). Only with assignors of the library's: the userdata
 * of others is theirs. Members of other makes ignore it. */

#include "base/bytes.h"

#include <stdbool.h>

enum { RG__HINT_LEN = 16 };

/* A hash of topics, one after the other as they are in the subscription; begins with 0. */
uint32_t rg__hint_mix(uint32_t hash, struct rg__bytes topic);
/* A hash of the topics that exist, in byte order, with how many partitions they have. */
uint32_t rg__hint_mix_partitions(uint32_t hash, struct rg__bytes topic, int32_t partitions);

void rg__hint_write(int32_t size, uint32_t topics, uint32_t partitions, uint8_t ret_bytes[RG__HINT_LEN]);
int32_t rg__hint_read(struct rg__bytes bytes); /* the size; 0: no hint */
bool rg__hint_topics(struct rg__bytes bytes, uint32_t *ret_topics); /* false: no hint */
bool rg__hint_partitions(struct rg__bytes bytes, uint32_t *ret_partitions); /* the same */

#endif
