/* SPDX-License-Identifier: Apache-2.0 */
/* enable.auto.commit: what was processed is committed from time to time, and before it is given up. */
#include "base/error.h"
#include "consumer/internal.h"
#include "group/reactions.h"

static bool is_due(const struct rg__slot *slot)
{
	return slot->position >= 0 && slot->position != slot->committed;
}

static bool possible(const rg_consumer *consumer)
{
	return consumer->conf->settings.enable_auto_commit && consumer->generation >= 0 && consumer->seat == RG__SEAT_TAKEN &&
	       !consumer->failed;
}

/* False: there is nothing, or no memory. */
static bool send_what_is_due(rg_consumer *consumer, const struct rg__partitions *only, int64_t timeout_ms)
{
	struct rg__owned *owned = &consumer->owned;
	struct rg__commit *commit;
	size_t count = 0, used = 0;

	for (size_t i = 0; i < owned->count; i++)
		count += is_due(&owned->slots[i]) &&
		         (!only || rg__partitions_find(only, owned->slots[i].at.topic, owned->slots[i].at.number) >= 0);
	commit = count ? rg__commit_new(count, consumer->generation, consumer->member_id) : NULL;
	for (size_t i = 0; commit && i < owned->count; i++) {
		const struct rg__slot *slot = &owned->slots[i];

		if (is_due(slot) && (!only || rg__partitions_find(only, slot->at.topic, slot->at.number) >= 0))
			commit->entries[used++] = rg__commit_entry_of(slot);
	}
	if (!commit)
		return false;
	commit->gives_way = true;
	consumer->auto_commit = commit;
	rg__commit_send(consumer, commit, timeout_ms);
	return true;
}

void rg__auto_commit_due(rg_consumer *consumer, int64_t now_us)
{
	int64_t interval_ms = consumer->conf->settings.auto_commit_interval_ms;

	if (now_us < consumer->auto_commit_at)
		return;
	consumer->auto_commit_at = now_us + interval_ms * 1000;
	/* While JoinGroup or SyncGroup is outstanding a commit would wait behind it, and be refused then. */
	if (possible(consumer) && !consumer->rebalancing && consumer->step == RG__STEP_NONE && rg__auto_commit_done(consumer))
		send_what_is_due(consumer, NULL, consumer->conf->settings.request_timeout_ms);
}

bool rg__auto_commit_before(rg_consumer *consumer, const struct rg__partitions *partitions, int64_t timeout_ms)
{
	if (!possible(consumer))
		return false;
	/* The one under way is for older positions; what it has not stored by now is in the one that follows. */
	rg__auto_commit_drop(consumer);
	return send_what_is_due(consumer, partitions, timeout_ms);
}

void rg__note_committed(rg_consumer *consumer, const struct rg__commit *commit)
{
	for (size_t i = 0; i < commit->count; i++) {
		const struct rg__commit_entry *entry = &commit->entries[i];
		struct rg__slot *slot = rg__owned_find_epoch(&consumer->owned, &entry->at, entry->epoch);

		if (slot && entry->answered && !entry->err)
			slot->committed = entry->offset;
	}
}

/* Nobody waits for it: what the membership makes of an error comes from the member; what only the application can
 * mend is told; the rest may go better next time. */
static void tell_failure(rg_consumer *consumer, const rg_error *error)
{
	const struct rg__reaction *reaction = rg__react(RG__REQUEST_OFFSET_COMMIT, error->code);

	if (error->code > 0 && reaction->verb == RG__CALLER)
		rg__tell(consumer, error);
	else
		rg__log(&consumer->log, reaction->verb == RG__REJOIN || error->code == RG_ERR_LOST ? RG__LOG_NOTICE : RG__LOG_WARNING,
		        "COMMIT", "automatic %s", error->text);
}

bool rg__auto_commit_done(rg_consumer *consumer)
{
	struct rg__commit *commit = consumer->auto_commit;

	if (!commit)
		return true;
	if (!rg__commit_finished(consumer, commit))
		return false;
	consumer->auto_commit = NULL;
	rg__note_committed(consumer, commit);
	if (commit->error.code)
		tell_failure(consumer, &commit->error);
	rg__commit_free(commit);
	return true;
}

void rg__auto_commit_drop(rg_consumer *consumer)
{
	struct rg__commit *commit = consumer->auto_commit;

	if (!commit)
		return;
	if (!rg__commit_finished(consumer, commit))
		rg__commit_cancel(consumer, commit);
	rg__note_committed(consumer, commit);
	consumer->auto_commit = NULL;
	rg__commit_free(commit);
}
