/* SPDX-License-Identifier: Apache-2.0 */
/* How long the assignors take and how much memory, one line of tab-separated numbers per measurement; assign.sh makes a
 * table of them, beside those of Java's. Nothing here passes or fails. */
#include "assign/builtin.h"
#include "assign/validate.h"
#include "peak.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Who subscribes to what. */
enum pattern {
	UNIFORM, /* all to all */
	NARROW,  /* the last member only to the first topic */
	BUCKETS, /* five parts of members and topics that have nothing to do with each other */
	HALF,    /* every second member only to the first half of the topics */
	RANDOM,  /* each member to each topic with a chance of one half */
	SPARSE   /* the same with a chance of one in sixteen */
};

static const char *const pattern_names[] = {"uniform", "narrow", "buckets", "half", "random", "sparse"};

struct shape {
	enum pattern pattern;
	int32_t topics, partitions, members; /* partitions of each topic */
	bool racks;
};

static const struct {
	const char *assignor;
	struct shape shape;
} cases[] = {
	{"cooperative-sticky", {UNIFORM, 500, 2000, 2000, false}},
	{"cooperative-sticky", {UNIFORM, 500, 2000, 2000, true}},
	{"cooperative-sticky", {NARROW, 500, 2000, 2000, false}},
	{"cooperative-sticky", {NARROW, 500, 2000, 2000, true}},
	{"cooperative-sticky", {NARROW, 100, 100, 1000, false}},
	{"cooperative-sticky", {BUCKETS, 100, 100, 1000, false}},
	{"cooperative-sticky", {HALF, 100, 1000, 500, false}},
	{"cooperative-sticky", {UNIFORM, 30, 100, 450, false}},
	{"cooperative-sticky", {RANDOM, 100, 100, 1000, false}},
	{"cooperative-sticky", {RANDOM, 1000, 20, 1000, false}},
	{"cooperative-sticky", {SPARSE, 2000, 50, 2000, false}},
	{"sticky", {UNIFORM, 500, 2000, 2000, false}},
	{"range", {UNIFORM, 500, 2000, 2000, false}},
	{"range", {UNIFORM, 500, 2000, 2000, true}},
	{"roundrobin", {UNIFORM, 500, 2000, 2000, false}},
};

struct bench {
	rg_group group;
	rg_group_topic *topics;
	rg_group_member *members;
	rg_group_partition *owned; /* of all members, one after the other */
};

static void *need(size_t count, size_t size)
{
	void *got = calloc(count ? count : 1, size);

	if (!got) {
		fputs("bench: out of memory\n", stderr);
		exit(1);
	}
	return got;
}

static bool subscribes(const struct shape *shape, int32_t member, int32_t topic, uint64_t *random)
{
	switch (shape->pattern) {
	case NARROW:
		return member + 1 < shape->members || topic == 0;
	case BUCKETS:
		return member % 5 == topic % 5;
	case HALF:
		return member % 2 == 0 || topic < shape->topics / 2;
	case RANDOM:
	case SPARSE:
		*random ^= *random << 13;
		*random ^= *random >> 7;
		*random ^= *random << 17;
		return *random >> (shape->pattern == RANDOM ? 63 : 60) == 0;
	default:
		return true;
	}
}

static const char *const rack_names[] = {"rack-a", "rack-b", "rack-c", "rack-d", "rack-e", "rack-f"};

/* Replicas of partition p are in racks p, p + 1 and p + 2 of six. */
static void add_racks(rg_group_topic *topic)
{
	const char *const **racks = need((size_t)topic->partition_count, sizeof(*racks));
	int32_t *counts = need((size_t)topic->partition_count, sizeof(*counts));

	for (int32_t p = 0; p < topic->partition_count; p++) {
		const char **names = need(3, sizeof(*names));

		for (int32_t i = 0; i < 3; i++)
			names[i] = rack_names[(p + i) % 6];
		racks[p] = names;
		counts[p] = 3;
	}
	topic->racks = racks;
	topic->rack_counts = counts;
}

static char *name_of(char kind, int32_t index)
{
	char *name = need(16, 1);

	snprintf(name, 16, "%c%06" PRId32, kind, index);
	return name;
}

static void build(struct bench *b, const struct shape *shape)
{
	uint64_t random = 88172645463325252u;

	b->topics = need((size_t)shape->topics, sizeof(*b->topics));
	b->members = need((size_t)shape->members, sizeof(*b->members));
	for (int32_t t = 0; t < shape->topics; t++) {
		b->topics[t] = (rg_group_topic){.name = name_of('t', t), .partition_count = shape->partitions};
		if (shape->racks)
			add_racks(&b->topics[t]);
	}
	for (int32_t m = 0; m < shape->members; m++) {
		int32_t *list = need((size_t)shape->topics, sizeof(*list));

		b->members[m] = (rg_group_member){.member_id = name_of('m', m), .topics = list, .generation = -1};
		b->members[m].rack = shape->racks ? rack_names[m % 6] : NULL;
		for (int32_t t = 0; t < shape->topics; t++)
			if (subscribes(shape, m, t, &random))
				list[b->members[m].topic_count++] = t;
	}
	b->group = (rg_group){.size = sizeof(rg_group), .members = b->members, .member_count = shape->members,
	                      .topics = b->topics, .topic_count = shape->topics, .generation = 2};
}

/* Time of this thread on a processor: what else the machine does should not count. */
static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static struct rg_plan *run(const rg_assignor *assignor, const rg_group *group, double *ret_ms)
{
	rg_error error = {0};
	double start = now_ms();
	struct rg_plan *plan = rg__plan_new(group);

	if (!plan || assignor->assign(group, plan, &error, NULL)) {
		fprintf(stderr, "bench: %s\n", error.text);
		exit(1);
	}
	*ret_ms = now_ms() - start;
	if (rg__plan_validate(plan, NULL, &error)) {
		fprintf(stderr, "bench: %s\n", error.text);
		exit(1);
	}
	return plan;
}

/* Makes what a plan gave the members' own. For sticky, whose members send it as userdata, in those bytes. */
static void own(struct bench *b, const struct rg_plan *plan, bool as_userdata)
{
	rg_group_partition *next = b->owned = need((size_t)plan->partition_count, sizeof(*next));

	for (int32_t m = 0; m < b->group.member_count; m++) {
		b->members[m].owned = next;
		b->members[m].generation = 1;
		for (int32_t i = 0; i < rg__plan_topic_count(plan, m); i++) {
			const int32_t *partitions;
			int32_t count, topic = rg__plan_topic(plan, m, i, &partitions, &count);

			for (int32_t k = 0; k < count; k++)
				*next++ = (rg_group_partition){topic, partitions[k]};
		}
		b->members[m].owned_count = (int32_t)(next - b->members[m].owned);
		if (as_userdata) {
			/* Java's bytes: one topic entry for each partition is allowed, and the simplest. */
			uint8_t *bytes = need(4 + (size_t)b->members[m].owned_count * 17 + 4, 1), *at = bytes + 4;

			for (int32_t i = 0; i < b->members[m].owned_count; i++) {
				rg_group_partition p = b->members[m].owned[i];
				uint8_t entry[17] = {0, 7};

				memcpy(entry + 2, b->topics[p.topic].name, 7);
				entry[12] = 1;
				entry[15] = (uint8_t)(p.partition >> 8);
				entry[16] = (uint8_t)p.partition;
				memcpy(at, entry, sizeof(entry));
				at += sizeof(entry);
			}
			for (int k = 0; k < 4; k++)
				bytes[k] = (uint8_t)((uint32_t)b->members[m].owned_count >> (24 - 8 * k));
			at[3] = 1;
			b->members[m].userdata = (rg_bytes){bytes, (size_t)(at + 4 - bytes)};
			b->members[m].owned_count = 0;
		}
	}
}

enum { RUNS = 5 };

static int compare_ms(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const rg_assignor *assignor, const struct shape *shape, const char *event, const rg_group *group)
{
	double ms[RUNS];
	double mib = 0;

	for (int i = 0; i < RUNS; i++) {
		long before = peak_reset();
		struct rg_plan *plan = run(assignor, group, &ms[i]);

		if (i == 0)
			mib = peak_since(before);
		rg__plan_free(plan);
	}
	qsort(ms, RUNS, sizeof(ms[0]), compare_ms);
	printf("regroup\t%s\t%s%s\t%" PRId32 "\t%" PRId32 "\t%s\t%.3f\t%.1f\n", assignor->name, pattern_names[shape->pattern],
	       shape->racks ? "+racks" : "", shape->topics * shape->partitions, shape->members, event, ms[RUNS / 2], mib);
	fflush(stdout);
}

/* Fresh, then one member joins those that share the fresh plan, or one leaves. */
static void measure_events(const char *name, const struct shape *shape)
{
	const rg_assignor *assignor = rg__builtin_find(name);
	struct shape without_last = *shape;
	struct bench fresh = {0}, joined = {0}, left = {0};
	double ms;

	build(&fresh, shape);
	measure(assignor, shape, "fresh", &fresh.group);
	build(&joined, shape);
	joined.group.member_count--;
	own(&joined, run(assignor, &joined.group, &ms), assignor == &rg__sticky);
	joined.group.member_count++;
	measure(assignor, shape, "join", &joined.group);
	without_last.members++;
	build(&left, &without_last);
	own(&left, run(assignor, &left.group, &ms), assignor == &rg__sticky);
	/* The first one goes: the last may be the narrow one. */
	left.group.members++;
	left.group.member_count--;
	measure(assignor, shape, "leave", &left.group);
}

/* Each in a process of its own, so that memory is what this one took. */
static int measure_apart(const char *name, const struct shape *shape)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		return 1;
	if (child == 0) {
		measure_events(name, shape);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status != 0;
}

static int measure_growth(void)
{
	static const int32_t members[] = {62, 125, 250, 500, 1000, 2000, 4000};
	int failed = 0;

	for (int pattern = UNIFORM; pattern <= NARROW; pattern++)
		for (int32_t partitions = 250; partitions <= 32000; partitions *= 2)
			failed += measure_apart("cooperative-sticky",
			                        &(struct shape){(enum pattern)pattern, 50, partitions, 1000, false});
	for (int pattern = UNIFORM; pattern <= NARROW; pattern++)
		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			failed += measure_apart("cooperative-sticky",
			                        &(struct shape){(enum pattern)pattern, 50, 4000, members[i], false});
	return failed;
}

/* One shape, in the words of --list. */
static int measure_one(char **words)
{
	struct shape shape = {UNIFORM, atoi(words[2]), atoi(words[3]), atoi(words[4]), atoi(words[5])};
	const size_t count = sizeof(pattern_names) / sizeof(pattern_names[0]);
	size_t pattern = 0;

	while (pattern < count && strcmp(pattern_names[pattern], words[1]) != 0)
		pattern++;
	if (!rg__builtin_find(words[0]) || pattern == count || shape.topics < 1 || shape.partitions < 1 || shape.members < 1) {
		fputs("usage: bench-assign [--list | --growth | ASSIGNOR PATTERN TOPICS PARTITIONS MEMBERS RACKS]\n", stderr);
		return 2;
	}
	shape.pattern = (enum pattern)pattern;
	return measure_apart(words[0], &shape);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 2 && !strcmp(argv[1], "--growth"))
		return measure_growth();
	if (argc == 7)
		return measure_one(argv + 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shape *s = &cases[i].shape;

		if (argc == 2 && !strcmp(argv[1], "--list"))
			printf("%s\t%s\t%" PRId32 "\t%" PRId32 "\t%" PRId32 "\t%d\n", cases[i].assignor, pattern_names[s->pattern],
			       s->topics, s->partitions, s->members, s->racks);
		else
			failed += measure_apart(cases[i].assignor, s);
	}
	return failed;
}
