/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/produce_acks.h"

/* A Produce request with acks=0 is the one request that gets no answer, and the only thing about forwarded requests
 * that must be understood to pass them on. Its head: header, transactional id (from version 3 on), acks. */

static bool skip(struct rg__bytes *at, size_t len)
{
	if (len > at->len)
		return false;
	at->data += len;
	at->len -= len;
	return true;
}

static bool read_int16(struct rg__bytes *at, int *ret_value)
{
	const uint8_t *data = at->data;

	if (!skip(at, 2))
		return false;
	*ret_value = (int16_t)((uint16_t)(data[0] << 8) | data[1]);
	return true;
}

static bool read_varint(struct rg__bytes *at, size_t *ret_value)
{
	size_t value = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		const uint8_t *data = at->data;

		if (!skip(at, 1))
			return false;
		value |= (size_t)(*data & 0x7f) << shift;
		if (*data < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

/* Null is -1 with a plain length, 0 with a compact one. */
static bool skip_string(struct rg__bytes *at, bool compact)
{
	size_t varint;
	int length;

	if (compact)
		return read_varint(at, &varint) && skip(at, varint ? varint - 1 : 0);
	return read_int16(at, &length) && skip(at, length > 0 ? (size_t)length : 0);
}

static bool skip_tags(struct rg__bytes *at)
{
	size_t count, tag, length;

	if (!read_varint(at, &count))
		return false;
	while (count--)
		if (!read_varint(at, &tag) || !read_varint(at, &length) || !skip(at, length))
			return false;
	return true;
}

bool rg__kit_wants_no_answer(int version, struct rg__bytes frame)
{
	enum { PRODUCE_FLEXIBLE_FIRST = 9, PRODUCE_TRANSACTIONAL_FIRST = 3 };
	bool flexible = version >= PRODUCE_FLEXIBLE_FIRST;
	int acks = -1;

	/* api key, version, correlation id; the client id keeps its plain length in every version */
	return skip(&frame, 2 + 2 + 4) && skip_string(&frame, false) && (!flexible || skip_tags(&frame)) &&
	       (version < PRODUCE_TRANSACTIONAL_FIRST || skip_string(&frame, flexible)) && read_int16(&frame, &acks) &&
	       acks == 0;
}
