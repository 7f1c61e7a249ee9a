/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_HOSTILE_H
#define TESTS_FUZZ_HOSTILE_H

/* Two brokers on a simulated network that answer as the input says; without input, as good ones do. */

#include "fuzz.h"
#include "sim_io.h"

struct world {
	struct sim sim;
	struct sim_server servers[2]; /* 10.0.0.1 and 10.0.0.2 */
	struct input input;
	bool healed; /* there is no input any more */
	bool mute;   /* no request is answered */
	bool leads;  /* the member is made the leader */
	int32_t generation;
	int64_t requests;   /* all that arrived */
	int16_t last_error; /* of the last answer with one */
};

void world_begin(struct world *world, struct input input);
void world_end(struct world *world); /* checks that nothing is left */

#endif
