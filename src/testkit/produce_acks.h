/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_PRODUCE_ACKS_H
#define RG__TESTKIT_PRODUCE_ACKS_H

#include "base/bytes.h"

#include <stdbool.h>

/* Whether a Produce request wants no answer (acks=0). False also for what cannot be read. */
bool rg__kit_wants_no_answer(int version, struct rg__bytes frame);

#endif
