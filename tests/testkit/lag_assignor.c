/* SPDX-License-Identifier: Apache-2.0 */
/* The lesson about an assignor that asks before it decides (examples/lag-assignor.c), as a program on the embedded
 * cluster: what it makes of the lags, and what happens when the answers are slow. */
#include "base/bytes.h"
#include "crew.h"
#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { HEARTBEAT = 12, LIST_OFFSETS = 2, SESSION_MS = 1000 };

/* One program, and what it says on stderr. */
struct program {
	pid_t pid;
	int fd;
	struct rg__buf out;
	char line[512]; /* the newest */
};

static struct program one, two;

static void start(void)
{
	crew_cluster("t:4", 1);
}

static void end_program(struct program *program)
{
	int status;

	if (!program->pid)
		return;
	kill(program->pid, SIGTERM);
	ck_assert_int_eq(waitpid(program->pid, &status, 0), program->pid);
	close(program->fd);
	rg__buf_free(&program->out);
	memset(program, 0, sizeof(*program));
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ended with status %d", status);
}

static void end(void)
{
	end_program(&one);
	end_program(&two);
	crew_end();
}

static void run(struct program *program)
{
	char bootstrap[256], *argv[] = {getenv("LAG_ASSIGNOR"), "-b", bootstrap, "-g", "g", "-t", "t", "-w", "100",
	                                "-X", "session.timeout.ms=1000", "-X", "heartbeat.interval.ms=200", NULL};
	posix_spawn_file_actions_t files;
	int out[2];

	ck_assert_msg(argv[0] != NULL, "LAG_ASSIGNOR must name the program");
	snprintf(bootstrap, sizeof(bootstrap), "%s", rg_testkit_bootstrap(kit));
	ck_assert(!pipe2(out, O_CLOEXEC));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 2);
	*program = (struct program){.fd = out[0]};
	ck_assert_int_eq(posix_spawn(&program->pid, argv[0], &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	close(out[1]);
}

/* Reads on until a line that has `part` in it, which is program->line then. */
static const char *until(struct program *program, const char *part)
{
	for (;;) {
		const uint8_t *newline = program->out.len ? memchr(program->out.data, '\n', program->out.len) : NULL;
		struct pollfd ready = {.fd = program->fd, .events = POLLIN};
		ssize_t got;

		if (newline) {
			size_t len = (size_t)(newline - program->out.data);

			snprintf(program->line, sizeof(program->line), "%.*s", (int)len, (const char *)program->out.data);
			rg__buf_consume(&program->out, len + 1);
			if (strstr(program->line, part))
				return program->line;
			continue;
		}
		ck_assert_msg(poll(&ready, 1, WITHIN_MS) == 1, "not said: \"%s\"; last: %s", part, program->line);
		ck_assert(rg__buf_reserve(&program->out, 4096));
		got = read(program->fd, program->out.data + program->out.len, 4096);
		ck_assert_msg(got > 0, "it ended without: \"%s\"; last: %s", part, program->line);
		program->out.len += (size_t)got;
	}
}

/* Both have said what they got in this generation: these two shares, in either order, as member ids are random. */
static void shared(const char *generation, const char *a, const char *b)
{
	const char *first = until(&one, generation) + strlen(generation);
	const char *second = until(&two, generation) + strlen(generation);

	ck_assert_msg((!strcmp(first, a) && !strcmp(second, b)) || (!strcmp(first, b) && !strcmp(second, a)),
	              "shared as \"%s\" and \"%s\"", first, second);
}

/* Differences so large that it does not matter which few records the first one reads before the second one comes. */
static void fill(void)
{
	static const int counts[] = {1000, 400, 300, 200};

	for (int partition = 0; partition < 4; partition++)
		produce("t", partition, counts[partition]);
}

START_TEST(as_much_to_do_for_each)
{
	fill();
	run(&one);
	until(&one, "generation 1: t-0 t-1 t-2 t-3");
	run(&two);
	shared("generation 2:", " t-0", " t-1 t-2 t-3");
}
END_TEST

/* Somebody was there before and has read the first partition up to `offset`, of the others nothing. */
static void read_before(int64_t offset)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(4);
	struct actor before;
	rg_error error;

	for (int partition = 0; partition < 4; partition++)
		rd_kafka_topic_partition_list_add(list, "t", partition)->offset = partition ? 0 : offset;
	crew_join(&before, "before", "t");
	crew_until(before.owned == 4, &before);
	OK(rg_consumer_commit(before.consumer, list, WITHIN_MS, &error));
	rd_kafka_topic_partition_list_destroy(list);
	crew_close(&before, RG_CLOSE_LEAVE);
	run(&one);
	until(&one, "generation 3: t-0 t-1 t-2 t-3");
}

/* What counts is what is left to be read, by whomever. */
START_TEST(what_is_committed_is_no_lag)
{
	fill();
	read_before(990);
	run(&two);
	/* Of 10, 400, 300 and 200: who looked at the ends alone would give the first to one and the others to the other. */
	shared("generation 4:", " t-0 t-1", " t-2 t-3");
}
END_TEST

/* The answers come after more than a session timeout, and nobody has lost its seat. */
START_TEST(heartbeats_go_on_while_it_asks)
{
	int64_t beats, until_ms;
	char text[256];
	rg_error error;
	int hold;

	fill();
	read_before(0); /* so that fetching asks for no offsets: the next to ask is the assignor */
	OK(rg_testkit_hold_request(kit, LIST_OFFSETS, 1, false, &hold, &error));
	run(&two);
	OK(rg_testkit_wait_held(kit, hold, WITHIN_MS, &error));
	beats = rg_testkit_request_count(kit, HEARTBEAT);
	until_ms = now_ms() + 2 * SESSION_MS;
	while (now_ms() < until_ms) {
		OK(rg_testkit_describe_group(kit, "g", text, sizeof(text), &error));
		ck_assert_msg(strstr(text, "AwaitingSync gen=4 "), "while the leader asks: %s", text);
		poll(NULL, 0, 50);
	}
	ck_assert_int_ge(rg_testkit_request_count(kit, HEARTBEAT) - beats, 4);
	OK(rg_testkit_release(kit, hold, &error));
	shared("generation 4:", " t-0", " t-1 t-2 t-3");
}
END_TEST

START_TEST(without_an_answer_by_number)
{
	rg_error error;
	int hold;

	fill();
	read_before(0); /* so that fetching asks for no offsets: the next to ask is the assignor */
	OK(rg_testkit_hold_request(kit, LIST_OFFSETS, 1, false, &hold, &error));
	run(&two);
	until(&one, "the lags are not known, so partitions are shared by number");
	shared("generation 4:", " t-0 t-2", " t-1 t-3");
	OK(rg_testkit_release(kit, hold, &error));
}
END_TEST

static void fill_case(TCase *tcase)
{
	tcase_add_test(tcase, as_much_to_do_for_each);
	tcase_add_test(tcase, what_is_committed_is_no_lag);
	tcase_add_test(tcase, heartbeats_go_on_while_it_asks);
	tcase_add_test(tcase, without_an_answer_by_number);
}

int main(void)
{
	return run_suite("lag-assignor", fill_case, start, end);
}
