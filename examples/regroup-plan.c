/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what an assignor would do with a group, without a group. */
#include "plan_live.h"
#include "plan_model.h"
#include "plan_round.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"Usage: regroup-plan [--assignor NAME] [--rounds] [--table] [WHAT-IF]... [FILE|-]\n"
	"       regroup-plan --live -b BOOTSTRAP -g GROUP [-X KEY=VALUE]... [--assignor NAME] [--rounds] [--table]\n"
	"                    [WHAT-IF]...\n"
	"\n"
	"Prints who would get which partition of the group that FILE describes in JSON (- or nothing: standard input), or\n"
	"of a running group, which is only looked at.\n"
	"  --assignor NAME        range, roundrobin, sticky, cooperative-sticky (the default), weighted; with --live the\n"
	"                         group's is the default\n"
	"  --rounds               follows a cooperative group until nothing moves any more\n"
	"  --table                for people, instead of JSON\n"
	"  --live                 reads a running group\n"
	"  -b BOOTSTRAP           its brokers\n"
	"  -g GROUP               its name\n"
	"  -X KEY=VALUE           a property of librdkafka, such as security.protocol\n"
	"What if, in the order given, and what would move then:\n"
	"  --add-member N         N more members joined, subscribing to what most do\n"
	"  --remove-member ID     a member left\n"
	"  --partitions TOPIC=N   a topic had N partitions\n"
	"\n"
	"  --version              the version of this program\n"
	"  --help                 this text\n";

enum { ROUNDS_MAX = 8 };

struct what_if {
	int option;
	const char *name; /* of the member or the topic */
	int32_t count;
};

struct options {
	const rg_assignor *assignor;
	bool rounds, table, live;
	struct plan_live from;
	struct what_if *what_ifs;
	int what_if_count;
	const char *file;
};

static void refuse(const char *text, const char *argument)
{
	fprintf(stderr, "regroup-plan: %s%s\nregroup-plan: --help lists the options\n", text, argument);
	exit(2);
}

static void set_assignor(struct options *options, const char *name)
{
	options->assignor = rg_assignor_builtin(name);
	if (!options->assignor)
		refuse("there is no built-in assignor named ", name);
}

static bool number_of(const char *text, long high, int32_t *ret)
{
	char *end;

	errno = 0;
	long value = strtol(text, &end, 10);

	if (errno || end == text || *end || value < 1 || value > high)
		return false;
	*ret = (int32_t)value;
	return true;
}

/* Numbers are looked at before any input is; whether the group has such a member or topic can only be seen there. */
static struct what_if read_what_if(int option, const char *argument)
{
	struct what_if what_if = {.option = option, .name = argument};
	const char *equals = strrchr(argument, '=');

	if (option == 'A' && !number_of(argument, 100000, &what_if.count))
		refuse("--add-member needs a number from 1 to 100000, not ", argument);
	if (option == 'R' && !*argument)
		refuse("--remove-member needs the id of a member", "");
	if (option == 'P') {
		if (!equals || equals == argument || !number_of(equals + 1, 100000000, &what_if.count))
			refuse("--partitions needs TOPIC=N, N from 1 to 100000000, not ", argument);
		char *name = model_text(argument);

		name[equals - argument] = '\0';
		what_if.name = name;
	}
	return what_if;
}

/* What is given must make sense together, and to librdkafka. */
static void check_source(struct options *o)
{
	rg_error error;

	if (!o->live && (o->from.bootstrap || o->from.group || o->from.property_count))
		refuse("-b, -g and -X go with --live", "");
	if (!o->live)
		return;
	if (!o->from.bootstrap || !*o->from.bootstrap || !o->from.group || !*o->from.group)
		refuse("--live needs -b and -g", "");
	if (o->file)
		refuse("--live reads the group itself, not ", o->file);
	if (!plan_live_configure(&o->from, &error))
		refuse(error.text, "");
}

/* Whether what was printed has got out; a sentence if not. */
static bool is_written(void)
{
	if (!ferror(stdout) && !fflush(stdout))
		return true;
	fprintf(stderr, "regroup-plan: cannot write: %s\n", strerror(errno));
	return false;
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option long_options[] = {
		{"assignor", required_argument, NULL, 'a'},   {"rounds", no_argument, NULL, 'r'},
		{"table", no_argument, NULL, 't'},            {"live", no_argument, NULL, 'l'},
		{"add-member", required_argument, NULL, 'A'}, {"remove-member", required_argument, NULL, 'R'},
		{"partitions", required_argument, NULL, 'P'}, {"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}};
	int option;

	o->what_ifs = calloc((size_t)argc, sizeof(*o->what_ifs));
	o->from.properties = calloc((size_t)argc, sizeof(*o->from.properties));
	if (!o->what_ifs || !o->from.properties)
		exit(EXIT_FAILURE);
	argv[0] = (char *)(uintptr_t)"regroup-plan"; /* getopt's messages begin with it */
	while ((option = getopt_long(argc, argv, "b:g:X:h", long_options, NULL)) != -1) {
		if (option == 'a')
			set_assignor(o, optarg);
		else if (option == 'r')
			o->rounds = true;
		else if (option == 't')
			o->table = true;
		else if (option == 'l')
			o->live = true;
		else if (option == 'b')
			o->from.bootstrap = optarg;
		else if (option == 'g')
			o->from.group = optarg;
		else if (option == 'X')
			o->from.properties[o->from.property_count++] = optarg;
		else if (option == 'A' || option == 'R' || option == 'P')
			o->what_ifs[o->what_if_count++] = read_what_if(option, optarg);
		else if (option == 'v' || option == 'h') {
			fputs(option == 'h' ? usage : "regroup-plan " REGROUP_VERSION "\n", stdout);
			exit(is_written() ? EXIT_SUCCESS : EXIT_FAILURE);
		} else { /* getopt has said which option it is about */
			fputs("regroup-plan: --help lists the options\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		o->file = argv[optind++];
	if (optind < argc)
		refuse("there can be one file only, not also ", argv[optind]);
	check_source(o);
}

static bool change(struct model *model, const struct what_if *what_if, rg_error *error)
{
	if (what_if->option == 'R')
		return model_remove_member(model, what_if->name, error);
	if (what_if->option == 'A')
		return model_add_members(model, what_if->count, error);
	return model_set_partitions(model, what_if->name, what_if->count, error);
}

static bool read_model(struct options *o, struct model *model, const char **ret_protocol, rg_error *error)
{
	bool is_stdin = !o->file || !strcmp(o->file, "-"), ok;
	FILE *file = stdin;

	if (o->live)
		return model_read_live(model, &o->from, ret_protocol, error);
	if (!is_stdin)
		file = fopen(o->file, "r");
	if (!file)
		return model_fail(error, "%s: %s", o->file, strerror(errno));
	ok = model_read(model, file, is_stdin ? "standard input" : o->file, error);
	if (!is_stdin)
		fclose(file);
	return ok;
}

static void print(const struct options *o, const struct model *model, const struct round *round, int number,
                  json_t *rounds)
{
	if (o->table && o->rounds)
		printf("round %d\n", number);
	if (o->table)
		round_print(round, model, o->assignor);
	else
		json_array_append_new(rounds, round_json(round, o->assignor));
}

/* Runs one round, or all until nothing changes, and prints them; `last` is the last that ran. For the moves of a
 * what-if the rounds are followed, too, but only printed if that was asked for. */
static bool run_rounds(const struct options *o, struct model *model, bool to_the_end, json_t *rounds,
                       struct round *last, rg_error *error)
{
	for (int i = 0; i < ROUNDS_MAX; i++) {
		if (i > 0) {
			model_follow(model, last->group, last->plan);
			round_end(last);
		}
		if (!round_run(last, model, o->assignor, error))
			return false;
		if (i == 0 || o->rounds)
			print(o, model, last, i + 1, rounds);
		if (!to_the_end || !last->withheld)
			break;
	}
	return true;
}

static void print_json(const struct options *o, json_t *rounds, json_t *moves)
{
	json_t *out = o->rounds ? json_pack("{s:O}", "rounds", rounds) : json_incref(json_array_get(rounds, 0));

	if (moves)
		json_object_set_new(out, "moves", moves);
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(out);
}

static bool plan(struct options *o, struct model *model, rg_error *error)
{
	bool tells_moves = o->live || o->what_if_count, ok = true;
	json_t *rounds = json_array();
	struct round before, last;

	round_look(&before, model);
	for (int i = 0; ok && i < o->what_if_count; i++)
		ok = change(model, &o->what_ifs[i], error);
	ok = ok && run_rounds(o, model, o->rounds || tells_moves, rounds, &last, error);
	if (ok) {
		if (!o->table)
			print_json(o, rounds, tells_moves ? moves_json(&before, &last) : NULL);
		else if (tells_moves)
			moves_print(&before, &last);
		round_end(&last);
	}
	json_decref(rounds);
	return ok;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct model model = {0};
	const char *protocol = NULL;
	rg_error error = {0};

	parse(&options, argc, argv);
	bool ok = read_model(&options, &model, &protocol, &error);

	if (ok && !options.assignor)
		set_assignor(&options, protocol && rg_assignor_builtin(protocol) ? protocol : "cooperative-sticky");
	ok = ok && plan(&options, &model, &error);
	if (!ok)
		fprintf(stderr, "regroup-plan: %s\n", error.text);
	ok = ok && is_written();
	model_free_all();
	free(options.what_ifs);
	free(options.from.properties);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
