/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_EVENT_LINE_H
#define RG__BASE_EVENT_LINE_H

/* One JSON object on one line, as every event stream of the project has them:
 * {"t_us":1,"src":"client","member":"m","gen":3,"event":"complete","leader":true}. A small writer: begin, fields, end. */

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct rg__event_line {
	struct rg__buf buf;
};

void rg__event_begin(struct rg__event_line *line, int64_t t_us, const char *src, const char *member, int32_t generation,
                     const char *event);
void rg__event_str(struct rg__event_line *line, const char *name, const char *value); /* NULL: left out */
void rg__event_bytes(struct rg__event_line *line, const char *name, struct rg__bytes value); /* null: left out */
void rg__event_int(struct rg__event_line *line, const char *name, int64_t value);
void rg__event_bool(struct rg__event_line *line, const char *name, bool value);

/* "partitions":{"topic":[0,1]}: open, then each partition with the topics grouped, then close. */
void rg__event_partitions_begin(struct rg__event_line *line, const char *name);
void rg__event_partition(struct rg__event_line *line, const char *topic, int32_t partition, bool first_of_all,
                         bool first_of_topic);
void rg__event_partitions_end(struct rg__event_line *line, bool any);

/* The finished line, NUL-terminated, without a line end; NULL when memory ran out. Lives until the next begin or free. */
const char *rg__event_end(struct rg__event_line *line);
void rg__event_free(struct rg__event_line *line);

#endif
