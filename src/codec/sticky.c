/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/sticky.h"

#define T struct rg__sticky_user_data_previous_assignment
static const struct rg__field previous_assignment_rows[] = {
	RG__FIELD(T, topic, "Topic", RG__STRING, 0, RG__LAST),
	RG__FIELD(T, partitions, "Partitions", RG__ARRAY, 0, RG__LAST, .element = RG__INT32),
};
const struct rg__fields rg__sticky_user_data_previous_assignment_fields = {
	RG__FIELDS(T, "PreviousAssignment", previous_assignment_rows)
};
#undef T

#define T struct rg__sticky_user_data
static const struct rg__field sticky_rows[] = {
	RG__FIELD(T, previous_assignment, "PreviousAssignment", RG__ARRAY, 0, RG__LAST,
		  .fields = &rg__sticky_user_data_previous_assignment_fields),
	RG__FIELD(T, generation, "Generation", RG__INT32, 1, RG__LAST, .ignorable = true, .fallback = -1),
};
const struct rg__fields rg__sticky_user_data_fields = {
	RG__FIELDS(T, "StickyUserData", sticky_rows), .flexible_first = RG__NEVER
};
#undef T

#define T struct rg__cooperative_sticky_user_data
static const struct rg__field cooperative_sticky_rows[] = {
	RG__FIELD(T, generation, "Generation", RG__INT32, 0, RG__LAST, .fallback = -1),
};
const struct rg__fields rg__cooperative_sticky_user_data_fields = {
	RG__FIELDS(T, "CooperativeStickyUserData", cooperative_sticky_rows), .flexible_first = RG__NEVER
};
#undef T

bool rg__sticky_user_data_encode(const struct rg__sticky_user_data *user_data, struct rg__buf *out,
				 struct rg__codec_error *err)
{
	return rg__encode(&rg__sticky_user_data_fields, 1, user_data, out, err);
}

bool rg__sticky_user_data_decode(struct rg__bytes in, struct rg__arena *arena,
				 struct rg__sticky_user_data *ret_user_data, struct rg__codec_error *err)
{
	size_t used;

	/* Kafka's reader does the same: the newer layout first, the older one if that does not fit. */
	return rg__decode(&rg__sticky_user_data_fields, 1, in, arena, ret_user_data, &used, NULL) ||
	       rg__decode(&rg__sticky_user_data_fields, 0, in, arena, ret_user_data, &used, err);
}

bool rg__cooperative_sticky_user_data_encode(int32_t generation, struct rg__buf *out, struct rg__codec_error *err)
{
	struct rg__cooperative_sticky_user_data user_data = {generation};

	return rg__encode(&rg__cooperative_sticky_user_data_fields, 0, &user_data, out, err);
}

bool rg__cooperative_sticky_user_data_decode(struct rg__bytes in, int32_t *ret_generation, struct rg__codec_error *err)
{
	struct rg__cooperative_sticky_user_data user_data;
	struct rg__arena none = {0}; /* no arrays */
	size_t used;

	if (!rg__decode(&rg__cooperative_sticky_user_data_fields, 0, in, &none, &user_data, &used, err))
		return false;
	*ret_generation = user_data.generation;
	return true;
}
