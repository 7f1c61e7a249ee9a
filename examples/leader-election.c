/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election by a consumer group, without topics or records: a protocol type of its own on rg_member.
 *
 *   leader-election -b localhost:9092 -g service -n host-17 [-s SESSION_MS]
 *
 * One process of all that name the group leads; when it goes, or is silent for a session, another one does. Prints
 * "leading" or "following NAME" when the group has decided, and "waiting" before it does so again.
 *
 * What it is good for: work that should be done by one, and may be done twice for a moment. What it cannot do: see to it
 * that there is never more than one. A leader that hangs (a debugger, a suspended machine, a slow disk) does not know that
 * its session is over until it runs again, and until then does its work beside the new leader. A generation is no fencing
 * token against that: it begins anew when the group has been empty for long enough, and nobody outside the group checks
 * it. What must not be done twice needs a token of the system it is done in, such as a transactional id, a lock with a
 * fence, or a compare-and-set. */
#include <regroup/regroup.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TICK_MS = 500, LEAVE_MS = 5000 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct election {
	rg_member *member;
	const char *name;
	bool left;
	bool failed;
};

static void say(const char *what, rg_bytes name)
{
	printf("%s%s%.*s\n", what, name.len ? " " : "", (int)name.len, name.len ? (const char *)name.data : "");
	if (ferror(stdout) || fflush(stdout)) { /* whoever reads this acts on it: nobody must lead unheard */
		perror("leader-election: cannot write");
		_Exit(1);
	}
}

/* The group's leader is the one that its coordinator asks for a plan. The plan is who that is, the same for everybody. */
static void plan(struct election *election, const rg_member_event *event)
{
	rg_member_share *shares = calloc(event->member_count, sizeof(*shares));
	rg_err err = shares ? RG_OK : RG_ERR_MEMORY;

	for (size_t i = 0; shares && i < event->member_count; i++)
		shares[i] = (rg_member_share){event->members[i].member_id, {election->name, strlen(election->name)}};
	if (!err)
		err = rg_member_assigned(election->member, event->ticket, shares, event->member_count);
	if (err)
		rg_member_assign_failed(election->member, event->ticket, RG_ERR_ASSIGNOR, rg_err_name(err));
	free(shares);
}

static void handle(struct election *election, const rg_member_event *event)
{
	switch (event->type) {
	case RG_MEMBER_PREPARE:
	case RG_MEMBER_LOST:
		/* Who led stops before it says so: after the answer somebody else may begin. */
		say("waiting", (rg_bytes){NULL, 0});
		rg_member_prepared(election->member, event->ticket, NULL, 0, 0);
		break;
	case RG_MEMBER_ASSIGN:
		plan(election, event);
		break;
	case RG_MEMBER_COMPLETE:
		if (event->is_leader)
			say("leading", (rg_bytes){NULL, 0});
		else
			say("following", event->assignment); /* bytes of another process: only ever printed */
		break;
	case RG_MEMBER_ERROR:
		fprintf(stderr, "leader-election: %s\n", event->error.text);
		election->failed = event->fatal;
		if (!event->fatal)
			rg_member_retry(election->member);
		break;
	case RG_MEMBER_LEFT:
		election->left = true;
		break;
	}
}

static void work(struct election *election)
{
	rg_member_event *event;

	rg_member_wait(election->member, TICK_MS);
	rg_member_poll(election->member); /* this program lives; a leader's work would be done here, in small pieces */
	while ((event = rg_member_next(election->member))) {
		handle(election, event);
		rg_member_event_free(event);
	}
}

static void must(rg_err err, const rg_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "leader-election: %s\n", error->text);
	exit(err == RG_ERR_INVALID ? 2 : 1);
}

static const char usage[] = "Usage: leader-election -b BOOTSTRAP -g GROUP -n NAME [-s SESSION_MS]";

int main(int argc, char **argv)
{
	struct election election = {.name = NULL};
	rg_member_protocol protocol = {.name = "one-leader"};
	static rg_conf *conf; /* must() may end the program at any point */
	rg_error error;
	int option;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return puts(usage) < 0 || fflush(stdout);
	conf = rg_conf_new();
	must(conf ? RG_OK : RG_ERR_MEMORY, &(rg_error){.text = "out of memory"});
	while ((option = getopt(argc, argv, "b:g:n:s:")) != -1) {
		if (option == 'n')
			election.name = optarg;
		else if (option == 'b' || option == 'g' || option == 's')
			must(rg_conf_set(conf, option == 'b' ? "bootstrap.servers" : option == 'g' ? "group.id" : "session.timeout.ms",
			                 optarg, &error), &error);
		else
			election.name = NULL, optind = argc;
	}
	if (!election.name || !election.name[0]) {
		fprintf(stderr, "%s\n", usage);
		rg_conf_free(conf);
		return 2;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	/* The type keeps consumers, and whatever else there is, out of this group. */
	must(rg_member_new(&election.member, conf, "leader-election", &error), &error);
	rg_conf_free(conf);
	protocol.metadata = (rg_bytes){election.name, strlen(election.name)};
	must(rg_member_join(election.member, &protocol, 1, &error), &error);
	while (!stop && !election.failed)
		work(&election);
	if (!rg_member_leave(election.member, RG_LEAVE_DEFAULT, "stopped", LEAVE_MS))
		while (!election.left)
			work(&election);
	rg_member_free(election.member);
	return election.failed;
}
