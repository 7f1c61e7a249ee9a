/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/hint.h"

#include <string.h>

/* Four bytes that no userdata of Kafka's own assignors begins with, then the size, big-endian as all of Kafka. */
static const uint8_t mark[4] = {'r', 'g', 'n', 1};

void rg__hint_write(int32_t size, uint8_t ret_bytes[RG__HINT_LEN])
{
	uint32_t bits = (uint32_t)size;

	memcpy(ret_bytes, mark, sizeof(mark));
	for (int i = 0; i < 4; i++)
		ret_bytes[4 + i] = (uint8_t)(bits >> (24 - 8 * i));
}

int32_t rg__hint_read(struct rg__bytes bytes)
{
	uint32_t bits = 0;

	if (bytes.len != RG__HINT_LEN || memcmp(bytes.data, mark, sizeof(mark)) != 0)
		return 0;
	for (int i = 0; i < 4; i++)
		bits = bits << 8 | bytes.data[4 + i];
	return bits <= INT32_MAX ? (int32_t)bits : 0;
}
