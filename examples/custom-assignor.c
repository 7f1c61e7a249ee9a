/* SPDX-License-Identifier: Apache-2.0 */
/* How to write an assignor: one that shares partitions in proportion to a capacity each member states.
 *
 *   custom-assignor -b localhost:9092 -g group -t topic -C 3
 *
 * Members of a group whose capacities are 1 and 3 get a quarter and three quarters of the partitions. All of them must
 * offer this assignor; the group's leader runs it for everybody. */
#include <regroup/regroup.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY_MAX = 1000000, USERDATA_VERSION = 1, USERDATA_SIZE = 5 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* --- What a member says of itself --------------------------------------------------------------------------------- */

/* Called before every join. Other programs, and later versions of this one, will read these bytes: they begin with a
 * version and have a byte order. */
static int32_t write_capacity(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
                              void *user)
{
	uint32_t mine = *(const uint32_t *)user;
	const uint8_t bytes[USERDATA_SIZE] = {USERDATA_VERSION, (uint8_t)(mine >> 24), (uint8_t)(mine >> 16),
	                                      (uint8_t)(mine >> 8), (uint8_t)mine};

	(void)topics;
	(void)topic_count;
	if (capacity >= USERDATA_SIZE)
		memcpy(buffer, bytes, USERDATA_SIZE);
	return USERDATA_SIZE; /* if there was no room we are called again with enough */
}

/* The leader reads what others wrote, so nothing about it is certain. A member that makes no sense is not worth failing
 * the whole group: it counts as the smallest. */
static uint32_t read_capacity(rg_bytes userdata)
{
	const uint8_t *byte = userdata.data;
	uint32_t capacity;

	if (userdata.len < USERDATA_SIZE || byte[0] != USERDATA_VERSION)
		return 1;
	capacity = (uint32_t)byte[1] << 24 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 8 | byte[4];
	return capacity < 1 ? 1 : capacity > CAPACITY_MAX ? CAPACITY_MAX : capacity;
}

/* --- What the leader does ----------------------------------------------------------------------------------------- */

static int subscribes(const rg_group_member *member, int32_t topic)
{
	for (int32_t i = 0; i < member->topic_count; i++)
		if (member->topics[i] == topic)
			return 1;
	return 0;
}

/* The subscriber that would have the fewest partitions for its capacity if it had one more; the first of several.
 * Always the same answer for the same group, so that a new leader changes nothing. (To keep partitions where they are when the
 * group changes, look at `owned` as well.) */
static int32_t next_owner(const rg_group *group, int32_t topic, const int64_t *given, const uint32_t *capacities)
{
	int32_t best = -1;

	for (int32_t m = 0; m < group->member_count; m++) {
		if (!subscribes(&group->members[m], topic))
			continue;
		/* given/capacity compared without division: exact, and no number here is larger than 2^31 * 10^6. */
		if (best < 0 || (given[m] + 1) * capacities[best] < (given[best] + 1) * capacities[m])
			best = m;
	}
	return best;
}

static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	size_t count = (size_t)group->member_count;
	int64_t *given = calloc(count, sizeof(*given));
	uint32_t *capacities = calloc(count, sizeof(*capacities));
	rg_err err = given && capacities ? RG_OK : RG_ERR_MEMORY;

	(void)user;
	for (int32_t m = 0; !err && m < group->member_count; m++)
		capacities[m] = read_capacity(group->members[m].userdata);
	for (int32_t t = 0; !err && t < group->topic_count; t++)
		for (int32_t p = 0; !err && p < group->topics[t].partition_count; p++) {
			int32_t owner = next_owner(group, t, given, capacities); /* a topic here has a subscriber */

			err = rg_plan_give(plan, owner, t, p);
			if (!err)
				given[owner]++;
		}
	if (err) {
		error->code = err;
		snprintf(error->text, sizeof(error->text), "capacity assignor: %s for %zu members", rg_err_name(err), count);
	}
	free(given);
	free(capacities);
	return err;
}

/* --- What every member learns ------------------------------------------------------------------------------------- */

static void on_assignment(const rg_assignment *assignment, void *user)
{
	int partitions = 0;

	for (int32_t i = 0; i < assignment->topic_count; i++)
		partitions += assignment->partition_counts[i];
	fprintf(stderr, "generation %d: %d partitions for capacity %u\n", (int)assignment->generation, partitions,
	        (unsigned)*(const uint32_t *)user);
}

/* --- The consumer ------------------------------------------------------------------------------------------------- */

static void must(rg_err err, const rg_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "custom-assignor: %s\n", error->text);
	exit(err == RG_ERR_INVALID ? 2 : 1);
}

/* What is not out must not be committed. */
static void print_record(const rd_kafka_message_t *record)
{
	printf("%s [%d] %lld\n", rd_kafka_topic_name(record->rkt), (int)record->partition, (long long)record->offset);
	if (ferror(stdout) || fflush(stdout)) {
		perror("custom-assignor: cannot write");
		_Exit(1);
	}
}

static void consume(rg_consumer *consumer)
{
	rg_error error;

	while (!stop && !rg_consumer_failed(consumer)) {
		rd_kafka_message_t *record = rg_consumer_poll(consumer, 100, &error);

		if (error.code)
			fprintf(stderr, "custom-assignor: %s\n", error.text);
		if (!record)
			continue;
		if (!record->err)
			print_record(record);
		rd_kafka_message_destroy(record);
	}
}

static const char usage[] = "Usage: custom-assignor -b BOOTSTRAP -g GROUP -t TOPIC [-C CAPACITY]";

int main(int argc, char **argv)
{
	uint32_t capacity = 1;
	const rg_assignor by_capacity = {
		.size = sizeof(by_capacity),
		.name = "capacity", /* what members agree on */
		.protocols = RG_EAGER,
		.subscription_userdata = write_capacity,
		.assign = assign,
		.on_assignment = on_assignment,
	};
	rg_conf *conf = rg_conf_new();
	const char *topic = NULL;
	rg_consumer *consumer;
	rg_error error;
	int option, failed;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return rg_conf_free(conf), puts(usage) < 0 || fflush(stdout);
	must(conf ? rg_conf_add_assignor(conf, &by_capacity, &capacity, &error) : RG_ERR_MEMORY, &error);
	must(rg_conf_set(conf, "partition.assignment.strategy", "capacity", &error), &error);
	while ((option = getopt(argc, argv, "b:g:t:C:")) != -1) {
		if (option == 'b')
			must(rg_conf_set(conf, "bootstrap.servers", optarg, &error), &error);
		else if (option == 'g')
			must(rg_conf_set(conf, "group.id", optarg, &error), &error);
		else if (option == 't')
			topic = optarg;
		else if (option == 'C' && atol(optarg) >= 1 && atol(optarg) <= CAPACITY_MAX)
			capacity = (uint32_t)atol(optarg);
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
	consume(consumer);
	failed = rg_consumer_failed(consumer);
	rg_consumer_close(consumer, RG_CLOSE_LEAVE, 5000, NULL);
	rg_consumer_free(consumer);
	rg_conf_free(conf);
	return failed;
}
