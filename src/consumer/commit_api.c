/* SPDX-License-Identifier: Apache-2.0 */
/* rg_consumer_commit. */
#include "base/error.h"
#include "consumer/internal.h"
#include "consumer/leader_epoch.h"

#include <limits.h>
#include <stdlib.h>

rd_kafka_resp_err_t rg__kafka_error(rg_err err)
{
	switch (err) {
	case RG_ERR_TIMED_OUT:
		return RD_KAFKA_RESP_ERR__TIMED_OUT;
	case RG_ERR_LOST:
		return RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST;
	case RG_ERR_NOT_OWNED:
		return RD_KAFKA_RESP_ERR__STATE;
	case RG_ERR_WOKEN:
		return RD_KAFKA_RESP_ERR__INTR;
	case RG_ERR_TRANSPORT:
	case RG_ERR_RESOLVE:
		return RD_KAFKA_RESP_ERR__TRANSPORT;
	default:
		return err >= -1 ? (rd_kafka_resp_err_t)err : RD_KAFKA_RESP_ERR__FAIL;
	}
}

static rg_err send_and_wait(rg_consumer *consumer, struct rg__commit *commit, int64_t timeout_ms, rg_error *error)
{
	commit->wakeable = consumer->wakeable;
	rg__commit_send(consumer, commit, timeout_ms);
	rg__commit_wait(consumer, commit);
	rg__note_committed(consumer, commit);
	if (commit->error.code && error)
		*error = commit->error;
	return commit->error.code;
}

/* There was nothing to commit: it is done when all that was asked for before is. */
static rg_err wait_for_others(rg_consumer *consumer, int64_t timeout_ms, rg_error *error)
{
	rg__async_wait(consumer, rg__mono_us() + timeout_ms * 1000);
	if (!consumer->async_first || consumer->delivering)
		return RG_OK;
	if (consumer->wakeable && rg__woken_up(consumer))
		return rg__fail(error, RG_ERR_WOKEN, "commit: woken up before the commits under way were answered");
	return rg__fail(error, RG_ERR_TIMED_OUT, "commit: no answer in time to the commits under way");
}

struct rg__commit_entry rg__commit_entry_of(const struct rg__slot *slot)
{
	return (struct rg__commit_entry){
		.at = slot->at, .epoch = slot->epoch, .offset = slot->position, .leader_epoch = slot->leader_epoch};
}

static bool is_included(const struct rg__slot *slot, bool due)
{
	return slot->position >= 0 && (!due || slot->position != slot->committed);
}

rg_err rg__commit_positions(rg_consumer *consumer, bool due, int64_t timeout_ms, rg_error *error)
{
	struct rg__owned *owned = &consumer->owned;
	struct rg__commit *commit;
	size_t count = 0, used = 0;
	rg_err err;

	for (size_t i = 0; i < owned->count; i++)
		count += is_included(&owned->slots[i], due);
	if (!count)
		return due ? RG_OK : wait_for_others(consumer, timeout_ms, error);
	if (!(commit = rg__commit_new(count, consumer->generation, consumer->member_id)))
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < owned->count; i++) {
		const struct rg__slot *slot = &owned->slots[i];

		if (is_included(slot, due))
			commit->entries[used++] = rg__commit_entry_of(slot);
	}
	commit->gives_way = due;
	err = send_and_wait(consumer, commit, timeout_ms, error);
	rg__commit_free(commit);
	return err;
}

static rg_err fill_entry(rg_consumer *consumer, rd_kafka_topic_partition_t *from, struct rg__commit_entry *entry,
                         rg_error *error)
{
	const struct rg__slot *slot = rg__owned_find(&consumer->owned, from->topic, from->partition);

	if (!slot) {
		from->err = rg__kafka_error(RG_ERR_NOT_OWNED);
		return rg__fail(error, RG_ERR_NOT_OWNED, "commit: %s [%d] is not owned by this consumer", from->topic,
		                (int)from->partition);
	}
	if (from->offset < 0)
		return rg__fail(error, RG_ERR_INVALID, "commit: %s [%d]: %lld is no offset to commit", from->topic,
		                (int)from->partition, (long long)from->offset);
	*entry = (struct rg__commit_entry){.at = slot->at,
	                                   .epoch = slot->epoch,
	                                   .offset = from->offset,
	                                   .leader_epoch = rg__epoch_of_entry(from),
	                                   .metadata = from->metadata,
	                                   .metadata_len = from->metadata_size};
	return RG_OK;
}

static int compare_entries(const void *a, const void *b)
{
	return rg__partition_compare(&((const struct rg__commit_entry *)a)->at, &((const struct rg__commit_entry *)b)->at);
}

rg_err rg__commit_fill(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, struct rg__commit *commit,
                       rg_error *error)
{
	for (int i = 0; i < offsets->cnt; i++) {
		rg_err err = fill_entry(consumer, &offsets->elems[i], &commit->entries[i], error);

		if (err)
			return err;
	}
	qsort(commit->entries, commit->count, sizeof(*commit->entries), compare_entries);
	for (size_t i = 1; i < commit->count; i++)
		if (!compare_entries(&commit->entries[i - 1], &commit->entries[i]))
			return rg__fail(error, RG_ERR_INVALID, "commit: %s [%d] is listed twice", commit->entries[i].at.topic,
			                (int)commit->entries[i].at.number);
	return RG_OK;
}

void rg__commit_results(rd_kafka_topic_partition_list_t *offsets, const struct rg__commit *commit)
{
	for (int i = 0; i < offsets->cnt; i++) {
		struct rg__commit_entry key = {.at = {offsets->elems[i].topic, offsets->elems[i].partition}}, *entry;

		entry = bsearch(&key, commit->entries, commit->count, sizeof(key), compare_entries);
		if (entry)
			offsets->elems[i].err = rg__kafka_error(entry->err);
	}
}

static rg_err commit_list(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, int64_t timeout_ms,
                          rg_error *error)
{
	struct rg__commit *commit = rg__commit_new((size_t)offsets->cnt, consumer->generation, consumer->member_id);
	rg_err err;

	if (!commit)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	err = rg__commit_fill(consumer, offsets, commit, error);
	if (!err && !commit->count) {
		err = wait_for_others(consumer, timeout_ms, error);
	} else if (!err) {
		err = send_and_wait(consumer, commit, timeout_ms, error);
		rg__commit_results(offsets, commit);
	}
	rg__commit_free(commit);
	return err;
}

rg_err rg__may_commit(rg_consumer *consumer, const char *call, rg_error *error)
{
	if (consumer->closed)
		return rg__fail(error, RG_ERR_CLOSED, "%s: the consumer is closed", call);
	if (consumer->in_lost)
		return rg__fail(error, RG_ERR_LOST, "%s: the partitions are lost, others may have them already", call);
	/* Who waits for what its patterns find has no seat yet: then it owns nothing, which is what there is to say. */
	if (!consumer->asked.count)
		return rg__fail(error, RG_ERR_STATE, "%s: the consumer is not subscribed", call);
	return RG_OK;
}

rg_err rg_consumer_commit(rg_consumer *consumer, rd_kafka_topic_partition_list_t *offsets, int timeout_ms,
                          rg_error *error)
{
	int64_t wait_ms = timeout_ms < 0 ? INT_MAX : timeout_ms;
	rg_err err = rg__may_commit(consumer, "commit", error);
	rg_error said; /* not the caller's: callbacks may use that for calls of their own */
	bool wakeable = consumer->wakeable; /* of the commit that waits while a callback makes this one */
	int64_t began_us;

	if (!err)
		err = rg__check_timeout("rg_consumer_commit", timeout_ms, error);
	if (err)
		return err;
	/* Inside a callback it is poll that somebody wants back. */
	if (!consumer->inside && rg__woken_up(consumer))
		return rg__fail(error, RG_ERR_WOKEN, "commit: woken up before anything was sent");
	rg__settle(consumer);
	began_us = rg__mono_us();
	consumer->wakeable = !consumer->inside;
	if (offsets)
		err = commit_list(consumer, offsets, wait_ms, &said);
	else
		err = rg__commit_positions(consumer, false, wait_ms, &said);
	consumer->wakeable = wakeable;
	consumer->commit_waited_us += rg__mono_us() - began_us;
	rg__async_deliver(consumer); /* those before this one have ended before it */
	if (err && error)
		*error = said;
	return err;
}
