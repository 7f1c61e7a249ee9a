/* SPDX-License-Identifier: Apache-2.0 */
/* regroup-plan: what it found out, as JSON and for people. */
#include "plan_round.h"

#include <string.h>

/* The partitions of a topic that `member` got, -1: nobody. An array, to be freed; NULL: none. */
static json_t *partitions_of(const struct round *round, int32_t topic, int32_t member)
{
	json_t *list = NULL;

	for (int32_t p = 0; p < round->group->topics[topic].partition_count; p++) {
		if (rg_plan_owner(round->plan, topic, p) != member)
			continue;
		if (!list)
			list = json_array();
		json_array_append_new(list, json_integer(p));
	}
	return list;
}

static json_t *withheld_json(const struct round *round)
{
	json_t *withheld = json_object();

	for (int32_t t = 0; t < round->group->topic_count && round->withheld; t++) {
		json_t *list = partitions_of(round, t, -1);

		if (list)
			json_object_set_new(withheld, round->group->topics[t].name, list);
	}
	return withheld;
}

/* One walk over all partitions: looking for each member's would take members times as long. */
static json_t *assignments_json(const struct round *round)
{
	const rg_group *group = round->group;
	json_t *assignments = json_object();

	for (int32_t m = 0; m < group->member_count; m++)
		json_object_set_new(assignments, group->members[m].member_id, json_object());
	for (int32_t t = 0; t < group->topic_count; t++)
		for (int32_t p = 0; p < group->topics[t].partition_count; p++) {
			int32_t owner = rg_plan_owner(round->plan, t, p);
			json_t *share = owner < 0 ? NULL : json_object_get(assignments, group->members[owner].member_id);

			if (!share)
				continue;
			if (!json_object_get(share, group->topics[t].name))
				json_object_set_new(share, group->topics[t].name, json_array());
			json_array_append_new(json_object_get(share, group->topics[t].name), json_integer(p));
		}
	return assignments;
}

json_t *round_json(const struct round *round, const rg_assignor *assignor)
{
	json_t *loads = json_pack("{s:I, s:I, s:I}", "min", (json_int_t)round->load_min, "max", (json_int_t)round->load_max,
	                          "sum_of_squares", (json_int_t)round->load_squares);

	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:i, s:I}", "assignor", assignor->name, "assignments",
	                 assignments_json(round), "withheld", withheld_json(round), "loads", loads, "moved",
	                 (int)round->moved, "rack_mismatches", (int)round->rack_mismatches, "elapsed_us",
	                 (json_int_t)round->elapsed_us);
}

static void put_name(const char *name, int width)
{
	int len = 0;

	for (; name[len]; len++)
		putchar(model_visible(name[len]));
	for (; len < width; len++)
		putchar(' ');
}

/* " t:0-4,7": a topic with runs of neighbours. */
static void print_runs(const struct round *round, int32_t topic, int32_t member)
{
	int32_t count = round->group->topics[topic].partition_count;
	const char *before = round->group->topics[topic].name, *between = ":";

	for (int32_t p = 0, end; p < count; p = end) {
		for (end = p; end < count && rg_plan_owner(round->plan, topic, end) == member; end++)
			;
		if (end == p) {
			end++;
			continue;
		}
		if (*before) {
			putchar(' ');
			put_name(before, 0);
		}
		printf(end - p > 1 ? "%s%d-%d" : "%s%d", between, (int)p, (int)end - 1);
		before = "";
		between = ",";
	}
}

static int id_width(const rg_group *group)
{
	size_t width = strlen("member");

	for (int32_t m = 0; m < group->member_count; m++)
		if (strlen(group->members[m].member_id) > width)
			width = strlen(group->members[m].member_id);
	return width < 48 ? (int)width : 48;
}

static int32_t capacity_of(const struct model *model, const char *id)
{
	int32_t m = 0;

	while (strcmp(model->members[m].id, id) != 0)
		m++;
	return model->members[m].capacity;
}

static const char *plural(int32_t count)
{
	return count == 1 ? "" : "s";
}

void round_print(const struct round *round, const struct model *model, const rg_assignor *assignor)
{
	const rg_group *group = round->group;
	int width = id_width(group);

	printf("%s: %d partition%s of %d topic%s to %d member%s in %lld us%s\n%-*s  %-8s %8s %6s  partitions\n",
	       assignor->name, (int)round->partitions, plural(round->partitions), (int)group->topic_count,
	       plural(group->topic_count), (int)group->member_count, plural(group->member_count),
	       (long long)round->elapsed_us, group->topic_count ? "" : ", as nobody subscribes to a topic", width, "member",
	       "rack", "capacity", "load");
	for (int32_t m = 0; m < group->member_count; m++) {
		const rg_group_member *member = &group->members[m];
		int32_t capacity = capacity_of(model, member->member_id);
		char text[16] = "-";

		if (capacity)
			snprintf(text, sizeof(text), "%d", (int)capacity);
		put_name(member->member_id, width + 2);
		put_name(member->rack ? member->rack : "-", 8);
		printf(" %8s %6d ", text, (int)round->loads[m]);
		for (int32_t i = 0; i < member->topic_count; i++)
			print_runs(round, member->topics[i], m);
		putchar('\n');
	}
	printf("loads %lld to %lld, sum of squares %lld; %d moved, %d withheld for a round, %d outside their racks\n",
	       (long long)round->load_min, (long long)round->load_max, (long long)round->load_squares, (int)round->moved,
	       (int)round->withheld, (int)round->rack_mismatches);
}

/* Calls `tell` for each partition that changes hands; from NULL: nobody had it; to NULL: nobody gets it, because it, or
 * the last member that wanted its topic, is no more. Topics of both views are ordered by name. */
static void each_move(const struct round *before, const struct round *after,
                      void (*tell)(void *user, const char *topic, int32_t partition, const char *from, const char *to),
                      void *user)
{
	const rg_group *old = before->group, *new = after->group;

	for (int32_t o = 0, t = 0; o < old->topic_count || t < new->topic_count;) {
		int order = o == old->topic_count   ? 1
		            : t == new->topic_count ? -1
		                                    : strcmp(old->topics[o].name, new->topics[t].name);
		const char *topic = order <= 0 ? old->topics[o].name : new->topics[t].name;
		int32_t had = order <= 0 ? old->topics[o].partition_count : 0;
		int32_t has = order >= 0 ? new->topics[t].partition_count : 0;

		for (int32_t p = 0; p < had || p < has; p++) {
			int32_t owner = p < had ? before->owners[o][p] : -1;
			int32_t now = p < has ? rg_plan_owner(after->plan, t, p) : -1;
			const char *from = owner < 0 ? NULL : old->members[owner].member_id;
			const char *to = now < 0 ? NULL : new->members[now].member_id;

			if (from != to && (!from || !to || strcmp(from, to) != 0))
				tell(user, topic, p, from, to);
		}
		o += order <= 0;
		t += order >= 0;
	}
}

static void append_move(void *list, const char *topic, int32_t partition, const char *from, const char *to)
{
	json_array_append_new(list, json_pack("{s:s, s:i, s:s?, s:s?}", "topic", topic, "partition", (int)partition, "from",
	                                      from, "to", to));
}

json_t *moves_json(const struct round *before, const struct round *after)
{
	json_t *list = json_array();

	each_move(before, after, append_move, list);
	return list;
}

static void print_move(void *count, const char *topic, int32_t partition, const char *from, const char *to)
{
	printf("  ");
	put_name(topic, 0);
	printf(" %d: ", (int)partition);
	put_name(from ? from : "nobody", 0);
	printf(" -> ");
	put_name(to ? to : "nobody", 0);
	putchar('\n');
	++*(int *)count;
}

void moves_print(const struct round *before, const struct round *after)
{
	int count = 0;

	puts("what moves in the end:");
	each_move(before, after, print_move, &count);
	if (!count)
		puts("  nothing");
}
