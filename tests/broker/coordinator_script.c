/* SPDX-License-Identifier: Apache-2.0 */
/* Says the same things to whatever coordinator listens at a port, and prints what it answers:
 *
 *     coordinator_script PORT GROUP TOPIC STORY
 *
 * One broker, GROUP not used before, TOPIC with at least two partitions. Member ids are printed as the members'
 * names, so that two coordinators that follow the same rules print the same lines. A request is a line "m1 > …" only
 * where nothing comes back yet; an answer is "m1 < …". */
#include "client.h"
#include "codec/find_coordinator.h"
#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/leave_group.h"
#include "codec/offset_commit.h"
#include "codec/offset_fetch.h"
#include "codec/sync_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 4, SILENCE_MS = 300 };

struct member {
	const char *name, *instance_id;
	struct client client;
	int join_version, session_ms, rebalance_ms;
	const char *protocols[3]; /* "range=subscription" */
	const char *protocol_type;
	char id[128], old_id[128];
	int32_t generation, waiting; /* the correlation id of what is not answered yet */
};

static const char *group, *topic;
static int port;
static struct member members[MEMBERS];

static const char *name_of(struct rg__bytes id)
{
	static char text[64];

	if (!id.data || !id.len)
		return id.data ? "''" : "null";
	for (int i = 0; i < MEMBERS; i++) {
		if (members[i].id[0] && rg__bytes_is(id, members[i].id))
			return members[i].name;
		if (members[i].old_id[0] && rg__bytes_is(id, members[i].old_id)) {
			snprintf(text, sizeof(text), "%s~", members[i].name);
			return text;
		}
	}
	return "?";
}

static struct member *member(const char *name, const char *instance_id)
{
	struct member *m = members;

	while (m->name)
		m++;
	*m = (struct member){.name = name,
			     .instance_id = instance_id,
			     .join_version = 9,
			     .session_ms = 10000,
			     .rebalance_ms = 20000,
			     .protocols = {"range=t"},
			     .protocol_type = "consumer",
			     .generation = -1};
	client_open(&m->client, port);
	return m;
}

static struct rg__bytes protocol_name(const char *protocol)
{
	return (struct rg__bytes){(const uint8_t *)protocol, strcspn(protocol, "=")};
}

static void join_begins(struct member *m)
{
	struct rg__join_group_request_protocol protocols[3];
	struct rg__join_group_request request;
	int count = 0;

	rg__fields_init(&rg__join_group_request_fields, &request);
	for (; count < 3 && m->protocols[count]; count++) {
		protocols[count].name = protocol_name(m->protocols[count]);
		protocols[count].metadata = rg__bytes_of(strchr(m->protocols[count], '=') + 1);
	}
	request.group_id = rg__bytes_of(group);
	request.session_timeout_ms = m->session_ms;
	request.rebalance_timeout_ms = m->rebalance_ms;
	request.member_id = rg__bytes_of(m->id);
	request.group_instance_id = rg__bytes_of(m->instance_id);
	request.protocol_type = rg__bytes_of(m->protocol_type);
	request.protocols = (struct rg__array){protocols, count};
	client_send(&m->client, RG__API_JOIN_GROUP, m->join_version, &request);
	m->waiting = m->client.correlation_id;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of their names: a broker's own order is that of a hash map. */
static void print_members(const struct rg__join_group_response *answer)
{
	const char *names[16];

	for (int32_t i = 0; i < answer->members.count && i < 16; i++)
		names[i] = name_of(RG__ITEMS(struct rg__join_group_response_member, answer->members)[i].member_id);
	qsort(names, (size_t)answer->members.count, sizeof(*names), compare_names);
	for (int32_t i = 0; i < answer->members.count; i++)
		printf(" %s", names[i]);
}

static int16_t join_ends(struct member *m)
{
	const struct rg__join_group_response *answer =
		client_hear(&m->client, RG__API_JOIN_GROUP, m->join_version, m->waiting);
	int16_t error = answer->error_code;

	if ((!error || error == 79) && !rg__bytes_is(answer->member_id, m->id)) {
		strcpy(m->old_id, m->id);
		snprintf(m->id, sizeof(m->id), "%.*s", (int)answer->member_id.len, (const char *)answer->member_id.data);
	}
	printf("%s < JoinGroup %d member=%s", m->name, error, name_of(answer->member_id));
	if (!error) {
		m->generation = answer->generation_id;
		printf(" gen=%d leader=%s protocol=%.*s%s members:", (int)answer->generation_id, name_of(answer->leader),
		       (int)answer->protocol_name.len, (const char *)answer->protocol_name.data,
		       answer->skip_assignment ? " skip" : "");
		print_members(answer);
	}
	printf("\n");
	return error;
}

static void join(struct member *m)
{
	join_begins(m);
	if (join_ends(m) == 79) {
		join_begins(m);
		join_ends(m);
	}
}

/* For a join that has to wait for others: with the two steps of KIP-394. */
static void join_waits(struct member *m)
{
	join_begins(m);
	if (!m->id[0] && !m->instance_id && m->join_version >= 4) {
		join_ends(m);
		join_begins(m);
	}
}

static void waits(struct member *m)
{
	printf("%s %s\n", m->name, client_silent(&m->client, SILENCE_MS) ? "waits" : "does not wait");
}

static void sync_begins(struct member *m, const char *plan)
{
	struct rg__sync_group_request_assignment parts[MEMBERS];
	struct rg__sync_group_request request;
	int32_t count = 0;

	rg__fields_init(&rg__sync_group_request_fields, &request);
	for (int i = 0; i < MEMBERS && plan; i++)
		if (members[i].name && strstr(plan, members[i].name)) {
			parts[count].member_id = rg__bytes_of(members[i].id);
			parts[count++].assignment = rg__bytes_of(members[i].name);
		}
	request.group_id = rg__bytes_of(group);
	request.generation_id = m->generation;
	request.member_id = rg__bytes_of(m->id);
	request.group_instance_id = rg__bytes_of(m->instance_id);
	request.protocol_type = rg__bytes_of(m->protocol_type);
	request.protocol_name = protocol_name(m->protocols[0]);
	request.assignments = (struct rg__array){parts, count};
	client_send(&m->client, RG__API_SYNC_GROUP, 5, &request);
	m->waiting = m->client.correlation_id;
}

static void sync_ends(struct member *m)
{
	const struct rg__sync_group_response *answer = client_hear(&m->client, RG__API_SYNC_GROUP, 5, m->waiting);

	printf("%s < SyncGroup %d '%.*s' type=%s\n", m->name, answer->error_code, (int)answer->assignment.len,
	       (const char *)answer->assignment.data, answer->protocol_type.data ? "said" : "null");
}

/* plan: names of members that get something; NULL: none. */
static void sync_group(struct member *m, const char *plan)
{
	sync_begins(m, plan);
	sync_ends(m);
}

static void sync_as(struct member *m, const char *type, const char *protocol)
{
	struct rg__sync_group_request request;

	rg__fields_init(&rg__sync_group_request_fields, &request);
	request.group_id = rg__bytes_of(group);
	request.generation_id = m->generation;
	request.member_id = rg__bytes_of(m->id);
	request.protocol_type = rg__bytes_of(type);
	request.protocol_name = rg__bytes_of(protocol);
	client_send(&m->client, RG__API_SYNC_GROUP, 5, &request);
	m->waiting = m->client.correlation_id;
	sync_ends(m);
}

static int16_t beat(struct member *m)
{
	struct rg__heartbeat_request request = {.group_id = rg__bytes_of(group),
						.generation_id = m->generation,
						.member_id = rg__bytes_of(m->id),
						.group_instance_id = rg__bytes_of(m->instance_id)};
	const struct rg__heartbeat_response *answer = client_ask(&m->client, RG__API_HEARTBEAT, 4, &request);

	return answer->error_code;
}

static void heartbeat(struct member *m)
{
	printf("%s < Heartbeat %d\n", m->name, beat(m));
}

static void leave_as(struct member *by, int version, struct rg__leave_group_request_member *entries, int32_t count)
{
	struct rg__leave_group_request request = {.group_id = rg__bytes_of(group), .member_id = rg__bytes_of("")};
	const struct rg__leave_group_response *answer;

	if (version < 3)
		request.member_id = entries[0].member_id;
	else
		request.members = (struct rg__array){entries, count};
	answer = client_ask(&by->client, RG__API_LEAVE_GROUP, version, &request);
	printf("%s < LeaveGroup %d", by->name, answer->error_code);
	for (int32_t i = 0; i < answer->members.count; i++) {
		const struct rg__leave_group_response_member *entry =
			&RG__ITEMS(struct rg__leave_group_response_member, answer->members)[i];

		printf(" %s=%d", name_of(entry->member_id), entry->error_code);
	}
	printf("\n");
}

static void leave(struct member *m)
{
	struct rg__leave_group_request_member entry = {.member_id = rg__bytes_of(m->id),
						       .group_instance_id = rg__bytes_of(m->instance_id)};

	leave_as(m, 5, &entry, 1);
}

static void commit_at(struct member *m, int version, const char *to, int32_t index, int64_t offset)
{
	struct rg__offset_commit_request_topic_partition partition = {.partition_index = index,
								      .committed_offset = offset,
								      .committed_leader_epoch = -1,
								      .committed_metadata = rg__bytes_of("")};
	struct rg__offset_commit_request_topic in = {.name = rg__bytes_of(to), .partitions = {&partition, 1}};
	struct rg__offset_commit_request request;
	const struct rg__offset_commit_response *answer;

	rg__fields_init(&rg__offset_commit_request_fields, &request);
	request.group_id = rg__bytes_of(group);
	request.generation_id_or_member_epoch = m->generation;
	request.member_id = rg__bytes_of(m->id);
	if (version >= 7)
		request.group_instance_id = rg__bytes_of(m->instance_id);
	request.topics = (struct rg__array){&in, 1};
	answer = client_ask(&m->client, RG__API_OFFSET_COMMIT, version, &request);
	printf("%s < OffsetCommit %d\n", m->name,
	       RG__ITEMS(struct rg__offset_commit_response_topic_partition,
			 RG__ITEMS(struct rg__offset_commit_response_topic, answer->topics)[0].partitions)[0].error_code);
}

static void commit(struct member *m, int version, const char *to, int64_t offset)
{
	commit_at(m, version, to, 0, offset);
}

static void fetch(struct member *m, int version)
{
	int32_t indexes[] = {0, 1};
	struct rg__offset_fetch_request_topic in = {.name = rg__bytes_of(topic), .partition_indexes = {indexes, 2}};
	struct rg__offset_fetch_request request;
	const struct rg__offset_fetch_response *answer;

	rg__fields_init(&rg__offset_fetch_request_fields, &request);
	request.group_id = rg__bytes_of(group);
	request.topics = (struct rg__array){&in, 1};
	answer = client_ask(&m->client, RG__API_OFFSET_FETCH, version, &request);
	printf("%s < OffsetFetch %d", m->name, answer->error_code);
	for (int32_t t = 0; t < answer->topics.count; t++)
		for (int32_t p = 0; p < 2; p++)
			printf(" %lld", (long long)RG__ITEMS(struct rg__offset_fetch_response_topic_partition,
							     RG__ITEMS(struct rg__offset_fetch_response_topic,
								       answer->topics)[t].partitions)[p].committed_offset);
	printf("\n");
}

/* A broker makes its offsets topic when first asked, and then loads it; until a heartbeat hears 25 there is no
 * coordinator. */
static void wait_for_coordinator(void)
{
	struct rg__bytes key = rg__bytes_of(group);
	struct rg__find_coordinator_request find;
	struct rg__heartbeat_request beat = {
		.group_id = key, .member_id = rg__bytes_of("nobody"), .group_instance_id = RG__NULL_BYTES};
	struct client client;
	int16_t error = 0;

	rg__fields_init(&rg__find_coordinator_request_fields, &find);
	find.key = key;
	client_open(&client, port);
	for (int i = 0; error != 25 && i < 600; i++) {
		if (i)
			nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
		client_ask(&client, RG__API_FIND_COORDINATOR, 3, &find);
		error = ((const struct rg__heartbeat_response *)client_ask(&client, RG__API_HEARTBEAT, 4, &beat))->error_code;
	}
	client_close(&client);
}

/* A further process with the same member's name on its door. */
static struct member *twin(const struct member *of, const char *name)
{
	struct member *m = member(name, of->instance_id);

	strcpy(m->id, of->id);
	m->generation = of->generation;
	return m;
}

/* Until a member hears that a rebalance is on: what was sent on another connection has arrived. */
static void until_rebalance(struct member *m)
{
	int16_t error = 0;

	for (int i = 0; error != 27 && i < 2000; i++) {
		if (i)
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		error = beat(m);
	}
}

static void two_members(struct member *m1, struct member *m2)
{
	join(m1);
	join_waits(m2);
	until_rebalance(m1);
	join(m1);
	join_ends(m2);
	sync_begins(m2, NULL);
	sync_group(m1, "m1 m2");
	sync_ends(m2);
}

static void not_yet_stable(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", NULL);

	join(m1);
	join_waits(m2);
	waits(m2);
	sync_group(m1, "m1");
	join(m1);
	join_ends(m2);
	sync_begins(m2, NULL);
	waits(m2);
	sync_group(m1, "m1 m2");
	sync_ends(m2);
	heartbeat(m1);
	heartbeat(m2);
}

static void rejoining(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", NULL);

	two_members(m1, m2);
	join(m2); /* unchanged follower */
	sync_group(m2, NULL);
	heartbeat(m1);
	join_begins(m1); /* the leader */
	waits(m1);
	heartbeat(m2);
	commit(m2, 8, topic, 7);
	sync_group(m2, NULL);
	join(m2);
	join_ends(m1);
	heartbeat(m2);
	commit(m2, 8, topic, 8);
	join(m2); /* the same again while the plan is awaited */
	join(m1);
	sync_begins(m2, NULL);
	waits(m2);
	sync_group(m1, "m1"); /* m2 is left out */
	sync_ends(m2);
	fetch(m1, 7);
	m2->protocols[0] = "range=u";
	join_begins(m2);
	waits(m2);
	join(m1);
	join_ends(m2);
}

static void wrong_things(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", NULL);

	strcpy(m2->id, "nobody");
	join(m2); /* no such group */
	heartbeat(m2);
	sync_group(m2, NULL);
	leave(m2);
	m2->generation = 3;
	commit(m2, 8, topic, 1);
	commit(m2, 9, topic, 1);
	fetch(m2, 7);
	join(m1);
	sync_group(m1, "m1");
	join(m2);
	heartbeat(m2);
	sync_group(m2, NULL);
	commit(m2, 8, topic, 1);
	leave(m2);
	m1->generation = 0;
	heartbeat(m1);
	sync_group(m1, NULL);
	commit(m1, 8, topic, 1);
	m1->generation = 1;
	sync_as(m1, "connect", "range");
	sync_as(m1, NULL, NULL);
	sync_as(m1, "consumer", NULL);
	sync_as(m1, "consumer", "roundrobin");
	sync_as(m1, "consumer", "range");
	commit(m1, 8, "no-such-topic-at-all", 1);
	commit_at(m1, 8, topic, 99, 1);
	commit_at(m1, 8, topic, -1, 1);
	m2->id[0] = '\0';
	m2->protocols[0] = "roundrobin=t";
	join(m2);
	m2->protocols[0] = "range=t";
	m2->protocol_type = "connect";
	join(m2);
	m2->protocol_type = "consumer";
	m2->session_ms = 1;
	join(m2);
	m2->session_ms = 2000000;
	join(m2);
	m1->protocols[0] = "roundrobin=t"; /* a lone member with another list */
	join(m1);
	group = "";
	join(m2);
	heartbeat(m2);
	sync_group(m2, NULL);
}

static void static_members(void)
{
	struct member *m1 = member("m1", "i1"), *m2 = member("m2", "i2"), *old;

	two_members(m1, m2);
	old = twin(m1, "old");
	m1->id[0] = '\0';
	join(m1); /* the leader restarts */
	sync_group(m1, NULL);
	heartbeat(m1);
	heartbeat(old);
	sync_group(old, NULL);
	commit(old, 8, topic, 1);
	join(old);
	leave(old);
	old->instance_id = NULL;
	heartbeat(old);
	m1->join_version = 8;
	m1->id[0] = '\0';
	join(m1);
	m2->id[0] = '\0';
	join(m2);
	sync_group(m2, NULL);
	m2->instance_id = "i9"; /* known id, unknown instance */
	heartbeat(m2);
	join(m2);
}

static void leaving(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", "i2"), *m3 = member("m3", NULL);
	struct rg__leave_group_request_member entries[4];

	two_members(m1, m2);
	join_begins(m3);
	join_ends(m3); /* only its id */
	entries[0] = (struct rg__leave_group_request_member){.member_id = rg__bytes_of(m3->id)};
	entries[1] = (struct rg__leave_group_request_member){.member_id = rg__bytes_of("ghost")};
	entries[2] = (struct rg__leave_group_request_member){.member_id = rg__bytes_of(m1->id),
							     .group_instance_id = rg__bytes_of("i2")};
	entries[3] = (struct rg__leave_group_request_member){.member_id = rg__bytes_of(""),
							     .group_instance_id = rg__bytes_of("i2")};
	leave_as(m1, 5, entries, 4);
	heartbeat(m1);
	heartbeat(m2);
	entries[0].member_id = rg__bytes_of("ghost");
	leave_as(m1, 2, entries, 1);
	entries[0].member_id = rg__bytes_of(m1->id);
	leave_as(m1, 2, entries, 1);
	heartbeat(m1);
	join(m1);
	m3->generation = -1;
	strcpy(m3->id, "");
	m3->protocol_type = "connect"; /* an empty group takes any type; its generation goes on */
	join(m3);
	sync_group(m3, "m3");
	m2->id[0] = '\0';
	m2->instance_id = NULL;
	m2->generation = -1;
	commit(m2, 8, topic, 3); /* as nobody, while somebody is there */
	leave(m3);
	commit(m2, 8, topic, 4); /* and while nobody is */
	fetch(m2, 7);
	fetch(m2, 1);
}

static void time_passes(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", NULL), *slow = member("slow", NULL);

	m1->rebalance_ms = m2->rebalance_ms = 3000;
	two_members(m1, m2);
	slow->session_ms = 1500;
	join_begins(slow);
	join_ends(slow); /* gets an id and does not come back */
	join_begins(m1);
	until_rebalance(m2);
	join_begins(m2);
	waits(m1);
	join_ends(m1); /* when slow's session is over */
	join_ends(m2);
	join(slow);
	sync_begins(m2, NULL);
	waits(m2);
	sync_ends(m2); /* m1 never makes a plan: its time is over */
	heartbeat(m1);
	join(m2);
	sync_group(m2, "m2");
}

/* SyncGroup in a Stable group is no sign of life. */
static void only_syncs(void)
{
	struct member *m1 = member("m1", NULL);

	m1->session_ms = 4000;
	join(m1);
	sync_group(m1, "m1");
	for (int i = 0; i < 2; i++) {
		nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 500000000}, NULL);
		sync_group(m1, "m1");
	}
	heartbeat(m1);
}

static void superseded(void)
{
	struct member *m1 = member("m1", NULL), *m2 = member("m2", NULL), *again;

	two_members(m1, m2);
	again = twin(m1, "again");
	again->session_ms = m1->session_ms;
	join_begins(m1);
	waits(m1);
	join_begins(again);
	waits(again);
	waits(m1);
	m1->id[0] = '\0'; /* so that `again` is the name that is printed */
	join(m2);
	join_ends(again);
	waits(m1);
}

static const struct {
	const char *name;
	void (*tell)(void);
} stories[] = {{"not_yet_stable", not_yet_stable}, {"rejoining", rejoining},     {"wrong_things", wrong_things},
	       {"static_members", static_members}, {"leaving", leaving},         {"time_passes", time_passes},
	       {"only_syncs", only_syncs},         {"superseded", superseded}};

int main(int argc, char **argv)
{
	if (argc != 5) {
		for (size_t i = 0; i < sizeof(stories) / sizeof(*stories); i++)
			puts(stories[i].name);
		return argc == 1 ? EXIT_SUCCESS : 2;
	}
	port = atoi(argv[1]);
	group = argv[2];
	topic = argv[3];
	for (size_t i = 0; i < sizeof(stories) / sizeof(*stories); i++) {
		if (strcmp(stories[i].name, argv[4]) != 0)
			continue;
		wait_for_coordinator();
		stories[i].tell();
		for (int m = 0; m < MEMBERS; m++)
			if (members[m].name)
				client_close(&members[m].client);
		return EXIT_SUCCESS;
	}
	return 2;
}
