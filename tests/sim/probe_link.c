/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "link/internal.h"

bool probe_link_throttled(const struct rg__link *link, int64_t now_us)
{
	return link->throttled_until_us > now_us;
}
