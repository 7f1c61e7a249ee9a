/* SPDX-License-Identifier: Apache-2.0 */
/* What must be known about requests to pass them on: whether an answer will come, and whether it ends a transaction. */
#include "suite.h"
#include "testkit/forwarded.h"

#include <string.h>

#define FRAME(version, ...) {version, {0, 0, 0, version, 0, 0, 0, 9, __VA_ARGS__}, \
			     sizeof((const uint8_t[]){0, 0, 0, version, 0, 0, 0, 9, __VA_ARGS__})}

struct frame {
	int version;
	uint8_t bytes[32];
	size_t len;
};

/* Client id, [tags,] [transactional id,] acks, and a little of what follows. */
static const struct frame unanswered[] = {
	FRAME(0, 0, 2, 'm', 'e', 0, 0, 1),
	FRAME(2, 0xff, 0xff, 0, 0, 1),
	FRAME(3, 0, 2, 'm', 'e', 0xff, 0xff, 0, 0, 1),
	FRAME(8, 0, 0, 0, 3, 't', 'i', 'd', 0, 0, 1),
	FRAME(9, 0, 2, 'm', 'e', 0, 0, 0, 0, 1),
	FRAME(10, 0, 2, 'm', 'e', 1, 5, 2, 'x', 'y', 4, 't', 'i', 'd', 0, 0, 1),
};
static const struct frame answered[] = {
	FRAME(0, 0, 2, 'm', 'e', 0xff, 0xff, 0),
	FRAME(2, 0xff, 0xff, 0, 1, 0),
	FRAME(3, 0, 2, 'm', 'e', 0xff, 0xff, 0xff, 0xff, 0),
	FRAME(9, 0, 2, 'm', 'e', 0, 0, 0xff, 0xff, 0),
	FRAME(9, 0, 2, 'm', 'e', 0, 0, 0, 1, 0),
};

static bool ask(const struct frame *frame, size_t len)
{
	/* On the heap in its exact size, so that a sanitizer sees a byte too many. */
	uint8_t *copy = malloc(len ? len : 1);
	bool result;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, frame->bytes, len);
	result = rg__kit_wants_no_answer(frame->version, (struct rg__bytes){copy, len});
	free(copy);
	return result;
}

START_TEST(acks_is_found_in_every_version)
{
	for (size_t i = 0; i < sizeof(unanswered) / sizeof(*unanswered); i++)
		ck_assert_msg(ask(&unanswered[i], unanswered[i].len), "frame %zu", i);
	for (size_t i = 0; i < sizeof(answered) / sizeof(*answered); i++)
		ck_assert_msg(!ask(&answered[i], answered[i].len), "frame %zu", i);
}
END_TEST

START_TEST(what_is_cut_short_is_left_to_the_broker)
{
	for (size_t i = 0; i < sizeof(unanswered) / sizeof(*unanswered); i++)
		for (size_t len = 0; len < unanswered[i].len - 1; len++)
			ck_assert_msg(!ask(&unanswered[i], len), "frame %zu, %zu bytes", i, len);
}
END_TEST

START_TEST(endless_numbers_end)
{
	static const struct frame frame = FRAME(9, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0);

	ck_assert(!ask(&frame, frame.len));
}
END_TEST

/* Client id, [tags,] transactional id, and for EndTxn the producer, its epoch, and whether it commits. */
static const struct ending {
	int api;
	struct frame request;
	bool flexible;
	uint8_t error; /* in the answer */
	const char *id; /* NULL: it ends none */
	bool committed;
} endings[] = {
	{26, FRAME(1, 0, 2, 'm', 'e', 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 1), false, 0, "x", true},
	{26, FRAME(1, 0, 2, 'm', 'e', 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0), false, 0, "x", false},
	{26, FRAME(1, 0, 2, 'm', 'e', 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 1), false, 47, NULL, false},
	{26, FRAME(3, 0, 2, 'm', 'e', 0, 2, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 1, 0), true, 0, "x", true},
	{22, FRAME(1, 0, 2, 'm', 'e', 0, 2, 'i', 'd', 0, 0, 0, 9), false, 0, "id", false},
	{22, FRAME(1, 0, 2, 'm', 'e', 0xff, 0xff, 0, 0, 0, 9), false, 0, NULL, false},
	{22, FRAME(2, 0, 2, 'm', 'e', 0, 3, 'i', 'd', 0, 0, 0, 9, 0), true, 0, "id", false},
	{22, FRAME(2, 0, 2, 'm', 'e', 0, 0, 0, 0, 0, 9, 0), true, 0, NULL, false},
	{24, FRAME(1, 0, 2, 'm', 'e', 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 1), false, 0, NULL, false},
};

/* The answer is correlation id, [tags,] throttle time, error. */
static bool ends(const struct ending *ending, size_t len, struct rg__bytes *ret_id, bool *ret_committed)
{
	static uint8_t request[sizeof(ending->request.bytes)];
	uint8_t answer[11] = {0};
	size_t answer_len = ending->flexible ? 11 : 10;

	memcpy(request, ending->request.bytes, len);
	answer[answer_len - 1] = ending->error;
	return rg__kit_ends_transaction(ending->api, ending->request.version, (struct rg__bytes){request, len},
	                                (struct rg__bytes){answer, answer_len}, ret_id, ret_committed);
}

START_TEST(the_end_of_a_transaction_is_seen)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		const struct ending *ending = &endings[i];
		struct rg__bytes id = RG__NULL_BYTES;
		bool committed = false;

		ck_assert_msg(ends(ending, ending->request.len, &id, &committed) == (ending->id != NULL), "%zu", i);
		if (!ending->id)
			continue;
		ck_assert_msg(rg__bytes_is(id, ending->id), "%zu", i);
		ck_assert_msg(committed == ending->committed, "%zu", i);
	}
}
END_TEST

START_TEST(an_end_that_is_cut_short_is_none)
{
	const struct ending *ending = &endings[0];
	struct rg__bytes id;
	bool committed;

	for (size_t len = 0; len < ending->request.len; len++)
		ck_assert_msg(!ends(ending, len, &id, &committed), "%zu bytes", len);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, acks_is_found_in_every_version);
	tcase_add_test(tcase, what_is_cut_short_is_left_to_the_broker);
	tcase_add_test(tcase, endless_numbers_end);
	tcase_add_test(tcase, the_end_of_a_transaction_is_seen);
	tcase_add_test(tcase, an_end_that_is_cut_short_is_none);
}

int main(void)
{
	return run_suite("forwarded", fill, NULL, NULL);
}
