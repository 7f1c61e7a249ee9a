/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a schedule of faults that breaks a promise.
 *
 *     sim [--seeds FROM-TO] [--jobs N]      runs them all; a failing one is shrunk and printed
 *     sim --seed N [--events FILE|-] [--schedule] [--whole] [--first-edition]
 *     sim --seeds-file FILE                 a seed at the start of each line, then its reason; with * of the first edition
 *     sim-mutants [--seeds FROM-TO] [--mutant N]   (another build) for each deliberate mistake, after how many seeds it is found
 */
#include "run.h"

#ifdef WITH_MUTANTS
#include "mutant.h"
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct totals {
	long runs, broken, completes, losts, joins, requests, grey, most_requests_per_second, fences, calm_restarts, most_finds;
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
	totals->fences += result->fences;
	totals->calm_restarts += result->calm_restarts;
	if (result->most_finds > totals->most_finds)
		totals->most_finds = result->most_finds;
	if (result->most_requests_per_second > totals->most_requests_per_second)
		totals->most_requests_per_second = result->most_requests_per_second;
	if (result->settled_after_us > totals->longest_settle_us)
		totals->longest_settle_us = result->settled_after_us;
}

#ifndef WITH_MUTANTS
static void merge(struct totals *all, const struct totals *part)
{
	all->runs += part->runs;
	all->broken += part->broken;
	all->completes += part->completes;
	all->losts += part->losts;
	all->joins += part->joins;
	all->requests += part->requests;
	all->grey += part->grey;
	all->fences += part->fences;
	all->calm_restarts += part->calm_restarts;
	if (part->most_finds > all->most_finds)
		all->most_finds = part->most_finds;
	if (part->most_requests_per_second > all->most_requests_per_second)
		all->most_requests_per_second = part->most_requests_per_second;
	if (part->longest_settle_us > all->longest_settle_us)
		all->longest_settle_us = part->longest_settle_us;
}
#endif

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

static void print_totals(const struct totals *totals)
{
	printf("%ld runs, %ld broken: %ld rebalances completed, %ld times lost, %ld JoinGroups, %ld requests, at most %ld in a "
	       "second; settled at most %.1f s after the faults; %ld overlaps where no client can know better; %ld twins "
	       "fenced, %ld static members restarted unnoticed, at most %ld look-ups in ten seconds\n",
	       totals->runs, totals->broken, totals->completes, totals->losts, totals->joins, totals->requests,
	       totals->most_requests_per_second, (double)totals->longest_settle_us / 1e6, totals->grey,
	       totals->fences, totals->calm_restarts, totals->most_finds);
}

#ifndef WITH_MUTANTS
/* Every n-th seed, in a process of its own. */
static void run_part(uint64_t from, uint64_t to, int part, int jobs, int out)
{
	struct totals totals = {0};

	for (uint64_t seed = from + (uint64_t)part; seed <= to && totals.broken < 5; seed += (uint64_t)jobs)
		run_seed(seed, &totals);
	fflush(stdout);
	_exit(write(out, &totals, sizeof(totals)) == (ssize_t)sizeof(totals) ? 0 : 1);
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

#endif

#ifdef WITH_MUTANTS
int rg__mutant;

static const char *const mutants[] = {
#include "mutants.inc"
};

enum { MUTANTS = sizeof(mutants) / sizeof(mutants[0]), MUTANT_SECONDS = 120 };

struct find {
	uint64_t seed;
	char broken[300];
};

static void hunt(int mutant, uint64_t from, uint64_t to, int out)
{
	struct find find = {.seed = from};
	struct result result = {.broken = ""};

	rg__mutant = mutant;
	rg__mutate();
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	alarm(MUTANT_SECONDS);
	for (; find.seed <= to && !find.broken[0]; find.seed++) {
		/* Told before, too: for a run that ends in an assertion. */
		if (write(out, &find, sizeof(find)) != (ssize_t)sizeof(find))
			_exit(1);
		run(find.seed, NULL, NULL, NULL, &result);
		memcpy(find.broken, result.broken, sizeof(find.broken));
	}
	find.seed--;
	_exit(write(out, &find, sizeof(find)) == (ssize_t)sizeof(find) ? 0 : 1);
}

/* Prints a line of the table. False: nothing found it. */
static bool hunt_one(int mutant, uint64_t from, uint64_t to)
{
	struct find find = {0};
	int pipes[2], status = 0;
	pid_t pid;

	if (pipe(pipes))
		return false;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(pipes[0]);
		hunt(mutant, from, to, pipes[1]);
	}
	close(pipes[1]);
	for (struct find next; read(pipes[0], &next, sizeof(next)) == (ssize_t)sizeof(next);)
		find = next;
	close(pipes[0]);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
		snprintf(find.broken, sizeof(find.broken), "an assertion of the code itself");
	printf("%3d | %-72s | %5llu | %s\n", mutant, mutants[mutant - 1], (unsigned long long)(find.seed - from + 1),
	       find.broken[0] ? find.broken : "NOT FOUND");
	fflush(stdout);
	return find.broken[0];
}

static int run_mutants(uint64_t from, uint64_t to, int only)
{
	int missed = 0;

	/* Without a mistake nothing may be found, or the finds below mean nothing. */
	for (uint64_t seed = from; seed <= to && seed < from + 300; seed++) {
		struct result result;

		run(seed, NULL, NULL, NULL, &result);
		if (!result.broken[0])
			continue;
		printf("the copies are wrong without any mistake: seed %llu: %s\n", (unsigned long long)seed, result.broken);
		return EXIT_FAILURE;
	}
	printf("  # | what is wrong                                                            | seeds | what found it\n");
	for (int mutant = 1; mutant <= MUTANTS; mutant++)
		if (!only || mutant == only)
			missed += !hunt_one(mutant, from, to);
	printf("%d mutants, %d not found in seeds %llu to %llu\n", MUTANTS, missed, (unsigned long long)from, (unsigned long long)to);
	return missed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif

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

		run_first_edition(*end == '*');
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
#ifdef WITH_MUTANTS
	int mutant = 0;
#endif
	int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--schedule") == 0) {
			schedule = true;
			continue;
		}
		if (strcmp(argv[i], "--first-edition") == 0) {
			run_first_edition(true);
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
#ifdef WITH_MUTANTS
		} else if (value && strcmp(argv[i], "--mutant") == 0) {
			mutant = atoi(value);
#endif
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
#ifdef WITH_MUTANTS
	(void)jobs;
	return run_mutants(from, to, mutant);
#else
	return run_range(from, to, jobs > 0 ? jobs : 1);
#endif
}
