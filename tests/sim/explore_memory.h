/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_EXPLORE_MEMORY_H
#define TESTS_SIM_EXPLORE_MEMORY_H

/* All that the library allocates lies in one piece of memory, here, so that a whole world can be put aside and taken up again
 * by copying that. Linked in place of the library's own base/alloc.c. */

#include <stddef.h>
#include <stdint.h>

struct memory_copy {
	uint8_t *bytes; /* free() */
	size_t len, room;
};

void memory_save(struct memory_copy *copy);
void memory_restore(const struct memory_copy *copy); /* pointers into what was allocated then are good again, others are not */

#endif
