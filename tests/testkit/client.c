/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/sync_group.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

/* Not Check's own, so that programs outside of it can use this file. */
static void must(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void must(bool ok, const char *format, ...)
{
	va_list args;

	if (ok)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static int try_connect(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(fd >= 0, "no socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

bool can_connect(int port)
{
	int fd = try_connect(port);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void client_open(struct client *client, int port)
{
	*client = (struct client){.fd = try_connect(port)};
	must(client->fd >= 0, "nobody listens at port %d", port);
}

void client_close(struct client *client)
{
	close(client->fd);
	rg__buf_free(&client->in);
	rg__buf_free(&client->frame);
	rg__arena_clear(&client->arena);
}

void client_send_bytes(struct client *client, const void *bytes, size_t len)
{
	must(send(client->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len, "sending: %s", strerror(errno));
}

void client_send(struct client *client, int api_key, int version, const void *body)
{
	struct rg__buf out = {0};
	struct rg__codec_error error;

	must(rg__encode_request(rg__api_by_key(api_key), version, ++client->correlation_id, rg__bytes_of("by-hand"), body,
				&out, &error), "a request that cannot be encoded: %s", error.what);
	client_send_bytes(client, out.data, out.len);
	rg__buf_free(&out);
}

/* More bytes, or the end (false). */
static bool receive(struct client *client)
{
	struct pollfd ready = {.fd = client->fd, .events = POLLIN};
	ssize_t got;

	must(poll(&ready, 1, PATIENCE_MS) == 1, "no answer in %d ms", PATIENCE_MS);
	must(rg__buf_reserve(&client->in, 65536), "out of memory");
	got = recv(client->fd, client->in.data + client->in.len, 65536, 0);
	if (got <= 0)
		return false;
	client->in.len += (size_t)got;
	return true;
}

const void *client_hear(struct client *client, int api_key, int version, int32_t correlation_id)
{
	const struct rg__api *api = rg__api_by_key(api_key);
	struct rg__codec_error error;
	struct rg__bytes frame = RG__NULL_BYTES;
	int32_t answered;
	size_t used;
	void *body;
	char text[RG__CODEC_TEXT_MAX];

	for (;;) {
		must(rg__frame_next(rg__buf_view(&client->in), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &error), "no frame: %s",
		     error.what);
		if (frame.data)
			break;
		must(receive(client), "the connection ended instead of an answer to %s", api->name);
	}
	client->frame.len = 0;
	must(rg__buf_append(&client->frame, frame.data, frame.len), "out of memory");
	rg__buf_consume(&client->in, used);
	rg__arena_clear(&client->arena);
	body = rg__arena_calloc(&client->arena, 1, api->response->size);
	must(body != NULL, "out of memory");
	if (!rg__decode_response(api, version, rg__buf_view(&client->frame), &client->arena, &answered, body, &error)) {
		rg__codec_error_text(&error, text, sizeof(text));
		must(false, "%s", text);
	}
	must(answered == correlation_id, "an answer to request %d instead of %d", (int)answered, (int)correlation_id);
	return body;
}

const void *client_ask(struct client *client, int api, int version, const void *body)
{
	client_send(client, api, version, body);
	return client_hear(client, api, version, client->correlation_id);
}

bool client_silent(struct client *client, int ms)
{
	struct pollfd ready = {.fd = client->fd, .events = POLLIN};

	return client->in.len == 0 && poll(&ready, 1, ms) == 0;
}

void client_hears_end(struct client *client)
{
	must(!receive(client), "an answer came instead of the end");
}

void seat_open(struct seat *seat, int port)
{
	*seat = (struct seat){.generation = -1};
	client_open(&seat->client, port);
}

void seat_close(struct seat *seat)
{
	client_close(&seat->client);
}

int32_t seat_send_join(struct seat *seat, const char *group)
{
	struct rg__join_group_request_protocol protocol = {.name = rg__bytes_of("range"), .metadata = rg__bytes_of("t")};
	struct rg__join_group_request request;

	rg__fields_init(&rg__join_group_request_fields, &request);
	request.group_id = rg__bytes_of(group);
	request.session_timeout_ms = 10000;
	request.rebalance_timeout_ms = 30000;
	request.member_id = rg__bytes_of(seat->id);
	request.protocol_type = rg__bytes_of("consumer");
	request.protocols = (struct rg__array){&protocol, 1};
	client_send(&seat->client, RG__API_JOIN_GROUP, 5, &request);
	return seat->client.correlation_id;
}

void seat_hear_join(struct seat *seat, int32_t correlation_id)
{
	const struct rg__join_group_response *answer =
		client_hear(&seat->client, RG__API_JOIN_GROUP, 5, correlation_id);

	seat->error = answer->error_code;
	if (!seat->error || seat->error == 79)
		snprintf(seat->id, sizeof(seat->id), "%.*s", (int)answer->member_id.len,
			 (const char *)answer->member_id.data);
	if (seat->error)
		return;
	seat->generation = answer->generation_id;
	seat->leads = rg__bytes_equal(answer->leader, answer->member_id);
}

void seat_join(struct seat *seat, const char *group)
{
	seat_hear_join(seat, seat_send_join(seat, group));
	if (seat->error == 79)
		seat_hear_join(seat, seat_send_join(seat, group));
	must(!seat->error, "JoinGroup was answered %d", seat->error);
}

int32_t seat_send_sync(struct seat *seat, const char *group, const char *assignment)
{
	struct rg__sync_group_request_assignment part = {.member_id = rg__bytes_of(seat->id),
							 .assignment = rg__bytes_of(assignment)};
	struct rg__sync_group_request request;

	rg__fields_init(&rg__sync_group_request_fields, &request);
	request.group_id = rg__bytes_of(group);
	request.generation_id = seat->generation;
	request.member_id = rg__bytes_of(seat->id);
	if (assignment)
		request.assignments = (struct rg__array){&part, 1};
	client_send(&seat->client, RG__API_SYNC_GROUP, 3, &request);
	return seat->client.correlation_id;
}

void seat_hear_sync(struct seat *seat, int32_t correlation_id)
{
	const struct rg__sync_group_response *answer =
		client_hear(&seat->client, RG__API_SYNC_GROUP, 3, correlation_id);

	seat->error = answer->error_code;
}

void seat_sync(struct seat *seat, const char *group, const char *assignment)
{
	seat_hear_sync(seat, seat_send_sync(seat, group, assignment));
}

void seat_heartbeat(struct seat *seat, const char *group)
{
	struct rg__heartbeat_request request = {.group_id = rg__bytes_of(group),
						.generation_id = seat->generation,
						.member_id = rg__bytes_of(seat->id)};
	const struct rg__heartbeat_response *answer = client_ask(&seat->client, RG__API_HEARTBEAT, 3, &request);

	seat->error = answer->error_code;
}
