/* SPDX-License-Identifier: Apache-2.0 */
/* An assignor that looks before it decides: it weighs partitions by how far the group is behind in them.
 *
 *   lag-assignor -b localhost:9092 -g group -t topic [-w MS] [-X KEY=VALUE]...
 *
 * The leader asks for the committed offsets and the ends of all partitions, also of those that others own. That may
 * take seconds; heartbeats go on meanwhile, so nobody loses its seat. -w is how long the work on a record takes.
 * Lags change all the time, so that every rebalance may move everything: worth it where the work is slow. */
#include <regroup/regroup.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_UP_MS = 3000 }; /* for each of at most three questions; all of them must fit into max.poll.interval.ms */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* --- How far the group is behind ---------------------------------------------------------------------------------- */

struct weighed {
	rg_group_partition at;
	int64_t weight; /* records to be read, and one, so that empty partitions are spread, too */
};

/* Where each partition begins (RD_KAFKA_OFFSET_BEGINNING) or ends (RD_KAFKA_OFFSET_END), asked of its leader by the
 * handle that fetches. */
static int find(rg_consumer *consumer, rd_kafka_topic_partition_list_t *list, int64_t which)
{
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = which;
	if (list->cnt && rd_kafka_offsets_for_times(rg_consumer_handle(consumer), list, LOOK_UP_MS))
		return 0;
	for (int i = 0; i < list->cnt; i++)
		if (list->elems[i].err || list->elems[i].offset < 0)
			return 0;
	return 1;
}

/* Where the group goes on: at what is committed, or where nothing is, at the beginning (auto.offset.reset). */
static int find_positions(rg_consumer *consumer, rd_kafka_topic_partition_list_t *positions)
{
	rd_kafka_topic_partition_list_t *fresh;
	rg_error error;
	int found;

	if (rg_consumer_committed(consumer, positions, LOOK_UP_MS, &error)) {
		fprintf(stderr, "lag-assignor: %s\n", error.text);
		return 0;
	}
	fresh = rd_kafka_topic_partition_list_new(positions->cnt);
	for (int i = 0; i < positions->cnt; i++)
		if (positions->elems[i].offset < 0)
			rd_kafka_topic_partition_list_add(fresh, positions->elems[i].topic, positions->elems[i].partition);
	found = find(consumer, fresh, RD_KAFKA_OFFSET_BEGINNING);
	for (int i = 0, next = 0; found && i < positions->cnt; i++)
		if (positions->elems[i].offset < 0)
			positions->elems[i].offset = fresh->elems[next++].offset;
	rd_kafka_topic_partition_list_destroy(fresh);
	return found;
}

/* Without an answer all partitions weigh the same: a plan by number is better than none. */
static void weigh(rg_consumer *consumer, const rg_group *group, struct weighed *weighed, int count)
{
	rd_kafka_topic_partition_list_t *positions = rd_kafka_topic_partition_list_new(count), *ends;
	int found;

	for (int i = 0; i < count; i++) {
		weighed[i].weight = 1;
		rd_kafka_topic_partition_list_add(positions, group->topics[weighed[i].at.topic].name, weighed[i].at.partition);
	}
	ends = rd_kafka_topic_partition_list_copy(positions); /* both stay in this order */
	found = find_positions(consumer, positions) && find(consumer, ends, RD_KAFKA_OFFSET_END);
	for (int i = 0; found && i < count; i++)
		if (ends->elems[i].offset > positions->elems[i].offset)
			weighed[i].weight += ends->elems[i].offset - positions->elems[i].offset;
	if (!found)
		fputs("lag-assignor: the lags are not known, so partitions are shared by number\n", stderr);
	rd_kafka_topic_partition_list_destroy(positions);
	rd_kafka_topic_partition_list_destroy(ends);
}

/* --- What the leader does ----------------------------------------------------------------------------------------- */

/* The heaviest first; of equal ones always in the same order. */
static int compare(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->at.topic != y->at.topic)
		return x->at.topic < y->at.topic ? -1 : 1;
	return x->at.partition < y->at.partition ? -1 : 1;
}

static int subscribes(const rg_group_member *member, int32_t topic)
{
	for (int32_t i = 0; i < member->topic_count; i++)
		if (member->topics[i] == topic)
			return 1;
	return 0;
}

/* Each partition, beginning with the heaviest, to the subscriber that has least to do so far. */
static rg_err share(const rg_group *group, rg_plan *plan, const struct weighed *weighed, int count, int64_t *loads)
{
	rg_err err = RG_OK;

	for (int i = 0; !err && i < count; i++) {
		int32_t best = -1;

		for (int32_t m = 0; m < group->member_count; m++)
			if (subscribes(&group->members[m], weighed[i].at.topic) && (best < 0 || loads[m] < loads[best]))
				best = m;
		loads[best] += weighed[i].weight; /* a topic here has a subscriber */
		err = rg_plan_give(plan, best, weighed[i].at.topic, weighed[i].at.partition);
	}
	return err;
}

static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	rg_consumer *const *consumer = user;
	struct weighed *weighed;
	int64_t *loads = calloc((size_t)group->member_count, sizeof(*loads));
	int count = 0;
	rg_err err = RG_ERR_MEMORY;

	for (int32_t t = 0; t < group->topic_count; t++)
		count += group->topics[t].partition_count;
	weighed = calloc((size_t)count + 1, sizeof(*weighed));
	if (loads && weighed) {
		count = 0;
		for (int32_t t = 0; t < group->topic_count; t++)
			for (int32_t p = 0; p < group->topics[t].partition_count; p++)
				weighed[count++].at = (rg_group_partition){t, p};
		weigh(*consumer, group, weighed, count);
		qsort(weighed, (size_t)count, sizeof(*weighed), compare);
		err = share(group, plan, weighed, count, loads);
	}
	if (err)
		snprintf(error->text, sizeof(error->text), "%d partitions: %s", count, rg_err_name(err));
	free(weighed);
	free(loads);
	return err;
}

/* --- What every member learns ------------------------------------------------------------------------------------- */

static void on_assignment(const rg_assignment *assignment, void *user)
{
	(void)user;
	fprintf(stderr, "generation %d:", (int)assignment->generation);
	for (int32_t i = 0; i < assignment->topic_count; i++)
		for (int32_t k = 0; k < assignment->partition_counts[i]; k++)
			fprintf(stderr, " %s-%d", assignment->topics[i], (int)assignment->partitions[i][k]);
	fputc('\n', stderr);
}

/* --- The consumer ------------------------------------------------------------------------------------------------- */

static void must(rg_err err, const rg_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "lag-assignor: %s\n", error->text);
	exit(err == RG_ERR_INVALID ? 2 : 1);
}

static void set(rg_conf *conf, const char *name, const char *value)
{
	rg_error error;

	must(rg_conf_set(conf, name, value, &error), &error);
}

/* What is not out must not be committed. */
static void print_record(const rd_kafka_message_t *record)
{
	printf("%s [%d] %lld\n", rd_kafka_topic_name(record->rkt), (int)record->partition, (long long)record->offset);
	if (ferror(stdout) || fflush(stdout)) {
		perror("lag-assignor: cannot write");
		_Exit(1);
	}
}

static void consume(rg_consumer *consumer, long work_ms)
{
	rg_error error;

	while (!stop && !rg_consumer_failed(consumer)) {
		rd_kafka_message_t *record = rg_consumer_poll(consumer, 100, &error);

		if (error.code)
			fprintf(stderr, "lag-assignor: %s\n", error.text);
		if (!record)
			continue;
		if (!record->err) {
			print_record(record);
			usleep((useconds_t)work_ms * 1000);
		}
		rd_kafka_message_destroy(record);
	}
}

static const char usage[] =
	"Usage: lag-assignor -b BOOTSTRAP -g GROUP -t TOPIC [-w MS_PER_RECORD] [-X KEY=VALUE]...";

int main(int argc, char **argv)
{
	rg_consumer *consumer = NULL; /* not there yet when the assignor is registered, but when it runs */
	const rg_assignor by_lag = {
		.size = sizeof(by_lag),
		.name = "lag",
		/* Members give up everything, and commit, before they join: the leader sees offsets of now. */
		.protocols = RG_EAGER,
		.assign = assign,
		.on_assignment = on_assignment,
	};
	rg_conf *conf = rg_conf_new();
	const char *topic = NULL;
	long work_ms = 0;
	rg_error error;
	char *value;
	int option, failed;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return rg_conf_free(conf), puts(usage) < 0 || fflush(stdout);
	must(conf ? rg_conf_add_assignor(conf, &by_lag, &consumer, &error) : RG_ERR_MEMORY, &error);
	set(conf, "partition.assignment.strategy", "lag");
	set(conf, "auto.offset.reset", "earliest");
	while ((option = getopt(argc, argv, "b:g:t:w:X:")) != -1) {
		if (option == 'b')
			set(conf, "bootstrap.servers", optarg);
		else if (option == 'g')
			set(conf, "group.id", optarg);
		else if (option == 't')
			topic = optarg;
		else if (option == 'X' && *optarg != '=' && strchr(optarg, '='))
			value = strchr(optarg, '='), *value = '\0', set(conf, optarg, value + 1);
		else if (option == 'w' && atol(optarg) >= 0 && atol(optarg) < 1000)
			work_ms = atol(optarg);
		else
			topic = NULL, optind = argc;
	}
	if (!topic) {
		fprintf(stderr, "%s\n", usage);
		rg_conf_free(conf);
		return 2;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	must(rg_consumer_new(&consumer, conf, &error), &error);
	must(rg_consumer_subscribe(consumer, &topic, 1, NULL, NULL, &error), &error);
	consume(consumer, work_ms);
	failed = rg_consumer_failed(consumer);
	rg_consumer_close(consumer, RG_CLOSE_LEAVE, 5000, NULL);
	rg_consumer_free(consumer);
	rg_conf_free(conf);
	return failed;
}
