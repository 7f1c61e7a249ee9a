/* SPDX-License-Identifier: Apache-2.0 */
#include "testkit/kit.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

enum { LINES_MAX = 65536 };

rg_err rg__kit_sink_open(struct rg_testkit *kit, rg_error *error)
{
	struct rg__kit_sink *sink = &kit->sink;
	const char *path = kit->conf.events_path;

	sink->lines = rg__calloc(LINES_MAX, sizeof(*sink->lines));
	if (!sink->lines)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	if (!path)
		return RG_OK;
	sink->close_file = strcmp(path, "-") != 0;
	sink->file = sink->close_file ? fopen(path, "w") : stdout;
	if (!sink->file)
		return rg__fail(error, RG_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	return RG_OK;
}

void rg__kit_sink_close(struct rg_testkit *kit)
{
	struct rg__kit_sink *sink = &kit->sink;

	for (; sink->lines && sink->count; sink->count--, sink->first = (sink->first + 1) % LINES_MAX)
		rg__free(sink->lines[sink->first]);
	rg__free(sink->lines);
	rg__free(sink->last);
	rg__event_free(&sink->line);
	if (sink->file && sink->close_file)
		fclose(sink->file);
}

static bool keep(struct rg_testkit *kit, const char *line)
{
	struct rg__kit_sink *sink = &kit->sink;
	char *copy = rg__strdup(line), *last = rg__strdup(line);

	if (!copy || !last) {
		rg__free(copy);
		rg__free(last);
		return false;
	}
	pthread_mutex_lock(&kit->lock);
	if (sink->count == LINES_MAX) {
		rg__free(sink->lines[sink->first]);
		sink->first = (sink->first + 1) % LINES_MAX;
		sink->count--;
	}
	sink->lines[(sink->first + sink->count++) % LINES_MAX] = copy;
	rg__free(sink->last);
	sink->last = last;
	kit->changes++;
	pthread_cond_broadcast(&kit->changed);
	pthread_mutex_unlock(&kit->lock);
	return true;
}

static int64_t unix_us(void)
{
	uv_timeval64_t now = {0};

	uv_gettimeofday(&now);
	return now.tv_sec * 1000000 + now.tv_usec;
}

void rg__kit_emit(struct rg_testkit *kit, const struct rg__kit_event *event)
{
	const char *line = rg__kit_event_line(event, unix_us(), &kit->sink.line);

	if (!line || !keep(kit, line)) {
		rg__kit_break(kit, "while an event was written");
		return;
	}
	if (kit->sink.file) {
		fprintf(kit->sink.file, "%s\n", line);
		fflush(kit->sink.file);
	}
	if (kit->conf.on_event)
		kit->conf.on_event(line, kit->conf.user);
}

/* Takes lines off the store up to the first that matches. Under the lock. */
static bool find(struct rg__kit_sink *sink, const char *pattern)
{
	bool found = false;

	while (!found && sink->count) {
		found = fnmatch(pattern, sink->lines[sink->first], 0) == 0;
		rg__free(sink->lines[sink->first]);
		sink->first = (sink->first + 1) % LINES_MAX;
		sink->count--;
	}
	return found;
}

rg_err rg_testkit_wait(rg_testkit *kit, const char *pattern, int timeout_ms, rg_error *error)
{
	int64_t until_us = rg__kit_now_us() + (int64_t)timeout_ms * 1000;
	bool found, late = false;

	if (rg__kit_on_own_thread(kit))
		return rg__fail(error, RG_ERR_STATE, "not possible inside the event callback of the test kit");
	if (!pattern)
		return rg__fail(error, RG_ERR_INVALID, "no pattern to wait for");
	for (;;) {
		uint64_t seen;

		pthread_mutex_lock(&kit->lock);
		seen = kit->changes;
		found = find(&kit->sink, pattern);
		if (!found && late)
			rg__fail(error, RG_ERR_TIMED_OUT, "no event like %s within %d ms; the last one was %s", pattern,
				 timeout_ms, kit->sink.last ? kit->sink.last : "none");
		pthread_mutex_unlock(&kit->lock);
		if (found)
			return RG_OK;
		if (late)
			return RG_ERR_TIMED_OUT;
		rg__kit_wait_change(kit, seen, until_us);
		late = rg__kit_now_us() >= until_us;
	}
}
