/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a seat in a group and shows each rebalance, without reading records: to watch a group, or to disturb one. */
#include "common.h"

static const char help[] =
	"Usage: regroup-member -b BOOTSTRAP -g GROUP -t TOPIC[,TOPIC] [OPTION]…\n"
	"Takes part in a consumer group without consuming, and prints each rebalance to stderr.\n"
	"\n"
	"  -b HOST:PORT[,…]      brokers to begin with\n"
	"  -g GROUP              the group\n"
	"  -t TOPIC[,…]          the topics; may be repeated\n"
	"  -a ASSIGNOR[,…]       assignors, best first\n"
	"  -X KEY=VALUE          any property of regroup or librdkafka; see regroup_conf(7)\n"
	"  --events FILE         events as JSON lines to FILE (-: stdout) instead of lines on stderr\n"
	"  --delay-callback MS   each listener call takes that long\n"
	"  --delay-assign MS     the assignor takes that long\n"
	"  --stall-after MS      stops polling from then on\n"
	"  --version             the versions of this program and of librdkafka\n"
	"  --help                this text\n"
	"\n"
	"SIGINT and SIGTERM leave the group; with group.instance.id the seat is kept.\n"
	"Exit code: 0, 1 after a fatal error or when something could not be written, 2 for bad usage.\n";

/* From their ends nothing has to be fetched, and no committed offset is asked for. */
static void start_at_the_end(rg_consumer *consumer, rd_kafka_topic_partition_list_t *partitions, void *user)
{
	(void)consumer;
	(void)user;
	for (int i = 0; i < partitions->cnt; i++)
		partitions->elems[i].offset = RD_KAFKA_OFFSET_END;
}

int main(int argc, char **argv)
{
	struct app app = {.name = "regroup-member", .help = help, .hooks.on_assigned = start_at_the_end};

	app_options(&app, argc, argv);
	app_start(&app);
	while (app_goes_on(&app)) {
		rd_kafka_message_t *message = app_poll(&app);

		if (!message)
			continue;
		if (message->err)
			app_say(&app, "%s", rd_kafka_message_errstr(message));
		rd_kafka_message_destroy(message);
	}
	return app_end(&app);
}
