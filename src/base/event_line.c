/* SPDX-License-Identifier: Apache-2.0 */
#include "base/event_line.h"

#include "base/json.h"

#include <inttypes.h>

void rg__event_begin(struct rg__event_line *line, int64_t t_us, const char *src, const char *member, int32_t generation,
                     const char *event)
{
	line->buf.len = 0;
	line->buf.failed = false;
	rg__buf_printf(&line->buf, "{\"t_us\":%" PRId64 ",\"src\":\"%s\",\"member\":", t_us, src);
	rg__json_string(&line->buf, rg__bytes_of(member ? member : ""));
	rg__buf_printf(&line->buf, ",\"gen\":%" PRId32 ",\"event\":\"%s\"", generation, event);
}

static void name_of(struct rg__event_line *line, const char *name)
{
	rg__buf_printf(&line->buf, ",\"%s\":", name);
}

void rg__event_bytes(struct rg__event_line *line, const char *name, struct rg__bytes value)
{
	if (!value.data)
		return;
	name_of(line, name);
	rg__json_string(&line->buf, value);
}

void rg__event_str(struct rg__event_line *line, const char *name, const char *value)
{
	rg__event_bytes(line, name, rg__bytes_of(value));
}

void rg__event_int(struct rg__event_line *line, const char *name, int64_t value)
{
	name_of(line, name);
	rg__buf_printf(&line->buf, "%" PRId64, value);
}

void rg__event_bool(struct rg__event_line *line, const char *name, bool value)
{
	name_of(line, name);
	rg__buf_append_str(&line->buf, value ? "true" : "false");
}

void rg__event_partitions_begin(struct rg__event_line *line, const char *name)
{
	name_of(line, name);
	rg__buf_append_str(&line->buf, "{");
}

void rg__event_partition(struct rg__event_line *line, const char *topic, int32_t partition, bool first_of_all,
                         bool first_of_topic)
{
	if (first_of_topic) {
		rg__buf_append_str(&line->buf, first_of_all ? "" : "],");
		rg__json_string(&line->buf, rg__bytes_of(topic));
		rg__buf_append_str(&line->buf, ":[");
	}
	rg__buf_printf(&line->buf, first_of_topic ? "%" PRId32 : ",%" PRId32, partition);
}

void rg__event_partitions_end(struct rg__event_line *line, bool any)
{
	rg__buf_append_str(&line->buf, any ? "]}" : "}");
}

const char *rg__event_end(struct rg__event_line *line)
{
	rg__buf_append(&line->buf, "}", 2);
	return line->buf.failed ? NULL : (const char *)line->buf.data;
}

void rg__event_free(struct rg__event_line *line)
{
	rg__buf_free(&line->buf);
}
