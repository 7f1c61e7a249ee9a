/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign client takes the embedded cluster for a real one: kcat, which is librdkafka's own consumer group code. */
#include "client.h"
#include "codec/offset_fetch.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regroup/testkit.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 30000, ARGS_MAX = 24 };

static rg_testkit *kit;
static char bootstrap[256];

/* One kcat: what it prints, on stdout and stderr together, line by line. */
struct kcat {
	pid_t pid;
	int fd;
	struct rg__buf out;
	char line[4096];
};

static void start(void)
{
	rg_testkit_conf conf;
	rg_error error = {0};

	rg_testkit_conf_init(&conf, sizeof(conf));
	conf.topics = "t:3,empty:1";
	conf.broker_count = 2;
	ck_assert_msg(!rg_testkit_new(&kit, &conf, &error), "%s", error.text);
	snprintf(bootstrap, sizeof(bootstrap), "%s", rg_testkit_bootstrap(kit));
}

static void end(void)
{
	rg_testkit_free(kit);
	kit = NULL;
}

/* Runs kcat -b BOOTSTRAP and what `args` holds; `input` (may be NULL) is its stdin. */
static void run(struct kcat *kcat, const char *input, const char *args)
{
	char *argv[ARGS_MAX] = {"kcat", "-b", bootstrap}, text[512];
	int argc = 3, out[2], in[2];
	posix_spawn_file_actions_t files;

	snprintf(text, sizeof(text), "%s", args);
	for (char *arg = strtok(text, " "); arg && argc < ARGS_MAX - 1; arg = strtok(NULL, " "))
		argv[argc++] = arg;
	ck_assert(!pipe2(out, O_CLOEXEC) && !pipe2(in, O_CLOEXEC));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in[0], 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	posix_spawn_file_actions_adddup2(&files, out[1], 2);
	*kcat = (struct kcat){.fd = out[0]};
	ck_assert_int_eq(posix_spawnp(&kcat->pid, "kcat", &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	close(in[0]);
	close(out[1]);
	if (input)
		ck_assert_int_eq(write(in[1], input, strlen(input)), (ssize_t)strlen(input));
	close(in[1]);
}

/* The next line it prints, in kcat->line; false: it has nothing more to say. */
static bool next_line(struct kcat *kcat)
{
	for (;;) {
		const uint8_t *newline = kcat->out.len ? memchr(kcat->out.data, '\n', kcat->out.len) : NULL;
		struct pollfd ready = {.fd = kcat->fd, .events = POLLIN};
		ssize_t got;

		if (newline) {
			size_t len = (size_t)(newline - kcat->out.data);

			snprintf(kcat->line, sizeof(kcat->line), "%.*s", (int)len, (const char *)kcat->out.data);
			rg__buf_consume(&kcat->out, len + 1);
			return true;
		}
		ck_assert_msg(poll(&ready, 1, PATIENCE_MS) == 1, "kcat said nothing for %d ms; last: %s", PATIENCE_MS,
			      kcat->line);
		ck_assert(rg__buf_reserve(&kcat->out, 4096));
		got = read(kcat->fd, kcat->out.data + kcat->out.len, 4096);
		if (got <= 0)
			return false;
		kcat->out.len += (size_t)got;
	}
}

static void wait_line(struct kcat *kcat, const char *part)
{
	do
		ck_assert_msg(next_line(kcat), "kcat ended without: %s", part);
	while (!strstr(kcat->line, part));
}

static void finish(struct kcat *kcat, int signal_number)
{
	int status;

	if (signal_number)
		kill(kcat->pid, signal_number);
	while (next_line(kcat))
		;
	ck_assert_int_eq(waitpid(kcat->pid, &status, 0), kcat->pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "kcat ended with status %d; last: %s", status,
		      kcat->line);
	close(kcat->fd);
	rg__buf_free(&kcat->out);
}

START_TEST(it_sees_one_consistent_cluster)
{
	struct kcat kcat;
	char expected[128];

	run(&kcat, NULL, "-L");
	wait_line(&kcat, " 2 brokers:");
	for (int broker = 1; broker <= 2; broker++) {
		snprintf(expected, sizeof(expected), "broker %d at 127.0.0.1:%d", broker, rg_testkit_port(kit, broker));
		wait_line(&kcat, expected);
	}
	wait_line(&kcat, "topic \"t\" with 3 partitions:");
	wait_line(&kcat, "partition 0, leader 1");
	wait_line(&kcat, "partition 1, leader 2");
	wait_line(&kcat, "topic \"empty\" with 1 partitions:");
	finish(&kcat, 0);
}
END_TEST

START_TEST(what_it_writes_it_reads)
{
	struct kcat kcat;
	static const char *const acks[] = {"all", "1", "0"};
	char args[128];

	for (int i = 0; i < 3; i++) {
		snprintf(args, sizeof(args), "-P -t t -p %d -X acks=%s", i, acks[i]);
		run(&kcat, "one\ntwo\nthree\n", args);
		finish(&kcat, 0);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(args, sizeof(args), "-C -u -q -t t -p %d -o beginning -c 3", i);
		run(&kcat, NULL, args);
		wait_line(&kcat, "one");
		wait_line(&kcat, "two");
		wait_line(&kcat, "three");
		finish(&kcat, 0);
	}
}
END_TEST

static int64_t committed_sum(const char *group)
{
	struct rg__offset_fetch_request_group wanted = {
		.group_id = rg__bytes_of(group), .member_epoch = -1, .topics = RG__NULL_ARRAY};
	struct rg__offset_fetch_request request;
	const struct rg__offset_fetch_response *answer;
	const struct rg__offset_fetch_response_group *result;
	struct client client;
	int64_t sum = 0;

	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.groups = (struct rg__array){&wanted, 1};
	client_open(&client, rg_testkit_port(kit, rg_testkit_coordinator(kit, group)));
	answer = client_ask(&client, RG__API_OFFSET_FETCH, 9, &request);
	result = RG__ITEMS(struct rg__offset_fetch_response_group, answer->groups);
	for (int32_t t = 0; t < result->topics.count; t++) {
		const struct rg__offset_fetch_response_group_topic *topic =
			&RG__ITEMS(struct rg__offset_fetch_response_group_topic, result->topics)[t];

		for (int32_t p = 0; p < topic->partitions.count; p++)
			sum += RG__ITEMS(struct rg__offset_fetch_response_group_topic_partition,
					 topic->partitions)[p].committed_offset;
	}
	client_close(&client);
	return sum;
}

/* scenarios J.162 as librdkafka does it: 79, then join, sync, fetch, commit, leave. */
START_TEST(it_joins_consumes_and_commits)
{
	struct kcat kcat;
	bool seen[30] = {false};

	ck_assert(!rg_testkit_produce(kit, "t", -1, "record-", 0, 30, NULL));
	run(&kcat, NULL, "-u -q -X auto.offset.reset=earliest -c 30 -G g t");
	for (int count = 0; count < 30; count++) {
		int number = -1;

		do
			ck_assert_msg(next_line(&kcat), "kcat ended after %d records", count);
		while (sscanf(kcat.line, "record-%d", &number) != 1);
		ck_assert(number >= 0 && number < 30 && !seen[number]);
		seen[number] = true;
	}
	finish(&kcat, 0);
	ck_assert(!rg_testkit_wait(kit, "*\"error\":\"MEMBER_ID_REQUIRED\"*", 1000, NULL));
	ck_assert(!rg_testkit_wait(kit, "*\"to\":\"Stable\"*", 1000, NULL));
	ck_assert(!rg_testkit_wait(kit, "*\"to\":\"Empty\"*", 1000, NULL));
	ck_assert_int_eq(committed_sum("g"), 30);

	/* The next one goes on where it stopped. */
	ck_assert(!rg_testkit_produce(kit, "t", 1, "more-", 0, 1, NULL));
	run(&kcat, NULL, "-u -q -X auto.offset.reset=earliest -c 1 -G g t");
	ck_assert(next_line(&kcat));
	ck_assert_str_eq(kcat.line, "more-0");
	finish(&kcat, 0);
	ck_assert_int_eq(committed_sum("g"), 31);
}
END_TEST

static int count_of(const char *text, const char *part)
{
	int count = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

START_TEST(two_share_and_the_one_that_stays_gets_all)
{
	struct kcat one, two;
	int of_two;

	run(&one, NULL, "-u -X heartbeat.interval.ms=200 -G g t");
	wait_line(&one, "assigned:");
	ck_assert_int_eq(count_of(one.line, "t ["), 3);
	run(&two, NULL, "-u -X heartbeat.interval.ms=200 -G g t");
	wait_line(&one, "revoked:");
	wait_line(&one, "assigned:");
	wait_line(&two, "assigned:");
	of_two = count_of(two.line, "t [");
	ck_assert_int_eq(count_of(one.line, "t [") + of_two, 3);
	ck_assert(of_two == 1 || of_two == 2);
	for (int p = 0; p < 3; p++) {
		char name[16];

		snprintf(name, sizeof(name), "t [%d]", p);
		ck_assert_int_eq(count_of(one.line, name) + count_of(two.line, name), 1);
	}
	finish(&two, SIGTERM);
	wait_line(&one, "revoked:");
	wait_line(&one, "assigned:");
	ck_assert_int_eq(count_of(one.line, "t ["), 3);
	finish(&one, SIGTERM);
	ck_assert(!rg_testkit_wait(kit, "*\"from\":\"PreparingRebalance\",\"to\":\"Empty\"*", PATIENCE_MS, NULL));
}
END_TEST

/* The coordinator moves under a member's feet: it looks for the new one and stays in its generation. */
START_TEST(it_follows_the_coordinator)
{
	struct kcat kcat;
	int32_t from = rg_testkit_coordinator(kit, "g");
	int64_t joins, lookups;
	char text[256];

	run(&kcat, NULL, "-u -X heartbeat.interval.ms=200 -G g t");
	/* Until it fetches: kcat ends when the fetch of its offsets hears 16. */
	for (int p = 0; p < 3; p++)
		wait_line(&kcat, "Reached end of topic t");
	joins = rg_testkit_request_count(kit, RG__API_JOIN_GROUP);
	lookups = rg_testkit_request_count(kit, RG__API_FIND_COORDINATOR);
	ck_assert(!rg_testkit_move_coordinator(kit, "g", 3 - from, true, 0, NULL));
	for (int i = 0; rg_testkit_request_count(kit, RG__API_FIND_COORDINATOR) == lookups; i++) {
		ck_assert_int_lt(i, PATIENCE_MS / 10);
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	/* It beats on there: the group stays Stable for longer than it takes to miss it. */
	{
		int64_t beats = rg_testkit_request_count(kit, RG__API_HEARTBEAT);

		for (int i = 0; rg_testkit_request_count(kit, RG__API_HEARTBEAT) < beats + 5; i++) {
			ck_assert_int_lt(i, PATIENCE_MS / 10);
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		}
	}
	ck_assert(!rg_testkit_describe_group(kit, "g", text, sizeof(text), NULL));
	ck_assert_msg(!strncmp(text, "Stable gen=1", 12), "%s", text);
	ck_assert_int_eq(rg_testkit_request_count(kit, RG__API_JOIN_GROUP), joins);
	finish(&kcat, SIGTERM);
}
END_TEST

static void fill(TCase *tcase)
{
	tcase_add_test(tcase, it_sees_one_consistent_cluster);
	tcase_add_test(tcase, what_it_writes_it_reads);
	tcase_add_test(tcase, it_joins_consumes_and_commits);
	tcase_add_test(tcase, two_share_and_the_one_that_stays_gets_all);
	tcase_add_test(tcase, it_follows_the_coordinator);
}

static bool have_kcat(void)
{
	char *argv[] = {"kcat", "-V", NULL};
	posix_spawn_file_actions_t files;
	pid_t pid;
	int status, failed;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	failed = posix_spawnp(&pid, "kcat", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return !failed && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(void)
{
	if (!have_kcat()) {
		fprintf(stderr, "SKIPPED: no kcat here, so nothing shows that a foreign client can use the cluster\n");
		return 77;
	}
	return run_suite("front_kcat", fill, start, end);
}
