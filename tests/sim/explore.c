/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through everything that can happen, in every order, from the first join on, and checks every state on the way.
 *
 *     explore [--members N] [--cooperative] [--joins N] [--leaves N] [--moves N] [--drops N] [--errors N] [--commits N]
 *             [--ticks N] [--seconds N] [--prompt] [--mutant N]
 *
 * A state that was seen before is not walked on from. Where there is more than one choice the whole memory of the world is put
 * aside, to go on from there. "complete": there is nothing left to do within the given numbers; "bounded": the time was over. */
#include "explore_world.h"

#include "base/alloc.h"
#include "explore_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_MUTANTS
#include "mutant.h"
int rg__mutant;
#endif

enum { DEPTH_MAX = 400 };

struct seen {
	uint64_t *slots; /* open addressing; 0: free */
	uint8_t *ticks;  /* the fewest jumps of time with which it was reached: fewer leave more room */
	size_t size, count;
};

static void seen_grow(struct seen *seen)
{
	struct seen old = *seen;

	seen->size = old.size ? old.size * 2 : 1 << 20;
	seen->slots = calloc(seen->size, sizeof(*seen->slots));
	seen->ticks = calloc(seen->size, 1);
	if (!seen->slots || !seen->ticks) {
		fprintf(stderr, "explore: out of memory\n");
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i]) {
			size_t at = old.slots[i] & (seen->size - 1);

			while (seen->slots[at])
				at = (at + 1) & (seen->size - 1);
			seen->slots[at] = old.slots[i];
			seen->ticks[at] = old.ticks[i];
		}
	free(old.slots);
	free(old.ticks);
}

/* False: seen before, with as much room to go on. */
static bool is_new(struct seen *seen, uint64_t hash, int ticks)
{
	size_t at;

	if ((seen->count + 1) * 2 > seen->size)
		seen_grow(seen);
	hash = hash ? hash : 1;
	for (at = hash & (seen->size - 1); seen->slots[at]; at = (at + 1) & (seen->size - 1))
		if (seen->slots[at] == hash) {
			if (ticks >= seen->ticks[at])
				return false;
			seen->ticks[at] = (uint8_t)ticks;
			return true;
		}
	seen->slots[at] = hash;
	seen->ticks[at] = (uint8_t)ticks;
	seen->count++;
	return true;
}

struct walk {
	struct explore_conf conf;
	struct seen seen;
	struct choice path[DEPTH_MAX];
	int left[DEPTH_MAX]; /* choices at this depth that are still to be made */
	struct memory_copy saved[DEPTH_MAX]; /* the world before them */
	int depth, deepest;
	long transitions, ends;
	bool cut; /* at DEPTH_MAX, or by the clock */
	char broken[200];
};

/* Somebody who wants to be in the group and is not, and nothing will ever happen. */
static const char *stuck(const struct world *world)
{
	if (world->ticks >= world->conf->ticks)
		return NULL;
	for (int i = 0; i < world->conf->members; i++) {
		enum rg__membership_state is = rg__machine_membership(world->peers[i].machine);

		if (world->peers[i].started && rg__machine_wanted(world->peers[i].machine) && is != RG__STABLE && is != RG__FAILED)
			return "waits for ever";
	}
	return NULL;
}

/* One choice deeper. False: there is no way on from here that is not known. */
static bool deeper(struct walk *walk, struct world *world)
{
	struct choice choices[CHOICES_MAX];
	int count = world_choices(world, choices);

	if (!count && !world->broken[0]) {
		walk->ends++;
		if (stuck(world))
			snprintf(walk->broken, sizeof(walk->broken), "somebody %s", stuck(world));
	}
	if (!count)
		return false;
	if (walk->depth == DEPTH_MAX) {
		walk->cut = true;
		return false;
	}
	walk->left[walk->depth] = count - 1;
	if (count > 1)
		memory_save(&walk->saved[walk->depth]);
	walk->path[walk->depth++] = choices[count - 1];
	if (walk->depth > walk->deepest)
		walk->deepest = walk->depth;
	return true;
}

/* Back to where there is another choice. False: everything has been walked. */
static bool back(struct walk *walk, struct world *world)
{
	struct choice choices[CHOICES_MAX];

	while (walk->depth && !walk->left[walk->depth - 1])
		walk->depth--;
	if (!walk->depth)
		return false;
	walk->depth--;
	memory_restore(&walk->saved[walk->depth]);
	world_choices(world, choices);
	walk->path[walk->depth] = choices[--walk->left[walk->depth]];
	walk->depth++;
	return true;
}

static void explore(struct walk *walk, int seconds)
{
	struct world *world = rg__calloc(1, sizeof(*world));
	struct timespec begin, now;
	bool on;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	world_begin(world, &walk->conf);
	is_new(&walk->seen, world_hash(world), 0);
	on = deeper(walk, world);
	while (on && !walk->broken[0]) {
		world_do(world, &walk->path[walk->depth - 1]);
		walk->transitions++;
		if (world->broken[0]) {
			memcpy(walk->broken, world->broken, sizeof(walk->broken));
			break;
		}
		if (!is_new(&walk->seen, world_hash(world), world->ticks) || !deeper(walk, world))
			on = !walk->broken[0] && back(walk, world);
		if (walk->transitions % 4096 == 0) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec - begin.tv_sec >= seconds) {
				walk->cut = true;
				break;
			}
		}
	}
	world_end(world);
	rg__free(world);
	for (int i = 0; i < DEPTH_MAX; i++)
		free(walk->saved[i].bytes);
}

static int number_after(int argc, char **argv, const char *name, int otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return atoi(argv[i + 1]);
	return otherwise;
}

int main(int argc, char **argv)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	int seconds = number_after(argc, argv, "--seconds", 60);

	if (!walk)
		return EXIT_FAILURE;
	walk->conf = (struct explore_conf){
		.members = number_after(argc, argv, "--members", 2),
		.joins = number_after(argc, argv, "--joins", 1),
		.leaves = number_after(argc, argv, "--leaves", 1),
		.moves = number_after(argc, argv, "--moves", 1),
		.drops = number_after(argc, argv, "--drops", 1),
		.errors = number_after(argc, argv, "--errors", 1),
		.commits = number_after(argc, argv, "--commits", 0),
		.ticks = number_after(argc, argv, "--ticks", 6),
	};
	for (int i = 1; i < argc; i++) {
		walk->conf.cooperative = walk->conf.cooperative || strcmp(argv[i], "--cooperative") == 0;
		walk->conf.prompt = walk->conf.prompt || strcmp(argv[i], "--prompt") == 0;
	}
#ifdef WITH_MUTANTS
	rg__mutant = number_after(argc, argv, "--mutant", 0);
	rg__mutate();
#endif
	if (walk->conf.members < 1 || walk->conf.members > MEMBERS_MAX || walk->conf.ticks > 200)
		return 2;
	explore(walk, seconds);
	printf("%d members, %s%s; joins %d, leaves %d, moves %d, drops %d, errors %d, commits %d, jumps of time %d: %zu states, %ld transitions, %ld "
	       "ends, depth %d, %s\n",
	       walk->conf.members, walk->conf.cooperative ? "cooperative" : "eager",
	       walk->conf.prompt ? ", prompt" : "", walk->conf.joins, walk->conf.leaves, walk->conf.moves,
	       walk->conf.drops, walk->conf.errors, walk->conf.commits, walk->conf.ticks, walk->seen.count, walk->transitions, walk->ends, walk->deepest,
	       walk->broken[0] ? "BROKEN" : walk->cut ? "bounded" : "complete");
	if (walk->broken[0]) {
		printf("%s, after\n", walk->broken);
		for (int i = 0; i < walk->depth; i++) {
			char text[120];

			world_print(&walk->path[i], text, sizeof(text));
			printf("  %s\n", text);
		}
	}
	bool broken = walk->broken[0];

	free(walk->seen.slots);
	free(walk->seen.ticks);
	free(walk);
	return broken ? EXIT_FAILURE : EXIT_SUCCESS;
}
