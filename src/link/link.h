/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_LINK_H
#define RG__LINK_LINK_H

/* One connection to one broker: connects, agrees on versions (ApiVersions), sends requests, matches the answers.
 * It does not reconnect by itself; its owner decides when to call rg__link_connect again. The rules of io.h hold.
 *
 * A broker answers the requests of one connection in order and takes up the next one only when the last is
 * answered. A JoinGroup that waits for other members therefore holds up everything behind it: what must not wait
 * needs a link of its own. */

#include "link/io.h"

#include "base/arena.h"
#include "base/log.h"

struct rg__link;

/* --- Configuration ------------------------------------------------------------------------------------------------ */

/* Read by many links; all it points to must outlive them. Start from rg__link_conf_init. */
struct rg__link_conf {
	const char *client_id;                       /* NULL: Kafka's null */
	const char *software_name, *software_version; /* KIP-511: letters, digits, '-' and '.' */
	/* socket.connection.setup.timeout.ms: the longest wait for the name, for each address in turn (with its layers), and
	 * for the answer to ApiVersions. */
	int64_t connect_timeout_ms;
	int64_t request_timeout_ms; /* of requests that do not say */
	int32_t frame_limit;        /* largest answer in bytes */
	int32_t in_flight_max;      /* requests sent and not answered; more wait unsent */
	size_t in_flight_bytes_max; /* their bytes together; one larger request alone may pass */
	int32_t queue_max;          /* requests of a link that are neither answered nor cancelled; more are refused */
	const int16_t *apis;        /* the APIs without which this connection is useless: a broker that lacks one is too old */
	size_t api_count;
	const struct rg__layer *layers; /* from TCP upwards */
	size_t layer_count;
	const struct rg__log *log; /* may be NULL */
};

/* Kafka's defaults, client id NULL, software name "regroup". */
void rg__link_conf_init(struct rg__link_conf *ret_conf);

/* --- Requests ----------------------------------------------------------------------------------------------------- */

/* A decoded answer with the memory it lives in. */
struct rg__message {
	struct rg__arena arena;
	struct rg__buf frame;
	void *body; /* the API's response struct */
};

void rg__message_free(struct rg__message *message); /* NULL is fine */

/* How a request ended; valid during the call. */
struct rg__response {
	rg_error error;       /* code RG_OK, or ours (TIMED_OUT, TRANSPORT, PROTOCOL, UNSUPPORTED, RESOLVE, MEMORY, INVALID):
	                       * the text names broker and cause. Kafka's own error codes are inside the body. */
	int16_t api_key;
	int16_t version;      /* as sent; -1: it was not */
	const void *body;     /* the API's response struct, NULL with an error */
	int32_t throttle_ms;  /* throttle_time_ms of the answer, 0 if it has none; the link obeys it by itself */
	const char *broker;   /* "host:port" */
	int64_t sent_us;      /* when it was written (now_us); 0: it was not */
	struct rg__message *message; /* owns body; see rg__response_keep */
};

/* Inside `done`, with a body: takes the answer's memory over, so that body and its views live until rg__message_free.
 * Does not allocate. */
struct rg__message *rg__response_keep(const struct rg__response *response);

typedef uint64_t rg__request_id; /* never 0; unique within a link or cluster */

/* done RG_ERR_TIMED_OUT normally ends the connection too, since later answers wait behind the missing one. With this
 * flag the connection stays and the late answer is dropped. */
enum { RG__CALL_KEEP = 1 };

struct rg__call {
	int16_t api_key;
	unsigned flags;
	/* The request struct, with everything it points to valid until `done` or cancel; it is encoded when the connection is
	 * up and its version known. Or NULL and `prepare`: asked for the struct at that moment, with the version, for
	 * requests whose shape depends on it. It may run inside rg__link_request; it only builds, and does not call into the
	 * link. It runs again when the request moves to another connection. NULL from it: done with RG_ERR_MEMORY. */
	const void *body;
	const void *(*prepare)(void *user, int16_t version);
	int64_t timeout_ms; /* from the call, whatever the connection's state; negative: conf's request_timeout_ms */
	void (*done)(void *user, const struct rg__response *response);
	void *user;
};

/* --- The link ----------------------------------------------------------------------------------------------------- */

struct rg__link_events {
	void (*up)(void *user); /* versions agreed; queued requests go out. May be NULL. */
	/* Once for each rg__link_connect, when it failed or broke; every request has been answered with this error before
	 * (but RG_ERR_TRANSPORT where this says RG_ERR_TIMED_OUT: that is for requests whose own time ran out). The text is
	 * "host:port: cause". */
	void (*down)(void *user, const rg_error *error);
	/* The same, but before the requests are answered: the reaction to an answer may free the link, and then `down` does not
	 * come. For telling people; it must not call into the link. May be NULL. */
	void (*breaks)(void *user, const rg_error *error);
};

/* NULL: out of memory. `events` must outlive the link. */
struct rg__link *rg__link_new(struct rg__io *io, const struct rg__link_conf *conf, const struct rg__link_events *events,
                              void *user);

/* One attempt: every address of the name in turn. RG_OK: `down` will come, now or some day, unless the link is freed.
 * RG_ERR_STATE: connecting or up already. RG_ERR_INVALID: host empty or too long. RG_ERR_MEMORY. */
rg_err rg__link_connect(struct rg__link *link, const char *host, uint16_t port);

/* Ends the connection, or the attempt, for a reason of the owner's: requests are answered and `down` comes, from
 * the loop, with RG_ERR_TRANSPORT and "host:port: why". Nothing happens when it is down or was never connected. */
void rg__link_disconnect(struct rg__link *link, const char *why);

/* No `done` and no `down` comes any more, requests are dropped. */
void rg__link_free(struct rg__link *link); /* NULL is fine */

/* Queues a request; before the first rg__link_connect, too. RG_OK: `done` comes once, unless cancelled or freed.
 * RG_ERR_TRANSPORT: the connection is down (since the last `down`, until rg__link_connect). RG_ERR_INVALID: an API that
 * is not in our table. RG_ERR_STATE: queue_max. RG_ERR_MEMORY. ret_id may be NULL. */
rg_err rg__link_request(struct rg__link *link, const struct rg__call *call, rg__request_id *ret_id);

/* `done` will not be called; a late answer is dropped. An answered or unknown id is ignored. A request that was
 * sent stays with the connection: unless RG__CALL_KEEP, a missing answer ends the connection at the request's
 * deadline all the same. */
void rg__link_cancel(struct rg__link *link, rg__request_id id);

bool rg__link_is_up(const struct rg__link *link);
bool rg__link_is_down(const struct rg__link *link); /* since `down`, until rg__link_connect */
const char *rg__link_name(const struct rg__link *link); /* "host:port" of the last rg__link_connect, or "" */

/* The version a request would have: the newest that both sides speak. -1: not up, or none. */
int16_t rg__link_version(const struct rg__link *link, int16_t api_key);

#endif
