/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_FORWARDED_H
#define RG__TESTKIT_FORWARDED_H

/* What must be understood of requests that are passed on unchanged. */

#include "base/bytes.h"

#include <stdbool.h>

enum { RG__KIT_API_PRODUCE = 0, RG__KIT_API_INIT_PRODUCER_ID = 22, RG__KIT_API_END_TXN = 26 };

/* Whether a Produce request wants no answer (acks=0). False also for what cannot be read. */
bool rg__kit_wants_no_answer(int version, struct rg__bytes frame);

/* Whether a request and its answer ended a transaction: EndTxn, or InitProducerId, which aborts what a predecessor left
 * open. False also when it failed, or cannot be read. *ret_id is a view into the request. */
bool rg__kit_ends_transaction(int api, int version, struct rg__bytes request, struct rg__bytes answer,
			      struct rg__bytes *ret_id, bool *ret_committed);

#endif
