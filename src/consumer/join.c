/* SPDX-License-Identifier: Apache-2.0 */
/* What this member tells the group about itself when it joins. */
#include "base/alloc.h"
#include "base/error.h"
#include "consumer/internal.h"

struct offer {
	rg_member_protocol *protocols;
	struct rg__buf *bytes;
	size_t count;
	/* For the loop. */
	uint32_t ticket;
	bool keeps;
	rg_err err;
	rg_error error;
};

static void free_offer(struct offer *offer)
{
	for (size_t i = 0; offer->bytes && i < offer->count; i++)
		rg__buf_free(&offer->bytes[i]);
	rg__free(offer->bytes);
	rg__free(offer->protocols);
}

static rg_err write_protocols(rg_consumer *consumer, const struct rg__subscriber *subscriber, bool ask,
                              struct offer *offer,
                              rg_error *error)
{
	offer->count = consumer->strategy.count;
	offer->protocols = rg__calloc(offer->count, sizeof(*offer->protocols));
	offer->bytes = rg__calloc(offer->count, sizeof(*offer->bytes));
	if (!offer->protocols || !offer->bytes)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < offer->count; i++) {
		const struct rg__listed_assignor *assignor = &consumer->strategy.items[i];
		rg_err err;

		rg__callback_begins(consumer);
		err = rg__subscription_write(subscriber, assignor, ask, &offer->bytes[i], error);
		rg__callback_ended(consumer);
		if (err)
			return err;
		offer->protocols[i].name = assignor->assignor->name;
		offer->protocols[i].metadata = (rg_bytes){offer->bytes[i].data, offer->bytes[i].len};
	}
	return RG_OK;
}

static rg_err make_offer(rg_consumer *consumer, bool ask, struct offer *offer, rg_error *error)
{
	struct rg__partitions owned = rg__owned_list(&consumer->owned);
	struct rg__subscriber subscriber = {
		.topics = &consumer->topics,
		.owned = consumer->strategy.cooperative ? &owned : NULL,
		.generation = consumer->generation,
		.rack = consumer->conf->settings.client_rack,
	};

	return write_protocols(consumer, &subscriber, ask, offer, error);
}

static void say_join(rg_consumer *consumer, void *arg)
{
	struct offer *offer = arg;

	offer->err = rg_member_join(consumer->member, offer->protocols, offer->count, &offer->error);
	if (!offer->err)
		rg__alive_watch(consumer);
}

/* Takes the seat. The assignor is not asked for its userdata yet, since this is not poll: that comes with the answer to
 * RG_MEMBER_PREPARE, before anything is sent. */
rg_err rg__join(rg_consumer *consumer, rg_error *error)
{
	struct offer offer = {0};
	rg_err err = make_offer(consumer, false, &offer, error);

	if (!err) {
		rg__on_loop(consumer, say_join, &offer);
		if ((err = offer.err) && error)
			*error = offer.error;
	}
	free_offer(&offer);
	if (!err) {
		consumer->seat = RG__SEAT_TAKEN;
		consumer->auto_commit_at = rg__mono_us() + consumer->conf->settings.auto_commit_interval_ms * INT64_C(1000);
	}
	return err;
}

static void say_prepared(rg_consumer *consumer, void *arg)
{
	struct offer *offer = arg;

	offer->err = rg_member_prepared(consumer->member, offer->ticket, offer->protocols, offer->count, offer->keeps);
}

/* Answers RG_MEMBER_PREPARE or RG_MEMBER_LOST. */
rg_err rg__answer_ask(rg_consumer *consumer, uint32_t ticket, rg_error *error)
{
	struct offer offer = {.ticket = ticket, .keeps = consumer->owned.count > 0};
	rg_err err = make_offer(consumer, true, &offer, error);

	if (!err) {
		rg__on_loop(consumer, say_prepared, &offer);
		if ((err = offer.err))
			rg__fail(error, err, "the subscription could not be handed over: %s", rg_err_name(err));
	}
	free_offer(&offer);
	return err;
}
