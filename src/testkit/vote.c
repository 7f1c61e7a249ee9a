/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/coordinator.h"

/* Which of the protocols that every member offers the group uses: each member votes for its first such one, the most
 * votes win. A draw goes to the one the longest member likes better (brokers: whatever their map yields). */

static struct rg__kit_protocol *find(const struct rg__kit_member *member, struct rg__bytes protocol)
{
	for (int32_t i = 0; i < member->protocol_count; i++)
		if (rg__bytes_equal(member->protocols[i].name, protocol))
			return &member->protocols[i];
	return NULL;
}

bool rg__kit_member_offers(const struct rg__kit_member *member, struct rg__bytes protocol)
{
	return find(member, protocol) != NULL;
}

struct rg__bytes rg__kit_member_metadata(const struct rg__kit_member *member, struct rg__bytes protocol)
{
	const struct rg__kit_protocol *found = find(member, protocol);

	return found ? found->metadata : RG__NULL_BYTES;
}

static bool all_offer(const struct rg__kit_group *group, struct rg__bytes protocol)
{
	for (const struct rg__kit_member *member = group->members; member; member = member->hh.next)
		if (!rg__kit_member_offers(member, protocol))
			return false;
	return true;
}

/* broker: the check comes before the one for the member id, and counts the member's own old list too, so a lone member
 * that comes back with an entirely different list hears 23. */
bool rg__kit_group_supports(const struct rg__kit_group *group, const struct rg__join_group_request *request)
{
	const struct rg__join_group_request_protocol *offers =
		RG__ITEMS(struct rg__join_group_request_protocol, request->protocols);

	if (group->state == RG__KIT_EMPTY)
		return request->protocol_type.len > 0 && request->protocols.count > 0;
	if (!group->protocol_type.data || !rg__bytes_equal(group->protocol_type, request->protocol_type))
		return false;
	for (int32_t i = 0; i < request->protocols.count; i++)
		if (all_offer(group, offers[i].name))
			return true;
	return false;
}

bool rg__kit_member_matches(const struct rg__kit_member *member, const struct rg__join_group_request *request)
{
	const struct rg__join_group_request_protocol *offers =
		RG__ITEMS(struct rg__join_group_request_protocol, request->protocols);

	if (member->protocol_count != request->protocols.count)
		return false;
	for (int32_t i = 0; i < member->protocol_count; i++)
		if (!rg__bytes_equal(member->protocols[i].name, offers[i].name) ||
		    !rg__bytes_equal(member->protocols[i].metadata, offers[i].metadata))
			return false;
	return true;
}

struct rg__bytes rg__kit_group_vote(struct rg__kit_group *group)
{
	struct rg__kit_member *first = group->members;
	const struct rg__kit_protocol *winner = NULL;

	if (!first)
		return RG__NULL_BYTES;
	/* Only what the first member offers can be common to all: its list is the ballot, -1 marks who is not on it. */
	for (int32_t i = 0; i < first->protocol_count; i++)
		first->protocols[i].votes = all_offer(group, first->protocols[i].name) ? 0 : -1;
	for (struct rg__kit_member *voter = first; voter; voter = voter->hh.next) {
		struct rg__kit_protocol *choice = NULL;

		for (int32_t i = 0; i < voter->protocol_count && (!choice || choice->votes < 0); i++)
			choice = find(first, voter->protocols[i].name);
		if (choice && choice->votes >= 0)
			choice->votes++;
	}
	for (int32_t i = 0; i < first->protocol_count; i++)
		if (first->protocols[i].votes > (winner ? winner->votes : 0))
			winner = &first->protocols[i];
	return winner ? winner->name : RG__NULL_BYTES;
}
