/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TESTKIT_CLIENT_H
#define TESTS_TESTKIT_CLIENT_H

/* A client by hand: a socket, the codec, and deadlines. What goes wrong ends the program with a word on
 * stderr, which fails the test. */

#include "codec/frame.h"

#include <stdbool.h>

struct client {
	int fd;
	int32_t correlation_id; /* of the last request */
	struct rg__buf in;
	struct rg__arena arena; /* of the last answer */
	struct rg__buf frame;   /* its bytes */
};

void client_open(struct client *client, int port);
void client_close(struct client *client);
void client_send(struct client *client, int api, int version, const void *body); /* returns at once */
void client_send_bytes(struct client *client, const void *bytes, size_t len);
/* The next answer, which must be to request `correlation_id`; its struct of codec/ is valid until the next answer. */
const void *client_hear(struct client *client, int api, int version, int32_t correlation_id);
const void *client_ask(struct client *client, int api, int version, const void *body); /* send and hear */
bool client_silent(struct client *client, int ms); /* nothing comes for that long, and the connection stands */
void client_hears_end(struct client *client);      /* the other side closes */
bool can_connect(int port);

/* The usual first steps in a group: JoinGroup v5 and SyncGroup v3 as a consumer of "t". */
struct seat {
	struct client client;
	char id[128];
	int32_t generation;
	int16_t error; /* of the last answer */
	bool leads;
};
void seat_open(struct seat *seat, int port);
void seat_close(struct seat *seat);
int32_t seat_send_join(struct seat *seat, const char *group); /* the correlation id */
void seat_hear_join(struct seat *seat, int32_t correlation_id);
void seat_join(struct seat *seat, const char *group); /* with the two steps of KIP-394 */
/* With an assignment, a plan that has itself in it alone; NULL: none. */
int32_t seat_send_sync(struct seat *seat, const char *group, const char *assignment);
void seat_hear_sync(struct seat *seat, int32_t correlation_id);
void seat_sync(struct seat *seat, const char *group, const char *assignment);
void seat_heartbeat(struct seat *seat, const char *group);

#endif
