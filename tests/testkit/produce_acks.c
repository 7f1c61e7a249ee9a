/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing that must be known about a Produce request to pass it on: whether an answer will come. */
#include "suite.h"
#include "testkit/produce_acks.h"

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

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, acks_is_found_in_every_version);
	tcase_add_test(tcase, what_is_cut_short_is_left_to_the_broker);
	tcase_add_test(tcase, endless_numbers_end);
}

int main(void)
{
	return run_suite("produce_acks", fill, NULL, NULL);
}
