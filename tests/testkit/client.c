/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include "codec/heartbeat.h"
#include "codec/join_group.h"
#include "codec/sync_group.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

static int try_connect(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_ge(fd, 0);
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
	ck_assert_int_ge(client->fd, 0);
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
	ck_assert_int_eq(send(client->fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

void client_send(struct client *client, int api_key, int version, const void *body)
{
	struct rg__buf out = {0};
	struct rg__codec_error error;

	ck_assert(rg__encode_request(rg__api_by_key(api_key), version, ++client->correlation_id, rg__bytes_of("by-hand"),
				     body, &out, &error));
	client_send_bytes(client, out.data, out.len);
	rg__buf_free(&out);
}

/* More bytes, or the end (false). */
static bool receive(struct client *client)
{
	struct pollfd ready = {.fd = client->fd, .events = POLLIN};
	ssize_t got;

	ck_assert_msg(poll(&ready, 1, PATIENCE_MS) == 1, "no answer in %d ms", PATIENCE_MS);
	ck_assert(rg__buf_reserve(&client->in, 65536));
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
		ck_assert(rg__frame_next(rg__buf_view(&client->in), RG__FRAME_LIMIT_DEFAULT, &frame, &used, &error));
		if (frame.data)
			break;
		ck_assert_msg(receive(client), "the connection ended instead of an answer to %s", api->name);
	}
	client->frame.len = 0;
	ck_assert(rg__buf_append(&client->frame, frame.data, frame.len));
	rg__buf_consume(&client->in, used);
	rg__arena_clear(&client->arena);
	body = rg__arena_calloc(&client->arena, 1, api->response->size);
	ck_assert_ptr_nonnull(body);
	if (!rg__decode_response(api, version, rg__buf_view(&client->frame), &client->arena, &answered, body, &error)) {
		rg__codec_error_text(&error, text, sizeof(text));
		ck_abort_msg("%s", text);
	}
	ck_assert_int_eq(answered, correlation_id);
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
	ck_assert_msg(!receive(client), "an answer came instead of the end");
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
	ck_assert_int_eq(seat->error, 0);
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
