/* SPDX-License-Identifier: Apache-2.0 */
#include "group/reactions.h"

#include <stddef.h>

/* Columns: code, verb, keep generation, keep member id, drop coordinator, pause. */
#define KEEP true
#define RESET false
#define STAY false
#define LOOK_UP true

/* What a broken, silent or garbling connection means, whichever request met it. KAFKA-13214: it costs neither generation
 * nor member id. */
#define CONNECTION_ROWS                                                                                                    \
	{RG_ERR_TRANSPORT, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__WHEN_REPEATED},                                             \
	{RG_ERR_TIMED_OUT, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__WHEN_REPEATED},                                             \
	{RG_ERR_RESOLVE, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__ALWAYS},                                                      \
	{RG_ERR_PROTOCOL, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__ALWAYS},                                                     \
	{RG_ERR_MEMORY, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS}

/* broker: 15 and 16 say that this broker does not coordinate the group (now). */
#define COORDINATOR_ROWS                                                                                                   \
	{15, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__WHEN_REPEATED},                                                           \
	{16, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__WHEN_REPEATED}

static const struct rg__reaction find_coordinator_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	{15, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	{24, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{30, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	/* Who cannot authenticate is told so, and does not knock at every broker with the same password. */
	{33, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	{58, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	{35, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{RG_ERR_UNSUPPORTED, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	/* The look-up goes to any broker: whatever happened to that one, another may know better. */
	{RG__ANY_CODE, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
};

static const struct rg__reaction join_group_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	COORDINATOR_ROWS,
	{22, RG__REJOIN, RESET, KEEP, STAY, RG__WHEN_REPEATED},
	{23, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{24, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{25, RG__REJOIN, RESET, RESET, STAY, RG__WHEN_REPEATED},
	{26, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	/* KAFKA-10870: the broker could not replicate the group in time. */
	{27, RG__REJOIN, KEEP, KEEP, STAY, RG__WHEN_REPEATED},
	{30, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	{35, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{42, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	/* KIP-394: the answer carries the id to join with. At once: a pending id holds up the whole group. */
	{79, RG__REJOIN, KEEP, KEEP, STAY, RG__WHEN_REPEATED},
	{81, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS}, /* KIP-389 */
	{82, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},  /* KIP-345 */
	{RG_ERR_UNSUPPORTED, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	CONNECTION_ROWS,
	{RG__ANY_CODE, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
};

static const struct rg__reaction sync_group_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	COORDINATOR_ROWS,
	{22, RG__REJOIN, RESET, KEEP, STAY, RG__WHEN_REPEATED},
	{23, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{24, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{25, RG__REJOIN, RESET, RESET, STAY, RG__WHEN_REPEATED},
	{26, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	/* KAFKA-13891: somebody joined meanwhile; resetting the generation here would cost everybody's assignment. */
	{27, RG__REJOIN, KEEP, KEEP, STAY, RG__WHEN_REPEATED},
	{30, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	{35, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	{82, RG__FAIL, RESET, RESET, STAY, RG__AT_ONCE}, /* KIP-345 */
	{RG_ERR_UNSUPPORTED, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	CONNECTION_ROWS,
	{RG__ANY_CODE, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
};

static const struct rg__reaction heartbeat_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	COORDINATOR_ROWS,
	{22, RG__REJOIN, RESET, KEEP, STAY, RG__WHEN_REPEATED},
	{25, RG__REJOIN, RESET, RESET, STAY, RG__WHEN_REPEATED},
	{27, RG__REJOIN, KEEP, KEEP, STAY, RG__WHEN_REPEATED},
	{30, RG__REPORT, KEEP, KEEP, STAY, RG__ALWAYS},
	{82, RG__FAIL, RESET, RESET, STAY, RG__AT_ONCE}, /* KIP-345 */
	{RG_ERR_UNSUPPORTED, RG__FAIL, KEEP, KEEP, STAY, RG__AT_ONCE},
	CONNECTION_ROWS,
	{RG__ANY_CODE, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
};

/* Whatever the answer to LeaveGroup, the member has left: the session timeout does what the request did not. */
static const struct rg__reaction leave_group_rows[] = {
	{RG__ANY_CODE, RG__GO_ON, RESET, RESET, STAY, RG__AT_ONCE},
};

static const struct rg__reaction offset_commit_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{3, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	{7, RG__RETRY, KEEP, KEEP, LOOK_UP, RG__ALWAYS},
	{12, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	COORDINATOR_ROWS,
	{22, RG__REJOIN, RESET, KEEP, STAY, RG__AT_ONCE},
	{25, RG__REJOIN, RESET, RESET, STAY, RG__AT_ONCE},
	{27, RG__REJOIN, KEEP, KEEP, STAY, RG__AT_ONCE},
	{28, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{29, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{30, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	/* broker: v9 says 69 for a missing group where v8 says 22; either way the member is unknown there. */
	{69, RG__REJOIN, RESET, RESET, STAY, RG__AT_ONCE},
	{82, RG__FAIL, RESET, RESET, STAY, RG__AT_ONCE}, /* KIP-345 */
	{RG_ERR_UNSUPPORTED, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	CONNECTION_ROWS,
	{RG__ANY_CODE, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
};

static const struct rg__reaction offset_fetch_rows[] = {
	{0, RG__GO_ON, KEEP, KEEP, STAY, RG__AT_ONCE},
	{3, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{7, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS},
	{14, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS}, /* KAFKA-17279 */
	COORDINATOR_ROWS,
	{29, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{30, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	{88, RG__RETRY, KEEP, KEEP, STAY, RG__ALWAYS}, /* KIP-447: a transaction is still open */
	{RG_ERR_UNSUPPORTED, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
	CONNECTION_ROWS,
	{RG__ANY_CODE, RG__CALLER, KEEP, KEEP, STAY, RG__AT_ONCE},
};

#define TABLE(label, rows) {label, rows, (int)(sizeof(rows) / sizeof((rows)[0]))}

static const struct {
	const char *label;
	const struct rg__reaction *rows;
	int count;
} tables[RG__REQUESTS] = {
	[RG__REQUEST_FIND_COORDINATOR] = TABLE("FindCoordinator", find_coordinator_rows),
	[RG__REQUEST_JOIN_GROUP] = TABLE("JoinGroup", join_group_rows),
	[RG__REQUEST_SYNC_GROUP] = TABLE("SyncGroup", sync_group_rows),
	[RG__REQUEST_HEARTBEAT] = TABLE("Heartbeat", heartbeat_rows),
	[RG__REQUEST_LEAVE_GROUP] = TABLE("LeaveGroup", leave_group_rows),
	[RG__REQUEST_OFFSET_COMMIT] = TABLE("OffsetCommit", offset_commit_rows),
	[RG__REQUEST_OFFSET_FETCH] = TABLE("OffsetFetch", offset_fetch_rows),
};

const struct rg__reaction *rg__reactions(enum rg__request request, int *ret_count)
{
	*ret_count = tables[request].count;
	return tables[request].rows;
}

const struct rg__reaction *rg__react(enum rg__request request, rg_err code)
{
	const struct rg__reaction *row = tables[request].rows;

	/* The default row is the last one of every table. */
	for (int i = 0; i < tables[request].count - 1; i++, row++)
		if (row->code == code)
			break;
	return row;
}

const char *rg__request_label(enum rg__request request)
{
	return tables[request].label;
}

const char *rg__verb_label(enum rg__verb verb)
{
	static const char *const labels[] = {"go on", "retry", "rejoin", "to the caller", "report", "fail"};

	return labels[verb];
}
