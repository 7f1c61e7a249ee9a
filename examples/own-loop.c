/* SPDX-License-Identifier: Apache-2.0 */
/* rg_member in somebody else's event loop: poll(2) here, and it fits any that knows descriptors and timeouts.
 *
 *   own-loop -b localhost:9092 -g group [-n SHARDS]
 *
 * The members of the group share SHARDS numbers. The loop serves standard input beside the member: each line is
 * answered with the shards this process has at that moment; at its end the process leaves the group. */
#include <regroup/regroup.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARDS_MAX = 1024, LEAVE_MS = 5000, TEXT_MAX = 512 };

struct shards {
	rg_member *member;
	long count;
	long first, last; /* this process has these; first > last: none */
	bool leaving, left;
	bool failed;
};

static int stop_pipe[2]; /* a signal is one more thing a loop waits for */

static void on_signal(int number)
{
	ssize_t written = write(stop_pipe[1], "", 1);

	(void)number;
	(void)written; /* a full pipe wakes the loop just as well */
}

static void show(const struct shards *shards)
{
	if (shards->first > shards->last)
		puts("shards none");
	else
		printf("shards %ld-%ld\n", shards->first, shards->last);
	if (ferror(stdout) || fflush(stdout)) { /* whoever asked acts on it */
		perror("own-loop: cannot write");
		_Exit(1);
	}
}

/* --- The member --------------------------------------------------------------------------------------------------- */

/* As leader: everybody gets a range, written as "first last". */
static rg_err plan(struct shards *shards, const rg_member_event *event)
{
	size_t count = event->member_count;
	rg_member_share *plan = calloc(count, sizeof(*plan));
	char(*text)[64] = calloc(count, sizeof(*text));
	rg_err err = RG_ERR_MEMORY;

	for (size_t i = 0; plan && text && i < count; i++) {
		long first = shards->count * (long)i / (long)count, last = shards->count * ((long)i + 1) / (long)count - 1;
		int len = snprintf(text[i], sizeof(text[i]), "%ld %ld", first, last);

		plan[i] = (rg_member_share){event->members[i].member_id, {text[i], (size_t)len}};
	}
	if (plan && text)
		err = rg_member_assigned(shards->member, event->ticket, plan, count);
	free(plan);
	free(text);
	return err;
}

/* What another process wrote is checked before it is believed. */
static void take(struct shards *shards, rg_bytes share)
{
	char text[64] = "";
	long first, last;

	if (share.len < sizeof(text))
		memcpy(text, share.data ? share.data : "", share.len);
	shards->first = 0;
	shards->last = -1;
	if (sscanf(text, "%ld %ld", &first, &last) != 2)
		fprintf(stderr, "own-loop: the leader's share makes no sense; none are taken\n");
	else if (first >= 0 && last < SHARDS_MAX && first <= last) {
		shards->first = first;
		shards->last = last;
	}
	show(shards);
}

static void handle(struct shards *shards, const rg_member_event *event)
{
	rg_err err;

	switch (event->type) {
	case RG_MEMBER_PREPARE:
	case RG_MEMBER_LOST:
		/* Nothing of them may be touched once the answer is out. */
		shards->first = 0;
		shards->last = -1;
		rg_member_prepared(shards->member, event->ticket, NULL, 0, 0);
		break;
	case RG_MEMBER_ASSIGN:
		if ((err = plan(shards, event)))
			rg_member_assign_failed(shards->member, event->ticket, RG_ERR_ASSIGNOR, rg_err_name(err));
		break;
	case RG_MEMBER_COMPLETE:
		take(shards, event->assignment);
		break;
	case RG_MEMBER_ERROR:
		fprintf(stderr, "own-loop: %s\n", event->error.text);
		shards->failed = event->fatal;
		if (!event->fatal)
			rg_member_retry(shards->member);
		break;
	case RG_MEMBER_LEFT:
		shards->left = true;
		break;
	}
}

static void leave(struct shards *shards)
{
	if (shards->leaving)
		return;
	shards->leaving = true;
	shards->left = rg_member_leave(shards->member, RG_LEAVE_DEFAULT, "done", LEAVE_MS) != RG_OK;
}

/* --- The loop ----------------------------------------------------------------------------------------------------- */

static void serve_input(struct shards *shards)
{
	char text[TEXT_MAX];
	ssize_t count = read(STDIN_FILENO, text, sizeof(text));

	if (count <= 0)
		leave(shards);
	for (ssize_t i = 0; i < count; i++)
		if (text[i] == '\n')
			show(shards);
}

static void loop(struct shards *shards)
{
	while (!shards->left && !shards->failed) {
		struct pollfd fds[] = {
			{.fd = rg_member_fd(shards->member), .events = POLLIN},
			{.fd = stop_pipe[0], .events = POLLIN},
			/* A negative descriptor is one that poll does not look at. */
			{.fd = shards->leaving ? -1 : STDIN_FILENO, .events = POLLIN},
		};
		rg_member_event *event;

		/* The timeout changes with everything that happens, so it is asked for each time. */
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), rg_member_timeout_ms(shards->member)) > 0) {
			if (fds[1].revents)
				leave(shards);
			if (fds[2].revents)
				serve_input(shards);
		}
		rg_member_dispatch(shards->member);
		rg_member_poll(shards->member);
		while ((event = rg_member_next(shards->member))) {
			handle(shards, event);
			rg_member_event_free(event);
		}
	}
}

static void must(rg_err err, const rg_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "own-loop: %s\n", error->text);
	exit(err == RG_ERR_INVALID ? 2 : 1);
}

static const char usage[] = "Usage: own-loop -b BOOTSTRAP -g GROUP [-n SHARDS]";

static void read_options(struct shards *shards, rg_conf *conf, int argc, char **argv)
{
	rg_error error;
	int option;

	while ((option = getopt(argc, argv, "b:g:n:")) != -1) {
		if (option == 'b')
			must(rg_conf_set(conf, "bootstrap.servers", optarg, &error), &error);
		else if (option == 'g')
			must(rg_conf_set(conf, "group.id", optarg, &error), &error);
		else if (option == 'n' && atol(optarg) >= 1 && atol(optarg) <= SHARDS_MAX)
			shards->count = atol(optarg);
		else
			shards->count = 0, optind = argc;
	}
	if (shards->count)
		return;
	fprintf(stderr, "%s\n", usage);
	exit(2);
}

int main(int argc, char **argv)
{
	struct shards shards = {.count = 12, .last = -1};
	const rg_member_protocol protocol = {.name = "shards"};
	static rg_conf *conf; /* must() may end the program at any point */
	rg_error error;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return puts(usage) < 0 || fflush(stdout);
	conf = rg_conf_new();
	must(conf ? RG_OK : RG_ERR_MEMORY, &(rg_error){.text = "out of memory"});
	read_options(&shards, conf, argc, argv);
	if (pipe(stop_pipe))
		return perror("own-loop: pipe"), 1;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	must(rg_member_new(&shards.member, conf, "own-loop", &error), &error);
	rg_conf_free(conf);
	must(rg_member_join(shards.member, &protocol, 1, &error), &error);
	loop(&shards);
	rg_member_free(shards.member);
	return shards.failed;
}
