/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__ASSIGN_NAMES_H
#define RG__ASSIGN_NAMES_H

#include "base/arena.h"
#include "base/bytes.h"

enum { RG__NO_NAME = -1 };

/* A table from names to numbers. Names are kept as views. */
struct rg__names {
	struct rg__name {
		struct rg__bytes name;
		int32_t number; /* + 1; 0: a free place */
		uint32_t hash;
	} *places;
	size_t mask, count;
	uint64_t seed;
	struct rg__arena *arena;
};

/* An empty table in `arena`, with room for `count` names before it has to grow. False: out of memory. */
bool rg__names_init(struct rg__names *names, struct rg__arena *arena, int32_t count);

/* Adds a name, unless it is there already; the view must stay valid. False: out of memory. */
bool rg__names_add(struct rg__names *names, struct rg__bytes name, int32_t number);

/* The number of a name, or RG__NO_NAME. */
int32_t rg__names_find(const struct rg__names *names, struct rg__bytes name);

#endif
