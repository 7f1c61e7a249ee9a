/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CODEC_STICKY_H
#define RG__CODEC_STICKY_H

/* The userdata of Kafka's "sticky" and "cooperative-sticky" assignors, inside a subscription. Neither carries a
 * version: sticky's versions are told apart by their length (KIP-341 appended the generation). */

#include "codec/codec.h"

struct rg__sticky_user_data {
	struct rg__array previous_assignment; /* of struct rg__sticky_user_data_previous_assignment */
	int32_t generation;                   /* -1: version 0, which does not say */
};

struct rg__sticky_user_data_previous_assignment {
	struct rg__bytes topic;
	struct rg__array partitions; /* of int32_t */
};

struct rg__cooperative_sticky_user_data {
	int32_t generation;
};

extern const struct rg__fields rg__sticky_user_data_fields;
extern const struct rg__fields rg__sticky_user_data_previous_assignment_fields;
extern const struct rg__fields rg__cooperative_sticky_user_data_fields;

/* Always written with the generation (version 1). */
bool rg__sticky_user_data_encode(const struct rg__sticky_user_data *user_data, struct rg__buf *out,
				 struct rg__codec_error *err);

/* Reads version 1, or version 0 if there is no generation behind the topics. */
bool rg__sticky_user_data_decode(struct rg__bytes in, struct rg__arena *arena,
				 struct rg__sticky_user_data *ret_user_data, struct rg__codec_error *err);

bool rg__cooperative_sticky_user_data_encode(int32_t generation, struct rg__buf *out, struct rg__codec_error *err);
bool rg__cooperative_sticky_user_data_decode(struct rg__bytes in, int32_t *ret_generation,
					     struct rg__codec_error *err);

#endif
