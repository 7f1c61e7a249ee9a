/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_OWNED_H
#define RG__CONSUMER_OWNED_H

/* What a consumer owns: for each partition where it is. The application's thread only. */

#include "consumer/ownership.h"

enum { RG__NO_OFFSET = -1 };

/* What its start is looked up by. */
enum rg__look {
	RG__LOOK_NOT,
	RG__LOOK_TIME, /* auto.offset.reset's */
	RG__LOOK_PLACE
};

struct rg__slot {
	struct rg__partition at; /* the topic belongs to rg__owned */
	uint64_t epoch;          /* of this ownership: another each time the partition is taken over */
	bool fetching;           /* librdkafka has it */
	bool closing;            /* is being given up: no record of it comes out any more */
	bool sought;             /* the offset is being fetched from the group */
	int64_t start;           /* where to begin: absolute, or one of librdkafka's; RD_KAFKA_OFFSET_INVALID: not known yet */
	int64_t position;        /* behind the last record that was processed, RG__NO_OFFSET: none was */
	int32_t leader_epoch;    /* of the record before `position` (KIP-320), -1: not known */
	int64_t committed;       /* what the group has as far as we know, RG__NO_OFFSET: not known */
	int64_t next;            /* behind the last record that poll returned, RG__NO_OFFSET: it returned none since `start` */
	bool paused;             /* the application wants no records of it now */
	enum rg__look look;
	int64_t place;           /* of RG__LOOK_PLACE: RD_KAFKA_OFFSET_BEGINNING, _END or _TAIL(n) */
	int64_t no_earlier;      /* of RD_KAFKA_OFFSET_BEGINNING, which is looked up for a _TAIL(n): where that would be; else 0 */
	bool begun;              /* a record of it has come out */
	bool hopeless;           /* has no offset and, by auto.offset.reset, gets none */
};

struct rg__owned {
	struct rg__slot *slots; /* in order */
	struct rg__partition *listed; /* as much room, for rg__owned_list() */
	size_t count, capacity;
	size_t found; /* where something was found last; it may be another's place by now */
	uint64_t last_epoch;
	struct rg__owned_topic *topics; /* names, for as long as the consumer lives; a hash */
};

/* Our own copy of a topic's name. NULL: out of memory. */
const char *rg__owned_topic(struct rg__owned *owned, const char *name, size_t len);

bool rg__owned_reserve(struct rg__owned *owned, size_t more); /* false: out of memory */
/* Adds partitions, in order, that are not owned; there must be room for them. Topics must be of rg__owned_topic(). */
void rg__owned_add(struct rg__owned *owned, const struct rg__partitions *partitions);
/* Where an application may let a partition begin: an absolute offset, or one of librdkafka's names for places. */
bool rg__is_start(int64_t offset);
/* It begins at an absolute offset, or at one of librdkafka's names for places, which is looked up then. */
void rg__slot_begin_at(struct rg__slot *slot, int64_t offset);
/* It goes on somewhere else: whatever is under way for it does not count any more. */
void rg__owned_move(struct rg__owned *owned, struct rg__slot *slot, int64_t offset);
void rg__owned_remove(struct rg__owned *owned, const struct rg__partitions *partitions);
struct rg__slot *rg__owned_find(struct rg__owned *owned, const char *topic, int32_t number);
/* The same one still: NULL when it was given up meanwhile, also when it has come back since. */
struct rg__slot *rg__owned_find_epoch(struct rg__owned *owned, const struct rg__partition *partition, uint64_t epoch);

/* All partitions, for which there is always room: giving them up must not fail for want of memory. Valid until there are
 * others. */
struct rg__partitions rg__owned_list(struct rg__owned *owned);
void rg__owned_free(struct rg__owned *owned);

#endif
