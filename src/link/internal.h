/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_INTERNAL_H
#define RG__LINK_INTERNAL_H

/* What the files of a link share: link.c is the life of the connection, handshake.c the agreement on versions,
 * receive.c turns bytes into answers, requests.c keeps the requests. */

#include "link/link.h"

#include "link/bootstrap.h"

#include "codec/frame.h"

enum rg__link_state {
	RG__LINK_IDLE, /* never connected */
	RG__LINK_RESOLVING,
	RG__LINK_CONNECTING, /* an address, with its layers */
	RG__LINK_HANDSHAKE,  /* ApiVersions */
	RG__LINK_UP,
	RG__LINK_FALLING, /* requests are being answered before `down` */
	RG__LINK_DOWN
};

/* A request is in exactly one list. Ghosts are sent requests whose `done` is not wanted any more; they hold the
 * place of their answer. */
struct rg__request {
	struct rg__request *prev, *next;
	rg__request_id id;
	struct rg__call call;
	const struct rg__api *api;
	int64_t deadline_us, timeout_ms;
	bool ghost;
	int16_t version; /* -1: not sent */
	int32_t correlation_id;
	int64_t sent_us;
	size_t size;    /* of its frame */
	rg_error error; /* of a finished one */
};

struct rg__requests {
	struct rg__request *waiting, *sent;
	struct rg__request *finished; /* failed, `done` has not run yet */
	int32_t count;                /* without ghosts */
	int32_t sent_count;           /* with ghosts */
	size_t sent_bytes;
	rg__request_id last_id;
};

enum { RG__LINK_API_MAX = 96 }; /* above the largest API key of ours */

struct rg__link {
	struct rg__io *io;
	const struct rg__link_conf *conf;
	const struct rg__link_events *events;
	void *user;

	enum rg__link_state state;
	char host[RG__HOST_MAX + 1];
	uint16_t port;
	char name[RG__HOST_MAX + 12];
	struct rg__lookup *lookup;
	struct rg__address *addresses;
	size_t address_count, address_at;
	struct rg__stream *stream;
	struct rg__timer *timer; /* the only one: for whatever is due next */
	int64_t stage_deadline_us; /* of resolving, connecting, handshake; 0: none */

	bool failing; /* an error found inside a call, acted on from the loop */
	rg_error failure;

	int asked_version; /* of ApiVersions */
	int32_t asked_correlation_id;
	bool asked_again;  /* in version 0, on a new connection */
	int16_t versions[RG__LINK_API_MAX]; /* by API key, -1: none */
	int16_t broker_first[RG__LINK_API_MAX], broker_last[RG__LINK_API_MAX]; /* for error texts; -1: not offered */

	struct rg__buf frame; /* what has arrived of the next frame */
	size_t frame_want;    /* how much must be there before it is worth a look */
	uint64_t connection;  /* counts streams: tells a callback that the one it served is gone */

	struct rg__requests requests;
	int32_t last_correlation_id;
	int64_t throttled_until_us; /* KIP-219 */

	int busy; /* callbacks of the loop under way */
	bool freed;
};

/* link.c */
void rg__link_enter(struct rg__link *link); /* around everything that the loop calls */
void rg__link_leave(struct rg__link *link);
void rg__link_schedule(struct rg__link *link); /* sets the timer for what is due next */
void rg__link_go_down(struct rg__link *link, const rg_error *error);
void rg__link_fail_later(struct rg__link *link, rg_err code, const char *text);
void rg__link_attempt_failed(struct rg__link *link, const rg_error *error); /* this address will not do */
void rg__link_reopen(struct rg__link *link);                               /* a new connection to the same address */
void rg__link_now_up(struct rg__link *link);
int32_t rg__link_next_correlation_id(struct rg__link *link);
void rg__link_throttle(struct rg__link *link, int32_t throttle_ms);

/* handshake.c */
void rg__link_handshake_start(struct rg__link *link);
void rg__link_handshake_answer(struct rg__link *link, struct rg__bytes frame);
rg_err rg__link_unsupported(const struct rg__link *link, const struct rg__api *api, rg_error *error);

/* receive.c */
void rg__link_received(void *user, const uint8_t *data, size_t len);
int32_t rg__response_throttle_ms(const struct rg__api *api, int16_t version, const void *body);

/* requests.c */
void rg__requests_flush(struct rg__link *link);          /* sends what may go */
void rg__requests_expire(struct rg__link *link, int64_t now_us);
int64_t rg__requests_deadline_us(const struct rg__link *link); /* INT64_MAX: none */
void rg__requests_fail_all(struct rg__link *link, const rg_error *error);
void rg__requests_deliver(struct rg__link *link);        /* runs `done` of the finished ones */
void rg__requests_drop(struct rg__link *link);
void rg__request_forget(struct rg__link *link, struct rg__request *request); /* takes a sent one out of its list */
void rg__request_answer(struct rg__link *link, struct rg__request *request, struct rg__response *response);

#endif
