/* SPDX-License-Identifier: Apache-2.0 */
/* regroup-plan: the group from a running one, through librdkafka's administrative calls; it is not joined. */
#include "plan_live.h"

#include "plan_admin.h"

#include <string.h>

enum { TIMEOUT_MS = 10000 };

/* What librdkafka has to complain about while it is asked; a cause that repeats is told once. Called on its threads. */
static void write_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	static char last[512];
	enum { WARNING = 4 };

	(void)rk;
	(void)facility;
	flockfile(stderr);
	if (level <= WARNING && strcmp(text, last) != 0) {
		snprintf(last, sizeof(last), "%s", text);
		fprintf(stderr, "regroup-plan: librdkafka: %s\n", text);
	}
	funlockfile(stderr);
}

static bool set_pair(rd_kafka_conf_t *conf, const char *pair, rg_error *error)
{
	const char *equals = strchr(pair, '=');
	char *key = model_text(pair), text[256];

	if (!equals || equals == pair)
		return model_fail(error, "-X %s: it must be KEY=VALUE", pair);
	key[equals - pair] = '\0';
	if (!strcmp(key, "bootstrap.servers") || !strcmp(key, "metadata.broker.list") || !strcmp(key, "group.id"))
		return model_fail(error, "-X %s: that is for -%c", pair, strcmp(key, "group.id") ? 'b' : 'g');
	return rd_kafka_conf_set(conf, key, equals + 1, text, sizeof(text)) == RD_KAFKA_CONF_OK ||
	       model_fail(error, "-X %s: %s", pair, text);
}

bool plan_live_configure(struct plan_live *from, rg_error *error)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];
	bool ok = rd_kafka_conf_set(conf, "bootstrap.servers", from->bootstrap, text, sizeof(text)) == RD_KAFKA_CONF_OK ||
	          model_fail(error, "-b %s: %s", from->bootstrap, text);

	rd_kafka_conf_set(conf, "log.thread.name", "false", NULL, 0);
	rd_kafka_conf_set_log_cb(conf, write_log);
	for (int i = 0; ok && i < from->property_count; i++)
		ok = set_pair(conf, from->properties[i], error);
	if (ok)
		from->conf = conf;
	else
		rd_kafka_conf_destroy(conf);
	return ok;
}

static rd_kafka_t *connect_to(struct plan_live *from, rg_error *error)
{
	char text[256];
	rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, from->conf, text, sizeof(text));

	if (!rk) {
		rd_kafka_conf_destroy(from->conf);
		model_fail(error, "%s", text);
	}
	from->conf = NULL;
	return rk;
}

/* A consumer's subscription (protocol versions 0 to 3), or the part of it that is left to read; big-endian. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool failed;
};

static int32_t read_number(struct reader *r, size_t size)
{
	uint32_t value = 0;

	if (r->failed || r->left < size) {
		r->failed = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value = value << 8 | r->at[i];
	r->at += size;
	r->left -= size;
	return size == 2 ? (int16_t)value : (int32_t)value;
}

/* A length of `width` bytes and as many bytes; NULL for null or when that is broken. */
static const uint8_t *read_bytes(struct reader *r, size_t width, size_t *ret_len)
{
	int32_t len = read_number(r, width);
	const uint8_t *bytes = r->at;

	*ret_len = 0;
	if (r->failed || len < 0 || (size_t)len > r->left) {
		r->failed = r->failed || len >= 0;
		return NULL;
	}
	r->at += len;
	r->left -= (size_t)len;
	*ret_len = (size_t)len;
	return bytes;
}

static const char *read_text(struct reader *r)
{
	size_t len;
	const uint8_t *bytes = read_bytes(r, 2, &len);
	char *text = bytes ? model_alloc(len + 1, 1) : NULL;

	if (text)
		memcpy(text, bytes, len);
	return text;
}

/* A count of things that take at least `size` bytes each. */
static int32_t read_count(struct reader *r, size_t size)
{
	int32_t count = read_number(r, 4);

	if (count < 0 || (size_t)count > r->left / size)
		r->failed = true;
	return r->failed ? 0 : count;
}

static void skip_owned(struct reader *r)
{
	size_t len;

	for (int32_t topics = read_count(r, 6); topics > 0 && !r->failed; topics--) {
		read_bytes(r, 2, &len);
		for (int32_t count = read_count(r, 4); count > 0; count--)
			read_number(r, 4);
	}
}

/* What a member of a `weighted` group states; 0: nothing that counts. */
static int32_t read_capacity(const uint8_t *userdata, size_t len)
{
	struct reader r = {userdata, len, false};
	int32_t capacity = read_number(&r, 4);

	return r.failed || r.left || capacity < 1 || capacity > 65535 ? 0 : capacity;
}

/* The topics and the rack, and the capacity in a `weighted` group. What it owns is taken from its assignment: it is
 * newer. */
static bool read_subscription(struct member *member, const void *data, size_t len, bool weighted)
{
	struct reader r = {data, len, false};
	int32_t version = read_number(&r, 2), count = read_count(&r, 2);
	const uint8_t *userdata;
	size_t userdata_len;

	member->topics = model_alloc((size_t)count, sizeof(*member->topics));
	for (int32_t i = 0; i < count; i++) {
		member->topics[member->topic_count] = read_text(&r);
		if (member->topics[member->topic_count])
			member->topic_count++;
	}
	userdata = read_bytes(&r, 4, &userdata_len);
	if (weighted && userdata)
		member->capacity = read_capacity(userdata, userdata_len);
	if (version >= 1 && r.left)
		skip_owned(&r);
	if (version >= 2 && r.left)
		read_number(&r, 4);
	if (version >= 3 && r.left)
		member->rack = read_text(&r);
	if (member->rack && !*member->rack)
		member->rack = NULL;
	return !r.failed;
}

static bool read_assignment(struct member *member, const void *data, size_t len)
{
	struct reader r = {data, len, false};
	int32_t count;

	if (!len)
		return true;
	read_number(&r, 2);
	count = read_count(&r, 6);
	member->owned = model_alloc((size_t)count, sizeof(*member->owned));
	for (int32_t i = 0; i < count && !r.failed; i++) {
		struct owned *owned = &member->owned[member->owned_count];
		int32_t partitions;

		owned->topic = read_text(&r);
		partitions = read_count(&r, 4);
		owned->partitions = model_alloc((size_t)partitions, sizeof(*owned->partitions));
		while (owned->count < partitions)
			owned->partitions[owned->count++] = read_number(&r, 4);
		member->owned_count += owned->topic != NULL;
	}
	return !r.failed;
}

/* Assignments of one answer are of one generation. */
static void read_group(struct model *model, const struct rd_kafka_group_info *info, const char **ret_protocol)
{
	bool weighted = !strcmp(info->protocol, "weighted");
	rg_error unread;

	model->members = model_alloc((size_t)info->member_cnt, sizeof(*model->members));
	for (int i = 0; i < info->member_cnt; i++) {
		const struct rd_kafka_group_member_info *from = &info->members[i];
		struct member *member = &model->members[model->member_count++];

		*member = (struct member){.id = model_text(from->member_id), .generation = 1};
		if (read_subscription(member, from->member_metadata, (size_t)from->member_metadata_size, weighted) &&
		    read_assignment(member, from->member_assignment, (size_t)from->member_assignment_size))
			continue;
		/* As a leader does: it gets nothing, the others their shares. */
		*member = (struct member){.id = member->id, .generation = 1};
		model_fail(&unread, "member %s gets nothing: what it says cannot be read", member->id);
		fprintf(stderr, "regroup-plan: %s\n", unread.text);
	}
	model->generation = 1;
	*ret_protocol = model_text(info->protocol);
}

static bool check_group(const struct rd_kafka_group_list *list, const char *group, rg_error *error)
{
	const struct rd_kafka_group_info *info = list->groups;

	if (list->group_cnt < 1 || !strcmp(info->state, "Dead")) /* what a broker calls a group that it does not know */
		return model_fail(error, "there is no group %s", group);
	if (info->err)
		return model_fail(error, "group %s: %s", group, rd_kafka_err2str(info->err));
	if (strcmp(info->protocol_type, "consumer") != 0)
		return model_fail(error, "group %s is not of consumers but of the type \"%s\"", group, info->protocol_type);
	if (strcmp(info->state, "Stable") != 0)
		return model_fail(error, "group %s is %s: only a stable group shows its members' topics", group, info->state);
	return true;
}

static bool has_subscriber(const struct model *model, const char *topic)
{
	for (int32_t m = 0; m < model->member_count; m++)
		for (int32_t i = 0; i < model->members[m].topic_count; i++)
			if (!strcmp(model->members[m].topics[i], topic))
				return true;
	return false;
}

/* The racks of each partition's replicas, as far as their brokers say them. */
static void read_racks(struct topic *topic, const struct rd_kafka_metadata_topic *from,
                       const struct rd_kafka_metadata *metadata, const char *const *broker_racks)
{
	topic->racks = model_alloc((size_t)topic->partitions, sizeof(*topic->racks));
	topic->rack_counts = model_alloc((size_t)topic->partitions, sizeof(*topic->rack_counts));
	for (int p = 0; p < from->partition_cnt; p++) {
		const struct rd_kafka_metadata_partition *partition = &from->partitions[p];
		const char **racks = model_alloc((size_t)partition->replica_cnt, sizeof(*racks));

		if (partition->id < 0 || partition->id >= topic->partitions)
			continue;
		topic->racks[partition->id] = racks;
		topic->rack_counts[partition->id] = 0;
		for (int r = 0; r < partition->replica_cnt; r++)
			for (int b = 0; b < metadata->broker_cnt; b++)
				if (metadata->brokers[b].id == partition->replicas[r] && broker_racks[b])
					racks[topic->rack_counts[partition->id]++] = broker_racks[b];
	}
}

static bool read_topics(struct model *model, rd_kafka_t *rk, rg_error *error)
{
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 1, NULL, &metadata, TIMEOUT_MS);

	if (err)
		return model_fail(error, "the topics could not be read: %s", rd_kafka_err2str(err));

	const char **broker_racks = admin_read_racks(rk, metadata);

	model->topics = model_alloc((size_t)metadata->topic_cnt, sizeof(*model->topics));
	for (int t = 0; t < metadata->topic_cnt; t++) {
		const struct rd_kafka_metadata_topic *from = &metadata->topics[t];
		struct topic *topic = &model->topics[model->topic_count];

		if (!has_subscriber(model, from->topic) || from->partition_cnt <= 0)
			continue;
		*topic = (struct topic){.name = model_text(from->topic), .partitions = from->partition_cnt};
		if (broker_racks)
			read_racks(topic, from, metadata, broker_racks);
		model->topic_count++;
	}
	model_sort_topics(model);
	rd_kafka_metadata_destroy(metadata);
	return true;
}

bool model_read_live(struct model *model, struct plan_live *from, const char **ret_protocol, rg_error *error)
{
	const struct rd_kafka_group_list *list = NULL;
	rd_kafka_t *rk = connect_to(from, error);
	bool ok = false;

	if (!rk)
		return false;
	rd_kafka_resp_err_t err = rd_kafka_list_groups(rk, from->group, &list, TIMEOUT_MS);

	if (err && err != RD_KAFKA_RESP_ERR__PARTIAL)
		model_fail(error, "group %s could not be read from %s: %s", from->group, from->bootstrap, rd_kafka_err2str(err));
	else if (check_group(list, from->group, error)) {
		read_group(model, &list->groups[0], ret_protocol);
		ok = admin_read_instances(model, rk, from->group, error) && read_topics(model, rk, error);
	}
	if (list)
		rd_kafka_group_list_destroy(list);
	rd_kafka_destroy(rk);
	return ok;
}
