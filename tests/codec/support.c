/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "codec/api.h"
#include "codec/consumer_protocol.h"
#include "codec/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct message others[] = {
	{"RequestHeader", &rg__request_header_fields, 1, 2, -1},
	{"ResponseHeader", &rg__response_header_fields, 0, 1, -1},
	{"ConsumerProtocolSubscription", &rg__consumer_protocol_subscription_fields, 0, 3, -1},
	{"ConsumerProtocolAssignment", &rg__consumer_protocol_assignment_fields, 0, 3, -1},
};

int message_count(void)
{
	return 2 * rg__api_count + (int)(sizeof(others) / sizeof(*others));
}

struct message message_at(int i)
{
	if (i >= 2 * rg__api_count)
		return others[i - 2 * rg__api_count];
	const struct rg__api *api = &rg__apis[i / 2];
	const struct rg__fields *fields = i % 2 ? api->response : api->request;

	return (struct message){fields->name, fields, api->first, api->last, api->key};
}

bool message_by_name(const char *name, struct message *ret_message)
{
	for (int i = 0; i < message_count(); i++) {
		struct message message = message_at(i);

		if (strcmp(message.name, name) != 0)
			continue;
		*ret_message = message;
		return true;
	}
	return false;
}

static void *must(void *ptr)
{
	if (ptr)
		return ptr;
	fprintf(stderr, "out of memory\n");
	abort();
}

static uint8_t *from_hex(const char *digits, size_t *ret_len)
{
	size_t len = strlen(digits) / 2;
	uint8_t *bytes = must(malloc(len ? len : 1));

	for (size_t i = 0; i < len; i++) {
		char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	*ret_len = len;
	return bytes;
}

struct rg__bytes hex(const char *digits)
{
	static uint8_t buffer[1024];
	char pair[3] = {0};
	size_t len = 0, have = 0;

	for (; *digits; digits++) {
		if (*digits == ' ')
			continue;
		pair[have++] = *digits;
		if (have < 2)
			continue;
		if (len == sizeof(buffer))
			abort();
		buffer[len++] = (uint8_t)strtoul(pair, NULL, 16);
		have = 0;
	}
	return (struct rg__bytes){buffer, len};
}

static struct vector *all;
static size_t all_count;

static void read_line(const struct message *message, char *line)
{
	char *version = strsep(&line, "\t"), *kind = strsep(&line, "\t");
	char *bytes = strsep(&line, "\t"), *json = strsep(&line, "\n"); /* a message may have no bytes at all */

	if (!version || !kind || !bytes || !json) {
		fprintf(stderr, "%s: a fixture line is broken\n", message->name);
		abort();
	}
	all = must(realloc(all, (all_count + 1) * sizeof(*all)));
	struct vector *vector = &all[all_count++];

	*vector = (struct vector){.message = *message, .version = atoi(version), .json = must(strdup(json))};
	snprintf(vector->kind, sizeof(vector->kind), "%s", kind);
	vector->bytes = from_hex(bytes, &vector->len);
}

static void free_vectors(void)
{
	for (size_t i = 0; i < all_count; i++) {
		free(all[i].bytes);
		free(all[i].json);
	}
	free(all);
}

const struct vector *vectors(size_t *ret_count)
{
	if (!all) {
		for (int i = 0; i < message_count(); i++) {
			struct message message = message_at(i);
			char path[4096], *line = NULL;
			size_t size = 0;

			snprintf(path, sizeof(path), "%s/%s.txt", VECTORS_DIR, message.name);
			FILE *file = fopen(path, "r");

			if (!file) {
				fprintf(stderr, "%s cannot be read; vectors/make.sh writes it\n", path);
				abort();
			}
			while (getline(&line, &size, file) >= 0)
				if (line[0] != '#')
					read_line(&message, line);
			free(line);
			fclose(file);
		}
		atexit(free_vectors);
	}
	*ret_count = all_count;
	return all;
}

bool message_decode(const struct message *message, int version, struct rg__bytes in, struct rg__arena *arena,
		    union decoded *ret_decoded, struct rg__codec_error *err)
{
	if (message->fields == &rg__consumer_protocol_subscription_fields)
		return rg__subscription_decode(in, arena, (void *)ret_decoded->bytes, NULL, err);
	if (message->fields == &rg__consumer_protocol_assignment_fields)
		return rg__assignment_decode(in, arena, (void *)ret_decoded->bytes, NULL, err);
	return rg__decode(message->fields, version, in, arena, ret_decoded->bytes, NULL, err);
}

bool message_encode(const struct message *message, int version, const union decoded *decoded, struct rg__buf *out,
		    struct rg__codec_error *err)
{
	if (message->fields == &rg__consumer_protocol_subscription_fields)
		return rg__subscription_encode(version, (const void *)decoded->bytes, out, err);
	if (message->fields == &rg__consumer_protocol_assignment_fields)
		return rg__assignment_encode(version, (const void *)decoded->bytes, out, err);
	return rg__encode(message->fields, version, decoded->bytes, out, err);
}
