/* SPDX-License-Identifier: Apache-2.0 */
/* How long big groups take to read and write; `meson test --benchmark`. Prints, judges nothing. */
#include "codec/consumer_protocol.h"
#include "codec/frame.h"
#include "codec/join_group.h"
#include "codec/sync_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(EXIT_FAILURE);
}

/* A leader's answer: every member's subscription, each written with the consumer protocol. */
static void join(int32_t members)
{
	const struct rg__api *api = rg__api_by_key(RG__API_JOIN_GROUP);
	struct rg__join_group_response response, decoded;
	struct rg__consumer_protocol_subscription subscription;
	struct rg__bytes topics[10], frame;
	struct rg__buf metadata = {0}, out = {0};
	struct rg__arena arena = {0}, read = {0};
	size_t used;

	for (int i = 0; i < 10; i++)
		topics[i] = rg__bytes_of("a-topic-with-an-ordinary-name");
	rg__fields_init(&rg__consumer_protocol_subscription_fields, &subscription);
	subscription.topics = (struct rg__array){topics, 10};
	must(rg__subscription_encode(3, &subscription, &metadata, NULL), "subscription");
	rg__fields_init(api->response, &response);
	must(rg__array_init(&rg__join_group_response_member_fields, members, &arena, &response.members), "members");
	for (int32_t i = 0; i < members; i++) {
		struct rg__join_group_response_member *member =
			&RG__ITEMS(struct rg__join_group_response_member, response.members)[i];

		member->member_id = rg__bytes_of("consumer-1-0f6e2b1c-7d9c-4a54-9a4e-1c0f5b1a2d3e");
		member->metadata = rg__buf_view(&metadata);
	}
	double start = now_ms();

	must(rg__encode_response(api, 9, 1, &response, &out, NULL), "encode");
	double encoded = now_ms();

	must(rg__frame_next(rg__buf_view(&out), RG__FRAME_LIMIT_DEFAULT, &frame, &used, NULL), "frame");
	must(rg__decode_response(api, 9, frame, &read, NULL, &decoded, NULL), "decode");
	double done = now_ms();

	for (int32_t i = 0; i < members; i++)
		must(rg__subscription_decode(
			     RG__ITEMS(struct rg__join_group_response_member, decoded.members)[i].metadata, &read,
			     &subscription, NULL, NULL),
		     "subscription");
	printf("JoinGroup response of %d members, %zu bytes: written in %.2f ms, read in %.2f ms, its subscriptions in "
	       "%.2f ms\n",
	       (int)members, out.len, encoded - start, done - encoded, now_ms() - done);
	rg__arena_clear(&arena);
	rg__arena_clear(&read);
	rg__buf_free(&metadata);
	rg__buf_free(&out);
}

/* A leader's plan: each member's assignment, then all of them in one request. */
static void sync_group(int32_t members, int32_t partitions)
{
	const struct rg__api *api = rg__api_by_key(RG__API_SYNC_GROUP);
	struct rg__sync_group_request request, decoded;
	struct rg__consumer_protocol_assignment assignment;
	struct rg__consumer_protocol_topic_partition topic = {.topic = rg__bytes_of("a-topic-with-an-ordinary-name")};
	struct rg__buf *parts = calloc((size_t)members, sizeof(*parts)), out = {0};
	int32_t *numbers = calloc((size_t)partitions, sizeof(*numbers)), each = partitions / members;
	struct rg__arena arena = {0};
	struct rg__bytes frame;
	size_t used;

	must(parts && numbers, "calloc");
	rg__fields_init(api->request, &request);
	must(rg__array_init(&rg__sync_group_request_assignment_fields, members, &arena, &request.assignments),
	     "members");
	double start = now_ms();

	for (int32_t i = 0; i < members; i++) {
		topic.partitions = (struct rg__array){numbers + i * each, each};
		rg__fields_init(&rg__consumer_protocol_assignment_fields, &assignment);
		assignment.assigned_partitions = (struct rg__array){&topic, 1};
		must(rg__assignment_encode(3, &assignment, &parts[i], NULL), "assignment");
		struct rg__sync_group_request_assignment *row =
			&RG__ITEMS(struct rg__sync_group_request_assignment, request.assignments)[i];

		row->member_id = rg__bytes_of("consumer-1-0f6e2b1c-7d9c-4a54-9a4e-1c0f5b1a2d3e");
		row->assignment = rg__buf_view(&parts[i]);
	}
	must(rg__encode_request(api, 5, 1, rg__bytes_of("me"), &request, &out, NULL), "encode");
	double encoded = now_ms();

	must(rg__frame_next(rg__buf_view(&out), RG__FRAME_LIMIT_DEFAULT, &frame, &used, NULL), "frame");
	must(rg__decode_request(api, 5, frame, &arena, &decoded, NULL), "decode");
	for (int32_t i = 0; i < members; i++)
		must(rg__assignment_decode(
			     RG__ITEMS(struct rg__sync_group_request_assignment, decoded.assignments)[i].assignment,
			     &arena, &assignment, NULL, NULL),
		     "assignment");
	printf("SyncGroup request of %d members and %d partitions, %zu bytes: written in %.2f ms, read with its "
	       "assignments in %.2f ms\n",
	       (int)members, (int)partitions, out.len, encoded - start, now_ms() - encoded);
	for (int32_t i = 0; i < members; i++)
		rg__buf_free(&parts[i]);
	free(parts);
	free(numbers);
	rg__arena_clear(&arena);
	rg__buf_free(&out);
}

int main(void)
{
	join(2000);
	sync_group(2000, 100000);
	sync_group(1, 100000);
	return EXIT_SUCCESS;
}
