/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the records of a consumer group's partitions. */
#include "common.h"
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"Usage: regroup-consume -b BOOTSTRAP -g GROUP -t TOPIC[,TOPIC] [OPTION]…\n"
	"Consumes as a member of a group: prints records to stdout, rebalances to stderr.\n"
	"\n"
	"  -b HOST:PORT[,…]      brokers to begin with\n"
	"  -g GROUP              the group\n"
	"  -t TOPIC[,…]          the topics; may be repeated\n"
	"  -a ASSIGNOR[,…]       assignors, best first\n"
	"  -X KEY=VALUE          any property of regroup or librdkafka; see regroup_conf(7)\n"
	"  -f FORMAT             how to print a record (default: %s\\n), as kcat's: %t topic, %p partition, %o offset,\n"
	"                        %T timestamp, %k key, %K its length, %s payload, %S its length, %R its length in 4 bytes,\n"
	"                        %h headers; \\n \\r \\t \\0 \\\\ \\xHH; %%\n"
	"  -c COUNT              ends after so many records\n"
	"  -e                    ends when all partitions it has are at their ends\n"
	"  --events FILE         events as JSON lines to FILE (-: stdout) instead of lines on stderr\n"
	"  --delay-callback MS   each listener call takes that long\n"
	"  --delay-assign MS     the assignor takes that long\n"
	"  --stall-after MS      stops polling from then on\n"
	"  --version             the versions of this program and of librdkafka\n"
	"  --help                this text\n"
	"\n"
	"SIGINT and SIGTERM commit and leave the group; with group.instance.id the seat is kept.\n"
	"Exit code: 0, 1 after a fatal error or when something could not be written, 2 for bad usage.\n";

/* --- Are we at the end? ------------------------------------------------------------------------------------------- */

/* Partitions that are ours and may have more; looked at only while no rebalance is under way. */
static struct {
	rd_kafka_topic_partition_list_t *unread;
	bool settled;
} ends;

static void unsettle(rg_consumer *consumer, const rg_generation *generation, void *user)
{
	(void)consumer;
	(void)generation;
	(void)user;
	ends.settled = false;
}

static void add_unread(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	(void)consumer;
	(void)user;
	for (int i = 0; i < partitions->cnt; i++)
		rd_kafka_topic_partition_list_add(ends.unread, partitions->elems[i].topic, partitions->elems[i].partition);
	ends.settled = true;
}

static void remove_unread(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, void *user)
{
	(void)consumer;
	(void)user;
	for (int i = 0; i < partitions->cnt; i++)
		rd_kafka_topic_partition_list_del(ends.unread, partitions->elems[i].topic, partitions->elems[i].partition);
}

static void remove_lost(rg_consumer *consumer, const rd_kafka_topic_partition_list_t *partitions, rg_cause cause,
                        void *user)
{
	(void)cause;
	remove_unread(consumer, partitions, user);
}

static void at_end(const rd_kafka_message_t *message)
{
	rd_kafka_topic_partition_list_del(ends.unread, rd_kafka_topic_name(message->rkt), message->partition);
}

/* A record behind what was the end: there is a new one, which will be told too. */
static void not_at_end(const rd_kafka_message_t *record)
{
	const char *topic = rd_kafka_topic_name(record->rkt);

	if (!rd_kafka_topic_partition_list_find(ends.unread, topic, record->partition))
		rd_kafka_topic_partition_list_add(ends.unread, topic, record->partition);
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

/* The next poll may commit this record, so it is written out before: to see a record twice after a crash is better than
 * not at all. What could not be written must not be committed by an orderly end either. */
static void print_record(const struct app *app, const rd_kafka_message_t *record)
{
	format_print(stdout, app->format, record);
	if (fflush(stdout) || ferror(stdout)) {
		app_say(app, "cannot write: %s", strerror(errno));
		_Exit(1);
	}
}

int main(int argc, char **argv)
{
	struct app app = {
		.name = "regroup-consume",
		.help = help,
		.prints_records = true,
		.hooks = {
			.on_join_prepare = unsettle,
			.on_revoked = remove_unread,
			.on_lost = remove_lost,
			.on_assigned = add_unread,
		},
	};
	long long seen = 0;

	ends.unread = rd_kafka_topic_partition_list_new(16);
	app_options(&app, argc, argv);
	app_start(&app);
	while (app_goes_on(&app) && !(app.count && seen >= app.count) &&
	       !(app.exit_at_end && ends.settled && !ends.unread->cnt)) {
		rd_kafka_message_t *message = app_poll(&app);

		if (!message)
			continue;
		if (!message->err) {
			seen++;
			not_at_end(message);
			print_record(&app, message);
		} else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
			at_end(message);
		} else {
			app_say(&app, "%s", rd_kafka_message_errstr(message));
		}
		rd_kafka_message_destroy(message);
	}
	rd_kafka_topic_partition_list_t *unread = ends.unread;
	int code = app_end(&app);

	rd_kafka_topic_partition_list_destroy(unread);
	return code;
}
