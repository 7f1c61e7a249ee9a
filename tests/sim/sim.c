/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a schedule of faults that breaks a promise.
 *
 *     sim [--seeds FROM-TO] [--jobs N]      runs them all; a failing one is shrunk and printed
 *     sim --seed N [--events FILE|-] [--schedule] [--whole]
 *     sim --seeds-file FILE                 a seed at the start of each line, then its reason
 */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct totals {
	long runs, broken, completes, losts, joins, requests, grey, most_requests_per_second;
	int64_t longest_settle_us;
};

static void add(struct totals *totals, const struct result *result)
{
	totals->runs++;
	totals->broken += result->broken[0] != '\0';
	totals->completes += result->completes;
	totals->losts += result->losts;
	totals->joins += result->joins;
	totals->requests += result->requests;
	totals->grey += result->grey;
	if (result->most_requests_per_second > totals->most_requests_per_second)
		totals->most_requests_per_second = result->most_requests_per_second;
	if (result->settled_after_us > totals->longest_settle_us)
		totals->longest_settle_us = result->settled_after_us;
}

static void merge(struct totals *all, const struct totals *part)
{
	all->runs += part->runs;
	all->broken += part->broken;
	all->completes += part->completes;
	all->losts += part->losts;
	all->joins += part->joins;
	all->requests += part->requests;
	all->grey += part->grey;
	if (part->most_requests_per_second > all->most_requests_per_second)
		all->most_requests_per_second = part->most_requests_per_second;
	if (part->longest_settle_us > all->longest_settle_us)
		all->longest_settle_us = part->longest_settle_us;
}

/* The same kind of failure: the first words are the same, numbers aside. */
static bool alike(const char *a, const char *b)
{
	while (*a && *b) {
		a += strspn(a, "0123456789-");
		b += strspn(b, "0123456789-");
		if (*a != *b)
			return false;
		if (*a == '(' || *a == ':' || !*a)
			return true;
		a++;
		b++;
	}
	return *a == *b;
}

/* Leaves out lines, first many at a time, as long as it still breaks in the same way. */
static void shrink(uint64_t seed, struct script *script, struct result *result)
{
	struct result tried;

	for (int chunk = script->count / 2; chunk >= 1; chunk /= 2)
		for (int at = 0; at + chunk <= script->count;) {
			struct script less = *script;

			memmove(&less.lines[at], &less.lines[at + chunk], (size_t)(less.count - at - chunk) * sizeof(less.lines[0]));
			less.count -= chunk;
			run(seed, &less, NULL, NULL, &tried);
			if (tried.broken[0] && alike(tried.broken, result->broken)) {
				*script = less;
				*result = tried;
			} else {
				at += chunk;
			}
		}
}

static void tell(uint64_t seed, struct script *script, struct result *result, bool whole)
{
	if (!whole)
		shrink(seed, script, result);
	printf("seed %llu: %s\n", (unsigned long long)seed, result->broken);
	for (int i = 0; i < script->count; i++)
		script_print(&script->lines[i], stdout);
	fflush(stdout);
}

static void run_seed(uint64_t seed, struct totals *totals)
{
	struct result result;
	struct script script;

	run(seed, NULL, &script, NULL, &result);
	add(totals, &result);
	if (result.broken[0])
		tell(seed, &script, &result, false);
}

/* Every n-th seed, in a process of its own. */
static void run_part(uint64_t from, uint64_t to, int part, int jobs, int out)
{
	struct totals totals = {0};

	for (uint64_t seed = from + (uint64_t)part; seed <= to && totals.broken < 5; seed += (uint64_t)jobs)
		run_seed(seed, &totals);
	fflush(stdout);
	_exit(write(out, &totals, sizeof(totals)) == (ssize_t)sizeof(totals) ? 0 : 1);
}

static void print_totals(const struct totals *totals)
{
	printf("%ld runs, %ld broken: %ld rebalances completed, %ld times lost, %ld JoinGroups, %ld requests, at most %ld in a "
	       "second; settled at most %.1f s after the faults; %ld overlaps where no client can know better\n",
	       totals->runs, totals->broken, totals->completes, totals->losts, totals->joins, totals->requests,
	       totals->most_requests_per_second, (double)totals->longest_settle_us / 1e6, totals->grey);
}

static int run_range(uint64_t from, uint64_t to, int jobs)
{
	struct totals all = {0};
	int pipes[2];
	bool failed = false;

	if (pipe(pipes))
		return EXIT_FAILURE;
	fflush(stdout);
	for (int part = 0; part < jobs; part++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(pipes[0]);
			run_part(from, to, part, jobs, pipes[1]);
		}
		failed = failed || pid < 0;
	}
	close(pipes[1]);
	for (struct totals part; read(pipes[0], &part, sizeof(part)) == (ssize_t)sizeof(part);)
		merge(&all, &part);
	close(pipes[0]);
	for (int status; wait(&status) > 0;)
		failed = failed || status != 0;
	print_totals(&all);
	if (failed)
		printf("a process of the simulation ended badly\n");
	return failed || all.broken || all.runs < (long)(to - from + 1) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_file(const char *path)
{
	struct totals totals = {0};
	FILE *file = fopen(path, "r");
	char line[300];

	if (!file) {
		fprintf(stderr, "sim: %s cannot be read\n", path);
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), file)) {
		char *end;
		unsigned long long seed = strtoull(line, &end, 10);

		if (end != line)
			run_seed(seed, &totals);
	}
	fclose(file);
	print_totals(&totals);
	return totals.broken || !totals.runs ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_one(uint64_t seed, const char *events_path, bool schedule, bool whole)
{
	FILE *events = !events_path ? NULL : strcmp(events_path, "-") == 0 ? stdout : fopen(events_path, "w");
	struct result result;
	struct script script;

	if (events_path && !events) {
		fprintf(stderr, "sim: %s cannot be written\n", events_path);
		return EXIT_FAILURE;
	}
	run(seed, NULL, &script, events, &result);
	if (events && events != stdout)
		fclose(events);
	if (schedule)
		for (int i = 0; i < script.count; i++)
			script_print(&script.lines[i], stdout);
	if (result.broken[0])
		tell(seed, &script, &result, whole);
	else if (events != stdout)
		printf("seed %llu: everything holds; %ld rebalances completed, %ld requests, settled after %.1f s\n",
		       (unsigned long long)seed, result.completes, result.requests, (double)result.settled_after_us / 1e6);
	return result.broken[0] ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	uint64_t from = 1, to = 500, seed = 0;
	const char *events = NULL, *file = NULL;
	bool one = false, schedule = false, whole = false;
	int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--schedule") == 0) {
			schedule = true;
			continue;
		}
		if (strcmp(argv[i], "--whole") == 0) {
			whole = true;
			continue;
		}
		if (value && strcmp(argv[i], "--seed") == 0) {
			seed = strtoull(value, NULL, 10);
			one = true;
		} else if (value && strcmp(argv[i], "--events") == 0) {
			events = value;
		} else if (value && strcmp(argv[i], "--seeds-file") == 0) {
			file = value;
		} else if (value && strcmp(argv[i], "--jobs") == 0) {
			jobs = atoi(value);
		} else if (!value || strcmp(argv[i], "--seeds") != 0 ||
		           sscanf(value, "%llu-%llu", (unsigned long long *)&from, (unsigned long long *)&to) != 2) {
			fprintf(stderr, "usage: sim [--seeds FROM-TO] [--jobs N] | --seed N [--events FILE|-] [--schedule] [--whole] | "
			                "--seeds-file FILE\n");
			return 2;
		}
		i++;
	}
	if (file)
		return run_file(file);
	if (one)
		return run_one(seed, events, schedule, whole);
	return run_range(from, to, jobs > 0 ? jobs : 1);
}
