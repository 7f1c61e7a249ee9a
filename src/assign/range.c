/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/builtin.h"
#include "assign/names.h"
#include "assign/order.h"
#include "assign/racks.h"
#include "assign/subscribers.h"
#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* Java's RangeAssignor. Without racks: each topic's partitions cut into ranges for its subscribers in order, the
 * first ones getting one more when it does not divide. With racks (KIP-881) three passes: topics with equal
 * subscribers and equal partition counts are shared together, so that partition p of all of them goes to one member
 * (co-partitioning), where one rack suits all; a topic on its own gives members the partitions in their racks; what
 * is left is shared as without racks. The quota of a topic, and who gets one more, counts over all passes. */

struct topic_state {
	int32_t quota, extra_left; /* partitions for each subscriber; how many may still get one more */
	int32_t left;              /* partitions not given yet */
	bool needs_racks;
	int32_t kin; /* topics with the same subscribers and partition count have the same number */
};

struct range {
	const rg_group *group;
	rg_plan *plan;
	struct rg__subscribers subs;
	struct rg__racks racks;
	struct rg__arena scratch;
	struct topic_state *topics;
	int32_t *got;   /* by subscriber of the topic at hand, as subs lists them */
	int32_t *kin_got; /* the same, common to several topics */
	int32_t *heads; /* by rack, and behind the last for members without one: where the search goes on */
	int32_t *counts; /* by rack */
	int32_t *common; /* by partition of kin at hand: its rack set in all of them, or UNLIKE */
};

enum { UNLIKE = -1 };

static int32_t subscriber_count(const struct range *r, int32_t t)
{
	return (int32_t)(r->subs.starts[t + 1] - r->subs.starts[t]);
}

static const int32_t *subscribers(const struct range *r, int32_t t)
{
	return r->subs.members + r->subs.starts[t];
}

/* How many more of topic t its i-th subscriber may get. */
static int32_t room(const struct topic_state *topic, int32_t got)
{
	int32_t most = topic->quota + (topic->extra_left > 0) - got;

	return most > 0 ? most : 0;
}

static void give(struct range *r, int32_t t, int32_t i, int32_t *got, int32_t partition)
{
	struct topic_state *topic = &r->topics[t];

	r->plan->owners[r->plan->offsets[t] + partition] = subscribers(r, t)[i];
	topic->left--;
	if (++*got > topic->quota)
		topic->extra_left--;
}

/* The next partition of topic t from *at on that nobody has and whose racks suit `member` (RG__NOBODY: any). */
static bool next_free(const struct range *r, int32_t t, int32_t *at, int32_t member)
{
	const int32_t *owners = r->plan->owners + r->plan->offsets[t];
	int32_t count = r->group->topics[t].partition_count;

	for (; *at < count; ++*at)
		if (owners[*at] == RG__NOBODY &&
		    (member == RG__NOBODY || rg__racks_match(&r->racks, member, r->racks.sets[r->plan->offsets[t] + *at])))
			return true;
	return false;
}

/* Gives each subscriber in order the first partitions that suit its rack, up to its quota. What one member of a rack
 * does not find, the next of the same rack need not look at again. */
static void share_by_rack(struct range *r, int32_t t)
{
	const int32_t *members = subscribers(r, t);

	memset(r->heads, 0, ((size_t)r->racks.rack_count + 1) * sizeof(*r->heads));
	for (int32_t i = 0; i < subscriber_count(r, t) && r->topics[t].left > 0; i++) {
		int32_t rack = r->racks.member_racks[members[i]];
		int32_t *head = &r->heads[rack == RG__NO_RACK ? r->racks.rack_count : rack];

		/* The limit is taken once, before: giving the last extra partition must not cut it in the middle. */
		for (int32_t most = room(&r->topics[t], r->got[i]); most > 0 && next_free(r, t, head, members[i]); most--)
			give(r, t, i, &r->got[i], *head);
	}
}

/* The same without looking at racks. */
static void share_rest(struct range *r, int32_t t)
{
	int32_t at = 0;

	for (int32_t i = 0; i < subscriber_count(r, t) && r->topics[t].left > 0; i++)
		for (int32_t most = room(&r->topics[t], r->got[i]); most > 0 && next_free(r, t, &at, RG__NOBODY); most--)
			give(r, t, i, &r->got[i], at);
}

/* Mostly partition p of all kin has the same racks. Found topic by topic, as that is how they lie in memory. */
static void find_common(struct range *r, const int32_t *topics, int32_t count)
{
	int32_t partitions = r->group->topics[topics[0]].partition_count;

	memcpy(r->common, r->racks.sets + r->plan->offsets[topics[0]], (size_t)partitions * sizeof(*r->common));
	for (int32_t k = 1; k < count; k++) {
		const int32_t *sets = r->racks.sets + r->plan->offsets[topics[k]];

		for (int32_t p = 0; p < partitions; p++)
			if (sets[p] != r->common[p])
				r->common[p] = UNLIKE;
	}
}

/* Counts for each rack in how many of the topics partition p is in it. */
static void count_racks(struct range *r, const int32_t *topics, int32_t count, int32_t p)
{
	bool alike = r->common[p] != UNLIKE;

	memset(r->counts, 0, (size_t)r->racks.rack_count * sizeof(*r->counts));
	for (int32_t k = 0; k < (alike ? 1 : count); k++) {
		const struct rg__rack_set *set =
			&r->racks.items[alike ? r->common[p] : r->racks.sets[r->plan->offsets[topics[k]] + p]];

		for (int32_t i = 0; i < set->count; i++)
			r->counts[set->racks[i]] += alike ? count : 1;
	}
}

/* The first subscriber that may read partition p of all `count` topics in its rack and has room; -1: none. All the
 * topics have given the same to the same members so far, so the first one stands for all. */
static int32_t find_kin_member(struct range *r, const int32_t *topics, int32_t count, int32_t p)
{
	const int32_t *members = subscribers(r, topics[0]);
	int32_t racks = r->racks.rack_count, best = -1, subscriber_max = subscriber_count(r, topics[0]);

	count_racks(r, topics, count, p);
	for (int32_t rack = 0; rack <= racks; rack++) {
		int32_t *head = &r->heads[rack], wanted = rack == racks ? RG__NO_RACK : rack;

		if (rack < racks && r->counts[rack] < count)
			continue;
		while (*head < subscriber_max && (r->racks.member_racks[members[*head]] != wanted ||
		                                  !room(&r->topics[topics[0]], r->got[*head])))
			++*head;
		if (*head < subscriber_max && (best < 0 || *head < best))
			best = *head;
	}
	return best;
}

static void share_kin(struct range *r, const int32_t *topics, int32_t count)
{
	int32_t partitions = r->group->topics[topics[0]].partition_count;

	memset(r->got, 0, (size_t)subscriber_count(r, topics[0]) * sizeof(*r->got));
	memset(r->heads, 0, ((size_t)r->racks.rack_count + 1) * sizeof(*r->heads));
	find_common(r, topics, count);
	for (int32_t p = 0; p < partitions; p++) {
		int32_t i = find_kin_member(r, topics, count, p);

		if (i >= 0)
			give(r, topics[0], i, &r->got[i], p);
	}
	/* The others are shared as the first was. */
	for (int32_t k = 1; k < count; k++) {
		memcpy(r->plan->owners + r->plan->offsets[topics[k]], r->plan->owners + r->plan->offsets[topics[0]],
		       (size_t)partitions * sizeof(*r->plan->owners));
		r->topics[topics[k]].left = r->topics[topics[0]].left;
		r->topics[topics[k]].extra_left = r->topics[topics[0]].extra_left;
	}
	memcpy(r->kin_got, r->got, (size_t)subscriber_count(r, topics[0]) * sizeof(*r->got));
	for (int32_t k = 0; k < count; k++) {
		memcpy(r->got, r->kin_got, (size_t)subscriber_count(r, topics[0]) * sizeof(*r->got));
		share_rest(r, topics[k]);
	}
}

static void share_alone(struct range *r, int32_t t)
{
	memset(r->got, 0, (size_t)subscriber_count(r, t) * sizeof(*r->got));
	if (r->topics[t].needs_racks)
		share_by_rack(r, t);
	share_rest(r, t);
}

static bool has_rack(const struct range *r, int32_t t)
{
	for (int32_t i = 0; i < subscriber_count(r, t); i++)
		if (r->racks.member_racks[subscribers(r, t)[i]] != RG__NO_RACK)
			return true;
	return false;
}

/* Numbers the topics so that kin have the same number, which is the first of them. Topics whose subscribers have no
 * racks are their own kin only: together or alone makes no difference to them. */
static bool find_kin(struct range *r)
{
	struct rg__names lists, kin;

	if (!rg__names_init(&lists, &r->scratch, 16) || !rg__names_init(&kin, &r->scratch, 16))
		return false;
	for (int32_t t = 0; t < r->group->topic_count; t++) {
		struct rg__bytes list = {(const uint8_t *)subscribers(r, t), (size_t)subscriber_count(r, t) * sizeof(int32_t)};
		int32_t *key;

		r->topics[t].kin = t;
		if (!has_rack(r, t))
			continue;
		key = rg__arena_calloc(&r->scratch, 2, sizeof(*key));
		if (!key || !rg__names_add(&lists, list, t))
			return false;
		key[0] = rg__names_find(&lists, list);
		key[1] = r->group->topics[t].partition_count;
		struct rg__bytes view = {(const uint8_t *)key, 2 * sizeof(*key)};

		if (!rg__names_add(&kin, view, t))
			return false;
		r->topics[t].kin = rg__names_find(&kin, view);
	}
	return true;
}

/* All topics, kin together. Kin follow their first in the order of topics, so one walk from each first finds them. */
static bool share_with_racks(struct range *r)
{
	int32_t topics = r->group->topic_count;
	int32_t *next = rg__arena_calloc(&r->scratch, (size_t)topics, sizeof(*next)); /* of the same kin; 0: none */
	int32_t *last = rg__arena_calloc(&r->scratch, (size_t)topics, sizeof(*last));
	int32_t *list = rg__arena_calloc(&r->scratch, (size_t)topics, sizeof(*list)), most = 0;

	for (int32_t t = 0; t < topics; t++)
		most = r->group->topics[t].partition_count > most ? r->group->topics[t].partition_count : most;
	r->common = rg__arena_calloc(&r->scratch, (size_t)most, sizeof(*r->common));
	r->heads = rg__arena_calloc(&r->scratch, (size_t)r->racks.rack_count + 1, sizeof(*r->heads));
	r->counts = rg__arena_calloc(&r->scratch, (size_t)r->racks.rack_count + 1, sizeof(*r->counts));
	if (!next || !last || !list || !r->common || !r->heads || !r->counts || !find_kin(r))
		return false;
	for (int32_t t = 0; t < topics; t++) {
		int32_t first = r->topics[t].kin;

		if (first != t)
			next[last[first]] = t;
		last[first] = t;
	}
	for (int32_t t = 0; t < topics; t++) {
		int32_t count = 0;

		if (r->topics[t].kin != t)
			continue;
		for (int32_t k = t; count == 0 || k != 0; k = next[k])
			list[count++] = k;
		if (count > 1)
			share_kin(r, list, count);
		else
			share_alone(r, t);
	}
	return true;
}

/* Whether racks matter for any topic; notes for which. */
static bool racks_matter(struct range *r)
{
	bool any = false;

	for (int32_t t = 0; t < r->group->topic_count; t++) {
		r->topics[t].needs_racks = rg__racks_matter(&r->racks, r->plan->offsets[t], r->plan->offsets[t + 1],
		                                            subscribers(r, t), subscriber_count(r, t));
		any = any || r->topics[t].needs_racks;
	}
	return any;
}

static rg_err share(struct range *r)
{
	const rg_group *group = r->group;
	size_t members = (size_t)group->member_count;
	bool with_racks = rg__racks_wanted(group);

	r->topics = rg__arena_calloc(&r->scratch, (size_t)group->topic_count, sizeof(*r->topics));
	r->got = rg__arena_calloc(&r->scratch, members, sizeof(*r->got));
	r->kin_got = rg__arena_calloc(&r->scratch, members, sizeof(*r->kin_got));
	if (!r->topics || !r->got || !r->kin_got || (with_racks && !rg__racks_init(&r->racks, group, r->plan)))
		return RG_ERR_MEMORY;
	for (int32_t t = 0; t < group->topic_count; t++) {
		int32_t partitions = group->topics[t].partition_count, count = subscriber_count(r, t);

		r->topics[t].left = count ? partitions : 0;
		r->topics[t].quota = count ? partitions / count : 0;
		r->topics[t].extra_left = count ? partitions % count : 0;
	}
	if (with_racks && racks_matter(r))
		return share_with_racks(r) ? RG_OK : RG_ERR_MEMORY;
	for (int32_t t = 0; t < group->topic_count; t++)
		share_alone(r, t);
	return RG_OK;
}

static rg_err assign(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	struct range r = {.group = group, .plan = plan};
	int32_t *order = rg__member_order(group);
	rg_err err = RG_ERR_MEMORY;

	(void)user;
	if (order && rg__subscribers_init(&r.subs, group, order))
		err = share(&r);
	rg__subscribers_free(&r.subs);
	rg__racks_free(&r.racks);
	rg__arena_clear(&r.scratch);
	rg__free(order);
	return err ? rg__fail(error, err, "range: out of memory") : RG_OK;
}

const rg_assignor rg__range = {.size = sizeof(rg_assignor), .name = "range", .protocols = RG_EAGER, .assign = assign};
