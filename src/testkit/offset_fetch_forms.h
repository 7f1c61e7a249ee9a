/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__TESTKIT_OFFSET_FETCH_FORMS_H
#define RG__TESTKIT_OFFSET_FETCH_FORMS_H

/* Up to version 7 OffsetFetch is about one group, from 8 on about several (KIP-709). The coordinator thinks in the
 * newer form; here is the way there and back. Nothing but lists is copied. False: out of memory. */

#include "base/arena.h"
#include "codec/offset_fetch.h"

bool rg__kit_offset_fetch_as_group(const struct rg__offset_fetch_request *fetch, struct rg__arena *arena,
				   struct rg__offset_fetch_request_group *ret_wanted);
bool rg__kit_offset_fetch_from_group(const struct rg__offset_fetch_response_group *group, struct rg__arena *arena,
				     struct rg__offset_fetch_response *answer);

#endif
