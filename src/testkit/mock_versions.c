/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/api_versions.h"
#include "testkit/kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection to the mock broker, one question, one answer. */

static rg_err fail(rg_error *error)
{
	return rg__fail(error, RG_ERR_SYSTEM, "asking the mock broker for its versions: %s", strerror(errno));
}

static rg_err no_memory(rg_error *error)
{
	return rg__fail(error, RG_ERR_MEMORY, "out of memory");
}

static rg_err ask(int fd, rg_error *error)
{
	struct rg__api_versions_request request;
	struct rg__buf out = {0};
	rg_err err = RG_OK;

	rg__fields_init(&rg__api_versions_request_fields, &request);
	if (!rg__encode_request(rg__api_by_key(RG__API_API_VERSIONS), 0, 1, rg__bytes_of("regroup-testkit"), &request, &out,
				NULL))
		err = no_memory(error);
	else if (send(fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
		err = fail(error);
	rg__buf_free(&out);
	return err;
}

static rg_err hear(int fd, struct rg__buf *in, struct rg__bytes *ret_frame, rg_error *error)
{
	size_t used;

	*ret_frame = RG__NULL_BYTES;
	while (!ret_frame->data) {
		ssize_t got;

		if (!rg__buf_reserve(in, 4096))
			return no_memory(error);
		got = recv(fd, in->data + in->len, in->capacity - in->len, 0);
		if (got <= 0) {
			errno = got ? errno : ECONNRESET;
			return fail(error);
		}
		in->len += (size_t)got;
		if (!rg__frame_next(rg__buf_view(in), RG__FRAME_LIMIT_DEFAULT, ret_frame, &used, NULL)) {
			errno = EPROTO;
			return fail(error);
		}
	}
	return RG_OK;
}

/* What newer mock brokers offer and cannot mean here. Up to the versions of the table requests name topics by their names;
 * from the next on by ids, and ids are ours: the mock has made up others. */
static const struct limit {
	int16_t api;
	int16_t last; /* -1: not at all */
} limits[] = {
	{0, 12},  /* Produce (KIP-516) */
	{1, 12},  /* Fetch (KIP-516) */
	{20, 5},  /* DeleteTopics (KIP-516) */
	{68, -1}, /* ConsumerGroupHeartbeat (KIP-848): the mock's groups are not ours */
	{69, -1}, /* ConsumerGroupDescribe (likewise) */
	{76, -1}, /* ShareGroupHeartbeat (KIP-932), and the requests that follow from it */
	{77, -1}, /* ShareGroupDescribe */
	{78, -1}, /* ShareFetch */
	{79, -1}, /* ShareAcknowledge */
};

static int16_t last_meant(int16_t api, int16_t last)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].api == api && limits[i].last < last)
			return limits[i].last;
	return last;
}

static rg_err offer(struct rg_testkit *kit, struct rg__bytes frame, rg_error *error)
{
	struct rg__arena arena = {0};
	struct rg__api_versions_response answer;
	const struct rg__api_versions_response_api_key *keys;
	struct rg__codec_error refused = {0};
	bool ok = rg__decode_response(rg__api_by_key(RG__API_API_VERSIONS), 0, frame, &arena, NULL, &answer, &refused);

	keys = ok ? RG__ITEMS(struct rg__api_versions_response_api_key, answer.api_keys) : NULL;
	for (int32_t i = 0; ok && i < answer.api_keys.count; i++) {
		int16_t last = last_meant(keys[i].api_key, keys[i].max_version);

		ok = last < keys[i].min_version ||
		     rg__kit_versions_set(&kit->cluster, keys[i].api_key, keys[i].min_version, last);
	}
	rg__arena_clear(&arena);
	if (!ok && refused.out_of_memory)
		return no_memory(error);
	if (!ok) {
		errno = EPROTO;
		return fail(error);
	}
	rg__kit_versions_all_ours(&kit->cluster);
	return RG_OK;
}

static rg_err ask_and_hear(struct rg_testkit *kit, bool use_answer, rg_error *error)
{
	const struct timeval patience = {.tv_sec = 10};
	struct rg__buf in = {0};
	struct rg__bytes frame;
	rg_err err;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail(error);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&kit->mock.address, sizeof(kit->mock.address)) < 0)
		err = fail(error);
	else if (!(err = ask(fd, error)) && !(err = hear(fd, &in, &frame, error)) && use_answer)
		err = offer(kit, frame, error);
	rg__buf_free(&in);
	close(fd);
	return err;
}

rg_err rg__kit_mock_versions(struct rg_testkit *kit, rg_error *error)
{
	return ask_and_hear(kit, true, error);
}

rg_err rg__kit_mock_settle(struct rg_testkit *kit, rg_error *error)
{
	return ask_and_hear(kit, false, error);
}
