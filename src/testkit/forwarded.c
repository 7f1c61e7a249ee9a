/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/forwarded.h"

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
static bool read_string(struct rg__bytes *at, bool compact, struct rg__bytes *ret_string)
{
	size_t varint = 0;
	int length = 0;

	if (compact ? !read_varint(at, &varint) : !read_int16(at, &length))
		return false;
	if (compact ? varint == 0 : length < 0) {
		*ret_string = RG__NULL_BYTES;
		return true;
	}
	*ret_string = (struct rg__bytes){at->data, compact ? varint - 1 : (size_t)length};
	return skip(at, ret_string->len);
}

static bool skip_string(struct rg__bytes *at, bool compact)
{
	struct rg__bytes string;

	return read_string(at, compact, &string);
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

/* api key, version, correlation id; the client id keeps its plain length in every version */
static bool skip_header(struct rg__bytes *at, bool flexible)
{
	return skip(at, 2 + 2 + 4) && skip_string(at, false) && (!flexible || skip_tags(at));
}

/* A Produce request with acks=0 is the one request that gets no answer. Its head: transactional id (from version 3 on),
 * acks. */
bool rg__kit_wants_no_answer(int version, struct rg__bytes frame)
{
	enum { PRODUCE_FLEXIBLE_FIRST = 9, PRODUCE_TRANSACTIONAL_FIRST = 3 };
	bool flexible = version >= PRODUCE_FLEXIBLE_FIRST;
	int acks = -1;

	return skip_header(&frame, flexible) &&
	       (version < PRODUCE_TRANSACTIONAL_FIRST || skip_string(&frame, flexible)) && read_int16(&frame, &acks) &&
	       acks == 0;
}

/* Both answers begin with a throttle time and an error. */
static bool succeeded(struct rg__bytes answer, bool flexible)
{
	int error = -1;

	return skip(&answer, 4) && (!flexible || skip_tags(&answer)) && skip(&answer, 4) && read_int16(&answer, &error) &&
	       !error;
}

/* Both requests begin with the transactional id, which is null where there are no transactions; EndTxn has producer id,
 * its epoch, and whether it commits. */
bool rg__kit_ends_transaction(int api, int version, struct rg__bytes request, struct rg__bytes answer,
			      struct rg__bytes *ret_id, bool *ret_committed)
{
	enum { INIT_FLEXIBLE_FIRST = 2, END_FLEXIBLE_FIRST = 3 };
	bool flexible = version >= (api == RG__KIT_API_END_TXN ? END_FLEXIBLE_FIRST : INIT_FLEXIBLE_FIRST);
	struct rg__bytes id;

	if (api != RG__KIT_API_END_TXN && api != RG__KIT_API_INIT_PRODUCER_ID)
		return false;
	if (!succeeded(answer, flexible) || !skip_header(&request, flexible) || !read_string(&request, flexible, &id) ||
	    !id.data)
		return false;
	if (api == RG__KIT_API_END_TXN && (!skip(&request, 8 + 2) || !request.len))
		return false;
	*ret_committed = api == RG__KIT_API_END_TXN && request.data[0];
	*ret_id = id;
	return true;
}
