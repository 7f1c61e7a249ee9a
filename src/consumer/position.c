/* SPDX-License-Identifier: Apache-2.0 */
/* Where a partition that was assigned begins: where the application said, or where the group had got to, or where
 * auto.offset.reset says. Nothing here waits; a rebalance meanwhile costs nothing, since an answer counts only for the
 * ownership that asked for it. */
#include "consumer/internal.h"

#include "base/backoff.h"
#include "base/error.h"
#include "group/reactions.h"

#include <time.h>

static void pause(rg_consumer *consumer)
{
	const struct rg__settings *settings = &consumer->conf->settings;

	consumer->offsets_fetch_at =
		rg__mono_us() + rg__backoff(settings->retry_backoff_ms * INT64_C(1000),
	                                    settings->retry_backoff_max_ms * INT64_C(1000),
	                                    consumer->offsets_fetch_failures++, &consumer->random);
}

/* An error that asking again does not mend is told, once; asking goes on all the same, in case somebody mends it. */
static void failed(rg_consumer *consumer, const rg_error *error)
{
	bool retried = rg__react(RG__REQUEST_OFFSET_FETCH, error->code)->verb == RG__RETRY;

	rg__log(&consumer->log, retried ? RG__LOG_INFO : RG__LOG_WARNING, "OFFSET", "%s", error->text);
	if (retried || consumer->offsets_fetch_told == error->code)
		return;
	consumer->offsets_fetch_told = error->code;
	rg__tell(consumer, error);
}

static void reset(rg_consumer *consumer, struct rg__slot *slot)
{
	rg_error error;

	switch (consumer->conf->settings.auto_offset_reset) {
	case RG__RESET_LATEST:
		rg__slot_begin_at(slot, RD_KAFKA_OFFSET_END);
		return;
	case RG__RESET_EARLIEST:
		slot->start = RD_KAFKA_OFFSET_BEGINNING;
		return;
	case RG__RESET_BY_DURATION:
		slot->look = RG__LOOK_TIME;
		return;
	case RG__RESET_NONE:
		break;
	}
	slot->hopeless = true;
	rg__fail(&error, RG_ERR_NO_OFFSET, "%s [%d]: the group has no committed offset, and auto.offset.reset is none",
	         slot->at.topic, (int)slot->at.number);
	rg__tell(consumer, &error);
}

/* True: it is to be asked again. */
static bool take_entry(rg_consumer *consumer, const struct rg__offsets_fetch_entry *entry)
{
	struct rg__slot *slot = rg__owned_find_epoch(&consumer->owned, &entry->at, entry->epoch);
	rg_error error;

	if (!slot)
		return false;
	slot->sought = false;
	if (entry->err) {
		rg__fail(&error, entry->err, "offset of %s [%d]: %s", entry->at.topic, (int)entry->at.number,
		         rg_err_name(entry->err));
		failed(consumer, &error);
		return true;
	}
	if (entry->offset == RG__NO_OFFSET) {
		reset(consumer, slot);
		return false;
	}
	slot->start = slot->position = slot->committed = entry->offset;
	slot->leader_epoch = entry->leader_epoch;
	return false;
}

static void take_answer(rg_consumer *consumer)
{
	struct rg__offsets_fetch *fetch = consumer->offsets_fetch;
	bool again = false;

	if (fetch->error.code)
		failed(consumer, &fetch->error);
	for (size_t i = 0; i < fetch->count; i++) {
		struct rg__slot *slot;

		if (!fetch->error.code)
			again |= take_entry(consumer, &fetch->entries[i]);
		else if ((slot = rg__owned_find_epoch(&consumer->owned, &fetch->entries[i].at, fetch->entries[i].epoch)))
			slot->sought = false;
	}
	if (again || fetch->error.code) {
		pause(consumer);
	} else {
		consumer->offsets_fetch_failures = 0;
		consumer->offsets_fetch_told = RG_OK;
	}
	rg__offsets_fetch_free(fetch);
	consumer->offsets_fetch = NULL;
}

static bool is_sought(const struct rg__slot *slot)
{
	return slot->start == RD_KAFKA_OFFSET_INVALID && !slot->sought && !slot->look && !slot->closing && !slot->hopeless;
}

static void ask(rg_consumer *consumer, size_t count)
{
	struct rg__offsets_fetch *fetch = rg__offsets_fetch_new(consumer, count);
	size_t used = 0;

	if (!fetch) {
		pause(consumer);
		return;
	}
	for (size_t i = 0; i < consumer->owned.count; i++) {
		struct rg__slot *slot = &consumer->owned.slots[i];

		if (!is_sought(slot))
			continue;
		slot->sought = true;
		fetch->entries[used++] =
			(struct rg__offsets_fetch_entry){.at = slot->at, .epoch = slot->epoch, .offset = RG__NO_OFFSET};
	}
	consumer->offsets_fetch = fetch;
	rg__offsets_fetch_send(fetch);
}

/* --- Looked up ---------------------------------------------------------------------------------------------------- */

/* What the broker says becomes the position, as with Java's consumer: it is committed even if no record comes, and what
 * is written until the next member begins is not skipped. */

static bool is_looked_up(const struct rg__slot *slot, enum rg__look look)
{
	return slot->look == look && slot->start == RD_KAFKA_OFFSET_INVALID && !slot->closing;
}

/* Of one attempt, and so the most that ending a consumer waits for it. A place librdkafka finds by itself in the end: no
 * partition shall wait long for another whose leader is gone. */
enum { TIME_LOOKUP_MS = 2000, PLACE_LOOKUP_MS = 1000 };

/* To librdkafka negative times are names for other things. */
static int64_t time_of(const rg_consumer *consumer, const struct rg__slot *slot)
{
	struct timespec now;
	int64_t time_ms;

	if (slot->look == RG__LOOK_PLACE)
		return slot->place == RD_KAFKA_OFFSET_BEGINNING ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
	clock_gettime(CLOCK_REALTIME, &now);
	time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - consumer->conf->settings.auto_offset_reset_ms;
	return time_ms > 0 ? time_ms : 0;
}

static void look_up(rg_consumer *consumer, enum rg__look look, size_t count)
{
	struct rg__arena arena = {0};
	struct rg__lookup_question *questions = rg__arena_calloc(&arena, count, sizeof(*questions));
	size_t used = 0;

	for (size_t i = 0; questions && i < consumer->owned.count; i++) {
		const struct rg__slot *slot = &consumer->owned.slots[i];

		if (is_looked_up(slot, look))
			questions[used++] = (struct rg__lookup_question){slot->at, slot->epoch, time_of(consumer, slot)};
	}
	if (used)
		consumer->lookup = rg__lookup_start(consumer, questions, used,
		                                    look == RG__LOOK_TIME ? TIME_LOOKUP_MS : PLACE_LOOKUP_MS);
	if (!consumer->lookup)
		pause(consumer);
	rg__arena_clear(&arena);
}

/* RD_KAFKA_OFFSET_TAIL(n) is n before the end, but not before the beginning: from there auto.offset.reset would go on
 * elsewhere. True: so that is looked up next. */
static bool take_tail(struct rg__slot *slot, int64_t end)
{
	int64_t before = slot->place <= RD_KAFKA_OFFSET_TAIL_BASE ? RD_KAFKA_OFFSET_TAIL_BASE - slot->place : 0;

	if (!before)
		return false;
	slot->no_earlier = end > before ? end - before : 0;
	slot->place = RD_KAFKA_OFFSET_BEGINNING;
	return true;
}

/* True: it is to be asked again. librdkafka finds a place itself, sooner or later; where that was shows with a record. */
static bool take_place(struct rg__slot *slot, rg_err err, int64_t offset)
{
	if (!err && offset >= 0) {
		if (slot->look == RG__LOOK_PLACE && take_tail(slot, offset))
			return false;
		slot->start = slot->position = offset > slot->no_earlier ? offset : slot->no_earlier;
	} else if (slot->look == RG__LOOK_PLACE) {
		slot->start = slot->no_earlier ? slot->no_earlier : slot->place;
	} else if (!err) {
		rg__slot_begin_at(slot, RD_KAFKA_OFFSET_END); /* no record is as young as that */
		return false;
	} else {
		return true;
	}
	slot->look = RG__LOOK_NOT;
	return false;
}

/* Nothing is read until it works, and librdkafka does not say why it does not. */
static void tell_lookup(rg_consumer *consumer, bool again, const rg_error *error)
{
	static const char what[] = "the look-up of where partitions begin";

	if (again)
		rg__trouble_failed(&consumer->lookup_trouble, &consumer->log, rg__mono_us(),
		                   &(struct rg__failure){.facility = "RETRY",
		                                         .what = what,
		                                         .error = error,
		                                         .remedy = "it is looked up again",
		                                         .cause = (uint32_t)error->code});
	else
		rg__trouble_over(&consumer->lookup_trouble, &consumer->log, rg__mono_us(), "RETRY", what);
}

static void take_lookup(rg_consumer *consumer)
{
	struct rg__lookup *lookup = consumer->lookup;
	bool again = false;
	rg_error error = {0};

	for (size_t i = 0; i < rg__lookup_count(lookup); i++) {
		struct rg__partition at;
		uint64_t epoch;
		int64_t offset;
		rg_err err = rg__lookup_result(lookup, i, &at, &epoch, &offset);
		struct rg__slot *slot = rg__owned_find_epoch(&consumer->owned, &at, epoch);

		/* Mostly it is the same with all of them, and they may be thousands. */
		if (err && !error.code) {
			rg__fail(&error, err, "%s [%d]: %s (%d)", at.topic, (int)at.number, rg_err_name(err), err);
			rg__log(&consumer->log, RG__LOG_INFO, "OFFSET", "where partitions begin: %s", error.text);
		}
		again |= slot && take_place(slot, err, offset);
	}
	tell_lookup(consumer, again, &error);
	rg__lookup_free(lookup);
	consumer->lookup = NULL;
	if (again)
		pause(consumer);
	else
		consumer->offsets_fetch_failures = 0;
}

/* A place that was looked for in vain is looked for again, after a pause. */
static void look_again(rg_consumer *consumer, struct rg__slot *slot)
{
	int64_t place = slot->start;

	rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
	rg__owned_move(&consumer->owned, slot, place);
	pause(consumer);
}

static void go_on_nowhere(rg_consumer *consumer, struct rg__slot *slot, const char *why)
{
	rg_error error;

	rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
	slot->start = RD_KAFKA_OFFSET_INVALID;
	slot->next = RG__NO_OFFSET;
	slot->begun = false;
	slot->hopeless = true;
	rg__fail(&error, RG_ERR_NO_OFFSET, "%s [%d]: %s; auto.offset.reset is none", slot->at.topic, (int)slot->at.number, why);
	rg__tell(consumer, &error);
}

static void reset_to(rg_consumer *consumer, struct rg__slot *slot, enum rg__reset to)
{
	rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
	rg__owned_move(&consumer->owned, slot, RD_KAFKA_OFFSET_INVALID);
	if (to == RG__RESET_BY_DURATION)
		slot->look = RG__LOOK_TIME;
	else
		rg__slot_begin_at(slot, to == RG__RESET_EARLIEST ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END);
}

/* Unlike its records, an error of librdkafka's may be of a place that was left by a seek since, and then it may have stopped
 * what began at the new one. True: that begins once more. */
static bool is_of_another_place(rg_consumer *consumer, struct rg__slot *slot, int64_t offset)
{
	int64_t at = slot->begun ? slot->next : slot->start;

	if (offset < 0 || at < 0 || offset == at)
		return false;
	slot->start = at;
	slot->begun = false;
	rg__fetch_stop(consumer, &(struct rg__partitions){&slot->at, 1});
	consumer->starting = true;
	return true;
}

/* librdkafka would reset by itself, and nobody could tell the records from there from those that were queued before. */
void rg__reset_offset(rg_consumer *consumer, struct rg__slot *slot, int64_t offset, const char *why)
{
	enum rg__reset to = consumer->conf->settings.auto_offset_reset;
	bool in_vain = !slot->begun && slot->start < 0; /* there is no offset yet that could be wrong */

	if (is_of_another_place(consumer, slot, offset))
		return;
	if (in_vain || to != RG__RESET_NONE)
		rg__log(&consumer->log, in_vain ? RG__LOG_INFO : RG__LOG_NOTICE, "OFFSET", "%s [%d]: %s; %s", slot->at.topic,
		        (int)slot->at.number, why, in_vain ? "it is looked up again" : "auto.offset.reset says where to go on");
	if (in_vain)
		look_again(consumer, slot);
	else if (to == RG__RESET_NONE)
		go_on_nowhere(consumer, slot, why);
	else
		reset_to(consumer, slot, to);
	consumer->starting = true;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

void rg__start_positions(rg_consumer *consumer)
{
	size_t unknown = 0, by_time = 0, by_place = 0;
	bool may_ask;

	if (!consumer->starting)
		return;
	if (consumer->offsets_fetch && rg__offsets_fetch_finished(consumer->offsets_fetch))
		take_answer(consumer);
	if (consumer->lookup && rg__lookup_finished(consumer->lookup))
		take_lookup(consumer);
	rg__fetch_start(consumer);
	for (size_t i = 0; i < consumer->owned.count; i++) {
		unknown += is_sought(&consumer->owned.slots[i]);
		by_time += is_looked_up(&consumer->owned.slots[i], RG__LOOK_TIME);
		by_place += is_looked_up(&consumer->owned.slots[i], RG__LOOK_PLACE);
	}
	may_ask = rg__mono_us() >= consumer->offsets_fetch_at;
	if (unknown && !consumer->offsets_fetch && may_ask)
		ask(consumer, unknown);
	if (by_time && !consumer->lookup && may_ask)
		look_up(consumer, RG__LOOK_TIME, by_time);
	if (by_place && !consumer->lookup && may_ask)
		look_up(consumer, RG__LOOK_PLACE, by_place);
	by_time += by_place;
	consumer->asks_later = (unknown && !consumer->offsets_fetch) || (by_time && !consumer->lookup);
	consumer->starting = unknown || by_time || consumer->offsets_fetch || consumer->unassign;
}

/* When it has to be called again although nobody wakes the application. INT64_MAX: never. */
int64_t rg__start_positions_at(const rg_consumer *consumer)
{
	return consumer->starting && consumer->asks_later ? consumer->offsets_fetch_at : INT64_MAX;
}

void rg__drop_positions(rg_consumer *consumer)
{
	rg__offsets_fetch_free(consumer->offsets_fetch);
	consumer->offsets_fetch = NULL;
	consumer->starting = false;
	consumer->offsets_fetch_failures = 0;
	consumer->offsets_fetch_told = RG_OK;
}
