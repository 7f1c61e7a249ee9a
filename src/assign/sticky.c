/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/balance.h"
#include "assign/builtin.h"
#include "assign/claims.h"
#include "assign/userdata.h"
#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* The three assignors that stand on balance.h: sticky, cooperative-sticky and weighted. They differ in where they
 * read what members own, and in whether a partition may change hands within one round. */

/* What a member remembers between rounds, to put it into its next subscription. */
struct rg__builtin_state {
	struct rg__buf owned; /* sticky: Java's userdata for what it got last */
	int32_t generation;
	int32_t capacity;
};

static void forget(struct rg__builtin_state *state)
{
	rg__buf_free(&state->owned);
	state->generation = -1;
}

rg_err rg__builtin_open(const rg_assignor *assignor, int32_t capacity, void **ret_user)
{
	struct rg__builtin_state *state;

	if (capacity < 1 || capacity > RG__CAPACITY_MAX)
		return RG_ERR_INVALID;
	if (!assignor->on_assignment && !assignor->subscription_userdata) {
		*ret_user = NULL;
		return RG_OK;
	}
	state = rg__calloc(1, sizeof(*state));
	if (!state)
		return RG_ERR_MEMORY;
	forget(state);
	state->capacity = capacity;
	*ret_user = state;
	return RG_OK;
}

void rg__builtin_close(void *user)
{
	if (user)
		forget(user);
	rg__free(user);
}

/* A partition that one member must give up first reaches the next one only in the next round (KIP-429). What two
 * members claim with equal right goes to neither, until both have let go of it (KAFKA-12984). */
static void withhold(struct rg_plan *plan, const struct rg__claims *claims)
{
	for (int32_t i = 0; i < plan->partition_count; i++)
		if ((claims->flags[i] & RG__CONTESTED) ||
		    ((claims->flags[i] & RG__CLAIMED) && plan->owners[i] != claims->owners[i]))
			plan->owners[i] = RG__NOBODY;
}

/* What distinguishes the three. */
struct variant {
	const char *name;
	bool cooperative, weighted;
	bool (*claims)(const rg_group *group, struct rg__arena *arena, struct rg__claim *ret_said); /* by member */
};

static bool share(const rg_group *group, rg_plan *plan, const struct variant *variant, struct rg__arena *arena)
{
	struct rg__claim *said = rg__arena_calloc(arena, (size_t)group->member_count, sizeof(*said));
	int32_t *weights = rg__arena_calloc(arena, (size_t)group->member_count, sizeof(*weights));
	struct rg__balance in = {.group = group, .weights = variant->weighted ? weights : NULL};
	struct rg__claims claims;

	if (!said || !weights)
		return false;
	for (int32_t m = 0; m < group->member_count && variant->weighted; m++)
		weights[m] = rg__userdata_read_capacity(group->members[m].userdata);
	if (!variant->claims(group, arena, said) || !rg__claims_init(&claims, arena, plan, said))
		return false;
	rg__claims_drop_unsubscribed(&claims, plan, said);
	in.owners = claims.owners;
	if (!rg__balance(&in, plan))
		return false;
	if (variant->cooperative)
		withhold(plan, &claims);
	return true;
}

static rg_err run(const rg_group *group, rg_plan *plan, rg_error *error, const struct variant *variant)
{
	struct rg__arena arena = {0};
	bool ok = share(group, plan, variant, &arena);

	rg__arena_clear(&arena);
	return ok ? RG_OK : rg__fail(error, RG_ERR_MEMORY, "%s: out of memory", variant->name);
}

/* Java's StickyAssignor is eager: members come without owned partitions, so what they had travels in userdata. */
static bool sticky_claims(const rg_group *group, struct rg__arena *arena, struct rg__claim *ret_said)
{
	struct rg__names topics;

	if (!rg__userdata_index_topics(&topics, group, arena))
		return false;
	for (int32_t m = 0; m < group->member_count; m++)
		if (!rg__userdata_read_sticky(group->members[m].userdata, group, &topics, arena, &ret_said[m]))
			return false;
	return true;
}

/* `weighted`, whose userdata is the capacity. */
static bool subscribed_claims(const rg_group *group, struct rg__arena *arena, struct rg__claim *ret_said)
{
	(void)arena;
	for (int32_t m = 0; m < group->member_count; m++) {
		const rg_group_member *from = &group->members[m];

		ret_said[m] = (struct rg__claim){from->owned, from->owned_count, from->generation};
	}
	return true;
}

/* KIP-429, KIP-792: owned partitions and generation are part of the subscription; before KIP-792 the generation was in
 * Java's userdata. */
static bool cooperative_claims(const rg_group *group, struct rg__arena *arena, struct rg__claim *ret_said)
{
	subscribed_claims(group, arena, ret_said);
	for (int32_t m = 0; m < group->member_count; m++)
		if (ret_said[m].generation < 0)
			ret_said[m].generation = rg__userdata_read_generation(group->members[m].userdata);
	return true;
}

static rg_err assign_sticky(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	static const struct variant variant = {"sticky", false, false, sticky_claims};

	(void)user;
	return run(group, plan, error, &variant);
}

static rg_err assign_cooperative(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	static const struct variant variant = {"cooperative-sticky", true, false, cooperative_claims};

	(void)user;
	return run(group, plan, error, &variant);
}

static rg_err assign_weighted(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	static const struct variant variant = {"weighted", true, true, subscribed_claims};

	(void)user;
	return run(group, plan, error, &variant);
}

static int32_t copy_out(const void *data, size_t len, void *buffer, int32_t capacity)
{
	if (len && len <= (size_t)capacity)
		memcpy(buffer, data, len);
	return (int32_t)len;
}

static int32_t sticky_userdata(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
                               void *user)
{
	struct rg__builtin_state *state = user;

	(void)topics;
	(void)topic_count;
	return copy_out(state->owned.data, state->owned.len, buffer, capacity);
}

/* Without memory for it the member will say it owned nothing: stickiness is lost, nothing else. */
static void sticky_assigned(const rg_assignment *assignment, void *user)
{
	struct rg__builtin_state *state = user;
	int32_t len = rg__userdata_write_sticky(assignment, NULL, 0);

	forget(state);
	if (len > 0 && rg__buf_reserve(&state->owned, (size_t)len))
		state->owned.len = (size_t)rg__userdata_write_sticky(assignment, state->owned.data, len);
}

static int32_t cooperative_userdata(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
                                    void *user)
{
	struct rg__builtin_state *state = user;

	(void)topics;
	(void)topic_count;
	return rg__userdata_write_generation(state->generation, buffer, capacity);
}

static void cooperative_assigned(const rg_assignment *assignment, void *user)
{
	struct rg__builtin_state *state = user;

	state->generation = assignment->generation;
}

static int32_t weighted_userdata(const char *const *topics, int32_t topic_count, void *buffer, int32_t capacity,
                                 void *user)
{
	struct rg__builtin_state *state = user;

	(void)topics;
	(void)topic_count;
	return rg__userdata_write_generation(state->capacity, buffer, capacity);
}

const rg_assignor rg__sticky = {.size = sizeof(rg_assignor),
                                .name = "sticky",
                                .protocols = RG_EAGER,
                                .subscription_userdata = sticky_userdata,
                                .assign = assign_sticky,
                                .on_assignment = sticky_assigned};

const rg_assignor rg__cooperative_sticky = {.size = sizeof(rg_assignor),
                                            .name = "cooperative-sticky",
                                            .protocols = RG_EAGER | RG_COOPERATIVE,
                                            .subscription_userdata = cooperative_userdata,
                                            .assign = assign_cooperative,
                                            .on_assignment = cooperative_assigned};

const rg_assignor rg__weighted = {.size = sizeof(rg_assignor),
                                  .name = "weighted",
                                  .protocols = RG_EAGER | RG_COOPERATIVE,
                                  .subscription_userdata = weighted_userdata,
                                  .assign = assign_weighted};
