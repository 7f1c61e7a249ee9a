/* SPDX-License-Identifier: Apache-2.0 */
#include "assign/builtin.h"

#include <string.h>

#define JAVA "org.apache.kafka.clients.consumer."

static const struct {
	const rg_assignor *assignor;
	const char *java_class;
} builtins[] = {
	{&rg__range, JAVA "RangeAssignor"},
	{&rg__roundrobin, JAVA "RoundRobinAssignor"},
	{&rg__sticky, JAVA "StickyAssignor"},
	{&rg__cooperative_sticky, JAVA "CooperativeStickyAssignor"},
	{&rg__weighted, NULL},
};

enum { COUNT = sizeof(builtins) / sizeof(builtins[0]) };

const rg_assignor *rg__builtin_find(const char *name)
{
	for (int i = 0; i < COUNT; i++)
		if (!strcmp(name, builtins[i].assignor->name) ||
		    (builtins[i].java_class && !strcmp(name, builtins[i].java_class)))
			return builtins[i].assignor;
	return NULL;
}

const rg_assignor *rg_assignor_builtin(const char *name)
{
	return name ? rg__builtin_find(name) : NULL;
}

const rg_assignor *rg__builtin_at(int i)
{
	return i >= 0 && i < COUNT ? builtins[i].assignor : NULL;
}
