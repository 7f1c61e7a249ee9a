/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/strategy.h"

#include "assign/builtin.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

#include <string.h>

static rg_err refuse_unknown(const rg_conf *conf, const char *name, rg_error *error)
{
	struct rg__buf known = {0};
	const rg_assignor *builtin;

	for (int i = 0; (builtin = rg__builtin_at(i)); i++)
		rg__buf_printf(&known, "%s%s", i ? ", " : "", builtin->name);
	for (size_t i = 0; i < conf->assignor_count; i++)
		if (!rg__builtin_find(conf->assignors[i].assignor.name))
			rg__buf_printf(&known, ", %s", conf->assignors[i].assignor.name);
	rg__fail(error, RG_ERR_INVALID, "partition.assignment.strategy: \"%s\" is not accepted: the assignors are %.*s", name,
	         (int)known.len, known.len ? (const char *)known.data : "");
	rg__buf_free(&known);
	return RG_ERR_INVALID;
}

static rg_err find(const rg_conf *conf, const char *name, struct rg__listed_assignor *ret_listed, rg_error *error)
{
	const rg_assignor *builtin = rg__builtin_find(name);

	/* One registered under a built-in's name takes its place, also where Java's name for that is listed. */
	if (builtin)
		name = builtin->name;
	for (size_t i = 0; i < conf->assignor_count; i++)
		if (!strcmp(name, conf->assignors[i].assignor.name)) {
			*ret_listed = (struct rg__listed_assignor){&conf->assignors[i].assignor, conf->assignors[i].user, false};
			return RG_OK;
		}
	if (!builtin)
		return refuse_unknown(conf, name, error);
	/* What a built-in remembers between rounds belongs to the consumer. */
	*ret_listed = (struct rg__listed_assignor){builtin, NULL, true};
	if (rg__builtin_open(builtin, conf->settings.member_capacity, &ret_listed->user))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	return RG_OK;
}

static rg_err add(const rg_conf *conf, struct rg__strategy *strategy, const char *name, rg_error *error)
{
	struct rg__listed_assignor *listed = &strategy->items[strategy->count];
	rg_err err = find(conf, name, listed, error);

	if (err)
		return err;
	strategy->count++;
	if (rg__strategy_find(strategy, listed->assignor->name) != listed)
		return rg__fail(error, RG_ERR_INVALID, "partition.assignment.strategy: \"%s\" is listed twice",
		                listed->assignor->name);
	return RG_OK;
}

/* The names one after the other; `text` is cut up. */
static rg_err read_list(const rg_conf *conf, struct rg__strategy *strategy, char *text, rg_error *error)
{
	char *rest = NULL;

	for (char *name = strtok_r(text, ", \t\r\n", &rest); name; name = strtok_r(NULL, ", \t\r\n", &rest)) {
		rg_err err = add(conf, strategy, name, error);

		if (err)
			return err;
	}
	return strategy->count ? RG_OK : rg__fail(error, RG_ERR_INVALID,
	                                          "partition.assignment.strategy: no assignor is listed");
}

static rg_err find_protocol(struct rg__strategy *strategy, rg_error *error)
{
	unsigned common = RG_EAGER | RG_COOPERATIVE;

	for (size_t i = 0; i < strategy->count; i++)
		common &= strategy->items[i].assignor->protocols;
	strategy->cooperative = common & RG_COOPERATIVE;
	if (!common)
		return rg__fail(error, RG_ERR_INVALID,
		                "partition.assignment.strategy: the listed assignors have no protocol in common: some can only be "
		                "eager, some only cooperative");
	return RG_OK;
}

rg_err rg__strategy_resolve(const rg_conf *conf, struct rg__strategy *ret_strategy, rg_error *error)
{
	const char *list = conf->settings.partition_assignment_strategy;
	struct rg__strategy strategy = {0};
	char *text = rg__strdup(list ? list : "");
	rg_err err;

	/* Every name but the last takes at least its comma. */
	strategy.items = text ? rg__calloc(strlen(text) / 2 + 1, sizeof(*strategy.items)) : NULL;
	if (!strategy.items)
		err = rg__fail(error, RG_ERR_MEMORY, "out of memory");
	else if (!(err = read_list(conf, &strategy, text, error)))
		err = find_protocol(&strategy, error);
	rg__free(text);
	if (err)
		rg__strategy_free(&strategy);
	else
		*ret_strategy = strategy;
	return err;
}

void rg__strategy_free(struct rg__strategy *strategy)
{
	for (size_t i = 0; i < strategy->count; i++)
		if (strategy->items[i].builtin)
			rg__builtin_close(strategy->items[i].user);
	rg__free(strategy->items);
	*strategy = (struct rg__strategy){0};
}

const struct rg__listed_assignor *rg__strategy_find(const struct rg__strategy *strategy, const char *name)
{
	for (size_t i = 0; i < strategy->count; i++)
		if (!strcmp(strategy->items[i].assignor->name, name))
			return &strategy->items[i];
	return NULL;
}
