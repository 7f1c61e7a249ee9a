/* SPDX-License-Identifier: Apache-2.0 */
#include "rebalance.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* t[0-3,5] u[1]: topics as they come, neighbours as a range. */
static void print_partitions(FILE *out, const rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_topic_partition_list_t *sorted = rd_kafka_topic_partition_list_copy(list);

	if (!sorted->cnt)
		fputs("nothing", out);
	rd_kafka_topic_partition_list_sort(sorted, NULL, NULL);
	for (int i = 0, first; i < sorted->cnt; i++) {
		const rd_kafka_topic_partition_t *at = &sorted->elems[i];
		bool same_topic = i && !strcmp(at[-1].topic, at->topic);

		if (same_topic)
			fprintf(out, ",%d", (int)at->partition);
		else
			fprintf(out, "%s%s[%d", i ? "] " : "", at->topic, (int)at->partition);
		for (first = i; i + 1 < sorted->cnt && !strcmp(at->topic, sorted->elems[i + 1].topic) &&
		                sorted->elems[i + 1].partition == sorted->elems[i].partition + 1;)
			i++;
		if (i > first)
			fprintf(out, "-%d", (int)sorted->elems[i].partition);
	}
	if (sorted->cnt)
		fputc(']', out);
	rd_kafka_topic_partition_list_destroy(sorted);
}

/* One line: the time, what is called, which partitions (NULL: not said), and more. With --events the same stands in
 * the events. */
static void print_line(const struct app *app, const char *what, const rd_kafka_topic_partition_list_t *partitions,
                       const char *format, ...)
{
	struct timespec now;
	struct tm local;
	va_list args;

	if (app->events)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	flockfile(stderr);
	fprintf(stderr, "%02d:%02d:%02d.%03d %-8s ", local.tm_hour, local.tm_min, local.tm_sec, (int)(now.tv_nsec / 1000000),
	        what);
	if (partitions)
		print_partitions(stderr, partitions);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* --- The listener ------------------------------------------------------------------------------------------------- */

static void on_join_prepare(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	struct app *app = user;

	if (generation->id < 0)
		print_line(app, "prepare", NULL, "to join%s%s", *generation->reason ? ": " : "", generation->reason);
	else
		print_line(app, "prepare", NULL, "generation %d ends%s%s", (int)generation->id, *generation->reason ? ": " : "",
		           generation->reason);
	if (app->hooks.on_join_prepare)
		app->hooks.on_join_prepare(consumer, generation, app);
	app_sleep(app->delay_callback_ms);
}

static void on_revoked(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user)
{
	struct app *app = user;

	print_line(app, "revoked", partitions, "%s", "");
	if (app->hooks.on_revoked)
		app->hooks.on_revoked(consumer, partitions, app);
	app_sleep(app->delay_callback_ms);
}

static void on_lost(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause,
                    void *user)
{
	struct app *app = user;

	print_line(app, "lost", partitions, ": %s", rg_cause_name(cause));
	if (app->hooks.on_lost)
		app->hooks.on_lost(consumer, partitions, cause, app);
	app_sleep(app->delay_callback_ms);
}

static void on_join_complete(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	struct app *app = user;

	print_line(app, "complete", NULL, "generation %d as %s, %s, member %s", (int)generation->id,
	           generation->is_leader ? "leader" : "follower", generation->protocol, generation->member_id);
	if (app->hooks.on_join_complete)
		app->hooks.on_join_complete(consumer, generation, app);
	app_sleep(app->delay_callback_ms);
}

static void on_assigned(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	struct app *app = user;

	print_line(app, "assigned", partitions, "%s", "");
	if (app->hooks.on_assigned)
		app->hooks.on_assigned(consumer, partitions, app);
	app_sleep(app->delay_callback_ms);
}

const rg_listener rebalance_listener = {
	.size = sizeof(rg_listener),
	.on_join_prepare = on_join_prepare,
	.on_revoked = on_revoked,
	.on_lost = on_lost,
	.on_join_complete = on_join_complete,
	.on_assigned = on_assigned,
};

/* --- Slow assignors ----------------------------------------------------------------------------------------------- */

struct slow {
	const rg_assignor *real;
	int delay_ms;
};

static rg_err assign_slowly(const rg_group *group, rg_plan *plan, rg_error *error, void *user)
{
	const struct slow *slow = user;

	app_sleep(slow->delay_ms);
	return slow->real->assign(group, plan, error, NULL);
}

rg_err rebalance_slow_assignors(struct app *app, rg_error *error)
{
	static struct slow slow[8];
	char names[1024] = "";
	size_t count = 0;

	rg_conf_get(app->conf, "partition.assignment.strategy", names, sizeof(names), NULL);
	for (char *rest, *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
		const rg_assignor *real = rg_assignor_builtin(name);
		rg_assignor slower;
		rg_err err;

		if (!real || count == sizeof(slow) / sizeof(*slow))
			continue; /* an unknown name is for the consumer to refuse */
		slow[count] = (struct slow){real, app->delay_assign_ms};
		slower = (rg_assignor){
			.size = sizeof(slower), .name = real->name, .protocols = real->protocols, .assign = assign_slowly};
		err = rg_conf_add_assignor(app->conf, &slower, &slow[count++], error);
		if (err)
			return err;
	}
	return RG_OK;
}
