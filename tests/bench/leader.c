/* SPDX-License-Identifier: Apache-2.0 */
/* How long a leader takes from the bytes of the JoinGroup answer to the bytes of its SyncGroup, and how much memory: 2,000
 * members, up to 200 topics of 500 partitions, one member just joined. A tab-separated line for each size: members,
 * partitions, MiB of the answer, MiB of memory beside it, then milliseconds on a processor (the median of some runs): the
 * whole, and its steps decode JoinGroup; read subscriptions; view, assign, check and encode shares; encode SyncGroup.
 * Nothing here passes or fails. */
#include "assign/builtin.h"
#include "codec/api.h"
#include "codec/codec.h"
#include "codec/consumer_protocol.h"
#include "codec/join_group.h"
#include "codec/sync_group.h"
#include "consumer/leader.h"
#include "peak.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 2000, TOPICS_MAX = 200, PARTITIONS = 500, RUNS = 9 };

enum step { DECODE, READ, PLAN, ENCODE, WHOLE, STEPS };

static char topic_names[TOPICS_MAX][16], member_ids[MEMBERS][48];
static int topic_count; /* of the size at hand */
static double times_ms[STEPS][RUNS], peak_mib;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-leader: %s failed\n", what);
	exit(1);
}

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* What a member sends: all topics, and the partitions it owns: those with a number that is its own modulo the members
 * that were there before; the last one is new. */
static struct rg__bytes subscription_of(int member, struct rg__arena *arena)
{
	struct rg__bytes topics[TOPICS_MAX];
	struct rg__consumer_protocol_topic_partition owned[TOPICS_MAX];
	int32_t *numbers = rg__arena_calloc(arena, (size_t)topic_count * PARTITIONS, sizeof(*numbers));
	int owned_count = 0, next = 0;
	struct rg__buf out = {0};

	need(numbers != NULL, "memory");
	for (int t = 0; t < topic_count; t++) {
		int first = next;

		topics[t] = rg__bytes_of(topic_names[t]);
		for (int p = 0; p < PARTITIONS; p++)
			if (member < MEMBERS - 1 && (t * PARTITIONS + p) % (MEMBERS - 1) == member)
				numbers[next++] = p;
		if (next > first)
			owned[owned_count++] = (struct rg__consumer_protocol_topic_partition){topics[t], {numbers + first, next - first}};
	}
	struct rg__consumer_protocol_subscription subscription = {.topics = {topics, topic_count},
	                                                          .owned_partitions = {owned, owned_count},
	                                                          .generation_id = member < MEMBERS - 1 ? 7 : -1,
	                                                          .rack_id = RG__NULL_BYTES};

	need(rg__subscription_encode(3, &subscription, &out, NULL), "encoding a subscription");
	char *copy = rg__arena_copy(arena, out.data, out.len);
	struct rg__bytes result = {(const uint8_t *)copy, out.len};

	need(copy != NULL, "memory");
	rg__buf_free(&out);
	return result;
}

static void make_answer(struct rg__buf *out)
{
	struct rg__join_group_response_member *members = calloc(MEMBERS, sizeof(*members));
	struct rg__join_group_response answer = {.generation_id = 8,
	                                         .protocol_type = rg__bytes_of("consumer"),
	                                         .protocol_name = rg__bytes_of("cooperative-sticky"),
	                                         .leader = rg__bytes_of(member_ids[0]),
	                                         .member_id = rg__bytes_of(member_ids[0]),
	                                         .members = {members, MEMBERS}};
	struct rg__arena arena = {0};

	need(members != NULL, "memory");
	for (int m = 0; m < MEMBERS; m++) {
		struct rg__arena scratch = {0};
		struct rg__bytes bytes = subscription_of(m, &scratch);
		char *copy = rg__arena_copy(&arena, bytes.data, bytes.len);

		need(copy != NULL, "memory");
		members[m] = (struct rg__join_group_response_member){rg__bytes_of(member_ids[m]), RG__NULL_BYTES,
		                                                     {(const uint8_t *)copy, bytes.len}};
		rg__arena_clear(&scratch);
	}
	need(rg__encode(&rg__join_group_response_fields, 9, &answer, out, NULL), "encoding the answer");
	rg__arena_clear(&arena);
	free(members);
}

static void encode_sync(const struct rg__lead_result *result)
{
	struct rg__sync_group_request_assignment *assignments = calloc(result->count, sizeof(*assignments));
	struct rg__sync_group_request sync = {.group_id = rg__bytes_of("group"),
	                                      .generation_id = 8,
	                                      .member_id = rg__bytes_of(member_ids[0]),
	                                      .protocol_type = rg__bytes_of("consumer"),
	                                      .protocol_name = rg__bytes_of("cooperative-sticky"),
	                                      .assignments = {assignments, (int32_t)result->count}};
	struct rg__buf out = {0};

	need(assignments != NULL, "memory");
	for (size_t m = 0; m < result->count; m++) {
		assignments[m].member_id = rg__bytes_of(result->shares[m].member_id);
		assignments[m].assignment = (struct rg__bytes){result->shares[m].assignment.data, result->shares[m].assignment.len};
	}
	need(rg__encode(&rg__sync_group_request_fields, 5, &sync, &out, NULL), "encoding SyncGroup");
	rg__buf_free(&out);
	free(assignments);
}

static void run(int number, struct rg__bytes answer_bytes, const struct rg__topic_input *topics)
{
	static rg_member_info infos[MEMBERS];
	struct rg__listed_assignor assignor = {&rg__cooperative_sticky, NULL, true};
	struct rg__join_group_response answer;
	struct rg__arena arena = {0};
	struct rg__leading leading;
	struct rg__lead_result result;
	struct rg__log log = {0};
	rg_error error = {0};
	long before = peak_reset();
	double at[STEPS];

	at[DECODE] = now_ms();
	need(rg__decode(&rg__join_group_response_fields, 9, answer_bytes, &arena, &answer, NULL, NULL), "decoding");
	const struct rg__join_group_response_member *members = answer.members.items;

	for (int m = 0; m < MEMBERS; m++) {
		infos[m] = (rg_member_info){rg__arena_copy(&arena, members[m].member_id.data, members[m].member_id.len), NULL,
		                            {members[m].metadata.data, members[m].metadata.len}};
		need(infos[m].member_id != NULL, "memory");
	}
	at[READ] = now_ms();
	need(rg__leading_begin(&leading, infos, MEMBERS, &log), "reading subscriptions");
	at[PLAN] = now_ms();
	need(!rg__leading_plan(&leading, &assignor, true, topics, topic_count, 8, &result, &error), error.text);
	at[ENCODE] = now_ms();
	encode_sync(&result);
	at[WHOLE] = now_ms();
	peak_mib = number ? peak_mib : peak_since(before);
	for (int step = DECODE; step < WHOLE; step++)
		times_ms[step][number] = at[step + 1] - at[step];
	times_ms[WHOLE][number] = at[WHOLE] - at[DECODE];
	rg__leading_end(&leading);
	rg__arena_clear(&arena);
}

static int compare_ms(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In a process that has made nothing else, memory is what this size takes. */
static void measure(const struct rg__topic_input *topics)
{
	struct rg__buf answer = {0};

	make_answer(&answer);
	for (int i = 0; i < RUNS; i++)
		run(i, rg__buf_view(&answer), topics);
	for (int step = 0; step < STEPS; step++)
		qsort(times_ms[step], RUNS, sizeof(double), compare_ms);
	printf("%d\t%d\t%.2f\t%.2f\t%.2f", MEMBERS, topic_count * PARTITIONS, (double)answer.len / (1 << 20), peak_mib,
	       times_ms[WHOLE][RUNS / 2]);
	for (int step = DECODE; step < WHOLE; step++)
		printf("\t%.2f", times_ms[step][RUNS / 2]);
	putchar('\n');
	fflush(stdout);
	rg__buf_free(&answer);
}

int main(void)
{
	static const int sizes[] = {50, 100, TOPICS_MAX};
	static struct rg__topic_input topics[TOPICS_MAX];
	int failed = 0;

	for (int t = 0; t < TOPICS_MAX; t++) {
		snprintf(topic_names[t], sizeof(topic_names[t]), "topic-%06d", t);
		topics[t] = (struct rg__topic_input){.name = rg__bytes_of(topic_names[t]), .partition_count = PARTITIONS};
	}
	for (int m = 0; m < MEMBERS; m++)
		snprintf(member_ids[m], sizeof(member_ids[m]), "consumer-%08x-1d4f-4a7c-9c53-%012d", (unsigned)m * 2654435761u, m);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pid_t child = fork();
		int status = 1;

		if (child == 0) {
			topic_count = sizes[i];
			measure(topics);
			_exit(0);
		}
		while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		failed |= status != 0;
	}
	return failed;
}
